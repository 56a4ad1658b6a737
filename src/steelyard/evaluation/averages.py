"""Averages over the classes: macro, weighted and micro side by side, each with its interval where it has one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.analysis.sampler import Interval
from steelyard.evaluation.evaluation import AVERAGED
from steelyard.metrics.registry import get_metric

if TYPE_CHECKING:
    from steelyard.evaluation.evaluation import Evaluation, Row
    from steelyard.metrics.metric import Metric
    from steelyard.statistics.confusion import Confusion


@dataclass(frozen=True)
class AveragedMetric:
    """A metric of one class as its averages over all of them; None where one was not evaluated."""

    metric: Metric
    macro: Row | None
    weighted: Row | None
    micro: Interval


def averaged_metrics(evaluation: Evaluation, table: Confusion) -> list[AveragedMetric]:
    """The averaged metrics of an evaluation of several classes."""
    rows = {row.name: row for row in evaluation.metrics}
    return [
        AveragedMetric(
            get_metric(name),
            rows.get(f"{name}[average=macro]"),
            rows.get(f"{name}[average=weighted]"),
            _micro(name, table, rows.get("accuracy"), evaluation.level),
        )
        for name in AVERAGED
    ]


def _micro(name: str, table: Confusion, accuracy: Row | None, level: float) -> Interval:
    """The average over all decisions pooled; with an interval where it is the accuracy of all classes."""
    value = float(get_metric(name)(table, average="micro"))
    if accuracy is None or not math.isclose(value, accuracy.value, rel_tol=1e-12):
        return Interval(name, value, math.nan, math.nan, level, "")
    return Interval(name, value, accuracy.low, accuracy.high, level, accuracy.method)
