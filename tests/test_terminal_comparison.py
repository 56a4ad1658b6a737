"""A comparison in the terminal: the headline first, a leaderboard that fits any width, brackets, then the differences."""

from __future__ import annotations

import re

import numpy as np
import pytest

from steelyard import Counts, compare
from steelyard.analysis.results.formatting import text_width
from steelyard.report.terminal.comparison_text import comparison_summary
from steelyard.report.terminal.letters import encodable

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


def shown(count, **options):
    models = dict(list(SCORES.items())[:count])
    comparison = compare(Y, models, scores=True, threshold=1.2, draws=200, **options)
    return comparison, comparison_summary(comparison, [])


@pytest.mark.parametrize("columns", [60, 80, 100, 120])
@pytest.mark.parametrize("count", [2, 3, 6])
def test_every_line_fits_and_no_number_is_cut(monkeypatch, columns, count):
    monkeypatch.setenv("COLUMNS", str(columns))
    _, text = shown(count)
    lines = STYLE.sub("", text).splitlines()
    assert max(map(text_width, lines)) <= columns
    assert not re.search(r"\d…", text)
    assert not re.search("[\u202a-\u202e\x00-\x09\x0b-\x1a\x1c-\x1f]", text)
    assert "\x1b[31m" not in text


def test_the_headline_comes_first_and_names_both_sides():
    comparison, text = shown(2)
    lines = text.split("\n\n")
    assert lines[0] == "logistic against boosting on the same 1,500 rows"
    assert lines[1].startswith("\x1b[1mboosting and logistic are not distinguishable by AC-score: ")
    assert comparison.leaderboard().headline.split(":")[0] in STYLE.sub("", lines[1])


def test_the_brackets_are_those_of_the_leaderboard(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    comparison, text = shown(6)
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


def test_a_bar_spans_the_interval_of_its_model(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    _, text = shown(3)
    bars = [line for line in STYLE.sub("", text).splitlines() if "●" in line]
    assert len(bars) == 3
    assert all(re.search("━*●━*", line) for line in bars)
    assert bars[0].index("●") > bars[-1].index("●")


def test_many_models_show_the_leader_by_every_metric_and_the_differences_from_it():
    comparison, text = shown(6)
    plain = STYLE.sub("", text)
    for spec in comparison.tables.specs:
        assert re.search(rf"^{spec.name} ", plain, re.MULTILINE)
    assert "minus each other model by ac_score; p_holm of all 15 pairs" in plain
    assert "McNemar" not in plain


def test_models_of_different_rows_are_ranked_too():
    text = comparison_summary(
        compare({"old": Counts(28, 23, 72, 2680), "new": Counts(41, 12, 95, 2510)}, draws=200), []
    )
    assert text.startswith("old against new on different rows, 5,461 in all\n\n\x1b[1mnew ")


def test_brackets_stand_in_a_plain_encoding_too():
    _, text = shown(6)
    plain = encodable(STYLE.sub("", text), "ascii")
    assert re.search(r"^1  .* a +\+", plain, re.MULTILINE)
    assert not re.search("[┐┤┘│●━]", plain)
