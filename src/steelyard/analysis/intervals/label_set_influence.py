"""Label set influence: how much each row moves a metric of label sets, by its labels' outcomes, value or scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.intervals.column_influence import by_row_of_cells, part_influence
from steelyard.analysis.intervals.estimand import Estimand
from steelyard.analysis.intervals.label_influence import LabelChanges, OutcomeChanges, row_influences
from steelyard.metrics.call_options import NATIVE, SAMPLES, CallOptions
from steelyard.metrics.multilabel_values import defined_rows, row_values, sample_values

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.metrics.spec import MetricSpec
    from steelyard.statistics.multilabel_table import MultilabelTable


def label_set_influence(spec: MetricSpec, table: MultilabelTable) -> Array | None:
    """How much a unit of weight of each row moves the metric; None where that is not known."""
    if spec.label is None and spec.average in (NATIVE, SAMPLES):
        return _of_rows(spec, table)
    if spec.metric.function is None:
        return _of_scores(spec, table)
    changes = LabelChanges(_estimand(spec, table), table, _row_weight(table))
    if spec.label is None:
        moved = changes.of_average()
    else:
        only = np.arange(len(table.labels)) == table.place(spec.label)
        moved = OutcomeChanges(*(np.where(only, change, 0.0) for change in changes.of_labels()))
    return np.concatenate([part[:, 0] for _, part in row_influences(table, [moved])])


def _estimand(spec: MetricSpec, table: MultilabelTable) -> Estimand:
    return Estimand(spec, table, spec.metric.parameters, spec.options(CallOptions()))


def _row_weight(table: MultilabelTable) -> float:
    if table.sample_weight is None or table.weights is None:
        return 1.0
    return float((table.weights * table.sample_weight).sum() / table.weights.sum())


def _weights(table: MultilabelTable) -> Array:
    return np.ones(table.true.shape[0]) if table.weights is None else np.asarray(table.weights, np.float64)


def _of_rows(spec: MetricSpec, table: MultilabelTable) -> Array | None:
    metric, parameters, weights = spec.metric, spec.metric.parameters, _weights(table)
    if spec.average == SAMPLES:
        values = sample_values(metric, table, parameters)
    else:
        values = np.asarray(row_values(metric, table, parameters), np.float64)
    counted = defined_rows(values, weights)
    mean, total = np.average(values[counted], weights=weights[counted]), weights[counted].sum()
    return np.asarray(np.where(counted, values - mean, 0.0) / total)


def _of_scores(spec: MetricSpec, table: MultilabelTable) -> Array | None:
    """Of the average over the labels' columns, of one of them, or of all of them pooled."""
    if spec.label is None and spec.average == "micro":
        return _of_pooled_scores(spec, table)
    present = np.flatnonzero(np.asarray(table.positives) > 0).tolist()
    places = present if spec.label is None else [table.place(spec.label)]
    parts, influence = [table.column_table(place) for place in places], np.zeros(table.true.shape[0])
    total, by_share = sum(part.share for part in parts), spec.average == "weighted"
    values = [float(spec.metric(part.table)) for part in parts]
    shares = [part.share / total if by_share else 1 / len(parts) for part in parts]
    mean = sum(share * value for share, value in zip(shares, values, strict=True))
    for part, share, value in zip(parts, shares, values, strict=True):
        own = part_influence(spec.metric, part, spec.metric.parameters)
        if own is None:
            return None
        influence[np.concatenate(part.rows)] += share * own
        if by_share:  # how often a label occurs is a sample's as well
            influence[part.rows[0]] += (value - mean) / total
    return influence


def _of_pooled_scores(spec: MetricSpec, table: MultilabelTable) -> Array | None:
    pooled = table.pooled_table()
    by_cell = part_influence(spec.metric, pooled, spec.metric.parameters)
    return None if by_cell is None else by_row_of_cells(pooled, by_cell, table.true.shape[0])
