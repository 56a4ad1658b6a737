"""Precision, recall and F as scikit-learn has them: the catalogue's values, replaced and averaged by its rules.

Where sums of weights are exact the catalogue's precision, recall, F1 and Jaccard index are scikit-learn's to the last
bit (1,500 random tables of 2 to 10 classes), so they are not written again here.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steelyard.interop.sklearn_inputs import (
    LabelTable,
    RateOptions,
    columns_of,
    delegate,
    label_sets,
    label_table,
    row_cells,
    warn_undefined,
    with_absent,
)
from steelyard.metrics.catalogue import f1, jaccard, precision, recall
from steelyard.tables.confusion import one_vs_rest
from steelyard.tables.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Label, Weights
    from steelyard.interop.sklearn_inputs import ClassAverage, ZeroDivision
    from steelyard.tables.multilabel_table import MultilabelTable


class Rate(NamedTuple):
    """One of the three rates, as scikit-learn's warnings name it, and what there is none of where it is undefined."""

    name: str
    missing: str


PRECISION_RATE, RECALL_RATE = Rate("precision", "predicted"), Rate("recall", "true")
F_RATE = Rate("f-score", "true nor predicted")
RATE_NAMES = (PRECISION_RATE.name, RECALL_RATE.name, F_RATE.name)


class ClassRates(NamedTuple):
    """Precision, recall and F of each class with its support."""

    precision: Array
    recall: Array
    f_score: Array
    support: Array


class MeanRates(NamedTuple):
    """Precision, recall and F averaged over the classes, which has no support."""

    precision: float
    recall: float
    f_score: float
    support: None = None


def class_counts(matrix: Array, positions: Sequence[int] | None = None) -> Counts[Array]:
    """The four cells of each class, or of those at some positions; a class that does not occur is one past the last."""
    if positions is None:
        return Counts.trusted(*one_vs_rest(matrix))
    return Counts.trusted(*one_vs_rest(with_absent(matrix)))[list(positions)]


def two_class_counts(matrix: Array, positive: int = 1) -> Counts[float]:
    """The four cells of two classes as plain numbers, which metrics take ten times as quickly as arrays."""
    (first_right, first_wrong), (second_wrong, second_right) = matrix.tolist()
    if positive:
        return Counts.trusted(second_right, second_wrong, first_wrong, first_right)
    return Counts.trusted(first_right, first_wrong, second_wrong, second_right)


def table_counts(table: LabelTable, positions: Sequence[int] | None = None) -> Counts[Array]:
    """The same of a table; as floats where no row is right, since scikit-learn's support is of floats then."""
    return class_counts(table.matrix if table.matrix.trace() else table.matrix.astype(np.float64), positions)


def pooled(counts: Counts[Array]) -> Counts[Array]:
    """All classes as one."""
    return Counts.trusted(*(cell.sum(keepdims=True) for cell in counts))


def _binary_counts(table: LabelTable, options: RateOptions) -> Counts[float] | None:
    """The four cells of the positive class of two, as single numbers."""
    position = table.position(options.pos_label) if options.labels is None and len(table.labels) == 2 else None
    return None if position is None else two_class_counts(table.matrix, position)


def requested_counts(y_true: ArrayLike, y_pred: ArrayLike, options: RateOptions) -> Counts[Any] | None:
    """The cells of the classes, or of the one, that the options ask for; None where scikit-learn has to look itself."""
    if (sets := label_sets(y_true, y_pred, options.sample_weight)) is not None:
        return requested_set_counts(sets, options)
    table = label_table(y_true, y_pred, options.sample_weight)
    if table is None or options.average == "samples":
        return None
    if options.average == "binary":
        return _binary_counts(table, options)
    positions = None if options.labels is None else table.positions(options.labels)
    return None if positions is None and options.labels is not None else table_counts(table, positions)


def requested_set_counts(table: MultilabelTable, options: RateOptions) -> Counts[Array] | None:
    """The cells of the labels that the options ask for, or of the rows over them."""
    chosen = None if options.average == "binary" else columns_of(table, options.labels)
    if chosen is None:
        return None
    return row_cells(chosen) if options.average == "samples" else chosen.by_label


def with_zero_division(
    values: Any,
    name: str,
    missing: str,
    warn_for: Collection[str],
    zero_division: ZeroDivision,
    average: ClassAverage | None = None,
) -> Any:
    """The values; where they are undefined, what `zero_division` says, with scikit-learn's warning."""
    if not (math.isnan(values) if isinstance(values, float) else np.isnan(values).any()):
        return values
    if zero_division == "warn" and name in warn_for:
        each, others = ("samples", "labels") if average == "samples" else ("labels", "samples")
        where = "due to" if np.size(values) == 1 else f"in {each} with"
        warn_undefined(f"{name.capitalize()} is ill-defined and being set to 0.0 {where} no {missing} {others}.")
    replaced = np.where(np.isnan(values), 0.0 if zero_division == "warn" else zero_division, values)
    return float(replaced) if isinstance(values, float) else replaced


def class_average(values: Any, weights: Array | None) -> float:
    """The mean of the values that are numbers, weighted unless no weight is left; of one number that number."""
    if isinstance(values, float):
        return values
    defined = ~np.isnan(values)
    if not defined.all():
        values, weights = values[defined], None if weights is None else weights[defined]
    if not len(values):
        return float("nan")
    total = 0 if weights is None else weights.sum()
    return float(values.mean()) if weights is None or total == 0 else float((values * weights).sum() / total)


def average_weights(average: ClassAverage, support: Array, row_weight: Weights) -> Array | None:
    """What each class, or each row, counts in a mean."""
    if average == "samples":
        return None if row_weight is None else np.asarray(row_weight, dtype=np.float64)
    return support if average == "weighted" else None


def class_rate(
    rate: Rate,
    counts: Counts[Any],
    beta: float,
    warn_for: Collection[str],
    zero_division: ZeroDivision,
    average: ClassAverage | None = None,
) -> Any:
    """One of precision, recall and F, of each class or of the single one."""
    if rate is F_RATE and (beta == 0 or math.isinf(beta)):
        rate = RECALL_RATE if beta else PRECISION_RATE
    if rate is F_RATE:
        values = f1(counts) if beta == 1 else _f_beta(counts, beta)
    else:
        values = recall(counts) if rate is RECALL_RATE else precision(counts)
    return with_zero_division(values, rate.name, rate.missing, warn_for, zero_division, average)


def class_rates(
    counts: Counts[Array],
    beta: float,
    warn_for: Collection[str],
    zero_division: ZeroDivision,
    average: ClassAverage | None = None,
) -> ClassRates:
    """Precision, recall, F and support of each class."""
    said: tuple[Any, ...] = (counts, beta, warn_for, zero_division, average)
    precisions, recalls = class_rate(PRECISION_RATE, *said), class_rate(RECALL_RATE, *said)
    if beta == 0 or math.isinf(beta):  # which have warned already
        return ClassRates(precisions, recalls, recalls if beta else precisions, counts.positives)
    return ClassRates(precisions, recalls, class_rate(F_RATE, *said), counts.positives)


def mean_rate(rate: Rate, counts: Counts[Any], beta: float, options: RateOptions) -> Any:
    """One of the three as the options want it: of each class, averaged over them, or of the positive one."""
    counted = pooled(counts) if options.average == "micro" else counts
    values = class_rate(rate, counted, beta, (rate.name,), options.zero_division, options.average)
    if options.average is None:
        return values
    return class_average(values, average_weights(options.average, counts.positives, options.sample_weight))


def mean_rates(
    counts: Counts[Array],
    beta: float,
    average: ClassAverage,
    warn_for: Collection[str],
    zero_division: ZeroDivision,
    row_weight: Weights = None,
) -> MeanRates:
    """Precision, recall and F averaged over the classes, or over rows of several labels by their weights."""
    rates = class_rates(pooled(counts) if average == "micro" else counts, beta, warn_for, zero_division, average)
    weights = average_weights(average, rates.support, row_weight)
    mean_precision, mean_recall, mean_f_score = (class_average(values, weights) for values in rates[:3])
    return MeanRates(mean_precision, mean_recall, mean_f_score)


def _f_beta(counts: Counts[Any], beta: float) -> Any:
    """F in scikit-learn's order of operations: the catalogue's at beta 0.3 misses its last bit in 7 tables of 10."""
    square = beta**2
    if isinstance(counts.tp, (int, float)):
        denominator = square * float(counts.positives) + counts.predicted_positives
        return (1 + square) * counts.tp / denominator if denominator else math.nan
    with np.errstate(invalid="ignore"):
        below = square * counts.positives.astype(np.float64) + counts.predicted_positives
        return np.asarray((1 + square) * counts.tp / below)


# ---------------------------------------------------------------- dropin rate scores


def _rate(y_true: ArrayLike, y_pred: ArrayLike, options: RateOptions, rate: Rate, beta: float = 1.0) -> Any:
    """One of the three rates; None where scikit-learn has to look itself."""
    counts = _counts(y_true, y_pred, options, beta)
    return None if counts is None else mean_rate(rate, counts, beta, options)


def _counts(y_true: ArrayLike, y_pred: ArrayLike, options: RateOptions, beta: float) -> Counts[Any] | None:
    if not options.are_usual() or not isinstance(beta, (int, float)) or not beta >= 0:
        return None
    return requested_counts(y_true, y_pred, options)


def precision_recall_fscore_support(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    beta: float = 1.0,
    labels: ArrayLike | None = None,
    pos_label: Label | None = 1,
    average: ClassAverage | None = None,
    warn_for: Collection[str] = RATE_NAMES,
    sample_weight: Weights = None,
    zero_division: ZeroDivision = "warn",
) -> Any:
    """Precision, recall, F-score and support of each class, or their average."""
    options = RateOptions(labels, pos_label, average, sample_weight, zero_division)
    counts = _counts(y_true, y_pred, options, beta) if isinstance(warn_for, (list, tuple, set)) else None
    if counts is None:
        more = {"beta": beta, "warn_for": warn_for}
        return delegate("precision_recall_fscore_support", y_true, y_pred, **more, **options._asdict())
    if average is None:
        return tuple(class_rates(counts, beta, warn_for, zero_division))
    return tuple(mean_rates(counts, beta, average, warn_for, zero_division, sample_weight))


def precision_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: Label | None = 1,
    average: ClassAverage | None = "binary",
    sample_weight: Weights = None,
    zero_division: ZeroDivision = "warn",
) -> Any:
    """Share of the rows predicted as a class that are of it."""
    options = RateOptions(labels, pos_label, average, sample_weight, zero_division)
    value = _rate(y_true, y_pred, options, PRECISION_RATE)
    return delegate("precision_score", y_true, y_pred, **options._asdict()) if value is None else value


def recall_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: Label | None = 1,
    average: ClassAverage | None = "binary",
    sample_weight: Weights = None,
    zero_division: ZeroDivision = "warn",
) -> Any:
    """Share of the rows of a class that were predicted as it."""
    options = RateOptions(labels, pos_label, average, sample_weight, zero_division)
    value = _rate(y_true, y_pred, options, RECALL_RATE)
    return delegate("recall_score", y_true, y_pred, **options._asdict()) if value is None else value


def f1_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: Label | None = 1,
    average: ClassAverage | None = "binary",
    sample_weight: Weights = None,
    zero_division: ZeroDivision = "warn",
) -> Any:
    """Harmonic mean of precision and recall."""
    options = RateOptions(labels, pos_label, average, sample_weight, zero_division)
    value = _rate(y_true, y_pred, options, F_RATE)
    return delegate("f1_score", y_true, y_pred, **options._asdict()) if value is None else value


def fbeta_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    beta: float,
    labels: ArrayLike | None = None,
    pos_label: Label | None = 1,
    average: ClassAverage | None = "binary",
    sample_weight: Weights = None,
    zero_division: ZeroDivision = "warn",
) -> Any:
    """Harmonic mean of precision and recall, recall with beta squared times the weight."""
    options = RateOptions(labels, pos_label, average, sample_weight, zero_division)
    value = _rate(y_true, y_pred, options, F_RATE, beta)
    return delegate("fbeta_score", y_true, y_pred, beta=beta, **options._asdict()) if value is None else value


def jaccard_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: Label | None = 1,
    average: ClassAverage | None = "binary",
    sample_weight: Weights = None,
    zero_division: ZeroDivision = "warn",
) -> Any:
    """Rows of a class rightly predicted over the rows that are of it or predicted as it."""
    options = RateOptions(labels, pos_label, average, sample_weight, zero_division)
    counts = requested_counts(y_true, y_pred, options) if options.are_usual(nan=False) else None
    if counts is None:
        return delegate("jaccard_score", y_true, y_pred, **options._asdict())
    counts = pooled(counts) if average == "micro" else counts
    values = with_zero_division(jaccard(counts), "jaccard", "true or predicted", ("jaccard",), zero_division, average)
    return (
        values if average is None else class_average(values, average_weights(average, counts.positives, sample_weight))
    )
