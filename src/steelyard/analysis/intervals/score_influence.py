"""Score influence: how much a metric of scores changes for each unit of weight that is added to a row.

The metrics are functions of the weight of both classes at or above each threshold, so a row's influence is the sum of
their derivatives over the thresholds that flag it: one running sum, whatever the number of rows. The delta method
after Hampel (1974), Journal of the American Statistical Association 69, 383-393.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steelyard.analysis.intervals.calibration_influence import CALIBRATION_INFLUENCES, Influence
from steelyard.metrics import discrimination, ordinal, ranking
from steelyard.metrics.catalogue import weighted_auc
from steelyard.metrics.score_values import score_values
from steelyard.statistics.class_scores import starting_at_zero
from steelyard.statistics.merged_classes import MergedClasses
from steelyard.statistics.placed_values import taken, with_added

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from steelyard._types import Array
    from steelyard.metrics.metric import Metric
    from steelyard.statistics.score_table import ScoreTable

# By what the scores are read by.
_INFLUENCES: dict[object, Callable[[ScoreTable, Mapping[str, Any]], Influence]] = {**CALIBRATION_INFLUENCES}


def score_influence(metric: Metric, table: ScoreTable, parameters: Mapping[str, Any]) -> Influence | None:
    """The influence of a row at each distinct score of the positives, ascending, and of the negatives.

    The first-order change of the metric's value for each unit of weight added there, so that its variance is the sum
    over rows of (weight x influence)^2; weight x influence sums to 0 over the table. None of a metric that depends on
    the density of the scores at one threshold, which no table shows, and of one that is not smooth.

    >>> from steelyard import get_metric, score_table
    >>> table = score_table([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> score_influence(get_metric("roc_auc"), table, {})
    (array([-0.125,  0.125]), array([ 0.125, -0.125]))
    """
    return _INFLUENCES[metric.scores](table, parameters) if has_influence(metric, table) else None


def has_influence(metric: Metric, table: ScoreTable) -> bool:
    """Whether the influence of rows on the metric is known; on a table of one class it is not."""
    return metric.scores in _INFLUENCES and ranking.missing(table) is None


def _influence_of(metric: Metric) -> Callable[[Callable[..., Influence]], Callable[..., Influence]]:
    """Register the influence of a metric."""

    def register(function: Callable[..., Influence]) -> Callable[..., Influence]:
        _INFLUENCES[metric.scores] = function
        return function

    return register


# ---------------------------------------------------------------- curves: derivatives at every threshold


class _Curve(NamedTuple):
    """The weight of each class at or above every threshold, from nobody to all; where each class has its scores."""

    tp: Array
    fp: Array
    places: list[Array]

    @property
    def rates(self) -> tuple[Array, Array]:
        """The false and the true positive rate."""
        return self.fp / self.fp[-1], self.tp / self.tp[-1]

    def influence(self, by_tp: Array, by_fp: Array) -> Influence:
        """By the derivatives at each threshold: a row counts in all that flag it."""
        every = (np.cumsum(by[:0:-1])[::-1] for by in (by_tp, by_fp))
        positive, negative = (taken(sums, at)[::-1] for sums, at in zip(every, self.places, strict=True))
        return positive, negative

    def influence_by_rates(self, by_fpr: Array, by_tpr: Array) -> Influence:
        """By the derivatives in both rates, whose last denominators are the weights of the classes."""
        (fpr, tpr), (by_fp, by_tp) = self.rates, (by_fpr / self.fp[-1], by_tpr / self.tp[-1])
        return self.influence(_with_last(by_tp, -(by_tp @ tpr)), _with_last(by_fp, -(by_fp @ fpr)))


@ranking.once
def _curve(table: ScoreTable) -> _Curve:
    merged = MergedClasses.of(table)
    tp, fp = (starting_at_zero(np.cumsum(weights)) for weights in merged.weights)
    return _Curve(tp, fp, merged.places)


def _with_last(by: Array, more: float) -> Array:
    """Derivatives with some more at the last threshold."""
    return with_added(by, np.array([-1]), np.array([more]))


def _area_until(at: Array, weights: Array, x: Array, y: Array) -> tuple[Array, Array]:
    """The derivatives in x and in y of the area below the straight lines between them, up to places of x.

    Of several places those of the weighted sum of the areas, each line read once.
    """
    i = np.clip(np.searchsorted(x, at), 1, len(x) - 1)
    inside = np.cumsum(with_added(0.0 * x, i - 1, weights)[::-1])[::-1][1:]  # the weight that holds a line
    wide, high = inside * np.diff(x) / 2, inside * (y[:-1] + y[1:]) / 2
    by_x, by_y = np.append(0.0, high) - np.append(high, 0.0), np.append(wide, 0.0) + np.append(0.0, wide)
    into, step, rise = at - x[i - 1], x[i] - x[i - 1], y[i] - y[i - 1]  # the part of the line that is still inside
    share = np.divide(into, step, out=np.zeros(len(i)), where=step != 0)
    ends = np.concatenate([i - 1, i])
    to_y = np.concatenate([weights * into * (1 - share / 2), weights * into * share / 2])
    to_x = np.concatenate([-weights * (y[i - 1] + rise * share * (1 - share / 2)), -weights * rise * share**2 / 2])
    return with_added(by_x, ends, to_x), with_added(by_y, ends, to_y)


@_influence_of(ranking.roc_auc)
def _roc_auc(table: ScoreTable, parameters: Mapping[str, Any]) -> Influence:
    curve, most = _curve(table), parameters.get("max_fpr") or 1.0
    scale = 0.5 / (most - most**2 / 2) if most < 1 else 1.0  # McClish's: 1/2 is a random ranking
    by_fpr, by_tpr = _area_until(np.array([most]), np.ones(1), *curve.rates)
    return curve.influence_by_rates(scale * by_fpr, scale * by_tpr)


@_influence_of(discrimination.gini)
def _gini(table: ScoreTable, _: Mapping[str, Any]) -> Influence:
    positive, negative = _roc_auc(table, {})
    return 2 * positive, 2 * negative


@_influence_of(weighted_auc)
def _weighted_auc(table: ScoreTable, parameters: Mapping[str, Any]) -> Influence:
    rho, bands = (parameters.get(key, weighted_auc.parameters[key]) for key in ("rho", "bands"))
    curve, weights = _curve(table), rho ** np.arange(1, bands)
    fpr, tpr = curve.rates
    of_band = np.append(1 - weights, 1 + weights.sum())  # of each band of recall; the last is subtracted from the rest
    by_tpr, by_fpr = _area_until(np.arange(1, bands + 1) / bands, np.diff(of_band, append=0.0), tpr, fpr)
    return curve.influence_by_rates(by_fpr, by_tpr)


def _precision(curve: _Curve) -> tuple[Array, Array, Array]:
    """The precision at every threshold that flags somebody, and its derivatives in tp and in fp."""
    tp, fp = curve.tp[1:], curve.fp[1:]
    flagged = np.where(tp + fp > 0, tp + fp, 1.0)
    return tp / flagged, fp / flagged**2, -tp / flagged**2


@_influence_of(ranking.average_precision)
def _average_precision(table: ScoreTable, _: Mapping[str, Any]) -> Influence:
    curve = _curve(table)
    precision, by_tp, by_fp = _precision(curve)
    gained, positives = np.diff(curve.tp), curve.tp[-1]
    value = gained @ precision / positives
    by_tp = (gained * by_tp - np.diff(precision, append=0.0)) / positives
    by_tp = _with_last(by_tp, -value / positives)
    return curve.influence(np.append(0.0, by_tp), np.append(0.0, gained * by_fp / positives))


@_influence_of(ranking.negative_average_precision)
def _negative_average_precision(table: ScoreTable, parameters: Mapping[str, Any]) -> Influence:
    negative, positive = _average_precision(table.swapped(), parameters)
    return positive[::-1], negative[::-1]


@_influence_of(ranking.mean_average_precision)
def _mean_average_precision(table: ScoreTable, parameters: Mapping[str, Any]) -> Influence:
    both = _average_precision(table, parameters), _negative_average_precision(table, parameters)
    positive, negative = ((one + other) / 2 for one, other in zip(*both, strict=True))
    return positive, negative


@_influence_of(ranking.pr_auc)
def _pr_auc(table: ScoreTable, _: Mapping[str, Any]) -> Influence:
    curve = _curve(table)
    precision, by_tp, by_fp = _precision(curve)
    gained, positives = np.diff(curve.tp), curve.tp[-1]
    before = np.append(precision[:1], precision[:-1])
    height = (precision + before) / 2
    by_precision = (gained + np.append(gained[1:], 0.0)) / 2
    by_precision = with_added(by_precision, np.array([0]), gained[:1] / 2)
    by_tp = _with_last(by_tp * by_precision - np.diff(height, append=0.0), -(gained @ height) / positives)
    both = (np.append(0.0, by / positives) for by in (by_tp, by_fp * by_precision))
    return curve.influence(*both)


# ---------------------------------------------------------------- losses: means over rows


def _loss_influence(table: ScoreTable, losses: Influence) -> Influence:
    """Of a mean over rows: how far each row's loss is from it."""
    total = table.positive.total + table.negative.total
    mean = sum(side.distinct[1] @ loss for side, loss in zip(table.classes, losses, strict=True)) / total
    positive, negative = ((loss - mean) / total for loss in losses)
    return positive, negative


@_influence_of(discrimination.discrimination_slope)
def _discrimination_slope(table: ScoreTable, _: Mapping[str, Any]) -> Influence:
    sides = (side.distinct for side in table.classes)
    positive, negative = ((scores - weights @ scores / weights.sum()) / weights.sum() for scores, weights in sides)
    return positive, -negative


@_influence_of(ordinal.ranked_probability_score)  # of two classes it is the Brier score
@_influence_of(ranking.brier)
def _brier(table: ScoreTable, _: Mapping[str, Any]) -> Influence:
    return _loss_influence(table, ((1 - table.positive.distinct[0]) ** 2, table.negative.distinct[0] ** 2))


@_influence_of(ranking.log_loss)
def _log_loss(table: ScoreTable, _: Mapping[str, Any]) -> Influence:
    with np.errstate(divide="ignore", invalid="ignore"):
        return _loss_influence(table, (-np.log(table.positive.distinct[0]), -np.log1p(-table.negative.distinct[0])))


@_influence_of(ranking.d2_log_loss)
def _d2_log_loss(table: ScoreTable, parameters: Mapping[str, Any]) -> Influence:
    """The share of the prior's loss that is left is a ratio; the prior's loss moves with the prevalence alone."""
    total, share = table.total, table.positive.total / table.total
    prior = -share * np.log(share) - (1 - share) * np.log1p(-share)
    left = 1 - float(score_values(ranking.d2_log_loss, table, {}))
    slope = (np.log1p(-share) - np.log(share)) / total  # of the prior's loss, by how much a row moves the share
    moved = slope * (1 - share), -slope * share
    by_loss = _log_loss(table, parameters)
    with np.errstate(invalid="ignore"):  # an infinite loss has none
        return (left * moved[0] - by_loss[0]) / prior, (left * moved[1] - by_loss[1]) / prior
