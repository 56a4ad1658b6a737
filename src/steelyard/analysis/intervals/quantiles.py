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
    if _all_finite(values):
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


def undefined_share(values: Array) -> float:
    """The share of the draws that are undefined."""
    return 0.0 if _all_finite(values) else np.count_nonzero(np.isnan(values)) / values.size


def _all_finite(values: Array) -> bool:
    """Whether none is infinite or undefined: one sum finds both, and is quicker than to look at each."""
    with np.errstate(over="ignore", invalid="ignore"):
        return math.isfinite(values.sum())


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
    if values.ndim == 1 and len(values) >= _MANY and (tails := _tails(values, places)) is not None:
        return tails
    ordered = np.partition(values, [place for pair in places for place in pair], axis=-1)
    return [(ordered[..., before], ordered[..., after]) for before, after in places]


def _tails(values: Array, places: list[tuple[int, int]]) -> list[tuple[Array, Array]] | None:
    """Those near either end, by sorting them alone: a sample bounds them; None where it bounds too few or most."""
    sample, last = np.sort(values[::_STEP]), len(values) - 1
    low, high = places[0], (last - places[1][1], last - places[1][0])  # the upper end by places from the top
    reaches = [_reach(far[1] / len(values), len(sample)) for far in (low, high)]
    if max(reaches) >= len(sample) // 2:
        return None
    lowest = values.take(np.flatnonzero(values <= sample[reaches[0]]))
    highest = values.take(np.flatnonzero(values >= sample[-1 - reaches[1]]))
    if len(lowest) <= low[1] or len(highest) <= high[1]:
        return None
    lowest.sort()
    highest.sort()
    return [(lowest[low[0]], lowest[low[1]]), (highest[-1 - high[1]], highest[-1 - high[0]])]


def _reach(share: float, size: int) -> int:
    """So many of an ordered sample have that share of all below them, but for errors of five deviations."""
    return int(share * size + _ERRORS * math.sqrt(share * size) + 1)
