"""Ordered classes: whether the truth of the rows to evaluate states an order of its classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.analysis.confusions.confused_pairs import ClassOrder
from steelyard.ingest import arrays
from steelyard.ingest.category_order import category_order, is_ordered

if TYPE_CHECKING:
    from steelyard._types import Labels
    from steelyard.evaluation.given_rows import GivenRows


def in_stated_order(given: GivenRows) -> tuple[GivenRows, ClassOrder]:
    """The rows, those of a frame with the order that its truth states and several scores brought, and who gave it."""
    if given.rows.labels is not None:
        return given.of_class_columns(), ClassOrder(declared=True)
    order = _stated_order(given)
    if order is not None and given.columns.true is not None:  # which counting the frame would lose
        given = given._replace(rows=given.rows._replace(labels=order))
    return given.of_class_columns(), ClassOrder(stated=order is not None)


def _stated_order(given: GivenRows) -> Labels | None:
    """The classes that occur, in the order that an ordered categorical of pandas or an Enum of Polars states."""
    data: Any = given.data
    truth, others = data, (given.y_pred,)
    if given.columns.true is not None:
        in_memory = type(data).__name__ == "DataFrame" and type(data).__module__.startswith(("pandas", "polars"))
        names = data.columns if in_memory else ()  # the columns of a lazy frame cost a query
        if given.columns.true not in names:
            return None
        truth = data[given.columns.true]
        others = (data[given.columns.pred] if given.columns.pred in names else None,)
    if not is_ordered(truth):
        return None
    columns = (arrays.column(column, "y_true") for column in (truth, *others) if column is not None)
    return category_order(truth, *columns)
