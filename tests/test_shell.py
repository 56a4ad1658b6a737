"""The commands about predictions, from the shell: answers on stdout, one sentence on stderr, whole files or none."""

from __future__ import annotations

import csv
import gzip
import importlib.util
import io
import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from command_line import run_command
from text_tools import text_width

import steelyard
from steelyard.analysis.results import formatting

ROWS = 600
COMMAND = [sys.executable, "-m", "steelyard.cli"]

HERE = Path(__file__).parent


def shell(*words, stdin=None, cwd=None, **environment):
    words = [str(word) for word in words]
    settings = {**os.environ, "COLUMNS": "100", **environment}
    return subprocess.run([*COMMAND, *words], capture_output=True, check=False, input=stdin, cwd=cwd, env=settings)


def inside(*words, **_):
    """The same in this process: for what a process of its own would show again, at a second each."""
    ran = run_command(*words)
    return subprocess.CompletedProcess(words, ran.exit_code, ran.stdout_bytes, ran.stderr_bytes)


def run(*words, code=0):
    """The command in this process; a traceback fails the test."""
    return run_command(*words, code=code)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(3)
    truth = rng.random(ROWS) < 0.25
    score = np.round(1 / (1 + np.exp(-rng.normal(3 * truth - 1.5))), 4)
    columns = {
        "y_true": truth.astype(int), "y_pred": (score >= 0.5).astype(int), "score": score,
        "other": np.round(rng.random(ROWS), 4), "b": (rng.random(ROWS) < 0.3).astype(int), "w": rng.random(ROWS),
        "n": rng.integers(0, 3, ROWS), "site": rng.choice(["north", "south", "west"], ROWS),
        "kind": np.where(truth, "ill", np.where(rng.random(ROWS) < 0.5, "well", "old")),
        "guess": rng.choice(["ill", "old", "well"], ROWS),
    }  # fmt: skip
    return pl.DataFrame(columns)


@pytest.fixture
def rows(frame, tmp_path):
    path = tmp_path / "rows.csv"
    frame.write_csv(path)
    return path


def strict(text):
    """JSON without NaN or Infinity."""

    def refuse(name):
        raise AssertionError(f"{name} is no JSON")

    return json.loads(text, parse_constant=refuse)


# ---------------------------------------------------------------- report


def test_report_is_the_evaluation_of_the_rows_by_the_published_schema(frame, rows):
    ran = shell(
        "report",
        rows,
        "--true",
        "y_true",
        "--score",
        "score",
        "--threshold",
        "0.4",
        "--format",
        "json",
        "--level",
        "0.9",
    )
    assert (ran.returncode, ran.stderr) == (0, b"")
    told = strict(ran.stdout)
    assert (told["schema"], told["version"], told["rows"], told["positive"]) == (2, steelyard.__version__, ROWS, 1)
    assert (told["threshold"], told["level"], told["labels"]) == (0.4, 0.9, [0, 1])
    expected = steelyard.evaluate(frame["y_true"], y_score=frame["score"], threshold=0.4, level=0.9)
    assert told["counts"] == expected.counts.to_dict()
    assert told["metrics"] == json.loads(expected.to_json())["metrics"]
    for row in told["metrics"]:
        assert (row["value"] is None) == (row["undefined"] is not None)


def test_two_runs_print_the_same_bytes(rows):
    for words in (["--by", "site"], ["--format", "json", "--weight", "w", "--by", "site"]):
        one, other = (shell("report", rows, "--pred", "y_pred", "--score", "score", *words) for _ in range(2))
        assert one.returncode == 0
        assert (one.stdout, one.stderr) == (other.stdout, other.stderr)


def test_the_table_opens_with_the_verdict_and_fits_the_terminal(rows):
    out = run("report", rows, "--true", "y_true", "--pred", "y_pred", "--by", "site").stdout
    assert " ".join(out.split()).startswith(
        "rows.csv · 600 rows · true y_true · pred y_pred · by site · positive 1 (by convention) ·"
    )
    for words in ("Of these 600 rows, ", "●", "95 % interval", "true \\ predicted", "site = north", "--all shows"):
        assert words in out
    assert max(map(len, out.splitlines())) <= 100
    assert len(run("report", rows, "--true", "y_true", "--pred", "y_pred", "--all").stdout) > len(out)


def test_the_header_names_every_column_the_class_who_chose_it_and_the_threshold(rows, tmp_path):
    words = ["report", rows, "--true", "y_true", "--score", "score", "--weight", "w", "--by", "site", "--level", "0.9"]
    facts = "true y_true · score score · weight w · by site · positive {} · threshold 0.300 · 90 % intervals"
    for given, positive in ([], "1 (by convention)"), (["--pos-label", "0"], "0 (given)"):
        title = " ".join(run(*words, *given, "--threshold", "0.3").stdout.partition("\n\n")[0].split())
        assert title.startswith("rows.csv · ") and title.endswith(facts.format(positive))
        first = run(*words, *given, "--threshold", "0.3", "--format", "md").stdout.partition("\n")[0]
        assert first.replace("\\", "") == title
    assert "pred y_pred · cluster site" in run("report", rows, "--pred", "y_pred", "--cluster", "site").stdout
    run(*words, "-o", tmp_path / "page.html")
    assert "weight w</bdi>" in (tmp_path / "page.html").read_text(encoding="utf-8")
    saved = json.loads(run(*words, "--format", "json").stdout)
    assert saved["source"] == "rows.csv"
    assert saved["columns"] == {"true": "y_true", "score": "score", "weight": "w", "by": ["site"]}


def _many_classes(path, count):
    rng = np.random.default_rng(count)
    labels = np.array([f"class {i} of a name too long to show" if i % 3 else f"c{i}" for i in range(count)])
    truth = rng.integers(0, count, 900)
    pred = np.where(rng.random(900) < 0.7, truth, rng.integers(0, count, 900))
    pl.DataFrame({"y_true": labels[truth], "y_pred": labels[pred]}).write_csv(path)
    return path


@pytest.fixture(scope="module")
def answers(frame, tmp_path_factory):
    """The words of a command line for every kind of table."""
    folder = tmp_path_factory.mktemp("answers")
    names = [f"model_{letter}_of_a_long_name" for letter in "abcde"]
    others = {name: pl.Series(np.roll(frame["y_pred"].to_numpy(), 3 * i)) for i, name in enumerate(names)}
    frame.with_columns(**others).write_csv(folder / "rows.csv")
    frame[:120].select("score", "other", "w", "y_true").write_csv(folder / "table.csv")
    rows, models = folder / "rows.csv", [word for name in names for word in ("--pred", name)]
    return {
        "report": ["report", rows, "--by", "site", "--by", "kind"],
        "report all": ["report", rows, "--all"],
        "report 3": ["report", rows, "--true", "kind", "--pred", "guess"],
        "report 12": ["report", _many_classes(folder / "k12.csv", 12)],
        "report 60": ["report", _many_classes(folder / "k60.csv", 60)],
        "compare 2": ["compare", rows, *models[:4], "--metrics", "recall,mcc,f1"],
        "compare 5": ["compare", rows, *models, "--metrics", "recall,mcc"],
        "crossval 1": [
            "crossval",
            folder / "table.csv",
            "--target",
            "y_true",
            "--model",
            "tree",
            "--split",
            3,
        ],
        "audit": ["audit", "mcc", "positive_likelihood_ratio"],
        "audit against": ["audit", "--against", rows, *models[:4], "--true", "y_true"],
        "recommend": ["recommend", rows, "--true", "y_true", "--pred", "y_pred"],
        "threshold": ["threshold", rows, "--score", "score"],
        "metrics": ["metrics"],
        "explain": ["explain", "f_beta"],
        "gate": ["gate", rows, "--require", "mcc>=0.1"],
        "shift": ["shift", rows, "--prevalence", "0.1", "--by", "site"],
    }


ANSWERS = (
    "report",
    "report all",
    "report 3",
    "report 12",
    "report 60",
    "compare 2",
    "compare 5",
    "crossval 1",
    "audit",
)
ANSWERS += ("audit against", "recommend", "threshold", "metrics", "explain", "gate", "shift")
WHOLE_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
TIMED = re.compile(r"^(?:fit_seconds|predict_seconds).*$", re.MULTILINE)  # never twice the same


def numbers(text):
    return set(WHOLE_NUMBER.findall(TIMED.sub("", text)))


@pytest.mark.parametrize("answer", ANSWERS)
def test_at_every_width_lines_fit_and_no_number_is_cut(answer, answers, monkeypatch):
    words = answers[answer]
    if answer.startswith("crossval"):
        pytest.importorskip("sklearn")
    with monkeypatch.context() as wide:
        run(*words)  # loads what it prints with
        asked = [
            m for name, m in [*sys.modules.items()] if name.startswith("steelyard.") and "terminal_width" in vars(m)
        ]
        assert asked
        for module in asked:
            wide.setattr(module, "terminal_width", lambda: 10_000)
        whole = numbers(run(*words).stdout) | {
            str(i) for i in range(1, 13)
        }  # a wide matrix heads its columns by number
    for columns in (60, 80, 100, 120):
        monkeypatch.setenv("COLUMNS", str(columns))
        out = run(*words).stdout
        assert max(map(text_width, out.splitlines())) <= columns
        assert numbers(out) <= whole, numbers(out) - whole
        assert not re.search(r"\d…", out)


def test_columns_that_do_not_fit_are_left_out_or_folded_never_lost_in_the_middle(monkeypatch):
    head, rows = (
        ["label", "a", "b", "words"],
        [["x" * 70, "1.5", "123,456.25", "so many words that they wrap"] for _ in "ab"],
    )
    monkeypatch.setenv("COLUMNS", "40")
    whole = formatting.text_table(head, rows, wrap=(3,)).splitlines()
    assert max(map(len, whole)) <= 40 and sum("123,456.25" in line for line in whole) == 2
    assert sum(line.startswith("x" * 23 + "…") for line in whole) == 6  # before each of three parts
    fewer = formatting.text_table(head, rows, wrap=(3,), optional=(2, 3))
    assert "123,456.25" not in fewer and "\n\n" not in fewer
    rounded = formatting.text_table(["", "n"], [["a", "1.25"], ["b", "-12"], ["c", "< 0.001"], ["d", "–"]])
    assert [line.find(".") % 9 for line in rounded.splitlines()[1:4:2]] == [6, 6]
    assert formatting.text_width("日本e\u0301") == text_width("日本e\u0301") == 5


def test_usual_columns_are_stated_wherever_the_answer_goes(rows):
    words = "Columns were taken by their names: --true y_true, --pred y_pred, --score score."
    assert words in run("report", rows).stdout
    assert words in strict(run("report", rows, "--format", "json").stdout)["assumed"]
    assert words in run("report", rows, "--format", "md").stdout
    assert words in run("report", rows, "--format", "csv").stderr
    assert words in run("gate", rows, "--require", "mcc>-1").stderr
    assert words in run("tally", rows).stderr
    one = "Columns were taken by their names: --true y_true."
    assert one in run("compare", rows, "--pred", "y_pred", "--pred", "b").stdout
    assert one in run("compare", rows, "--pred", "y_pred", "--pred", "b", "--format", "csv").stderr
    assert one in run("compare", rows, "--pred", "y_pred", "--pred", "b", "--format", "html").stderr
    assert one in strict(run("threshold", rows, "--score", "score", "--format", "json").stdout)["assumed"]
    assert one in run("shift", rows, "--pred", "y_pred", "--prevalence", "0.1", "--format", "csv").stderr
    named = run("report", rows, "--true", "y_true", "--pred", "y_pred")
    assert "taken by their names" not in named.stdout + named.stderr


@pytest.mark.parametrize(
    ("header", "guess"),
    [("label,prediction", "--true label, --pred prediction"), ("Target,Probability", "--true Target, --score Probability"), ("y,p", "--true y, --score p")],
)  # fmt: skip
def test_usual_names_are_found(header, guess, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(f"{header}\n1,1\n0,0\n1,0\n")
    assert f"Columns were taken by their names: {guess}." in run("report", path).stdout


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_predictions_that_are_fractions_are_scores(ending, frame, tmp_path):
    path = tmp_path / f"rows.{ending}"
    few = frame.select(label="y_true", prediction="score", risk="score")
    few.write_csv(path) if ending == "csv" else few.write_parquet(path)
    assert "Columns were taken by their names: --true label, --score prediction." in run("report", path).stdout
    told = run("report", path, "--pred", "risk", code=2).stderr
    assert "The column 'risk' holds 0." in told and "Are these scores?" in told


def test_labels_are_not_guessed_where_scores_are_to_be_cut(rows):
    words = "Columns were taken by their names: --true y_true, --score score."
    told = strict(run("report", rows, "--threshold", "0.3", "--format", "json").stdout)
    assert told["threshold"] == 0.3 and words in told["assumed"]
    assert words in run("threshold", rows).stdout


def test_labels_that_truth_and_prediction_do_not_share_are_refused_unless_they_are_tallied(tmp_path):
    path, kept = tmp_path / "rows.csv", tmp_path / "kept.json"
    path.write_text("y,p,kg,q\ncat,Cat,a,cat\ndog,Dog,b,dog\ncat,Dog,c,cat\n")
    columns = (path, "--true", "y", "--pred")
    told = run("report", *columns, "p", code=2).stderr
    assert "None of the labels of the predictions, 'Cat', 'Dog', occurs in the truth, which holds 'cat', 'dog';" in told
    assert "Did you mean 'cat'?" in told
    for command in (
        ("gate", "--require", "mcc>=0"),
        ("shift", "--prevalence", "0.1"),
        ("report", "--pos-label", "cat"),
    ):
        assert "holds 'cat', 'dog'" in run(command[0], *columns, "kg", *command[1:], code=2).stderr
    told = run("compare", *columns, "q", "--pred", "kg", code=2).stderr
    assert "None of the labels of the model 'kg', 'a', 'b', 'c', occurs" in told and "Did you mean" not in told
    run("tally", *columns, "p", "-o", kept)  # a part, of which others may hold the rest


def test_counts_from_a_paper_need_no_file():
    told = strict(run("report", "--counts", "28,23,72,2680", "--format", "json").stdout)
    assert told["counts"] == {"tp": 28, "fn": 23, "fp": 72, "tn": 2680}
    assert strict(run("report", "--counts", "280.0,23,72,2680", "--format", "json").stdout)["assumed"] == []
    broken = strict(run("report", "--counts", "10.5,2,3,4", "--format", "json").stdout)["assumed"]
    assert broken == ["The counts are not whole: they were taken as weights of about 19 rows."]
    shares = strict(run("report", "--counts", "280.0,230,720,26800.0", "--format", "json", "--metrics", "mcc").stdout)
    assert shares["metrics"][0]["value"] == pytest.approx({m["name"]: m["value"] for m in told["metrics"]}["mcc"])


def test_either_spelling_of_the_option_for_metrics_is_taken_and_one_is_shown(rows):
    for command, shown, other in (("threshold", "--metric", "--metrics"), ("report", "--metrics", "--metric")):
        told = [run(command, rows, "--score", "score", option, "ac_score").stdout for option in (shown, other)]
        assert told[0] == told[1] and "ac_score" in told[0].lower().replace("-", "_")
        assert f"  {shown} " in run(command, "--help").stdout and f" {other} " not in run(command, "--help").stdout


def test_metrics_are_chosen_by_name_with_their_parameters(rows):
    told = strict(run("report", rows, "--pred", "y_pred", "--metrics", "mcc, iba[alpha=0.1,of=g_mean],f_beta[beta=2]", "--format", "json").stdout)  # fmt: skip
    assert [row["name"] for row in told["metrics"]] == ["mcc", "iba[alpha=0.1]", "f_beta[beta=2]"]


def test_many_classes_are_reported_alike(frame, rows, tmp_path):
    told = strict(run("report", rows, "--true", "kind", "--pred", "guess", "--format", "json").stdout)
    assert told["labels"] == ["ill", "old", "well"] and told["positive"] is None
    assert told["confusion"] == steelyard.confusion(frame["kind"], frame["guess"]).matrix.tolist()
    out = run("report", rows, "--true", "kind", "--pred", "guess").stdout
    assert "class" in out and "well" in out
    one = strict(
        run("report", rows, "--true", "kind", "--pred", "guess", "--pos-label", "ill", "--format", "json").stdout
    )
    assert one["positive"] == "ill" and set(one["counts"]) == {"tp", "fn", "fp", "tn"}
    both = tmp_path / "both.csv"
    frame.with_columns(second=pl.col("guess").reverse()).write_csv(both)
    compared = run("compare", both, "--true", "kind", "--pred", "guess", "--pred", "second").stdout
    assert compared.startswith("guess against second")


def test_weights_frequencies_and_groups_reach_the_report(frame, rows):
    told = strict(run("report", rows, "--pred", "y_pred", "--weight", "w", "--frequency", "n", "--by", "site", "--by", "b", "--format", "json").stdout)  # fmt: skip
    expected = steelyard.evaluate(frame, true="y_true", pred="y_pred", weight="w", frequency="n", by=["site", "b"])
    assert told["groups"] == json.loads(expected.to_json())["groups"]
    assert told["groups"][0]["group"] == {"site": "north", "b": 0}
    table = list(
        csv.DictReader(io.StringIO(run("report", rows, "--pred", "y_pred", "--by", "site", "--format", "csv").stdout))
    )
    assert {row["group"] for row in table} == {"", "site = north", "site = south", "site = west"}


def test_small_groups_are_left_out_when_asked(tmp_path):
    rows = [("big", y, p) for y in (0, 1) for p in (0, 1) for _ in range(20)] + [("mid", y, y) for y in (0, 1)] * 15
    path = tmp_path / "rows.csv"
    path.write_text("g,y,p\n" + "".join(f"{g},{y},{p}\n" for g, y, p in [*rows, ("tiny", 1, 1), ("tiny", 0, 0)]))
    words = ["report", path, "--true", "y", "--pred", "p", "--by", "g", "--format", "json"]
    assert len(strict(run(*words).stdout)["groups"]) == 3
    told = strict(run(*words, "--min-count", 10).stdout)
    assert [group["group"] for group in told["groups"]] == [{"g": "big"}]  # tiny, and mid, which would tell of it
    assert told["rows"] == len(rows) + 2
    assert "2 of 3 groups were left out: a cell of fewer than 10 rows" in told["assumed"][0]
    assert len(strict(run(*words, "--min-count", 1).stdout)["groups"]) == 3


def test_models_are_compared_with_weights_clusters_and_margins(tmp_path):
    rng, path = np.random.default_rng(4), tmp_path / "rows.csv"
    y = (rng.random(300) < 0.3).astype(int)
    frame = pl.DataFrame(
        {"y": y, "a": y + rng.normal(size=300), "b": y + rng.normal(size=300), "w": rng.random(300) + 0.5}
    )
    frame.with_columns(patient=pl.Series(np.arange(300) // 5)).write_csv(path)
    words = ["compare", path, "--true", "y", "--score", "a", "--score", "b", "--metrics", "roc_auc"]
    ran = run(*words, "--weight", "w", "--cluster", "patient", "--margin", "0.3")
    assert "The rows are clustered by patient" in ran.stdout
    assert "a is not worse than b by more than 0.3: shown by roc_auc" in " ".join(ran.stdout.split())
    written = json.loads(run(*words, "--cluster", "patient", "--margin", "0.3", "--format", "json").stdout)
    assert written["differences"][0]["method"] == "cluster" and written["differences"][0]["p_not_worse"] < 0.025


def test_saved_evaluations_are_compared_as_models_of_different_rows(tmp_path):
    for name, counts in (("old", "28,23,72,2680"), ("new", "41,12,95,2510")):
        run("report", "--counts", counts, "--format", "json", "-o", tmp_path / f"{name}.json")
    ran = run("compare", tmp_path / "old.json", tmp_path / "new.json", "--metrics", "recall,mcc")
    assert ran.stdout.startswith("old against new on different rows, 5,461 in all")
    assert "taken as independent" in ran.stdout


def test_small_groups_of_clustered_rows_are_left_out_when_asked(tmp_path):
    rows = [(f"{g},{y},{p},{g}{i % 9}\n") for g in "abc" for y in (0, 1) for p in (0, 1) for i in range(20)]
    path = tmp_path / "rows.csv"
    path.write_text("g,y,p,patient\n" + "".join([*rows, "d,1,1,d0\n", "d,0,0,d0\n"]))
    words = ["report", path, "--true", "y", "--pred", "p", "--by", "g", "--cluster", "patient", "--format", "json"]
    every = strict(run(*words).stdout)
    assert [group["group"]["g"] for group in every["groups"]] == list("abcd")
    assert every["assumed"][-1] == "A group whose rows are all of one cluster has no interval: 'g = d'."
    assert {row["method"] for group in every["groups"] for row in group["metrics"]} == {"cluster"}
    few = strict(run(*words, "--min-count", 5).stdout)
    assert len(few["groups"]) == 2 and "2 of 4 groups were left out" in few["assumed"][0]
    assert "'g = d'" not in json.dumps(few)


def test_binned_scores_come_with_their_bounds(rows, frame):
    told = strict(run("report", rows, "--score", "score", "--binned", "--format", "json").stdout)
    exact = steelyard.roc_auc(frame["y_true"], frame["score"])
    assert "bounds" not in told or told["bounds"]["roc_auc"][0] <= exact <= told["bounds"]["roc_auc"][1]
    path = rows.with_name("fine.parquet")
    frame.with_columns(score=pl.col("score") / 1e4).write_parquet(path)
    told = strict(run("report", path, "--score", "score", "--binned", "--format", "json").stdout)
    assert told["bounds"]["roc_auc"][0] <= exact <= told["bounds"]["roc_auc"][1]
    assert "Scores were counted in bins: roc_auc lies between" in told["assumed"][-1]
    assert "bounds" not in strict(run("report", path, "--score", "score", "--exact", "--format", "json").stdout)
    assert "Scores were counted in bins" in run("threshold", path, "--binned").stdout
    assert "bins" not in run("threshold", path, "--exact").stdout


@pytest.mark.parametrize(("label", "given"), [("TRUE", "TRUE"), ("TRUE", "true"), ("TRUE", "1"), ("1", "1.0"), ("1.0", "1"), ("yes", "yes")])  # fmt: skip
def test_the_positive_class_is_named_as_it_is_written(label, given, tmp_path):
    other = {"TRUE": "FALSE", "yes": "no"}.get(label, "0")
    path = tmp_path / "rows.csv"
    path.write_text(f"y,p\n{label},{label}\n{other},{label}\n{other},{other}\n{label},{other}\n{label},{label}\n")
    told = strict(run("report", path, "--true", "y", "--pred", "p", "--pos-label", given, "--format", "json").stdout)
    assert told["counts"] == {"tp": 2, "fn": 1, "fp": 1, "tn": 1}


def test_labels_of_scores_are_those_of_the_data(tmp_path):
    frame = pl.DataFrame({"y": ["no", "yes", "no", "yes"], "s": [0.1, 0.9, 0.6, 0.4]})
    frame.write_parquet(tmp_path / "rows.parquet")
    words = [
        "report",
        tmp_path / "rows.parquet",
        "--true",
        "y",
        "--score",
        "s",
        "--pos-label",
        "yes",
        "--format",
        "json",
    ]
    assert strict(run(*words).stdout)["labels"] == strict(run(*words, "--binned").stdout)["labels"] == ["no", "yes"]
    assert steelyard.evaluate(frame, true="y", score="s", pos_label="yes", exact=False).labels == ("no", "yes")
    run("tally", *words[1:-2], "-o", tmp_path / "part.json")
    assert strict(run("report", tmp_path / "part.json", "--format", "json").stdout)["labels"] == ["no", "yes"]


def test_headers_are_read_with_their_quotes_and_blanks(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text('"y, true"; "y""p" ;z\n1;1;2\n0;0;3\n1;0;4\n')
    told = strict(run("report", path, "--true", "y, true", "--pred", 'y"p', "--format", "json").stdout)
    assert told["rows"] == 3
    path.write_text('"y, true";"y, pred"\n1;1\n0;0\n1;0\n')
    assert "rows.csv · 3 rows" in run("report", path, "--true", "y, true", "--pred", "y, pred").stdout
    path.write_text("y,p,p\n1,1,0\n0,0,1\n")
    assert "has two columns called 'p'; give each column its own name." in run("report", path, code=2).stderr


def test_the_markdown_holds_groups_and_the_table(rows):
    out = run("report", rows, "--true", "kind", "--pred", "guess", "--by", "site", "--format", "md").stdout
    assert "| site = north | " in out and "| true \\ predicted | ill | old | well |" in out


@pytest.mark.parametrize("through", ["pipe", "named pipe"])
def test_a_pipe_is_read_like_a_file(through, rows, tmp_path):
    line = f"{sys.executable} -m steelyard.cli report"
    given = f"<(cat {rows})" if through == "pipe" else f"{tmp_path}/pipe"
    made = "" if through == "pipe" else f"mkfifo {tmp_path}/pipe; cat {rows} > {tmp_path}/pipe & "
    ran = subprocess.run(["bash", "-c", f"{made}{line} {given} --format json"], capture_output=True, check=False)
    assert strict(ran.stdout)["rows"] == ROWS


# ---------------------------------------------------------------- the other questions


def test_compare_tells_the_differences(frame, rows):
    words = ["compare", rows, "--true", "y_true", "--metrics", "recall,mcc"]
    told = strict(run(*words, "--pred", "y_pred", "--pred", "b", "--format", "json").stdout)
    expected = steelyard.compare(
        frame["y_true"], {"y_pred": frame["y_pred"], "b": frame["b"]}, metrics=["recall", "mcc"]
    )
    assert told["differences"] == json.loads(json.dumps(expected.to_dict()))["differences"]
    by_score = ["compare", rows, "--true", "y_true", "--score", "score", "--score", "other"]
    assert "DeLong" in run(*by_score).stdout
    cut = strict(run(*by_score, "--threshold", "0.5", "--format", "json", "--metrics", "recall,roc_auc").stdout)
    assert {row["metric"] for row in cut["differences"]} == {"recall", "roc_auc"}
    head = run(*words, "--pred", "y_pred", "--pred", "b", "--frequency", "n", "--format", "csv").stdout.splitlines()[0]
    assert head.startswith("a,b,metric,value_a")


def test_a_comparison_is_written_as_markdown_with_what_was_assumed(tmp_path):
    path, out = tmp_path / "rows.csv", tmp_path / "cmp.md"
    path.write_text("y_true,a,b\n" + "yes,yes,no\nno,no,yes\nno,no,no\n" * 20)
    words = ["compare", path, "--pred", "a", "--pred", "b", "--metrics", "recall,mcc"]
    run(*words, "-o", out)
    written = out.read_text()
    assert written == run(*words, "--format", "md").stdout
    assert "| metric | a | b | difference |" in written and "McNemar" in written
    assert "The positive class is 'yes' by convention; --pos-label no " in written
    lines = [line.split() for line in run(*words).stdout.splitlines()]
    assert lines[2][:4] == ["In", "60", "rows", "a"]
    assert ["metric", "a", "b", "difference"] in [line[:4] for line in lines]


def test_a_saved_table_of_two_models_is_compared(rows, tmp_path):
    run("tally", rows, "--true", "y_true", "--pred", "y_pred", "--pred", "b", "-o", tmp_path / "pair.json")
    assert "McNemar" in run("compare", tmp_path / "pair.json").stdout
    assert run("compare", tmp_path / "pair.json").stdout.startswith("y_pred against b on the same 600 rows")
    run("tally", rows, "--true", "y_true", "--pred", "b", "--pred", "y_pred", "-o", tmp_path / "other.json")
    told = run("merge", tmp_path / "pair.json", tmp_path / "other.json", code=2).stderr
    assert "These tallies hold other models, 'y_pred' against 'b' and 'b' against 'y_pred'" in told
    (tmp_path / "more.csv").write_text("y_true,y_pred,b\n0,0,1\n1,1,1\n")
    run("tally", tmp_path / "more.csv", "--true", "y_true", "--pred", "y_pred", "--pred", "b", "-o", tmp_path / "more.json")  # fmt: skip
    run("merge", tmp_path / "pair.json", tmp_path / "more.json", "-o", tmp_path / "both.json")
    assert run("compare", tmp_path / "both.json").stdout.startswith("y_pred against b on the same 602 rows")


def test_threshold_finds_the_cut(frame, rows):
    best = steelyard.best_threshold(frame["y_true"], frame["score"], "ac_score", where=["specificity>=0.95"])
    words = [
        "threshold",
        rows,
        "--true",
        "y_true",
        "--score",
        "score",
        "--metric",
        "ac_score",
        "--where",
        "specificity>=0.95",
    ]
    assert f"The threshold with all its digits: {best.threshold!r};" in run(*words).stdout
    assert f"The threshold with all its digits: {best.threshold!r};" in run(*words, "--format", "md").stdout
    told = strict(run(*words, "--format", "json", "--level", "0.9").stdout)
    assert (told["threshold"], told["level"]) == (best.threshold, 0.9)


def test_the_cut_that_flags_nobody_is_null_in_json(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("y,s\n" + "0,0.9\n" * 50 + "1,0.1\n")
    told = strict(
        run("threshold", path, "--true", "y", "--score", "s", "--metric", "accuracy", "--format", "json").stdout
    )
    assert told["threshold"] is None


def test_threshold_promises_limits_and_says_how_sure_it_is_without(rows, frame):
    words = ["threshold", rows, "--true", "y_true", "--score", "score", "--where", "recall>=0.95"]
    told = " ".join(run(*words).stdout.split())
    assert "recall >= 0.95: 95.5 % here; holds on new rows with a chance of about " in told
    assert "--confidence 0.95 finds a threshold that keeps it." in told and "confidence=" not in told
    asked = {"where": "recall >= 0.95", "confidence": 0.9, "prevalence": steelyard.Prevalence(positives=3, rows=90)}
    best = steelyard.best_threshold(frame["y_true"], frame["score"], **asked)
    promised = [*words, "--confidence", "0.9", "--prevalence", "3/90"]
    data = strict(run(*promised, "--format", "json").stdout)
    assert (data["threshold"], data["prevalence"]) == (best.threshold, {"positives": 3, "rows": 90})
    kept = {
        "limit": "recall >= 0.95",
        "value": best.limits[0].value,
        "confidence": 0.9,
        "chance": None,
        "exceeded": None,
    }
    assert data["limits"] == [kept] and steelyard.Result.from_json(data).threshold == best.threshold
    for form in ("table", "md"):
        told = " ".join(run(*promised, "--format", form).stdout.split())
        assert "holds on new rows with 90 % confidence" in told
        assert "Metrics and limits are read at a prevalence of 3.33 % (0.948 to 8.63), as it was estimated." in told


def test_a_trivial_threshold_and_the_rows_it_lacks_are_stated(rows):
    words = [
        "threshold",
        rows,
        "--true",
        "y_true",
        "--score",
        "score",
        "--where",
        "recall>=0.999",
        "--confidence",
        "0.95",
    ]
    told = " ".join(run(*words).stdout.split())
    assert "This is the trivial threshold: it flags everybody, which needs no model." in told
    assert "recall >= 0.999 with 95 % confidence needs at least 2,995 positives; here are " in told
    assert strict(run(*words, "--format", "json").stdout)["trivial"] is True


def test_a_confidence_may_be_written_in_percent(rows):
    words = ["threshold", rows, "--true", "y_true", "--score", "score", "--where", "recall>=0.8", "--format", "json"]
    share, percent, apart = (strict(run(*words, "--confidence", text).stdout) for text in ("0.9", "90%", "90 %"))
    assert share["limits"] == percent["limits"] == apart["limits"] and share["limits"][0]["confidence"] == 0.9
    for text, says in (("often", "a probability such as 0.95, or 95%, not 'often'"), ("95", "below 1, such as 0.95")):
        assert says in " ".join(run(*words, "--confidence", text, code=2).stderr.split())


@pytest.mark.parametrize("width", [60, 80, 100, 120])
def test_a_promise_fits_the_terminal(rows, width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    limits = ["--where", "recall>=0.8", "--where", "alerts <= 900 of 1000"]
    told = run("threshold", rows, "--true", "y_true", "--score", "score", *limits).stdout
    assert max(map(len, told.splitlines())) <= width
    assert [line.partition(":")[0] for line in told.splitlines() if " here; " in line] == [
        "recall >= 0.8", "alerts <= 900 of 1,000 rows"
    ]  # fmt: skip


def costs_at_every_threshold(y_true, score, miss, alarm):
    """The mean cost of a row at each threshold, nobody first, by the definition."""
    for threshold in [np.inf, *np.unique(score)[::-1]]:
        flagged = score >= threshold
        wrong = np.where(y_true == 1, np.where(flagged, 0, miss), np.where(flagged, alarm, 0))
        yield wrong.mean(), threshold


@pytest.mark.parametrize("ending", ["csv", "parquet", "tally", "merged tally"])
def test_costs_by_column_agree_with_brute_force_on_rows_and_tallies(tmp_path, ending):
    rng = np.random.default_rng(5)
    n = 500
    y_true = (rng.random(n) < 0.2).astype(int)
    score = np.round(rng.random(n) * 0.6 + 0.3 * y_true, 2)
    amount = np.where(rng.random(n) < 0.3, 0.0, np.round(rng.exponential(30, n), 2))  # rows that cost nothing count too
    minutes = rng.integers(1, 9, n).astype(float)
    frame = pl.DataFrame({"y": y_true, "s": score, "amount": amount, "minutes": minutes})
    path = tmp_path / f"rows.{ending}"
    columns = ["--true", "y", "--score", "s"]
    if ending == "csv":
        frame.write_csv(path)
    elif ending == "parquet":
        frame.write_parquet(path)
    else:
        parts = [frame] if ending == "tally" else [frame[:200], frame[200:]]
        saved = [tmp_path / f"{i}.json" for i in range(len(parts))]
        for part, to in zip(parts, saved, strict=True):
            part.write_csv(tmp_path / f"{to.stem}.csv")
            run("tally", tmp_path / f"{to.stem}.csv", *columns, "--cost", "amount", "--cost", "minutes", "-o", to)
        path, columns = saved[0], []
        if len(parts) > 1:
            path = tmp_path / "merged.json"
            run("merge", *saved, "-o", path)
    for fn, fp, miss, alarm in (("amount", "5", amount, 5.0), ("amount", "minutes", amount, minutes)):
        words = ["threshold", path, *columns, "--cost-fn", fn, "--cost-fp", fp, "--format", "json"]
        found = strict(run(*words).stdout)
        cost, threshold = min(costs_at_every_threshold(y_true, score, miss, alarm))
        assert found["value"] == pytest.approx(cost, rel=1e-12) and found["observed"] == threshold
        assert found["cost"] == {"cost_fn": fn, "cost_fp": 5.0 if fp == "5" else fp}
    benefit = strict(
        run("threshold", path, *columns, "--cost-fn", "0", "--benefit-tp", "amount", "--format", "json").stdout
    )
    cost, threshold = min(costs_at_every_threshold(y_true, score, amount, 1.0))
    assert benefit["value"] == pytest.approx(cost - amount[y_true == 1].sum() / n, rel=1e-12)
    assert benefit["observed"] == threshold


def test_costs_that_a_tally_does_not_hold_are_named(rows, tmp_path):
    run("tally", rows, "--true", "y_true", "--score", "score", "--cost", "w", "-o", tmp_path / "t.json")
    told = run("threshold", tmp_path / "t.json", "--cost-fn", "v", code=2).stderr
    assert "The tally has no costs 'v': it has those of w. Count them too, with `steelyard tally --cost v`." in told
    run("tally", rows, "--true", "y_true", "--score", "score", "-o", tmp_path / "plain.json")
    assert (
        "The tally has no costs 'w': it has none."
        in run("threshold", tmp_path / "plain.json", "--cost-fn", "w", code=2).stderr
    )
    told = run("merge", tmp_path / "t.json", tmp_path / "plain.json", code=2).stderr
    assert "different things, scores and costs by w and scores" in told
    both = ["--true", "y_true", "--score", "score", "--weight", "w"]
    assert "leave out --weight" in run("tally", rows, *both, "--cost", "w", code=2).stderr
    told = run("threshold", rows, *both, "--cost-fn", "w", code=2).stderr
    assert "Costs by row and weights cannot be given together" in told


def test_threshold_takes_clusters_of_rows(rows, frame):
    words = ["threshold", rows, "--true", "y_true", "--score", "score", "--where", "recall>=0.7", "--cluster", "site"]
    found = strict(run(*words, "--format", "json").stdout)
    asked = {"where": "recall >= 0.7", "cluster": frame["site"]}
    assert found["threshold"] == steelyard.best_threshold(frame["y_true"], frame["score"], **asked).threshold
    assert "whose rows are of 3 clusters" in " ".join(run(*words, "--confidence", "0.8", code=2).stderr.split())


def test_shift_tells_the_metrics_elsewhere(rows):
    words = ["shift", rows, "--true", "y_true", "--pred", "y_pred", "--prevalence", "0.01"]
    told = strict(run(*words, "--format", "json").stdout)
    assert told["prevalence"] == 0.01
    there, here = ({row["name"]: row["value"] for row in told[key]} for key in ("metrics", "sample"))
    assert there["recall"] == pytest.approx(here["recall"], rel=1e-12) and there["precision"] < here["precision"]
    assert "there" in run(*words).stdout
    estimated = [*words[:-1], "1/100"]
    assert strict(run(*estimated, "--format", "json").stdout)["prevalence"] == {"positives": 1, "rows": 100}
    assert "at a prevalence of 1.00 % (0.108 to 4.58)" in " ".join(run(*estimated).stdout.split())
    written = run(*words, "--format", "md").stdout
    assert "| metric | sample | there | low | high | chance |" in written and "at a prevalence of 1.00 %" in written
    assert (
        run(*words, "--format", "csv", "--metrics", "mcc").stdout.splitlines()[0]
        == "metric,sample,there,low,high,chance"
    )


# ---------------------------------------------------------------- gates


def test_a_gate_passes_fails_or_cannot_tell_by_its_exit_code(rows):
    words = ["gate", rows, "--true", "y_true", "--pred", "y_pred"]
    ran = shell(*words, "--require", "ac_score>=0.1", "--require", "low(mcc)>=-0.9", "--require", "high(fpr) < 100 %")
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert ran.stdout.count(b"pass  ") == 3
    ran = shell(*words, "--require", "ac_score>=0.1", "--require", "mcc > 0.999")
    assert ran.returncode == 1 and b"FAIL  mcc is 0." in ran.stdout and b"required > 0.999" in ran.stdout
    ran = shell("gate", "--counts", "0,5,0,5", "--require", "precision>=0.5", "--require", "specificity>=0.5")
    assert ran.returncode == 3
    assert b"undefined  precision, required >= 50 %: no predicted positives" in ran.stdout
    both = ("gate", "--counts", "0,5,0,5", "--require", "precision>=0.5", "--require", "recall>=0.5")
    assert shell(*both).returncode == 1


def test_a_gate_states_at_which_threshold_scores_were_taken(rows):
    words = ["gate", rows, "--true", "y_true", "--score", "score", "--require", "mcc>-1"]
    assert "Scores were thresholded at 0.5; steelyard threshold compares it with others." in run(*words).stderr
    assert "thresholded" not in run(*words, "--threshold", "0.4").stderr


def test_a_gate_holds_a_threshold_to_its_guarantee(rows, frame, tmp_path):
    limits = ["--where", "recall>=0.8", "--where", "alerts<=400 of 1000"]
    columns = ["--true", "y_true", "--score", "score"]
    chosen = tmp_path / "chosen.json"
    run("threshold", rows, *columns, *limits, "--confidence", "0.9", "-o", chosen)
    gate = ["gate", rows, *columns, "--guarantee", chosen]
    lines = run(*gate, "--margin", "0.1").stdout.splitlines()
    assert re.fullmatch(r"pass  recall is [\d.]+ % \([\d.]+ to [\d.]+\), limit >= 80 %: kept", lines[0])
    assert re.fullmatch(r"pass  alerts are \d+ of 1,000 rows \(\d+ to \d+\), limit <= 400: kept", lines[1])
    assert lines[2].startswith(
        "A model that keeps its limits fails this gate in at most 10 % of runs; a value 10 points"
    )
    changed = tmp_path / "changed.parquet"
    frame.with_columns(pl.col("score") / 2).write_parquet(changed)
    ran = run("gate", changed, *columns, "--guarantee", chosen, "--format", "json", code=1)
    data = strict(ran.stdout)
    assert data["passed"] is False and [rule["verdict"] for rule in data["rules"]] == ["broken", "kept"]
    counts = steelyard.confusion(frame["y_true"], frame["score"] / 2 >= strict(chosen.read_text())["threshold"])
    assert data["rules"][0]["value"] == pytest.approx(steelyard.recall(counts)) and data["rules"][0]["p_value"] < 1e-3
    assert "FAIL  mcc" in run(*gate, "--require", "mcc>=0.999", code=1).stdout


def test_a_gate_reads_a_guarantee_at_its_prevalence_and_with_its_clusters(rows, frame, tmp_path):
    columns, chosen = ["--true", "y_true", "--score", "score"], tmp_path / "chosen.json"
    limit = ["--where", "precision>=0.2", "--confidence", "0.9", "--metric", "recall"]
    run("threshold", rows, *columns, *limit, "--prevalence", "0.1", "-o", chosen)
    data = strict(run("gate", rows, *columns, "--guarantee", chosen, "--format", "json").stdout)["rules"][0]
    counts = steelyard.confusion(frame["y_true"], frame["score"] >= strict(chosen.read_text())["threshold"])
    assert data["value"] == pytest.approx(steelyard.precision(steelyard.at_prevalence(counts.counts(1), 0.1)))
    assert data["low"] < data["value"] < data["high"] and data["p_value"] > 0.5
    many = tmp_path / "many.parquet"  # each row five times over is one cluster
    pl.concat([frame.with_row_index("who")] * 5).write_parquet(many)
    where = ["--metric", "specificity", "--where", "recall>=0.9"]
    run("threshold", many, *columns, *where, "--cluster", "who", "-o", chosen, "--force")
    assert "are not guaranteed" in run("gate", many, *columns, "--guarantee", chosen).stderr
    fallen = tmp_path / "fallen.parquet"
    pl.concat([frame.with_row_index("who").with_columns(pl.col("score") * 0.92)] * 5).write_parquet(fallen)
    gate = ["gate", fallen, *columns, "--guarantee", chosen, "--format", "json"]
    blind, aware = run(*gate, code=1), run(*gate, "--cluster", "who")
    assert "was chosen on clusters of 'who', and these rows are taken as independent" in blind.stderr
    (below,), (above,) = (strict(ran.stdout)["rules"] for ran in (blind, aware))
    assert below["value"] == above["value"] < 0.9 and below["p_value"] < above["p_value"]


def test_a_promise_says_that_weights_are_missing_and_states_its_limit_in_all_digits(rows, frame, tmp_path):
    columns, chosen, heavy = ["--true", "y_true", "--score", "score"], tmp_path / "chosen.json", tmp_path / "w.parquet"
    frame.with_columns(w=pl.col("score") + 0.5).write_parquet(heavy)
    run("threshold", heavy, *columns, "--weight", "w", "--where", "specificity>=0.99995", "-o", chosen)
    gate = ["gate", heavy, *columns, "--guarantee", chosen]
    missing = "was chosen with the weights 'w', and these rows count alike; name their weights with --weight"
    assert missing in " ".join(run(*gate).stderr.split())
    named = run(*gate, "--weight", "w")
    assert "count alike" not in named.stderr and "limit >= 99.995 %" in named.stdout


def test_a_promise_that_cannot_be_judged_is_one_sentence(rows, frame, tmp_path):
    columns, chosen = ["--true", "y_true", "--score", "score"], tmp_path / "chosen.json"
    run("threshold", rows, *columns, "--metric", "f1", "-o", chosen)
    told = run("gate", rows, *columns, "--guarantee", chosen, code=2).stderr
    assert "was chosen without limits; give some, such as --where 'recall>=0.9'." in told
    words = ["threshold", rows, *columns, "--where", "recall>=0.7", "--prevalence", "0.1", "-o", chosen, "--force"]
    run(*words)
    told = run("gate", rows, *columns, "--guarantee", chosen).stderr
    assert "are not guaranteed: it was chosen without --confidence." in told
    assert "was chosen at a prevalence of 10.0 %; these rows, 25.7 % positive, are judged at 10.0 %." in told
    told = run("gate", rows, *columns, "--guarantee", chosen, "--threshold", "0.5", code=2).stderr
    assert "leave out --threshold, --pred and --counts" in told
    told = run("gate", rows, *columns, "--pos-label", "0", "--guarantee", chosen, code=2).stderr
    assert "is of the positive class 1, these rows are of 0; name the same one with --pos-label." in told
    assert (
        "is no threshold that `steelyard threshold -o"
        in run("gate", rows, *columns, "--guarantee", rows, code=2).stderr
    )
    best = steelyard.best_threshold(frame["y_true"], frame["score"], where="recall >= 0.5")
    chosen.write_text(json.dumps({**best.to_dict(), "direction": -1}))  # as version 0.1 saved it
    assert "flags low scores; negate the scores" in run("gate", rows, *columns, "--guarantee", chosen, code=2).stderr


def test_a_gate_takes_every_name_that_a_report_prints(rows):
    words = ["gate", rows, "--true", "y_true", "--pred", "y_pred"]
    assert run(*words, "--require", "f_beta[beta=2]>=0.1").stdout.startswith("pass  f_beta[beta=2] is 0.")
    many = ["--true", "kind", "--pred", "guess"]
    named = [row["name"] for row in strict(run("report", rows, *many, "--format", "json").stdout)["metrics"]]
    assert "f1[average=macro]" in named
    rules = [
        word
        for name in named
        for word in (
            "--require",
            f"{name}{'<=0.999' if steelyard.get_metric(name.split('[')[0]).sign < 0 else '>=0.001'}",
        )
    ]
    assert [line.split()[1] for line in run("gate", rows, *many, *rules, code=1).stdout.splitlines()] == named
    told = strict(run("report", rows, *many, "--metrics", "f1[average=macro],f_beta[beta=2,average=micro]", "--by", "site", "--format", "json").stdout)  # fmt: skip
    for part in (told, *told["groups"]):
        assert [row["name"] for row in part["metrics"]] == ["f1[average=macro]", "f_beta[beta=2, average=micro]"]
    assert "f1[average=macro]" in run("report", rows, *many, "--metrics", "f1[average=macro]").stdout
    ran = run("gate", rows, *many, "--require", "f1[average=best]>=0", code=2)
    assert "'f1[average=best]' asks for the average 'best'; there are macro, weighted, micro, samples." in ran.stderr


def test_a_gate_that_fails_shows_the_digits_that_tell_the_numbers_apart():
    ran = run("gate", "--counts", "2,1,0,5", "--require", "recall>=0.66666667", code=1)
    assert ran.stdout == "FAIL  recall is 66.6666667 %, required >= 66.666667 %\n"
    ran = run("gate", "--counts", "1,1,0,5", "--require", "recall>=0.5", "--require", "f1>=0.5")
    assert ran.stdout == "pass  recall is 50 %, required >= 50 %\npass  f1 is 0.667, required >= 0.5\n"


@pytest.mark.parametrize(
    "rule",
    [
        "mcc{blanks}x",
        "mcc>={digits}x",
        "mcc{blanks}>={blanks}x",
        "low(mcc{blanks}",
        "mcc>=baseline{blanks}x",
        "mcc>={digits}",
    ],
)
def test_a_rule_of_any_length_is_read_or_refused_at_once(rule):
    rule, start = rule.format(blanks=" " * 60_000, digits="1" * 60_000), time.process_time()
    refused = run("gate", "--counts", "1,2,3,4", "--require", rule, code=2).stderr
    assert time.process_time() - start < 5  # 0.1 s, and 13 to 26 s where blanks are read again from each of them
    assert refused.startswith(("steelyard: The rule 'mcc", "steelyard: The rule 'low(mcc"))
    assert len(refused) < 1_000


def test_a_limit_of_any_length_is_refused_at_once(rows):
    words = ["threshold", rows, "--score", "score", "--where", f"{' ' * 60_000}recall{' ' * 60_000}x"]
    assert run(*words, code=2).stderr.startswith("steelyard: ")


def test_a_file_in_the_folder_never_stands_in_for_a_library(tmp_path):
    (tmp_path / "json.py").write_text("raise SystemExit('planted')")
    (tmp_path / "numpy.py").write_text("raise SystemExit('planted')")
    (tmp_path / "mine.py").write_text("import json, numpy\ndef share(counts):\n    return counts.tp + 0 * counts.fn\n")
    script = "import sys; sys.path[:] = [p for p in sys.path if p]; from steelyard.cli import main; main()"
    command = [
        sys.executable,
        "-c",
        script,
        "audit",
        "mine:share",
    ]  # as the installed program has it: no folder in the path
    environment = {**os.environ, "PYTHONPATH": str(Path(steelyard.__file__).parents[1])}
    ran = subprocess.run(command, capture_output=True, check=False, cwd=tmp_path, env=environment)
    assert ran.returncode == 0, ran.stderr
    assert b"share" in ran.stdout and b"planted" not in ran.stderr


def test_a_gate_compares_with_a_baseline(frame, rows, tmp_path):
    old = tmp_path / "old.json"
    run("report", rows, "--pred", "y_pred", "-o", old)
    passed = run("gate", rows, "--pred", "y_pred", "--baseline", old).stdout
    assert passed.count("pass") > 3 and "may be chance" in passed
    in_percent = r"recall is [\d.]+ %, baseline [\d.]+ %; a drop of up to [\d.]+ points may be chance"
    assert re.search(in_percent, passed) and re.search(r"f1 is 0\.\d+, baseline 0\.\d+; .* to 0\.\d+ may", passed)
    assert "An unchanged model fails this gate in at most 5 % of runs; a drop of 5 points of recall is caught" in passed
    strict_one = run("gate", rows, "--pred", "y_pred", "--baseline", old, "--level", "0.99", "--margin", "0.2").stdout
    assert "in at most 1 % of runs; a drop of 20 points of recall is caught" in strict_one
    assert run("gate", rows, "--pred", "y_pred", "--baseline", old, "--require", "mcc>=baseline").stdout.startswith(
        "pass"
    )
    assert run("gate", rows, "--pred", "b", "--baseline", old, code=1).stdout.startswith("FAIL  recall is ")
    run("gate", rows, "--pred", "b", "--baseline", old, "--require", "mcc >= baseline - 1")
    run("gate", rows, "--pred", "b", "--baseline", old, "--require", "mcc>=baseline-0.02", code=1)
    frame.select(pl.col("y_true", "y_pred").replace_strict({1: "spam", 0: "ham"})).write_csv(rows)
    words = ["gate", rows, "--pred", "y_pred", "--pos-label", "spam", "--require", "recall>=baseline-0.1"]
    half = tmp_path / "half.csv"
    pl.read_csv(rows).head(frame.height // 2).write_csv(half)
    run("report", half, "--pred", "y_pred", "--pos-label", "spam", "-o", old, "--force")
    assert "is of other data, " in run(*words, "--baseline", old).stderr
    as_copied = json.loads(old.read_text()) | {"table": None, "scores": None}  # from a page, which has no digest either
    del as_copied["digest"]
    old.write_text(json.dumps(as_copied))
    told = run(*words, "--baseline", old).stdout
    assert "It carries no digest" in told and "Not computed again, but taken as the file has it" in told
    refused = run(*words[:-2], "--baseline", old, code=2).stderr
    assert "has no tables, which show how uncertain it is; make it again" in refused


def test_a_gate_exchanges_no_rows_of_clusters(rows, tmp_path):
    gate, clustered, plain = ["gate", rows, "--pred", "y_pred"], tmp_path / "clustered.json", tmp_path / "plain.json"
    report = ["report", rows, "--pred", "y_pred", "--format", "json", "-o"]
    run(*report, clustered, "--cluster", "site")
    run(*report, plain)
    assert (
        "is of clustered rows, and the test of a drop exchanges" in run(*gate, "--baseline", clustered, code=2).stderr
    )
    refused = run(*gate, "--baseline", plain, "--cluster", "site", code=2).stderr
    assert "with --cluster give rules" in refused
    run(*gate, "--baseline", clustered, "--cluster", "site", "--require", "high(recall)>=baseline")


def test_a_gate_refuses_a_baseline_of_a_value_that_the_metric_cannot_have(rows, tmp_path):
    old = tmp_path / "old.json"
    run("report", rows, "--pred", "y_pred", "-o", old)
    words = ["gate", rows, "--pred", "y_pred", "--baseline", old]
    saved = json.loads(old.read_text())
    for metric, value, between in (("mcc", -5, "-1 and 1"), ("recall", 1.5, "0 and 1"), ("f1", -0.01, "0 and 1")):
        row = next(row for row in saved["metrics"] if row["name"] == metric)
        old.write_text(json.dumps(saved | {"metrics": [row | {"value": value}]}))
        for more in ([], ["--require", f"{metric}>=baseline"]):
            refused = run(*words, *more, code=2).stderr
            assert f"gives {value:g} as {metric}, whose values lie between {between}; make it again" in refused


def test_a_gate_notices_a_baseline_of_another_class_threshold_or_data_set(rows, frame, tmp_path):
    old, gate = (
        tmp_path / "old.json",
        ["gate", rows, "--true", "y_true", "--score", "score", "--require", "mcc>=baseline-1"],
    )
    run("report", rows, "--true", "y_true", "--score", "score", "-o", old)
    assert "baseline" not in run(*gate, "--baseline", old).stderr
    told = run(*gate, "--baseline", old, "--threshold", "0.3").stderr
    assert f"The baseline '{old}' was thresholded at 0.5, these scores at 0.3." in told
    refused = run(*gate, "--baseline", old, "--pos-label", "0", code=2).stderr
    assert "is of the positive class 1, these predictions are of the positive class 0; name the same one" in refused
    many = ["gate", rows, "--true", "kind", "--pred", "guess", "--require", "mcc>=baseline-1", "--baseline", old]
    assert "these predictions are of no positive class; name the same one" in run(*many, code=2).stderr
    frame[:500].write_csv(rows)
    told = run(*gate, "--baseline", old).stderr
    assert re.search(
        r"is of other data, 600 rows, \d+ of them positive; these are 500 rows, \d+ of them positive\.", told
    )


@pytest.mark.parametrize(
    "words",
    [["--pred", "y_pred", "--by", "site"], ["--score", "score", "--weight", "w", "--level", "0.8"], ["--true", "kind", "--pred", "guess"]],
)  # fmt: skip
def test_a_report_of_a_saved_evaluation_is_the_report_of_its_rows(rows, tmp_path, words):
    saved, first, again = tmp_path / "released.json", tmp_path / "first.html", tmp_path / "again.html"
    for output in (saved, first):
        run("report", rows, *words, "-o", output)
    run("report", saved, "-o", again)
    assert again.read_bytes() == first.read_bytes()
    for kind in ("csv", "json"):
        assert run("report", saved, "--format", kind).stdout == run("report", rows, *words, "--format", kind).stdout
    columns = strict(saved.read_text())["columns"]
    assert columns["true"] in ("y_true", "kind") and strict(saved.read_text())["source"] == "rows.csv"


def test_a_saved_evaluation_is_shown_as_it_is_and_refused_where_rows_are_needed(rows, tmp_path):
    saved, cut = tmp_path / "released.json", tmp_path / "cut.json"
    run("report", rows, "--score", "score", "-o", saved)
    cut.write_bytes(saved.read_bytes()[:3000])
    refused = {
        ("report", saved, "--threshold", "0.3"): "is a saved evaluation, which is shown as it is",
        ("report", saved, "--level", "0.95"): "is a saved evaluation, which is shown as it is",
        ("threshold", saved): "holds a saved evaluation, which `steelyard report` shows",
        ("merge", saved, saved): "holds a saved evaluation",
        ("report", cut): "it was changed or truncated",
    }
    for words, sentence in refused.items():
        assert sentence in run(*words, code=2).stderr


# ---------------------------------------------------------------- tables that add up


def test_tallies_of_parts_merge_into_that_of_the_whole(frame, rows, tmp_path):
    for i, part in enumerate((frame[:200], frame[200:210], frame[210:])):
        part.write_parquet(tmp_path / f"part-{i}.parquet")
    options = ["--true", "y_true", "--pred", "y_pred", "--score", "score", "--by", "site"]
    for i in range(3):
        run("tally", tmp_path / f"part-{i}.parquet", *options, "--pos-label", "1", "-o", tmp_path / f"part-{i}.json")
    merged = run("merge", *sorted(tmp_path.glob("part-*.json"))).stdout
    whole = run("tally", rows, *options, "--pos-label", "1").stdout
    assert steelyard.tables.Tally.from_json(merged) == steelyard.tables.Tally.from_json(whole)
    (tmp_path / "whole.json").write_text(merged)
    report = ["report", "--format", "json"]
    of_rows = strict(run(*report, rows, *options).stdout)
    of_tally, of_parts = (strict(run(*report, tmp_path / name).stdout) for name in ("whole.json", "part-*.json"))
    assert of_tally | {"source": "", "digest": ""} == of_parts | {"source": "", "digest": ""}
    for one, other in zip(of_tally["metrics"], of_rows["metrics"], strict=True):
        assert one["name"] == other["name"]
        for key in ("value", "low", "high", "chance"):
            assert one[key] == (other[key] and pytest.approx(other[key], rel=1e-9, abs=1e-12))
    keys = lambda told: sorted((group["group"]["site"], group["rows"]) for group in told["groups"])
    assert keys(of_tally) == keys(of_rows)


def test_a_tally_of_very_many_scores_tells_the_way_to_a_small_one(tmp_path):
    rng = np.random.default_rng(5)
    frame = pl.DataFrame({"y_true": rng.integers(0, 2, 500_000), "y_score": rng.random(500_000)})
    frame.write_parquet(tmp_path / "rows.parquet")
    sizes = []
    for words, told in (([], True), (["--binned"], False)):
        ran = run("tally", tmp_path / "rows.parquet", *words)
        assert ("--binned keeps bins" in ran.stderr) == told
        assert strict(ran.stdout)["scores"]["positive"]["rows"]
        sizes.append(len(ran.stdout))
    assert sizes[0] > 10_000_000
    assert sizes[1] < 6_000_000


def test_a_saved_tally_is_asked_for_nothing_that_it_was_not_counted_by(rows, tmp_path):
    kept = tmp_path / "kept.json"
    named = ["--true", "y_true", "--pred", "y_pred"]
    run("tally", rows, *named, "--by", "site", "-o", kept)
    for words in (named, ["--by", "site"], ["--labels", "0,1"], ["--pos-label", "0"]):
        run("report", kept, *words)
    for words in (["--by", "age"], ["--by", "site", "--by", "age"], ["--true", "site"], ["--weight", "w"], ["--exact"]):
        told = run("gate", kept, *words, "--require", "recall>=0.01", code=2).stderr
        assert "'kept.json' is counted already, and otherwise than by --" in told
    saved = tmp_path / "saved.json"
    run("report", rows, *named, "--format", "json", "-o", saved)
    told = run("log", saved, "--level", "0.5", "--ledger", tmp_path / "ledger", code=2).stderr
    assert "Only --tag and --ledger go with it." in told


def test_a_column_with_the_signs_of_a_terminal_is_quoted_without_them(tmp_path):
    path = tmp_path / "rows.parquet"
    pl.DataFrame({"y": [0, 1] * 50, "p": [0, 1, 1, 0] * 25, "a\x1b[31m\x07b": list("xy") * 50}).write_parquet(path)
    shown = run("slices", path, "--true", "y", "--pred", "p").stdout
    assert "a·[31m·b" in shown and "\x1b" not in shown and "\x07" not in shown


def test_a_tally_is_known_by_what_it_holds(rows, tmp_path):
    run("tally", rows, "-o", tmp_path / "part.tally")
    told = run("report", tmp_path / "part.tally", rows, code=2).stderr
    assert "Some of the files are saved tables and some are rows; give those of one kind." in told
    whole = (tmp_path / "part.tally").read_bytes()
    assert strict(run("report", tmp_path / "part.tally", "--format", "json").stdout)["rows"] == ROWS
    assert strict(shell("report", "-", "--format", "json", stdin=whole).stdout)["rows"] == ROWS
    assert steelyard.tables.Tally.from_json(shell("merge", "-", stdin=whole).stdout).rows == ROWS


def test_rows_are_not_counted_twice(frame, rows, tmp_path):
    twice = "would be counted twice; leave one out"
    kept, copy, again = tmp_path / "part.json", tmp_path / "copy.json", tmp_path / "again.csv"
    run("tally", rows, "-o", kept)
    copy.write_bytes(kept.read_bytes())
    again.write_bytes(rows.read_bytes())
    for words in (["merge", kept, kept], ["merge", kept, copy], ["report", kept, copy], ["report", rows, rows], ["gate", rows, again, "--require", "mcc>=0"]):  # fmt: skip
        assert twice in run(*words, code=2).stderr
    assert twice.encode() in shell("merge", "-", kept, stdin=kept.read_bytes()).stderr
    table = steelyard.confusion(frame["y_true"], frame["y_pred"])
    kept.write_text(table.to_json())
    copy.write_text(table.to_json())  # Python counts frames, which have no digest: two days may well agree
    ran = run("merge", kept, copy)
    assert "hold the same counts; is one a copy of the other?" in ran.stderr
    assert steelyard.tables.Tally.from_json(ran.stdout).rows == 2 * ROWS


def test_a_shard_without_positives_is_tallied_by_score(tmp_path):
    shards = {"a.csv": "y,s\nno,0.2\nno,0.4\n", "b.csv": "y,s\nyes,0.9\nno,0.3\n"}
    for name, text in shards.items():
        (tmp_path / name).write_text(text)
        words = ("--true", "y", "--score", "s", "--labels", "no,yes", "-o", tmp_path / f"{name}.json")
        run("tally", tmp_path / name, *words)
    merged = steelyard.tables.Tally.from_json(run("merge", tmp_path / "a.csv.json", tmp_path / "b.csv.json").stdout)
    whole = run("tally", tmp_path / "a.csv", tmp_path / "b.csv", "--true", "y", "--score", "s").stdout
    assert merged == steelyard.tables.Tally.from_json(whole) and (merged.rows, merged.labels) == (4, ("no", "yes"))
    told = run("tally", tmp_path / "a.csv", "--true", "y", "--score", "s", "--labels", "non,yes", code=2).stderr
    assert "holds 'no', which is none of the declared labels" in told
    (tmp_path / "c.csv").write_text("y,p\n0,0\n1,1\n")
    declared = run("tally", tmp_path / "c.csv", "--true", "y", "--pred", "p", "--labels", "0,1,unknown").stdout
    assert steelyard.tables.Tally.from_json(declared).labels == ("0", "1", "unknown")
    pl.DataFrame({"y": ["0", "0"], "s": [0.1, 0.2]}).write_parquet(tmp_path / "d.parquet")
    text = run("tally", tmp_path / "d.parquet", "--true", "y", "--score", "s", "--labels", "0,1").stdout
    assert steelyard.tables.Tally.from_json(text).labels == ("0", "1")


def test_the_tallies_of_two_models_are_not_merged(rows, tmp_path):
    for name in ("y_pred", "b"):
        run("tally", rows, "--true", "y_true", "--pred", name, "-o", tmp_path / f"{name}.json")
    told = run("merge", tmp_path / "y_pred.json", tmp_path / "b.json", code=2).stderr
    assert "These tallies count other columns, --pred y_pred and --pred b" in told


def test_a_class_that_one_part_alone_holds_merges_as_in_one_file(tmp_path):
    parts = {
        "a": "y,p\nno,no\nyes,yes\n",
        "b": "y,p\nno,no\nmaybe,yes\n",
        "0": "y,p\n0,0\n1,1\n",
        "1": "y,p\n0,0\nunknown,1\n",
    }
    for name, text in parts.items():
        (tmp_path / f"{name}.csv").write_text(text)
        run("tally", tmp_path / f"{name}.csv", "--true", "y", "--pred", "p", "-o", tmp_path / f"{name}.json")
    for names in ("ab", "01"):
        merged = run("merge", *(tmp_path / f"{name}.json" for name in names)).stdout
        whole = run("tally", *(tmp_path / f"{name}.csv" for name in names), "--true", "y", "--pred", "p").stdout
        assert steelyard.tables.Tally.from_json(merged) == steelyard.tables.Tally.from_json(whole)


def test_saved_tables_of_python_are_read_as_well(frame, tmp_path):
    table = steelyard.confusion(frame["y_true"], frame["y_pred"])
    saved = {
        "confusion": table, "counts": table.counts(), "scores": steelyard.score_table(frame["y_true"], frame["score"]),
    }  # fmt: skip
    for name, thing in saved.items():
        (tmp_path / f"{name}.json").write_text(thing.to_json())
        words = [
            "report",
            tmp_path / f"{name}.json",
            "--format",
            "json",
            "--metrics",
            "mcc",
            *(["--threshold", "0.5"] if name == "scores" else []),
        ]
        assert strict(run(*words).stdout)["metrics"][0]["value"] == pytest.approx(steelyard.mcc(table), rel=1e-12)
    words = ["report", tmp_path / "confusion.json", "--format", "json", "--pos-label", "0"]
    assert strict(run(*words).stdout)["positive"] == 0


# ---------------------------------------------------------------- output


@pytest.mark.parametrize(
    ("ending", "start"),
    [("txt", "rows.csv · 600 rows"), ("json", "{"), ("md", "rows.csv · 600 rows"), ("markdown", "rows.csv · 600 rows"), ("csv", "name,value")],
)  # fmt: skip
def test_the_ending_of_the_output_tells_the_format(ending, start, rows, tmp_path):
    out = tmp_path / f"out.{ending}"
    ran = run("report", rows, "--true", "y_true", "--pred", "y_pred", "-o", out)
    assert (ran.stdout, ran.stderr) == ("", f"Wrote {out}.\n")
    assert out.read_text().startswith(start) and out.read_text().endswith("\n")
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(["rows.csv", out.name])


def test_an_existing_output_is_kept_unless_forced(rows, tmp_path):
    out = tmp_path / "out.json"
    out.write_text("mine")
    for words in (["report", rows], ["tally", rows], ["shift", rows, "--prevalence", "0.1"], ["threshold", rows], ["compare", rows], ["merge", out]):  # fmt: skip
        ran = run(*words, "-o", out, code=2)
        assert "exists and was kept" in ran.stderr and out.read_text() == "mine"
    run("report", rows, "-o", out, "--force")
    assert strict(out.read_text())["rows"] == ROWS
    mask = os.umask(0o022)
    os.umask(mask)
    assert out.stat().st_mode & 0o777 == 0o666 & ~mask


def test_a_link_stays_a_link_and_its_file_is_written(rows, tmp_path):
    (tmp_path / "far").mkdir()
    file, link, new = tmp_path / "far" / "out.json", tmp_path / "link.json", tmp_path / "new.json"
    file.write_text("mine")
    link.symlink_to(file)
    assert "exists and was kept" in run("report", rows, "-o", link, code=2).stderr
    run("report", rows, "-o", link, "--force")
    assert link.is_symlink() and strict(file.read_text())["rows"] == ROWS
    new.symlink_to(tmp_path / "far" / "made.json")
    run("report", rows, "-o", new)
    assert new.is_symlink() and strict((tmp_path / "far" / "made.json").read_text())["rows"] == ROWS
    new.unlink()
    new.symlink_to(new)
    assert "is a link that points to itself; name a file." in run("report", rows, "-o", new, code=2).stderr
    new.unlink()
    new.symlink_to(tmp_path / "none" / "made.json")
    assert "There is no folder" in run("report", rows, "-o", new, code=2).stderr


@pytest.mark.parametrize("force", [[], ["--force"]], ids=["kept", "forced"])
def test_a_pipe_is_never_replaced(force, rows, tmp_path):
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    for name in (pipe, tmp_path / "link.json"):
        if name != pipe:
            name.symlink_to(pipe)
        assert "is a device or a pipe, not a file" in run("report", rows, "-o", name, *force, code=2).stderr
    assert pipe.is_fifo()


@pytest.mark.parametrize("links", [True, False], ids=["links", "no links"])
def test_what_another_program_writes_meanwhile_is_kept(links, tmp_path, monkeypatch):
    out, sync = tmp_path / "out.txt", os.fsync

    def come_between(number):
        out.write_text("theirs")
        sync(number)

    def fail(*_):
        raise PermissionError(1, "no links here")

    if not links:
        monkeypatch.setattr(os, "link", fail)
    ours = ("report", "--counts", "28,23,72,2680", "--format", "csv")
    first = run(*ours).stdout
    run(*ours, "-o", out)
    assert out.read_text() == first
    out.unlink()
    monkeypatch.setattr(os, "fsync", come_between)
    assert "exists and was kept" in run(*ours, "-o", out, code=2).stderr
    assert out.read_text() == "theirs"
    run(*ours, "-o", out, "--force")
    assert out.read_text() == first and [path.name for path in tmp_path.iterdir()] == ["out.txt"]


def test_a_private_file_that_is_replaced_stays_private(rows, tmp_path):
    out = tmp_path / "out.json"
    out.touch(mode=0o600)
    run("report", rows, "-o", out, "--force")
    assert out.stat().st_mode & 0o777 == 0o600 and strict(out.read_text())["rows"] == ROWS


def test_an_input_is_never_replaced(rows, tmp_path):
    before, part, link = rows.read_bytes(), tmp_path / "part.json", tmp_path / "link.csv"
    run("tally", rows, "-o", part)
    link.symlink_to(rows)
    for words in (
        ["report", rows, "-o", rows],
        ["report", rows, "-o", link],
        ["report", tmp_path / "*.csv", "-o", rows],
        ["merge", part, "-o", part],
        ["audit", "mcc", "--against", rows, "--pred", "y_pred", "-o", rows, "--format", "md"],
        ["crossval", rows, "--target", "y_true", "-o", rows, "--format", "json"],
    ):
        assert "is an input as well, which would be lost; give another name." in run(*words, "--force", code=2).stderr
    assert rows.read_bytes() == before


def test_an_output_that_cannot_be_made_is_refused_before_the_work(tmp_path, monkeypatch):
    words = ["report", tmp_path / "none.csv", "-o"]
    assert "cannot be written: File name too long" in run(*words, tmp_path / f"{'x' * 300}.json", code=2).stderr
    with monkeypatch.context() as root:  # whom no folder refuses
        root.setattr(os, "access", lambda *_: False)
        assert f"The folder '{tmp_path}' cannot be written" in run(*words, tmp_path / "out.json", code=2).stderr
    piped = subprocess.run(
        [*COMMAND, "report", "--counts", "1,2,3,4", "--format", "md", "-o", "/dev/stdout"],
        capture_output=True,
        check=False,
    )
    assert piped.returncode == 2 and b"'/dev/stdout' is a device or a pipe, not a file; leave out -o" in piped.stderr


def test_a_failure_while_writing_leaves_the_old_file(tmp_path, monkeypatch):
    out = tmp_path / "out.txt"
    out.write_text("old")

    def fail(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", fail)
    assert run_command("report", "--counts", "28,23,72,2680", "--force", "-o", out).exit_code != 0
    assert [p.name for p in tmp_path.iterdir()] == ["out.txt"]
    assert out.read_text() == "old"


@pytest.fixture(scope="module")
def long_file(tmp_path_factory):
    """Rows that take seconds to weigh, packed, so that there are temporary files."""
    path = tmp_path_factory.mktemp("long") / "rows.csv.gz"
    block = "".join(f"{i % 2},{(i // 3) % 2},{(i * 7919) % 10007 / 10007}\n" for i in range(100_000)).encode()
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"y,p,s\n")
        for _ in range(40):
            file.write(block)
    return path


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
@pytest.mark.parametrize(
    "sign", [signal.Signals[name] for name in ("SIGINT", "SIGTERM", "SIGKILL") if hasattr(signal, name)]
)
@pytest.mark.parametrize("wait", [0, 0.5, 2])
def test_a_kill_at_any_moment_leaves_no_half_written_output(sign, wait, long_file, tmp_path):
    out, folder = tmp_path / "out", tmp_path / "tmp"
    out.mkdir(), folder.mkdir()
    words = ["report", str(long_file), "--true", "y", "--pred", "p", "--score", "s", "-o", str(out / "report.json")]
    running = subprocess.Popen(
        [*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "TMPDIR": str(folder)}
    )
    while not list(folder.glob("*/*")) and running.poll() is None:
        time.sleep(0.01)
    time.sleep(wait)
    running.send_signal(sign)
    told = running.communicate(timeout=600)
    assert [path.name for path in out.iterdir()] in ([], ["report.json"])
    if running.returncode == 0 or list(out.iterdir()):  # it was done before
        assert strict((out / "report.json").read_text())["rows"] == 4_000_000
    assert told[0] == b""
    if running.returncode == 0:
        return
    assert running.returncode == {"SIGINT": 130, "SIGTERM": 143, "SIGKILL": -9}[sign.name]
    if sign.name != "SIGKILL":
        assert list(folder.iterdir()) == []
        assert b"Traceback" not in told[1]


INTERRUPTED = """
import os, runpy, signal, sys
sign, real, inside = signal.{sign}, os.{call}, sys.argv.pop(1)
def made(path, *rest, **named):
    found = real(path, *rest, **named)
    if os.fspath(path).startswith(inside) and {when}:
        print("made", file=sys.stderr)
        os.kill(os.getpid(), sign)
    return found
os.{call} = made
runpy.run_module("steelyard", run_name="__main__", alter_sys=True)
"""


@pytest.mark.parametrize("sign", ["SIGINT", "SIGTERM"])
@pytest.mark.parametrize(("call", "when"), [("mkdir", "True"), ("open", "rest and rest[0] & os.O_CREAT")])
def test_an_interruption_in_the_moment_that_something_is_made_leaves_nothing(sign, call, when, rows, tmp_path):
    folder = tmp_path / "tmp"
    folder.mkdir()
    script = INTERRUPTED.format(sign=sign, call=call, when=when)
    words = [str(folder), "report", str(rows), "--pred", "y_pred", "-o", str(folder / "out.json")]
    settings = {**os.environ, "TMPDIR": str(folder if call == "mkdir" else tmp_path)}
    ran = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, check=False, env=settings)
    assert ran.returncode == 128 + signal.Signals[sign]
    assert ran.stderr.splitlines()[-1] == b"made"
    assert list(folder.iterdir()) == []


WAITING = """
import runpy, sys, time
from steelyard.frames import tally as frame_tally
def endless_query():
    import polars as pl
    rows = pl.LazyFrame({"a": range(10**6)})
    rows.join(rows, how="cross").select((pl.col("a") * pl.col("a_right")).sum()).collect(engine="streaming")
def lost_exit():
    try:
        time.sleep(10**6)
    except SystemExit:  # as that which is raised while an object is removed
        pass
    time.sleep(10**6)
def ignored_exit():
    import weakref
    class Thing: pass
    thing = Thing()
    kept = weakref.ref(thing, lambda _: time.sleep(10**6))
    del thing  # an exit that is raised in the callback is printed and ignored by Python
    time.sleep(10**6)
def wait(*_, **__):
    print("started", file=sys.stderr, flush=True)
    %s()
frame_tally.tally = wait
runpy.run_module("steelyard", run_name="__main__", alter_sys=True)
"""


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("work", ["endless_query", "lost_exit", "ignored_exit"])
def test_a_signal_cancels_the_running_query_and_is_never_lost(work, sign, rows, tmp_path):
    folder = tmp_path / "tmp"
    folder.mkdir()
    running = subprocess.Popen(
        [sys.executable, "-c", WAITING % work, "report", str(rows)],
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    assert running.stderr.readline() == b"started\n"
    running.send_signal(sign)
    _, told = running.communicate()  # either would take days to end by itself
    assert (running.returncode, told) == (128 + sign, b"")
    assert list(folder.iterdir()) == []


def test_a_reader_who_leaves_early_is_no_error(rows):
    line = f"{sys.executable} -m steelyard.cli report {rows} --all | head -1"
    ran = subprocess.run(["bash", "-o", "pipefail", "-c", line], capture_output=True, check=False)
    assert ran.stderr == b"" and ran.stdout.startswith(b"rows.csv")


@pytest.mark.parametrize(
    "line", ["{} | true", "{} 2>&1 | true", "{} >/dev/full", "{} >/dev/full 2>&1", "{} >&-", "{} >&- 2>&-"]
)
def test_a_gate_exits_by_its_verdict_whatever_becomes_of_its_words(line, tmp_path):
    rules = {0: "recall>=0.1", 1: "recall>=0.9", 3: "precision>=0.5"}
    for code, rule in rules.items():
        counts = "0,5,0,5" if code == 3 else "1,1,0,5.5"  # which is no whole number, so that stderr has a message
        gate = f"{sys.executable} -m steelyard.cli gate --counts {counts} --require '{rule}'"
        ran = subprocess.run(["bash", "-o", "pipefail", "-c", line.format(gate)], capture_output=True, check=False)
        assert ran.returncode == code
        assert b"Traceback" not in ran.stderr and b"Exception ignored" not in ran.stderr


@pytest.mark.parametrize("closed", ["2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_a_gate_of_a_file_exits_by_its_verdict_where_the_streams_are_closed(rows, closed):
    for code, rule in {0: "recall>=0.001", 1: "recall>=1"}.items():
        gate = f"{sys.executable} -m steelyard.cli gate {rows} --true y_true --pred y_pred --require '{rule}' {closed}"
        assert subprocess.run(["bash", "-c", gate], check=False, stdout=subprocess.DEVNULL).returncode == code


@pytest.mark.parametrize(
    "words", ["--help", "--version", "report --help", "metrics", "report --counts 1,2,3,4", "compare"]
)
def test_a_full_disk_behind_stdout_is_one_sentence_and_exit_2(words):
    command = f"{sys.executable} -m steelyard.cli {words} >/dev/full"
    ran = subprocess.run(["bash", "-c", command], capture_output=True, check=False, text=True)
    assert ran.returncode == 2 and ran.stderr.count("\n") == 1
    if words != "compare":  # which is refused for another reason, on stderr
        assert ran.stderr.startswith("steelyard: The standard output cannot be written: No space left on device")
        reader = subprocess.run(
            ["bash", "-o", "pipefail", "-c", f"{command[:-10]} | true"], capture_output=True, check=False
        )
        assert (reader.returncode, reader.stderr) == (0, b"")


def test_a_closed_stdout_loses_no_report_in_silence():
    line = f"{sys.executable} -m steelyard.cli report --counts 1,2,3,4 >&-"
    ran = subprocess.run(["bash", "-c", line], capture_output=True, check=False)
    assert ran.returncode == 2
    assert ran.stderr == b"steelyard: The standard output is closed; open it, or name a file with -o.\n"


def test_letters_that_the_terminal_lacks_are_written_as_codes(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("y,p\nœil,œil\n目,œil\n目,目\n", encoding="utf-8")
    ran = shell("report", path, "--true", "y", "--pred", "p", "--pos-label", "目", PYTHONIOENCODING="cp1252")
    assert ran.returncode == 0
    assert b"\\u76ee" in ran.stdout and "œil".encode("cp1252") in ran.stdout


def test_a_full_disk_is_the_disks_fault_and_leaves_nothing(long_file, tmp_path):
    folder = tmp_path / "tmp"
    folder.mkdir()
    words = {
        f"report {long_file} --true y --pred p": f"There is no room in '{folder}' for a copy of '{long_file}': File too large",
        f"report --counts 1,2,3,4 -o {tmp_path}/out.html": f"'{tmp_path}/out.html' cannot be written: File too large.",
    }
    if importlib.util.find_spec("sklearn"):
        words[f"demo -o {tmp_path}/demo"] = f"'{tmp_path}/demo/predictions.parquet' cannot be written: File too large."
    for line, sentence in words.items():
        command = f"ulimit -f 4; TMPDIR={folder} {sys.executable} -B -m steelyard.cli {line}"
        ran = subprocess.run(["bash", "-c", command], capture_output=True, check=False, text=True)
        assert (ran.returncode, ran.stdout) == (2, "")
        assert ran.stderr.startswith(f"steelyard: {sentence}") and ran.stderr.count("\n") == 1
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_what_the_operating_system_refuses_is_not_called_our_fault(rows, tmp_path, monkeypatch):
    refused = run("report", tmp_path / f"{'x' * 300}.csv", code=2).stderr
    assert "cannot be used: File name too long; check the name, the permissions and the room on the disk." in refused
    line = f"{sys.executable} -m steelyard.cli report - <&-"
    ran = subprocess.run(["bash", "-c", line], capture_output=True, check=False)
    assert ran.stderr == b"steelyard: The standard input is empty; give a file with a header and rows.\n"

    def deny(*_):
        raise PermissionError(13, "Permission denied", str(rows))

    monkeypatch.setattr("steelyard.cli.inputs.add_saved", deny)
    assert f"'{rows}' cannot be used: Permission denied; check" in run("report", rows, code=2).stderr
    monkeypatch.setattr("steelyard.files.reading._magic", deny)
    told = run("compare", rows, "--true", "y_true", "--pred", "y_pred", "--pred", "b", code=2).stderr
    assert told.startswith(f"steelyard: '{rows}' cannot be used: Permission denied;")


def test_a_file_whose_name_is_not_utf_8_is_read_and_written(frame, tmp_path):
    for name, data in (
        (b"r\xff.csv", frame.write_csv().encode()),
        (b"r\xff.csv.gz", gzip.compress(frame.write_csv().encode())),
    ):
        path, page = os.fsencode(tmp_path) + b"/" + name, os.fsencode(tmp_path) + b"/" + name + b".html"
        try:
            Path(os.fsdecode(path)).write_bytes(data)
        except OSError:
            pytest.skip("this disk takes no such name")
        ran = subprocess.run([*COMMAND, "report", path, "--format", "json"], capture_output=True, check=False)
        assert strict(ran.stdout)["rows"] == ROWS and strict(ran.stdout)["source"] == name.decode(errors="replace")
        ran = subprocess.run([*COMMAND, "report", path, "-o", page], capture_output=True, check=False)
        assert ran.returncode == 0 and Path(os.fsdecode(page)).read_text(encoding="utf-8")


# ---------------------------------------------------------------- hostile names


HOSTILE = ["\x1b[31mred\x1b[0m", "[bold]x[/bold]", "=HYPERLINK(1)", "L" * 10_000]


@pytest.mark.parametrize("label", HOSTILE, ids=["codes", "markup", "formula", "long"])
def test_hostile_labels_are_data(label, tmp_path):
    path = tmp_path / "rows.parquet"
    truth = [label, "b", label, "b", "b"]
    pl.DataFrame({"y": truth, "p": [label, label, "b", "b", "b"], "g": truth}).write_parquet(path)
    words = ["report", str(path), "--true", "y", "--pred", "p", "--pos-label", label, "--by", "g"]
    start = shell if label is HOSTILE[0] else inside
    table = start(*words).stdout.decode()
    assert "\x1b" not in table and max(map(len, table.splitlines())) < 2_000
    assert "[bold]" in table or "[bold]" not in label
    told = strict(start(*words, "--format", "json").stdout)
    assert told["positive"] == label
    cells = [
        cell
        for row in csv.reader(io.StringIO(run(*words[:1], path, *words[2:], "--format", "csv").stdout))
        for cell in row
    ]
    assert not any(cell[:1] in ("=", "+", "@") for cell in cells)
    refusal = start(*words[:-4], "--pos-label", "none")
    assert refusal.returncode == 2 and refusal.stderr.count(b"\n") == 1 and b"\x1b" not in refusal.stderr
    assert len(refusal.stderr) < 1_000


@pytest.mark.parametrize("form", ["table", "md", "csv"])
def test_no_label_column_or_file_name_steers_the_terminal(form, tmp_path):
    label = "a\x1b]0;title\x07\u202e\x9b1m<script>"
    path, truth = tmp_path / f"rows{label}.parquet", [label, "b"] * 20
    columns = {
        "y": truth,
        label: [label, *truth[:-1]],
        "p": [label, "b", "b", "b"] * 10,
        "s": [i / 40 for i in range(40)],
    }
    pl.DataFrame(columns).write_parquet(path)
    rows, models = [path, "--true", "y", "--pos-label", label], ["--pred", label, "--pred", "p"]
    asked = [
        ["report", *rows, "--pred", label, "--by", "y", "--format", form],
        ["report", *rows[:3], "--pred", label, "--format", form],
        ["compare", *rows, *models, "--format", form],
        ["shift", *rows, "--pred", label, "--prevalence", "0.1", "--by", "y", "--format", form],
        ["tally", *rows, "--score", "s", "-o", tmp_path / f"{label}.json"],
        ["audit", "mcc", "--against", *rows, *models],
        ["gate", *rows, "--pred", label, "--require", "mcc>-1"],
    ]
    for words in asked:
        ran = run(*words)
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", ran.stdout + ran.stderr)
        assert "<script>" not in ran.stdout or form != "md" or words[0] in ("audit", "gate")  # which are no Markdown


def test_text_that_a_spreadsheet_would_run_is_guarded_and_numbers_are_not(tmp_path):
    path, notes = tmp_path / "rows.csv", ["=1+1", "@x", "-f", None, "line\nbreak\x1b", "=a\r\nb"]
    rows = {"y": [1, 0, 1, 0, 1, 0], "s": [-0.5, 2.5, -0.25, 1.5, -0.125, 0.5], "=cmd()": notes}
    pl.DataFrame(rows).write_csv(path)
    asked = ["errors", path, "--true", "y", "--score", "s", "--threshold", "0", "--key", "=cmd()", "--format", "csv"]
    head, found = run(*asked).stdout_bytes.decode().split("\n", 1)
    assert head == "row,error,true,predicted,score,distance,'=cmd()"
    assert re.findall(r"(?m)^(\d),false \w+,\d,\d,([^,]+),[^,]+,(\"[^\"]*\"|[^\"\n]*)\n", found) == [
        ("2", "2.5", "'@x"),
        ("4", "1.5", ""),
        ("1", "-0.5", "'=1+1"),
        ("6", "0.5", '"\'=a\r\nb"'),
        ("3", "-0.25", "'-f"),
        ("5", "-0.125", '"line\nbreak�"'),
    ]
    pl.DataFrame({**rows, "y": [0, 1] * 3}).write_csv(path)  # no row is wrong
    assert run(*asked).stdout == "\n"


# ---------------------------------------------------------------- bad input


def packed_bomb():
    block = gzip.compress(b"0,1\n" * 2**22)  # 16 MiB; a gzip file may have many members
    return gzip.compress(b"y,p\n") + block * (2**30 // 2**24 + 1)  # more than a GiB in all


GOOD = "y,p,s\n1,1,0.9\n0,0,0.2\n1,0,0.4\n0,1,0.6\n"
YP = ["--true", "y", "--pred", "p"]
YS = ["--true", "y", "--score", "s"]
TALLY = {"schema": 1, "kind": "confusion", "labels": [0, 1], "positive": 1, "rows": [[5, -1], [2, 3]]}
BAD = [
    ("no such file", None, ["report", "x.csv", *YP], "There is no file 'x.csv'; check the name and the folder."),
    ("a pattern without files", None, ["report", "x*.csv", *YP], "No file fits 'x*.csv'; check the pattern and the folder."),
    ("an empty folder", "x/a.csv", ["report", "x", *YP], "The folder 'x' holds no files; give one with files of predictions."),
    ("an empty file", b"", ["report", "in", *YP], "'in' is empty; give a file with a header and rows."),
    ("a header alone", b"y,p\n", ["report", "in", *YP], "There are no rows to count; give at least one."),
    ("too many groups", "y,p,g\n" + "".join(f"{i % 2},1,{i}\n" for i in range(20_001)), ["report", "in", *YP, "--by", "g"], "The column 'g' holds 20,001 different values in its first 20,001 rows; at most 20,000 groups are counted. Is it a column of groups"),
    ("Latin-1", "y,p\nÉté,1\n".encode("latin-1"), ["report", "in", *YP], "'in' is text, but not in UTF-8; save it as UTF-8 first."),
    ("frequencies of scores", GOOD, ["compare", "in", "--true", "y", "--score", "s", "--score", "p", "--frequency", "p"], "Scores are compared row by row, each row once; leave --frequency out."),
    ("no such metric", GOOD, ["report", "in", *YP, "--metrics", "qqqqqq"], "No metric is called 'qqqqqq'. `steelyard metrics` lists them all."),
    ("no positive", "y,s\nfraud,0.1\nok,0.9\nok,0.8\n", ["report", "in", *YS], "Which class is the positive one is not clear from the labels 'fraud', 'ok' of the column 'y'; name it with --pos-label. --pos-label fraud makes 'fraud' (1 of 3 rows) the positive class, --pos-label ok makes 'ok' (2 of 3 rows)."),
    ("one class of counts", None, ["report", "--counts", "1,2,0,0"], "The truth holds one class only, 1; "),
    ("a truncated Parquet", "parquet", ["report", "in", *YP], "'in' cannot be read: "),
    ("noise", os.urandom(5000), ["report", "in", *YP], "'in' is not a file of predictions; give CSV, TSV, Parquet, Arrow or JSON lines."),
    ("a missing column", GOOD, ["report", "in", "--true", "y", "--score", "ss"], "There is no column 'ss'; there are 'y', 'p', 's'. Did you mean 's'?"),
    ("no truth", b"a,b\n1,2\n", ["report", "in"], "Which column holds the truth is not clear; name it with --true, of a, b."),
    ("no prediction", b"y,b\n1,2\n", ["report", "in"], "Name the predictions with --pred or --score; the columns are y, b."),
    ("text for a score", GOOD + "1,1,high\n0,0,low\n", ["report", "in", *YS], "The column 's' holds 'high' in row 5; a number was expected."),
    ("NaN scores", GOOD + "1,1,NaN\n", ["report", "in", *YS], "The column 's' holds scores that are not numbers: 1 missing (null or NaN), the first in row 5; "),
    ("infinite scores", GOOD + "1,1,-inf\n", ["report", "in", *YS], "The column 's' holds scores that are not numbers: 1 infinite, the first in row 5; "),
    ("a short row", GOOD + "1,1\n0,0,0.2\n", ["report", "in", *YS], "'in' has 2 cells in row 5 and 3 in its header; give every row as many, and quote cells that hold ','."),
    ("a long row", GOOD + "1,1,0.3,7\n0,0,0.2\n", ["report", "in", *YP], "'in' has 4 cells in row 5 and 3 in its header; "),
    ("1,001 labels", "y,p\n" + "".join(f"{i},{i}\n" for i in range(1001)), ["report", "in", *YP], "The column 'y' holds 1,001 different values in its first 1,001 rows. Is it a column of labels, or of numbers or names?"),
    ("null labels", GOOD + ",1,0.3\n", ["report", "in", *YP], "The column 'y' holds missing labels; drop those rows, or give them a label."),
    ("a positive that does not occur", GOOD, ["report", "in", *YP, "--pos-label", "2"], "The positive class '2' does not occur; there are 0, 1, which are numbers"),
    ("one class of scores", b"y,p\n1,0.2\n1,0.4\n", ["report", "in", "--true", "y", "--score", "p"], "The labels of the column 'y' hold one class only, 1; give rows of both classes, or count this part with `steelyard tally --labels A,B`"),
    ("one class", b"y,p\n1,1\n1,0\n", ["report", "in", *YP], "The truth holds one class only, 1; a metric needs rows of at least two."),
    ("a truncated gzip", gzip.compress(GOOD.encode() * 99)[:-30], ["report", "in", *YP], "'in' is a gzip file that cannot be unpacked: it is truncated or damaged."),
    ("one that expands", packed_bomb, ["report", "in", *YP], "'in' unpacks to more than 1 GiB, over 200 times its size; unpack it yourself if that is right."),
    ("negative cells", json.dumps(TALLY), ["report", "in.json"], "'in.json': "),
    ("negative cells merged", json.dumps({"schema": 1, "kind": "tally", "labels": [0, 1], "confusion": TALLY}), ["merge", "in.json"], "'in.json': "),
    ("a tally that is none", '{"schema": 1, "kind": "tally", "labels": 3}', ["report", "in.json"], "'in.json': A saved tally lists its labels and its tables; this one does not."),
    ("rows to merge", GOOD, ["merge", "in"], "'in' holds no saved table; give files that `steelyard tally` wrote."),
    ("nothing to merge", None, ["merge", "x.json"], "There is no file 'x.json'; check the name and the folder."),
    ("an existing output", GOOD, ["report", "in", *YP, "-o", "in"], "The ending of 'in' gives no format; end it in .json, .md, .csv, .html, or give --format."),
    ("an existing report", GOOD, ["report", "in.csv", *YP, "-o", "in.csv"], "'in.csv' exists and was kept; give another name, or --force to replace it."),
    ("a folder for output", GOOD, ["report", "in", *YP, "-o", ".", "--format", "json"], "'.' is a folder; name a file in it."),
    ("no folder for output", GOOD, ["report", "in", *YP, "-o", "x/y.json"], "There is no folder 'x' to write to; make it first."),
    ("a malformed gate", GOOD, ["gate", "in", *YP, "--require", "mcc=>0.5"], "The rule 'mcc=>0.5' cannot be read: '=>' is none of >= <= > <; write 'ac_score >= 0.8', 'low(mcc) >= 0.5', 'mcc >= baseline - 0.02' or 'low(mcc - versus) >= -0.02'."),
    ("a gate half open", GOOD, ["gate", "in", *YP, "--require", "low(mcc>=0.5"], "The rule 'low(mcc>=0.5' cannot be read: "),
    ("a gate without a number", GOOD, ["gate", "in", *YP, "--require", "mcc>=high"], "The rule 'mcc>=high' cannot be read: "),
    ("a gate on no metric", GOOD, ["gate", "in", *YP, "--require", "mcd>=0.5"], "No metric is called 'mcd'. Did you mean 'mcc'"),
    ("a gate on scores", GOOD, ["gate", "in", *YP, "--require", "roc_auc>=0.5"], "roc_auc needs scores."),
    ("a gate of no rule", GOOD, ["gate", "in", *YP], 'A gate needs a rule, such as --require "ac_score>=0.8", a --versus or a --baseline.'),
    ("a gate on no baseline", GOOD, ["gate", "in", *YP, "--require", "mcc>=baseline"], "The rule 'mcc >= baseline' speaks of a baseline; name it with --baseline OLD.JSON."),
    ("a baseline not there", GOOD, ["gate", "in", *YP, "--baseline", "x.json"], "The baseline 'x.json' cannot be read: No such file or directory; check the name."),
    ("a baseline that is none", GOOD, ["gate", "in", *YP, "--baseline", "in"], "The baseline 'in' is not a report written by `steelyard report --format json`; make one first."),
    ("a baseline of text", '{"metrics": [{"name": "mcc", "value": "-9"}]}', ["gate", "--counts", "1,2,3,4", "--baseline", "in"], "The baseline 'in' is not a report written by"),
    ("an endless baseline", '{"metrics": [{"name": "mcc", "value": -Infinity}]}', ["gate", "--counts", "1,2,3,4", "--baseline", "in"], "The baseline 'in' is not a report written by"),
    ("a baseline beyond numbers", '{"metrics": [{"name": "mcc", "value": -1e999}]}', ["gate", "--counts", "1,2,3,4", "--baseline", "in"], "The baseline 'in' is not a report written by"),
    ("a baseline of words", '{"metrics": [{"name": "mcc", "value": "high"}]}', ["gate", "--counts", "1,2,3,4", "--baseline", "in"], "The baseline 'in' is not a report written by"),
    ("a baseline of nothing", '{"metrics": [{"name": "mcc", "value": null}]}', ["gate", "--counts", "1,2,3,4", "--baseline", "in"], "The baseline 'in' cannot be read: This JSON holds no saved result"),
    ("a baseline without it", '{"metrics": []}', ["gate", "--counts", "1,2,3,4", "--baseline", "in", "--require", "mcc>=baseline"], "The baseline 'in' cannot be read: This JSON holds no saved result"),
    ("three counts", None, ["report", "--counts", "1,2,3"], "--counts takes four numbers TP,FN,FP,TN, such as 28,23,72,2680, not '1,2,3'."),
    ("shares for counts", None, ["report", "--counts", "0.28,0.23,0.72,26.8"], "--counts takes numbers of rows, and 0.28,0.23,0.72,26.8 are shares; multiply them by the rows."),
    ("counts of words", None, ["report", "--counts", "a,2,3,4"], "--counts takes four numbers TP,FN,FP,TN, "),
    ("negative counts", None, ["report", "--counts", "1,2,3,-4"], ""),
    ("bins of labels", GOOD, ["report", "in", *YP, "--binned"], "--exact keeps every score, or bins of them, and these rows have labels alone; leave it out."),
    ("a file without a name", GOOD, ["report", "", *YP], "A file is named by an empty text; name a file, a folder such as '.', or - for stdin."),
    ("the truth as prediction", GOOD, ["gate", "in", "--true", "y", "--pred", "y", "--require", "recall>=0.9"], "--true and --pred both name the column 'y'; name that of the predictions."),
    ("the truth as scores", GOOD, ["threshold", "in", "--true", "y", "--score", "y", "--metric", "f1"], "--true and --score both name the column 'y'; name that of the predictions."),
    ("the truth as a model", GOOD, ["compare", "in", "--true", "y", "--pred", "p", "--pred", "y"], "--true and --pred both name the column 'y'; name that of the predictions."),
    ("the truth watched", GOOD, ["watch", "in", "--true", "y", "--pred", "y", "--require", "recall>=0.5"], "--true and --pred both name the column 'y'; name that of the predictions."),
    ("the truth watched by key", GOOD, ["watch", "in", "--true", "y", "--pred", "y", "--key", "s", "--require", "recall>=0.5"], "--true and --pred both name the column 'y'; name that of the predictions."),
    ("the truth counted", GOOD, ["tally", "in", "--true", "y", "--pred", "y"], "--true and --pred both name the column 'y'; name that of the predictions."),
    ("scores as weights", GOOD, ["report", "in", *YS, "--weight", "s"], "--score and --weight both name the column 's'; name that of the weights."),
    ("counts and a file", GOOD, ["report", "in", "--counts", "1,2,3,4"], "Four counts and a file are two inputs; give one of them."),
    ("no input", None, ["report"], "No input was named; give a file, - for the standard input, or --counts TP,FN,FP,TN."),
    ("nothing to compare", None, ["compare", "--pred", "a", "--pred", "b"], "No input was named; give a file, - for the standard input, or --counts"),
    ("one model", GOOD, ["compare", "in", "--true", "y", "--pred", "p"], "compare needs two or more models, not 1; "),
    ("labels and scores", GOOD, ["compare", "in", "--true", "y", "--pred", "p", "--score", "s"], "compare needs two or more models, not 1; `steelyard report` gives"),
    ("a cut without scores", "y,y_pred\n1,1\n0,0\n", ["threshold", "in"], "Scores are needed; name their column with --score, of y, y_pred."),
    ("a cut of labels", json.dumps({**TALLY, "rows": [[5, 1], [2, 3]]}), ["threshold", "in.json"], "This tally has no scores; count them with --score."),
    ("a cut beside labels", GOOD, ["report", "in", *YP, "--threshold", "0.5"], "Predictions and a threshold together contradict each other; give scores and the threshold."),
    ("a prevalence of 2", GOOD, ["shift", "in", *YP, "--prevalence", "2"], ""),
    ("a level of 2", GOOD, ["report", "in", *YP, "--level", "2"], ""),
    ("an unknown option", GOOD, ["report", "in", "--ture", "y"], "No such option"),
    ("an unknown format", GOOD, ["report", "in", "--format", "xml"], "Invalid value for '--format': 'xml' is not one of"),
    ("a number in words", GOOD, ["report", "in", "--threshold", "half"], "Invalid value for '--threshold': 'half' is not a number"),
    ("a table of two models", json.dumps({"schema": 1, "kind": "paired", "labels": [0, 1], "positive": None, "rows": [[[1, 0], [0, 1]], [[1, 0], [0, 1]]]}), ["report", "in.json"], "This table holds two models side by side; compare it instead."),
]  # fmt: skip


STARTED = [shell if i % 8 == 0 else inside for i in range(len(BAD))]  # one in eight as a process of its own


@pytest.mark.parametrize(
    ("data", "words", "sentence", "start"),
    [(*case[1:], start) for case, start in zip(BAD, STARTED, strict=True)],
    ids=[case[0] for case in BAD],
)
def test_bad_input_is_one_sentence_on_stderr_nothing_on_stdout_and_exit_2(
    data, words, sentence, start, frame, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    data = data() if callable(data) else data
    if data == "parquet":
        buffer = io.BytesIO()
        frame.write_parquet(buffer)
        data = buffer.getvalue()[:-40]
    if data == "x/a.csv":
        (tmp_path / "x").mkdir()
    elif data is not None:
        for name in ("in", "in.json", "in.csv"):
            (tmp_path / name).write_bytes(data.encode() if isinstance(data, str) else data)
    ran = start(*words, cwd=tmp_path)
    told = ran.stderr.decode()
    assert (ran.returncode, ran.stdout) == (2, b"")
    assert told.startswith(f"steelyard: {sentence}")
    assert told.count("\n") == 1 and told.endswith((".\n", "?\n"))
    assert "Traceback" not in told


def test_a_fault_of_ours_is_one_sentence_and_exit_2(rows, monkeypatch):
    def fail(*_, **__):
        raise TypeError("oh\nno")

    monkeypatch.setattr("steelyard.frames.tally.tally", fail)
    told = run("report", rows, code=2).stderr
    assert (
        told
        == "steelyard: Steelyard failed on this, which is its fault: TypeError, oh·no; STEELYARD_DEBUG=1 shows where.\n"
    )
    monkeypatch.setenv("STEELYARD_DEBUG", "1")
    assert isinstance(run_command("report", rows).exception, TypeError)


def test_endless_groups_are_written_as_json(tmp_path):
    path = tmp_path / "rows.parquet"
    pl.DataFrame({"y": [0, 1, 1, 0], "p": [0, 1, 0, 1], "g": [math.inf, 1.0, -math.inf, 1.0]}).write_parquet(path)
    told = strict(run("report", path, "--true", "y", "--pred", "p", "--by", "g", "--format", "json").stdout)
    assert sorted(str(group["group"]["g"]) for group in told["groups"]) == ["-inf", "1", "inf"]


def test_the_standard_input_is_a_file_too():
    ran = shell("report", "-", *YP, "--format", "json", stdin=GOOD.encode())
    assert strict(ran.stdout)["counts"] == {"tp": 1, "fn": 1, "fp": 1, "tn": 1}
    assert "standard input · 4 rows".encode() in shell("report", "-", *YP, stdin=GOOD.encode()).stdout
    refused = shell("report", "-", *YP, stdin=b"")
    assert refused.stderr == b"steelyard: The standard input is empty; give a file with a header and rows.\n"


def test_a_group_of_one_class_is_undefined_and_not_an_error(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("y,s,g\n1,1,a\n0,0,a\n1,0,b\n0,0.3,a\n1,0.4,b\n0,0.6,c\n")
    words = ["report", path, "--true", "y", "--score", "s", "--by", "g"]
    assert "g = b" in run(*words).stdout
    groups = {group["group"]["g"]: group for group in strict(run(*words, "--format", "json").stdout)["groups"]}
    areas = {key: next(row for row in group["metrics"] if row["name"] == "roc_auc") for key, group in groups.items()}
    assert (areas["a"]["value"], areas["b"]["undefined"], areas["c"]["undefined"]) == (
        1,
        "no negatives",
        "no positives",
    )
    run("shift", path, "--true", "y", "--score", "s", "--by", "g", "--prevalence", "0.1")


def test_refusals_of_options_name_the_command_that_takes_them_and_what_the_help_lists(rows):
    refused = run("report", rows, "--prevalence", "0.1", code=2).stderr
    assert refused == "steelyard: No such option '--prevalence': `steelyard shift FILE --prevalence P` takes it.\n"
    refused = run("shift", rows, "--prevalence", "0.5 per cent", code=2).stderr
    assert "positives of rows such as 12/400, not '0.5 per cent'" in refused
    assert run("shift", rows, "--prevalence", "10%").stdout == run("shift", rows, "--prevalence", "0.1").stdout
    refused = run("shift", rows, "--prevalence", "0.5", "--threshold", "0.5%", code=2).stderr
    assert refused.endswith("'0.5%' is not a number; `steelyard shift --help` lists the options.\n")
    assert run("reprot", code=2).stderr.endswith("`steelyard --help` lists the commands.\n")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["threshold", "--by", "site"], "--by has no place in steelyard threshold: it gives one result; "),
        (["threshold", "--by", "site", "--metric", "f1"], "--by has no place in steelyard threshold: it gives one "),
        (["compare", "--by", "site"], "--by has no place in compare: it gives one result; "),
        (["report", "--level", "high"], "Invalid value for '--level': 'high' is not a number; "),
        (
            ["crossval", "--target", "y_true", "--n-jobs", "x"],
            "Invalid value for '--n-jobs': 'x' is not a whole number; ",
        ),
        (["crossval", "--folds", "3"], "`steelyard crossval` takes --split K in place of --folds"),
    ],
)
def test_what_cannot_be_combined_is_one_sentence_in_the_words_of_the_shell(words, sentence, rows):
    refused = run(words[0], rows, *words[1:], code=2).stderr
    assert refused.startswith(f"steelyard: {sentence}") and refused.count("\n") == 1
    assert not re.search(r"\w=[ ,.;]", refused)  # an argument of Python


def test_a_figure_of_clustered_rows_has_the_interval_of_clusters(rows, tmp_path):
    words = ["--true", "y_true", "--score", "score", "--cluster", "site", "-o", tmp_path / "roc.svg"]
    told = run("plot", "roc", rows, *words)
    assert "interval, cluster)" in " ".join((told.stdout + told.stderr).split())


def test_clusters_beside_scores_that_nobody_named_are_of_the_labels(rows):
    assert "cluster site" in " ".join(run("report", rows, "--cluster", "site").stdout.split())


def test_refusals_of_the_shell_name_its_columns_commands_and_options(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("truth,score,guess,n\nfraud,0.9,fraud,1\nok,0.2,ok,2\nok,0.6,ok,1\n")

    def told(*words):
        return run(*words, code=2).stderr.removeprefix("steelyard: ").strip()

    assert "not clear from the labels 'fraud', 'ok' of the column 'truth'; name it with --pos-label." in told("report", path, "--score", "score")  # fmt: skip
    columns = (path, "--true", "truth", "--pred")
    assert " and the column 'n' numbers" in told("report", *columns, "n")
    for metric in ("recall", "specificity"):
        words = f"{metric} is of one class, and which is the positive one is not clear from the labels 'fraud', 'ok'; name it with --pos-label."  # fmt: skip
        assert told("gate", *columns, "guess", "--require", f"low({metric})>=0.2") == words
    assert told("compare", *columns, "guess").endswith(
        "not 1; `steelyard report` gives the confidence intervals of one."
    )
    assert told("report", "--counts", "0,0,0,0").startswith("--counts 0,0,0,0 are no rows; give four numbers")
    assert told("reprot", path).startswith("No such command 'reprot'. Did you mean 'report'")
    assert re.search(
        r"Did you mean .*'?--true'?.*\?\)? `", told("report", path, "--tru", "truth")
    )  # newer clicks quote it
    advice = run("recommend", path, "--true", "truth", "--score", "score", "--pos-label", "fraud").stdout
    assert "steelyard threshold compares it with others." in " ".join(advice.split())
