"""Point intervals: intervals of metrics at one point of a curve, such as the precision of the rows that score highest.

The variance of such a value depends on how many positives there are among the rows at the threshold itself, as it moves
with them; that share is read off the rows next to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.distributions import beta_below, normal_reach, student_reach
from steelyard.analysis.intervals.influence_spread import welch
from steelyard.analysis.intervals.point_thresholds import PointRange, is_at_point
from steelyard.analysis.intervals.rate_intervals import jeffreys, score_ends
from steelyard.analysis.levels import tails
from steelyard.metrics import ranking
from steelyard.statistics.device_array import DeviceArray
from steelyard.statistics.score_order import chunks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steelyard._types import Array
    from steelyard.analysis.intervals.estimand import Estimand
    from steelyard.metrics.metric import Metric
    from steelyard.statistics.score_table import ScoreTable

NEIGHBOURS = 0.8  # the power of the flagged rows, or of those left, that are read around a threshold
_AT_ONCE, _CHECKED = 16_384, 64  # thresholds that are screened at a time, and of them those looked at closely


def is_of_highest(metric: Metric) -> bool:
    """Whether the metric is of the rows that score highest, so many of them or such a share."""
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
    point = _Point.at(table, flagged)
    variance, degrees = point.recall_spread(is_lift=is_lift, fixed_shares=fixed_shares)
    most, scale = (1 / flagged, 1.0) if is_lift else (1.0, point.share / flagged)
    centre = point.recall if is_lift else point.precision
    if not is_lift and fixed_shares and scale < 1:  # so few positives that it is their recall on a scale of its own
        most, scale, centre = scale, 1.0, point.recall
    trials = centre * (1 - centre) / max(scale**2 * variance, 1e-300)
    reach = student_reach(level, max(degrees, 1.0))
    low, high = (most * float(end) for end in score_ends(min(value / most, 1.0), trials, reach))
    if not is_lift:  # of nine right rows of ten Wilson's interval ends below a precision that is often nine of ten
        ends = jeffreys(np.asarray(min(value / most, 1.0) * trials), np.asarray(trials), level)
        return min(low, most * float(ends[0])), max(high, most * float(ends[1]))
    if fixed_shares:
        return low, min(high, 1 / point.share)  # what a perfect ranking has
    return low, max(high, _highest_lift(value, flagged, point, reach))


def _highest_lift(value: float, flagged: float, point: _Point, reach: float) -> float:
    """The upper end where a perfect ranking has less than 1 / flagged, as more rows are positive than flagged.

    How much of a perfect ranking's lift is reached, and that lift, which the share of positives limits, are two factors
    whose upper ends are joined (MOVER). With 8 expected positives of 88 rows, near-perfect scores and a tenth flagged,
    lift covered .82 without it, every miss below the true value, and covers .96 with it (300 runs).
    """
    rows = sum(point.sizes)
    perfect = 1 / max(flagged, point.share)
    least_share = float(score_ends(point.share, rows, reach)[0])
    reached = min(value / perfect, 1.0)
    upper = float(score_ends(reached, min(flagged, point.share) * rows, reach)[1])
    if perfect * max(flagged, least_share) >= 1 or not reached:
        return value
    factors = np.log([upper / reached, 1 / (perfect * max(flagged, least_share))])
    return min(value * float(np.exp(np.hypot(*factors))), 1 / flagged)


@dataclass(frozen=True)
class _Point:
    """A threshold: both rates with half a row more on either side of it, and the share of positives next to it."""

    recall: float
    false: float
    local: float
    share: float
    sizes: tuple[float, float]

    @classmethod
    def at(cls, table: ScoreTable, flagged: float) -> _Point:
        """The threshold that flags such a share of the rows."""
        tp, fp = (cell.astype(np.float64) for cell in (table.counts.tp, table.counts.fp))
        sizes, share = (table.positive.effective_size, table.negative.effective_size), tp[-1] / (tp[-1] + fp[-1])
        rows, shares = sum(sizes), (tp + fp) / (tp[-1] + fp[-1])
        reach = max(min(flagged, 1 - flagged) * rows, 1.0) ** NEIGHBOURS / rows
        low, high = max(flagged - reach, 0.0), min(flagged + reach, 1.0)
        below, recall, above = np.interp([low, flagged, high], shares, tp / tp[-1]).tolist()
        false = float(np.interp(flagged, shares, fp / fp[-1]))
        local = (share * (above - below) + 0.5 * share / rows) / (high - low + 0.5 / rows)
        recall, false = ((rate * size + 0.5) / (size + 1) for rate, size in zip((recall, false), sizes, strict=True))
        return cls(recall, false, float(local), float(share), sizes)

    @property
    def precision(self) -> float:
        """The precision by both rates."""
        return self.share * self.recall / (self.share * self.recall + (1 - self.share) * self.false)

    def recall_spread(self, *, is_lift: bool, fixed_shares: bool) -> tuple[float, float]:
        """The variance of the recall where such a share of the rows is flagged, and its degrees of freedom.

        Of the precision, where recall is multiplied by the prevalence, that moves as well.
        """
        (positives, negatives), share = self.sizes, self.share
        moved = -self.local / share * (self.recall - self.false) + (0.0 if is_lift else self.recall / share)
        of_share = 0.0 if fixed_shares else share * (1 - share) / (positives + negatives)
        variances = [
            (1 - self.local) ** 2 * self.recall * (1 - self.recall) / positives,
            (self.local * (1 - share) / share) ** 2 * self.false * (1 - self.false) / negatives,
            moved**2 * of_share,
        ]
        spread = welch(variances, [max(positives - 1, 0.5), max(negatives - 1, 0.5), positives + negatives])
        return spread.variance, spread.degrees


def widened(estimand: Estimand, low: float, high: float, level: float) -> tuple[float, float]:
    """The ends of draws; those of a metric of one threshold reach down to what is sure, and as far as its rates do."""
    table: ScoreTable = estimand.table  # type: ignore[assignment]  # a metric of scores
    if not is_at_point(estimand.metric) or np.isnan(low):
        return low, high
    point = PointRange.of(estimand, table)
    is_highest = estimand.metric.scores is ranking.recall_at_precision.scores
    low = min(low, _surest_recall(estimand, table, level) if is_highest else point.surest(level))
    ends = point.own_ends(level)
    return (low, high) if ends is None else (min(low, ends[0]), max(high, ends[1]))


def _surest_recall(estimand: Estimand, table: ScoreTable, level: float) -> float:
    """The highest recall at a threshold whose precision is above the given one by Jeffreys' interval; 0 if at none.

    A highest recall is found where luck is best, so no draws of these rows reach low enough: where the true one is 0,
    as heavy-tailed scores have it, they covered .36 to .78 with 5 to 30 positives, and all misses lay below. With
    this they cover .92 to 1.00 (14 settings at a precision of 0.3 and of 0.9, 150 runs each). Of few rows it is a
    wide interval: a precision of 0.9 takes 24 flagged rows without an error to be sure of.
    """
    reached, precision = PointRange.of(estimand, table), estimand.parameters["at"]
    pairs = zip(reached.rows, reached.curve.rows_per_weight, strict=True)
    tp, fp = (rows / each for rows, each in pairs)  # below them none may have the precision, above them all are sure
    usual = table.total / (table.positive.effective_size + table.negative.effective_size)
    hits, misses = tp / usual, fp / usual
    near = np.flatnonzero((hits > 0) & (hits + 2 > precision * (hits + misses)))  # of a lower precision none is sure
    at_once = len(near) if isinstance(near, DeviceArray) else _AT_ONCE
    for part in chunks(len(near), max(at_once, 1)):  # the highest recall comes first
        some = near[part]
        a, b = hits[some] + 0.5, misses[some] + 0.5
        likely = np.flatnonzero(may_be_above(precision, a, b, level))
        for few in (likely[step] for step in chunks(len(likely), _CHECKED)):
            sure = beta_below(precision, a[few], b[few]) <= tails(level)[0]
            if sure.any():
                return float(tp[some[few[sure.argmax()]]] / table.positive.total)
    return 0.0


def may_be_above(value: float, a: Array, b: Array, level: float) -> Array:
    """Whether beta distributions may lie above a value with that confidence: by a normal one, a margin below.

    It spares the incomplete beta function, 4 microseconds each, where among millions of rows thousands of thresholds
    stand between a precision that is reached and one that is sure. The margin is five times what the skewness of a beta
    distribution moves its quantiles by, of which the smaller parameter m makes at most 2 / sqrt(m).
    """
    mean, reach = a / (a + b), normal_reach(level)
    margin = 5 * (1 + reach**2) / (3 * np.sqrt(np.minimum(a, b)))
    above: Array = mean - value >= (reach - margin) * np.sqrt(mean * (1 - mean) / (a + b + 1))
    return above
