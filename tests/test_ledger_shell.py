"""`steelyard log`, `history` and `diff`: what they print, write and refuse."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from command_line import run_command

from steelyard import Counts, Evaluation, Ledger, Result, evaluate

RNG = np.random.default_rng(2)
Y = (RNG.random(300) < 0.3).astype(int)
FRAME = pl.DataFrame(
    {"key": range(300), "y": Y, "p": 0.3 * Y + 0.6 * RNG.random(300), "q": 0.4 * Y + 0.5 * RNG.random(300)}
)
HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder of one's own with a report and predictions."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name, tp in (("old", 28), ("new", 40)):
        (tmp_path / f"{name}.json").write_text(evaluate(Counts(tp=tp, fn=51 - tp, fp=72, tn=2680)).to_json(indent=1))
    FRAME.write_csv("preds.csv")
    return tmp_path


def logged(*words, **options):
    """The ids that were logged."""
    ran = run_command("log", *words, **options)
    assert ran.exit_code == 0, ran.stderr
    return ran.stdout.split()


def refused(*words, **options):
    """The one sentence of a refusal."""
    ran = run_command(*words, **options)
    assert ran.exit_code == 2 and not ran.stdout and len(ran.stderr.splitlines()) == 1
    return ran.stderr


def test_a_report_is_logged_from_a_file_and_from_a_pipe(folder):
    (entry_id,) = logged("old.json", "--tag", "model=v1")
    words = [sys.executable, "-m", "steelyard.cli", "log", "-", "--tag", "model=v2"]
    ran = subprocess.run(words, input=(folder / "new.json").read_bytes(), capture_output=True, check=True)
    piped = ran.stdout.decode().strip()
    ledger = Ledger("steelyard-ledger")
    assert ledger.read(entry_id) == Evaluation.from_json(folder / "old.json")
    assert ledger.read(piped) == Evaluation.from_json(folder / "new.json")
    assert len(logged("old.json", "new.json", "--ledger", "other")) == 2
    entry = folder / "steelyard-ledger" / f"{entry_id}.json"
    assert "28" in run_command("report", entry).stdout  # an entry is a report
    gate = run_command("gate", "--counts", "28,23,72,2680", "--baseline", entry, "--require", "recall>=baseline")
    assert gate.exit_code == 0 and gate.stdout.startswith("pass")


def test_predictions_are_evaluated_and_logged_in_one_go(folder):
    words = ("--true", "y", "--score", "p", "--threshold", "0.5", "--metrics", "recall,mcc")
    (entry_id,) = logged("preds.csv", *words, "--tag", "model=v3")
    (piped,) = logged("-", *words, input=(folder / "preds.csv").read_bytes())
    report = json.loads(run_command("report", "preds.csv", *words, "--format", "json").stdout)
    kept = json.loads((folder / "steelyard-ledger" / f"{entry_id}.json").read_text())
    assert kept.pop("entry")["tags"] == {"model": "v3"}
    assert kept == report
    assert Ledger("steelyard-ledger").read(piped)["mcc"] == Evaluation.from_json(report)["mcc"]


def test_history_is_a_table_json_markdown_csv_or_a_page(folder):
    ids = [
        *logged("old.json", "--tag", "model=v1"),
        *logged("new.json", "--tag", f"model={HOSTILE}", "--tag", "site=B"),
    ]
    table = run_command("history", "--metric", "recall")
    assert table.exit_code == 0 and "54.9 % (" in table.stdout and "78.4 % (" in table.stdout
    assert "\x1b[31m" not in table.stdout and "\u202e" not in table.stdout and "model=v1" in table.stdout
    assert f"steelyard diff {ids[0][-8:]} {ids[1][-8:]}" in table.stdout
    assert "78.4 %" not in run_command("history", "--metric", "recall", "--tag", "model=v1").stdout
    assert "54.9 %" not in run_command("history", "--metric", "recall", "--last", "1").stdout
    history = Result.from_json(run_command("history", "--all", "--format", "json").stdout)
    assert history == Ledger("steelyard-ledger").history(all_metrics=True) and len(history) > 60
    rows = pl.read_csv(run_command("history", "--metric", "recall", "--format", "csv").stdout.encode())
    assert rows["value"].to_list() == pytest.approx([28 / 51, 40 / 51]) and rows["tag.site"].to_list() == [None, "B"]
    assert "| 54.9 % (" in run_command("history", "--metric", "recall", "--format", "md").stdout.replace(" ", " ")
    assert run_command("history", "-o", "trend.html").exit_code == 0
    page = (folder / "trend.html").read_text()
    assert "<script>alert(1)" not in page and "&lt;script&gt;alert(1)" in page


def test_diff_takes_files_ids_and_tags(folder):
    ids = [*logged("old.json", "--tag", "model=v1"), *logged("new.json", "--tag", "model=v2")]
    by_file = run_command("diff", "old.json", "new.json", "--metric", "recall", "--format", "csv")
    assert by_file.exit_code == 0
    rows = pl.read_csv(by_file.stdout.encode())
    assert rows["difference"].item() == pytest.approx(12 / 51) and rows["a"].item() == "new"
    for words in (ids, [each[-8:] for each in ids], ["model=v1", "model=v2"]):
        again = pl.read_csv(run_command("diff", *words, "--metric", "recall", "--format", "csv").stdout.encode())
        assert again["p_holm"].to_list() == rows["p_holm"].to_list() and again["a"].item() == "model=v2"
    text = run_command("diff", "model=v1", "model=v2").stdout
    assert text.startswith("model=v2 against model=v1 on different rows, 5,606 in all")
    assert "Both are of 2,803 rows, 51 of them positive" in text
    assert (
        run_command("diff", *ids, "-o", "diff.html").exit_code == 0 and (folder / "diff.html").stat().st_size > 10_000
    )
    assert json.loads(run_command("diff", *ids, "--format", "json").stdout)["kind"] == "comparison"


def test_kept_rows_are_paired_by_ids_tags_and_entry_files(folder):
    words = ("preds.csv", "--true", "y", "--threshold", "0.5", "--metrics", "recall", "--keep-rows", "key")
    ids = [*logged(*words, "--score", "p", "--tag", "model=v1"), *logged(*words, "--score", "q", "--tag", "model=v2")]
    files = [folder / "steelyard-ledger" / f"{entry_id}.json" for entry_id in ids]
    texts = {run_command("diff", *pair, "--metric", "recall").stdout for pair in (ids, ["model=v1", "model=v2"], files)}
    (text,) = texts
    assert "on the same 300 rows" in text and "300 rows are in both, of 300 and 300" in text.replace("\n", " ")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("log", "old.json", "--tag", "model"), "--tag takes a name and a text, such as model=v3, not 'model'"),
        (("log", "old.json", "--tag", "a=1", "--tag", "a=2"), "--tag names 'a' twice"),
        (("log", "old.json", "--threshold", "0.5"), "is a saved evaluation, which is kept as it is"),
        (("log", "old.json", "preds.csv"), "Some of the files are saved evaluations and some are not"),
        (("log", "nothing.csv", "--true", "y", "--pred", "p"), "nothing.csv"),
        (("log",), "No input was named"),
        (("log", "--counts", "1,2,3,4", "--keep-rows", "key"), "--keep-rows reads the predictions twice"),
        (("log", "old.json", "--ledger", "old.json"), "cannot be made: File exists"),
        (("log", "old.json", "--ledger", ""), "A ledger is a folder, which '' does not name"),
        (("log", "old.json", "--ledger", "."), "'.' is no ledger: it holds other files"),
        (("history", "--ledger", "."), "'.' is no ledger: it holds other files"),
        (("diff", "a", "b", "--ledger", "."), "'.' is no ledger: it holds other files"),
        (("history",), "There is no ledger at 'steelyard-ledger'"),
        (("diff", "old.json", "nothing"), "'nothing' is no file, and there is no ledger at 'steelyard-ledger'"),
        (("diff", "old.json", "preds.csv"), "'preds.csv' holds no saved evaluation"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(words, sentence):
    assert sentence in refused(*words)
