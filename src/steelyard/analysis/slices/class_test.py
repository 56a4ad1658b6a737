"""Class test: whether a metric of the confusion matrix is worse inside a slice than its class sizes alone explain.

Under the hypothesis the slice's rows of each class are drawn at random from all rows of that class, so its true
positives and its false positives are two independent hypergeometric numbers. The probability of a value as bad or
worse is summed over both, exactly: for every number of true positives the fewest false positives that make it as bad
are found by halving, as more of them never make a metric better.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.chance.hypergeometric import TruePositives
from steelyard.analysis.distributions import normal_reach
from steelyard.analysis.intervals.intervals import interval
from steelyard.analysis.slices.estimates import Estimates
from steelyard.analysis.slices.findable import findable_sizes, normal_findable
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.results.rows import Rows
    from steelyard.analysis.slices.candidates import Candidates
    from steelyard.analysis.slices.slices_result import Findable
    from steelyard.ingest.slice_rows import SliceTable
    from steelyard.metrics.metric import Metric

# Standard errors from which on a tail is summed, of few slices and of many; 1 stands for the others, which is cautious.
_SCREENS = ((5_000, 1.5), (np.inf, 2.5))
_ROUNDING = 1e-12
_CLASSES = ((0, 1), (2, 3))  # the cells of each
_LEVEL = 0.99  # of the draws from which ends at higher levels are extended


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
        screen = next(reach for most, reach in _SCREENS if len(counts) <= most)
        far = np.flatnonzero(self._standardised(counts, totals) < -screen)
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

    def _standardised(self, counts: Array, totals: Array) -> Array:
        """How many standard errors better each value is than at the rates of all rows."""
        middle, spread = self.at_whole_rates(counts, totals)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.nan_to_num(self.metric.sign * (self.values(counts) - middle) / spread, nan=0.0)

    def at_whole_rates(self, counts: Array, totals: Array) -> tuple[Array, Array]:
        """The value that tables of these class sizes have at the rates of all rows, and its standard error."""
        centre, spreads = np.zeros(counts.shape), []
        for hit, miss in _CLASSES:
            rows, drawn = (part[:, hit] + part[:, miss] for part in (totals, counts))
            rate = totals[:, hit] / np.maximum(rows, 1)
            spreads.append(np.sqrt(drawn * rate * (1 - rate) * (rows - drawn) / np.maximum(rows - 1, 1)))
            centre[:, hit], centre[:, miss] = rate * drawn, (1 - rate) * drawn
        slopes = [self._slope(centre, *cells, spread) for cells, spread in zip(_CLASSES, spreads, strict=True)]
        parts = [np.nan_to_num(slope * spread) ** 2 for slope, spread in zip(slopes, spreads, strict=True)]
        return self.values(centre), np.sqrt(parts[0] + parts[1])

    def _slope(self, centre: Array, hit: int, miss: int, spread: Array) -> Array:
        """How fast the metric changes with rows that move from one cell of a class to the other."""
        step = np.minimum(spread, np.minimum(centre[:, hit], centre[:, miss])) / 2
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

    def estimates(self, kept: Candidates, level: float) -> Estimates:
        """The values, the ends of their intervals and the values elsewhere.

        The ends are those of the default interval at 99 %, each extended to the level as a normal one would be.
        """
        counts, whole = kept.table.counts, kept.whole.counts
        drawn = [interval(self.metric, Counts(*map(int, each)), level=_LEVEL) for each in counts]
        times, limits = normal_reach(level) / normal_reach(_LEVEL), self.metric.range
        ends = [[_extended(each.value, end, times, limits) for end in (each.low, each.high)] for each in drawn]
        errors = counts[:, [1, 2]].sum(-1) / whole[[1, 2]].sum()
        low, high = np.array(ends).T
        elsewhere = self.values(whole - counts)
        return Estimates(self.values(counts), low, high, elsewhere, counts[:, :2].sum(-1), errors)

    def findable(self, whole: SliceTable, unit: float, least: int) -> Rows[Findable]:
        """How bad the metric must be in slices of so many positives, and as many negatives for each as in all rows."""
        positives = int(whole.counts[:2].sum())
        sizes = findable_sizes(positives, least)
        counts = np.array(sizes)[:, None] / positives * whole.counts
        middle, spread = self.at_whole_rates(counts, np.broadcast_to(whole.counts, counts.shape))
        return normal_findable(sizes, middle, spread, unit, self.metric)


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


def _extended(value: float, end: float, times: float, limits: tuple[float, float]) -> float:
    """An end further out, on the scale of the logit of the metric's range where it has one."""
    low, high = limits
    if not (np.isfinite(low) and np.isfinite(high)) or not low < end < high:
        return float(np.clip(value + times * (end - value), low, high))
    inner = np.clip((np.array([value, end]) - low) / (high - low), 1e-6, 1 - 1e-6)
    logits = np.log(inner / (1 - inner))
    moved = logits[0] + times * (logits[1] - logits[0])
    return float(low + (high - low) / (1 + np.exp(-moved)))
