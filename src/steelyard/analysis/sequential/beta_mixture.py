"""Beta mixtures: evidence about a rate, and bounds of it, that hold at every trial at once.

Under the limit the likelihood ratio against a mixture of other rates is a martingale, so that it ever exceeds 1 / alpha
with probability alpha at most (Ville 1939; Robbins 1970, Annals of Mathematical Statistics 41). A beta distribution
truncated at the limit gives the mixture in closed form. It depends on hits and misses alone, not on their order, which
is why counts of other days or machines may be added. Evidence against "at least the limit" holds for rates that move,
as long as none of them is below the limit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.intervals.rate_intervals import Ends

_EDGE = 1e-12  # a limit of 0 or 1 is taken so near to it
_HALVINGS = 48  # steps of the search for a bound: its error is below 1e-12


def log_evidence_below(hits: Array, misses: Array, limit: Array | float) -> Array:
    """The logarithm of the evidence that a rate is below the limit, where 0 is none.

    The mixture is of Beta(limit, 1 - limit) below the limit where that is above 1/2, so that of a limit such as 0.999
    error rates of every size are looked for; else of Beta(1/2, 1/2).

    >>> evidence = log_evidence_below(np.array([70, 80]), np.array([30, 20]), 0.9)
    >>> [round(float(e), 1) for e in np.exp(evidence)]
    [749420.9, 16.7]
    """
    from scipy.special import betainc, betaln, xlog1py, xlogy

    p = np.clip(limit, _EDGE, 1 - _EDGE)
    a, b = np.maximum(p, 0.5), np.minimum(1 - p, 0.5)
    with np.errstate(divide="ignore"):
        seen = betaln(hits + a, misses + b) + np.log(betainc(hits + a, misses + b, p))
    return np.asarray(seen - betaln(a, b) - np.log(betainc(a, b, p)) - xlogy(hits, p) - xlog1py(misses, -p))


def highest_rate(hits: Array, misses: Array, alpha: Array | float) -> Array:
    """The highest rate that the evidence does not refute: never below the true one, save with probability alpha."""
    hits, misses, alpha = np.broadcast_arrays(*(np.asarray(part, dtype=np.float64) for part in (hits, misses, alpha)))
    with np.errstate(invalid="ignore"):
        low = np.where(hits + misses > 0, hits / (hits + misses), 0.0)
    high = np.ones_like(low)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        refuted = log_evidence_below(hits, misses, middle) >= -np.log(alpha)
        high, low = np.where(refuted, middle, high), np.where(refuted, low, middle)
    return np.where(misses > 0, high, 1.0)


def lowest_rate(hits: Array, misses: Array, alpha: Array | float) -> Array:
    """The lowest rate that the evidence does not refute."""
    return 1 - highest_rate(misses, hits, alpha)


def anytime_rate(hits: Array, trials: Array, level: float) -> Ends:
    """Both ends of a rate's confidence sequence, each with half of the error.

    >>> low, high = anytime_rate(np.array(80), np.array(100), 0.95)
    >>> print(f"{low:.3f} to {high:.3f}")
    0.652 to 0.907
    """
    alpha = (1 - level) / 2
    return lowest_rate(hits, trials - hits, alpha), highest_rate(hits, trials - hits, alpha)


def log_evidence_uneven(first: Array, second: Array) -> Array:
    """The logarithm of the evidence that two kinds of rows are not equally frequent: Beta(1/2, 1/2) against 1/2."""
    from scipy.special import betaln

    return np.asarray(betaln(first + 0.5, second + 0.5) - betaln(0.5, 0.5) + (first + second) * np.log(2))
