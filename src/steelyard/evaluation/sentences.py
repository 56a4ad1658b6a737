"""Sentences: what the verdicts of any number of classes say in the same words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from steelyard.analysis.formatting import SMALLEST_P, p_text, percent_interval

if TYPE_CHECKING:
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.evaluation.metric_row import MetricRow

FAR, SURE = 0.2, 1e-4  # informedness and p from which a classifier is far better than guessing


def sure(row: MetricRow) -> str:
    """A share with its interval."""
    return percent_interval(row.value, row.low, row.high)


def against_guessing(evaluation: Evaluation) -> str:
    """Whether it is better than guessing, as the end of a sentence."""
    test = evaluation.beats
    if test is None or math.isnan(test.p_value):
        return ""
    p, edge = test.p_value, evaluation["informedness"]
    if edge.high < 0:
        return ", worse than guessing: check which class, or which direction of the scores, is the positive one"
    if p >= 1 - evaluation.level:
        return f", not shown to be better than guessing ({_p(p)})"
    return f", {'far ' if edge.low > FAR and p < SURE else ''}better than guessing ({_p(p)})"


def _p(p: float) -> str:
    if p < SMALLEST_P:
        return p_text(p)
    return f"p = {p:.1e}" if p < 1e-3 else f"p = {p:.2g}"
