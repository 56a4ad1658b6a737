"""Category order: the order of classes that a categorical column of pandas or an Enum of Polars states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.ingest.arrays import categorical

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Array, Label, Labels


def is_ordered(values: ArrayLike) -> bool:
    """Whether this is a pandas categorical that states an order of its categories, or an Enum of Polars."""
    return _declared(values) is not None


def category_order(values: ArrayLike, *columns: Array) -> Labels | None:
    """The categories that occur, in the order that a categorical column declares; None where it declares none."""
    if (declared := _declared(values)) is None:
        return None
    present = {label for column in columns for label in set(column.tolist())}
    ordered = tuple(label for label in declared if label in present)
    return ordered if len(ordered) > 1 and present <= {*ordered} else None


def _declared(values: ArrayLike) -> list[Label] | None:
    """All categories in their order."""
    kind: Any = getattr(values, "dtype", None)
    if type(values).__module__.partition(".")[0] == "polars" and type(kind).__name__ == "Enum":
        listed: list[Label] = kind.categories.to_list()
        return listed
    given = categorical(values)
    return np.asarray(given.categories).tolist() if given is not None and given.ordered else None
