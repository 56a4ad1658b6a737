"""Score robustness: the two tests of `robustness` for metrics of scores, such as the area under the ROC curve."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.prevalence import scores_at
from steelyard.auditing.robustness import TOLERANCE
from steelyard.auditing.robustness_result import Robustness
from steelyard.errors import InputError
from steelyard.metrics.registry import get_metric

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from steelyard.metrics.registry import MetricLike
    from steelyard.statistics.score_table import ScoreTable


def score_robustness(
    scores: Mapping[str, ScoreTable],
    swapped: Mapping[str, ScoreTable],
    *,
    metrics: Iterable[MetricLike] = ("roc_auc",),
    prevalence: float = 0.5,
    tolerance: float = TOLERANCE,
) -> Robustness:
    """How far metrics of scores move when the test set is balanced, by weights, and when the labels are swapped.

    `swapped` holds the scores of models refitted on swapped labels, for the class that is positive then.

    >>> from steelyard import score_table
    >>> table = {"model": score_table([0, 0, 0, 1], [0.1, 0.4, 0.6, 0.5])}
    >>> other = {"model": score_table([1, 1, 1, 0], [0.9, 0.6, 0.4, 0.5])}
    >>> score_robustness(table, other).winners
    ['roc_auc']
    """
    if list(scores) != list(swapped):
        raise InputError("swapped= needs the models of the scores, in their order.")
    chosen = [get_metric(name) for name in metrics]
    even = [scores_at(table, prevalence) for table in scores.values()]
    values, balanced, other = (
        np.array([[float(metric(table)) for metric in chosen] for table in tables])
        for tables in (scores.values(), even, swapped.values())
    )
    no_draws = np.full((4, len(scores), 1, len(chosen)), np.nan)
    return Robustness(
        tuple(m.name for m in chosen),
        tuple(scores),
        (float(prevalence),),
        values,
        balanced[:, None],
        no_draws,
        other,
        tolerance,
        0,
    )
