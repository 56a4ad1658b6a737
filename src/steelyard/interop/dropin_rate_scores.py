"""Drop-ins for scikit-learn's functions of one class at a time: the same options, values, types and warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.interop.dropin_inputs import delegate
from steelyard.interop.dropin_rates import (
    RATE_NAMES,
    ClassRates,
    MeanRates,
    average_weights,
    class_average,
    class_rates,
    mean_rates,
    pooled,
    requested_counts,
    with_zero_division,
)
from steelyard.interop.sklearn_options import RateOptions
from steelyard.metrics.catalogue import jaccard

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import ArrayLike

    from steelyard._types import Label, Weights
    from steelyard.interop.sklearn_options import ClassAverage, ZeroDivision


def _rates(
    y_true: ArrayLike, y_pred: ArrayLike, options: RateOptions, beta: float, warn_for: Collection[str]
) -> ClassRates | MeanRates | None:
    if not options.are_usual() or not isinstance(beta, (int, float)) or not beta >= 0:
        return None
    counts = requested_counts(y_true, y_pred, options)
    if counts is None:
        return None
    if options.average is None:
        return class_rates(counts, beta, warn_for, options.zero_division)
    return mean_rates(counts, beta, options.average, warn_for, options.zero_division, options.sample_weight)


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
    rates = _rates(y_true, y_pred, options, beta, warn_for) if isinstance(warn_for, (list, tuple, set)) else None
    if rates is None:
        more = {"beta": beta, "warn_for": warn_for}
        return delegate("precision_recall_fscore_support", y_true, y_pred, **more, **options._asdict())
    return tuple(rates)


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
    rates = _rates(y_true, y_pred, options, 1.0, ("precision",))
    return delegate("precision_score", y_true, y_pred, **options._asdict()) if rates is None else rates.precision


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
    rates = _rates(y_true, y_pred, options, 1.0, ("recall",))
    return delegate("recall_score", y_true, y_pred, **options._asdict()) if rates is None else rates.recall


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
    rates = _rates(y_true, y_pred, options, 1.0, ("f-score",))
    return delegate("f1_score", y_true, y_pred, **options._asdict()) if rates is None else rates.f_score


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
    rates = _rates(y_true, y_pred, options, beta, ("f-score",))
    return delegate("fbeta_score", y_true, y_pred, beta=beta, **options._asdict()) if rates is None else rates.f_score


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
