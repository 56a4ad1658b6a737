"""Bounds: the two ends of an interval before the value is put between them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steelyard.metrics.metric_value import plain

if TYPE_CHECKING:
    from steelyard._types import Array


class Bounds(NamedTuple):
    """The ends, the share of draws that are undefined and, where scores were binned, the error of that."""

    low: Any
    high: Any
    undefined_share: float = 0.0
    bin_error: float | None = None
    why: Any = None  # the reason where a value has no interval

    def around(self, value: Array | float, limits: tuple[float, float]) -> tuple[Any, Any]:
        """The ends within the range of the metric, and so that the value belongs to its interval.

        All draws may lie on one side of it, as at a recall of 1.

        >>> Bounds(0.7, 0.99).around(1.0, (0, 1)), Bounds(0.7, math.nan).around(0.8, (0, 1))
        ((0.7, 1.0), (nan, nan))
        """
        if np.ndim(value) == np.ndim(self.low) == np.ndim(self.high) == 0:  # plain numbers are far quicker
            return _around_one(float(value), float(self.low), float(self.high), limits)
        undefined = np.isnan(value) | np.isnan(self.low) | np.isnan(self.high)
        ends = (np.fmin(np.clip(self.low, *limits), value), np.fmax(np.clip(self.high, *limits), value))
        return plain(np.where(undefined, np.nan, ends[0])), plain(np.where(undefined, np.nan, ends[1]))


def _around_one(value: float, low: float, high: float, limits: tuple[float, float]) -> tuple[float, float]:
    if math.isnan(value) or math.isnan(low) or math.isnan(high):
        return math.nan, math.nan
    low, high = (min(max(end, limits[0]), limits[1]) for end in (low, high))
    return min(low, value), max(high, value)
