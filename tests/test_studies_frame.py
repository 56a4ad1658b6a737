"""The frame of the studies: what a study says, how it is written, and what is refused."""

from __future__ import annotations

import ast
import csv
import json
import math
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from checks import assert_refused
from command_line import run_command
from study_tools import (
    Claim,
    DeclaredStudy,
    Effect,
    Finding,
    Picture,
    RunPlan,
    Study,
    Table,
    joint_level,
    registry,
    run,
    studies,
    study_files,
    study_names,
    verdict_of,
)

from steelyard.figures import SurfaceDisplay
from steelyard.studies import corrected_t_test

FOLDER = Path(studies.__file__).parent
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
        [claim(), claim("does not hold", HOSTILE), claim("not shown")],
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
    assert "1 holds, 1 not shown, 1 does not hold" in text
    assert "quick run" in text and "DOES NOT HOLD: Because." in text


def test_a_claim_of_our_own_is_counted_apart(study):
    ours = replace(claim(), own=True)
    other = Study(**{**study.__dict__, "claims": [claim(), claim(), ours]})
    assert other.verdict_counts == "2 hold; of our own 1 holds"


def test_a_full_run_does_not_say_that_it_is_quick(study):
    full = Study(**{**study.__dict__, "choices": {"seed": 3, "quick": False}})
    assert "quick run" not in repr(full) + full.to_html()
    assert "quick run" in study.to_html()


def test_the_command_repeats_the_options_of_the_run(study):
    assert study_files.shell_command(study) == "steelyard study wu --quick --seed 3"
    other = Study(**{**study.__dict__, "choices": {"seed": 3, "quick": False, "overlap": True, "rows": "10"}})
    assert study_files.shell_command(other) == "steelyard study wu --overlap --seed 3"
    assert f"{study_files.shell_command(other)}<" in other.to_html()


def test_a_study_is_an_experiment_and_a_function_for_each_claim_and_table():
    declared = DeclaredStudy[float]("half", "A half", cite="Somebody (2025)")
    declared.experiment(lambda plan: plan.seed / 2)
    declared.summary(lambda half: [f"It is {half}."])
    declared.choices(lambda half: {"half": half})
    declared.pictures(lambda _: [])
    declared.table("numbers", "Numbers", lambda half: f"Of {half}.")(lambda half: [{"half": half}])
    finding = Finding("1.5", "no seed", "holds", "It is so.")
    effect = Finding.of([Effect("a half", [0.4, 0.5, 0.6], (0.1, 0.9))], "Seen.", seeds="seeds")
    declared.claim("A half is a half.", paper="0.5", place="Section 1")(lambda _: finding)
    declared.claim("So it is.", place="Section 2")(lambda half: replace(finding, paper=str(half)))
    declared.claim("It is seen.", place="Section 3")(lambda _: effect)
    study = declared.run(RunPlan(quick=True, data=None, seed=3, progress=print))
    assert (study.summary, study.choices, study.cite) == (["It is 1.5."], {"half": 1.5}, "Somebody (2025)")
    assert [(c.claim, c.paper, c.ours, c.place) for c in study.claims] == [
        ("A half is a half.", "0.5", "1.5", "Section 1"),
        ("So it is.", "1.5", "1.5", "Section 2"),
        ("It is seen.", "in words only", "a half 0.500 (0.252 to 0.748)", "Section 3"),
    ]
    numbers, effects = study.tables
    assert (numbers.name, numbers.note, numbers.rows) == ("numbers", "Of 1.5.", [{"half": 1.5}])
    assert effects.rows[0]["claim"] == 3 and effects.rows[0]["shown"] == "yes" and effects.rows[0]["seeds"] == 3


def test_what_is_neither_shown_nor_refuted_is_not_shown():
    """An interval that crosses the end of the claimed range says nothing, however large its p-value."""
    gain, loss, open_one = Effect("a", [2.9, 3, 3.1]), Effect("b", [-2.9, -3, -3.1]), Effect("c", [-1, 0, 2])
    assert verdict_of([gain]) == "holds" and verdict_of([loss]) == "does not hold"
    assert verdict_of([open_one]) == verdict_of([Effect("one seed", [5.0])]) == "not shown"
    assert verdict_of([Effect("nowhere defined", [math.nan, math.nan])]) == "not shown"
    assert verdict_of([gain, open_one]) == verdict_of([gain, loss]) == "holds with qualification"
    assert verdict_of([open_one, loss]) == "does not hold"
    near = Effect("equal", [0.001, -0.002, 0.001, 0.0], (-0.01, 0.01))
    assert verdict_of([near]) == "holds"  # that two are equal is shown by a narrow interval, not by a p-value
    assert verdict_of([replace(near, values=[0.001, -0.02, 0.03, 0.0])]) == "not shown"


def test_seeds_that_share_rows_have_a_wider_interval_and_several_effects_hold_together():
    alone, shared = Effect("a", [1, 2, 3, 4]), Effect("a", [1, 2, 3, 4], test_share=0.25)
    test = corrected_t_test([1, 2, 3, 4], test_share=0.25)
    assert shared.interval() == (test.difference, test.low, test.high)
    assert alone.interval()[1] > shared.interval()[1]
    finding = Finding.of([Effect("a", [2.9, 3, 3.1, 3]), Effect("b", [-4, 4, 1])], "Why.", seeds="splits")
    assert finding.verdict == "holds with qualification" and finding.spread.endswith("; not shown: b")
    assert "over 4 splits, 95 % intervals, all together" in finding.spread
    assert joint_level([alone, shared]) == pytest.approx(0.975)


def test_too_few_seeds_judge_nothing_and_an_interval_stays_within_what_is_possible():
    few = Effect("gain", [2.0, 2.1, 2.2], fewest=6)
    finding = Finding.of([few], "Why so.", seeds="families")
    assert (finding.verdict, finding.ours, finding.spread) == ("not shown", "gain +2.100", "means over 3 families")
    assert finding.why == "3 families, at least 6 needed. Why so."
    assert few.row(0.95)["low"] is None and Effect("gain", [2.0, 2.1, 2.2], fewest=3).shown()
    shares = [1.0, 1.0, 1.0, 1.0, 0.97, 0.9]
    assert Effect("share", shares).interval()[2] > 1  # as Student's interval is
    mean, low, high = Effect("share", shares, possible=(0, 1)).interval()
    assert low < mean < high == 1 and low == Effect("share", shares).interval()[1]


def test_an_undefined_value_is_left_out_and_never_printed():
    effect = Effect("precision", [0.5, math.nan, 0.6, 0.7], (0, 1))
    assert effect.seeds == 3 and "nan" not in effect.text(0.95) and effect.row(0.95)["seeds"] == 3
    assert Effect("none", [math.nan]).text(0.95) == "none undefined"


@pytest.mark.parametrize("n", [2, 20, 100])
def test_runs_with_other_seeds_share_no_draw(n):
    plans = [RunPlan(quick=True, data=None, seed=seed, progress=print) for seed in (0, 7, 4, 1)]
    seeds = [set(plan.seeds(n)) for plan in plans]
    assert len(set.union(*seeds)) == 4 * n and set(plans[0].seeds(n)) == set(range(n))


# ---------------------------------------------------------------- one frame for all


@pytest.mark.parametrize("name", study_names())
def test_every_study_is_declared_in_the_one_frame(name):
    """Its claims come from the frame alone: no module of a study makes one, a study or a verdict table by itself."""
    declared = registry._declared(name)
    assert isinstance(declared, DeclaredStudy) and declared.name == name and declared._claims
    made = {"Claim", "Study", "verdict_of"}
    for path in FOLDER.glob(f"{name}*.py"):
        calls = [node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        assert not made & {func.id for func in calls if isinstance(func, ast.Name)}, path


HALF = f'''"""Half (2025): whether a random number is a half on average; no data."""

import numpy as np

from {DeclaredStudy.__module__} import DeclaredStudy, RunPlan

HALF_STUDY = DeclaredStudy("half", "Is a half a half?", cite="Somebody (2025) On halves.")


@HALF_STUDY.experiment
def _experiment(plan: RunPlan, *, rows: int = 100) -> list[float]:
    return [float(np.random.default_rng(seed).random(rows).mean()) for seed in plan.seeds(5)]
'''
HALF_CLAIMS = f'''"""What is said of halves, tried."""

from {Effect.__module__} import Effect, Finding
from {studies.__name__}.half import HALF_STUDY


@HALF_STUDY.claim("A random number is a half on average.", paper="0.5", place="Section 1")
def _mean(results: list[float]) -> Finding:
    return Finding.of([Effect("mean", results, (0.4, 0.6))], "It is uniform.", seeds="seeds")


@HALF_STUDY.claim("It is above a half.", place="Section 2")
def _above(results: list[float]) -> Finding:
    return Finding.of([Effect("mean less a half", [mean - 0.5 for mean in results])], "It is not.", seeds="seeds")
'''


@pytest.fixture
def further(tmp_path):
    """A study of two files in a folder beside the package's own."""
    (tmp_path / "half.py").write_text(HALF)
    (tmp_path / "half_claims.py").write_text(HALF_CLAIMS)
    studies.__path__.append(str(tmp_path))
    yield "half"
    studies.__path__.remove(str(tmp_path))
    for name in ("half", "half_claims"):
        sys.modules.pop(f"steelyard.studies.{name}", None)


def test_a_further_study_of_two_files_runs_through_the_shell_and_has_its_page(further, tmp_path):
    listing = run_command("study", "--list").output
    assert re.search(r"^half +Half \(2025\): whether", listing, re.MULTILINE) and "garcia" in listing
    ran = run_command("study", further, "--seed", "7", "-o", tmp_path / "out", code=0)
    assert "HOLDS: It is uniform." in ran.output and "NOT SHOWN: It is not." in ran.output
    html = (tmp_path / "out" / "page.html").read_text()
    assert "Of its claims 1 holds, 1 not shown." in html and '<article class="claim unshown">' in html
    assert (
        "<h2>Figures</h2>" not in html
        and "The effects behind the verdicts" in html
        and "steelyard study half --seed 7" in html
    )
    saved = json.loads((tmp_path / "out" / "study.json").read_text())
    assert [row["shown"] for row in saved["tables"]["effects"]["rows"]] == ["yes", "open"]


def test_a_further_study_needs_no_words_for_its_page_of_the_documentation(further):
    pytest.importorskip("jinja2", reason="the documentation's tools are not installed: pip install '.[docs]'")
    sys.path.append(str(FOLDER.parents[2] / "docs"))
    import findings

    first, *others = (run(further, seed=seed) for seed in (0, 7, 4))
    page = findings.filled(further, findings.record_of(first, others))
    assert "## What is not shown" in page and "steelyard study half --seed 0" in page
    assert "The same study with seed 7 and 4, whole and with draws of its own, gives the same verdict" in page
    assert "None were run for this page" in findings.filled(further, findings.record_of(first))
    turned = replace(others[0], claims=[replace(c, verdict="does not hold") for c in others[0].claims])
    page = findings.filled(further, findings.record_of(first, [turned]))
    assert "- **It is above a half** With seed 7: does not hold." in page


def test_the_options_of_a_run_are_among_its_choices_and_no_others_are_taken(further):
    assert run(further, quick=True, seed=4, rows=50).choices == {"seed": 4, "quick": True, "rows": 50}
    assert_refused(lambda: run(further, overlap=True), ValueError, "The study half has no option 'overlap'; leave it")


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


def test_the_page_fetches_nothing_and_runs_its_own_script_alone(folder):
    html = (folder / "page.html").read_text()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1]
    assert "default-src 'none'" in policy and "img-src data:" in policy and policy.count("script-src 'sha256-") == 1
    assert "unsafe" not in policy and html.count("<script") == 2 and "<b onclick" not in html  # its data and its script
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
    assert study.to_html() == (folder / "page.html").read_text()


@pytest.mark.parametrize("name", ["garica", "no-such"])
def test_an_unknown_study_is_one_sentence(name):
    assert_refused(lambda: run(name), KeyError, "There is no study .* asawa, garcia, kalita, nguyen, selection, wu")


def test_a_near_miss_is_told():
    assert_refused(lambda: run("garica"), KeyError, r"Did you mean 'garcia'\?")


@pytest.mark.parametrize("seed", [-1, 1.5, "x", 5_000_000_000])
def test_a_seed_that_is_no_whole_number_or_too_large_is_one_sentence(seed):
    assert_refused(lambda: run("garcia", seed=seed), ValueError, "seed is a whole number")


def test_the_environment_names_the_libraries():
    found = registry.environment()
    assert {"steelyard", "python", "numpy", "scikit-learn", "machine"} <= set(found)
