"""The studies without their data: small files of the same shape, made here, go the whole way from file to page.

What comes out of noise with a little signal is no result; asserted is only that it is all there.
"""

from __future__ import annotations

import gzip
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import polars as pl
import pytest
from study_tools import PULSARS, Verdict, published, run, table_of, wu

NAMES = ("nguyen", "asawa", "kalita", "wu")
NUMBERS = {  # of claims, tables and figures
    "nguyen": (13, 8, 2),
    "asawa": (13, 9, 5),
    "kalita": (13, 11, 6),
    "wu": (15, 12, 7),
}


def pulsars(folder, rng):
    """Eight numbers and a class in a row, a tenth of them positive."""
    y = (np.arange(4000) % 10 == 0).astype(int)
    X = rng.standard_normal((len(y), len(PULSARS))) + 2 * y[:, None] * np.arange(8) / 8
    with gzip.open(folder / "htru2.csv.gz", "wt") as file:
        file.write(",".join((*PULSARS, "class")) + "\n")
        np.savetxt(file, np.column_stack([X, y]), delimiter=",", fmt="%.5f")


def news(folder, rng):
    """Texts of ten words, half of them the topic's own; every fifth topic has enough for Nguyen's test sets."""
    topics = sorted(published("nguyen")["table_I"])
    labels = [topic for i, topic in enumerate(topics) for _ in range(100 if i % 5 else 640)]
    common = rng.integers(0, 200, (len(labels), 5))
    texts = [
        " ".join([*(f"word{i}" for i in row), *(f"{label.replace('.', '')}{i}" for i in rng.integers(0, 40, 5))])
        for label, row in zip(labels, common.tolist(), strict=True)
    ]
    pl.DataFrame({"text": texts, "label": labels}).write_parquet(folder / "newsgroups20.parquet")


def house_numbers(folder, rng):
    """Grey pictures of 32 x 32 that show a 1 or a 6, the 6 a little lighter in one half."""
    labels = np.repeat([1, 6], [1300, 600])
    images = rng.integers(0, 200, (len(labels), 32, 32))
    images[labels == 6, :, :16] += 20
    np.savez(folder / "svhn_1_6.npz", images=images.astype(np.uint8), labels=labels)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made, rng = tmp_path_factory.mktemp("data"), np.random.default_rng(0)
    for make in (pulsars, news, house_numbers):
        make(made, rng)
    return made


@pytest.fixture(scope="module", params=NAMES)
def study(request, folder):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wu, "QUICK_PLAN", replace(wu.QUICK_PLAN, draws=2, share=15))
        return run(request.param, quick=True, data_dir=folder, seed=0)


def test_every_claim_is_tried_and_told(study):
    assert (len(study.claims), len(study.tables), len(study.pictures)) == NUMBERS[study.name]
    for claim in study.claims:
        assert claim.verdict in get_args(Verdict)
        assert all((claim.claim, claim.paper, claim.ours, claim.why, claim.place))
        assert "nan" not in f"{claim.ours} {claim.spread}".split()


def test_another_seed_gives_other_numbers_and_the_same_statements(study, folder):
    if study.name not in ("nguyen", "kalita"):
        pytest.skip("tried on its own data")
    other = run(study.name, quick=True, data_dir=folder, seed=2)
    assert [claim.paper for claim in other.claims] == [claim.paper for claim in study.claims]
    assert [table.rows for table in other.tables] != [table.rows for table in study.tables]
    if study.name == "nguyen":
        one, two = (
            [{name: row[name] for name in row if name.endswith(" P")} for row in table_of(each, "table_II")]
            for each in (study, other)
        )
        assert one == two and len(one[0]) == 6


def test_the_rows_of_a_table_have_the_same_columns(study):
    for table in study.tables:
        assert table.rows and {tuple(row) for row in table.rows} == {tuple(table.rows[0])}, table.name


def test_its_json_and_its_page_hold_all_of_it(study):
    kept, html = json.loads(study.to_json()), study.to_html()
    assert [claim["claim"] for claim in kept["claims"]] == [claim.claim for claim in study.claims]
    assert kept["tables"].keys() == {table.name for table in study.tables} and kept["cpu"] > 0
    assert html.count("data:image/svg+xml;base64,") == len(study.pictures)
    assert "quick run" in html and f"steelyard study {study.name} --quick --seed 0" in html


def test_the_words_of_its_page_find_all_they_ask_for(study, tmp_path):
    pytest.importorskip("jinja2", reason="the documentation's tools are not installed: pip install '.[docs]'")
    sys.path.append(str(Path(__file__).parent.parent / "docs"))
    import findings

    findings.write(study, tmp_path)
    words = (tmp_path / f"{study.name}.md").read_text(encoding="utf-8")
    assert all(claim.claim.rstrip(".") in words.replace("\\", "") for claim in study.claims)
    assert len(list((tmp_path / "images").iterdir())) == words.count("](images/")
