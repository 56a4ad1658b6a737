"""Metric values: many metrics on an array of tables at once, and how two such arrays differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.exceptions import InputError, InputTypeError, SteelyardError
from steelyard.metrics.registry import get_metric, is_builtin, list_metrics, metrics_with_role

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from steelyard._types import Array
    from steelyard.metrics.metric import Metric
    from steelyard.metrics.registry import MetricLike
    from steelyard.statistics.counts import Counts
    from steelyard.statistics.score_table import ScoreTable

_ROUNDING = 1e-12  # values that differ by less, relative to their size, are equal


def named_metrics(metrics: Iterable[MetricLike] | None) -> list[Metric]:
    """The metrics that are named, or all of counts that say what is better."""
    if metrics is None:
        return [m for m in list_metrics() if m.function is not None and m.direction is not None]
    if isinstance(metrics, str):
        raise InputTypeError(f"Metrics are given as a list of names, not as the text {metrics!r}.")
    return [get_metric(name) for name in metrics]


def chosen_metrics(
    metrics: Iterable[MetricLike] | None, tables: Mapping[str, Counts], scores: Mapping[str, ScoreTable]
) -> tuple[list[Metric], list[Metric]]:
    """The metrics of counts and those of scores alone, as named; where none is, all that the models can be tried by."""
    if metrics is None:
        return named_metrics(None) if tables else [], metrics_with_role("order of scores") if scores else []
    chosen = named_metrics(metrics)
    of_counts, of_scores = ([m for m in chosen if (m.function is None) is ranks] for ranks in (False, True))
    if of_scores and not scores:
        raise InputError(
            f"{of_scores[0].name} reads scores, which are not there for every model; give y_score={{model: scores}} "
            "(an estimator needs predict_proba or decision_function), or leave it out."
        )
    if of_counts and not tables:
        raise InputError(
            f"{of_counts[0].name} reads predicted labels, and the scores are no probabilities; give y_pred= as well."
        )
    if of_counts and of_scores and set(tables) != set(scores):
        raise InputError(
            f"The scores are of {', '.join(scores)}, the predictions of {', '.join(tables)}; give both of each model."
        )
    return of_counts, of_scores


def score_metrics(*, probabilities: bool) -> list[Metric]:
    """Every metric of the scores of two classes that says what is better; with those that read probabilities or not."""
    families = ("ranking", "calibration") if probabilities else ("ranking",)
    return [m for family in families for m in list_metrics(family) if m.function is None and m.direction is not None]


def metric_values(metrics: Iterable[Metric], counts: Counts[Any]) -> Array:
    """The values of all metrics on the tables, metrics on the last axis; a metric that fails gets one sentence."""
    return np.stack([_values(metric, counts) for metric in metrics], -1)


def _values(metric: Metric, counts: Counts[Any]) -> Array:
    try:
        return np.asarray(metric(counts))
    except SteelyardError:
        raise
    except Exception as error:
        if is_builtin(metric):
            raise
        reason = f"{type(error).__name__}: {error}".rstrip(".")
        raise InputError(
            f"{metric.name} failed on an array of tables ({reason}); "
            "it must take cells that are arrays and give one number for each table."
        ) from error


def value_change(before: Array, after: Array) -> Array:
    """Before less after; 0 where they differ by rounding alone."""
    with np.errstate(invalid="ignore"):  # infinite before and after has no change
        gap = before - after
        return np.asarray(np.where(np.abs(gap) <= _ROUNDING * np.maximum(1, np.abs(before)), 0 * gap, gap))


def directed_difference(first: Array, second: Array, metrics: Sequence[Metric]) -> Array:
    """First less second, metrics on the last axis, turned so that positive is better; 0 where they are equal."""
    turn = np.array([-1.0 if m.direction == "lower" else 1.0 for m in metrics])
    with np.errstate(invalid="ignore"):
        return np.asarray(value_change(first, second) * turn)
