"""Correlation coefficients: Pearson's and Spearman's, of metrics over the tuples of a collection, and over seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from steelyard._types import Array

CONSTANT = 1e-12  # a metric that varies less than this over a collection is constant, and correlates with nothing


def by_metric(values: Array) -> Array:
    """Values by seed and imbalance, then metric, then all tuples of the collection."""
    seeds, levels, steps, tuples, metrics = values.shape
    return np.moveaxis(values.reshape(seeds, levels, steps * tuples, metrics), -1, -2)


def correlation_matrix(values: Array, *, rank: bool = False) -> Array:
    """The correlation of every pair of metrics (the axis before the last) over the tuples where both are defined."""
    return np.stack([correlation(values[..., i, None, :], values, rank) for i in range(values.shape[-2])], -2)


def correlation(x: Array, y: Array, rank: bool) -> Array:
    """Correlation along the last axis, of values or of their ranks; NaN where one of the two is constant."""
    defined = ~np.isnan(x + y)
    x, y = (np.where(defined, side, np.nan) for side in np.broadcast_arrays(x, y))
    constant = _constant(x) | _constant(y)
    if rank:
        from scipy.stats import rankdata

        x, y = (rankdata(side, axis=-1, nan_policy="omit") for side in (x, y))
    x, y = (_centred(side, defined) for side in (x, y))
    with np.errstate(all="ignore"):
        r = (x * y).sum(-1) / np.sqrt((x * x).sum(-1) * (y * y).sum(-1))
    return np.where(constant, np.nan, np.clip(r, -1, 1))


def _constant(x: Array) -> Array:
    low, high = np.where(np.isnan(x), np.inf, x).min(-1), np.where(np.isnan(x), -np.inf, x).max(-1)
    return np.asarray(~(high - low > CONSTANT))


def _centred(x: Array, defined: Array) -> Array:
    x = np.where(defined, x, 0.0)
    return np.where(defined, x - (x.sum(-1) / np.maximum(defined.sum(-1), 1))[..., None], 0.0)


def mean_over_seeds(values: Array) -> Array:
    """The mean over the seeds in which the value is defined."""
    defined = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(defined, values, 0).sum(0) / np.where(defined.any(0), defined.sum(0), np.nan))


def deviation_over_seeds(values: Array) -> Array:
    """The standard deviation over the seeds in which the value is defined."""
    return np.sqrt(mean_over_seeds((values - mean_over_seeds(values)) ** 2))
