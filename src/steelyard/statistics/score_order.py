"""The order of scores: where some stand among others, sorted ones or, of a rare class, without sorting the others."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

import numpy as np

from steelyard.statistics.threads import in_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from steelyard._types import Array


CHUNK = 32_768  # float64 temporaries of this length stay in the second-level cache
MANY_TIMES = 32  # how many times larger a class is worth not sorting, when the other asks where it stands in it
PART = 2**18  # scores of one class placed in the other at a time where only a sum of their places is asked for


def chunks(n: int, size: int = CHUNK) -> Iterator[slice]:
    """Slices that cover n rows."""
    return (slice(start, start + size) for start in range(0, n, size))


def bin_starts(ordered: Array, bins: int) -> list[int]:
    """Where each of so many bins of [0, 1] but the first begins among ordered scores."""
    return [bisect_left(ordered, i, key=lambda score: score * bins) for i in range(1, bins)]


def sums_between(column: Array, ends: Array) -> Array:
    """The sum of a column between each two of the ends in one pass, where many of the bins may be empty."""
    used = np.diff(ends) > 0
    sums = np.zeros(len(used), dtype=column.dtype)
    sums[used] = np.add.reduceat(column, ends[:-1][used])
    return sums


def below(few: Array, ordered: Array) -> Array:
    """How many of the ordered scores are below each of some ascending ones."""
    if len(few) > 2 * len(ordered):  # the fewer are searched: an ordered score is below all from its place on
        passed = up_to(ordered, few, below(ordered, few))
        return np.cumsum(np.bincount(passed, minlength=len(few) + 1)[:-1])
    places = np.empty(len(few), dtype=np.int64)
    in_threads(lambda part: _place(few[part], ordered, places[part]), chunks(len(few), PART))
    return places


def _place(few: Array, ordered: Array, places: Array) -> None:
    """Write into the places how many of the ordered scores are below each of the few."""
    size = 2_048  # a short window keeps the binary searches short: 109 ms against 171 ms for 5e6 in 5e6
    ends = [*np.searchsorted(ordered, few[::size]).tolist(), int(np.searchsorted(ordered, few[-1]))]
    for part, low, high in zip(chunks(len(few), size), ends, ends[1:], strict=False):
        places[part] = np.searchsorted(ordered[low:high], few[part]) + low


def up_to(few: Array, ordered: Array, lower: Array) -> Array:
    """How many are at or below each, given how many are below: only ties need another search."""
    places = lower.copy()
    if len(ordered):
        tied = np.flatnonzero(ordered.take(lower, mode="clip") == few)
        places[tied] = np.searchsorted(ordered, few[tied], side="right")
    return places


def merge_descending(first: Array, second: Array) -> tuple[Array, list[Array]]:
    """Two lists of distinct ascending scores as one of descending ones, and where in it those of each list are."""
    few, many = sorted((first, second), key=len)
    places = below(few, many)
    tied = many.take(places, mode="clip") == few if len(many) else np.zeros(0, dtype=bool)
    size = len(few) + len(many) - int(tied.sum())
    at = (size - 1 - places - np.cumsum(~tied) + ~tied)[::-1]
    of_many = np.ones(size, dtype=bool)
    of_many[at[~tied[::-1]]] = False
    scores = np.empty(size)
    scores[at], scores[of_many] = few[::-1], many[::-1]
    return scores, [at, of_many] if few is first else [of_many, at]


def around_unsorted(few: Array, scores: Array) -> tuple[Array, Array]:
    """Both for scores in no order, many times as many: each is placed by a table of slots, few need a search."""
    n_slots = 8 * len(few)
    slots = slotter(few[0], few[len(few) // 2], few[-1], n_slots, np.intp)
    rank_of_slot = _slot_ranks(few, slots, n_slots)
    ended = np.append(few, np.inf)
    between, equal = np.zeros((2, len(few) + 1), dtype=np.int64)
    for part in chunks(len(scores)):
        values = scores[part]
        ranks = rank_of_slot.take(slots(values))
        near = np.flatnonzero(ranks < 0)
        ranks[near], tied = _searched(ended, values.take(near), np.invert(ranks.take(near)).astype(np.intp))
        np.add.at(equal, tied, 1)
        np.add.at(between, ranks, 1)
    reached = np.cumsum(between[:-1])
    return reached - equal[:-1], reached


def _slot_ranks(few: Array, slots: Callable[[Array], Array], n_slots: int) -> Array:
    """How many of the few lie in lower slots than each slot; inverted where the slot itself holds any."""
    sizes = np.zeros(n_slots, dtype=np.int32)
    for part in chunks(len(few)):
        np.add.at(sizes, slots(few[part]), np.int32(1))  # a Python 1 would miss the fast loop: 53 ns against 1.3
    ranks: Array = np.cumsum(sizes, dtype=np.int32) - sizes
    np.invert(ranks, out=ranks, where=sizes > 0)
    return ranks


def _searched(ended: Array, values: Array, ranks: Array) -> tuple[Array, Array]:
    """How many of the few are below each value, from their ranks by slot, and the ranks of the values that are tied.

    The few end with infinity. Which row has which rank is not kept: counts need no order of rows.
    """
    ranks += ended.take(ranks) < values
    reached = ended.take(ranks)
    late = np.flatnonzero(reached < values)
    if len(late):  # a slot of several scores: rare unless they are very uneven
        values[late] = np.sort(values[late])
        ranks[late] = np.searchsorted(ended[:-1], values[late])
        reached = ended.take(ranks)
    return ranks, ranks[reached == values]


def slotter(low: float, middle: float, high: float, n_slots: int, dtype: type) -> Callable[[Array], Array]:
    """A function from scores to slots that never reverses an order."""
    limits = np.clip(np.array([low, middle, high]) + 0.0, -1e300, 1e300)  # + 0.0: no -0.0 among the limits
    low, middle, high = limits.tolist()
    # Scores crowded towards 0 spread better by their bits, which keep the order of floats from 0 up.
    by_bits = low >= 0 and middle - low < (high - low) / 8
    if by_bits:
        low, middle, high = limits.view(np.int64).astype(np.float64).tolist()
    scale = min(n_slots / (high - low), 1e300) if high > low else 1.0

    def slots(values: Array) -> Array:
        # Subtraction, scaling and truncation are all monotone, their rounding included.
        with np.errstate(over="ignore"):
            places = ((values.view(np.int64) if by_bits else values) - low) * scale
        return np.clip(places, 0, n_slots - 1, out=places).astype(dtype)

    return slots
