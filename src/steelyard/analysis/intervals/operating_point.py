"""Operating points: intervals of what is read at one point of a curve, such as the recall at a precision.

Draws only need the thresholds near that point. Among a million rows the threshold of another sample differs by a few
thousandths of the recall, so thresholds from all scores would be too far apart: the drawn threshold would never change,
and with 256 of them precision and specificity at recall covered .70 and .58 (one row in ten positive).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import ceil, exp, hypot, log, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from steelyard.analysis.distributions import beta_below, beta_quantile, normal_reach, student_reach
from steelyard.analysis.intervals.design import welch
from steelyard.analysis.intervals.rate_intervals import exact, jeffreys, score_ends
from steelyard.analysis.levels import tails
from steelyard.analysis.prevalence.prevalence import positive_shares
from steelyard.arrays.backend import backend_of
from steelyard.arrays.sorting import chunks
from steelyard.metrics import discrimination, ranking

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steelyard._types import Array
    from steelyard.analysis.intervals.estimand import Estimand
    from steelyard.analysis.prevalence.prevalence import PrevalenceLike
    from steelyard.metrics.measure import Metric
    from steelyard.tables.score_table import ScoreTable


_ERRORS = 4.0  # standard errors beyond which next to no draw lies
_AT_ONCE = 2_048  # thresholds looked at before those between them are
_CHECKED = 16  # thresholds among which that with the highest certain rate is sought
_LIMITS = 128  # thresholds among which the last that certainly, or possibly, keeps the limit is sought
_NO_ROWS = 1e-9  # stands for 0 rows in a beta distribution
_ROUNDED = 1 - 1e-12  # by which factor sums of weights may be too low


def is_at_point(metric: Metric) -> bool:
    """Whether the metric is read at the threshold where a precision, a recall or a false positive rate is reached."""
    return metric.scores in _POINTS


@dataclass(frozen=True)
class PointRange:
    """The scores of positives that may be the threshold, by their first and last index in ascending order."""

    curve: _Curve
    point: _Point
    at: float
    first: int
    last: int

    @classmethod
    def of(cls, estimand: Estimand, table: ScoreTable, prevalence: PrevalenceLike | None = None) -> PointRange:
        """Those of a table of both classes, looked for once."""
        point, at = _POINTS[estimand.metric.scores], float(estimand.parameters["at"])
        share = None if prevalence is None else float(positive_shares(table, prevalence))
        key = (point, at, share)
        if key not in table.remembered:
            curve = _Curve.of(table, share)
            table.remembered[key] = cls(curve, point, at, *curve.narrowed(point.find, at))
        point_range: PointRange = table.remembered[key]
        return point_range

    def indices(self, most: int) -> Array:
        """At most so many indices, evenly among them, and that of the threshold of these rows."""
        every = np.linspace(self.first, self.last, min(most, self.last - self.first + 1)).astype(np.int64)
        return np.union1d(every, self._threshold)

    @cached_property
    def rows(self) -> tuple[Array, Array]:
        """The effective rows of each class that are flagged at each of these scores."""
        return self.curve.rows(slice(self.first, self.last + 1))

    @cached_property
    def _threshold(self) -> int:
        """The index of the threshold of these rows: the allowed one with the best rate."""
        hits, misses, allowed = self._rates(*self.rows)
        return self.first + int(np.where(allowed, hits / (hits + misses), -1.0).argmax())

    def _rates(self, tp: Array, fp: Array) -> tuple[Array, Array, Array]:
        """At each threshold the hits of the rate that is sought, its misses, and whether the threshold is allowed."""
        return *self.point.rate(self.curve, tp, fp), self.point.allowed(self.curve, tp, fp, self.at)

    def certain_rate(self, level: float) -> float:
        """The highest lower bound of the rate at an allowed threshold, by Jeffreys' interval; 0 if none is allowed.

        Where no row is on the wrong side of the threshold, draws of these rows show none either: with near-perfect
        scores (150 positives of 3,000 rows, 200 runs) they covered the precision at a recall of 0.5 in .22 of the runs
        and the specificity in .30, nearly all misses below the lower bound.
        """
        indices = self.indices(_CHECKED) - self.first
        hits, misses, allowed = self._rates(*(side[indices] for side in self.rows))
        if not allowed.any():
            return 0.0
        low = float(beta_quantile(tails(level)[0], hits[allowed] + 0.5, misses[allowed] + 0.5).max())
        return 1 / (1 + (1 - low) / low * exp(-self.curve.log_odds)) if self.point.is_precision else low

    def exact_bounds(self, level: float) -> tuple[float, float] | None:
        """The bounds by exact intervals of the rate that is sought and of the limited one; None for a precision.

        A rate of 0 or 1 at the threshold of these rows is so in every draw of them, and beyond their last score they
        show no threshold. So the rate has Clopper and Pearson's bounds at that threshold, joined (MOVER) with the
        distance to the rate at the best threshold that certainly keeps the limit, or to 0 where none does, and to that
        at the best that possibly does. With 5 to 15 positives of 400 to 1,000 rows draws alone covered the recall at a
        false positive rate of .1 in .44 to .86, and at one of .01 in .08 to .30.
        """
        if self.point.is_precision:
            return None
        indices = self.indices(_LIMITS) - self.first
        tp, fp = (side[indices] for side in self.rows)
        hits, misses, allowed = self._rates(tp, fp)
        trials = float(hits[0] + misses[0])
        rates = hits / trials
        value = float(rates[allowed].max()) if allowed.any() else 0.0
        low, high = (float(bound) for bound in exact(np.asarray(value * trials), np.asarray(trials), level))
        if self.point.limited is None:
            return value, high
        certainly, certainly_not = self.point.limited(self.curve, tp, fp, self.at, tails(level)[0])
        certain = float(rates[certainly].max()) if certainly.any() else 0.0
        possible = max(float(rates[~certainly_not].max()), value) if (~certainly_not).any() else value
        down, up = hypot(max(value - certain, 0.0), value - low), hypot(possible - value, high - value)
        return max(value - down, 0.0), min(value + up, 1.0)


def point_thresholds(estimand: Estimand, table: ScoreTable, prevalence: PrevalenceLike | None, most: int) -> Array:
    """About so many scores of positives, ascending, of a table of both classes."""
    scores: Array = table.positive.distinct[0][PointRange.of(estimand, table, prevalence).indices(most)]
    return scores


@dataclass(frozen=True)
class _Curve:
    """The weight of each class at or above each score of a positive, ascending, and the effective rows per weight."""

    tp: Array
    fp: Array
    rows_per_weight: tuple[float, float]
    positives: float  # effective rows
    negatives: float
    log_odds: float  # added to the log odds of these rows, they are those at the deployment prevalence

    @classmethod
    def of(cls, table: ScoreTable, prevalence: float | None) -> _Curve:
        """The curve of a table of both classes, at the deployment prevalence."""
        _, tp, fp = table.at_positive_scores
        sizes, totals = zip(*((side.effective_size, float(side.total)) for side in table.classes), strict=True)
        share = totals[0] / sum(totals) if prevalence is None else prevalence
        rows_per_weight = (sizes[0] / totals[0], sizes[1] / totals[1])
        log_odds = log(share / (1 - share)) - log(sizes[0] / sizes[1])
        return cls(tp, fp, rows_per_weight, sizes[0], sizes[1], log_odds)

    def rows(self, indices: slice) -> tuple[Array, Array]:
        """The effective rows of each class that are flagged at some thresholds."""
        return self.tp[indices] * self.rows_per_weight[0], self.fp[indices] * self.rows_per_weight[1]

    def narrowed(self, find: _FindRange, at: float) -> tuple[int, int]:
        """The indices of the lowest and the highest score that may be the threshold, first by steps, then between."""
        low, high = 0, len(self.tp) - 1
        while True:
            step = ceil((high - low + 1) / _AT_ONCE)
            first, last = find(self, *self.rows(slice(low, high + 1, step)), at)
            lowest, highest = max(low + (first - 1) * step, low), min(low + (last + 1) * step, high)
            if step == 1 or 2 * (highest - lowest) > high - low:
                return lowest, highest
            low, high = lowest, highest

    def odds(self, tp: Array, fp: Array) -> tuple[Array, Array]:
        """The log odds of the precision with half a row more of each class, and their standard error."""
        return np.log((tp + 0.5) / (fp + 0.5)) + self.log_odds, np.sqrt(1 / (tp + 0.5) + 1 / (fp + 0.5))


# ---------------------------------------------------------------- the indices of rising thresholds that may be the one


def _of_precision(curve: _Curve, tp: Array, fp: Array, at: float) -> tuple[int, int]:
    """From the lowest threshold that may have the precision to the lowest that certainly has."""
    odds, error = curve.odds(tp, fp)
    required = log(at / (1 - at)) if at < 1 else np.inf
    return _from_possible(odds + _ERRORS * error >= required, odds - _ERRORS * error >= required)


def _of_false_alarms(curve: _Curve, _: Array, fp: Array, at: float) -> tuple[int, int]:
    """From the lowest threshold that may have so few false alarms to the lowest that certainly has."""
    rate, error = fp / curve.negatives, _ERRORS * _rate_error(at, curve.negatives)
    return _from_possible(rate - error <= at, rate + error <= at)


def _from_possible(possible: Array, certain: Array) -> tuple[int, int]:
    return int(possible.argmax()), int(certain.argmax()) if certain.any() else len(certain) - 1


def _of_recall(curve: _Curve, tp: Array, _: Array, at: float) -> tuple[int, int]:
    """From the highest threshold that certainly has the recall to the highest that may have it."""
    recall, error = tp / curve.positives, _ERRORS * _rate_error(at, curve.positives)
    certain, possible = int((recall - error >= at).sum()), int((recall + error >= at).sum())
    return max(certain - 1, 0), max(possible - 1, 0)


def _of_best_precision(curve: _Curve, tp: Array, fp: Array, at: float) -> tuple[int, int]:
    """The same, from the lowest threshold that may be as precise as the best that certainly has the recall."""
    certain, last = _of_recall(curve, tp, fp, at)
    odds, error = curve.odds(tp, fp)
    best = int(odds[: certain + 1].argmax())
    between, of_between = curve.odds(tp[:best] - tp[best], fp[:best] - fp[best])  # rows that the best does not flag
    possible = between + _ERRORS * np.hypot(of_between, error[best]) >= odds[best]
    return int(possible.argmax()) if possible.any() else best, last


def _rate_error(rate: float, rows: float) -> float:
    return sqrt(rate * (1 - rate) / rows) + 1 / rows


# ---------------------------------------------------------------- the metrics: the limit, and the rate that is sought


def _has_precision(curve: _Curve, tp: Array, fp: Array, at: float) -> Array:
    return np.asarray((1 - at) * exp(curve.log_odds) * tp >= at * fp * _ROUNDED)


def _has_recall(curve: _Curve, tp: Array, _: Array, at: float) -> Array:
    return np.asarray(tp >= at * curve.positives * _ROUNDED)


def _has_few_false_alarms(curve: _Curve, _: Array, fp: Array, at: float) -> Array:
    return np.asarray(fp * _ROUNDED <= at * curve.negatives)


def _certainly_recall(curve: _Curve, tp: Array, _: Array, at: float, error: float) -> tuple[Array, Array]:
    return _mid_p(tp, curve.positives, at, error)


def _certainly_few_false_alarms(curve: _Curve, _: Array, fp: Array, at: float, error: float) -> tuple[Array, Array]:
    above, below = _mid_p(fp, curve.negatives, at, error)
    return below, above


def _mid_p(hits: Array, trials: float, at: float, error: float) -> tuple[Array, Array]:
    """Whether rates are above a value, and whether they are below it, by the mid-P form of Clopper and Pearson's test.

    By the whole tail 30 rows without an error would not show a rate below .1, and 30 positives and negatives that are
    separated but for one or two would have an interval from 0 to 1.
    """
    others = np.maximum(trials - hits, 0.0)
    more = beta_below(at, hits + 1, np.maximum(others, _NO_ROWS))
    as_many = beta_below(at, np.maximum(hits, _NO_ROWS), others + 1)
    p_value = (more + as_many) / 2
    return p_value <= error, p_value >= 1 - error


def _precision(_: _Curve, tp: Array, fp: Array) -> tuple[Array, Array]:
    return tp, fp


def _recall(curve: _Curve, tp: Array, _: Array) -> tuple[Array, Array]:
    return tp, np.maximum(curve.positives - tp, 0.0)


def _specificity(curve: _Curve, _: Array, fp: Array) -> tuple[Array, Array]:
    return np.maximum(curve.negatives - fp, 0.0), fp


_FindRange: TypeAlias = Callable[[_Curve, Any, Any, float], tuple[int, int]]


class _Point(NamedTuple):
    """A metric of one threshold: where that may lie, which are allowed, and the rate that the best of them has."""

    find: _FindRange
    allowed: Callable[[_Curve, Any, Any, float], Array]
    rate: Callable[[_Curve, Any, Any], tuple[Array, Array]]
    # which certainly keep the limit, and which certainly do not, where that is a rate of one class
    limited: Callable[[_Curve, Any, Any, float, float], tuple[Array, Array]] | None = None

    @property
    def is_precision(self) -> bool:
        """Whether the rate moves with the prevalence."""
        return self.rate is _precision


_POINTS: dict[object, _Point] = {
    ranking.recall_at_precision.scores: _Point(_of_precision, _has_precision, _recall),
    ranking.precision_at_recall.scores: _Point(_of_best_precision, _has_recall, _precision),
    discrimination.recall_at_fpr.scores: _Point(
        _of_false_alarms, _has_few_false_alarms, _recall, _certainly_few_false_alarms
    ),
    discrimination.specificity_at_recall.scores: _Point(_of_recall, _has_recall, _specificity, _certainly_recall),
}


# ---------------------------------------------------------------- point intervals
# Intervals of metrics at one point of a curve, such as the precision of the rows that score highest.
#
# The variance of such a value depends on how many positives there are among the rows at the threshold itself, as it
# moves with them; that share is read off the rows next to it.


NEIGHBOURS = 0.8  # the power of the flagged rows, or of the others, that are read around a threshold
_SCREENED_AT_ONCE, _CHECKED_CLOSELY = 16_384, 64  # thresholds that are screened, and tested, at a time


def is_of_highest(metric: Metric) -> bool:
    """Whether the metric is about the rows that score highest, so many of them or such a share."""
    return metric.scores in (ranking.lift.scores, ranking.precision_at_k.scores)


def interval_of_highest(
    metric: Metric, parameters: Mapping[str, Any], table: ScoreTable, value: float, level: float, *, fixed_shares: bool
) -> tuple[float, float]:
    """The interval of precision at k, or of lift as the recall among the flagged share of rows.

    With 5 to 30 positives among 200 to 1,000 rows (normal, t2, tied scores; no skill to near-perfect; 300 runs each) it
    covered .89 to 1.00 at 95 % in 27 settings tried, where a Bayesian bootstrap covers .33 to 1.00.
    """
    is_lift = metric.scores is ranking.lift.scores
    flagged = parameters["share"] if is_lift else min(parameters["k"] / table.n, 1.0)
    point = _RatesAt.at(table, flagged)
    variance, degrees = point.recall_variance(is_lift=is_lift, fixed_shares=fixed_shares)
    most, scale = (1 / flagged, 1.0) if is_lift else (1.0, point.share / flagged)
    centre = point.recall if is_lift else point.precision
    if not is_lift and fixed_shares and scale < 1:  # so few positives that it is their recall on another scale
        most, scale, centre = scale, 1.0, point.recall
    trials = centre * (1 - centre) / max(scale**2 * variance, 1e-300)
    quantile = student_reach(level, max(degrees, 1.0))
    low, high = (most * float(bound) for bound in score_ends(min(value / most, 1.0), trials, quantile))
    if not is_lift:  # with nine right rows of ten Wilson's interval ends below a precision that is often nine of ten
        bounds = jeffreys(np.asarray(min(value / most, 1.0) * trials), np.asarray(trials), level)
        return min(low, most * float(bounds[0])), max(high, most * float(bounds[1]))
    if fixed_shares:
        return low, min(high, 1 / point.share)  # the lift of a perfect ranking
    return low, max(high, _highest_lift(value, flagged, point, quantile))


def _highest_lift(value: float, flagged: float, point: _RatesAt, quantile: float) -> float:
    """The upper bound where a perfect ranking has less than 1 / flagged, as more rows are positive than flagged.

    The reached share of a perfect ranking's lift, and that lift, which the share of positives limits, are two factors
    whose upper bounds are joined (MOVER). With 8 expected positives of 88 rows, near-perfect scores and a tenth
    flagged, lift covered .82 without it, every miss below the true value, and covers .96 with it (300 runs).
    """
    rows = sum(point.sizes)
    perfect = 1 / max(flagged, point.share)
    least_share = float(score_ends(point.share, rows, quantile)[0])
    reached = min(value / perfect, 1.0)
    upper = float(score_ends(reached, min(flagged, point.share) * rows, quantile)[1])
    if perfect * max(flagged, least_share) >= 1 or not reached:
        return value
    factors = np.log([upper / reached, 1 / (perfect * max(flagged, least_share))])
    return min(value * float(np.exp(np.hypot(*factors))), 1 / flagged)


@dataclass(frozen=True)
class _RatesAt:
    """A threshold: both rates with half a row more on either side of it, and the share of positives next to it."""

    recall: float
    fpr: float
    local_share: float
    share: float
    sizes: tuple[float, float]

    @classmethod
    def at(cls, table: ScoreTable, flagged: float) -> _RatesAt:
        """The threshold that flags such a share of the rows."""
        tp, fp = (cell.astype(np.float64) for cell in (table.counts.tp, table.counts.fp))
        sizes, share = (table.positive.effective_size, table.negative.effective_size), tp[-1] / (tp[-1] + fp[-1])
        rows, shares = sum(sizes), (tp + fp) / (tp[-1] + fp[-1])
        width = max(min(flagged, 1 - flagged) * rows, 1.0) ** NEIGHBOURS / rows
        low, high = max(flagged - width, 0.0), min(flagged + width, 1.0)
        below, recall, above = np.interp([low, flagged, high], shares, tp / tp[-1]).tolist()
        fpr = float(np.interp(flagged, shares, fp / fp[-1]))
        local_share = (share * (above - below) + 0.5 * share / rows) / (high - low + 0.5 / rows)
        recall, fpr = ((rate * size + 0.5) / (size + 1) for rate, size in zip((recall, fpr), sizes, strict=True))
        return cls(recall, fpr, float(local_share), float(share), sizes)

    @property
    def precision(self) -> float:
        """The precision by both rates."""
        return self.share * self.recall / (self.share * self.recall + (1 - self.share) * self.fpr)

    def recall_variance(self, *, is_lift: bool, fixed_shares: bool) -> tuple[float, float]:
        """The variance of the recall where such a share of the rows is flagged, and its degrees of freedom.

        For the precision, where recall is multiplied by the prevalence, the prevalence varies as well.
        """
        (positives, negatives), share = self.sizes, self.share
        by_share = -self.local_share / share * (self.recall - self.fpr) + (0.0 if is_lift else self.recall / share)
        of_share = 0.0 if fixed_shares else share * (1 - share) / (positives + negatives)
        variances = [
            (1 - self.local_share) ** 2 * self.recall * (1 - self.recall) / positives,
            (self.local_share * (1 - share) / share) ** 2 * self.fpr * (1 - self.fpr) / negatives,
            by_share**2 * of_share,
        ]
        spread = welch(variances, [max(positives - 1, 0.5), max(negatives - 1, 0.5), positives + negatives])
        return spread.variance, spread.degrees


def widened(estimand: Estimand, low: float, high: float, level: float) -> tuple[float, float]:
    """The bounds by draws; for a metric of one threshold also as far as what is certain, and as its exact bounds."""
    table = estimand.score_table
    if not is_at_point(estimand.metric) or np.isnan(low):
        return low, high
    point = PointRange.of(estimand, table)
    is_highest = estimand.metric.scores is ranking.recall_at_precision.scores
    low = min(low, _certain_recall(estimand, table, level) if is_highest else point.certain_rate(level))
    bounds = point.exact_bounds(level)
    return (low, high) if bounds is None else (min(low, bounds[0]), max(high, bounds[1]))


def _certain_recall(estimand: Estimand, table: ScoreTable, level: float) -> float:
    """The highest recall at a threshold whose precision is above the given one by Jeffreys' interval; 0 if at none.

    A highest recall is found where luck is best, so no draws of these rows are low enough: where the true one is 0, as
    with heavy-tailed scores, they covered .36 to .78 with 5 to 30 positives, and all misses lay below. With this they
    cover .92 to 1.00 (14 settings at a precision of 0.3 and of 0.9, 150 runs each). With few rows it is a wide
    interval: a precision of 0.9 takes 24 flagged rows without an error to be certain of.
    """
    point, precision = PointRange.of(estimand, table), estimand.parameters["at"]
    pairs = zip(point.rows, point.curve.rows_per_weight, strict=True)
    tp, fp = (rows / per_weight for rows, per_weight in pairs)  # lower thresholds have too low a precision
    usual = table.total / (table.positive.effective_size + table.negative.effective_size)
    hits, misses = tp / usual, fp / usual
    possible = np.flatnonzero((hits > 0) & (hits + 2 > precision * (hits + misses)))
    for part in backend_of(possible).chunks(len(possible), _SCREENED_AT_ONCE):  # the highest recall comes first
        some = possible[part]
        a, b = hits[some] + 0.5, misses[some] + 0.5
        likely = np.flatnonzero(may_be_above(precision, a, b, level))
        for few in (likely[step] for step in chunks(len(likely), _CHECKED_CLOSELY)):
            certain = beta_below(precision, a[few], b[few]) <= tails(level)[0]
            if certain.any():
                return float(tp[some[few[certain.argmax()]]] / table.positive.total)
    return 0.0


def may_be_above(value: float, a: Array, b: Array, level: float) -> Array:
    """Whether beta distributions may lie above a value with that confidence: by a normal one, with a margin.

    It spares the incomplete beta function, 4 microseconds each, where among millions of rows thousands of thresholds
    stand between a precision that is reached and one that is certain. The margin is five times the change of the
    quantiles by the skewness of a beta distribution, which is at most 2 / sqrt(m) for the smaller parameter m.
    """
    mean, z = a / (a + b), normal_reach(level)
    margin = 5 * (1 + z**2) / (3 * np.sqrt(np.minimum(a, b)))
    above: Array = mean - value >= (z - margin) * np.sqrt(mean * (1 - mean) / (a + b + 1))
    return above
