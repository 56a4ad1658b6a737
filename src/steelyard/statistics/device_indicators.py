"""Device indicators: matrices of booleans on a device, a row for each row of data and a column for each label."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.statistics.counts import Counts
from steelyard.statistics.device_array import DeviceArray, kept
from steelyard.statistics.device_operands import on_device
from steelyard.statistics.score_order import chunks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard._types import Array
    from steelyard.statistics.device_library import DeviceLibrary, Native

_CELLS = 1 << 25  # of a chunk whose cells become float64: a quarter of a gigabyte


class RowKinds(NamedTuple):
    """The four cells of rows, of which few are distinct: those, and the place among them of each row."""

    counts: Counts[Array]
    places: Array

    def of_rows(self, values: Array) -> Array:
        """A value of each kind as one of each row."""
        return looked_up(values, self.places)


def row_parts(true: DeviceArray, columns: int = 0) -> Iterator[slice]:
    """Slices of the rows, of which the indicators, or so many columns, may be held as float64."""
    return device_parts(len(true), max(1, _CELLS // max(1, true.shape[1], columns)))


def device_parts(n: int, size: int) -> Iterator[slice]:
    """Slices that cover n rows; none names a place beyond the last, which the standard leaves open."""
    return (slice(part.start, part.stop if part.stop < n else None) for part in chunks(n, size))


def device_label_counts(true: DeviceArray, predicted: DeviceArray, weights: Array | None) -> Array:
    """How often each label is both, true and predicted, brought: whole numbers, or sums of weights."""
    library, both = true.library, true if true is predicted else true & predicted
    matrices = (true,) if true is predicted else (both, true, predicted)
    sums = library.xp.stack([_column_sums(library, matrix.native, weights) for matrix in matrices])
    counts = DeviceArray(library, sums).brought()
    return np.broadcast_to(counts, (3, true.shape[1]))


def _column_sums(library: DeviceLibrary, cells: Native, weights: Array | None) -> Native:
    xp = library.xp
    if weights is None:
        return library.count_true(cells, 0)
    column = xp.astype(on_device(weights, library), xp.float64)
    total = xp.zeros((cells.shape[1],), dtype=xp.float64, device=library.device)
    for part in row_parts(DeviceArray(library, cells)):
        total = total + xp.matmul(column[part], xp.astype(cells[part, :], xp.float64))
    return total


def device_row_counts(true: DeviceArray, predicted: DeviceArray) -> tuple[Array, Array, Array]:
    """How many labels of each row are both, true and predicted."""
    library = true.library
    own = kept(library, library.count_true(true.native, 1))
    if true is predicted:
        return own, own, own
    both = (true & predicted).native
    return (
        kept(library, library.count_true(both, 1)),
        own,
        kept(library, library.count_true(predicted.native, 1)),
    )


def row_kinds(by_row: Counts[Array], labels: int) -> RowKinds:
    """The distinct ones among the cells of rows of so many labels."""
    base = labels + 1
    codes: Array = (by_row.tp * base + by_row.fn) * base + by_row.fp
    if not isinstance(codes, DeviceArray):
        distinct, places = np.unique(codes, return_inverse=True)
    else:
        there = codes.distinct()[0]
        distinct, places = np.asarray(there), np.searchsorted(there, codes)
    tp, fn, fp = distinct // base**2, distinct // base % base, distinct % base
    return RowKinds(Counts.trusted(tp, fn, fp, labels - tp - fn - fp), places)


def looked_up(values: Array, places: Array) -> Array:
    """The values of a small table at places, on the device where the places are there."""
    if not isinstance(places, DeviceArray):
        found: Array = values[places]
        return found
    library, shape = places.library, places.shape
    flat = library.xp.reshape(places.native, (-1,))
    there: Array = kept(library, library.xp.reshape(library.take(on_device(values, library), flat), shape))
    return there


def meetings(first: DeviceArray, second: DeviceArray) -> Array:
    """In how many rows each label of the one is together with each of the other, brought."""
    library, xp = first.library, first.library.xp
    total = xp.zeros((first.shape[1], second.shape[1]), dtype=xp.float64, device=library.device)
    for part in row_parts(first):
        one, other = (xp.astype(each.native[part, :], xp.float64) for each in (first, second))
        total = total + xp.matmul(xp.permute_dims(one, (1, 0)), other)
    return DeviceArray(library, total).brought().astype(np.int64)


def device_distinct_sets(true: DeviceArray) -> int:
    """How many different rows there are: each as a sum of random whole numbers, equal for two with chance 2^-64."""
    library, xp = true.library, true.library.xp
    keys = np.random.default_rng(0).integers(-(2**63), 2**63, true.shape[1])
    there = library.native(keys)
    zero = xp.zeros_like(there)
    sums = [xp.sum(xp.where(true.native[part, :], there, zero), axis=1) for part in row_parts(true)]
    return int(library.unique_counts(xp.concat(sums))[0].shape[0])


def reached_thresholds(scores: DeviceArray, thresholds: Array) -> DeviceArray:
    """Where scores reach a threshold, one for all labels or for each; exact also where scores are narrower numbers."""
    library, xp = scores.library, scores.library.xp
    exact = library.native(np.atleast_1d(np.asarray(thresholds, np.float64)))
    if not xp.isdtype(scores.native.dtype, "real floating"):
        return DeviceArray(library, scores.as_kind(xp.float64) >= exact)
    near = xp.astype(exact, scores.native.dtype)
    reached = xp.astype(near, xp.float64) >= exact
    return DeviceArray(library, (scores.native > near) | ((scores.native == near) & reached))
