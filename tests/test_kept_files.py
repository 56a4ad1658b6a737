"""Every command that writes keeps what exists unless --force: all of them, found from the commands' own options."""

from __future__ import annotations

import click
import numpy as np
import polars as pl
import pytest
from command_line import COMMANDS, command_named, run_command

from steelyard import Counts, Ledger, evaluate

RNG = np.random.default_rng(4)
Y = (RNG.random(300) < 0.3).astype(int)
FRAME = pl.DataFrame(
    {"y": Y, "p": 0.3 * Y + 0.6 * RNG.random(300), "q": 0.4 * Y + 0.5 * RNG.random(300), "site": ["a", "b", "c"] * 100}
)
FILE = ("preds.csv", "--true", "y", "--score", "p")
CUT = (*FILE, "--threshold", "0.5")
TABLE = ("preds.csv", "--target", "y")
PAGES = {"--output": "out.html"}
JSON = {"--output": "out.json"}
WRITERS = {  # what each command that writes is given, and a name for each option that names an output
    "report": (FILE, PAGES),
    "compare": ((*FILE, "--score", "q"), PAGES),
    "threshold": ((*FILE, "--metric", "f1"), JSON),
    "calibration": (FILE, JSON),
    "groups": ((*CUT, "--by", "site"), JSON),
    "errors": (CUT, {"--output": "out.csv"}),
    "slices": ((*CUT, "--features", "site"), JSON),
    "shift": (("--counts", "28,23,72,2680", "--prevalence", "0.1"), JSON),
    "drift": ((*CUT, "--period", "site"), JSON),
    "unlabelled": (("preds.csv", "--score", "p", "--reference", "saved.json"), JSON),
    "gate": (("--counts", "28,23,72,2680", "--require", "recall>=0.1"), JSON),
    "history": (("--ledger", "ledger"), PAGES),
    "diff": (("old.json", "old.json"), PAGES),
    "plan": (("preds.csv", "--score", "p", "--budget", "50", "--metric", "f1"), {"--output": "out.csv"}),
    "watch": ((*CUT, "--require", "recall >= 0.1"), {"--page": "out.html", "--json": "out.json"}),
    "tally": (FILE, JSON),
    "sql": (("--table", "t", "--true", "y", "--pred", "p"), {"--output": "out.sql"}),
    "merge": (("saved.json",), JSON),
    "plot": (("roc", *FILE), {"--output": "out.svg"}),
    "crossval": ((*TABLE, "--split", "2"), JSON),
    "resampling": (("--data", *TABLE, "--folds", "2", "--repeats", "1"), JSON),
    "study": (("garcia", "--quick"), {"--output": "folder/study.json"}),
    "audit": (("mcc",), {"--output": "out.md"}),
    "recommend": ((), JSON),
    "demo": ((), {"--output": ("folder/report.html", "folder/comparison.html", "folder/predictions.parquet")}),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of one's own with predictions, reports, tallies and a ledger."""
    monkeypatch.chdir(tmp_path)
    evaluation = evaluate(Counts(tp=28, fn=23, fp=72, tn=2680))
    (tmp_path / "old.json").write_text(evaluation.to_json())
    Ledger("ledger").log(evaluation)
    FRAME.write_csv("preds.csv")
    assert run_command("tally", *FILE, "-o", "saved.json").exit_code == 0
    (tmp_path / "folder").mkdir()
    return tmp_path


def outputs(name):
    """The options of a command that name what it writes."""
    return {
        option.opts[-1]
        for option in command_named(name).params
        if isinstance(option, click.Option)
        and not option.is_flag
        and ("-o" in option.opts or "write" in str(option.help).lower().split(" ")[:1] or "OUT" in str(option.metavar))
    }


def test_every_command_that_writes_is_tried_here():
    found = {name: outputs(name) for name in COMMANDS}
    assert {name: options for name, options in found.items() if options} == {
        name: set(options) for name, (_, options) in WRITERS.items()
    }
    for name in WRITERS:
        assert "--force" in {option.opts[-1] for option in command_named(name).params}, name


@pytest.mark.parametrize(
    ("name", "option", "there"),
    [
        (name, option, there)
        for name, (_, options) in WRITERS.items()
        for option, named in options.items()
        for there in ([named] if isinstance(named, str) else named)
    ],
)
def test_what_exists_is_kept_unless_it_is_forced(folder, name, option, there):
    (folder / there).write_text("precious")
    words = (name, *WRITERS[name][0], option, there.partition("/")[0])
    before = sorted(path.name for path in folder.rglob("*"))
    ran = run_command(*words)
    assert ran.exit_code == 2 and len(ran.stderr.splitlines()) == 1 and not ran.stdout
    assert "exists and was kept; give another name, or --force" in ran.stderr
    assert (folder / there).read_text() == "precious" and sorted(path.name for path in folder.rglob("*")) == before
    forced = run_command(*words, "--force")
    assert forced.exit_code == 0, forced.stderr
    assert (folder / there).read_bytes() != b"precious"
