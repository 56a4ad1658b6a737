"""Differences of groups: two independent groups by a metric, from the interval of each, and many of them together.

Donner and Zou's MOVER: the ends of a difference or a ratio from the two values and the ends of their own intervals,
which need not be symmetric. Each comparison has the level by which all of them hold together (Šidák).
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from steelyard._types import Array

_SMALLEST = 1e-300  # of a denominator


def level_of_each(level: float, comparisons: int) -> float:
    """The level of each of several intervals at which all of them hold together."""
    return float(level ** (1 / max(comparisons, 1)))


def difference_ends(ends: Array, others: Array) -> Array:
    """The difference of independent values with its ends, on the last axis: value, low, high (Newcombe's hybrid)."""
    (value, low, high), (other, other_low, other_high) = np.moveaxis(ends, -1, 0), np.moveaxis(others, -1, 0)
    middle = value - other
    below, above = np.hypot(value - low, other_high - other), np.hypot(high - value, other - other_low)
    return np.stack([middle, middle - below, middle + above], -1)


def ratio_ends(ends: Array, others: Array) -> Array:
    """The ratio of independent values that are not negative, with its ends: value, low, high."""
    (value, low, high), (other, other_low, other_high) = np.moveaxis(ends, -1, 0), np.moveaxis(others, -1, 0)
    product = value * other
    with np.errstate(divide="ignore", invalid="ignore"):
        least, most = low * (2 * value - low), other_high * (2 * other - other_high)
        root = np.sqrt(np.maximum(product**2 - least * most, 0))
        below = np.where(least > 0, least / np.maximum(product + root, _SMALLEST), 0.0)
        least, most = high * (2 * value - high), other_low * (2 * other - other_low)
        root = np.sqrt(np.maximum(product**2 - least * most, 0))
        above = np.where(most > 0, (product + root) / np.maximum(most, _SMALLEST), np.inf)
        undefined = np.isnan(value + other) | ((value == 0) & (other == 0))
        return np.where(undefined[..., None], np.nan, np.stack([value / other, below, above], -1))


def largest_difference(ends: Array) -> Array:
    """The largest difference between any two groups (the last axis but one), with its ends.

    The ends of all pairs hold together, so the largest true difference is at most the farthest of them, and at least
    the nearest of the pair that is shown to be farthest apart: 0 where none is. The value itself is never below 0 and
    too large on average, whatever is true; the low end alone shows a difference.
    """
    first, second = _pairs(ends.shape[-2])
    value, low, high = np.moveaxis(difference_ends(ends[..., first, :], ends[..., second, :]), -1, 0)
    least = np.maximum(np.maximum(low, -high), 0)
    most = np.maximum(np.abs(low), np.abs(high))
    return np.stack([np.abs(value).max(-1), least.max(-1), most.max(-1)], -1)


def smallest_ratio(ends: Array) -> Array:
    """The smallest ratio of any group's value to another's, with its ends; 1 where all are equal."""
    first, second = _pairs(ends.shape[-2])
    ratios = [ratio_ends(ends[..., a, :], ends[..., b, :]) for a, b in ((first, second), (second, first))]
    value, low, high = np.moveaxis(np.concatenate(ratios, -2), -1, 0)
    some = np.where(np.isnan(value) & ~np.isnan(value).all(-1, keepdims=True), np.inf, value)  # 0 beside 0
    undefined = np.isnan(ends).any((-1, -2)) | np.isnan(value).all(-1)
    least, most = (np.where(np.isnan(end), np.inf, end).min(-1) for end in (low, high))
    answer = np.stack([np.minimum(some.min(-1), 1), np.minimum(least, 1), np.minimum(most, 1)], -1)
    return np.where(undefined[..., None], np.nan, answer)


def _pairs(groups: int) -> tuple[Array, Array]:
    first, second = np.array(list(combinations(range(groups), 2)), dtype=np.intp).reshape(-1, 2).T
    return first, second
