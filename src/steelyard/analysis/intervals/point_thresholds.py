"""Point thresholds: those among which the threshold of recall at precision, and the like, lies in any other sample.

Draws need no other. Among a million rows the threshold of another sample differs by a few thousandths of the recall, so
that thresholds spread over all scores would stand too far apart: the drawn threshold would never move, and the interval
would be too narrow. With 256 of them precision and specificity at recall covered .70 and .58 (one row in ten positive).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import ceil, exp, hypot, log, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from steelyard.analysis.distributions import beta_below, beta_quantile
from steelyard.analysis.intervals.rate_intervals import exact
from steelyard.analysis.levels import tails
from steelyard.analysis.prevalence.prevalence import positive_shares
from steelyard.metrics import discrimination, ranking

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.intervals.estimand import Estimand
    from steelyard.analysis.prevalence.prevalence import PrevalenceLike
    from steelyard.metrics.metric import Metric
    from steelyard.statistics.score_table import ScoreTable

_REACH = 4.0  # standard errors beyond which next to no draw comes
_AT_ONCE = 2_048  # thresholds looked at before those between them are
_CHECKED = 16  # thresholds of which one may have the surest rate
_LIMITS = 128  # thresholds of which one is the last that surely, or possibly, keeps the limit
_NO_ROWS = 1e-9  # what stands for no rows in a beta distribution
_ROUNDED = 1 - 1e-12  # what sums of weights may be off by


def is_at_point(metric: Metric) -> bool:
    """Whether the metric is of the threshold at which a precision, a recall or a false positive rate is reached."""
    return metric.scores in _POINTS


@dataclass(frozen=True)
class PointRange:
    """The places, among the ascending scores of the positives, of those that may be the threshold, and the curve."""

    curve: _Curve
    point: _Point
    at: float
    first: int
    last: int

    @classmethod
    def of(cls, estimand: Estimand, table: ScoreTable, prevalence: PrevalenceLike | None = None) -> PointRange:
        """Those of a table of both classes, looked for once."""
        point, at = _POINTS[estimand.metric.scores], float(estimand.parameters["at"])
        key = (point, at, None if prevalence is None else float(positive_shares(table, prevalence)))
        if key not in table.remembered:
            curve = _Curve.of(table, key[2])
            table.remembered[key] = cls(curve, point, at, *curve.narrowed(point.find, at))
        kept: PointRange = table.remembered[key]
        return kept

    def places(self, most: int) -> Array:
        """At most so many places, evenly among them, and that of the threshold of these rows."""
        every = np.linspace(self.first, self.last, min(most, self.last - self.first + 1)).astype(np.int64)
        return np.union1d(every, self._own_place)

    @cached_property
    def rows(self) -> tuple[Array, Array]:
        """The effective rows of each class that are flagged at each place."""
        return self.curve.rows(slice(self.first, self.last + 1))

    @cached_property
    def _own_place(self) -> int:
        hits, misses, allowed = self._shares(*self.rows)
        return self.first + int(np.where(allowed, hits / (hits + misses), -1.0).argmax())

    def _shares(self, tp: Array, fp: Array) -> tuple[Array, Array, Array]:
        """The rows of the rate that is sought at thresholds, those that it lacks, and which thresholds are allowed."""
        return *self.point.rate(self.curve, tp, fp), self.point.allowed(self.curve, tp, fp, self.at)

    def surest(self, level: float) -> float:
        """The highest lower end that the rate of an allowed threshold has by Jeffreys' interval; 0 of none.

        Where no row is on the wrong side of the threshold, draws of these rows show none either: of near-perfect scores
        (4 standard deviations apart, 150 positives of 3,000 rows, 200 runs) they covered the precision at a recall of
        0.5 in .22 of the runs and the specificity in .30, nearly all misses below the lower end.
        """
        places = self.places(_CHECKED) - self.first
        hits, misses, allowed = self._shares(*(side[places] for side in self.rows))
        if not allowed.any():
            return 0.0
        low = float(beta_quantile(tails(level)[0], hits[allowed] + 0.5, misses[allowed] + 0.5).max())
        return 1 / (1 + (1 - low) / low * exp(-self.curve.log_odds)) if self.point.is_precision else low

    def own_ends(self, level: float) -> tuple[float, float] | None:
        """The ends by exact intervals of the rate that is sought and of the one that is limited; None of a precision.

        A rate of 0 or 1 at the threshold of these rows is so in every draw of them, and beyond their last score they
        show no threshold. So the rate has Clopper and Pearson's ends at that threshold, joined (MOVER) with how far it
        is to the best threshold that surely keeps the limit, or 0 where none does, and to the best that possibly does.
        With 5 to 15 positives of 400 to 1,000 rows at random draws alone covered the recall at a false positive rate of
        .1 in .44 to .86, and at one of .01 in .08 to .30.
        """
        if self.point.is_precision:
            return None
        places = self.places(_LIMITS) - self.first
        tp, fp = (side[places] for side in self.rows)
        hits, misses, allowed = self._shares(tp, fp)
        trials = float(hits[0] + misses[0])
        rates = hits / trials
        value = float(rates[allowed].max()) if allowed.any() else 0.0
        low, high = (float(end) for end in exact(np.asarray(value * trials), np.asarray(trials), level))
        if self.point.limited is None:
            return value, high
        surely, not_possibly = self.point.limited(self.curve, tp, fp, self.at, tails(level)[0])
        sure = float(rates[surely].max()) if surely.any() else 0.0
        possible = max(float(rates[~not_possibly].max()), value) if (~not_possibly).any() else value
        down, up = hypot(max(value - sure, 0.0), value - low), hypot(possible - value, high - value)
        return max(value - down, 0.0), min(value + up, 1.0)


def point_thresholds(estimand: Estimand, table: ScoreTable, prevalence: PrevalenceLike | None, most: int) -> Array:
    """About so many scores of positives, ascending, of a table of both classes."""
    scores: Array = table.positive.distinct[0][PointRange.of(estimand, table, prevalence).places(most)]
    return scores


@dataclass(frozen=True)
class _Curve:
    """The weight of each class at or above each score of a positive, ascending, and what makes effective rows of it."""

    tp: Array
    fp: Array
    rows_per_weight: tuple[float, float]
    positives: float
    negatives: float
    log_odds: float  # what is added to the log odds of rows to have those of a positive in use

    @classmethod
    def of(cls, table: ScoreTable, prevalence: float | None) -> _Curve:
        """The curve of a table of both classes, at the deployment prevalence."""
        _, tp, fp = table.at_positive_scores
        sizes, totals = zip(*((side.effective_size, float(side.total)) for side in table.classes), strict=True)
        share = totals[0] / sum(totals) if prevalence is None else prevalence
        rows_per_weight = (sizes[0] / totals[0], sizes[1] / totals[1])
        log_odds = log(share / (1 - share)) - log(sizes[0] / sizes[1])
        return cls(tp, fp, rows_per_weight, sizes[0], sizes[1], log_odds)

    def rows(self, places: slice) -> tuple[Array, Array]:
        """The effective rows of each class that are flagged at the thresholds of some places."""
        return self.tp[places] * self.rows_per_weight[0], self.fp[places] * self.rows_per_weight[1]

    def narrowed(self, find: _FindRange, at: float) -> tuple[int, int]:
        """The places of the lowest and the highest score that may be the threshold; few are looked at, then between."""
        low, high = 0, len(self.tp) - 1
        while True:
            step = ceil((high - low + 1) / _AT_ONCE)
            first, last = find(self, *self.rows(slice(low, high + 1, step)), at)
            ends = max(low + (first - 1) * step, low), min(low + (last + 1) * step, high)
            if step == 1 or 2 * (ends[1] - ends[0]) > high - low:
                return ends
            low, high = ends

    def odds(self, tp: Array, fp: Array) -> tuple[Array, Array]:
        """The log odds of the precision with half a row more of each class, and their standard error."""
        return np.log((tp + 0.5) / (fp + 0.5)) + self.log_odds, np.sqrt(1 / (tp + 0.5) + 1 / (fp + 0.5))


# ---------------------------------------------------------------- the places of rising thresholds that may be the one


def _of_precision(curve: _Curve, tp: Array, fp: Array, at: float) -> tuple[int, int]:
    """From the lowest threshold that may have the precision to the lowest that surely has."""
    odds, error = curve.odds(tp, fp)
    wanted = log(at / (1 - at)) if at < 1 else np.inf
    return _from_possible(odds + _REACH * error >= wanted, odds - _REACH * error >= wanted)


def _of_false_alarms(curve: _Curve, _: Array, fp: Array, at: float) -> tuple[int, int]:
    """From the lowest threshold that may have so few false alarms to the lowest that surely has."""
    rate, error = fp / curve.negatives, _REACH * _rate_error(at, curve.negatives)
    return _from_possible(rate - error <= at, rate + error <= at)


def _from_possible(possible: Array, sure: Array) -> tuple[int, int]:
    return int(possible.argmax()), int(sure.argmax()) if sure.any() else len(sure) - 1


def _of_recall(curve: _Curve, tp: Array, _: Array, at: float) -> tuple[int, int]:
    """From the highest threshold that surely has the recall to the highest that may have it."""
    recall, error = tp / curve.positives, _REACH * _rate_error(at, curve.positives)
    sure, possible = (max(int((recall + off >= at).sum()) - 1, 0) for off in (-error, error))
    return sure, possible


def _of_best_precision(curve: _Curve, tp: Array, fp: Array, at: float) -> tuple[int, int]:
    """The same, from the lowest threshold that may be as precise as the best of those that surely have the recall."""
    sure, last = _of_recall(curve, tp, fp, at)
    odds, error = curve.odds(tp, fp)
    best = int(odds[: sure + 1].argmax())
    between, of_between = curve.odds(tp[:best] - tp[best], fp[:best] - fp[best])  # rows that the best does not flag
    possible = between + _REACH * np.hypot(of_between, error[best]) >= odds[best]
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


def _surely_recall(curve: _Curve, tp: Array, _: Array, at: float, error: float) -> tuple[Array, Array]:
    return _surely(tp, curve.positives, at, error)


def _surely_few_false_alarms(curve: _Curve, _: Array, fp: Array, at: float, error: float) -> tuple[Array, Array]:
    above, below = _surely(fp, curve.negatives, at, error)
    return below, above


def _surely(hits: Array, trials: float, at: float, error: float) -> tuple[Array, Array]:
    """Whether rates are above a value, and whether they are below it, by the mid-P form of Clopper and Pearson's test.

    By the whole tail 30 rows without an error would not show a rate below .1, and 30 positives and negatives that are
    separated but for one or two would have an interval from 0 to 1.
    """
    others = np.maximum(trials - hits, 0.0)
    more = beta_below(at, hits + 1, np.maximum(others, _NO_ROWS))
    as_many = beta_below(at, np.maximum(hits, _NO_ROWS), others + 1)
    likely = (more + as_many) / 2
    return likely <= error, likely >= 1 - error


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
    # which surely keep the limit, and which surely do not, where that is a rate of one class
    limited: Callable[[_Curve, Any, Any, float, float], tuple[Array, Array]] | None = None

    @property
    def is_precision(self) -> bool:
        """Whether the rate moves with the prevalence."""
        return self.rate is _precision


_POINTS: dict[object, _Point] = {
    ranking.recall_at_precision.scores: _Point(_of_precision, _has_precision, _recall),
    ranking.precision_at_recall.scores: _Point(_of_best_precision, _has_recall, _precision),
    discrimination.recall_at_fpr.scores: _Point(
        _of_false_alarms, _has_few_false_alarms, _recall, _surely_few_false_alarms
    ),
    discrimination.specificity_at_recall.scores: _Point(_of_recall, _has_recall, _specificity, _surely_recall),
}
