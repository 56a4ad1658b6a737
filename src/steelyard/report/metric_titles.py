"""Metric titles: the metric that a row is about, and what it is called there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.metrics.registry import get_metric

if TYPE_CHECKING:
    from steelyard.evaluation.evaluation import Row
    from steelyard.metrics.metric import Metric

_AVERAGE = "[average="


def metric_of(row: Row) -> Metric:
    """The metric of a row, whose name may carry the way of averaging."""
    return get_metric(row.name.split(_AVERAGE)[0])


def row_title(row: Row) -> str:
    """The metric's title, with its way of averaging where it has one."""
    average = row.name.partition(_AVERAGE)[2].rstrip("]")
    return f"{metric_of(row).title}{f', {average}' if average else ''}"
