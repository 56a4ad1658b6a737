"""Influence: how much a metric changes for each unit of weight that is added to a row, of labels and of scores.

The metrics are functions of the weight of both classes at or above each threshold, so a row's influence is the sum of
their derivatives over the thresholds that flag it: one running sum, whatever the number of rows. The delta method
after Hampel (1974), Journal of the American Statistical Association 69, 383-393.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steelyard.analysis.intervals.estimand import Estimand
from steelyard.arrays.backend import backend_of, taken, with_added
from steelyard.metrics import calibration, discrimination, ordinal, ranking
from steelyard.metrics.call_options import NATIVE, SAMPLES, CallOptions
from steelyard.metrics.catalogue import weighted_auc
from steelyard.metrics.logistic_recalibration import LogitRows, intercept_in_the_large, recalibrated
from steelyard.metrics.multilabel_values import defined_rows, mean_weights, row_values, sample_values
from steelyard.metrics.score_values import averaged_columns, on_scores, row_losses, score_values, share_losses
from steelyard.metrics.values import count_values
from steelyard.tables.class_scores import MergedClasses, starting_at_zero
from steelyard.tables.counts import Counts
from steelyard.tables.multilabel_table import is_sparse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from steelyard._types import Array
    from steelyard.analysis.intervals.design import WeightedRows
    from steelyard.arrays.backend import Native
    from steelyard.metrics.measure import Metric
    from steelyard.metrics.spec import MetricSpec
    from steelyard.tables.class_scores import ClassScores
    from steelyard.tables.multilabel_table import MultilabelTable
    from steelyard.tables.probability_table import ColumnTable, ProbabilityTable
    from steelyard.tables.score_table import ScoreTable


Influence = tuple["Array", "Array"]


# ---------------------------------------------------------------- score influence


# By the function of the scores that the metric is.
_INFLUENCES: dict[object, Callable[[ScoreTable, Mapping[str, Any]], Influence]] = {}


def score_influence(metric: Metric, table: ScoreTable, parameters: Mapping[str, Any]) -> Influence | None:
    """The influence of a row at each distinct score of the positives, ascending, and of the negatives.

    The first-order change of the metric's value for each unit of weight added there, so that its variance is the sum
    over rows of (weight x influence)^2; weight x influence sums to 0 over the table. None for a metric that depends on
    the density of the scores at one threshold, which no table shows, and for one that is not smooth.

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
    indices: list[Array]

    @property
    def rates(self) -> tuple[Array, Array]:
        """The false and the true positive rate."""
        return self.fp / self.fp[-1], self.tp / self.tp[-1]

    def influence(self, by_tp: Array, by_fp: Array) -> Influence:
        """By the derivatives at each threshold: a row counts in all that flag it."""
        sums = (np.cumsum(derivatives[:0:-1])[::-1] for derivatives in (by_tp, by_fp))
        positive, negative = (taken(each, at)[::-1] for each, at in zip(sums, self.indices, strict=True))
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
    """The derivatives in x and in y of the area below the straight lines between them, up to these values of x.

    For several values those of the weighted sum of the areas, each line read once.
    """
    i = np.clip(np.searchsorted(x, at), 1, len(x) - 1)
    inside = np.cumsum(with_added(0.0 * x, i - 1, weights)[::-1])[::-1][1:]  # the weight of the areas that hold a line
    width, height = inside * np.diff(x) / 2, inside * (y[:-1] + y[1:]) / 2
    by_x, by_y = np.append(0.0, height) - np.append(height, 0.0), np.append(width, 0.0) + np.append(0.0, width)
    into, step, rise = at - x[i - 1], x[i] - x[i - 1], y[i] - y[i - 1]  # the part of the last line that is inside
    share = np.divide(into, step, out=np.zeros(len(i)), where=step != 0)
    both_ends = np.concatenate([i - 1, i])
    to_y = np.concatenate([weights * into * (1 - share / 2), weights * into * share / 2])
    to_x = np.concatenate([-weights * (y[i - 1] + rise * share * (1 - share / 2)), -weights * rise * share**2 / 2])
    return with_added(by_x, both_ends, to_x), with_added(by_y, both_ends, to_y)


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
    """One minus the ratio of the loss to the prior's loss, which moves with the prevalence alone."""
    total, share = table.total, table.positive.total / table.total
    prior = -share * np.log(share) - (1 - share) * np.log1p(-share)
    ratio = 1 - float(score_values(ranking.d2_log_loss, table, {}))
    slope = (np.log1p(-share) - np.log(share)) / total  # of the prior's loss, by how much a row moves the share
    by_prior = slope * (1 - share), -slope * share
    by_loss = _log_loss(table, parameters)
    with np.errstate(invalid="ignore"):  # an infinite loss has none
        return (ratio * by_prior[0] - by_loss[0]) / prior, (ratio * by_prior[1] - by_loss[1]) / prior


# ---------------------------------------------------------------- calibration


def recalibration_influence(table: ScoreTable, intercept: float, slope: float) -> tuple[Influence, Influence]:
    """The influence of rows on the intercept and on the slope of logistic recalibration, at these values of both.

    Summed over rows, its squares are the sandwich variance (White 1982, Econometrica 50, 1-25).
    """
    _, _, a, b, c = LogitRows.of(table.compact()).step(np.asarray(intercept), np.asarray(slope))
    on_intercept, on_slope = [], []
    with np.errstate(divide="ignore", invalid="ignore"):
        for side, truth in zip(table.classes, (1, 0), strict=True):
            logits = np.log(side.distinct[0]) - np.log1p(-side.distinct[0])
            residual = truth - 1 / (1 + np.exp(-intercept - slope * logits))
            on_intercept.append(residual * (c - b * logits) / (a * c - b * b))
            on_slope.append(residual * (a * logits - b) / (a * c - b * b))
    return (on_intercept[0], on_intercept[1]), (on_slope[0], on_slope[1])


@_influence_of(calibration.calibration_slope)
def _calibration_slope(table: ScoreTable, _: Mapping[str, Any]) -> Influence:
    return recalibration_influence(table, *map(float, recalibrated(table)))[1]


@_influence_of(calibration.calibration_intercept)
def _calibration_intercept(table: ScoreTable, _: Mapping[str, Any]) -> Influence:
    intercept = float(intercept_in_the_large(table))
    information = LogitRows.of(table.compact()).step(np.asarray(intercept), np.ones(()))[2]
    positive, negative = (side.distinct[0] for side in table.classes)
    with np.errstate(divide="ignore"):
        shares = [1 / (1 + np.exp(-intercept) * (1 / scores - 1)) for scores in (positive, negative)]
    return (1 - shares[0]) / information, -shares[1] / information


@_influence_of(calibration.observed_to_expected)
def _observed_to_expected(table: ScoreTable, _: Mapping[str, Any]) -> Influence:
    expected = sum(side.distinct[1] @ side.distinct[0] for side in table.classes)
    ratio = table.positive.total / expected
    return (1 - ratio * table.positive.distinct[0]) / expected, -ratio * table.negative.distinct[0] / expected


@_influence_of(calibration.brier_skill_score)
def _brier_skill_score(table: ScoreTable, _: Mapping[str, Any]) -> Influence:
    """One minus the ratio of the score to the prior's score, which moves with the prevalence alone."""
    total, share = table.total, table.positive.total / table.total
    losses = (1 - table.positive.distinct[0]) ** 2, table.negative.distinct[0] ** 2
    brier = sum(side.distinct[1] @ loss for side, loss in zip(table.classes, losses, strict=True)) / total
    prior = share * (1 - share)
    by_prior = (1 - 2 * share) * (1 - share), (2 * share - 1) * share
    positive, negative = (
        (brier / prior * move - (loss - brier)) / (total * prior) for loss, move in zip(losses, by_prior, strict=True)
    )
    return positive, negative


# ---------------------------------------------------------------- column influence
# How much each row moves a metric of a column of probabilities for each class.


def column_influence(
    metric: Metric, table: ProbabilityTable, options: CallOptions, parameters: Mapping[str, Any]
) -> Array | None:
    """The influence of each row for each unit of its weight; None where that of the metric is not known."""
    if options.average == NATIVE:
        losses = centred_losses(metric, table, parameters)
        influence: Array = (losses - np.average(losses, weights=table.weights)) / table.weights.sum()
        return influence
    parts = list(averaged_columns(metric, table, options, parameters))
    if options.average == "micro":
        return _pooled_influence(metric, parts[0], len(table.codes), parameters)
    by_share = options.average == "weighted"
    return _average_influence(metric, parts, len(table.codes), parameters, by_share=by_share)


def _pooled_influence(metric: Metric, pooled: ColumnTable, rows: int, parameters: Mapping[str, Any]) -> Array | None:
    """The influence of each row where all columns are pooled; None where it is not known."""
    by_cell = part_influence(metric, pooled, parameters)
    return None if by_cell is None else by_row_of_cells(pooled, by_cell, rows)


def _average_influence(
    metric: Metric, parts: Sequence[ColumnTable], rows: int, parameters: Mapping[str, Any], *, by_share: bool
) -> Array | None:
    """The influence of each row on the mean of the parts; None where it is not known.

    Where the parts count by their shares, rows also move these: how often a class occurs is a sample's as well.
    """
    influence, total = np.zeros(rows), sum(part.share for part in parts)
    values = [float(on_scores(metric, part.table, parameters).value) for part in parts]
    shares = [part.share / total if by_share else 1 / len(parts) for part in parts]
    mean = sum(share * value for share, value in zip(shares, values, strict=True))
    for part, share, value in zip(parts, shares, values, strict=True):
        by_part = part_influence(metric, part, parameters)
        if by_part is None:
            return None
        influence[np.concatenate(part.rows)] += share * by_part
        if by_share:
            influence[np.concatenate(part.sharing)] += (value - mean) / total
    return influence


def centred_losses(metric: Metric, table: ProbabilityTable, parameters: Mapping[str, Any]) -> Array:
    """What each row adds to a mean loss, or to a skill, where its loss is compared with that of the class shares.

    The shares of the classes have the least expected loss, so their own change has an effect of second order only.
    """
    losses = row_losses(metric, table, parameters)
    if not metric.is_skill_of_columns:
        return losses
    reference = taken(share_losses(metric, table, parameters), table.codes)
    loss, without_skill = (float(np.average(column, weights=table.weights)) for column in (losses, reference))
    beside: Array = (loss / without_skill * reference - losses) / without_skill
    return beside


def part_influence(metric: Metric, part: ColumnTable, parameters: Mapping[str, Any]) -> Array | None:
    """The influence of each row of the part, the positives first; None where it is not known."""
    influences = score_influence(metric, part.table, parameters)
    if influences is None:
        return None
    sides = zip(part.rows, part.table.classes, influences, strict=True)
    return np.concatenate([_of_scores(part.scores[rows], side, by_score) for rows, side, by_score in sides])


def with_share_influence(influence: Array, part: ColumnTable, by: float) -> Array:
    """The influence of a part's rows, the first of which also move its share: the classes' shares are a sample's."""
    first = sum(len(rows) for rows in part.sharing)
    return np.concatenate([influence[:first] + by, influence[first:]])


def by_row_of_cells(pooled: ColumnTable, influence: Array, rows: int) -> Array:
    """The sum over the columns of each row, where each is a row of the pooled table."""
    return np.bincount(row_of_cells(pooled, rows), influence, minlength=rows)


def row_of_cells(pooled: ColumnTable, rows: int) -> Array:
    """The row of each cell of a pooled table, the positive cells first."""
    return np.concatenate(pooled.rows) // (len(pooled.scores) // rows)


def _of_scores(scores: Array, side: ClassScores, by_score: Array) -> Array:
    """The influence of each row, given that of the distinct scores of its class."""
    if backend_of(scores).is_device:
        return taken(by_score, np.minimum(np.searchsorted(side.distinct[0], scores), len(by_score) - 1))
    order = np.argsort(scores)  # looked up in order, they are near to each other in memory
    indices = np.searchsorted(side.distinct[0], scores[order])
    by_row = np.empty(len(scores))
    by_row[order] = by_score[np.minimum(indices, len(by_score) - 1)]  # a row of no weight may lie beyond
    return by_row


# ---------------------------------------------------------------- label influence
# How much each row changes a metric of label sets: the sum of the changes by its labels.
#
# The labels of one row are not independent, so rows are the units. A row enters by the outcome of each of its labels,
# and the change by an outcome is known from the label's four counts: the influence of all rows is three products of the
# indicators and a vector, of many metrics at once three products of matrices.


class OutcomeChanges(NamedTuple):
    """By how much a unit of weight of each outcome of each label changes a value."""

    tp: Array
    fn: Array
    fp: Array
    tn: Array

    def scaled(self, shares: Array | float) -> OutcomeChanges:
        """The changes where the label has that share in the value."""
        return OutcomeChanges(*(change * shares for change in self))


@dataclass(frozen=True)
class LabelChanges:
    """How the outcomes of a row change a metric of counts: of each label, of all together, or of their average."""

    estimand: Estimand
    table: MultilabelTable
    row_weight: float

    @cached_property
    def shares(self) -> Array:
        """The share that each label has in the average."""
        weights = mean_weights(self.table, self.table.by_label, self.estimand.options.average)
        return np.asarray(weights / weights.sum())

    def of_labels(self) -> OutcomeChanges:
        """Of the value of each label."""
        return self._of(self.table.by_label)

    def of_all(self) -> OutcomeChanges:
        """Of the value of all labels' counts together."""
        return self._of(Counts.trusted(*(np.asarray([cell.sum()]) for cell in self.table.by_label)))

    def of_average(self) -> OutcomeChanges:
        """Of the average, by the outcome of each label."""
        counts, average = self.table.by_label, self.estimand.options.average
        if average == "micro":
            return OutcomeChanges(*(np.repeat(change, len(self.table.labels)) for change in self.of_all()))
        scaled = self.of_labels().scaled(self.shares)
        if average == "macro":
            return scaled
        values = count_values(self.estimand.metric, counts, self.estimand.parameters)
        mean = np.nansum(values * self.shares)
        by_share = np.where(self.shares > 0, values - mean, 0) / np.asarray(counts.positives).sum()
        # How often a label occurs is a sample's as well.
        return scaled._replace(tp=scaled.tp + by_share, fn=scaled.fn + by_share)

    def _of(self, counts: Counts[Array]) -> OutcomeChanges:
        return outcome_changes(self.estimand.metric, counts, self.estimand.parameters, self.row_weight)


def outcome_changes(
    metric: Metric, counts: Counts[Array], parameters: Mapping[str, Any], row_weight: float
) -> OutcomeChanges:
    """The change by one row less of each outcome, by one row more where the value would be undefined without it."""
    cells = np.stack([np.asarray(cell, np.float64) for cell in counts])
    value = count_values(metric, counts, parameters)
    changes = []
    for outcome in range(4):
        step = row_weight * (np.arange(4) == outcome)[:, None]
        less = count_values(metric, Counts.trusted(*np.maximum(cells - step, 0)), parameters)
        more = count_values(metric, Counts.trusted(*(cells + step)), parameters)
        change = np.where(np.isnan(less), more - value, value - less) / row_weight
        changes.append(np.where((cells[outcome] > 0) & np.isfinite(change), change, 0.0))
    return OutcomeChanges(*changes)


def label_variances(changes: OutcomeChanges, counts: Counts[Array], row_weight: float) -> Array:
    """The variance of each label alone, of independent rows of that weight."""
    cells, each = np.stack([np.asarray(cell, np.float64) for cell in counts]), np.stack(changes)
    total = np.maximum(cells.sum(0), 1e-300)
    return np.asarray((cells * (each - (cells * each).sum(0) / total) ** 2).sum(0) * row_weight)


def row_errors(table: MultilabelTable, every: Sequence[OutcomeChanges], rows: WeightedRows) -> list[float]:
    """The standard error of each value, by the influence of its rows or their clusters, in one pass over the rows."""
    there = backend_of(table.true)
    weights, squares = (there.real(there.native(column)) for column in (rows.weights, rows.squares))
    first = second = there.xp.zeros((len(every),), dtype=there.xp.float64, device=there.device)
    clusters = rows.clusters
    sums = None if clusters is None else np.zeros((int(clusters.max()) + 1, len(every)))
    for part, influence in _row_influences(table, every):
        first = first + there.xp.matmul(weights[part], influence)
        if sums is None or clusters is None:
            second = second + there.xp.matmul(squares[part], influence * influence)
        else:  # of rows on the host, to which clusters bring them
            np.add.at(sums, clusters[part], influence * weights[part, None])
    both = there.brought(there.xp.stack([first, second]))
    return _errors(both[0], both[1], rows, sums)


def _errors(first: Array, second: Array, rows: WeightedRows, sums: Array | None = None) -> list[float]:
    """The errors by the sums of the influence and of its square, or by the sums of the clusters."""
    n, total = rows.effective_number(), float(rows.weights.sum())
    if sums is None or rows.clusters is None:
        variance = second - float(rows.squares.sum()) * (first / total) ** 2
    else:
        weights = np.bincount(rows.clusters, rows.weights)
        variance = ((sums - weights[:, None] * first / total) ** 2).sum(0)
    scale = n / (n - 1) if n > 1 else 1.0
    return [float(error) for error in np.sqrt(np.maximum(variance, 0) * scale)]


def _row_influences(table: MultilabelTable, every: Sequence[OutcomeChanges]) -> Iterator[tuple[slice, Native]]:
    """The influence of the rows of each part on each of the values, where the rows are."""
    there = backend_of(table.true)
    of_true, of_predicted, of_both, base = (there.native(changes) for changes in _coefficients(every))
    n, labels = table.true.shape
    matrices: Any = (table.true, table.predicted)  # there are predictions
    true, predicted = (matrix if is_sparse(matrix) else there.native(matrix) for matrix in matrices)
    for part in there.parts(n, len(every) if is_sparse(true) else max(3 * labels, len(every))):
        t, p = true[part, :], predicted[part, :]
        if is_sparse(t):
            yield part, base + t @ of_true + p @ of_predicted + t.multiply(p).tocsr() @ of_both
            continue
        own, other, both = (there.real(cells) for cells in (t, p, t & p))
        matmul = there.xp.matmul
        yield part, base + matmul(own, of_true) + matmul(other, of_predicted) + matmul(both, of_both)


def _coefficients(every: Sequence[OutcomeChanges]) -> tuple[Array, Array, Array, Array]:
    """The change of each value by a label that is true, predicted or both, and by a row without any."""
    tp, fn, fp, tn = (np.column_stack(column) for column in zip(*every, strict=True))
    return fn - tn, fp - tn, tp - fn - fp + tn, tn.sum(0)


def usual_size(table: MultilabelTable, rows: WeightedRows) -> float:
    """How many labels the row of a usual label has: where nothing varies, the labels of a row are taken for one."""
    sizes = table.by_row.positives.astype(np.float64)
    total = float(rows.weights @ sizes)
    return max(float(rows.weights @ sizes**2) / total, 1.0) if total else 1.0


# ---------------------------------------------------------------- label set influence
# How much each row moves a metric of label sets, by its labels' outcomes, value or scores.


def label_set_influence(spec: MetricSpec, table: MultilabelTable) -> Array | None:
    """How much a unit of weight of each row changes the metric; None where that is not known."""
    metric, parameters, n = spec.metric, spec.metric.parameters, table.true.shape[0]
    if spec.label is None and spec.average in (NATIVE, SAMPLES):
        return _row_mean_influence(spec, table)
    if metric.function is None:
        if spec.label is None and spec.average == "micro":
            return _pooled_influence(metric, table.pooled_table(), n, parameters)
        present = np.flatnonzero(np.asarray(table.positives) > 0).tolist()
        parts = [table.column_table(i) for i in (present if spec.label is None else [table.place(spec.label)])]
        return _average_influence(metric, parts, n, parameters, by_share=spec.average == "weighted")
    row_weight = 1.0
    if table.sample_weight is not None and table.weights is not None:
        row_weight = float((table.weights * table.sample_weight).sum() / table.weights.sum())
    estimand = Estimand(spec, table, parameters, spec.options(CallOptions()))
    changes = LabelChanges(estimand, table, row_weight)
    if spec.label is None:
        by_label = changes.of_average()
    else:
        only = np.arange(len(table.labels)) == table.place(spec.label)
        by_label = OutcomeChanges(*(np.where(only, change, 0.0) for change in changes.of_labels()))
    there = backend_of(table.true)
    influence: Array = there.kept(there.xp.concat([part[:, 0] for _, part in _row_influences(table, [by_label])]))
    return influence


def _row_mean_influence(spec: MetricSpec, table: MultilabelTable) -> Array:
    """The influence on a mean of the rows' own values."""
    metric, parameters = spec.metric, spec.metric.parameters
    weights = np.ones(table.true.shape[0]) if table.weights is None else np.asarray(table.weights, np.float64)
    if spec.average == SAMPLES:
        values = sample_values(metric, table, parameters)
    else:
        values = np.asarray(row_values(metric, table, parameters), np.float64)
    counted = defined_rows(values, weights)
    mean, total = np.average(values[counted], weights=weights[counted]), weights[counted].sum()
    return np.asarray(np.where(counted, values - mean, 0.0) / total)
