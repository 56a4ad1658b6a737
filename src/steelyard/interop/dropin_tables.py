"""Drop-ins for scikit-learn's functions of the whole table of labels: the same options, values, types and warnings."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.ingest.row_order import check_order
from steelyard.interop.dropin_inputs import LabelTable, delegate, label_table, usable_column, weight_column
from steelyard.interop.dropin_label_sets import label_sets
from steelyard.interop.dropin_rates import class_counts, two_class_counts
from steelyard.interop.sklearn_options import KappaWeights, Normalize, is_choice
from steelyard.metrics.catalogue import balanced_accuracy, kappa, mcc, recall
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.score_order import chunks
from steelyard.statistics.sparse_matrix import MOST_DENSE_LABELS, SparseMatrix

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Array, Weights
    from steelyard.statistics.counts import Counts


def confusion_matrix(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: Weights = None,
    normalize: Normalize | None = None,
) -> Any:
    """How often each true class (row) was predicted as each class (column)."""
    table = label_table(y_true, y_pred, sample_weight) if is_choice(normalize, Normalize) else None
    matrix = None if table is None else _matrix_of(table, labels)
    if table is None or matrix is None or isinstance(matrix, SparseMatrix):  # whose whole matrix scikit-learn makes
        options = {"labels": labels, "sample_weight": sample_weight, "normalize": normalize}
        return delegate("confusion_matrix", y_true, y_pred, **options)
    if normalize is None:
        return matrix.astype(np.int64, copy=False) if table.whole else matrix
    axis = {"true": 1, "pred": 0, "all": None}[normalize]
    with np.errstate(all="ignore"):
        return np.nan_to_num(matrix / matrix.sum(axis=axis, keepdims=True))


def _matrix_of(table: LabelTable, labels: ArrayLike | None) -> Array | None:
    """The matrix of all labels or of these, some of them true ones, as scikit-learn demands."""
    if labels is None:
        return table.matrix
    positions = table.positions(labels)
    if positions is None or not 2 <= len(positions) <= MOST_DENSE_LABELS:
        return None
    present = [position for position in positions if position < len(table.labels)]
    return table.submatrix(positions) if table.matrix.sum(1)[present].any() else None


def accuracy_score(
    y_true: ArrayLike, y_pred: ArrayLike, *, normalize: bool = True, sample_weight: Weights = None
) -> Any:
    """Share, or number, of the rows that are predicted rightly."""
    sums = None
    if isinstance(normalize, bool):
        sums = agreeing_rows(y_true, y_pred, sample_weight)
    if sums is None:
        return delegate("accuracy_score", y_true, y_pred, normalize=normalize, sample_weight=sample_weight)
    right, total = sums  # divided here: integers and text are compared and never counted into a table
    return float(right / total) if normalize else float(right)


def agreeing_rows(y_true: ArrayLike, y_pred: ArrayLike, sample_weight: Weights) -> tuple[float, float] | None:
    """The weight of the rows whose labels agree, one each or several, and of all."""
    if sample_weight is not None and ((given := usable_column(sample_weight)) is None or given.dtype.kind == "b"):
        return None  # odd weights, and truth values, whose product is one to scikit-learn
    if (sets := label_sets(y_true, y_pred, sample_weight)) is not None:
        right, weights = sets.by_row.fn + sets.by_row.fp == 0, sets.sample_weight
        if weights is None:
            return int(np.count_nonzero(right)), len(right)
        return float(weights[right].sum()), float(weights.sum())
    return _equal_rows(y_true, y_pred, sample_weight) or _diagonal(y_true, y_pred, sample_weight)


def _equal_rows(y_true: ArrayLike, y_pred: ArrayLike, sample_weight: Weights) -> tuple[float, float] | None:
    """The weight of the rows whose labels agree, and of all, without knowing the labels; for integers and text."""
    check_order(y_true=y_true, y_pred=y_pred, sample_weight=sample_weight)
    true, pred = usable_column(y_true), usable_column(y_pred)
    if true is None or pred is None or len(true) != len(pred):
        return None
    if not {true.dtype.kind, pred.dtype.kind} <= set("biu") and not true.dtype.kind == pred.dtype.kind == "U":
        return None
    parts = chunks(len(true))
    if sample_weight is None:
        return sum(int(np.count_nonzero(true[part] == pred[part])) for part in parts), len(true)
    weight = weight_column(sample_weight, len(true))
    if weight is None:
        return None
    right = sum(weight[part][true[part] == pred[part]].sum(dtype=np.float64) for part in parts)
    return right, weight.sum(dtype=np.float64)


def _diagonal(y_true: ArrayLike, y_pred: ArrayLike, sample_weight: Weights) -> tuple[float, float] | None:
    table = label_table(y_true, y_pred, sample_weight)
    return None if table is None else (table.matrix.trace(), table.matrix.sum())


def balanced_accuracy_score(
    y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: Weights = None, adjusted: bool = False
) -> Any:
    """Mean of the recalls of the true classes; adjusted, scaled so that the no-skill baseline is 0."""
    table = label_table(y_true, y_pred, sample_weight) if isinstance(adjusted, bool) else None
    if table is not None and not adjusted and len(table.labels) == 2:
        mean = balanced_accuracy(two_class_counts(table.matrix))
        if not math.isnan(mean):
            return mean
    recalls = np.zeros(0) if table is None else recall(class_counts(table.matrix))
    present = ~np.isnan(recalls)
    if np.count_nonzero(present) < 2:
        return delegate("balanced_accuracy_score", y_true, y_pred, sample_weight=sample_weight, adjusted=adjusted)
    if not present.all():
        warnings.warn("y_pred contains classes not in y_true", UserWarning, stacklevel=2)
    # The mean is of the classes that occur, where the catalogue's is undefined; adjusted by scikit-learn's own order of
    # operations, from which the catalogue's informedness differs in the last bits in 6 tables of 10.
    baseline = 1 / np.count_nonzero(present) if adjusted else 0.0
    return float((recalls[present].mean() - baseline) / (1 - baseline))


def matthews_corrcoef(y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: Weights = None) -> Any:
    """Correlation of truth and prediction; 0 where one of them holds a single class."""
    table = label_table(y_true, y_pred, sample_weight)
    if table is None:
        return delegate("matthews_corrcoef", y_true, y_pred, sample_weight=sample_weight)
    value = float(mcc(_of_positions(table.matrix)))
    return 0.0 if math.isnan(value) else value


def _of_positions(matrix: Array) -> Counts | Confusion:
    """A matrix as a table whose labels are the positions; of two classes the cells, which are quicker."""
    if matrix.shape[0] == 2:
        return two_class_counts(matrix)
    return Confusion.of_rows(range(matrix.shape[0]), matrix)


def _ordered(matrix: Array) -> Confusion:
    return Confusion.of_rows(range(matrix.shape[0]), matrix, 1 if matrix.shape[0] == 2 else None)


def cohen_kappa_score(
    y1: ArrayLike,
    y2: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    weights: KappaWeights | None = None,
    sample_weight: Weights = None,
    replace_undefined_by: float = np.nan,
) -> Any:
    """Agreement of two raters beyond what chance gives, near misses counting linearly, by squares or not at all."""
    unset = type(replace_undefined_by) is float and np.isnan(replace_undefined_by)
    table = label_table(y1, y2, sample_weight) if unset and is_choice(weights, KappaWeights) else None
    matrix = None if table is None else _matrix_of(table, labels)
    if weights is not None and isinstance(matrix, SparseMatrix):
        matrix = None
    value = np.nan
    if matrix is not None:
        value = float(kappa(_of_positions(matrix)) if weights is None else kappa(_ordered(matrix), weights=weights))
    if np.isnan(value):
        more = {} if unset else {"replace_undefined_by": replace_undefined_by}  # older releases have no such option
        return delegate(
            "cohen_kappa_score", y1, y2, labels=labels, weights=weights, sample_weight=sample_weight, **more
        )
    return value
