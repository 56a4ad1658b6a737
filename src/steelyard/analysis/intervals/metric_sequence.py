"""MetricSequence: a metric of the four cells by the method that fits it: evidence, and bounds that hold at every look.

A rate is bounded by beta mixtures, a ratio of sums of cells by betting, any other metric over the region of the rates
that determine it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.intervals import evidence
from steelyard.analysis.intervals.evidence import (
    LinearRatio,
    bisected,
    highest_rate,
    log_evidence_below,
    log_returns,
    lowest_rate,
    mean_wealth,
)
from steelyard.analysis.intervals.interval import Interval
from steelyard.analysis.intervals.rate_intervals import is_rate, score_ends
from steelyard.analysis.levels import check_level
from steelyard.arrays.sorting import chunks
from steelyard.exceptions import InputError, InputTypeError
from steelyard.tables.confusion import Confusion
from steelyard.tables.counts import CELLS, Counts

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard._types import Array
    from steelyard.analysis.intervals.rate_intervals import Ends
    from steelyard.metrics.measure import Metric
    from steelyard.metrics.spec import MetricSpec

    RateBound = Callable[[Array, Array, Array | float], Array]  # of hits, misses and the error that is allowed


# ---------------------------------------------------------------- RateRegion
# A metric over all rates that the counts do not refute.
#
# Every metric of the four cells follows from recall, specificity and prevalence, or from recall and precision where it
# does not look at true negatives. Sequences of these rates that hold together, each with its share of the error, span a
# box, and the extremes of the metric over the box bound the metric.


_CLASSES = (("tp", "fn"), ("tn", "fp"), ("tp fn", "fp tn"))  # the cells of hits and of misses of each rate
_FLAGGED = (("tp", "fn"), ("tp", "fp"))
_RATE_POINTS = {0: 1, 1: 17, 2: 9, 3: 7}  # of a grid along each rate, by how many rates it has to be searched
_RATE_ZOOMS = {0: 1, 1: 6, 2: 9, 3: 12}
_TRIED = np.array([0.002, 0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95, 0.998])


@dataclass(frozen=True, eq=False)
class RateRegion:
    """A metric as a function of rates, and whether it rises (1) or falls (-1) with each of them; 0 where neither."""

    metric: Metric
    rates: tuple[tuple[str, str], ...]
    directions: tuple[int, ...]

    @classmethod
    def of(cls, metric: Metric) -> RateRegion:
        """The rates that determine the metric, as few as do."""
        return _region(metric)

    def values(self, rates: Array) -> Array:
        """The metric at rates, whose last axis is the rates."""
        return np.asarray(self.metric(self.shares(rates)))

    def shares(self, rates: Array) -> Counts[Array]:
        """The four cells at rates, in shares of rows."""
        return _cells(rates, self.rates)

    def trials(self, cells: Array, index: int) -> tuple[Array, Array]:
        """The hits and the misses of a rate."""
        hit, miss = self.rates[index]
        hits = cells[..., [CELLS.index(name) for name in hit.split()]].sum(-1)
        return hits, cells[..., [CELLS.index(name) for name in miss.split()]].sum(-1)

    def extreme(
        self,
        cells: Array,
        alpha: Array | float,
        sign: int,
        lowest: RateBound = lowest_rate,
        highest: RateBound = highest_rate,
    ) -> Array:
        """The highest (sign 1) or lowest (-1) value over the box, which the metric exceeds with probability alpha.

        A rate that the metric follows needs one bound alone; any other has two, each with half of its share.
        """
        share = np.asarray(alpha) / len(self.rates)
        lows, highs = [], []
        for index, direction in enumerate(self.directions):
            hits, misses = self.trials(cells, index)
            if direction:
                bound = (highest if direction * sign > 0 else lowest)(hits, misses, share)
                lows.append(bound)
                highs.append(bound)
            else:
                lows.append(lowest(hits, misses, share / 2))
                highs.append(highest(hits, misses, share / 2))
        return self._searched(np.stack(lows, -1), np.stack(highs, -1), sign)

    def nearest(self, cells: Array, alpha: Array, sign: int) -> Array:
        """A value inside the region, near to its extreme, by score intervals in closed form.

        Evidence is at most the greatest likelihood ratio, and that at most exp(n (p - hits / n)**2 / (p (1 - p))), so
        that a rate p inside a score interval of this quantile is never refuted.
        """
        quantile, at = np.sqrt(-np.log(alpha / len(self.rates))), []
        for index, direction in enumerate(self.directions):
            hits, misses = self.trials(cells, index)
            with np.errstate(invalid="ignore"):
                share = hits / (hits + misses)
            low, high = score_ends(share, hits + misses, quantile)
            at.append(share if not direction else high if direction * sign > 0 else low)
        return self.values(np.stack(at, -1))

    def _searched(self, low: Array, high: Array, sign: int) -> Array:
        """The extreme over a box, by a grid that is drawn finer around the best point."""
        free = [i for i, direction in enumerate(self.directions) if not direction]
        steps = np.linspace(0, 1, _RATE_POINTS[len(free)])
        at = np.zeros((len(steps) ** len(free), len(self.rates)))
        at[:, free] = np.array(list(product(steps, repeat=len(free)))).reshape(len(at), len(free))
        best = np.full(low.shape[:-1], -np.inf)
        for _ in range(_RATE_ZOOMS[len(free)]):
            points = low[..., None, :] + at * (high - low)[..., None, :]
            values = sign * self.values(points)
            values = np.where(np.isnan(values), -np.inf, values)
            index = values.argmax(axis=-1)[..., None]
            best = np.maximum(best, np.take_along_axis(values, index, -1)[..., 0])
            centre = np.take_along_axis(points, index[..., None], -2)[..., 0, :]
            half_width = 1.5 * (high - low) / max(len(steps) - 1, 1)
            low, high = np.maximum(low, centre - half_width), np.minimum(high, centre + half_width)
        return np.where(np.isinf(best), np.nan, sign * best)


def _cells(rates: Array, kind: tuple[tuple[str, str], ...]) -> Counts[Array]:
    """A table of these rates, in shares of rows."""
    first, second = rates[..., 0], rates[..., 1]
    if kind == _FLAGGED:
        return Counts.trusted(first * second, second * (1 - first), first * (1 - second), np.zeros_like(first))
    share = rates[..., 2] if len(kind) == len(_CLASSES) else np.full_like(first, 0.5)
    rest = 1 - share
    return Counts.trusted(share * first, share * (1 - first), rest * (1 - second), rest * second)


@lru_cache(maxsize=256)
def _region(metric: Metric) -> RateRegion:
    for rates in (_FLAGGED, _CLASSES[:2], _CLASSES):
        if rates == _CLASSES or _determine(metric, rates):
            return RateRegion(metric, rates, _directions(metric, rates))
    raise AssertionError  # the last of them determines every metric


def _determine(metric: Metric, rates: tuple[tuple[str, str], ...]) -> bool:
    """Whether the metric is the same for all tables of these rates: with true negatives, or at other prevalences."""
    grid = np.array(list(product(_TRIED, repeat=2)))
    table = _cells(grid, rates)
    values = np.asarray(metric(table))
    if rates == _FLAGGED:
        others = [Counts.trusted(table.tp, table.fn, table.fp, table.tn + more) for more in (0.1, 10.0)]
    else:
        others = [_cells(np.insert(grid, 2, share, axis=1), _CLASSES) for share in (0.01, 0.9)]
    return all(np.allclose(values, metric(other), rtol=0, atol=1e-9, equal_nan=True) for other in others)


def _directions(metric: Metric, rates: tuple[tuple[str, str], ...]) -> tuple[int, ...]:
    """Whether the metric rises or falls with each rate, whatever the others are."""
    grid = np.stack(np.meshgrid(*[_TRIED] * len(rates), indexing="ij"), -1)
    values = np.asarray(metric(_cells(grid, rates)))
    steps = [np.diff(values, axis=axis) for axis in range(len(rates))]
    rising, falling = ([bool((sign * step >= -1e-12).all()) for step in steps] for sign in (1, -1))
    return tuple(1 if up else -1 if down else 0 for up, down in zip(rising, falling, strict=True))


# ---------------------------------------------------------------- joint evidence
# That a metric of several rates, such as MCC, is beyond a limit, by bets on its gradient.
#
# At every table of shares where the metric is at the limit, a row pays what it takes from the metric there: the
# gradient, less its mean. If those shares are the true ones the bet is fair, and if the metric is on the right side of
# the limit by a better first rate, it is less than fair; so the wealth is evidence (Waudby-Smith and Ramdas 2024). A
# part of the stake is on each rate by itself, by beta mixtures, which refutes shares that are far off, where a gradient
# says nothing. The least wealth over all shares at the limit is evidence against all of them. It looks along the one
# direction that matters, where a box of bounds needs each rate to be known apart.


_STAKE = 0.7  # of the bets on the gradient; the rates share the rest
_FAR = 1e-12  # rates outside intervals with this error are refuted by their own part of the stake
_HALVINGS = 30
_ROUNDING = 1e-9
_STEP = 1e-5  # of the logarithm of a cell, for its derivative
_POINTS, _ZOOMS = (13, 7), 8  # of the first grid along each rate, of the finer ones, and how many there are
_LEAST = 0.25  # of a row: what a cell has at least where a gradient is taken
_FARTHEST = 1.5  # of the logarithm of a cell, in a step along a gradient
_TABLES = 64  # tables whose grids are in memory at once


@dataclass(frozen=True, eq=False)
class JointEvidence:
    """A metric as a function of rates; the rate at index `solved` is set so that the metric meets the limit."""

    region: RateRegion
    solved: int
    sign: int  # 1 where evidence is that the metric is below the limit, -1 above
    limit: float

    @classmethod
    def of(cls, region: RateRegion, limit: float, sign: int) -> JointEvidence | None:
        """The evidence; None where the metric is monotonic in none of its rates, so that none can be solved for."""
        solved = next((index for index, direction in enumerate(region.directions) if direction), None)
        return None if solved is None else cls(region, solved, sign, limit)

    @property
    def _side(self) -> int:
        """Whether the solved rate is refuted as too high (1) or too low (-1)."""
        return self.sign * self.region.directions[self.solved]

    @property
    def _free(self) -> list[int]:
        return [index for index in range(len(self.region.rates)) if index != self.solved]

    def stays_below(self, cells: Array, bound: float) -> Array:
        """Whether the evidence surely is below a bound, by a score interval of the solved rate in closed form.

        Evidence is at most the greatest likelihood ratio at any table at the limit. Its logarithm is the sum of those
        of the rates, and that of a rate p at most n (p - hits / n)**2 / (p (1 - p)), so that it suffices to look at the
        p that reaches what the other rates leave of the bound. Rates that share rows, as recall and precision do, do
        not add up so.
        """
        if len({part for rate in self.region.rates for part in rate}) < 2 * len(self.region.rates):
            return np.zeros(cells.shape[:-1], dtype=bool)
        wrong = self.sign * np.asarray(self.region.metric(Counts.trusted(*np.moveaxis(cells, -1, 0))))
        result = ~(wrong < self.sign * self.limit)  # a metric on the right side of the limit has next to no evidence
        for free_rates in (self._seen, self._nearest):
            undecided = np.flatnonzero(~result)
            result[undecided] = self._reaches(cells[undecided], free_rates(cells[undecided]), bound)
        return result

    def _reaches(self, cells: Array, free: Array, bound: float) -> Array:
        """Whether a table at the limit with these free rates has a likelihood ratio below the bound."""
        ratios = [_log_ratio(*self.region.trials(cells, i), free[..., k]) for k, i in enumerate(self._free)]
        left = bound - np.sum(ratios, axis=0)
        hits, misses = self.region.trials(cells, self.solved)
        with np.errstate(invalid="ignore"):
            low, high = score_ends(hits / (hits + misses), hits + misses, np.sqrt(np.maximum(left, 0.0)))
        extreme = np.where(hits + misses > 0, high if self._side > 0 else low, 0.5)
        return np.asarray((left > 0) & ((hits + misses == 0) | self._right(free, extreme)))

    def _seen(self, cells: Array) -> Array:
        """The free rates that were seen."""
        return np.stack([_share(*self.region.trials(cells, index)) for index in self._free], -1)

    def _nearest(self, cells: Array) -> Array:
        """The free rates of the table at the limit that is about the likeliest: a step along the gradient."""
        shares = np.maximum(cells, _LEAST) / np.maximum(cells, _LEAST).sum(-1, keepdims=True)
        slopes, mean = self._slopes(shares)
        slopes = slopes - mean
        variance = (shares * slopes**2).sum(-1)
        value = np.asarray(self.region.metric(Counts.trusted(*np.moveaxis(shares, -1, 0))))
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.nan_to_num((self.limit - value) / variance, posinf=0.0, neginf=0.0)
        moved = shares * np.exp(np.clip(step[..., None] * slopes, -_FARTHEST, _FARTHEST))
        return self._seen(moved)

    def most(self, cells: Array) -> Array:
        """The logarithm of the least wealth at two tables at the limit, likely ones: near the least, not below it."""
        free = np.stack([self._nearest(cells), self._seen(cells)], axis=-2)
        return np.asarray(self._log_wealth(cells[:, None], free).min(axis=-1))

    def least(self, cells: Array) -> Array:
        """The logarithm of the evidence of each table: the least wealth over all rates at the limit."""
        parts = [self._least(cells[part]) for part in chunks(len(cells), _TABLES)]
        return np.concatenate(parts) if parts else np.zeros(0)

    def _least(self, cells: Array) -> Array:
        trials = [self.region.trials(cells, index) for index in self._free]
        low = np.stack([lowest_rate(*pair, _FAR) for pair in trials], -1)
        high = np.stack([highest_rate(*pair, _FAR) for pair in trials], -1)
        beyond = np.log((1 - _STAKE) / len(self.region.rates)) - np.log(_FAR)
        best = np.minimum(self.most(cells), beyond)
        for points in (_POINTS[0], *[_POINTS[1]] * (_ZOOMS - 1)):
            steps = np.array(list(product(np.linspace(0, 1, points), repeat=len(trials))))
            at = low[:, None] + steps * (high - low)[:, None]
            wealth = self._log_wealth(cells[:, None], at)
            index = wealth.argmin(axis=1)[:, None]
            best = np.minimum(best, np.take_along_axis(wealth, index, 1)[:, 0])
            centre = np.take_along_axis(at, index[..., None], 1)[:, 0]
            half_width = 1.5 * (high - low) / (points - 1)
            low, high = np.maximum(low, centre - half_width), np.minimum(high, centre + half_width)
        return np.asarray(best)

    def _log_wealth(self, cells: Array, free: Array) -> Array:
        """The logarithm of the wealth of tables at free rates; infinite where no table at the limit has them."""
        rates, exists = self._at_limit(free)
        gamblers = (cells[..., None, :] * log_returns(self._payoffs(rates))).sum(axis=-1)
        parts = [np.log(_STAKE) + mean_wealth(gamblers)]
        stake = np.log((1 - _STAKE) / len(self.region.rates))
        for index in range(len(self.region.rates)):
            hits, misses = self.region.trials(cells, index)
            rate = rates[..., index]
            below, above = log_evidence_below(hits, misses, rate), log_evidence_below(misses, hits, 1 - rate)
            if index == self.solved:  # on its side alone
                parts.append(stake + (below if self._side > 0 else above))
            else:
                parts.append(stake + (np.logaddexp(below, above) - np.log(2)))
        return np.where(exists, np.logaddexp.reduce(np.broadcast_arrays(*parts), axis=0), np.inf)

    def _at_limit(self, free: Array) -> tuple[Array, Array]:
        """All rates where the metric is at the limit, and whether any table on the right side has the free ones.

        Where every value of the solved rate is on the right side, it is the worst one.
        """
        worst, best = (0.0, 1.0) if self._side > 0 else (1.0, 0.0)
        bad, good = np.full(free.shape[:-1], worst), np.full(free.shape[:-1], best)
        exists = self._right(free, good)
        solved = bisected(bad, good, lambda rate: self._right(free, rate), _HALVINGS)
        return self._rates(free, solved), exists

    def _right(self, free: Array, solved: Array) -> Array:
        """Whether the metric is on the right side of the limit; where it is undefined it may be."""
        values = self.sign * self.region.values(self._rates(free, solved))
        return np.asarray(~(values < self.sign * self.limit))

    def _rates(self, free: Array, solved: Array) -> Array:
        return np.insert(free, self.solved, solved, axis=-1)

    def _payoffs(self, rates: Array) -> Array:
        """What each kind of row pays at these rates: on average nothing."""
        shares = np.stack([*self.region.shares(rates)], -1)
        slopes, mean = self._slopes(shares)
        payoffs = -self.sign * (slopes - mean)
        better = np.full(rates.shape[:-1], 1.0 if self._side > 0 else 0.0)
        path = np.stack([*self.region.shares(self._rates(rates[..., self._free], better))], -1) - shares
        payoffs = np.where((payoffs * path).sum(-1, keepdims=True) <= _ROUNDING, payoffs, 0.0)  # never in its favour
        return np.asarray(payoffs / np.maximum(np.abs(payoffs).max(-1, keepdims=True), 1e-300))

    def _slopes(self, shares: Array) -> tuple[Array, Array]:
        """The gradient at shares, and its mean; no slope where it has no finite one."""
        each = []
        for cell in range(len(CELLS)):  # by a small step of the logarithm of a cell; 0 of one that has nothing
            share, values = shares[..., cell], []
            for step in (_STEP, -_STEP):
                moved = shares.copy()
                moved[..., cell] *= np.exp(step)
                values.append(np.asarray(self.region.metric(Counts.trusted(*np.moveaxis(moved, -1, 0)))))
            with np.errstate(divide="ignore", invalid="ignore"):
                each.append(np.where(share > 0, (values[0] - values[1]) / (2 * _STEP * share), 0.0))
        slopes = np.stack(each, -1)
        slopes = np.where(np.isfinite(slopes).all(-1, keepdims=True), slopes, 0.0)
        return slopes, (shares * slopes).sum(-1, keepdims=True) / shares.sum(-1, keepdims=True)


def _share(hits: Array, misses: Array) -> Array:
    """The rate that was seen; one half where there were no trials."""
    trials = hits + misses
    return np.where(trials > 0, hits / np.where(trials > 0, trials, 1.0), 0.5)


def _log_ratio(hits: Array, misses: Array, rate: Array) -> Array:
    """The logarithm of the likelihood of the rate that was seen over that of another one."""
    from scipy.special import xlog1py, xlogy

    seen = _share(hits, misses)
    return np.asarray(xlogy(hits, seen) + xlog1py(misses, -seen) - xlogy(hits, rate) - xlog1py(misses, -rate))


# ---------------------------------------------------------------- MetricSequence


SEQUENCE_METHODS = {
    "mixture": "beta-binomial mixture",
    "betting": "betting on the rows",
    "region": "region of the rates behind it",
}
SMALLEST_P, P_HALVINGS = 1e-12, 24  # the p-value at which a search for it ends, and its steps


@dataclass(frozen=True, eq=False)
class MetricSequence:
    """A metric and how it is followed: "mixture", "betting" or "region". Tables are arrays whose last axis is cells."""

    metric: Metric
    method: str
    ratio: LinearRatio | None

    @classmethod
    def of(cls, spec: MetricSpec) -> MetricSequence:
        """The method that fits; metrics of scores and of single classes are refused."""
        metric = spec.metric
        if metric.function is None:
            raise InputError(f"{spec.name} is of {metric.basis}; give a metric of predicted labels, such as recall.")
        if not spec.is_native:
            raise InputError(f"{spec.name} names classes; ask for {metric.name}, and name the class with pos_label=.")
        ratio = LinearRatio.of(metric)
        if ratio is None:
            return cls(metric, "region", None)
        return cls(metric, "mixture" if is_rate(metric) and (ratio.above <= 1).all() else "betting", ratio)

    def value(self, cells: Array) -> Array:
        """The metric of each table."""
        return np.asarray(self.metric(Counts.trusted(*np.moveaxis(np.asarray(cells, dtype=np.float64), -1, 0))))

    def ends(self, cells: Array, low_alpha: float, high_alpha: float) -> Ends:
        """Both bounds at all looks together, each with its error; an error of 0 gives the bound of the range."""
        cells = np.asarray(cells, dtype=np.float64)
        value, (least, most) = self.value(cells), self.metric.range
        low, high = np.full(value.shape, least), np.full(value.shape, most)
        if low_alpha:
            low = self._end(cells, low_alpha, -1)
        if high_alpha:
            high = self._end(cells, high_alpha, 1)
        low, high = np.minimum(low, value), np.maximum(high, value)  # NaN where the value is
        return np.where(np.isnan(low), least, low), np.where(np.isnan(high), most, high)

    def _end(self, cells: Array, alpha: float, sign: int) -> Array:
        if self.ratio is None:
            return RateRegion.of(self.metric).extreme(cells, alpha, sign)
        if self.method == "mixture":
            bound = evidence.highest_rate if sign > 0 else evidence.lowest_rate
            return bound(*self._trials(cells), alpha)
        return self.ratio.highest(cells, alpha) if sign > 0 else -self.ratio.negated.highest(cells, alpha)

    def _trials(self, cells: Array) -> tuple[Array, Array]:
        """The hits and the misses of a rate."""
        assert self.ratio is not None  # noqa: S101 - a rate is one
        hits = cells @ self.ratio.above
        return hits, cells @ self.ratio.below - hits

    # ---------------------------------------------------------------- evidence

    def log_evidence(self, cells: Array, limit: float, sign: int) -> Array:
        """The logarithm of the evidence that the metric is below (sign 1) or above (-1) the limit; not of a region."""
        assert self.ratio is not None  # noqa: S101 - a region excludes values, and has no evidence for each
        if self.method == "betting":
            return self.ratio.log_evidence(cells, limit, sign)
        hits, misses = self._trials(cells)
        if sign > 0:
            return evidence.log_evidence_below(hits, misses, limit)
        return evidence.log_evidence_below(misses, hits, 1 - limit)

    def joint_evidence(self, limit: float, sign: int) -> JointEvidence | None:
        """Of a region: bets on all of its rates together, where it follows one of them."""
        return None if self.ratio is not None else JointEvidence.of(RateRegion.of(self.metric), limit, sign)

    def excluded(self, cells: Array, limit: float, sign: int, alpha: Array) -> Array:
        """Whether the region lies below (sign 1) or above (-1) the limit, each table with its error.

        A region holds the value of the metric, so that tables on the right side of the limit need no region.
        """
        alpha = np.broadcast_to(alpha, cells.shape[:-1])
        result = sign * self.value(cells) < sign * limit
        region = RateRegion.of(self.metric)
        for value in (region.nearest, region.extreme):  # first inside the region, which costs little
            if result.any():
                result[result] = sign * value(cells[result], alpha[result], sign) < sign * limit
        return result

    def log_p(self, cells: Array, limit: float, sign: int) -> Array:
        """The logarithm of the least error with which each table excludes the limit; 0 where none does."""
        cells = np.asarray(cells, dtype=np.float64)
        if self.ratio is not None:
            return np.minimum(-self.log_evidence(cells, limit, sign), 0.0)
        low, high = np.full(cells.shape[:-1], np.log(SMALLEST_P)), np.zeros(cells.shape[:-1])
        return bisected(low, high, lambda log_p: self.excluded(cells, limit, sign, np.exp(log_p)), P_HALVINGS)


# ---------------------------------------------------------------- intervals


def anytime_bounds(spec: MetricSpec, table: Counts[Any] | Confusion, level: float) -> Interval[Any]:
    """The interval of a metric that may be looked at after every row: a confidence sequence.

    With the given probability all intervals of a growing table hold together, so that one may look daily and stop when
    one likes; one for a sample of a fixed size is shorter, and fails in time where one looks often. A rate is bounded
    by beta-binomial mixtures, F1 and other ratios of sums by betting, MCC, the AC-score and all others over the region
    of the rates behind them. The interval depends on the counts alone: tables of other days, files or machines are
    added before. Rows are taken as independent, each counted once.
    """
    check_level(level)
    sequence = MetricSequence.of(spec)
    cells = counted_cells(table)
    value: Any = sequence.value(cells)
    low, high = sequence.ends(cells, (1 - level) / 2, (1 - level) / 2)
    why = spec.metric.why(Counts.trusted(*np.moveaxis(cells, -1, 0)))
    method = f"anytime ({SEQUENCE_METHODS[sequence.method]})"
    value, low, high = (part if part.ndim else part.item() for part in (value, low, high))
    return Interval(spec, value, low, high, level, method, why=why)


def counted_cells(counts: Counts[Any] | Confusion) -> Array:
    """The four cells as whole numbers on a last axis; weighted rows are refused."""
    if isinstance(counts, Confusion):
        if counts.weighted:
            raise InputError("These rows have sample weights; an anytime interval counts each row once.")
        counts = counts.counts()
    if not isinstance(counts, Counts):
        raise InputTypeError(f"Counts or a Confusion was expected, not {type(counts).__name__}; count the rows first.")
    cells = np.stack([np.asarray(cell, dtype=np.float64) for cell in counts], -1)
    if (cells % 1).any():
        raise InputError("These counts are not whole; an anytime interval counts each row once.")
    return cells
