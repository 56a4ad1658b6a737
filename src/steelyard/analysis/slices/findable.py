"""Findable: how bad a rate must be in a slice of a given size to be found among so many candidates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.distributions import beta_quantile, normal_quantile
from steelyard.analysis.results.rows import Rows
from steelyard.analysis.slices.hypergeometric_tails import tail_below
from steelyard.analysis.slices.slices_result import POWER, Findable

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.metrics.metric import Metric

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


def normal_findable(sizes: list[int], middle: Array, spread: Array, limit: float, metric: Metric) -> Rows[Findable]:
    """The same for a metric whose value has a standard error, taken as normal; NaN where it would leave its range."""
    reach = float(normal_quantile(POWER) - normal_quantile(limit))
    values = middle - metric.sign * reach * spread
    inside = np.where((values >= metric.range[0]) & (values <= metric.range[1]), values, np.nan)
    return Rows(Findable(size, float(value)) for size, value in zip(sizes, inside, strict=True))
