"""Quantiles of draws: the two ends between which the middle share of the defined ones lies."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.intervals.rate_intervals import Ends

_MANY, _STEP, _ERRORS = 4_096, 16, 5.0  # draws from which on tails are sorted alone, by every 16th, with its errors


def quantiles(values: Array, levels: tuple[float, float]) -> Ends:
    """The two quantiles of the draws on the last axis, of those that are defined."""
    with np.errstate(over="ignore", invalid="ignore"):
        all_finite = np.isfinite(values.sum())  # one sum finds both
    if all_finite:
        low, high = _interpolated(values, levels)
    elif np.isnan(values).any():
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a table without a defined draw has no interval
            low, high = np.nanquantile(values, levels, axis=-1)
    elif np.isinf(values).any():  # between two infinities nothing can be interpolated
        low = np.quantile(values, levels[0], axis=-1, method="lower")
        high = np.quantile(values, levels[1], axis=-1, method="higher")
    else:
        low, high = _interpolated(values, levels)
    return low, high


def _interpolated(values: Array, levels: tuple[float, float]) -> list[Array]:
    """As np.quantile to the last bit, in a third of its time: it also looks for what is not a number."""
    places = [level * (values.shape[-1] - 1) for level in levels]
    around = [(int(place), min(int(place) + 1, values.shape[-1] - 1)) for place in places]
    ends = []
    for place, (before, after) in zip(places, _ordered_pairs(values, around), strict=True):
        part, step = place - int(place), after - before
        ends.append(before + step * part if part < 0.5 else after - step * (1 - part))
    return ends


def _ordered_pairs(values: Array, places: list[tuple[int, int]]) -> list[tuple[Array, Array]]:
    """The values at those places of their order."""
    if values.ndim == 1 and len(values) >= _MANY:
        tails = _low_tail(values, places[0]), _high_tail(values, places[1])
        if tails[0] is not None and tails[1] is not None:
            return [tails[0], tails[1]]
    ordered = np.partition(values, [place for pair in places for place in pair], axis=-1)
    return [(ordered[..., before], ordered[..., after]) for before, after in places]


def _low_tail(values: Array, places: tuple[int, int]) -> tuple[Array, Array] | None:
    """Those near the lower end, by sorting them alone: a sample bounds them; None where it bounds too few or most."""
    sample = np.sort(values[::_STEP])
    share = places[1] / len(values)
    reach = int(share * len(sample) + _ERRORS * math.sqrt(share * len(sample)) + 1)
    if reach >= len(sample) // 2:
        return None
    tail = values.take(np.flatnonzero(values <= sample[reach]))
    if len(tail) <= places[1]:
        return None
    tail.sort()
    return tail[places[0]], tail[places[1]]


def _high_tail(values: Array, places: tuple[int, int]) -> tuple[Array, Array] | None:
    """Those near the upper end, which is the lower one of the negated values."""
    last = len(values) - 1
    tail = _low_tail(-values, (last - places[1], last - places[0]))
    return None if tail is None else (-tail[1], -tail[0])
