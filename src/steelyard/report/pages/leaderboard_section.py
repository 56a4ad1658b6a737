"""Leaderboard section: the models of a comparison by each metric, with bars for intervals and lines for brackets."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from steelyard.analysis.comparison.leaderboard import leaderboard_sentences, letters_note
from steelyard.analysis.results.formatting import interval_text, unbroken, value_text
from steelyard.report.pages.compared_marks import statements_html
from steelyard.report.pages.page_numbers import exact_digits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard.analysis.comparison.leaderboard import Leaderboard, RankedModel, RankedValue
    from steelyard.report.pages.compared_marks import ModelMark

_STEPS = (1, 2, 2.5, 5, 10)
_MOST_DOTS = 60
_RISES = (0, -5, 5, -2.5, 2.5)  # pixels


def board_context(
    board: Leaderboard, marks: Mapping[str, ModelMark], runs: Mapping[str, Sequence[float]] | None = None
) -> dict[str, Any]:
    """One leaderboard as its template shows it; `runs` are the values of each model that its mean is of."""
    of_runs = runs or {}
    ends = round_ends([*_numbers(board), *(value for values in of_runs.values() for value in values)])
    joined = [bracket for bracket in board.brackets if len(bracket) > 1]
    order = [row.model for row in board]
    headline, *others = statements_html(leaderboard_sentences(board))
    return {
        "name": board.metric,
        "title": board.spec.title,
        "head": board.spec.title if board.runs is None else f"mean {board.spec.title}",
        "headline": headline,
        "others": others,
        "ends": [value_text(end, share=board.spec.is_share) for end in ends],
        "rows": [
            _row(board, row, marks, ends, _lines(row.model, order, joined))
            | {"dots": run_dots(of_runs.get(row.model, ()), ends)}
            for row in board
        ],
        "tested": board.has_letters,
        "brackets": len(joined),
        "note": _note(board),
    }


def _note(board: Leaderboard) -> str:
    """What the brackets say."""
    pairs, better = len(board.pairs), "Higher" if board.spec.sign > 0 else "Lower"
    dots = "" if board.runs is None else f" Each small dot is one of {board.runs} runs."
    over = "" if pairs == 1 else f", Holm over {pairs} pairs"
    note = letters_note(board, board.spec.title, over, joined=", joined by a line,")
    return f"{better} is better.{dots} {note} Bars: {100 * board.level:g} % intervals."


def _numbers(board: Leaderboard) -> list[float]:
    return [end for row in board for end in (row.value, row.low, row.high)]


def round_ends(numbers: Sequence[float]) -> tuple[float, float]:
    """Round numbers around all that are defined."""
    finite = [number for number in numbers if math.isfinite(number)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    raw = (high - low or abs(high) or 1.0) / 8
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(k * size for k in _STEPS if k * size >= raw * (1 - 1e-9))
    return math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step


def run_dots(values: Sequence[float], ends: tuple[float, float]) -> list[dict[str, object]]:
    """Where each run lies across the cell; neighbours stand a little higher or lower, so that none hides another."""
    finite = [value for value in values if math.isfinite(value)][:_MOST_DOTS]
    return [{"x": across(value, ends), "y": 12 + _RISES[i % len(_RISES)]} for i, value in enumerate(finite)]


def across(value: float, ends: tuple[float, float]) -> str:
    """The place of a value between two ends, in percent."""
    low, high = ends
    return f"{100 * min(1.0, max(0.0, (value - low) / ((high - low) or 1.0))):.2f}%"


def _row(
    board: Leaderboard,
    row: RankedModel,
    marks: Mapping[str, ModelMark],
    ends: tuple[float, float],
    lines: Sequence[Mapping[str, object]],
) -> dict[str, Any]:
    share = board.spec.is_share
    return {
        "place": row.place,
        "mark": marks[row.model],
        "exact": exact_digits(row.value),
        "value": unbroken(value_text(row.value, share=share)),
        "between": _between(row, share=share),
        "bar": value_bar(row, ends),
        "letters": row.letters,
        "lines": lines,
    }


def _between(row: RankedModel, *, share: bool) -> str:
    if math.isnan(row.low):
        return row.why or "no interval"
    return unbroken(interval_text(row.value, row.low, row.high, share=share).partition("(")[2].removesuffix(")"))


def value_bar(row: RankedValue, ends: tuple[float, float]) -> dict[str, str] | None:
    """Where the interval and the value lie across the cell."""
    if math.isnan(row.value):
        return None
    if math.isnan(row.low):
        return {"value": across(row.value, ends)}
    width = 100 * (row.high - row.low) / ((ends[1] - ends[0]) or 1.0)
    return {
        "value": across(row.value, ends),
        "low": across(row.low, ends),
        "width": f"{max(width, 0.2):.2f}%",
    }


def _lines(model: str, order: Sequence[str], joined: Sequence[Sequence[str]]) -> list[dict[str, object]]:
    """The piece of each bracket in the model's row: from where to where it runs, and whether the model is in it."""
    place, pieces = order.index(model), []
    for i, bracket in enumerate(joined):
        first, last = order.index(bracket[0]), order.index(bracket[-1])
        if first <= place <= last:
            top, bottom = ("50%" if place == first else "0%"), ("50%" if place == last else "100%")
            pieces.append({"x": 8 + 12 * i, "top": top, "bottom": bottom, "inside": model in bracket})
    return pieces
