"""Bad command lines: every option of every command with what it cannot be; exit code 2 and one sentence, or a result."""

from __future__ import annotations

import os
import subprocess
import sys

import click
import good_calls
import polars as pl
import pytest
from command_line import COMMANDS, command_named, run_command

BAD = ("", "nan", "-1", "1e400", "\ud800", "no such thing", "a\nb", "[", "9" * 40)
FILE = ("rows.csv", "--true", "y", "--pred", "p")
SCORED = ("rows.csv", "--true", "y", "--score", "s")
GOOD = {
    "report": FILE,
    "compare": ("rows.csv", "--true", "y", "--pred", "p", "--pred", "p2"),
    "threshold": SCORED,
    "calibration": SCORED,
    "groups": (*FILE, "--by", "site"),
    "errors": FILE,
    "slices": FILE,
    "shift": (*FILE, "--prevalence", "0.1"),
    "drift": (*FILE, "--period", "day"),
    "gate": (*FILE, "--require", "recall>=0.1"),
    "log": (*FILE, "--ledger", "kept"),
    "history": ("--ledger", "kept"),
    "watch": ("rows.csv", "--true", "y", "--pred", "p", "--require", "recall >= 0.1"),
    "plan": ("rows.csv", "--score", "s", "--budget", "20", "--metric", "precision", "--threshold", "0.5"),
    "tally": FILE,
    "sql": ("--table", "t", "--true", "y", "--pred", "p"),
    "metrics": (),
    "explain": ("recall",),
    "recommend": (),
    "audit": ("recall",),
    "plot": ("roc", *SCORED, "-o", "roc.svg"),
    "merge": ("saved.json", "saved.json"),
}
# Commands without a good line here, and why.
ELSEWHERE = {
    "unlabelled": "two files: tests/test_unlabelled.py",
    "diff": "two kept evaluations: tests/test_ledger_shell.py",
    "study": "runs for minutes: tests/test_own_data.py",
    "crossval": "fits models: tests/test_protocol.py",
    "resampling": "fits models: tests/test_resampling.py",
    "demo": "has no input: tests/test_cli.py",
    "completion": "prints a script: tests/test_cli.py",
}
PATHS = {"--output", "-o", "--state", "--page", "--json", "--ledger", "--save", "--keep-rows"}  # any name will do


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with rows, and faulty files."""
    monkeypatch.chdir(tmp_path)
    good_calls.FRAME.with_columns(p2=pl.Series(good_calls.P2)).write_csv("rows.csv")
    (tmp_path / "bad.jsonl").write_text('{"y": 1, "p": 1}\n{"y": 0, "p\n')
    (tmp_path / "cr.csv").write_bytes(b"y,p\r1,1\r0,0\r1,0\r")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "binary.csv").write_bytes(bytes(range(256)))
    (tmp_path / "folder.csv").mkdir()
    run_command("tally", *FILE, "-o", "saved.json")
    return tmp_path


def assert_answered(words):
    """A result, or one sentence and exit code 2; 1 and 3 are for gates and alarms alone."""
    ran = run_command(*words)
    assert ran.exception is None or isinstance(ran.exception, SystemExit), (words, ran.exception)
    assert ran.exit_code in ((0, 1, 2, 3) if words[0] in ("gate", "watch") else (0, 2)), (words, ran.output)
    assert "its fault" not in ran.stderr and "Traceback" not in ran.output, (words, ran.stderr)
    if ran.exit_code == 2:
        last = ran.stderr.strip().splitlines()[-1]
        assert last.startswith("steelyard: ") and last.endswith((".", "?", ")")), (words, ran.stderr)
    return ran


def test_every_command_is_tried_or_has_its_reason():
    assert set(GOOD) | set(ELSEWHERE) == set(COMMANDS)


@pytest.mark.parametrize("name", GOOD)
def test_bad_values_of_options_are_answered(folder, name):
    good = GOOD[name]
    for option in command_named(name).params:
        if isinstance(option, click.Option) and not option.is_flag and not set(option.opts) & PATHS:
            word = option.opts[-1]
            kept = list(good)
            while word in kept:
                place = kept.index(word)
                kept = kept[:place] + kept[place + 2 :]
            for bad in BAD:
                assert_answered([name, *kept, f"{word}={bad}" if word.startswith("--") else f"{word}{bad}"])


@pytest.mark.parametrize("file", ["missing.csv", "bad.jsonl", "cr.csv", "empty.csv", "binary.csv", "folder.csv", ""])
@pytest.mark.parametrize("name", [name for name in GOOD if "rows.csv" in GOOD[name]])
def test_bad_files_are_refused(folder, name, file):
    ran = assert_answered([name, *(file if word == "rows.csv" else word for word in GOOD[name])])
    assert ran.exit_code == 2


def test_lines_that_end_by_carriage_returns_alone_are_named(folder):
    assert "carriage return" in run_command("report", "cr.csv").stderr


def test_a_watched_file_that_cannot_be_read_is_named(folder):
    ran = run_command("watch", "bad.jsonl", "--true", "y", "--pred", "p", "--require", "recall >= 0.1")
    assert ran.exit_code == 2 and ran.stderr.startswith("steelyard: 'bad.jsonl' cannot be read")


@pytest.mark.parametrize(
    "option",
    [
        ("--true", "y"),
        ("--pred", "p"),
        ("--score", "s"),
        ("--threshold", "0.5"),
        ("--weight", "w"),
        ("--frequency", "w"),
        ("--by", "site"),
        ("--exact",),
        ("--pos-label", "1"),
    ],
    ids=lambda option: option[0],
)
def test_options_about_rows_are_refused_beside_counts(option):
    ran = run_command("report", "--counts", "28,23,72,2680", *option)
    assert ran.exit_code == 2 and "--counts has no rows for" in ran.stderr


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("report rows.csv --true y --pred p --min-count 5", "--min-count leaves out small groups, and there are none"),
        ("report --counts 10,2,3,400 --min-count 5", "--min-count leaves out small groups, and there are none here"),
        (
            "report rows.csv --true y --pred p --exact",
            "keeps every score, or bins of them, and these rows have labels alone",
        ),
        ("gate --counts 10,2,3,400 --require recall>=0.1 --skip-small", "leaves out groups, and there are none here"),
        ("gate --counts 10,2,3,400 --require recall>=0.1 --prove not-worse", "is about a gate without rules"),
        ("watch rows.csv --true y --pred p --require recall>=0.1 --batch-rows 10", "--batch-rows divides the standard"),
        (
            "watch rows.csv --true y --pred p --require recall>=0.1 --mature 3",
            "--mature waits for labels that come later",
        ),
    ],
)
def test_options_that_change_nothing_are_refused(folder, command, words):
    ran = run_command(*command.split())
    assert ran.exit_code == 2 and words in ran.stderr, ran.output


def test_a_folder_of_data_that_is_not_there_is_refused(folder):
    ran = run_command("study", "wu", "--data-dir", "nope")
    assert ran.exit_code == 2 and "--data-dir 'nope' is no folder" in ran.stderr


def test_a_margin_that_no_difference_reaches_is_refused(folder):
    ran = run_command("resampling", "--data", "rows.csv", "--target", "y", "--margin", "5")
    assert ran.exit_code == 2 and "every gain none" in ran.stderr


@pytest.mark.parametrize(
    ("file", "setting", "words"),
    [
        ("rows.csv", {"POLARS_MAX_THREADS": "0"}, "unset POLARS_MAX_THREADS=0"),
        ("rows.csv", {"POLARS_MAX_THREADS": "+00"}, "unset POLARS_MAX_THREADS=+00"),
        pytest.param(
            "/proc/self/mem",
            {},
            "Input/output error",
            marks=pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="Linux alone has it"),  # noqa: PTH110
        ),
    ],
)
def test_faults_of_the_environment_are_a_sentence_and_exit_code_2(folder, file, setting, words):
    ran = subprocess.run(
        [sys.executable, "-m", "steelyard", "report", file, "--true", "y", "--pred", "p"],
        capture_output=True, text=True, check=False, env={**os.environ, **setting},
    )  # fmt: skip
    assert ran.returncode == 2 and words in ran.stderr and "standard output" not in ran.stderr, ran.stderr
    assert ran.stderr.startswith("steelyard: ") and ran.stderr.count("\n") == 1, ran.stderr
