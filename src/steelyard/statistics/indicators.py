"""Indicators: matrices of 0 and 1, dense or sparse, a row for each row of data and a column for each label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from steelyard.statistics.backend import backend_of
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from steelyard._types import Array

    Indicators: TypeAlias = Any  # an array, here or of booleans on a device, or a csr_array of SciPy


class IndicatorCounts(NamedTuple):
    """How often each label is true, predicted, and both: by label or by row, weighted where weights were given."""

    both: Array
    true: Array
    predicted: Array


class RowKinds(NamedTuple):
    """The four cells of rows, of which few are distinct: those, and the place among them of each row."""

    counts: Counts[Array]
    places: Array


def is_sparse(matrix: Indicators) -> bool:
    """Whether a matrix is held by its ones alone."""
    return hasattr(matrix, "tocsr")


def label_counts(true: Indicators, predicted: Indicators, weights: Array | None = None) -> IndicatorCounts:
    """The counts of each label: whole numbers without weights, floats with them.

    Either both matrices are sparse or neither is.

    >>> label_counts(np.array([[1, 0], [1, 1]]), np.array([[1, 1], [0, 1]])).both.tolist()
    [1, 1]
    """
    if is_sparse(true):
        held = (true.multiply(predicted).tocsr(), true, predicted)
        return IndicatorCounts(*(_sparse_sums(matrix, weights) for matrix in held))
    there = backend_of(true)
    t, p = there.native(true), there.native(predicted)
    column = None if weights is None else there.real(there.native(weights))
    sums: list[Any] = [0, 0, 0]
    for part in there.parts(*true.shape):
        own, other = t[part, :], p[part, :]
        matrices = (own,) if true is predicted else (own & other, own, other)
        for place, cells in enumerate(matrices):
            sums[place] += there.column_sums(cells, None if column is None else column[part])
    counts = there.brought(there.xp.stack(sums[: len(matrices)]))
    return IndicatorCounts(*np.broadcast_to(counts, (3, true.shape[1])))


def row_counts(true: Indicators, predicted: Indicators) -> IndicatorCounts:
    """The counts of each row, over its labels."""
    if is_sparse(true):
        both = true.multiply(predicted).tocsr()
        return IndicatorCounts(*(np.asarray(np.diff(held.indptr), np.int64) for held in (both, true, predicted)))
    there = backend_of(true)
    t, p = there.native(true), there.native(predicted)
    counted = []
    for part in there.parts(*true.shape):
        own, other = t[part, :], p[part, :]
        matrices = (own,) if true is predicted else (own & other, own, other)
        counted.append([there.count_true(cells, 1) for cells in matrices])
    columns = [there.kept(there.xp.concat(column)) for column in zip(*counted, strict=True)]
    return IndicatorCounts(*(columns * 3 if true is predicted else columns))


def _sparse_sums(matrix: Any, weights: Array | None) -> Array:
    """The sums of the columns of a sparse matrix of ones."""
    if weights is None:
        return np.bincount(matrix.indices, minlength=matrix.shape[1])
    spread = np.repeat(weights, np.diff(matrix.indptr))
    return np.bincount(matrix.indices, spread, minlength=matrix.shape[1])


def row_kinds(by_row: Counts[Array], labels: int) -> RowKinds:
    """The distinct ones among the cells of rows of so many labels."""
    base = labels + 1
    distinct, places = np.unique((by_row.tp * base + by_row.fn) * base + by_row.fp, return_inverse=True)
    distinct = np.asarray(distinct)
    tp, fn, fp = distinct // base**2, distinct // base % base, distinct % base
    return RowKinds(Counts.trusted(tp, fn, fp, labels - tp - fn - fp), places)


def meetings(first: Indicators, second: Indicators) -> Array:
    """In how many rows each label of the one is together with each of the other."""
    there = backend_of(first)
    xp, one, other = there.xp, there.native(first), there.native(second)
    total: Any = 0
    for part in there.parts(*first.shape):
        total = total + xp.matmul(xp.permute_dims(there.real(one[part, :]), (1, 0)), there.real(other[part, :]))
    return there.brought(total).astype(np.int64)
