"""Ordered classes: whether the truth states an order of its classes, and the metrics that read one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from steelyard.errors import first_ten
from steelyard.ingest import arrays
from steelyard.metrics.registry import list_metrics, metrics_with_role
from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard._types import Labels
    from steelyard.evaluation.given_rows import GivenRows
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


def in_stated_order(given: GivenRows) -> tuple[GivenRows, ClassOrder]:
    """The rows, those of a frame with the order that its truth states and several scores brought, and who gave it."""
    if given.rows.labels is not None:
        return given.of_class_columns(), ClassOrder(declared=True)
    order = _stated_order(given)
    if order is not None and given.columns.true is not None:  # which counting the frame would lose
        given = given._replace(rows=given.rows._replace(labels=order))
    return given.of_class_columns(), ClassOrder(stated=order is not None)


def _stated_order(given: GivenRows) -> Labels | None:
    """The classes that occur, in the order that an ordered pandas categorical states; None where none does."""
    data: Any = given.data
    truth, others = data, (given.y_pred,)
    if given.columns.true is not None:
        if type(data).__module__.partition(".")[0] != "pandas" or given.columns.true not in data:
            return None
        truth, others = data[given.columns.true], (data.get(given.columns.pred),)
    if not arrays.is_ordered(truth):
        return None
    columns = (arrays.column(column, "y_true") for column in (truth, *others) if column is not None)
    return arrays.category_order(truth, *columns)
