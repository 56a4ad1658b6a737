"""Score robustness: the two tests of `robustness` for metrics of scores, such as the area under the ROC curve."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.prevalence.prevalence import scores_at
from steelyard.auditing.robustness_result import TOLERANCE, Robustness
from steelyard.auditing.score_counterexamples import swapped_scores
from steelyard.exceptions import InputError
from steelyard.metrics.registry import get_metric

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from steelyard._types import Array
    from steelyard.metrics.registry import MetricLike
    from steelyard.statistics.score_table import ScoreTable


def score_robustness(
    scores: Mapping[str, ScoreTable],
    swapped: Mapping[str, ScoreTable] | None = None,
    *,
    metrics: Iterable[MetricLike] = ("roc_auc",),
    prevalence: float | Sequence[float] | Array = 0.5,
    tolerance: float = TOLERANCE,
) -> Robustness:
    """How far metrics of scores move when the test set is balanced, by weights, and when the labels are swapped.

    `swapped` holds the scores of models refitted on swapped labels, for the class that is positive then; without it
    they are the same scores, negated, or of probabilities the complements.

    >>> from steelyard import score_table
    >>> table = {"model": score_table([0, 0, 0, 1], [0.1, 0.4, 0.6, 0.5])}
    >>> other = {"model": score_table([1, 1, 1, 0], [0.9, 0.6, 0.4, 0.5])}
    >>> score_robustness(table, other).winners
    ['roc_auc']
    """
    others = {name: swapped_scores(table) for name, table in scores.items()} if swapped is None else swapped
    if list(scores) != list(others):
        raise InputError("swapped= needs the models of the scores, in their order.")
    chosen, at = [get_metric(name) for name in metrics], np.atleast_1d(prevalence)
    values, other = (
        np.array([[float(metric(table)) for metric in chosen] for table in tables])
        for tables in (scores.values(), others.values())
    )
    balanced = [
        [[float(metric(scores_at(table, share))) for metric in chosen] for share in at] for table in scores.values()
    ]
    no_draws = np.full((4, len(scores), len(at), len(chosen)), np.nan)
    return Robustness(
        tuple(m.name for m in chosen),
        tuple(scores),
        tuple(map(float, at)),
        values,
        np.array(balanced),
        no_draws,
        other,
        tolerance,
        0,
    )
