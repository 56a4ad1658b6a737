"""Sorting of scores: in ranges that fit the processor's cache, by several threads, or of one class alone."""

from __future__ import annotations

import os
import timeit
from bisect import bisect_left
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future

    from steelyard._types import Array


LIMITS = ("OMP_NUM_THREADS", "POLARS_MAX_THREADS")
_MOST = 8  # a bound of prudence: only two cores were timed

_Part = TypeVar("_Part")
_Value = TypeVar("_Value")


def thread_count() -> int:
    """The cores that this process may run on, eight at most, or fewer where the environment limits threads.

    `OMP_NUM_THREADS` and `POLARS_MAX_THREADS` are read at every call: pools of processes set the first in their
    workers. Limits that threadpoolctl sets are those of other libraries' pools, and are not seen here.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    words = (os.environ.get(name, "").partition(",")[0].strip() for name in LIMITS)  # OpenMP: one for each nested level
    return max(min([cores, _MOST, *(int(word) for word in words if word.isdecimal())]), 1)


def in_threads(function: Callable[[_Part], _Value], parts: Iterable[_Part]) -> list[_Value]:
    """The function of each part, in their order; NumPy lets other threads run while it sorts or searches one."""
    listed = list(parts)
    threads = min(thread_count(), len(listed)) if len(listed) > 1 else 1
    if threads < 2:
        return [function(part) for part in listed]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, listed))


def in_background(function: Callable[[], _Value]) -> Future[_Value]:
    """The function begun in a thread of its own, with the floating-point settings of this one; at once without threads.

    For long works that let other threads run, such as drawing random numbers: others would only hinder each other.
    """
    from concurrent.futures import Future, ThreadPoolExecutor
    from contextvars import copy_context

    if thread_count() < 2:
        done: Future[_Value] = Future()
        try:
            done.set_result(function())
        except Exception as error:  # noqa: BLE001 - raised where the result is asked for, as it is with threads
            done.set_exception(error)
        return done
    pool = ThreadPoolExecutor(1)
    begun = pool.submit(copy_context().run, function)
    pool.shutdown(wait=False)
    return begun


# ---------------------------------------------------------------- score order


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


# ---------------------------------------------------------------- score sort


_HALVED = 2**18  # scores from which on two threads sort a half each; chosen, not timed
_MOST_RANGES = 256  # so that the number of a range is a byte, by which NumPy groups rows in a single pass
_LONG_CHUNK = 4 * CHUNK  # rows a step where ranges are many: short slices of each would cost more than they hold
_SAMPLED = 64  # scores for each range, by which the ranges are made about equally long
_ROW = 256  # values that NumPy sorts in registers: 1.5 ns each, where longer columns take 20 to 60


def sort(scores: Array) -> Array:
    """The scores in ascending order; the array given may be overwritten."""
    if len(scores) > CHUNK and numpy_sorts_slowly():
        return sort_by_ranges(scores)
    if len(scores) >= _HALVED and thread_count() > 1:
        middle = len(scores) // 2
        scores.partition(middle)
        in_threads(lambda half: half.sort(), (scores[:middle], scores[middle:]))
    else:
        scores.sort()
    return scores


@cache
def numpy_sorts_slowly() -> bool:
    """Whether np.sort is slow beyond 256 values, as NumPy's AVX-512 code is on AMD Zen 4: 67 ns a score against 11."""
    values = np.random.default_rng(0).random((16, _ROW))
    long = min(timeit.repeat(lambda: np.sort(values, axis=None), number=1, repeat=9))
    short = min(timeit.repeat(lambda: np.sort(values, axis=1), number=1, repeat=9))
    return long > 5 * short


def sort_by_ranges(scores: Array) -> Array:
    """The scores sorted in place, range by range: 13 ns a score where np.sort takes 67."""
    ranges = split(scores, lambda part: scores[part], np.float64)
    starts = ranges.starts

    def write(i: int) -> None:
        values = ranges[i]
        scores[starts[i] : starts[i + 1]] = sort_range(values, values)

    in_threads(write, range(len(ranges)))
    return scores


# ---------------------------------------------------------------- ranges


@dataclass(frozen=True, eq=False)
class Ranges:
    """Values grouped by ranges of scores within chunks of rows; `ends` are a chunk's start and its ranges' ends."""

    grouped: Array
    ends: Array

    def __len__(self) -> int:
        return int(self.ends.shape[1]) - 1

    def __getitem__(self, i: int) -> Array:
        """A copy of the values of a range, in the order of their rows."""
        slices = zip(self.ends[:, i].tolist(), self.ends[:, i + 1].tolist(), strict=True)
        return np.concatenate([self.grouped[start:end] for start, end in slices])

    def totals(self, worth: Callable[[Array], Array]) -> list[int]:
        """The sum over each range of what its values are worth."""

        def of_chunk(ends: Array) -> Array:
            return sums_between(worth(self.grouped[ends[0] : ends[-1]]), ends - ends[0])

        totals: list[int] = np.sum(in_threads(of_chunk, self.ends), axis=0).tolist()
        return totals

    @property
    def starts(self) -> list[int]:
        """How many values lie below each range, and how many there are."""
        starts: list[int] = (self.ends - self.ends[:, :1]).sum(0).tolist()
        return starts


def split(scores: Array, column: Callable[[slice], Array], kind: type) -> Ranges:
    """Values of a kind, made by a function for slices of the rows, grouped by ranges of the scores of these rows."""
    n_ranges = min(len(scores) // CHUNK, _MOST_RANGES)
    if n_ranges < 2:
        return Ranges(column(slice(None)), np.array([[0, len(scores)]]))
    range_of = _range_finder(scores, n_ranges)
    grouped: Array = np.empty(len(scores), dtype=kind)  # in a piece: large pages cost fewer faults

    def group(part: slice) -> Array:
        numbers = range_of(scores[part])
        column(part).take(np.argsort(numbers, kind="stable"), out=grouped[part], mode="clip")
        return np.cumsum(np.bincount(numbers, minlength=n_ranges))

    size = CHUNK if n_ranges < _MOST_RANGES else _LONG_CHUNK
    ends = np.array(in_threads(group, chunks(len(scores), size)))
    firsts = np.arange(len(ends))[:, None] * size
    return Ranges(grouped, np.hstack([firsts, firsts + ends]))


def _range_finder(scores: Array, n_ranges: int) -> Callable[[Array], Array]:
    """A function from scores to the numbers of their ranges, which hold about equally many."""
    size = _SAMPLED * n_ranges
    sample = np.sort(scores[:: max(len(scores) // size, 1)])
    edge = len(sample) // _ROW  # what lies further out, be it far, goes to the outermost ranges
    n_slots = n_ranges * _MOST_RANGES
    slots = slotter(sample[edge], sample[len(sample) // 2], sample[-1 - edge], n_slots, np.uint16)
    reached = np.cumsum(np.bincount(slots(sample), minlength=n_slots)) * n_ranges // len(sample)
    numbers = np.minimum(reached, n_ranges - 1).astype(np.uint8)
    return lambda values: numbers.take(slots(values))


def sort_range(values: Array, scores: Array) -> Array:
    """The values, which are in the order of these scores, sorted; the array given may be overwritten.

    Where np.sort is slow they are grouped by narrow slots first, and then sorted in rows that NumPy is quick at.
    """
    n = len(values)
    if n < 4 * _ROW or not numpy_sorts_slowly():
        values.sort()
        return values
    if (tied := _common_score(scores)) is not None:
        return _sort_around(values, scores, tied)
    slots = slotter(scores.min(), scores[n // 2], scores.max(), min(n // 16, 2**16), np.uint16)(scores)
    values = values.take(np.argsort(slots, kind="stable"))
    for start in (0, _ROW // 2):  # a slot of at most half a row lies within a row of one of these two layouts
        stop = start + (n - start) // _ROW * _ROW
        values[start:stop].reshape(-1, _ROW).sort(axis=1)
        values[stop:].sort()
    if (values[1:] < values[:-1]).any():
        _sort_crowded(values, slots)
    return values


def _common_score(scores: Array) -> Array | None:
    """Which rows have the score that more than half of them have; None where none is so common."""
    middle = scores[len(scores) // 2]
    few = scores[:: len(scores) // 64]
    if 2 * np.count_nonzero(few == middle) < len(few):
        return None
    tied = scores == middle
    return tied if 2 * np.count_nonzero(tied) > len(tied) else None


def _sort_around(values: Array, scores: Array, tied: Array) -> Array:
    """The values sorted where some are of one score: of these there are two at most, by their label."""
    alike, others = values[tied], sort_range(values[~tied], scores[~tied])
    low, high = alike.min(), alike.max()
    n_low = np.count_nonzero(alike == low)
    alike[:n_low], alike[n_low:] = low, high
    place = np.searchsorted(others, low)
    return np.concatenate([others[:place], alike, others[place:]])


def _sort_crowded(values: Array, slots: Array) -> None:
    """Sort what lies in slots of more than half a row, such as many equal scores."""
    sizes = np.bincount(slots)
    ends = np.cumsum(sizes)
    for i in np.flatnonzero(sizes > _ROW // 2).tolist():
        values[ends[i] - sizes[i] : ends[i]].sort()
