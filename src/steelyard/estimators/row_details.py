"""Row details: the label of each row of features, with its weight, what errors on it cost, and its group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.thresholds.row_costs import COST_KEYS
from steelyard.exceptions import InputError, InputTypeError, did_you_mean
from steelyard.ingest import arrays
from steelyard.ingest.array_groups import group_places
from steelyard.ingest.label_tables import sorted_groups

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Features, Label
    from steelyard.analysis.thresholds.row_costs import CostsLike, ErrorCost


@dataclass(frozen=True, eq=False)
class RowDetails:
    """The labels of rows, their weights, what errors on them cost, and the value that each is grouped by."""

    y: Array
    weight: Array | None = None
    costs: CostsLike | None = None
    groups: Array | None = None

    def take(self, places: Array) -> RowDetails:
        """Some of the rows."""
        costs = None if self.costs is None else {key: _taken(cost, places) for key, cost in self.costs.items()}
        weight, groups = (None if column is None else column[places] for column in (self.weight, self.groups))
        return RowDetails(self.y[places], weight, costs, groups)


def _taken(cost: ErrorCost, places: Array) -> ErrorCost:
    return np.asarray(cost)[places] if np.ndim(cost) else cost


def groups_of(values: Array) -> dict[Label, Array]:
    """The places of the rows of each group, in the order of the groups; a missing value is a group, None."""
    places = group_places({"by": values})
    return {key[0]: places[key] for key in sorted_groups(key for key in places if key)}


def costs_of(costs: CostsLike | None, by_row: Mapping[str, ArrayLike], X: Features, rows: int) -> CostsLike | None:
    """Costs, with those that fit was given by row, and arrays in the place of the names of columns of X."""
    for key in by_row:
        if key not in COST_KEYS:
            raise InputTypeError(
                f"fit takes X, y, sample_weight and, one value per row, {', '.join(COST_KEYS)}; {key!r} is none of "
                f"them.{did_you_mean(key, COST_KEYS)}"
            )
    read: dict[str, ErrorCost] = {}
    for key, cost in {**(costs or {}), **by_row}.items():
        otherwise = "give fit the costs themselves, one a row"
        read[key] = column_of(X, cost, key, otherwise) if isinstance(cost, str) else cost
        if np.ndim(read[key]) and len(np.asarray(read[key])) != rows:
            raise InputError(f"{key} has {len(np.asarray(read[key])):,} values, and X {rows:,} rows; give one a row.")
    return read or None


def column_of(X: Features, column: str | int, use: str, otherwise: str) -> Array:
    """A column of rows of features, by the name that it has in a frame or by its position."""
    import narwhals as nw

    frame: Any = nw.from_native(X, eager_only=True, pass_through=True)
    names = list(frame.columns) if isinstance(frame, nw.DataFrame) else None
    if isinstance(column, str):
        if names is None:
            raise InputTypeError(f"{use} names the column {column!r}, and X is no frame; give one, or {otherwise}.")
        if column not in names:
            raise InputError(f"X has no column {column!r} ({use}).{did_you_mean(column, map(str, names))}")
        return arrays.column(frame.get_column(column).to_native(), use)
    try:
        return _of_matrix(X, column) if names is None else arrays.column(frame[:, column].to_native(), use)
    except IndexError:
        raise InputError(f"X has no column at position {column} ({use}); the first is 0.") from None


def _of_matrix(X: Features, position: int) -> Array:
    """A column of an array, a list of rows or a sparse matrix."""
    if hasattr(X, "tocsc"):
        return np.asarray(X.tocsc()[:, [position]].toarray()).ravel()
    return np.asarray(X)[:, position]
