"""Drop-ins for scikit-learn's functions of one class at a time: the same options, values, types and warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.interop.dropin_inputs import delegate
from steelyard.interop.dropin_rates import (
    F_RATE,
    PRECISION_RATE,
    RATE_NAMES,
    RECALL_RATE,
    Rate,
    average_weights,
    class_average,
    class_rates,
    mean_rate,
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
    from steelyard.statistics.counts import Counts


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
