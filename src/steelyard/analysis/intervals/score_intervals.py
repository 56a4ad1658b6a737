"""Score intervals: intervals of metrics of scores by the influence of their rows, with Student's t.

A metric between 0 and 1 gets Wilson's interval with as many trials as give its variance; a loss without an upper limit
gets one on the scale of its logarithm. Few rows show too little variance, and a perfect ranking none, so the interval
also holds those with half a row of each class more anywhere among the scores, and with a part of a row at either end.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import atanh, exp, inf, isfinite, isinf, isnan, log, nan, sqrt, tanh
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.distributions import normal_reach, student_reach
from steelyard.analysis.intervals.cluster_scores import ClusterScores
from steelyard.analysis.intervals.design import ClassInfluence, StudentSpread, class_spread
from steelyard.analysis.intervals.draw_ends import quantiles
from steelyard.analysis.intervals.influence import has_influence, score_influence
from steelyard.analysis.intervals.isotonic import is_searched, searched_bounds
from steelyard.analysis.intervals.operating_point import interval_of_highest, is_of_highest, widened
from steelyard.analysis.intervals.rate_intervals import score_ends, widened_by_prevalence
from steelyard.analysis.intervals.score_draws import binned, with_added_rows
from steelyard.analysis.prevalence.prevalence import positive_shares, scores_at
from steelyard.metrics import ranking
from steelyard.metrics.discrimination import gini
from steelyard.metrics.ranking import roc_auc
from steelyard.metrics.score_values import score_values
from steelyard.tables.class_scores import ClassScores, starting_at_zero
from steelyard.tables.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from steelyard._types import Array
    from steelyard.analysis.intervals.estimand import Estimand
    from steelyard.analysis.intervals.inference import ClusteredRows, Inference
    from steelyard.metrics.measure import Metric


# ---------------------------------------------------------------- delong variance
# DeLong's variance of an AUC, by the structural components of both classes.
#
# DeLong, DeLong and Clarke-Pearson (1988), Biometrics 44, 837-845; Sun and Xu (2014), IEEE Signal Processing Letters
# 21, 1389-1393.


@dataclass(frozen=True, eq=False)
class Components:
    """The structural components of one class: the share of the other class ranked rightly by each row, ties half."""

    values: Array
    weights: Array

    def variance_of_mean(self, size: float) -> float:
        """What the class adds to the variance of the AUC; infinite where a single row shows no spread."""
        if size <= 1:
            return inf
        total = self.weights.sum()
        mean = self.weights @ self.values / total
        return float(self.weights @ (self.values - mean) ** 2 / total / (size - 1))


def _by_size(table: ScoreTable) -> list[ClassScores]:
    return sorted((table.positive, table.negative), key=lambda side: side.size)


def _shares_below(few: ClassScores, many: ClassScores) -> tuple[Components, Components]:
    """DeLong's structural components: the share of the other class below each of the few, and of the many, ties half.

    The many that lie between the same two of the few, or above them all, are one component; so are those that tie. No
    pair of rows is looked at.
    """
    scores, weights = few.distinct
    below, up_to = many.around_each(scores)
    # The total of fractions is where their running sum ends, so that rounding leaves nothing over.
    total = float(many.total if many.given_weights is None else many.below(np.array(np.inf)))
    of_few = Components(np.add(below, up_to, dtype=np.float64) / (2.0 * total), weights.astype(np.float64))
    running = starting_at_zero(np.cumsum(weights, dtype=np.float64))
    shares = np.concatenate([running, (running[:-1] + running[1:]) / 2]) / running[-1]
    between = np.append(below, total) - starting_at_zero(up_to)
    of_many = Components(shares, np.concatenate([between, up_to - below]).astype(np.float64))
    return of_few, of_many


def delong_variance(table: ScoreTable) -> float:
    """DeLong's variance of the AUC; infinite where a class has fewer than two rows.

    >>> from steelyard import score_table
    >>> delong_variance(score_table([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]))
    0.125
    """
    few, many = _by_size(table)
    if min(few.effective_size, many.effective_size) <= 1:
        return inf
    shares = zip(_shares_below(few, many), (few, many), strict=True)  # the shares above have the same variance
    return sum(part.variance_of_mean(side.effective_size) for part, side in shares)


# ---------------------------------------------------------------- intervals of an AUC
# By DeLong's variance, and Newcombe's score interval.
#
# Newcombe (2006), Statistics in Medicine 25, 559-573.


HALVINGS = 60  # of an interval within [0, 1]: below the spacing of floats near 1
NEGLIGIBLE = 1e-12  # an AUC this near to 0 or 1, or a standard error this small, is one but for rounding


def is_whole_auc(metric: Metric, parameters: Mapping[str, Any]) -> bool:
    """Whether the metric is the area under the whole ROC curve."""
    return metric.is_rank_probability and parameters.get("max_fpr") is None


def has_auc_interval(metric: Metric, parameters: Mapping[str, Any]) -> bool:
    """Whether an interval of the area is one of the metric: the area itself, or twice the area minus one."""
    return is_whole_auc(metric, parameters) or metric.scores is gini.scores


def auc_bounds(metric: Metric, table: ScoreTable, method: str, level: float) -> tuple[float, float]:
    """The bounds of the area's interval on the scale of the metric."""
    low, high = AUC_INTERVALS[method](table, level)
    return (2 * low - 1, 2 * high - 1) if metric.scores is gini.scores else (low, high)


def delong(table: ScoreTable, level: float = 0.95) -> tuple[float, float]:
    """The AUC plus or minus its DeLong error, clipped at 0 and 1: too narrow near them and with few positives."""
    auc = _auc(table)
    if isnan(auc):
        return auc, auc
    half_width = normal_reach(level) * sqrt(delong_variance(table))
    return max(auc - half_width, 0.0), min(auc + half_width, 1.0)


def logit_delong(table: ScoreTable, level: float = 0.95) -> tuple[float, float]:
    """DeLong's interval on the scale of the logit; the score interval where the AUC is 0 or 1 or shows no spread."""
    auc, error = _auc(table), sqrt(delong_variance(table))
    if isnan(auc):
        return auc, auc
    if isinf(error):
        return 0.0, 1.0
    slope = auc * (1 - auc)  # of the AUC by its logit
    if min(slope, error) < NEGLIGIBLE:
        return score_interval(table, level)
    half_width = normal_reach(level) * error / slope
    half_logit = atanh(2 * auc - 1)  # tanh leads back from it without overflow
    low, high = ((1 + tanh(half_logit + sign * half_width / 2)) / 2 for sign in (-1, 1))
    return min(low, auc), max(high, auc)


def score_interval(table: ScoreTable, level: float = 0.95) -> tuple[float, float]:
    """Every AUC from which the observed one is no further than the error at that AUC allows (Newcombe's method 5).

    >>> from steelyard import score_table
    >>> low, high = score_interval(score_table([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]))
    >>> print(f"{low:.4f} {high:.4f}")
    0.2272 0.9668
    """
    auc = _auc(table)
    if isnan(auc):
        return auc, auc
    return _score_bounds(table, auc, normal_reach(level))


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
    z, t = normal_reach(level) * sqrt(max(excess, 1.0)), _weighted_quantile(table, level) * sqrt(excess)
    return _score_bounds(table, auc, max(z, t))


def _weighted_quantile(table: ScoreTable, level: float) -> float:
    """Student's quantile where rows have different weights, as few rows may determine the AUC; otherwise 0."""
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
    """The bounds of the score interval of an AUC of so many positives and negatives."""
    return _furthest(auc, 0.0, z, positives, negatives), _furthest(auc, 1.0, z, positives, negatives)


def _score_bounds(table: ScoreTable, auc: float, z: float) -> tuple[float, float]:
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


# ---------------------------------------------------------------- the bias of average precision
# Each positive counts itself among those at or above its score.


def precision_bias(metric: Metric, table: ScoreTable) -> float:
    """How far average precision is too high as each positive counts itself; 0 for other metrics.

    That is what it loses where each positive's threshold is read on the other positives alone.
    """
    if metric.scores is ranking.negative_average_precision.scores:
        table = table.swapped()
    elif metric.scores not in (ranking.average_precision.scores, ranking.pr_auc.scores):
        return 0.0
    weights, tp, fp = (column.astype(np.float64) for column in table.at_positive_scores)
    positives, itself = weights.sum(), table.positive.compact().squares / np.where(weights > 0, weights, 1.0)
    others = np.maximum(tp - itself, 0.0) / np.maximum(positives - itself, 1e-300) * positives
    gain = _precision(tp, fp) - _precision(others, fp)
    return max(float(weights @ gain / positives), 0.0)


def _precision(tp: Array, fp: Array) -> Array:
    """The precision, 1 where nobody is flagged."""
    flagged = tp + fp
    return np.where(flagged > 0, tp / np.where(flagged > 0, flagged, 1.0), 1.0)


# ---------------------------------------------------------------- score intervals


MOST_BINS = 1_024  # scores of the rarer class that a variance keeps apart


@dataclass
class ScoreIntervals:
    """The tables that the variances of all metrics of one call are taken on."""

    inference: Inference
    requested: Sequence[Estimand] = ()
    clusters: ClusterScores | None = None  # the rows of the requested table, where they are in clusters
    _tables: dict[int, tuple[ScoreTable, list[ScoreTable]]] = field(default_factory=dict)
    _estimates: dict[tuple[int, object, str], tuple[float, StudentSpread]] = field(default_factory=dict)

    def bounds(self, estimand: Estimand, table: ScoreTable, method: str, value: float) -> tuple[float, float]:
        """The bounds of the interval around the value of the whole table."""
        if method in AUC_INTERVALS:  # an AUC is the same at every prevalence
            return auc_bounds(estimand.metric, table, method, self.inference.level)
        if not isfinite(value):
            return value, value
        metric, parameters = estimand.metric, estimand.parameters
        bounds = self._bounds(metric, parameters, self.tables(table), value)
        return widened_by_prevalence(bounds, value, metric, parameters, binned(table, MOST_BINS), self.inference)

    def tables(self, table: ScoreTable) -> list[ScoreTable]:
        """The table with few distinct scores, then with half a row of each class anywhere and with parts at the ends.

        All are at the deployment prevalence.
        """
        if id(table) not in self._tables:
            small, prevalence = binned(table, MOST_BINS), self.inference.prevalence
            tables = [small, *([] if ranking.missing(table) else with_added_rows(small))]
            if prevalence is not None:
                tables = [scores_at(part, positive_shares(part, prevalence)) for part in tables]
            self._tables[id(table)] = table, tables
        return self._tables[id(table)][1]

    def cluster_bounds(
        self, estimand: Estimand, table: ScoreTable, rows: ClusteredRows, value: float
    ) -> tuple[tuple[float, float], str | None]:
        """The bounds by the influence of whole clusters, or by draws of them where a metric has none; or why not."""
        if self.clusters is None or self.clusters.table is not table:
            self.clusters = ClusterScores.of(rows, table, self.inference)
        reason = self.clusters.unknown_variation(estimand.metric, estimand.parameters, fixed_shares=self._fixed_shares)
        if reason is not None:
            return (nan, nan), reason
        if has_influence(estimand.metric, table):
            return self.bounds(estimand, table, "cluster", value), None
        if is_searched(estimand.metric):  # clusters widen it as they widen the area
            effect = self.clusters.widened(ranking.roc_auc, {}, StudentSpread(1.0, 1.0))
            return searched_bounds(estimand.metric, estimand.parameters, table, value, self.inference, effect), None
        beside = [each for each in self.requested if each.table is table and not has_influence(each.metric, table)]
        low, high = quantiles(self.clusters.drawn_values(estimand, value, beside, self.inference), self.inference.tails)
        return widened(estimand, float(low), float(high), self.inference.level), None

    def _bounds(
        self, metric: Metric, parameters: Mapping[str, Any], tables: list[ScoreTable], value: float
    ) -> tuple[float, float]:
        if metric.scores is ranking.mean_average_precision.scores:
            return self._mean_bounds(metric, tables, value)
        if is_of_highest(metric):
            level, fixed = self.inference.level, self._fixed_shares
            return interval_of_highest(metric, parameters, tables[0], value, level, fixed_shares=fixed)
        estimates = [self._estimate(metric, parameters, part) for part in tables]
        if metric.range in ((0, 1), (-1, 1)):
            return self._share_bounds(metric, parameters, tables[0], estimates, value)
        if metric.range[1] == 1:  # 1 minus a share of a loss is a loss as well
            losses = [(1 - at, spread) for at, spread in estimates]
            low, high = self._loss_bounds(tables[0], losses, 1 - value)
            return 1 - high, 1 - low
        if not isfinite(metric.range[0]):
            return self._symmetric_bounds(estimates[:2], value)
        low, high = self._loss_bounds(tables[0], estimates, value)
        return low, min(high, max(_worst_loss(tables[0]), value)) if metric.scores is ranking.log_loss.scores else high

    @property
    def _fixed_shares(self) -> bool:
        return self.inference.prevalence is not None or self.inference.keeps_class_sizes()

    def _mean_bounds(self, metric: Metric, tables: list[ScoreTable], value: float) -> tuple[float, float]:
        """From the intervals of both average precisions, with the correlation that their influences have (MOVER)."""
        parts = (ranking.average_precision, ranking.negative_average_precision)
        (one, a), (other, b) = (self._estimate(part, {}, tables[0]) for part in parts)
        of_sum, error = 4 * self._estimate(metric, {}, tables[0])[1].variance, sqrt(a.variance * b.variance)
        correlation = (of_sum - a.variance - b.variance) / (2 * error) if 0 < error < inf else 1.0
        one_low, one_high = self._bounds(parts[0], {}, tables, one)
        other_low, other_high = self._bounds(parts[1], {}, tables, other)
        down, up = (
            sqrt(max(x**2 + y**2 + 2 * correlation * x * y, 0.0)) / 2
            for x, y in ((one - one_low, other - other_low), (one_high - one, other_high - other))
        )
        return value - down, value + up

    def _estimate(
        self, metric: Metric, parameters: Mapping[str, Any], table: ScoreTable
    ) -> tuple[float, StudentSpread]:
        """The value on a table and its variance, made once, as some metrics are made of others.

        Where the shares of the classes are fixed they do not move the value: each class is read around its mean.
        """
        key = (id(table), metric.scores, repr(parameters))
        if key in self._estimates:
            return self._estimates[key]
        influence, spread = score_influence(metric, table, parameters), StudentSpread(inf, 1.0)
        if influence is not None:
            classes = []
            for side, values in zip(table.classes, influence, strict=True):
                weights = side.weights.astype(np.float64)
                squares = weights if side.given_squares is None else side.squares.astype(np.float64)
                with np.errstate(invalid="ignore"):
                    centre = float(weights @ values / weights.sum()) if self._fixed_shares else 0.0
                # A loss that is infinite has no centre, and no bounded variance either way.
                classes.append(ClassInfluence(values - (centre if np.isfinite(centre) else 0.0), weights, squares))
            spread = class_spread(*classes)
        spread = spread if self.clusters is None else self.clusters.widened(metric, parameters, spread)
        self._estimates[key] = float(score_values(metric, table, parameters)), spread
        return self._estimates[key]

    def _share_bounds(
        self,
        metric: Metric,
        parameters: Mapping[str, Any],
        table: ScoreTable,
        estimates: list[tuple[float, StudentSpread]],
        value: float,
    ) -> tuple[float, float]:
        """Wilson's interval, between the least that the parameters allow and 1."""
        least = _least(metric, parameters)
        scaled = min(max((value - least) / (1 - least), 0.0), 1.0)
        used = estimates[:2] if metric.family == "calibration" and not metric.range[0] else estimates
        lows, highs = [scaled], [scaled]
        for i, (at, spread) in enumerate(used):
            share = (at - least) / (1 - least)
            if 0 < share < 1 and 0 < spread.variance < inf:
                trials = share * (1 - share) * (1 - least) ** 2 / spread.variance
                quantile = student_reach(self.inference.level, max(spread.degrees, 1.0))
                low, high = score_ends(scaled, trials, quantile)
                lows.append(float(low))
                highs.append(float(high))
                if i == 1:  # with half a row more of each class anywhere
                    unbiased = max(scaled - precision_bias(metric, table) / (1 - least), 0.0)
                    lows.append(float(score_ends(unbiased, trials, quantile)[0]))
        return least + (1 - least) * min(lows), least + (1 - least) * max(highs)

    def _symmetric_bounds(self, estimates: list[tuple[float, StudentSpread]], value: float) -> tuple[float, float]:
        """Around the value by the larger of both errors; without limits where no variance is known."""
        spreads = [spread for _, spread in estimates if isfinite(spread.variance)]
        if not spreads:
            return -inf, inf
        half_width = max(spread.half_width(self.inference.level) if spread.variance else 0.0 for spread in spreads)
        return value - half_width, value + half_width

    def _loss_bounds(
        self, table: ScoreTable, estimates: list[tuple[float, StudentSpread]], value: float
    ) -> tuple[float, float]:
        """On the scale of the logarithm; the upper bound is at least that with half a row more of each class.

        It is infinite where such a row would be given probability 0 often enough. Where the half-width exceeds the
        loss, as with two or three clusters of a class, the factor grows with it and not with its exponential.
        """
        (at, spread), (with_more, wider) = estimates[:2]
        spread = spread if isfinite(spread.variance) else wider
        half_width = spread.half_width(self.inference.level)
        factor = (exp(half_width / at) if half_width < at else exp(1.0) * half_width / at) if at > 0 else 1.0
        if isfinite(with_more):
            above = with_more + wider.half_width(self.inference.level)
        else:
            above = inf if _certain_share(table) > self.inference.tails[0] else value
        return value / factor, max(value * factor, above)


def _worst_loss(table: ScoreTable) -> float:
    """The log loss where the most certain probability of the table is wrong for every row."""
    extremes = [float(end) for side in table.classes for end in (side.scores.min(), side.scores.max())]
    least = min(*extremes, 1 - max(extremes))
    return -log(least) if least > 0 else inf


def _certain_share(table: ScoreTable) -> float:
    """The share of rows that were given probability 0 or 1."""
    certain = sum(side.weights[(side.scores <= 0) | (side.scores >= 1)].sum() for side in table.classes)
    return float(certain / table.total)


def _least(metric: Metric, parameters: Mapping[str, Any]) -> float:
    """The least value that a ranking can have: an area up to a false positive rate is scaled so that it is above 0."""
    if not metric.is_rank_probability or not parameters.get("max_fpr"):
        return metric.range[0]
    worst = ScoreTable(ClassScores(np.zeros(1)), ClassScores(np.ones(1)))
    return float(score_values(metric, worst, parameters))
