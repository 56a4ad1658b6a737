"""The documentation: its code runs, and its catalogue and its reference are whole."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from checks import public_names
from command_line import COMMANDS

import steelyard
from steelyard import list_metrics

pytest.importorskip("mkdocs", reason="the documentation's tools are not installed: pip install '.[docs]'")
ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
sys.path.append(str(DOCS))

import blocks  # noqa: E402
import catalogue  # noqa: E402
import contours  # noqa: E402
import decided  # noqa: E402
import reference  # noqa: E402

PAGES = sorted(page for page in DOCS.rglob("*.md") if page.name != "kalita.md")  # that one is a doctest of its own


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_the_code_of_a_page_gives_what_the_page_says(page, tmp_path):
    if absent := blocks.missing(page.read_text(encoding="utf-8")):
        pytest.skip(f"{page.name} needs {', '.join(absent)}")
    assert not blocks.run(page, tmp_path).failures


def test_a_page_says_what_it_needs():
    text = "<!-- needs: numpy, nosuch, nosuch.csv -->\n\n# A page\n"
    assert blocks.missing(text) == ["nosuch", "nosuch.csv"]
    assert blocks.missing("# A page\n") == []


def test_most_code_is_run_and_what_is_not_says_why():
    found = [block for page in PAGES for block in blocks.blocks(page.read_text(encoding="utf-8"))]
    left = [block for block in found if block.why is not None]
    assert all(len(block.why.split()) >= 3 for block in left)
    assert len(left) <= len(found) / 8


def test_a_wrong_output_on_a_page_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "```python\n>>> 1 + 1\n3\n```\n\n```console\n$ steelyard metrics --family nosuch\n```\n", encoding="utf-8"
    )
    found = blocks.run(page, tmp_path)
    assert len(found.failures) == 2
    assert ">>> 1 + 1\n2\n" in found.text


def _shell_lines():
    section = (ROOT / "README.md").read_text(encoding="utf-8").partition("## In the shell")[2].partition("## ")[0]
    return re.findall(r"^ {4}(steelyard .+)", section, re.MULTILINE)


@pytest.fixture(scope="module")
def readers_folder(tmp_path_factory):
    """The files that the README's lines name, as a reader might have them."""
    folder = tmp_path_factory.mktemp("reader")
    rng = np.random.default_rng(0)
    y = (rng.random(600) < 0.1).astype(int)
    better, worse = (1 / (1 + np.exp(-(rng.normal(size=600) + shift * y - 2))) for shift in (4, 2))
    frame = pl.DataFrame(
        {"y": y, "p": better, "model_a": better, "model_b": worse, "predicted": (better > 0.5).astype(int)}
    )
    for name in ("preds.parquet", "part-1.parquet"):
        frame.write_parquet(folder / name)
    frame.select("y", "model_a", "model_b").write_csv(folder / "table.csv")
    return folder


def test_the_readme_has_about_ten_lines_for_the_shell():
    assert 8 <= len(_shell_lines()) <= 12


@pytest.mark.parametrize("line", _shell_lines())
def test_a_line_of_the_readme_for_the_shell_works(line, readers_folder):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ran = subprocess.run(
        ["bash", "-c", f"set -e; {line}"], cwd=readers_folder, env=os.environ | {"PATH": path},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert "not released" not in ran.stdout


@pytest.mark.parametrize("metric", list_metrics(), ids=lambda metric: metric.name)
def test_every_metric_has_a_page_and_its_example_runs(metric, tmp_path):
    text = catalogue.page(metric, plotted=False)
    for words in (
        metric.title,
        metric.meaning,
        "## Range and no-skill baseline",
        "## When it is undefined",
        "## Source",
    ):
        assert words in text
    page = tmp_path / "metric.md"
    page.write_text(text, encoding="utf-8")
    assert blocks.blocks(text)
    assert not blocks.run(page, tmp_path).failures


def test_a_page_warns_where_a_peers_name_misleads():
    assert "`fowlkes_mallows_score` is for clusterings" in catalogue.page(steelyard.fowlkes_mallows, plotted=False)


def test_every_count_metric_shows_what_is_decided_of_it():
    for metric in list_metrics():
        if metric.expression is not None:
            assert "## Proven properties" in catalogue.page(metric, plotted=False), metric.name


def test_every_property_is_told_with_the_metrics_that_have_it():
    text = decided.asked()
    assert all(f"{{ #{row.property} }}" in text for row in steelyard.audit("recall"))
    assert text.count("*Who wants it.*") == len(steelyard.audit("recall"))
    assert "*Proved of* none" not in text


def test_a_metric_of_both_rates_is_drawn_and_others_are_not():
    assert contours.picture(steelyard.ac_score).startswith(b"<?xml")
    assert contours.picture(steelyard.roc_auc) is None
    assert contours.picture(steelyard.prevalence) is None


def test_every_public_name_is_in_the_reference():
    text = "\n".join(reference.page(floor) for floor in reference.floors())
    for name in public_names():
        assert f"{{ #{name} }}" in text
    from steelyard import sklearn

    assert all(f"{{ #{name} }}" in reference.drop_ins() for name in sklearn.__all__)


def test_every_command_is_told_with_a_function_that_exists():
    from importlib import import_module

    told = reference.commands()
    for command in COMMANDS:
        (function,) = re.findall(rf"^\| \[`{command}`\]\(#{command}\) \| \[?`([\w.]+)`", told, re.MULTILINE)
        home, _, name = f"steelyard.{function}".replace("steelyard.steelyard", "steelyard").rpartition(".")
        assert callable(getattr(import_module(home), name)), command


def test_every_command_is_in_the_reference():
    assert all(f"Usage: steelyard {name}" in reference.commands() for name in COMMANDS)
