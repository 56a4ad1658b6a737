"""BCa: the bias-corrected and accelerated bootstrap, from the draws and the values with one row left out."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.distributions import normal_below, normal_quantile
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.intervals.estimand import Estimand


def quantile_levels(estimand: Estimand, values: Array, value: float, tails: tuple[float, float]) -> tuple[float, float]:
    """The quantiles of the draws that are the ends; NaN where nothing is defined."""
    defined = values[~np.isnan(values)]
    if math.isnan(value) or not len(defined):
        return math.nan, math.nan
    share = np.clip(((defined < value).mean() + (defined <= value).mean()) / 2, 1e-9, 1 - 1e-9)
    shift = float(normal_quantile(share))
    z = shift + normal_quantile(np.array(tails))
    low, high = normal_below(shift + z / (1 - _acceleration(estimand) * z))
    return float(low), float(high)


def _acceleration(estimand: Estimand) -> float:
    """The skewness of what leaving a row out changes; there are as many such values as there are cells."""
    cells = np.array([float(cell) for cell in estimand.positive_counts])
    left_out = estimand.on_counts(Counts(*np.maximum(cells[:, None] - np.eye(4), 0)))
    defined = (cells > 0) & ~np.isnan(left_out)
    if not defined.any():
        return 0.0
    gaps = np.average(left_out[defined], weights=cells[defined]) - left_out[defined]
    spread = (cells[defined] * gaps**2).sum()
    return float((cells[defined] * gaps**3).sum() / (6 * spread**1.5)) if spread > 0 else 0.0
