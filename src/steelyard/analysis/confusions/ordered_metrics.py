"""Ordered metrics: those that read an order of the classes, and who gave it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from steelyard.exceptions import first_ten
from steelyard.metrics.registry import list_metrics, metrics_with_role
from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard.metrics.metric import Metric
    from steelyard.statistics.confusion import Confusion

_WEIGHTS = "weights"  # the parameter by which a metric of any classes reads their order
_USUAL = "quadratic"


class ClassOrder(NamedTuple):
    """Who gave the classes their order: labels=, an ordered categorical, or nobody."""

    declared: bool = False
    stated: bool = False

    def usual(self, table: Confusion | None) -> list[MetricSpec]:
        """The metrics of classes in order that are reported where the order is stated; of two classes none."""
        if not self.stated or table is None or len(table.labels) < 3:
            return []
        weighted = [metric.fixed(**{_WEIGHTS: _USUAL}) for metric in list_metrics() if _WEIGHTS in metric.parameters]
        return [MetricSpec(metric) for metric in (*weighted, *metrics_with_role("ordinal"))]

    def sentences(self, specs: Iterable[MetricSpec], table: Confusion | None) -> tuple[str, ...]:
        """In which order metrics that read one have taken the classes, and who gave it."""
        if table is None or len(table.labels) < 3 or not any(_reads_order(spec.metric) for spec in specs):
            return ()
        who = "their own order; labels= gives another"
        if self.declared or self.stated:
            who = "as labels= has them" if self.declared else "as the ordered categorical states"
        return (f"Metrics of ordered classes take them as {first_ten(table.labels)}, {who}.",)


def _reads_order(metric: Metric) -> bool:
    return "ordinal" in metric.roles or metric.parameters.get(_WEIGHTS) is not None
