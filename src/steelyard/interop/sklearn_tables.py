"""scikit-learn's functions of the whole table of labels, and its report: the same options, values and warnings."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steelyard.arrays.checks import check_order
from steelyard.arrays.sorting import chunks
from steelyard.arrays.sparse import MOST_DENSE_LABELS, SparseMatrix
from steelyard.exceptions import InputError
from steelyard.interop.sklearn_inputs import (
    KappaWeights,
    LabelTable,
    Normalize,
    columns_of,
    delegate,
    is_choice,
    is_zero_division,
    label_sets,
    label_table,
    row_cells,
    usable_column,
    warn_undefined,
    weight_column,
)
from steelyard.interop.sklearn_rates import (
    RATE_NAMES,
    ClassRates,
    average_weights,
    class_average,
    class_counts,
    class_rates,
    mean_rates,
    pooled,
    table_counts,
    two_class_counts,
)
from steelyard.metrics.catalogue import balanced_accuracy, kappa, mcc, recall
from steelyard.metrics.registry import get_metric
from steelyard.tables.array_tables import confusion
from steelyard.tables.confusion import Confusion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Weights
    from steelyard.interop.sklearn_inputs import ClassAverage, ZeroDivision
    from steelyard.tables.counts import Counts
    from steelyard.tables.multilabel_table import MultilabelTable


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


# ---------------------------------------------------------------- dropin reports


_HEADS = (*ClassRates._fields[:2], "f1-score")
COLUMN_WIDTH = 9


class _ReportRow(NamedTuple):
    """One line of a report: a class or an average, its rates, and how many rows it is of."""

    name: str
    values: list[float]
    support: float


def classification_report(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    target_names: Sequence[str] | None = None,
    sample_weight: Weights = None,
    digits: int = 2,
    output_dict: bool = False,
    zero_division: ZeroDivision = "warn",
    extra: Sequence[str] = (),
) -> Any:
    """Precision, recall, F1 and support of each class and averaged; `extra` names more metrics, a column each.

    >>> print(classification_report([0, 0, 0, 1, 1], [0, 0, 1, 1, 0], extra=("specificity", "g_mean")))
                  precision    recall  f1-score  specificity    g_mean   support
    <BLANKLINE>
               0       0.67      0.67      0.67         0.50      0.58         3
               1       0.50      0.50      0.50         0.67      0.58         2
    <BLANKLINE>
        accuracy                           0.60                                5
       macro avg       0.58      0.58      0.58         0.58      0.58         5
    weighted avg       0.60      0.60      0.60         0.57      0.58         5
    <BLANKLINE>
    """
    usual = _usual(digits, output_dict, zero_division)
    if usual and (sets := label_sets(y_true, y_pred, sample_weight)) is not None:
        report = _set_report(sets, labels, target_names, zero_division, extra)
        if report is not None:
            return _as_dict(report, (*_HEADS, *extra)) if output_dict else _as_text(report, (*_HEADS, *extra), digits)
    table = label_table(y_true, y_pred, sample_weight) if usual else None
    names = None if table is None else _row_names(table, labels, target_names)
    if table is None or names is None:
        if extra:
            confusion(y_true, y_pred, sample_weight=sample_weight)  # says in a sentence what is wrong, if it can
            raise InputError("extra= adds columns to a report of two classes or more, each with a name of its own.")
        options = {"labels": labels, "target_names": target_names, "sample_weight": sample_weight, "digits": digits}
        return delegate(
            "classification_report", y_true, y_pred, **options, output_dict=output_dict, zero_division=zero_division
        )
    positions = list(range(len(table.labels))) if labels is None else table.positions(labels)
    rows = _rows(table, positions or [], names, zero_division, extra)
    return _as_dict(rows, (*_HEADS, *extra)) if output_dict else _as_text(rows, (*_HEADS, *extra), digits)


def _usual(digits: object, output_dict: object, zero_division: object) -> bool:
    return is_zero_division(zero_division) and type(digits) is int and digits >= 0 and isinstance(output_dict, bool)


def _row_names(table: LabelTable, labels: ArrayLike | None, target_names: Sequence[str] | None) -> list[str] | None:
    """What the rows are called; None where scikit-learn has a word to say on it."""
    if labels is not None and table.positions(labels) is None:
        return None
    if target_names is None and labels is None:
        kinds = {"bool": bool, "int": int, "float": float, "text": str}
        return None if table.kind is None else [str(kinds[table.kind](label)) for label in table.labels]
    listed: Any = table.labels if labels is None else usable_column(labels)
    names = [f"{label}" for label in listed] if target_names is None else list(target_names)
    return names if len(names) == len(listed) and all(isinstance(name, str) for name in names) else None


def _rows(
    table: LabelTable, positions: list[int], names: list[str], zero_division: ZeroDivision, extra: Sequence[str]
) -> list[_ReportRow]:
    """The row of every class, the averages last."""
    counts = table_counts(table, positions)
    rates = class_rates(counts, 1.0, RATE_NAMES, zero_division)
    extras = [_extra(name, counts, zero_division) for name in extra]
    columns = zip(names, *rates[:3], *extras, rates.support, strict=True)
    rows = [_ReportRow(name, values, support) for name, *values, support in columns]
    complete = len(table.labels) == len(set(positions) - {len(table.labels)})
    averages: tuple[ClassAverage, ...] = ("micro", "macro", "weighted")
    for average in averages:
        means: list[float] = [*mean_rates(counts, 1.0, average, RATE_NAMES, zero_division)[:3]]
        if average != "micro":
            means += [class_average(column, rates.support if average == "weighted" else None) for column in extras]
        elif not complete:
            means += [float(_extra(name, counts.sum(), zero_division)) for name in extra]
        head = "accuracy" if average == "micro" and complete else f"{average} avg"
        rows.append(_ReportRow(head, means, np.sum(rates.support)))
    return rows


def _set_report(
    table: MultilabelTable,
    labels: ArrayLike | None,
    target_names: Sequence[str] | None,
    zero_division: ZeroDivision,
    extra: Sequence[str],
) -> list[_ReportRow] | None:
    """The row of every label of rows that have several, the averages last, that over the rows included."""
    chosen = columns_of(table, labels)
    if chosen is None:
        return None
    names = [str(label) for label in chosen.labels] if target_names is None else list(target_names)
    if len(names) != len(chosen.labels) or not all(isinstance(name, str) for name in names):
        return None
    by_label, weight = chosen.by_label, chosen.sample_weight
    rates = class_rates(by_label, 1.0, RATE_NAMES, zero_division)
    extras = [_extra(name, by_label, zero_division) for name in extra]
    columns = zip(names, *rates[:3], *extras, rates.support, strict=True)
    rows = [_ReportRow(name, values, support) for name, *values, support in columns]
    averages: tuple[ClassAverage, ...] = ("micro", "macro", "weighted", "samples")
    for average in averages:
        counts = row_cells(chosen) if average == "samples" else by_label
        means: list[float] = [*mean_rates(counts, 1.0, average, RATE_NAMES, zero_division, weight)[:3]]
        cells = pooled(counts) if average == "micro" else counts
        each = average_weights(average, rates.support, weight)
        means += [class_average(_extra(name, cells, zero_division), each) for name in extra]
        rows.append(_ReportRow(f"{average} avg", means, np.sum(rates.support)))
    return rows


def _extra(name: str, counts: Counts[Any], zero_division: ZeroDivision) -> Array:
    metric = get_metric(name)
    values = metric(counts)
    undefined = np.isnan(values)
    if zero_division == "warn" and undefined.any():
        warn_undefined(f"{metric.name} is ill-defined and being set to 0.0 where it has no denominator.")
    return np.where(undefined, 0.0 if zero_division == "warn" else zero_division, values)[()]


def _as_dict(rows: Sequence[_ReportRow], heads: Sequence[str]) -> dict[str, Any]:
    report: dict[str, Any] = {}
    for name, values, support in rows:
        report[name] = dict(zip((*heads[: len(values)], "support"), map(float, (*values, support)), strict=True))
    if "accuracy" in report:
        report["accuracy"] = report["accuracy"][heads[0]]
    return report


def _as_text(rows: Sequence[_ReportRow], heads: Sequence[str], digits: int) -> str:
    first = len(rows) - (4 if rows[-1].name == "samples avg" else 3)  # of the averages
    width = max(len("weighted avg"), digits, *(len(row.name) for row in rows[:first]))
    widths = [max(COLUMN_WIDTH, len(head)) for head in heads]
    titles = zip((*heads, "support"), (*widths, COLUMN_WIDTH), strict=True)
    lines = [" " * (width + 1) + "".join(f" {head:>{w}}" for head, w in titles), ""]
    for i, (name, values, support) in enumerate(rows):
        cells = [f"{value:.{digits}f}" for value in values]
        if name == "accuracy" and i == first:
            cells = ["", "", cells[2], *[""] * (len(heads) - 3)]
        text = "".join(f" {cell:>{w}}" for cell, w in zip(cells, widths, strict=True))
        lines += [""] * (i == first) + [f"{name:>{width}} {text} {support:>{COLUMN_WIDTH}}"]
    return "\n".join(lines) + "\n"
