"""Pages, figures, cross-evaluation and studies from the shell."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from command_line import run_command

import steelyard

pl = pytest.importorskip("polars")


@pytest.fixture(scope="module")
def preds(tmp_path_factory):
    rng = np.random.default_rng(0)
    y = (rng.random(400) < 0.2).astype(int)
    a = np.clip(0.3 * y + rng.random(400) * 0.7, 0, 1)
    b = np.clip(0.1 * y + rng.random(400) * 0.8, 0, 1)
    path = tmp_path_factory.mktemp("shell") / "preds.csv"
    guess = (a > 0.5).astype(int)
    pl.DataFrame({"y": y, "a": a, "b": b, "guess": guess, "fold": np.arange(400) % 5}).write_csv(path)
    return str(path)


def ran(*words, code=0):
    return run_command(*words, code=code)


def test_a_report_is_the_page_of_the_same_evaluation(preds, tmp_path):
    out = tmp_path / "report.html"
    ran("report", preds, "--true", "y", "--score", "a", "-o", out)
    frame = pl.read_csv(preds)
    html = out.read_text(encoding="utf-8")
    evaluation = replace(steelyard.evaluate(frame, true="y", score="a"), source="preds.csv")
    assert html.strip() == evaluation.to_html().strip()
    assert "Content-Security-Policy" in html and "http://" not in html.replace("http://www.w3.org", "")


def test_a_comparison_and_an_audit_have_pages(preds, tmp_path):
    ran("compare", preds, "--true", "y", "--score", "a", "--score", "b", "-o", tmp_path / "c.html")
    assert "on the same 400 rows" in (tmp_path / "c.html").read_text(encoding="utf-8")
    ran("audit", "tpnr", "-o", tmp_path / "a.html")
    assert "tpnr" in (tmp_path / "a.html").read_text(encoding="utf-8")


def test_decision_curves_are_standardized_where_asked(preds, tmp_path):
    pytest.importorskip("matplotlib")
    out = tmp_path / "figure.svg"
    drawn = ran("plot", "decision", preds, "--true", "y", "--score", "a", "--standardized", "-o", out)
    assert drawn.stdout.startswith("Standardized net benefit (1 is a perfect model)")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("confusion", ["--pred", "guess"]),
        ("roc", ["--score", "a", "--score", "b"]),
        ("pr", ["--score", "a"]),
        ("threshold", ["--score", "a", "--metrics", "mcc,ac_score"]),
        ("prevalence", ["--score", "a"]),
        ("intervals", ["--pred", "guess"]),
        ("density", ["--score", "a"]),
        ("dots", ["--score", "a", "--score", "b", "--prevalence", "0.03"]),
        ("dots", ["--pred", "guess"]),
        ("ranking", ["--score", "a", "--score", "b", "--threshold", "0.5"]),
        ("leaderboard", ["--score", "a", "--score", "b", "--metrics", "roc_auc"]),
        ("wins", ["--score", "a", "--score", "b", "--threshold", "0.5"]),
        ("leaders", ["--score", "a", "--score", "b", "--threshold", "0.5", "--metrics", "f1,precision"]),
        ("runs", ["--pred", "guess", "--by", "fold"]),
        ("surface", ["--pred", "guess"]),
        ("reliability", ["--score", "a", "--score", "b", "--prevalence", "12/400"]),
        ("murphy", ["--score", "a", "--score", "b", "--prevalence", "0.03"]),
        ("gain", ["--score", "a", "--score", "b"]),
        ("lift", ["--score", "a", "--prevalence", "0.03"]),
        ("cost", ["--score", "a", "--score", "b"]),
        ("brier", ["--score", "a", "--prevalence", "12/400"]),
        ("triptych", ["--score", "a", "--score", "b"]),
    ],
)
def test_every_kind_of_figure_is_drawn_from_a_file(preds, tmp_path, kind, words):
    pytest.importorskip("matplotlib")
    out = tmp_path / "figure.svg"
    told = ran("plot", kind, preds, "--true", "y", *words, "-o", out).stdout
    assert "<text" in out.read_text(encoding="utf-8")
    assert len(told.split()) > 5  # the caption
    assert [path.name for path in tmp_path.iterdir()] == ["figure.svg"]


def test_help_names_every_kind_of_figure():
    refused = ran("plot", "nonsense", code=2).stderr.partition("there are ")[2].partition(".")[0]
    kinds, displays = refused.split(", "), [name for name in dir(steelyard.figures) if name.endswith("Display")]
    assert len(kinds) == len(displays) + 2  # a gain curve is also drawn as lift, and a cost curve as Brier curve
    assert {*kinds} <= {*ran("plot", "--help").stdout.replace(",", " ").split()}


def test_a_figure_states_the_columns_that_were_taken_and_the_prevalence(preds, tmp_path):
    pytest.importorskip("matplotlib")
    answer = ran("plot", "reliability", preds, "--score", "a", "--prevalence", "12/400", "-o", tmp_path / "figure.svg")
    assert "Columns were taken by their names: --true y." in answer.stderr
    assert f", at a prevalence of {steelyard.Prevalence(positives=12, rows=400).text()}" in answer.stdout


@pytest.mark.parametrize("kind", ["roc", "reliability", "murphy", "gain", "brier", "density", "dots", "intervals"])
def test_a_figure_by_group_shows_every_group(preds, tmp_path, kind):
    pytest.importorskip("matplotlib")
    out = tmp_path / "figure.svg"
    caption = ran("plot", kind, preds, "--true", "y", "--score", "a", "--by", "fold", "-o", out).stdout
    drawn = out.read_text(encoding="utf-8") + caption
    for fold in sorted(set(pl.read_csv(preds)["fold"])):
        assert f"fold = {fold}" in drawn
    assert " rows each" in caption or " rows, " in caption


def test_a_figure_that_cannot_be_drawn_leaves_nothing(preds, tmp_path):
    for words, sentence in (
        (["plot", "rock", preds, "-o", tmp_path / "x.png"], "No figure is called 'rock'"),
        (["plot", "calibration", preds, "-o", tmp_path / "x.png"], "Did you mean 'reliability'?"),
        (["plot", "surface", "--prevalence", "0.1", "-o", tmp_path / "x.png"], "--prevalence is that of a file"),
        (["plot", "roc", preds, "--true", "y", "--score", "a"], "A figure needs a file"),
        (["plot", "roc", preds, "--score", "a", "--standardized", "-o", tmp_path / "x.png"], "has no net benefit"),
        (
            ["plot", "decision", preds, "--true", "y", "--pred", "guess", "-o", tmp_path / "x.png"],
            "needs scores, those of one class; give them with --score.",
        ),
        (["plot", "roc", preds, "--true", "y", "--score", "a", "-o", tmp_path / "x.gif"], "gives no format"),
        (
            ["plot", "threshold", preds, "--true", "y", "--score", "a", "--score", "b", "-o", tmp_path / "x.png"],
            "shows one model",
        ),
        (["plot", "runs", preds, "--true", "y", "--pred", "guess", "-o", tmp_path / "x.png"], "name it with --by"),
        (
            ["plot", "pr", preds, "--true", "y", "--score", "a", "--by", "fold", "-o", tmp_path / "x.png"],
            "A pr figure shows all rows together; leave out --by, or draw roc, reliability,",
        ),
        (
            [
                "plot",
                "roc",
                preds,
                "--true",
                "y",
                "--score",
                "a",
                "--score",
                "b",
                "--by",
                "fold",
                "-o",
                tmp_path / "x.png",
            ],
            "leave out --by, or name one model",
        ),
        (
            [
                "plot",
                "confusion",
                preds,
                "--true",
                "y",
                "--pred",
                "guess",
                "--prevalence",
                "0.1",
                "-o",
                tmp_path / "x.png",
            ],
            "A confusion figure shows the rows as they are; leave out --prevalence.",
        ),
        (
            ["plot", "roc", preds, "--true", "y", "--score", "nope", "-o", tmp_path / "x.png"],
            "There is no column 'nope'",
        ),
    ):
        result = ran(*words, code=2)
        assert sentence in result.stderr and not result.stdout
    assert not list(tmp_path.iterdir())


def test_models_are_cross_evaluated_from_a_table(preds, tmp_path):
    pytest.importorskip("sklearn")
    words = ["crossval", preds, "--target", "y", "--model", "logistic", "--split", "3x2"]
    assert "6 runs" in ran(*words).stdout
    told = json.loads(ran(*words, "--model", "tree", "--format", "json").stdout)
    assert json.dumps(told, allow_nan=False)
    ran(*words, "-o", tmp_path / "one.html")
    ran(*words, "--model", "tree", "-o", tmp_path / "two.html")
    one = (tmp_path / "one.html").read_text(encoding="utf-8")
    assert "data-metric" in one and "fit_seconds" in one and "Nadeau and Bengio" in one
    assert "p_holm" in (tmp_path / "two.html").read_text(encoding="utf-8")
    assert told["seed"] == 0 and told["split"].startswith("Folds(k=3")
    assert "logistic" in (tmp_path / "two.html").read_text(encoding="utf-8")
    assert ran(*words, "--seed", 1).stdout != ran(*words, "--seed", 2).stdout
    for wrong, sentence in (
        (["--target", "nope"], "--target takes one value and was given 2"),
        (["--model", "tre"], "Did you mean 'tree'"),
        (["--n-jobs", 0], "--n-jobs is how many runs there are at a time"),
        (["--seed", -1], "is not in the range x>=0"),
    ):
        assert sentence in ran(*words, *wrong, code=2).stderr


def test_studies_are_listed_run_and_written(tmp_path):
    assert [line.split()[0] for line in ran("study", "--list").stdout.splitlines() if line[:1].islower()][1:] == [
        "asawa", "garcia", "kalita", "nguyen", "selection", "wu",
    ]  # fmt: skip
    assert "There is no study 'wo'" in ran("study", "wo", code=2).stderr
    assert "The study garcia has no option 'overlap'" in ran("study", "garcia", "--overlap", code=2).stderr
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").touch()
    assert "exists and was kept" in ran("study", "garcia", "--quick", "-o", tmp_path / "kept", code=2).stderr


def test_a_kind_that_takes_no_file_says_so_in_words_of_the_shell(preds, tmp_path):
    told = ran("plot", "correlation", preds, "-o", tmp_path / "c.svg", code=2).stderr
    assert "takes no file" in told and "Evaluation" not in told
