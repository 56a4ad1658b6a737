"""Drop-in label sets: indicator matrices, dense or sparse, that our kernels can count; for all else scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.ingest.row_order import check_order
from steelyard.interop.dropin_inputs import EXACT, weight_column
from steelyard.statistics.backend import NUMPY
from steelyard.statistics.counts import Counts
from steelyard.statistics.indicators import is_sparse
from steelyard.statistics.multilabel_table import MultilabelTable

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Array, Weights
    from steelyard.statistics.indicators import Indicators

_FRAMES = ("pandas", "polars")


def label_sets(y_true: ArrayLike, y_pred: ArrayLike, sample_weight: Weights = None) -> MultilabelTable | None:
    """The table of two indicator matrices of the same shape, of two columns or more."""
    true = _indicators(y_true)
    predicted = None if true is None else _indicators(y_pred)
    if true is None or predicted is None or true.shape != predicted.shape:
        return None
    if is_sparse(true) != is_sparse(predicted):
        true, predicted = _sparse(true), _sparse(predicted)
    return _weighted(MultilabelTable(tuple(range(true.shape[1])), true, predicted), y_true, y_pred, sample_weight)


def scored_sets(y_true: ArrayLike, y_score: ArrayLike, sample_weight: Weights = None) -> MultilabelTable | None:
    """The table of an indicator matrix and finite scores of the same shape, of two columns or more."""
    true = _indicators(y_true)
    scores = None if true is None else _matrix(y_score)
    if true is None or scores is None or true.shape != scores.shape or scores.dtype.kind not in "iuf":
        return None
    if scores.dtype.kind != "f" and not (scores.min() > -EXACT and scores.max() < EXACT):
        return None
    if not np.isfinite(scores).all():
        return None
    table = MultilabelTable(tuple(range(true.shape[1])), true, None, scores)
    return _weighted(table, y_true, y_score, sample_weight)


def columns_of(table: MultilabelTable, labels: ArrayLike | None) -> MultilabelTable | None:
    """The table of some of its columns; None for anything but different ones that are there."""
    if labels is None:
        return table
    places = np.asarray(labels)
    if places.ndim != 1 or places.dtype.kind not in "iu" or not len(places) or len(np.unique(places)) < len(places):
        return None
    if places.min() < 0 or places.max() >= len(table.labels):
        return None
    return table.of_labels(places.tolist())


def row_cells(table: MultilabelTable) -> Counts[Array]:
    """The cells of each row times its weight, as scikit-learn has them: a row of no weight has no rate."""
    weight = table.sample_weight
    return table.by_row if weight is None else Counts.trusted(*(cell * weight for cell in table.by_row))


def _weighted(table: MultilabelTable, y_true: Any, other: Any, sample_weight: Weights) -> MultilabelTable | None:
    check_order(y_true=y_true, y_pred=other, sample_weight=sample_weight)
    if sample_weight is None:
        return table
    weight = weight_column(sample_weight, table.true.shape[0])
    if weight is None or weight.dtype.kind == "b":  # whose products scikit-learn takes as truth values
        return None
    return MultilabelTable(table.labels, table.true, table.predicted, table.scores, weight.astype(np.float64))


def _indicators(values: Any) -> Indicators | None:
    """A matrix of 0 and 1 of two columns or more."""
    if hasattr(values, "tocsr"):
        return _sparse_ones(values)
    matrix = _matrix(values)
    if matrix is None or matrix.shape[1] < 2:
        return None
    if matrix.dtype.kind == "f":
        return matrix.astype(np.uint8) if ((matrix == 0) | (matrix == 1)).all() else None
    if matrix.dtype.kind == "b":
        return matrix.view(np.uint8) if matrix.flags.c_contiguous else matrix.astype(np.uint8)
    return matrix if NUMPY.is_zero_one(matrix.reshape(-1)) else None


def _matrix(values: Any) -> Array | None:
    """A matrix of booleans or numbers that has rows."""
    if type(values) is not np.ndarray:
        library = type(values).__module__.partition(".")[0]
        if not isinstance(values, (list, tuple)) and not (library in _FRAMES and hasattr(values, "columns")):
            return None
        try:
            values = np.asarray(values)
        except ValueError:  # lists of different lengths
            return None
    usual = values.ndim == 2 and values.size and values.dtype.kind in "biuf" and values.dtype.isnative
    return values if usual and (values.dtype.kind != "f" or values.dtype.itemsize in (4, 8)) else None


def _sparse_ones(values: Any) -> Indicators | None:
    if getattr(values, "ndim", 2) != 2 or values.shape[1] < 2 or not values.shape[0]:
        return None
    matrix = _sparse(values)
    if matrix.dtype.kind not in "biuf" or not (matrix.data == 1).all():
        return None
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix if (matrix.data == 1).all() else None


def _sparse(matrix: Any) -> Any:
    from scipy.sparse import csr_array

    return csr_array(matrix)
