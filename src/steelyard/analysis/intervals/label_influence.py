"""Label influence: what each row moves a metric of label sets by, the sum of what its labels do.

The labels of one row are not independent, so the rows are what scatters. A row enters by the outcome of each of its
labels, and what an outcome of a label moves the metric by is known from the label's four counts: the influence of all
rows is three products of the indicators and a vector, of many metrics at once three products of matrices.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steelyard.analysis.intervals.device_label_influence import influence_sums
from steelyard.metrics.count_values import count_values
from steelyard.metrics.multilabel_values import mean_weights
from steelyard.statistics.counts import Counts
from steelyard.statistics.device_array import DeviceArray
from steelyard.statistics.indicators import is_sparse
from steelyard.statistics.score_order import chunks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from steelyard._types import Array
    from steelyard.analysis.intervals.estimand import Estimand
    from steelyard.analysis.intervals.weighted_rows import WeightedRows
    from steelyard.metrics.metric import Metric
    from steelyard.statistics.multilabel_table import MultilabelTable

_CELLS = 1 << 20  # of a chunk of the indicators


class OutcomeChanges(NamedTuple):
    """By how much a unit of weight of each outcome of each label moves a value."""

    tp: Array
    fn: Array
    fp: Array
    tn: Array

    def scaled(self, shares: Array | float) -> OutcomeChanges:
        """What they move by, where the label has that share in the value."""
        return OutcomeChanges(*(change * shares for change in self))


@dataclass(frozen=True)
class LabelChanges:
    """What the outcomes of a row move a metric of counts by: of each label, of all together, or of their average."""

    estimand: Estimand
    table: MultilabelTable
    row_weight: float

    @cached_property
    def shares(self) -> Array:
        """The share that each label has in the average."""
        weights = mean_weights(self.table, self.table.by_label, self.estimand.options.average)
        return np.asarray(weights / weights.sum())

    def of_labels(self) -> OutcomeChanges:
        """Of the value of each label."""
        return self._of(self.table.by_label)

    def of_all(self) -> OutcomeChanges:
        """Of the value of all labels' counts together."""
        return self._of(Counts.trusted(*(np.asarray([cell.sum()]) for cell in self.table.by_label)))

    def of_average(self) -> OutcomeChanges:
        """Of the average, by the outcome of each label."""
        counts, average = self.table.by_label, self.estimand.options.average
        if average == "micro":
            return OutcomeChanges(*(np.repeat(change, len(self.table.labels)) for change in self.of_all()))
        scaled = self.of_labels().scaled(self.shares)
        if average == "macro":
            return scaled
        values = count_values(self.estimand.metric, counts, self.estimand.parameters)
        mean = np.nansum(values * self.shares)
        moved = np.where(self.shares > 0, values - mean, 0) / np.asarray(counts.positives).sum()
        return scaled._replace(tp=scaled.tp + moved, fn=scaled.fn + moved)  # how often a label occurs is a sample's too

    def _of(self, counts: Counts[Array]) -> OutcomeChanges:
        return outcome_changes(self.estimand.metric, counts, self.estimand.parameters, self.row_weight)


def outcome_changes(
    metric: Metric, counts: Counts[Array], parameters: Mapping[str, Any], row_weight: float
) -> OutcomeChanges:
    """The change by one row less of each outcome, by one row more where the value would be undefined without it."""
    cells = np.stack([np.asarray(cell, np.float64) for cell in counts])
    value = count_values(metric, counts, parameters)
    changes = []
    for place in range(4):
        step = row_weight * (np.arange(4) == place)[:, None]
        less = count_values(metric, Counts.trusted(*np.maximum(cells - step, 0)), parameters)
        more = count_values(metric, Counts.trusted(*(cells + step)), parameters)
        change = np.where(np.isnan(less), more - value, value - less) / row_weight
        changes.append(np.where((cells[place] > 0) & np.isfinite(change), change, 0.0))
    return OutcomeChanges(*changes)


def own_variance(changes: OutcomeChanges, counts: Counts[Array], row_weight: float) -> Array:
    """The variance of each label alone, of independent rows of that weight."""
    cells, each = np.stack([np.asarray(cell, np.float64) for cell in counts]), np.stack(changes)
    total = np.maximum(cells.sum(0), 1e-300)
    return np.asarray((cells * (each - (cells * each).sum(0) / total) ** 2).sum(0) * row_weight)


def row_errors(table: MultilabelTable, every: Sequence[OutcomeChanges], rows: WeightedRows) -> list[float]:
    """The standard error of each value, by the influence of its rows or their clusters, in one pass over the rows."""
    if isinstance(table.true, DeviceArray):
        *moved, base = _coefficients(every)
        sums_there = influence_sums(table.true, table.predicted, np.concatenate(moved), base, rows)  # type: ignore[arg-type]  # both there
        return _errors(*sums_there, rows)
    first, second = np.zeros(len(every)), np.zeros(len(every))
    sums = None if rows.clusters is None else np.zeros((int(rows.clusters.max()) + 1, len(every)))
    for part, influence in row_influences(table, every):
        weighted = influence * rows.weights[part, None]
        first += weighted.sum(0)
        if sums is None:
            second += rows.squares[part] @ (influence * influence)
        else:
            np.add.at(sums, rows.clusters[part], weighted)  # type: ignore[index]  # there are clusters
    return _errors(first, second, rows, sums)


def _errors(first: Array, second: Array, rows: WeightedRows, sums: Array | None = None) -> list[float]:
    """The errors by the sums of the influence and of its square, or by the sums of the clusters."""
    n, total = rows.effective_number(), float(rows.weights.sum())
    if sums is None:
        variance = second - float(rows.squares.sum()) * (first / total) ** 2
    else:
        mass = np.bincount(rows.clusters, rows.weights)  # type: ignore[arg-type]  # there are clusters
        variance = ((sums - mass[:, None] * first / total) ** 2).sum(0)
    scale = n / (n - 1) if n > 1 else 1.0
    return [float(error) for error in np.sqrt(np.maximum(variance, 0) * scale)]


def row_influences(table: MultilabelTable, every: Sequence[OutcomeChanges]) -> Iterator[tuple[slice, Array]]:
    """The influence of the rows of each part on each of the values."""
    of_true, of_predicted, of_both, base = _coefficients(every)
    size = max(1, _CELLS // max(1, len(table.labels)))
    for part in chunks(table.true.shape[0], size):
        true, predicted = table.true[part], table.predicted[part]  # type: ignore[index]  # there are predictions
        if is_sparse(true):
            both = true.multiply(predicted).tocsr()
            yield part, base + true @ of_true + predicted @ of_predicted + both @ of_both
        else:
            both = (true & predicted).astype(np.float64)
            yield (
                part,
                base
                + true.astype(np.float64) @ of_true
                + predicted.astype(np.float64) @ of_predicted
                + (both @ of_both),
            )


def _coefficients(every: Sequence[OutcomeChanges]) -> tuple[Array, Array, Array, Array]:
    """What a label that is true, predicted or both moves each value by, and what a row without any does."""
    tp, fn, fp, tn = (np.column_stack(column) for column in zip(*every, strict=True))
    return fn - tn, fp - tn, tp - fn - fp + tn, tn.sum(0)


def usual_size(table: MultilabelTable, rows: WeightedRows) -> float:
    """How many labels the row of a usual label has: where nothing varies, those of a row are taken for one."""
    sizes = table.by_row.positives.astype(np.float64)
    total = float(rows.weights @ sizes)
    return max(float(rows.weights @ sizes**2) / total, 1.0) if total else 1.0
