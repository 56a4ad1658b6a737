"""Intervals of an AUC: by DeLong's variance, and Newcombe's score interval.

Newcombe (2006), Statistics in Medicine 25, 559-573.
"""

from __future__ import annotations

from math import atanh, isinf, isnan, sqrt, tanh
from typing import TYPE_CHECKING, Any

from steelyard.analysis.distributions import normal_reach, student_reach
from steelyard.analysis.intervals.delong_variance import delong_variance
from steelyard.analysis.intervals.influence_spread import ClassInfluence, class_spread
from steelyard.analysis.intervals.score_influence import score_influence
from steelyard.metrics.discrimination import gini
from steelyard.metrics.ranking import roc_auc

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from steelyard.metrics.metric import Metric
    from steelyard.statistics.score_table import ScoreTable

HALVINGS = 60  # of an interval within [0, 1]: below the spacing of floats near 1
NEGLIGIBLE = 1e-12  # an AUC this near to 0 or 1, or a standard error this small, is one but for rounding


def is_whole_auc(metric: Metric, parameters: Mapping[str, Any]) -> bool:
    """Whether the metric is the area under the whole ROC curve, which these intervals are of."""
    return metric.is_rank_probability and parameters.get("max_fpr") is None


def has_auc_interval(metric: Metric, parameters: Mapping[str, Any]) -> bool:
    """Whether an interval of the area is one of the metric: of the area itself, or of twice the area less one."""
    return is_whole_auc(metric, parameters) or metric.scores is gini.scores


def auc_ends(metric: Metric, table: ScoreTable, method: str, level: float) -> tuple[float, float]:
    """The ends of the area's interval on the metric's own scale."""
    low, high = AUC_INTERVALS[method](table, level)
    return (2 * low - 1, 2 * high - 1) if metric.scores is gini.scores else (low, high)


def delong(table: ScoreTable, level: float = 0.95) -> tuple[float, float]:
    """The AUC plus or minus its DeLong error, clipped at 0 and 1: too narrow near them and with few positives."""
    auc = _auc(table)
    if isnan(auc):
        return auc, auc
    reach = normal_reach(level) * sqrt(delong_variance(table))
    return max(auc - reach, 0.0), min(auc + reach, 1.0)


def logit_delong(table: ScoreTable, level: float = 0.95) -> tuple[float, float]:
    """DeLong's interval on the scale of the logit; the score interval where the AUC is 0 or 1 or shows no spread."""
    auc, error = _auc(table), sqrt(delong_variance(table))
    if isnan(auc):
        return auc, auc
    if isinf(error):
        return 0.0, 1.0
    spread = auc * (1 - auc)
    if min(spread, error) < NEGLIGIBLE:
        return score_interval(table, level)
    return _from_logit(auc, normal_reach(level) * error / spread)


def _from_logit(auc: float, reach: float) -> tuple[float, float]:
    """The AUCs whose logits lie so far below and above."""
    half = atanh(2 * auc - 1)  # half the logit, and tanh its way back, which no reach overflows
    return min((1 + tanh(half - reach / 2)) / 2, auc), max((1 + tanh(half + reach / 2)) / 2, auc)


def score_interval(table: ScoreTable, level: float = 0.95) -> tuple[float, float]:
    """Every AUC from which the one seen is no further than its own error allows (Newcombe's method 5).

    >>> from steelyard import score_table
    >>> low, high = score_interval(score_table([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]))
    >>> print(f"{low:.4f} {high:.4f}")
    0.2272 0.9668
    """
    auc = _auc(table)
    if isnan(auc):
        return auc, auc
    return _score_ends(table, auc, normal_reach(level))


def widened_score_interval(table: ScoreTable, level: float = 0.95) -> tuple[float, float]:
    """The score interval, widened where DeLong's variance exceeds the one it assumes; never narrower.

    Hanley and McNeil's variance holds for classes that spread alike. Where 30 positives spread twice or three times
    as wide as 300 negatives (AUC 0.7 to 0.96, 4,000 repeats), Newcombe's 95 % interval covers 84 to 92 %, DeLong's
    76 to 94 % and this one 93 to 97 %.
    """
    auc, estimated = _auc(table), delong_variance(table)
    if isnan(auc):
        return auc, auc
    assumed = score_variance(auc, table.positive.effective_size, table.negative.effective_size)
    excess = estimated / assumed if assumed and not isinf(estimated) else 1.0
    reach = max(normal_reach(level) * sqrt(max(excess, 1.0)), _weighted_reach(table, level) * sqrt(excess))
    return _score_ends(table, auc, reach)


def _weighted_reach(table: ScoreTable, level: float) -> float:
    """Student's reach where rows have weights that differ, which few of them may determine; 0 of others."""
    differ = any(side.effective_size < side.n * (1 - NEGLIGIBLE) for side in table.classes)
    influence = score_influence(roc_auc, table, {}) if differ else None
    if influence is None:
        return 0.0
    sides = (side.compact() for side in table.classes)
    columns = (
        (each, side.weights.astype(float), side.squares.astype(float))
        for each, side in zip(influence, sides, strict=True)
    )
    spread = class_spread(*(ClassInfluence(*column) for column in columns))
    return student_reach(level, max(spread.degrees, 1.0))


AUC_INTERVALS: dict[str, Callable[[ScoreTable, float], tuple[float, float]]] = {
    "score": widened_score_interval,
    "delong": delong,
    "logit-delong": logit_delong,
}


def auc_score_ends(auc: float, z: float, positives: float, negatives: float) -> tuple[float, float]:
    """The ends of the score interval of an AUC of so many positives and negatives."""
    return _furthest(auc, 0.0, z, positives, negatives), _furthest(auc, 1.0, z, positives, negatives)


def _score_ends(table: ScoreTable, auc: float, z: float) -> tuple[float, float]:
    return auc_score_ends(auc, z, table.positive.effective_size, table.negative.effective_size)


def score_variance(auc: float, positives: float, negatives: float) -> float:
    """Hanley and McNeil's variance of an AUC with both sizes of its bracket at their mean, as Newcombe proposes.

    >>> score_variance(0.5, 1, 1)
    0.25
    """
    rest = (positives + negatives) / 2 - 1
    bracket = 1 + rest * ((1 - auc) / (2 - auc) + auc / (1 + auc))
    return auc * (1 - auc) * bracket / (positives * negatives)


def _furthest(auc: float, end: float, z: float, positives: float, negatives: float) -> float:
    """The furthest AUC towards 0 or 1 that the score interval holds, by bisection: at 0 and 1 a root hides another."""
    inside, outside = auc, end
    for _ in range(HALVINGS):
        middle = (inside + outside) / 2
        is_inside = abs(auc - middle) <= z * sqrt(score_variance(middle, positives, negatives))
        inside, outside = (middle, outside) if is_inside else (inside, middle)
    return inside


def _auc(table: ScoreTable) -> float:
    """The AUC, never outside its range by rounding; NaN with its reason where a class is missing."""
    auc: float = roc_auc(table)
    return auc if isnan(auc) else min(max(float(auc), 0.0), 1.0)
