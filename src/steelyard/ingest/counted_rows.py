"""Counted rows: the result of a counting query, in which each line stands for a number of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.exceptions import InputError
from steelyard.ingest import queries
from steelyard.ingest.queries import KeyCounts, key_column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.ingest.source import ColumnNames, Source

COUNT_COLUMN, LOW_COLUMN, HIGH_COLUMN = "steelyard_rows", "steelyard_low", "steelyard_high"  # of the query


def holds_counts(source: Source) -> bool:
    """Whether the lines are those of a counting query."""
    return COUNT_COLUMN in source.parts[0].collect_schema()


def check_counted(source: Source, columns: ColumnNames) -> None:
    """Refuse what such lines do not hold."""
    beside = {"weight": columns.weight, "frequency": columns.frequency, "cost": columns.cost}
    for name in (name for name, given in beside.items() if given):
        raise InputError(f"{name}= is of rows, and these lines are counts without a {name}; leave it out.")
    if columns.score is not None and columns.pred:
        raise InputError("A counting query is of labels or of scores; name one of pred= and score=.")
    if columns.score is not None and LOW_COLUMN not in source.parts[0].collect_schema():
        raise InputError(
            "These lines count labels, not scores; print a query of scores with `steelyard sql --score`, or name the "
            "column of labels with pred=."
        )


def read_counts(source: Source, keys: Sequence[str], *, bins: bool = False) -> KeyCounts:
    """The keys of each line with its rows and, of scores, the lowest and highest of its bin."""
    names = [*keys, COUNT_COLUMN, *((LOW_COLUMN, HIGH_COLUMN) if bins else ())]
    columns = queries.fetch_columns(source, names)
    rows = np.array([_whole(value) for value in columns[COUNT_COLUMN].to_list()], dtype=np.int64)
    ends = [np.array([_number(value) for value in columns[name].to_list()]) for name in names[len(keys) + 1 :]]
    if any(not np.isfinite(end).all() for end in ends):
        bad = int(rows[~np.all([np.isfinite(end) for end in ends], axis=0)].sum())
        raise InputError(
            f"The query met scores that are not numbers (null, NaN or infinite) in bins of {bad:,} rows; a score is a "
            "finite number. Leave such rows out of the table that is counted."
        )
    low, high = ends or (None, None)
    return KeyCounts(tuple(key_column(columns[name].to_list()) for name in keys), rows, None, None, low, high)


def _whole(value: Any) -> int:
    number = _number(value)
    if not (number >= 0 and number.is_integer()):
        raise InputError(f"The column {COUNT_COLUMN!r} holds {value!r}; a number of rows is a whole number, 0 or more.")
    return int(number) if isinstance(value, str) and not value.strip().isdigit() else int(value)


def _number(value: Any) -> float:
    """The number of a cell, of whatever kind the client of a database gives it; NaN where there is none."""
    try:
        return float("nan" if value is None else value)
    except ValueError:
        return float("nan")
