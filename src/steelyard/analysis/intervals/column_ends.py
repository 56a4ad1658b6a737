"""Column ends: those of an interval of a column of scores for each class, and of a share of rows."""

from __future__ import annotations

from math import exp, nan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steelyard.analysis.distributions import normal_reach
from steelyard.analysis.intervals.rate_intervals import jeffreys

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.intervals.weighted_rows import WeightedRows


class ColumnEnds(NamedTuple):
    """The ends of an interval, or of one for each class."""

    low: Any
    high: Any
    why: Any = None


NO_ENDS = ColumnEnds(nan, nan)


def share_ends(hits: Array, rows: WeightedRows) -> ColumnEnds:
    """Jeffreys' interval of a share of rows, of as many as they are worth (Korn and Graubard 1998)."""
    if rows.clusters is not None or rows.strata is not None:
        return mean_share_ends(hits, rows)
    return _jeffreys_ends(float(np.average(hits, weights=rows.weights)), rows.effective_number(), rows.level)


def mean_share_ends(values: Array, rows: WeightedRows) -> ColumnEnds:
    """The same of the mean of values between 0 and 1: a share of as many rows as have its variance."""
    mean, n = float(np.average(values, weights=rows.weights)), rows.effective_number()
    is_plain = rows.clusters is None and rows.strata is not None
    reach = 1.0 if is_plain else normal_reach(rows.level) / rows.student_reach(n)
    error = rows.error((values - mean) / rows.weights.sum())
    return _jeffreys_ends(mean, (mean * (1 - mean) / error**2 if error else n) * reach**2, rows.level)


def _jeffreys_ends(share: float, n: float, level: float) -> ColumnEnds:
    low, high = jeffreys(np.asarray(share * n), np.asarray(n), level)
    return ColumnEnds(float(low), float(high))


def shown_on_logit(value: float, reach: float) -> float:
    """How far above a value between 0 and 1 so long a reach leads on the scale of the logit."""
    slope = value * (1 - value)
    return value / (value + (1 - value) * exp(-min(reach / slope, 700.0))) - value if slope > 0 else 0.0
