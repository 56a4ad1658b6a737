"""Hypergeometric tails: the exact probability of so few good rows or fewer in a slice, for many slices at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.chance.hypergeometric import TruePositives

if TYPE_CHECKING:
    from steelyard._types import Array

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
        some = few[start : start + _CHUNK]
        tails[some] = _tails(good[some], drawn[some], all_good[some], rows[some])
    return tails.reshape(shape)


def _tails(good: Array, drawn: Array, all_good: Array, rows: Array) -> Array:
    """The tails below the expected number, where each term is smaller than the one before it."""
    total = np.ones(len(good))
    place: Array = np.arange(len(good))
    term: Array = np.ones(len(good))
    k: Array = good.astype(np.float64)
    n, most, left = (part.astype(np.float64) for part in (drawn, all_good, rows - all_good - drawn))
    while len(place):
        term = term * k * (left + k) / ((most - k + 1) * (n - k + 1))
        total[place] += term
        more = term > _NEGLIGIBLE * total[place]
        term, k, n, most, left, place = (part[more] for part in (term, k - 1, n, most, left, place))
    return np.asarray(np.minimum(np.exp(log_mass(good, drawn, all_good, rows)) * total, 1.0))


def least_tail(drawn: Array, all_good: Array, rows: Array) -> Array:
    """The least that such a tail can be, whatever is seen: that of as few good rows as there can be."""
    fewest = np.maximum(0, drawn + all_good - rows)
    return np.exp(log_mass(fewest, drawn, all_good, rows))
