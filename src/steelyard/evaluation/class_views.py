"""Class views: each class of a table against the rest, with the one interval that every quantity has."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.intervals.draws import against_rest, effective_cells
from steelyard.analysis.intervals.interval import Interval
from steelyard.analysis.results.result import Rows
from steelyard.arrays.numbers import weight_per_class_row
from steelyard.evaluation.evaluate import evaluate
from steelyard.evaluation.evaluation import CLASS_METRICS
from steelyard.metrics.registry import get_metric
from steelyard.metrics.spec import MetricSpec
from steelyard.tables.confusion import one_vs_rest
from steelyard.tables.counts import Counts

if TYPE_CHECKING:
    from steelyard._types import Array, Label
    from steelyard.evaluation.evaluation import ClassRow, Evaluation, MetricRow
    from steelyard.metrics.measure import Metric
    from steelyard.tables.confusion import Confusion


# The metric of the positive class that is one of CLASS_METRICS of the other class.
_OF_OTHER_CLASS = {"precision": "negative_predictive_value", "recall": "specificity", "f1": "negative_f1"}


@dataclass(frozen=True)
class ClassView:
    """One class against the rest: its counts, the mean weight of a row in each cell, and the share of the class."""

    label: Label
    counts: Counts
    row_weights: Array

    @property
    def share(self) -> float:
        """The prevalence of the class; 0 of an empty table."""
        total = float(self.counts.total)
        return float(self.counts.positives / total) if total else 0.0


def class_view(table: Confusion, label: Label) -> ClassView:
    """One class of a table against the rest."""
    return ClassView(label, table.counts(label), effective_cells(against_rest(table, label))[1])


def class_views(table: Confusion) -> list[ClassView]:
    """Each class of a table against the rest."""
    counts = zip(*(cell.tolist() for cell in map(np.asarray, table.one_vs_rest())), strict=True)
    cells = [Counts.trusted(*map(np.asarray, each)) for each in counts]
    row_weights = [np.ones((2, 1))] * len(table.labels)
    if table.weighted:
        parts = [np.stack(one_vs_rest(part), -1).reshape(-1, 2, 2) for part in (table.weights, table.squares)]
        row_weights = [weight_per_class_row(weights, squares) for weights, squares in zip(*parts, strict=True)]
    return [ClassView(*part) for part in zip(table.labels, cells, row_weights, strict=True)]


def rarest_class(table: Confusion) -> Label:
    """The rarest class that occurs, which is the one to look at first."""
    sizes = table.matrix.sum(1).tolist()
    _, rarest = min((size, i) for i, size in enumerate(sizes) if size > 0)
    return table.labels[rarest]


def class_evaluation(evaluation: Evaluation, label: Label) -> Evaluation:
    """One class against the rest, with the intervals that the table of classes gives it."""
    table = evaluation.confusion
    assert table is not None  # noqa: S101 - a table of classes
    alone = evaluate(against_rest(table, label), pos_label=1, level=evaluation.level)
    classes = {row.label: row for row in evaluation.per_class}
    rows = []
    for row in alone.metrics:
        known = classes[label].intervals.get(row.name)
        if known is not None and math.isfinite(known.low) and math.isfinite(known.high):
            rows.append(replace(row, low=known.low, high=known.high, method=known.method))
        else:
            rows.append(row)
    return replace(
        alone,
        metrics=Rows(rows),
        confusion=table.with_positive(label),
        positive=label,
        per_class=evaluation.per_class,
    )


def agreeing_intervals(evaluation: Evaluation, row: ClassRow) -> list[Interval | MetricRow]:
    """The intervals of a class; of two classes those of the evaluation's metrics that are the same quantity."""
    if evaluation.positive is None:
        return list(row.intervals.values())
    rows = {metric.name: metric for metric in evaluation.metrics}
    is_positive = row.label == evaluation.positive
    return [
        rows.get(name if is_positive else _OF_OTHER_CLASS[name], interval) for name, interval in row.intervals.items()
    ]


# ---------------------------------------------------------------- averages over the classes


@dataclass(frozen=True)
class AveragedMetric:
    """A metric of one class as its averages over all of them; None where one was not evaluated."""

    metric: Metric
    macro: MetricRow | None
    weighted: MetricRow | None
    micro: Interval


def averaged_metrics(evaluation: Evaluation, table: Confusion) -> list[AveragedMetric]:
    """The averaged metrics of an evaluation of several classes."""
    rows = {row.spec: row for row in evaluation.metrics}
    return [
        AveragedMetric(
            get_metric(name),
            rows.get(MetricSpec(get_metric(name), "macro")),
            rows.get(MetricSpec(get_metric(name), "weighted")),
            _micro(name, table, rows.get(MetricSpec.of("accuracy")), evaluation.level),
        )
        for name in CLASS_METRICS
    ]


def _micro(name: str, table: Confusion, accuracy: MetricRow | None, level: float) -> Interval:
    """The average over all decisions pooled; with an interval where it is the accuracy of all classes."""
    spec = MetricSpec(get_metric(name), "micro")
    value = float(spec.metric(table, average="micro"))
    if accuracy is None or not math.isclose(value, accuracy.value, rel_tol=1e-12):
        return Interval(spec, value, math.nan, math.nan, level, "")
    return Interval(spec, value, accuracy.low, accuracy.high, level, accuracy.method)
