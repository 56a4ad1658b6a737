"""The frame of the studies: what a study says, how it is written, and what is refused."""

from __future__ import annotations

import csv
import json
import math
import re
from dataclasses import replace

import pytest
from checks import assert_refused

from steelyard import SurfaceDisplay
from steelyard.studies import study_files
from steelyard.studies.declared_study import DeclaredStudy, Finding, RunPlan
from steelyard.studies.nguyen import NGUYEN_STUDY
from steelyard.studies.registry import environment, run
from steelyard.studies.study import Claim, Picture, Study, Table
from steelyard.studies.study_page import shell_command, study_page

HOSTILE = "</script><b onclick=x>&"


def claim(verdict="holds", words="It holds."):
    return Claim(words, "0.5", "0.51", "0.50 to 0.52 over 3 seeds", verdict, "Because.", "Table 1")


@pytest.fixture(scope="module")
def study():
    rows = [{"metric": "=1+1", "value": -0.25}, {"metric": HOSTILE, "value": math.nan}]
    return Study(
        "wu",
        f"A title {HOSTILE}",
        "Somebody (2025)",
        ["The head.", "A second sentence."],
        [Table("numbers", "Some numbers", rows, "A note.")],
        [Picture("surface", SurfaceDisplay.of(["ac_score"], shape="contour"), width=4)],
        [claim(), claim("does not hold", HOSTILE), claim("not tested")],
        {"seed": 3, "quick": True, "nan": math.nan},
        {"python": "3"},
        2.0,
    )


@pytest.fixture(scope="module")
def folder(study, tmp_path_factory):
    return study_files.write_study(study, tmp_path_factory.mktemp("studies") / "wu")


def test_a_study_reads_as_text_of_a_hundred_columns(study):
    text = repr(study)
    assert max(map(len, text.splitlines())) <= 100
    assert "1 holds, 1 does not hold, 1 not tested" in text
    assert "quick run" in text and "DOES NOT HOLD: Because." in text


def test_a_claim_of_our_own_is_counted_apart(study):
    ours = replace(claim(), own=True)
    other = Study(**{**study.__dict__, "claims": [claim(), claim(), ours]})
    assert other.verdict_counts == "2 hold; of our own 1 holds"


def test_a_full_run_does_not_say_that_it_is_quick(study):
    full = Study(**{**study.__dict__, "choices": {"seed": 3, "quick": False}})
    assert "quick run" not in repr(full) + study_page(full)
    assert "quick run" in study_page(study)


def test_the_command_repeats_the_options_of_the_run(study):
    assert shell_command(study) == "steelyard study wu --quick --seed 3"
    other = Study(**{**study.__dict__, "choices": {"seed": 3, "quick": False, "overlap": True, "rows": "10"}})
    assert shell_command(other) == "steelyard study wu --overlap --seed 3"
    assert f"{shell_command(other)}<" in study_page(other)


def test_a_study_is_an_experiment_and_a_function_for_each_claim_and_table():
    declared = DeclaredStudy[float]("half", "A half", cite="Somebody (2025)")
    declared.experiment(lambda plan, *, twice=False: plan.seed / 2 * (1 + twice))
    declared.summary(lambda half: [f"It is {half}."])
    declared.choices(lambda half: {"half": half})
    declared.pictures(lambda _: [])
    declared.table("numbers", "Numbers", lambda half: f"Of {half}.")(lambda half: [{"half": half}])
    finding = Finding("1.5", "no seed", "holds", "It is so.")
    declared.claim("A half is a half.", paper="0.5", place="Section 1")(lambda _: finding)
    declared.claim("So it is.", place="Section 2")(lambda half: replace(finding, paper=str(half)))
    study = declared.run(RunPlan(quick=True, data=None, seed=3, progress=print))
    assert (study.summary, study.choices, study.cite) == (["It is 1.5."], {"half": 1.5}, "Somebody (2025)")
    assert [(c.claim, c.paper, c.ours, c.place) for c in study.claims] == [
        ("A half is a half.", "0.5", "1.5", "Section 1"),
        ("So it is.", "1.5", "1.5", "Section 2"),
    ]
    assert [(t.name, t.note, t.rows) for t in study.tables] == [("numbers", "Of 1.5.", [{"half": 1.5}])]
    assert declared.options == ("twice",) and NGUYEN_STUDY.options == ("overlap",)


def test_the_options_of_a_run_are_among_its_choices(study, monkeypatch):
    monkeypatch.setattr(NGUYEN_STUDY, "run", lambda *_, overlap: Study(**study.__dict__ | {"choices": {}}))
    found = run("nguyen", quick=True, seed=4, overlap=True)
    assert found.choices == {"seed": 4, "quick": True, "overlap": True}


def test_the_folder_holds_page_tables_figures_and_json(folder):
    found = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    assert found == [
        "claims.csv",
        "figures/surface.pdf",
        "figures/surface.svg",
        "page.html",
        "study.json",
        "tables/numbers.csv",
    ]
    assert (folder / "figures/surface.pdf").read_bytes().startswith(b"%PDF")


def test_the_folder_has_the_permissions_of_any_that_the_user_makes(folder, tmp_path):
    (tmp_path / "plain").mkdir()
    assert folder.stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_the_page_fetches_nothing_and_runs_nothing(folder):
    html = (folder / "page.html").read_text()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1]
    assert "default-src 'none'" in policy and "img-src data:" in policy and "script-src" not in policy
    assert "<script" not in html and "<b onclick" not in html
    assert not re.search(r"""(src|href)=["'](?!data:)""", html)
    assert html.count("data:image/svg+xml;base64,") == 1


def test_json_is_strict_and_csv_guards_formulas(folder):
    def refuse(word):
        raise AssertionError(word)

    whole = json.loads((folder / "study.json").read_text(), parse_constant=refuse)
    assert whole["choices"]["nan"] is None and whole["tables"]["numbers"]["rows"][0]["value"] == -0.25
    rows = list(csv.DictReader((folder / "tables/numbers.csv").read_text().splitlines()))
    assert rows[0] == {"metric": "'=1+1", "value": "-0.25"} and rows[1]["value"] == ""
    assert len(list(csv.DictReader((folder / "claims.csv").read_text().splitlines()))) == 3


def test_what_is_there_is_kept_unless_forced(study, folder, tmp_path):
    before = (folder / "page.html").stat().st_mtime_ns
    assert_refused(lambda: study_files.write_study(study, folder), ValueError, "exists and was kept")
    assert (folder / "page.html").stat().st_mtime_ns == before
    study_files.write_study(study, folder, force=True)
    assert (folder / "page.html").stat().st_mtime_ns > before
    other = tmp_path / "letters"
    other.mkdir()
    (other / "letter.txt").write_text("dear")
    assert_refused(lambda: study_files.write_study(study, other, force=True), ValueError, "holds no study")
    assert (other / "letter.txt").read_text() == "dear"


@pytest.mark.parametrize("below", ["out", "deeper/out"])
def test_a_folder_that_cannot_be_made_is_refused_before_any_work(tmp_path, below):
    (tmp_path / "letter").write_text("dear")
    words = "would lie in .*letter', which is a file"
    assert_refused(lambda: study_files.check_folder(tmp_path / "letter" / below), ValueError, words)
    assert study_files.check_folder(tmp_path / "new" / below) == tmp_path / "new" / below
    assert not (tmp_path / "new").exists()


def test_a_folder_whose_name_is_too_long_is_refused_before_any_work(tmp_path):
    assert_refused(lambda: study_files.check_folder(tmp_path / ("x" * 300)), ValueError, "cannot be made")


def test_a_folder_that_may_not_be_written_to_is_refused_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, mode: path != tmp_path)  # the superuser may write anywhere
    assert_refused(lambda: study_files.check_folder(tmp_path / "out"), ValueError, "may not be written to")


def test_a_failure_leaves_nothing_half_written(study, tmp_path, monkeypatch):
    def broken(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(study_files, "to_json", broken)
    with pytest.raises(KeyboardInterrupt):
        study_files.write_study(study, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_one_study_gives_one_file(study, folder):
    assert study_page(study) == (folder / "page.html").read_text()


@pytest.mark.parametrize("name", ["garica", "no-such"])
def test_an_unknown_study_is_one_sentence(name):
    assert_refused(lambda: run(name), KeyError, "There is no study .* nguyen, asawa, kalita, wu, garcia")


def test_a_near_miss_is_told():
    assert_refused(lambda: run("garica"), KeyError, r"Did you mean 'garcia'\?")


@pytest.mark.parametrize("seed", [-1, 1.5, "x", 5_000_000_000])
def test_a_seed_that_is_no_whole_number_or_too_large_is_one_sentence(seed):
    assert_refused(lambda: run("garcia", seed=seed), ValueError, "seed is a whole number")


def test_the_environment_names_the_libraries():
    found = environment()
    assert {"steelyard", "python", "numpy", "scikit-learn", "machine"} <= set(found)
