"""RateRegion: a metric over all rates that the counts do not refute.

Every metric of the four cells follows from recall, specificity and prevalence, or from recall and precision where it
does not look at true negatives. Sequences of these rates that hold together, each with its share of the error, span a
box, and the extremes of the metric over the box bound the metric.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.intervals.rate_intervals import score_ends
from steelyard.analysis.sequential.beta_mixture import highest_rate, lowest_rate
from steelyard.statistics.counts import CELLS, Counts

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard._types import Array
    from steelyard.analysis.intervals.rate_intervals import Ends
    from steelyard.metrics.metric import Metric

    RateBound = Callable[[Array, Array, Array | float], Array]  # of hits, misses and the error that is allowed

_CLASSES = (("tp", "fn"), ("tn", "fp"), ("tp fn", "fp tn"))  # the cells of hits and of misses of each rate
_FLAGGED = (("tp", "fn"), ("tp", "fp"))
_POINTS = {0: 1, 1: 17, 2: 9, 3: 7}  # of a grid along each rate, by how many rates it has to be searched
_ZOOMS = {0: 1, 1: 6, 2: 9, 3: 12}
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

    def anytime_ends(self, cells: Array, alpha: float) -> Ends:
        """Both ends of the metric at all looks together, each with half of the error."""
        return tuple(self.extreme(cells, alpha / 2, sign) for sign in (-1, 1))  # type: ignore[return-value]  # two of them

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
        ends = []
        for (hit, miss), direction in zip(self.rates, self.directions, strict=True):
            hits, misses = (cells[..., [CELLS.index(name) for name in part.split()]].sum(-1) for part in (hit, miss))
            if direction:
                end = (highest if direction * sign > 0 else lowest)(hits, misses, share)
                ends.append((end, end))
            else:
                ends.append((lowest(hits, misses, share / 2), highest(hits, misses, share / 2)))
        lows, highs = zip(*ends, strict=True)
        return self._searched(np.stack(lows, -1), np.stack(highs, -1), sign)

    def nearest(self, cells: Array, alpha: Array, sign: int) -> Array:
        """A value inside the region, near to its extreme, by score intervals in closed form.

        Evidence is at most the greatest likelihood ratio, and that at most exp(n (p - hits / n)**2 / (p (1 - p))), so
        that a rate p that a score interval of this reach holds is never refuted.
        """
        reach, at = np.sqrt(-np.log(alpha / len(self.rates))), []
        for (hit, miss), direction in zip(self.rates, self.directions, strict=True):
            hits, misses = (cells[..., [CELLS.index(name) for name in part.split()]].sum(-1) for part in (hit, miss))
            with np.errstate(invalid="ignore"):
                share = hits / (hits + misses)
            low, high = score_ends(share, hits + misses, reach)
            at.append(share if not direction else high if direction * sign > 0 else low)
        return self.values(np.stack(at, -1))

    def _searched(self, low: Array, high: Array, sign: int) -> Array:
        """The extreme over a box, by a grid that is drawn finer around the best point."""
        free = [i for i, direction in enumerate(self.directions) if not direction]
        steps = np.linspace(0, 1, _POINTS[len(free)])
        at = np.zeros((len(steps) ** len(free), len(self.rates)))
        at[:, free] = np.array(list(product(steps, repeat=len(free)))).reshape(len(at), len(free))
        best = np.full(low.shape[:-1], -np.inf)
        for _ in range(_ZOOMS[len(free)]):
            points = low[..., None, :] + at * (high - low)[..., None, :]
            values = sign * self.values(points)
            values = np.where(np.isnan(values), -np.inf, values)
            place = values.argmax(axis=-1)[..., None]
            best = np.maximum(best, np.take_along_axis(values, place, -1)[..., 0])
            centre = np.take_along_axis(points, place[..., None], -2)[..., 0, :]
            reach = 1.5 * (high - low) / max(len(steps) - 1, 1)
            low, high = np.maximum(low, centre - reach), np.minimum(high, centre + reach)
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
