"""The scores on a terminal: a row of bars for either class on one axis, the threshold a line through both."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.results.formatting import filled, percent_text, terminal_width, three_digits
from steelyard.evaluation.score_dots import ScoreAxis, bin_shares
from steelyard.report.terminal.layout import coloured

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.evaluation.evaluation import Evaluation

_BARS = "▁▂▃▄▅▆▇█"
_NAMES = ("positives", "negatives")
_INDENT = " " * (len(_NAMES[0]) + 2)
_MOST_CELLS, _LEAST_CELLS = 60, 24


def scores_text(evaluation: Evaluation) -> str:
    """The scores of either class, those flagged in colour; nothing where there are none or no threshold."""
    table, threshold = getattr(evaluation, "scores", None), evaluation.threshold  # which label sets have not
    cells = min(_MOST_CELLS, terminal_width() - len(_NAMES[0]) - 3)
    if table is None or threshold is None or not np.isfinite(threshold) or cells < _LEAST_CELLS:
        return ""
    share = table.positive.total / table.total
    axis = ScoreAxis.of(table, float(share), threshold)
    if not axis.low < threshold < axis.high:
        return ""
    whole, part = (
        float(replace(axis, high=end).widths(np.array([axis.low, end]))[0]) for end in (axis.high, threshold)
    )
    below = min(max(round(part / whole * cells), 1), cells - 1)
    edges = np.r_[
        replace(axis, high=threshold).edges(below)[:-1],
        threshold,
        replace(axis, low=threshold).edges(cells - below)[1:],
    ]
    shares = [bin_shares(side, edges) for side in table.classes]
    fullest = ", ".join(
        f"{percent_text(float(each.max()))} of {name}" for name, each in zip(_NAMES, shares, strict=True)
    )
    scale = f"fullest bars: {fullest}{'; axis in log-odds' if axis.is_logit else ''}"
    lines = [_row(name, each, below) for name, each in zip(_NAMES, shares, strict=True)]
    return "\n".join([*lines, _axis(axis.low, threshold, axis.high, below, cells), filled(scale, _INDENT)])


def _row(name: str, shares: Array, below: int) -> str:
    """A class: the share in each cell, beside its fullest cell; a row is never shown as none."""
    levels = np.ceil(shares / (shares.max() or 1.0) * len(_BARS)).astype(int)
    cells = "".join(_BARS[level - 1] if level else " " for level in levels)
    return f"{name}  {cells[:below]}│{coloured(cells[below:].rstrip())}"


def _axis(low: float, threshold: float, high: float, below: int, cells: int) -> str:
    """The lowest score, the threshold below its line, and the highest score, as far as they have room."""
    line = list(" " * (cells + 1))
    first, middle, last = (three_digits(value) for value in (low, threshold, high))
    words = f"threshold {middle}"
    start = min(max(below - len(words) // 2, 0), cells + 1 - len(words))
    line[start : start + len(words)] = words
    if start > len(first):
        line[: len(first)] = first
    if start + len(words) < cells + 1 - len(last):
        line[cells + 1 - len(last) :] = last
    return _INDENT + "".join(line).rstrip()
