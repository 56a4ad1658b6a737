"""Ranks of labels on a device: where each true label of a row stands among all labels of the row by their scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.statistics.device_array import DeviceArray, kept
from steelyard.statistics.device_indicators import device_parts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard._types import Array
    from steelyard.statistics.device_library import DeviceLibrary, Native

_CELLS = 1 << 26  # of a chunk of comparisons, a byte each
_ORDERED = 1 << 22  # of a chunk of orders, some hundred bytes each


def device_label_ranks(true: DeviceArray, scores: DeviceArray) -> list[Array]:
    """The row and the column of each true label, how many score higher or as high, and how many of those are true."""
    library, (n, labels) = true.library, true.shape
    held = int(library.xp.count_nonzero(true.native))
    step = max(1, int(_CELLS // max(1, labels * max(1, held / max(1, n)))))
    parts = [
        _ranks(library, true.native[part, :], scores.native[part, :], part.start) for part in device_parts(n, step)
    ]
    return [kept(library, library.xp.concat(column)) for column in zip(*parts, strict=True)]


def _ranks(library: DeviceLibrary, held: Native, scores: Native, start: int) -> list[Native]:
    """The entries of some rows, of which the first is the given one; kept as int32, of which each may be millions."""
    xp = library.xp
    row, column = xp.nonzero(held)
    cells = xp.reshape(scores, (-1,))
    own = xp.reshape(library.take(cells, row * held.shape[1] + column), (-1, 1))
    others, truth = library.take(scores, row), library.take(held, row)
    higher, as_high = others > own, others >= own
    counts = [library.count_true(which, 1) for which in (higher, as_high, higher & truth, as_high & truth)]
    return [xp.astype(each, xp.int32) for each in (row + start, column, *counts)]


def device_row_orders(true: DeviceArray, scores: DeviceArray) -> Iterator[tuple[Array, Array]]:
    """How many labels that each row has, and that it has not, are at each place of its order, from the lowest score."""
    library, step = true.library, max(1, _ORDERED // max(1, true.shape[1]))
    for part in device_parts(len(true), step):
        sides = _orders(library, true.native[part, :], scores.native[part, :])
        yield DeviceArray(library, sides[0]), DeviceArray(library, sides[1])  # type: ignore[misc]  # they compute as arrays do


def _orders(library: DeviceLibrary, held: Native, scores: Native) -> tuple[Native, Native]:
    """Both of some rows; labels of equal scores share a place."""
    xp, (n, labels) = library.xp, held.shape
    row = xp.reshape(xp.arange(n, device=library.device) * labels, (-1, 1))
    order = xp.reshape(xp.argsort(scores, axis=1) + row, (-1,))
    ascending = xp.reshape(library.take(xp.reshape(scores, (-1,)), order), (n, labels))
    rises = xp.astype(ascending[:, 1:] != ascending[:, :-1], xp.int64)
    first = xp.zeros((n, 1), dtype=xp.int64, device=library.device)
    places = xp.reshape(xp.concat([first, xp.cumulative_sum(rises, axis=1)], axis=1) + row, (-1,))
    own = xp.astype(library.take(xp.reshape(held, (-1,)), order), xp.float64)
    both = (library.code_sums(places, n * labels, each) for each in (own, 1 - own))
    positive, negative = (xp.reshape(xp.round(side), (n, labels)) for side in both)
    return positive, negative
