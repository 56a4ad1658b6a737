"""Models: the tables that are handed to a study, one a model, and the metrics that are tried on them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.errors import InputError, InputTypeError, SteelyardError
from steelyard.ingest import array_tables as ingest
from steelyard.ingest.class_checks import check_classes
from steelyard.metrics.registry import get_metric, is_builtin, list_metrics
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.counts import CELLS, Counts

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.metrics.metric import Metric

_ROUNDING = 1e-12  # values that differ by less, relative to their size, are equal


def tables_of(data: Any, predictions: Any, pos_label: Any, sample_weight: Any) -> dict[str, Counts]:
    """One table a model, by its name."""
    if predictions is not None:
        named = predictions if isinstance(predictions, Mapping) else {"model": predictions}
        found = {str(name): weighed(data, pred, pos_label, sample_weight) for name, pred in named.items()}
        return _nonempty({name: table.counts() for name, table in found.items()})
    if isinstance(data, Mapping):
        return _nonempty({str(name): _counts(table, pos_label) for name, table in data.items()})
    if isinstance(data, Counts) and len(data.shape) == 1:
        return _nonempty({str(i): data[i] for i in range(data.shape[0])})
    return {"model": _counts(data, pos_label)}


def _nonempty(tables: dict[str, Counts]) -> dict[str, Counts]:
    if not tables:
        raise InputError("There is no model to try; give {model: y_pred} or {model: Counts} of one or more.")
    return tables


def weighed(y_true: Any, y_pred: Any, pos_label: Any, sample_weight: Any) -> Confusion:
    """The table of one model's predictions."""
    table = ingest.confusion(y_true, y_pred, pos_label=pos_label, sample_weight=sample_weight)
    check_classes(table)
    if len(table.labels) == 2:
        _check_positive(table)
    return table


def _check_positive(table: Confusion) -> None:
    try:
        table.positive_label()
    except InputError as error:
        raise InputError(f"{str(error).partition(';')[0]}; name it with pos_label=.") from None


def _counts(table: Any, pos_label: Any) -> Counts:
    if isinstance(table, Confusion):
        return table.counts(pos_label)
    if not isinstance(table, Counts):
        raise InputTypeError(
            f"A model is given by Counts, a Confusion, or y_true and its predictions, not by {type(table).__name__}."
        )
    if table.shape:
        raise InputError(f"Each model is one table, not an array of {table.shape}; give {{model: Counts}}.")
    return table


def matching(given: Any, tables: Mapping[str, Counts], what: str) -> dict[str, Counts]:
    """The tables handed in for the same models, in their order."""
    found = tables_of(given, None, None, None)
    if set(found) != set(tables):
        raise InputError(f"{what} holds {', '.join(found)}; it needs what the first holds: {', '.join(tables)}.")
    return {name: found[name] for name in tables}


def stacked(tables: Mapping[str, Counts]) -> Counts:
    """The models' tables as one array."""
    return Counts(*(np.stack([np.asarray(getattr(table, cell)) for table in tables.values()]) for cell in CELLS))


def at_rates(tpr: Any, tnr: Any, pi: Any) -> Counts:
    """The table, of one row in all, of a classifier with these rates where a share `pi` is positive.

    >>> at_rates(0.8, 0.9, 0.5)
    Counts(tp=0.4, fn=0.09999999999999998, fp=0.04999999999999999, tn=0.45)
    """
    return Counts(pi * tpr, pi * (1 - tpr), (1 - pi) * (1 - tnr), (1 - pi) * tnr)


# ---------------------------------------------------------------- the metrics on them


def directed(metrics: Iterable[Any] | None) -> list[Metric]:
    """The metrics that are named, or all of counts that say what is better."""
    if metrics is None:
        return [m for m in list_metrics() if m.function is not None and m.direction is not None]
    if isinstance(metrics, str):
        raise InputTypeError(f"Metrics are given as a list of names, not as the text {metrics!r}.")
    return [get_metric(name) for name in metrics]


def measured(metrics: Iterable[Metric], counts: Counts) -> Array:
    """The values of all metrics on the tables, metrics on the last axis; a metric that fails gets one sentence."""
    return np.stack([_measured(metric, counts) for metric in metrics], -1)


def _measured(metric: Metric, counts: Counts) -> Array:
    try:
        return np.asarray(metric(counts))
    except SteelyardError:
        raise
    except Exception as error:
        if is_builtin(metric):
            raise
        said = f"{type(error).__name__}: {error}".rstrip(".")
        raise InputError(
            f"{metric.name} failed on an array of tables ({said}); "
            "it must take cells that are arrays and give one number for each table."
        ) from error


def change(before: Array, after: Array) -> Array:
    """Before less after; 0 where they differ by rounding alone."""
    gap = before - after
    return np.asarray(np.where(np.abs(gap) <= _ROUNDING * np.maximum(1, np.abs(before)), 0 * gap, gap))


def ordered(one: Array, other: Array, metrics: Sequence[Metric]) -> Array:
    """One less other, metrics on the last axis, turned so that positive is better; 0 where they are equal."""
    turn = np.array([-1.0 if m.direction == "lower" else 1.0 for m in metrics])
    with np.errstate(invalid="ignore"):
        return np.asarray(change(one, other) * turn)
