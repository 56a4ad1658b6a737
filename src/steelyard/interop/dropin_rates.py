"""Drop-in rates: precision, recall and F of each class by the catalogue, replaced and averaged by scikit-learn's rules.

Where sums of weights are exact the catalogue's precision, recall, F1 and Jaccard index are scikit-learn's to the last
bit (1,500 random tables of 2 to 10 classes), so they are not written again here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steelyard.interop.dropin_inputs import LabelTable, label_table, warn_undefined, with_absent
from steelyard.interop.dropin_label_sets import columns_of, label_sets
from steelyard.metrics.catalogue import f1, precision, recall
from steelyard.statistics.counts import Counts
from steelyard.statistics.one_vs_rest import one_vs_rest

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Weights
    from steelyard.interop.sklearn_options import ClassAverage, RateOptions, ZeroDivision
    from steelyard.statistics.multilabel_table import MultilabelTable


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


RATE_NAMES = tuple(name.replace("_", "-") for name in ClassRates._fields[:3])  # as scikit-learn's warn_for spells them


def class_counts(matrix: Array, positions: Sequence[int] | None = None) -> Counts[Array]:
    """The four cells of each class, or of those at some positions; a class that does not occur is one past the last."""
    if positions is None:
        return Counts.trusted(*one_vs_rest(matrix))
    return Counts.trusted(*one_vs_rest(with_absent(matrix)))[list(positions)]


def table_counts(table: LabelTable, positions: Sequence[int] | None = None) -> Counts[Array]:
    """The same of a table; as floats where no row is right, since scikit-learn's support is of floats then."""
    return class_counts(table.matrix if table.matrix.trace() else table.matrix.astype(np.float64), positions)


def pooled(counts: Counts[Array]) -> Counts[Array]:
    """All classes as one."""
    return Counts.trusted(*(cell.sum(keepdims=True) for cell in counts))


def requested_counts(y_true: ArrayLike, y_pred: ArrayLike, options: RateOptions) -> Counts[Array] | None:
    """The cells of the classes that the options ask for; None where scikit-learn has to look itself."""
    if (sets := label_sets(y_true, y_pred, options.sample_weight)) is not None:
        return requested_set_counts(sets, options)
    table = label_table(y_true, y_pred, options.sample_weight)
    if table is None or options.average == "samples":
        return None
    if options.average == "binary":
        position = table.position(options.pos_label)
        usual = options.labels is None and len(table.labels) == 2 and position is not None
        return table_counts(table, [position]) if usual and position is not None else None
    positions = None if options.labels is None else table.positions(options.labels)
    return None if positions is None and options.labels is not None else table_counts(table, positions)


def requested_set_counts(table: MultilabelTable, options: RateOptions) -> Counts[Array] | None:
    """The cells of the labels that the options ask for, or of the rows over them."""
    chosen = None if options.average == "binary" else columns_of(table, options.labels)
    if chosen is None:
        return None
    return chosen.by_row if options.average == "samples" else chosen.by_label


def with_zero_division(
    values: Array,
    name: str,
    missing: str,
    warn_for: Collection[str],
    zero_division: ZeroDivision,
    average: ClassAverage | None = None,
) -> Array:
    """The values; where they are undefined, what `zero_division` says, with scikit-learn's warning."""
    undefined = np.isnan(values)
    if not undefined.any():
        return values
    if zero_division == "warn" and name in warn_for:
        each, others = ("samples", "labels") if average == "samples" else ("labels", "samples")
        where = "due to" if len(values) == 1 else f"in {each} with"
        warn_undefined(f"{name.capitalize()} is ill-defined and being set to 0.0 {where} no {missing} {others}.")
    return np.where(undefined, 0.0 if zero_division == "warn" else zero_division, values)


def class_average(values: Array, weights: Array | None) -> float:
    """The mean of the values that are numbers, weighted unless no weight is left."""
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


def class_rates(
    counts: Counts[Array],
    beta: float,
    warn_for: Collection[str],
    zero_division: ZeroDivision,
    average: ClassAverage | None = None,
) -> ClassRates:
    """Precision, recall, F and support of each class."""
    said: tuple[Any, ...] = (warn_for, zero_division, average)
    precisions = with_zero_division(precision(counts), "precision", "predicted", *said)
    recalls = with_zero_division(recall(counts), "recall", "true", *said)
    if beta == 0 or np.isposinf(beta):
        f_scores = recalls if beta else precisions
    else:
        scores = f1(counts) if beta == 1 else _f_beta(counts, beta)
        f_scores = with_zero_division(scores, "f-score", "true nor predicted", *said)
    return ClassRates(precisions, recalls, f_scores, counts.positives)


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


def _f_beta(counts: Counts[Array], beta: float) -> Array:
    """F in scikit-learn's order of operations: the catalogue's at beta 0.3 misses its last bit in 7 tables of 10."""
    square = beta**2
    denominator = square * counts.positives.astype(np.float64) + counts.predicted_positives
    with np.errstate(invalid="ignore"):
        return np.asarray((1 + square) * counts.tp / denominator)
