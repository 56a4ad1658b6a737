"""The sort of scores: a long column is split into ranges that fit the processor's cache, each sorted for itself."""

from __future__ import annotations

import timeit
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from steelyard.statistics.score_order import CHUNK, chunks, slotter, sums_between
from steelyard.statistics.threads import in_threads, thread_count

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard._types import Array

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
