"""Counted rows: the result of a counting query, in which each line stands for a number of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.exceptions import InputError
from steelyard.ingest import queries
from steelyard.ingest.queries import KeyCounts, key_column
from steelyard.ingest.source import COUNT_COLUMN

if TYPE_CHECKING:
    from collections.abc import Sequence

    import narwhals as nw
    import polars as pl

    from steelyard._types import Array
    from steelyard.ingest.source import ColumnNames, Source

LOW_COLUMN, HIGH_COLUMN = "steelyard_low", "steelyard_high"  # of the query
_MOST = 2.0**62  # rows, which a sum of lines may double
WEIGHT_COLUMN, SQUARE_COLUMN, REFUSED_COLUMN = "steelyard_weight", "steelyard_square", "steelyard_refused"


def check_counted(source: Source, columns: ColumnNames) -> None:
    """Refuse what such lines do not hold."""
    for name in (name for name, given in {"frequency": columns.frequency, "cost": columns.cost}.items() if given):
        raise InputError(f"{name}= is of rows, and these lines are counts without a {name}; leave it out.")
    schema = source.parts[0].collect_schema()
    if columns.weight is not None and WEIGHT_COLUMN not in schema:
        raise InputError(
            "weight= is of rows, and these lines are counts without weights; leave it out, or print the query with "
            "`steelyard sql --weight`."
        )
    if columns.weight is None and WEIGHT_COLUMN in schema:
        raise InputError("These lines are counts with weights; name the column of the weights with weight=.")
    if columns.score is not None and columns.pred:
        raise InputError("A counting query is of labels or of scores; name one of pred= and score=.")
    if columns.score is not None and LOW_COLUMN not in schema:
        raise InputError(
            "These lines count labels, not scores; print a query of scores with `steelyard sql --score`, or name the "
            "column of labels with pred=."
        )


def counted_keys(source: Source, keys: Sequence[str], columns: ColumnNames) -> KeyCounts:
    """How many rows each combination of keys has: the lines of a counting query are added, all others counted."""
    return read_counts(source, keys) if source.holds_counts else queries.sum_by_key(source, keys, columns)


def read_counts(source: Source, keys: Sequence[str], *, bins: bool = False) -> KeyCounts:
    """The keys of each line with its rows, its weight and, of scores, the lowest and highest of its bin."""
    weighted = WEIGHT_COLUMN in source.parts[0].collect_schema()
    ends = (LOW_COLUMN, HIGH_COLUMN) if bins else ()
    sums = (WEIGHT_COLUMN, SQUARE_COLUMN, REFUSED_COLUMN) if weighted else ()
    columns = queries.fetch_columns(source, [*keys, COUNT_COLUMN, *ends, *sums])
    rows = _whole(columns[COUNT_COLUMN])
    numbers = {name: _numbers(columns[name]) for name in (*ends, *sums)}
    if weighted:
        _check_weights(numbers, rows)
    bad = ~np.all([np.isfinite(numbers[name]) for name in ends], axis=0) if ends else np.zeros(len(rows), dtype=bool)
    if bad.any():
        raise InputError(
            f"The query met scores that are not numbers (null, NaN or infinite) in bins of {int(rows[bad].sum()):,} "
            "rows; a score is a finite number. Leave such rows out of the table that is counted."
        )
    if bins and (numbers[LOW_COLUMN] > numbers[HIGH_COLUMN]).any():
        raise InputError(
            "A line has a lowest score that is above its highest; give the result of the query as it came."
        )
    made = tuple(key_column(columns[name].to_list()) for name in keys)
    return KeyCounts(made, rows, *map(numbers.get, (WEIGHT_COLUMN, SQUARE_COLUMN, LOW_COLUMN, HIGH_COLUMN)))


def _check_weights(sums: dict[str, Array], rows: Array) -> None:
    """Refuse weights that were missing, negative or no numbers in the database."""
    bad = ~(np.isfinite(sums[WEIGHT_COLUMN]) & np.isfinite(sums[SQUARE_COLUMN]) & (sums[REFUSED_COLUMN] == 0))
    if bad.any():
        raise InputError(
            f"The query met weights that are missing, negative or not finite among {int(rows[bad].sum()):,} rows; a "
            "weight is a finite number, 0 or more. Leave such rows out of the table that is counted."
        )
    # By Cauchy and Schwarz, to the rounding of the database's sums; infinite squares were refused above.
    if (sums[SQUARE_COLUMN] * rows < sums[WEIGHT_COLUMN] ** 2 * (1 - 1e-9)).any():
        raise InputError(
            "A line has squares of weights that sum to less than its rows and weights allow; give the result of the "
            "query as it came."
        )
    if not len(rows):
        raise InputError("The query counted no row that has a weight; count a table with rows whose weight is above 0.")


def _whole(column: nw.Series[Any]) -> Array:
    """Numbers of rows, exact beyond 2**53 where they are whole numbers in the column or its text."""
    import narwhals as nw

    numbers = _numbers(column)
    bad = ~((numbers >= 0) & (numbers <= _MOST) & (numbers == np.floor(numbers)))
    if bad.any():
        value = column.to_list()[int(np.argmax(bad))]
        raise InputError(f"The column {COUNT_COLUMN!r} holds {value!r}; a number of rows is a whole number, 0 or more.")
    if column.dtype.is_integer() or column.dtype.is_decimal():
        return column.cast(nw.Int64).to_numpy()
    if column.dtype == nw.String:
        digits = _polars(column).cast(int, strict=False)  # nothing where it is spelled 3.0
        return np.where(digits.is_null(), numbers.astype(np.int64), digits.fill_null(0))
    return numbers.astype(np.int64)


def _numbers(column: nw.Series[Any]) -> Array:
    """The numbers of a column, of whatever kind the client of a database gives them; NaN where there are none."""
    import narwhals as nw

    if column.dtype.is_numeric():
        return np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
    if column.dtype == nw.String:
        return _polars(column).cast(float, strict=False).fill_null(np.nan).to_numpy()
    return np.array([_number(value) for value in column.to_list()], dtype=np.float64)


def _polars(column: nw.Series[Any]) -> pl.Series:
    return column.to_polars().str.strip_chars()


def _number(value: Any) -> float:
    """The number of an object, such as a decimal of Python."""
    try:
        return float("nan" if value is None else value)
    except (ValueError, TypeError):
        return float("nan")
