"""Class views: each class of a table against the rest, with the one interval that every quantity has."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.intervals.draws import against_rest, effective_cells
from steelyard.analysis.intervals.interval import Interval
from steelyard.analysis.results.result import Rows
from steelyard.evaluation.evaluate import evaluate
from steelyard.evaluation.evaluation import CLASS_METRICS
from steelyard.metrics.registry import get_metric, list_metrics
from steelyard.metrics.spec import MetricSpec
from steelyard.statistics.counts import Counts
from steelyard.statistics.effective_rows import weight_per_class_row
from steelyard.statistics.one_vs_rest import one_vs_rest

if TYPE_CHECKING:
    from steelyard._types import Array, Label
    from steelyard.evaluation.evaluation import ClassRow, Evaluation, MetricRow
    from steelyard.metrics.metric import Metric
    from steelyard.statistics.confusion import Confusion


# Tables on which two different metrics do not agree by accident.
_PROBE = Counts(*np.array([[28, 3, 911], [23, 50, 7], [72, 17, 131], [2680, 5, 61]]))


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
    return [ClassView(*part) for part in zip(table.labels, cells, _row_weights(table), strict=True)]


def _row_weights(table: Confusion) -> list[Array]:
    """The mean weight of a row of each class and of the rest, one below the other."""
    if not table.weighted:
        return [np.ones((2, 1))] * len(table.labels)
    parts = [np.stack(one_vs_rest(part), -1).reshape(-1, 2, 2) for part in (table.weights, table.squares)]
    return [weight_per_class_row(weights, squares) for weights, squares in zip(*parts, strict=True)]


def rarest_class(table: Confusion) -> Label:
    """The rarest class that occurs, which is the one to look at first."""
    sizes = table.matrix.sum(1).tolist()
    return table.labels[min((size, place) for place, size in enumerate(sizes) if size > 0)[1]]


def class_evaluation(evaluation: Evaluation, label: Label) -> Evaluation:
    """One class against the rest, with the intervals that the table of classes gives it."""
    table = evaluation.confusion
    assert table is not None  # noqa: S101 - a table of classes
    alone = evaluate(against_rest(table, label), pos_label=1, level=evaluation.level)
    intervals = class_intervals(evaluation)[label]
    rows = [_with_ends(row, intervals[row.name]) if row.name in intervals else row for row in alone.metrics]
    positive, classes = table.with_positive(label), evaluation.per_class
    return replace(alone, metrics=Rows(rows), confusion=positive, positive=label, per_class=classes)


def _with_ends(row: MetricRow, interval: Interval) -> MetricRow:
    return replace(row, low=interval.low, high=interval.high, method=interval.method)


def class_intervals(evaluation: Evaluation) -> dict[Label, dict[str, Interval]]:
    """The intervals of each class by metric, as far as they have ends."""
    return {
        row.label: {
            part.metric: part for part in row.intervals.values() if math.isfinite(part.low) and math.isfinite(part.high)
        }
        for row in evaluation.per_class
    }


def agreeing_intervals(evaluation: Evaluation, row: ClassRow) -> list[Interval | MetricRow]:
    """The intervals of a class; of two classes those of the evaluation's metrics that are the same quantity."""
    if evaluation.positive is None:
        return list(row.intervals.values())
    rows: dict[str | None, MetricRow] = {metric.name: metric for metric in evaluation.metrics}
    own = row.label == evaluation.positive
    parts = row.intervals.values()
    return [rows.get(part.metric if own else _of_other_class(part.metric), part) for part in parts]


@cache
def _of_other_class(name: str) -> str | None:
    """The metric that is this one with the classes swapped, as specificity is recall; None where there is none."""
    swapped = get_metric(name)(Counts(_PROBE.tn, _PROBE.fp, _PROBE.fn, _PROBE.tp))
    metrics = (m for m in list_metrics() if m.function is not None and "ordinal" not in m.roles)
    return next((metric.name for metric in metrics if np.allclose(metric(_PROBE), swapped, rtol=1e-12, atol=0)), None)


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
