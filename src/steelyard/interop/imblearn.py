"""Drop-ins for imbalanced-learn's functions, done right.

Where imbalanced-learn 0.14 is wrong, these are not: true negatives are weighted as the other cells are (it takes them
from the number of rows, so a specificity can be negative), and an averaged G-mean is the mean of the classes' G-means
(it takes the root of the product of two means, imbalanced-learn#1096).
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from steelyard.arrays import checks
from steelyard.arrays.labels import absent_sentence
from steelyard.exceptions import InputError
from steelyard.interop.sklearn_inputs import ClassAverage, LabelTable, is_choice, weighted_table
from steelyard.interop.sklearn_rates import (
    RATE_NAMES,
    class_average,
    class_counts,
    class_rates,
    pooled,
    with_zero_division,
)
from steelyard.interop.sklearn_tables import COLUMN_WIDTH
from steelyard.metrics.catalogue import g_mean, recall, specificity
from steelyard.tables.array_tables import confusion

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Label, Weights
    from steelyard.interop.sklearn_inputs import ZeroDivision
    from steelyard.tables.counts import Counts


GMeanAverage: TypeAlias = "ClassAverage | Literal['multiclass']"


class _ClassRecalls(NamedTuple):
    """The two rates of each class, by the names that imbalanced-learn warns for."""

    sensitivity: Array
    specificity: Array


_RECALL_NAMES = _ClassRecalls._fields


class _ReportColumns(NamedTuple):
    """The columns of imbalanced-learn's report under its heads, the support last."""

    pre: Array
    rec: Array
    spe: Array
    f1: Array
    geo: Array
    iba: Array
    sup: Array

    def averages(self) -> list[float]:
        """The means of all columns but the support, weighted by it."""
        return [float(np.average(column, weights=self.sup)) for column in self[:-1]]


def sensitivity_specificity_support(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: Label | None = 1,
    average: ClassAverage | None = None,
    warn_for: Collection[str] = _RECALL_NAMES,
    sample_weight: Weights = None,
) -> Any:
    """Recall of each class, recall of the other classes together, and the class's weight."""
    counts = _requested_counts(y_true, y_pred, labels, pos_label, average, sample_weight)
    rates = _class_recalls(counts, warn_for)
    if average is None:
        return *rates, counts.positives
    return *(_averaged(values, counts, average) for values in rates), None


def _requested_counts(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    labels: ArrayLike | None,
    pos_label: Label | None,
    average: ClassAverage | None,
    sample_weight: Weights,
) -> Counts[Array]:
    """The four cells of each class that the options ask for, one against the rest."""
    if average == "samples" or not is_choice(average, ClassAverage):
        raise InputError(argument="average", expected="'binary', 'micro', 'macro', 'weighted' or None", given=average)
    table = _table(y_true, y_pred, sample_weight)
    positions = None
    if labels is not None:
        positions = table.positions(labels)
        if positions is None:
            raise InputError(f"labels= lists each label once, of the kind that y_true holds, not {labels!r}.")
    if average == "binary":
        if len(table.labels) > 2:
            raise InputError("Target is multiclass but average='binary'. Please choose another average setting.")
        if pos_label not in table.labels:
            raise InputError(absent_sentence(f"The label {pos_label!r}", pos_label, table.labels))
        positions = [table.labels.index(pos_label)]
    elif pos_label not in (None, 1):
        text = f"Note that pos_label (set to {pos_label!r}) is ignored when average != 'binary' (got {average!r}). "
        warnings.warn(text + "You may use labels=[pos_label] to specify a single positive class.", UserWarning, 3)
    counts = class_counts(table.matrix, positions)
    return pooled(counts) if average == "micro" else counts


def _table(y_true: ArrayLike, y_pred: ArrayLike, sample_weight: Weights) -> LabelTable:
    """The table of all rows, those of no weight too, whose labels are labels."""
    table = confusion(y_true, y_pred, sample_weight=sample_weight)  # says in a sentence what is wrong
    if sample_weight is None:
        return LabelTable(table.labels, table.matrix, None, True)
    true, pred = checks.column(y_true, "y_true"), checks.column(y_pred, "y_pred")
    weight = checks.numbers(sample_weight, "sample_weight")
    return LabelTable(*weighted_table(true, pred, weight), None, False)


def _class_recalls(counts: Counts[Array], warn_for: Collection[str]) -> _ClassRecalls:
    """Sensitivity and specificity of each class, 0 with a warning where it, or all else, has no rows."""
    others = with_zero_division(specificity(counts), "specificity", "negative", warn_for, "warn")
    return _ClassRecalls(with_zero_division(recall(counts), "sensitivity", "true", warn_for, "warn"), others)


def _averaged(values: Array, counts: Counts[Array], average: ClassAverage) -> np.float64:
    return np.float64(class_average(values, counts.positives if average == "weighted" else None))


def sensitivity_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: Label | None = 1,
    average: ClassAverage | None = "binary",
    sample_weight: Weights = None,
) -> Any:
    """Recall of a class: the share of its rows that were found."""
    options: dict[str, Any] = {"labels": labels, "pos_label": pos_label, "average": average}
    names = _RECALL_NAMES[:1]
    return sensitivity_specificity_support(y_true, y_pred, **options, sample_weight=sample_weight, warn_for=names)[0]


def specificity_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: Label | None = 1,
    average: ClassAverage | None = "binary",
    sample_weight: Weights = None,
) -> Any:
    """Specificity of a class: the share of the other classes' rows that were not predicted as it."""
    options: dict[str, Any] = {"labels": labels, "pos_label": pos_label, "average": average}
    names = _RECALL_NAMES[1:]
    return sensitivity_specificity_support(y_true, y_pred, **options, sample_weight=sample_weight, warn_for=names)[1]


def geometric_mean_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: Label | None = 1,
    average: GMeanAverage | None = "multiclass",
    sample_weight: Weights = None,
    correction: float = 0.0,
) -> Any:
    """The K-th root of the product of the K class recalls; averaged, the mean of the classes' own G-means."""
    if average == "multiclass":
        counts = _requested_counts(y_true, y_pred, labels, pos_label, None, sample_weight)
        recalls = _class_recalls(counts, _RECALL_NAMES[:1]).sensitivity
        # Not the catalogue's G-mean, which has no word for a correction in place of a recall of 0.
        return np.prod(np.where(recalls == 0, correction, recalls) ** (1 / len(recalls)))
    counts = _requested_counts(y_true, y_pred, labels, pos_label, average, sample_weight)
    _class_recalls(counts, _RECALL_NAMES)  # for its warnings
    values = g_mean(counts, undefined=0.0)
    return values if average is None else _averaged(values, counts, average)


def classification_report_imbalanced(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    target_names: Sequence[str] | None = None,
    sample_weight: Weights = None,
    digits: int = 2,
    alpha: float = 0.1,
    output_dict: bool = False,
    zero_division: ZeroDivision = "warn",
) -> Any:
    """Precision, recall, specificity, F1, G-mean, index of balanced accuracy and support, by class and averaged."""
    listed: Any = _table(y_true, y_pred, sample_weight).labels if labels is None else checks.column(labels, "labels")
    names = [f"{label}" for label in listed] if target_names is None else list(target_names)
    counts = _requested_counts(y_true, y_pred, labels, None, None, sample_weight)
    columns = _report_columns(counts, alpha, zero_division)
    return _as_dict(names, columns) if output_dict else _as_text(names, columns, digits)


def _report_columns(counts: Counts[Array], alpha: float, zero_division: ZeroDivision) -> _ReportColumns:
    precisions, recalls, f1_scores, support = class_rates(counts, 1.0, RATE_NAMES, zero_division)
    sensitivity, others = _class_recalls(counts, ())
    g_means = g_mean(counts, undefined=0.0)
    # imbalanced-learn's order of operations: the catalogue's index differs in the last bit in 6 tables of 10.
    index = (1 + alpha * (sensitivity - others)) * g_means**2
    return _ReportColumns(precisions, recalls, others, f1_scores, g_means, index, support)


def _as_dict(names: list[str], columns: _ReportColumns) -> dict[str, Any]:
    rows = zip(names, *columns, strict=True)
    report: dict[str, Any] = {name: dict(zip(columns._fields, row, strict=True)) for name, *row in rows}
    report |= {f"avg_{head}": value for head, value in zip(columns._fields[:-1], columns.averages(), strict=True)}
    return report | {"total_support": np.sum(columns.sup)}


def _as_text(names: list[str], columns: _ReportColumns, digits: int) -> str:
    last = "avg / total"
    width = max(len(last), digits, *map(len, names))
    rows = [*zip(names, *columns, strict=True), (last, *columns.averages(), np.sum(columns.sup))]
    cells = [(name, *(f"{value:.{digits}f}" for value in values), f"{support}") for name, *values, support in rows]
    lines = [
        f"{row[0]:>{width}}  " + " ".join(f"{cell:>{COLUMN_WIDTH}}" for cell in row[1:])
        for row in (("", *columns._fields), *cells)
    ]
    return "\n".join([lines[0], "", *lines[1:-1], "", lines[-1], ""])
