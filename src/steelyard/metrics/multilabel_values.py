"""Values on label sets: a metric of each label, over all labels or rows, or its own form for rows of several labels."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.arrays.backend import backend_of, taken
from steelyard.exceptions import InputError
from steelyard.metrics.call_options import NATIVE, SAMPLES
from steelyard.metrics.score_values import on_scores, score_values
from steelyard.metrics.values import MetricValue, averaged_classes, count_values, on_counts
from steelyard.tables.multilabel_table import row_orders

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steelyard._types import Array
    from steelyard.metrics.call_options import CallOptions
    from steelyard.metrics.measure import Metric
    from steelyard.metrics.spec import MetricSpec
    from steelyard.tables.counts import Counts
    from steelyard.tables.multilabel_table import MultilabelTable
    from steelyard.tables.score_table import ScoreTable


def on_label_sets(
    metric: Metric, table: MultilabelTable, options: CallOptions, parameters: Mapping[str, object]
) -> MetricValue:
    """On rows of several labels: one label, an average over labels or rows, or the metric's own form."""
    check_label_set_options(metric, options)
    if options.pos_label is not None:
        return _of_label(metric, table, options.pos_label, parameters)
    if options.average == NATIVE or metric.is_of_label_sets:
        return _of_rows(metric, table, parameters)
    if metric.function is None:
        return _of_scores(metric, table, options, parameters)
    if options.average == "micro":
        return on_counts(metric, table.by_label.sum(), parameters)
    cells = table.by_row if options.average == SAMPLES else table.by_label
    return _averaged(metric, table, cells, options, parameters)


def check_label_set_options(metric: Metric, options: CallOptions) -> None:
    """Refuse one label, or an average over labels, of a metric of rows of all labels together."""
    if metric.is_of_label_sets and (options.pos_label is not None or options.average not in (NATIVE, SAMPLES)):
        raise InputError(
            f"{metric.name} is a mean over rows, of all labels together; leave average= and pos_label= out."
        )


def _of_label(metric: Metric, table: MultilabelTable, label: Any, parameters: Mapping[str, object]) -> MetricValue:
    if metric.function is None:
        return on_scores(metric, table.score_table(label), parameters)
    return on_counts(metric, table.by_label[table.place(label)], parameters)


def _averaged(
    metric: Metric,
    table: MultilabelTable,
    cells: Counts[Array],
    options: CallOptions,
    parameters: Mapping[str, object],
) -> MetricValue:
    """The value of each label or row, and their mean."""
    of_rows = options.average == SAMPLES
    values = sample_values(metric, table, parameters) if of_rows else count_values(metric, cells, parameters)
    values = np.where(np.isnan(values), options.replacement, values)
    if options.average is None:
        return MetricValue(values, lambda: on_counts(metric, cells, parameters).why)
    shares = mean_weights(table, cells, options.average)
    if options.average == SAMPLES:
        value = _row_mean(values, shares, options)
    else:
        value = np.average(values[shares > 0], weights=shares[shares > 0]) if (shares > 0).any() else math.nan

    def why() -> str:
        bad = np.flatnonzero((shares > 0) & np.isnan(values))
        if not len(bad):
            return "no rows"
        name = f"row {bad[0] + 1}" if options.average == SAMPLES else f"label {table.labels[bad[0]]!r}"
        return f"{name}: {on_counts(metric, cells[[bad[0]]], parameters).why[0]}"

    return MetricValue(np.asarray(value), why, averaged=True)


def _row_mean(values: Array, weights: Array, options: CallOptions) -> Array | float:
    """The mean over the rows that have a value, as scikit-learn's zero_division=nan has it; NaN where none has.

    An undefined row is no weak spot that a mean could hide, as a class without a value is: nothing was there to find.
    """
    counted = defined_rows(values, weights)
    if options.undefined == "raise" and not counted[weights > 0].all():
        return math.nan
    return np.average(values[counted], weights=weights[counted]) if counted.any() else math.nan


def defined_rows(values: Array, weights: Array) -> Array:
    """Which rows a mean over rows is of: those of some weight that have a value."""
    defined: Array = (weights > 0) & ~np.isnan(values)
    return defined


def mean_weights(table: MultilabelTable, cells: Counts[Array], average: str | None) -> Array:
    """The weight that each label or row has in a mean."""
    if average == SAMPLES:
        return table.row_weights
    averaged = averaged_classes(cells.positives, average)
    return averaged * (1.0 if average == "macro" else np.asarray(cells.positives, np.float64))


def _of_scores(
    metric: Metric, table: MultilabelTable, options: CallOptions, parameters: Mapping[str, object]
) -> MetricValue:
    """A metric of scores: of all labels together, of each label by its column, or of the labels of each row."""
    if options.average == "micro":
        return on_scores(metric, table.pooled_scores, parameters)
    if options.average == SAMPLES:
        return _mean_of_orders(metric, table, options, parameters)
    each = [on_scores(metric, table.score_table(label), parameters) for label in table.labels]
    values = np.array([part.value for part in each], dtype=np.float64)
    values = np.where(np.isnan(values), options.replacement, values)
    if options.average is None:
        return MetricValue(values, lambda: np.array([part.why for part in each], dtype=object))
    shares = np.ones(len(values)) if options.average == "macro" else np.asarray(table.positives, np.float64)
    counted = shares > 0
    value = np.average(values[counted], weights=shares[counted]) if counted.any() else options.replacement
    bad = next((place for place in np.flatnonzero(counted) if math.isnan(values[place])), 0)
    return MetricValue(np.asarray(value), lambda: f"label {table.labels[bad]!r}: {each[bad].why}", averaged=True)


def _mean_of_orders(
    metric: Metric, table: MultilabelTable, options: CallOptions, parameters: Mapping[str, object]
) -> MetricValue:
    """The mean over the rows of a metric of the order of each row's labels."""
    values = sample_values(metric, table, parameters)
    values = np.where(np.isnan(values), options.replacement, values)
    shares = table.row_weights
    value = _row_mean(values, shares, options)

    def why() -> str:
        bad = np.flatnonzero((shares > 0) & np.isnan(values))
        has = table.true_labels[bad[0]] if len(bad) else 0
        lacks = {0: "no labels", len(table.labels): "all labels"}.get(int(has), "no value")
        return f"row {bad[0] + 1} has {lacks}" if len(bad) else "no rows of any weight"

    return MetricValue(np.asarray(value), why, averaged=True)


def sample_values(metric: Metric, table: MultilabelTable, parameters: Mapping[str, object]) -> Array:
    """The value of each row over its labels, whose mean average="samples" is; NaN where it is undefined."""
    if metric.is_of_label_sets:  # whose own form that mean is
        return row_values(metric, table, parameters)
    if metric.function is None:
        return _ordered_rows(metric, table, parameters)
    if backend_of(table.true).is_device:  # where formulas would wait for it again and again
        kinds = table.row_kinds
        return taken(count_values(metric, kinds.counts, parameters), kinds.places)
    return np.asarray(count_values(metric, table.by_row, parameters))


def _ordered_rows(metric: Metric, table: MultilabelTable, parameters: Mapping[str, object]) -> Array:
    """A metric of the order of scores, for each row over its labels."""
    if metric.of_probabilities or metric.columns is not None:
        raise InputError(
            f"{metric.name} is not of the order of a row's scores; ask for average='micro', over all labels of all "
            "rows, or 'macro'."
        )
    assert table.scores is not None  # noqa: S101 - counted with them
    with np.errstate(invalid="ignore", divide="ignore"):
        values = [_of_orders(metric, orders, parameters) for orders in row_orders(table.true, table.scores)]
    ordered: Array = np.clip(values[0] if len(values) == 1 else np.concatenate(values), *metric.range)  # by rounding
    return ordered


def _of_orders(metric: Metric, orders: ScoreTable, parameters: Mapping[str, object]) -> Array:
    """The value of each of some rows, where one may be that of all of them."""
    values: Any = score_values(metric, orders, parameters)
    return np.full(len(orders.positive.weights), values) if np.ndim(values) == 0 else values


def _of_rows(metric: Metric, table: MultilabelTable, parameters: Mapping[str, object]) -> MetricValue:
    """The metric's own form: the mean of a value of each row."""
    values = row_values(metric, table, parameters)
    weights = table.row_weights
    counted = weights > 0
    value = np.average(values[counted], weights=weights[counted]) if counted.any() else math.nan
    return MetricValue(np.asarray(value), lambda: _row_reason(metric, table, parameters))


def row_values(metric: Metric, table: MultilabelTable, parameters: Mapping[str, object]) -> Array:
    """The value of each row, whose mean the metric's own form is."""
    if metric.label_sets is None:
        raise InputError(
            f"{metric.name} of rows with several labels needs average='micro', 'macro', 'weighted', 'samples' or None, "
            "or one label as pos_label=."
        )
    values: Array = metric.label_sets(table, **parameters)
    return table.row_weights * math.nan if np.ndim(values) == 0 else values


def _row_reason(metric: Metric, table: MultilabelTable, parameters: Mapping[str, object]) -> str:
    assert metric.label_sets is not None  # noqa: S101 - asked before
    return str(getattr(metric.label_sets(table, **parameters), "why", "no rows of any weight"))


def check_label_sets(metric: Metric) -> None:
    """Refuse a metric of rows with several labels where each row has one."""
    if metric.is_of_label_sets:
        raise InputError(
            f"{metric.name} is of rows that may have several labels each; give a matrix of 0 and 1 with a column for "
            "each label, or a list of labels for each row."
        )


def reads_label_scores(metric: Metric) -> bool:
    """Whether of rows with several labels it is taken of scores, and not of predicted labels."""
    return metric.function is None and (metric.ranks_labels or metric.scores is not None)


def check_label_set_metric(spec: MetricSpec, table: MultilabelTable) -> MetricSpec:
    """The metric; one that these rows do not allow is refused."""
    metric = spec.metric
    of_scores = reads_label_scores(metric)
    if not of_scores and table.predicted is None:
        raise InputError(f"{spec.name} needs predicted labels, or a threshold for the scores.")
    if of_scores and table.scores is None:
        raise InputError(f"{spec.name} needs scores: a column for each label.")
    if spec.is_native and metric.label_sets is None:
        raise InputError(
            f"{spec.name} of rows with several labels is averaged or of one label; ask for "
            f"{spec.name}[average=macro], micro, weighted or samples, or {spec.name}[class=...]."
        )
    return spec
