"""A comparison in the terminal: the headline first, a leaderboard that fits any width, brackets, then the differences."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from command_line import run_command
from text_tools import text_width

from steelyard import Counts, compare, evaluate

STYLE = re.compile(r"\x1b\[[\d;]*m")
RNG = np.random.default_rng(7)
Y = (RNG.random(1_500) < 0.15).astype(int)
COMMON = RNG.normal(size=1_500)
NAMES = (
    "logistic",
    "boosting",
    "forest \u202eevil",
    "\U0001f9ea" * 400,
    "a name of far more than 24 letters",
    "x\x1b[31my",
)
SCORES = {
    name: 0.6 * COMMON + 0.8 * RNG.normal(size=1_500) + shift * Y
    for name, shift in zip(NAMES, (2.4, 2.3, 1.6, 1.5, 0.4, 0.3), strict=True)
}


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "rows.parquet"
    pl.DataFrame({"y": Y, **SCORES}).write_parquet(path)
    return path


def words(rows, count):
    return [
        "compare",
        rows,
        "--true",
        "y",
        "--threshold",
        1.2,
        *(w for name in NAMES[:count] for w in ("--score", name)),
    ]


def compared(count):
    return compare(Y, y_score=dict(list(SCORES.items())[:count]), threshold=1.2)


def shown(rows, count, columns=100):
    return run_command(*words(rows, count), code=0, columns=columns, color=True).stdout


@pytest.mark.parametrize("columns", [60, 80, 100, 120])
@pytest.mark.parametrize("count", [2, 3, 6])
def test_every_line_fits_and_no_number_is_cut(rows, columns, count):
    text = shown(rows, count, columns)
    lines = STYLE.sub("", text).splitlines()
    assert max(map(text_width, lines)) <= columns
    assert not re.search(r"\d…", text)
    assert not re.search("[\u202a-\u202e\x00-\x09\x0b-\x1a\x1c-\x1f]", text)
    assert "\x1b[31m" not in text


def test_the_verdict_comes_first_and_ends_in_a_decision(rows):
    comparison, text = compared(2), shown(rows, 2)
    lines = text.split("\n\n")
    assert lines[0] == "logistic against boosting on the same 1,500 rows"
    assert lines[1].startswith(
        "\x1b[1mAt 154 alerts of 1,000 rows logistic finds 121 of 154 positives and boosting 111: "
    )
    assert "\n\x1b[1mChoose logistic for alerts" in lines[1]
    assert STYLE.sub("", lines[1]).split() == " ".join(comparison.verdict).split()


def test_the_brackets_are_those_of_the_leaderboard(rows):
    comparison, text = compared(6), shown(rows, 6)
    board = comparison.leaderboard()
    lines = [line for line in STYLE.sub("", text).splitlines() if re.match(r" ?\d  ", line)]
    assert len(lines) == 6
    joined = [bracket for bracket in board.brackets if len(bracket) > 1]
    assert joined
    drawn = [re.search(r"([a-f]+) *([┐┤│┘ ]*)$", line) for line in lines]
    assert [found[1] for found in drawn] == [row.letters for row in board]
    for row, found in zip(board, drawn, strict=True):
        inside = sum(row.model in bracket for bracket in joined)
        assert len(re.findall("[┐┤┘]", found[2])) == inside


def test_a_bar_spans_the_interval_of_its_model(rows):
    text = shown(rows, 3)
    bars = [line for line in STYLE.sub("", text).splitlines() if "●" in line]
    assert len(bars) == 3
    assert all(re.search("━*●━*", line) for line in bars)
    assert bars[0].index("●") > bars[-1].index("●")


def test_many_models_show_the_leader_by_every_metric_and_the_differences_from_it(rows):
    comparison, text = compared(6), shown(rows, 6)
    plain = STYLE.sub("", text)
    for spec in comparison.tables.specs:
        assert re.search(rf"^{spec.name} ", plain, re.MULTILINE)
    assert "minus each other model by average_precision; p_holm of all 15 pairs" in plain
    assert "McNemar" not in plain


def test_models_of_different_rows_are_ranked_too(tmp_path):
    for name, counts in (("old", Counts(28, 23, 72, 2680)), ("new", Counts(41, 12, 95, 2510))):
        (tmp_path / f"{name}.json").write_text(evaluate(counts).to_json(), encoding="utf-8")
    text = run_command("compare", tmp_path / "old.json", tmp_path / "new.json", code=0, color=True).stdout
    assert re.match(
        r"old(\.json)? against new(\.json)? on different rows, 5,461 in all\n\n\x1b\[1mIn 1,000 rows new", text
    )


def test_brackets_stand_in_a_plain_encoding_too(rows):
    command = [sys.executable, "-m", "steelyard", *map(str, words(rows, 4))]
    settings = {**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "100"}
    ran = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True, env=settings)
    plain = STYLE.sub("", ran.stdout)
    assert re.search(r"^1  .* a +\+", plain, re.MULTILINE)
    assert not re.search("[┐┤┘│●━]", plain)
