"""Count tests: whether a rate, or a metric of a class, is worse inside a slice than outside, by its counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from steelyard.analysis.chance.permutations import TruePositives
from steelyard.analysis.distributions import beta_quantile, normal_quantile, normal_reach
from steelyard.analysis.intervals.intervals import interval
from steelyard.analysis.intervals.rate_intervals import exact, rate_cells
from steelyard.analysis.results.result import Rows
from steelyard.analysis.slices.slices_result import POWER, Findable
from steelyard.tables.counts import CELLS, Counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array
    from steelyard.analysis.slices.slices import Candidates
    from steelyard.frames.features import SliceTable
    from steelyard.metrics.measure import Metric


# ---------------------------------------------------------------- estimates
# The metric of each slice with its interval and elsewhere, its rows, and its share of the errors.


class Estimates(NamedTuple):
    """Of each slice: the value with its bounds, the value elsewhere, what is counted, and its share of the errors."""

    values: Array
    low: Array
    high: Array
    elsewhere: Array
    counts: Array
    errors: Array


class SliceTest(Protocol):
    """How a metric is tested in a slice against the rows outside it; the words are what its result is put in."""

    @property
    def counted(self) -> str:
        """What a slice has so many of, such as positives."""

    @property
    def errors(self) -> str:
        """What makes the metric worse."""

    @property
    def least_of(self) -> str:
        """What a slice has the least number of."""

    @property
    def denominators(self) -> Sequence[Sequence[int]]:
        """The sets of outcomes; a slice has at least so many rows of each set."""

    def value(self, whole: SliceTable) -> float:
        """The metric of all rows."""

    def p_values(self, inside: SliceTable, whole: SliceTable) -> Array:
        """How probable values as bad or worse are."""

    def merged_p_values(self, inside: SliceTable, whole: SliceTable) -> Array:
        """The same within rows that are left, of one slice or of several."""

    def least_p_values(self, inside: SliceTable, whole: SliceTable) -> Array | None:
        """What each p-value can be at the least, where that is known beforehand."""

    def estimates(self, found: Candidates, level: float) -> Estimates:
        """What is stated of the discoveries."""

    def findable(self, whole: SliceTable, unit: float, least: int) -> Rows[Findable]:
        """How bad the metric must be to be found where a single p-value may be this high."""


# ---------------------------------------------------------------- hypergeometric tails
# The exact probability of so few good rows or fewer in a slice, for many slices at once.


_NEGLIGIBLE = 1e-16
_CHUNK = 20_000


def log_mass(good: Array, drawn: Array, all_good: Array, rows: Array) -> Array:
    """The logarithm of the probability of so many good rows among those drawn."""
    drawn, all_good, rows = np.broadcast_arrays(drawn, all_good, rows)
    counts = TruePositives(all_good, rows - all_good, drawn, rows - drawn)  # type: ignore[arg-type]  # of arrays alike
    return counts.log_mass(np.asarray(good, dtype=np.float64))


def tail_below(good: Array, drawn: Array, all_good: Array, rows: Array) -> Array:
    """The probability of so many good rows or fewer among those drawn of all rows; 1 where as many were expected.

    Exact: the probability of the number seen, and those below it by their ratios, until nothing is left to add.

    >>> tail_below(np.array([29, 95]), np.array([60, 120]), np.array(800), np.array(1000)).round(9)
    array([1.50000000e-08, 4.44390587e-01])
    """
    parts = np.broadcast_arrays(good, drawn, all_good, rows)
    shape = parts[0].shape
    good, drawn, all_good, rows = (np.ascontiguousarray(part, dtype=np.int64).ravel() for part in parts)
    tails = np.ones(len(good))
    few = np.flatnonzero(good.astype(float) * rows < drawn.astype(float) * all_good)
    for start in range(0, len(few), _CHUNK):
        part = few[start : start + _CHUNK]
        tails[part] = _tails(good[part], drawn[part], all_good[part], rows[part])
    return tails.reshape(shape)


def _tails(good: Array, drawn: Array, all_good: Array, rows: Array) -> Array:
    """The tails below the expected number, where each term is smaller than the one before it."""
    total = np.ones(len(good))
    indices: Array = np.arange(len(good))
    term: Array = np.ones(len(good))
    k: Array = good.astype(np.float64)
    n, most, left = (part.astype(np.float64) for part in (drawn, all_good, rows - all_good - drawn))
    while len(indices):
        term = term * k * (left + k) / ((most - k + 1) * (n - k + 1))
        total[indices] += term
        more = term > _NEGLIGIBLE * total[indices]
        term, k, n, most, left, indices = (part[more] for part in (term, k - 1, n, most, left, indices))
    return np.asarray(np.minimum(np.exp(log_mass(good, drawn, all_good, rows)) * total, 1.0))


def least_tail(drawn: Array, all_good: Array, rows: Array) -> Array:
    """The least that such a tail can be, whatever is seen: that of as few good rows as there can be."""
    fewest = np.maximum(0, drawn + all_good - rows)
    return np.exp(log_mass(fewest, drawn, all_good, rows))


# ---------------------------------------------------------------- findable
# How bad a rate must be in a slice of a given size to be found among so many candidates.


_SIZES = (60, 120, 200, 500, 1_000, 5_000)


def findable_rate(trials: int, good: int, all_rows: int, limit: float) -> float:
    """The highest rate of good rows that is found in 4 of 5 slices of so many trials; NaN where none is.

    >>> round(findable_rate(60, 8_000, 10_000, limit=0.05 / 760), 3), round(findable_rate(200, 8_000, 10_000, 3e-7), 3)
    (0.521, 0.619)
    """
    seen = np.arange(max(0, trials + good - all_rows), min(trials, good) + 1)
    tails = tail_below(seen, np.array(trials), np.array(good), np.array(all_rows))
    reached = np.flatnonzero(tails <= limit)
    if not len(reached):
        return float("nan")
    most = np.array(float(seen[reached[-1]]))
    return float(beta_quantile(1 - POWER, most + 1, trials - most))


def findable_sizes(rows: int, least: int) -> list[int]:
    """The sizes of slices that are stated: those that occur beside as many rows outside."""
    return [size for size in _SIZES if least <= size <= rows // 2]


def findable_rates(good: int, rows: int, limit: float, least: int, *, sign: int) -> Rows[Findable]:
    """How bad a rate must be in a slice, by its trials; of so many good rows among all."""
    sizes = findable_sizes(rows, least)
    values = [findable_rate(size, good, rows, limit) for size in sizes]
    return Rows(Findable(size, value if sign > 0 else 1 - value) for size, value in zip(sizes, values, strict=True))


def normal_findable(
    sizes: list[int], middle: Array, standard_error: Array, limit: float, metric: Metric
) -> Rows[Findable]:
    """The same for a metric whose value has a standard error, taken as normal; NaN where it would leave its range."""
    quantile = float(normal_quantile(POWER) - normal_quantile(limit))
    values = middle - metric.sign * quantile * standard_error
    inside = np.where((values >= metric.range[0]) & (values <= metric.range[1]), values, np.nan)
    return Rows(Findable(size, float(value)) for size, value in zip(sizes, inside, strict=True))


# ---------------------------------------------------------------- rate test


_COUNTED: dict[tuple[str, ...], str] = {
    ("tp", "fn"): "positives",
    ("fp", "tn"): "negatives",
    ("tp", "fp"): "predicted positives",
    ("fn", "tn"): "predicted negatives",
}
_ERRORS: dict[tuple[str, ...], str] = {("fn",): "misses", ("fp",): "false positives"}


@dataclass(frozen=True)
class RateTest:
    """A rate of cells: the cells that are its hits, those that are its trials, and whether hits are good."""

    hits: tuple[int, ...]
    trials: tuple[int, ...]
    sign: int

    @classmethod
    def of(cls, metric: Metric) -> RateTest | None:
        """The test of a metric; None where it is no rate."""
        cells = rate_cells(metric)
        if cells is None:
            return None
        hits, trials = (tuple(i for i, name in enumerate(CELLS) if name in part) for part in cells)
        return cls(hits, trials, metric.sign)

    @property
    def denominators(self) -> list[tuple[int, ...]]:
        """The set of outcomes that a slice has at least so many rows of."""
        return [self.trials]

    @property
    def counted(self) -> str:
        """What the rate is a share of."""
        return _COUNTED.get(tuple(CELLS[i] for i in self.trials), "rows")

    least_of = counted

    @property
    def errors(self) -> str:
        """What makes the rate worse."""
        return _ERRORS.get(tuple(CELLS[i] for i in self.bad), "errors")

    @property
    def bad(self) -> tuple[int, ...]:
        """The outcomes that make the rate worse."""
        return self.hits if self.sign < 0 else tuple(i for i in self.trials if i not in self.hits)

    @property
    def counts_errors(self) -> bool:
        """Whether it is the share of all rows that are right, or wrong, whichever class is the positive one."""
        return len(self.trials) == len(CELLS) and self.bad == (CELLS.index("fn"), CELLS.index("fp"))

    def p_values(self, inside: SliceTable, whole: SliceTable) -> Array:
        """The probability of a rate as bad or worse in so many trials drawn at random from all."""
        good, drawn, all_good, rows = self._numbers(inside.counts, whole.counts)
        return tail_below(good, drawn, all_good, rows)

    merged_p_values = p_values

    def least_p_values(self, inside: SliceTable, whole: SliceTable) -> Array | None:
        """What each p-value can be at the least."""
        _, drawn, all_good, rows = self._numbers(inside.counts, whole.counts)
        return least_tail(drawn, all_good, rows)

    def _numbers(self, inside: Array, whole: Array) -> tuple[Array, Array, Array, Array]:
        good = tuple(i for i in self.trials if i not in self.bad)
        return _sum_of(inside, good), _sum_of(inside, self.trials), _sum_of(whole, good), _sum_of(whole, self.trials)

    def value(self, whole: SliceTable) -> float:
        """The rate of all rows."""
        return float(self.values(whole.counts))

    def values(self, counts: Array) -> Array:
        """The rate of each table of outcomes."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(_sum_of(counts, self.hits) / _sum_of(counts, self.trials))

    def estimates(self, found: Candidates, level: float) -> Estimates:
        """The rates, Clopper and Pearson's intervals, which never cover too rarely, and the rates elsewhere."""
        counts, whole = found.table.counts, found.whole.counts
        hits, trials = (_sum_of(counts, cells).astype(np.float64) for cells in (self.hits, self.trials))
        errors = _sum_of(counts, self.bad) / max(int(_sum_of(whole, self.bad)), 1)
        return Estimates(self.values(counts), *exact(hits, trials, level), self.values(whole - counts), trials, errors)

    def findable(self, whole: SliceTable, unit: float, least: int) -> Rows[Findable]:
        """How bad the rate must be to be found."""
        trials = int(_sum_of(whole.counts, self.trials))
        return findable_rates(trials - int(_sum_of(whole.counts, self.bad)), trials, unit, least, sign=self.sign)


def _sum_of(counts: Array, cells: tuple[int, ...]) -> Array:
    """The rows of some cells."""
    return np.asarray(counts[..., list(cells)].sum(-1))


# ---------------------------------------------------------------- class test
# Whether a metric of the confusion matrix is worse inside a slice than its class sizes alone explain.
#
# Under the hypothesis the slice's rows of each class are drawn at random from all rows of that class, so its true
# positives and its false positives are two independent hypergeometric numbers. The probability of a value as bad or
# worse is summed over both, exactly: for every number of true positives the fewest false positives that make it as bad
# are found by halving, as more of them never make a metric better.


# Standard errors from which on a tail is summed, of few slices and of many; 1 stands for the others, which is cautious.
_FEW, _SCREEN, _SCREEN_OF_MANY = 5_000, 1.5, 2.5
_ROUNDING = 1e-12
_CLASSES = ((0, 1), (2, 3))  # the cells of each
_LEVEL = 0.99  # of the draws from which bounds at higher levels are extended


@dataclass(frozen=True)
class ClassTest:
    """A metric of the four cells that is no rate."""

    metric: Metric

    denominators = _CLASSES
    counted, errors, least_of = "positives", "errors", "rows of each class"

    @property
    def sign(self) -> int:
        """1 where higher is better, -1 where lower is."""
        return self.metric.sign

    def value(self, whole: SliceTable) -> float:
        """The metric of all rows."""
        return float(self.values(whole.counts))

    def values(self, counts: Array) -> Array:
        """The metric of each table of cells."""
        cells = np.asarray(counts, dtype=np.float64)
        return np.asarray(self.metric(Counts.trusted(*(cells[..., i] for i in range(4)))), dtype=np.float64)

    def p_values(self, inside: SliceTable, whole: SliceTable) -> Array:
        """The probability of a value as bad or worse, each class's rows drawn at random; 1 where it is not far off."""
        counts = inside.counts
        totals = np.broadcast_to(whole.counts, counts.shape)
        screen = _SCREEN if len(counts) <= _FEW else _SCREEN_OF_MANY
        middle, standard_error = self.at_whole_rates(counts, totals)
        with np.errstate(invalid="ignore", divide="ignore"):
            better = np.nan_to_num(self.metric.sign * (self.values(counts) - middle) / standard_error, nan=0.0)
        far = np.flatnonzero(better < -screen)
        p_values = np.ones(len(counts))
        p_values[far] = [self._tail(counts[i], totals[i]) for i in far]
        return p_values

    def merged_p_values(self, inside: SliceTable, whole: SliceTable) -> Array:
        """The same, of one table or of several."""
        several = np.atleast_2d(inside.counts)
        totals = np.broadcast_to(np.atleast_2d(whole.counts), several.shape)
        from_each = self.p_values(type(inside)(several), type(inside)(totals))
        return from_each if inside.counts.ndim > 1 else from_each[0]

    def least_p_values(self, inside: SliceTable, whole: SliceTable) -> None:  # noqa: ARG002 - of a rate alone
        """Not known beforehand: every slice is tested."""
        return

    def at_whole_rates(self, counts: Array, totals: Array) -> tuple[Array, Array]:
        """The value that tables of these class sizes have at the rates of all rows, and its standard error."""
        centre, errors = np.zeros(counts.shape), []
        for hit, miss in _CLASSES:  # the standard error of a hypergeometric number of hits
            rows, drawn = (part[:, hit] + part[:, miss] for part in (totals, counts))
            rate = totals[:, hit] / np.maximum(rows, 1)
            errors.append(np.sqrt(drawn * rate * (1 - rate) * (rows - drawn) / np.maximum(rows - 1, 1)))
            centre[:, hit], centre[:, miss] = rate * drawn, (1 - rate) * drawn
        variance = np.zeros(len(counts))
        for (hit, miss), error in zip(_CLASSES, errors, strict=True):
            variance += np.nan_to_num(self._slope(centre, hit, miss, error) * error) ** 2
        return self.values(centre), np.sqrt(variance)

    def _slope(self, centre: Array, hit: int, miss: int, error: Array) -> Array:
        """How fast the metric changes with rows that move from one cell of a class to the other."""
        step = np.minimum(error, np.minimum(centre[:, hit], centre[:, miss])) / 2
        moved = [centre.copy(), centre.copy()]
        for cells, sign in zip(moved, (-1, 1), strict=True):
            cells[:, hit] += sign * step
            cells[:, miss] -= sign * step
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray((self.values(moved[1]) - self.values(moved[0])) / (2 * step))

    def _tail(self, cells: Array, totals: Array) -> float:
        """The probability of a value as bad or worse."""
        tp, fn, fp, tn = (int(cell) for cell in cells)
        right, log_right = _window(TruePositives(*_margins(totals[0], totals[1], tp + fn)), tp)
        wrong, log_wrong = _window(TruePositives(*_margins(totals[2], totals[3], fp + tn)), fp)
        worst = self.metric.sign * float(self.values(cells)) + _ROUNDING
        first, last = np.zeros(len(right), dtype=np.intp), np.full(len(right), len(wrong))
        while (first < last).any():
            middle = (first + last) // 2
            at = wrong[np.minimum(middle, len(wrong) - 1)]
            tables = np.stack([right, tp + fn - right, at, fp + tn - at], -1)
            as_bad = ~(self.metric.sign * self.values(tables) > worst)  # what is undefined counts as bad
            open_ = first < last
            last = np.where(open_ & as_bad, middle, last)
            first = np.where(open_ & ~as_bad, middle + 1, first)
        above = np.append(np.cumsum(np.exp(log_wrong)[::-1])[::-1], 0.0)
        return float(min(np.exp(log_right) @ np.minimum(above, 1.0)[first], 1.0))

    def estimates(self, found: Candidates, level: float) -> Estimates:
        """The values, the bounds of their intervals and the values elsewhere.

        The bounds are those of the default interval at 99 %, each extended to the level as a normal one would be.
        """
        counts, whole = found.table.counts, found.whole.counts
        drawn = [interval(self.metric, Counts(*map(int, each)), level=_LEVEL) for each in counts]
        times, limits = normal_reach(level) / normal_reach(_LEVEL), self.metric.range
        low, high = (
            np.array([_extended(each.value, bound, times, limits) for each, bound in zip(drawn, bounds, strict=True)])
            for bounds in ([each.low for each in drawn], [each.high for each in drawn])
        )
        errors = counts[:, [1, 2]].sum(-1) / whole[[1, 2]].sum()
        elsewhere = self.values(whole - counts)
        return Estimates(self.values(counts), low, high, elsewhere, counts[:, :2].sum(-1), errors)

    def findable(self, whole: SliceTable, unit: float, least: int) -> Rows[Findable]:
        """How bad the metric must be in slices of so many positives, and as many negatives for each as in all rows."""
        positives = int(whole.counts[:2].sum())
        sizes = findable_sizes(positives, least)
        counts = np.array(sizes)[:, None] / positives * whole.counts
        middle, standard_error = self.at_whole_rates(counts, np.broadcast_to(whole.counts, counts.shape))
        return normal_findable(sizes, middle, standard_error, unit, self.metric)


def _margins(hits: int, misses: int, drawn: int) -> tuple[int, int, int, int]:
    hits, misses = int(hits), int(misses)
    return hits, misses, drawn, hits + misses - drawn


def _window(count: TruePositives, seen: int) -> tuple[Array, Array]:
    """The numbers that can matter, up to the one seen, and the logarithm of the probability of each."""
    if count.total <= 1:
        return np.array([float(seen)]), np.zeros(1)
    middle = count.positives * count.flagged // count.total
    low = max(count.low, min(middle, seen) - count.reach)
    high = min(count.high, max(middle, seen) + count.reach)
    numbers = np.arange(low, high + 1, dtype=np.float64)
    return numbers, count.log_mass(numbers)


def _extended(value: float, bound: float, times: float, limits: tuple[float, float]) -> float:
    """A bound further out, on the scale of the logit of the metric's range where it has one."""
    from scipy.special import expit, logit

    low, high = limits
    if not (np.isfinite(low) and np.isfinite(high)) or not low < bound < high:
        return float(np.clip(value + times * (bound - value), low, high))
    centre, outer = logit(np.clip((np.array([value, bound]) - low) / (high - low), 1e-6, 1 - 1e-6))
    return float(low + (high - low) * expit(centre + times * (outer - centre)))
