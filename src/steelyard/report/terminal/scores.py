"""The scores on a terminal: a row of bars for either class on one axis, the threshold a line through both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.results.formatting import terminal_width, three_digits
from steelyard.evaluation.score_dots import score_dots, score_range, stacked_dots
from steelyard.report.terminal.layout import coloured

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.evaluation.evaluation import Evaluation

_BARS = "▁▂▃▄▅▆▇█"
_NAMES = ("positives", "negatives")
_MOST_CELLS, _LEAST_CELLS = 60, 24


def scores_text(evaluation: Evaluation) -> str:
    """The scores of a thousand rows, those flagged in colour; nothing where there are none or no threshold."""
    table, threshold = getattr(evaluation, "scores", None), evaluation.threshold  # which label sets have not
    cells = min(_MOST_CELLS, terminal_width() - len(_NAMES[0]) - 3)
    if table is None or threshold is None or not np.isfinite(threshold) or cells < _LEAST_CELLS:
        return ""
    low, high = score_range(table)
    if not low < threshold < high:
        return ""
    below = min(max(round((threshold - low) / (high - low) * cells), 1), cells - 1)
    edges = np.concatenate(
        [np.linspace(low, threshold, below + 1), np.linspace(threshold, high, cells - below + 1)[1:]]
    )
    dots = score_dots(table, threshold, evaluation.prevalence)
    lines = [
        _row(name, scores, edges, below) for name, scores in zip(_NAMES, (dots.positives, dots.negatives), strict=True)
    ]
    return "\n".join([*lines, _axis(low, threshold, high, below, cells)])


def _row(name: str, scores: Array, edges: Array, below: int) -> str:
    """A class: of each cell how many rows, beside the fullest cell of the class; a row is never shown as none."""
    columns, _ = stacked_dots(scores, edges)
    counts = np.bincount(columns, minlength=len(edges) - 1)
    levels = np.ceil(counts / max(counts.max(), 1) * len(_BARS)).astype(int)
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
    return " " * (len(_NAMES[0]) + 2) + "".join(line).rstrip()
