"""Averages over the classes: macro, weighted and micro side by side, each with its interval where it has one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.analysis.intervals.interval import Interval
from steelyard.evaluation.evaluation import CLASS_METRICS
from steelyard.metrics.registry import get_metric
from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from steelyard.evaluation.evaluation import Evaluation, MetricRow
    from steelyard.metrics.metric import Metric
    from steelyard.statistics.confusion import Confusion


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
