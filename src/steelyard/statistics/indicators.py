"""Indicators: matrices of 0 and 1, dense or sparse, a row for each row of data and a column for each label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from steelyard.statistics.device_array import DeviceArray
from steelyard.statistics.device_indicators import device_label_counts, device_row_counts
from steelyard.statistics.score_order import chunks

if TYPE_CHECKING:
    from steelyard._types import Array

    Indicators: TypeAlias = Any  # an array, here or of booleans on a device, or a csr_array of SciPy

_CELLS = 1 << 18  # of a chunk: both matrices stay in the processor's cache


class IndicatorCounts(NamedTuple):
    """How often each label is true, predicted, and both: by label or by row, weighted where weights were given."""

    both: Array
    true: Array
    predicted: Array


def is_sparse(matrix: Indicators) -> bool:
    """Whether a matrix is held by its ones alone."""
    return not isinstance(matrix, (np.ndarray, DeviceArray))


def label_counts(true: Indicators, predicted: Indicators, weights: Array | None = None) -> IndicatorCounts:
    """The counts of each label: the one function that a backend of its own has to bring.

    Whole numbers without weights, floats with them. Either both matrices are sparse or neither is.

    >>> label_counts(np.array([[1, 0], [1, 1]]), np.array([[1, 1], [0, 1]])).both.tolist()
    [1, 1]
    """
    if is_sparse(true):
        held = (true.multiply(predicted).tocsr(), true, predicted)
        return IndicatorCounts(*(_sparse_sums(matrix, weights) for matrix in held))
    if isinstance(true, DeviceArray):
        return IndicatorCounts(*device_label_counts(true, predicted, weights))
    sums = np.zeros((3, true.shape[1]), np.int64 if weights is None else np.float64)
    for part in chunks(len(true), max(1, _CELLS // max(1, true.shape[1]))):
        t, p = true[part], predicted[part]
        for place, cells in enumerate((t & p, t, p)):
            sums[place] += _column_sums(cells) if weights is None else weights[part] @ cells
    return IndicatorCounts(*sums)


def row_counts(true: Indicators, predicted: Indicators) -> IndicatorCounts:
    """The counts of each row, over its labels."""
    if is_sparse(true):
        both = true.multiply(predicted).tocsr()
        return IndicatorCounts(*(np.asarray(np.diff(held.indptr), np.int64) for held in (both, true, predicted)))
    if isinstance(true, DeviceArray):
        return IndicatorCounts(*device_row_counts(true, predicted))
    sums = np.empty((3, len(true)), np.int64)
    for part in chunks(len(true), max(1, _CELLS // max(1, true.shape[1]))):
        t, p = true[part], predicted[part]
        for place, cells in enumerate((t & p, t, p)):
            np.add.reduce(cells, axis=1, dtype=np.int64, out=sums[place, part])
    return IndicatorCounts(*sums)


def _column_sums(cells: Array) -> Array:
    return np.asarray(np.add.reduce(cells, axis=0, dtype=np.int64))


def _sparse_sums(matrix: Any, weights: Array | None) -> Array:
    """The sums of the columns of a sparse matrix of ones."""
    if weights is None:
        return np.bincount(matrix.indices, minlength=matrix.shape[1])
    spread = np.repeat(weights, np.diff(matrix.indptr))
    return np.bincount(matrix.indices, spread, minlength=matrix.shape[1])
