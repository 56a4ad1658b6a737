"""Rows of conditions: which rows of a frame a slice holds, as an array or as a filter that runs where the data live."""

from __future__ import annotations

import functools
import operator
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.exceptions import InputError, InputTypeError, did_you_mean, first_ten
from steelyard.ingest import arrays, csv_values, queries
from steelyard.ingest.finite_numbers import is_number
from steelyard.ingest.source import Source
from steelyard.statistics.condition import Conjunction

if TYPE_CHECKING:
    from collections.abc import Mapping

    import narwhals as nw

    from steelyard._types import Array, Frame
    from steelyard.statistics.condition import Condition


def rows_where(data: Frame | Source, slice_: str | Conjunction) -> Array:
    """Whether each row of a frame lies in a slice, in the order of the rows; the columns it reads are brought here.

    >>> import polars as pl
    >>> rows_where(pl.DataFrame({"age": [71, None, 64], "site": ["B", "B", "A"]}), "age >= 60 and site = B")
    array([ True, False, False])
    """
    conditions, source = as_conjunction(slice_), Source.of(data)
    check_features(source, conditions.features)
    columns = queries.fetch_columns(source, conditions.features)
    return mask({name: feature_values(columns[name], name, source.textual) for name in columns}, conditions)


def as_conjunction(slice_: str | Conjunction) -> Conjunction:
    """The conditions of a slice, of their text or as they are."""
    if isinstance(slice_, Conjunction):
        return slice_
    if not isinstance(slice_, str):
        raise InputTypeError(f"A slice is a text such as 'age >= 60 and site = B', not {slice_!r}.")
    return Conjunction.parse(slice_)


def check_features(source: Source, names: tuple[str, ...]) -> None:
    """Refuse a feature that is no column of the frame."""
    schema = source.parts[0].collect_schema()
    for name in names:
        if name not in schema:
            near = did_you_mean(name, schema)
            raise InputError(f"There is no column {name!r}; there are {first_ten(list(schema))}.{near}")


def empty_slice_sentence(source: Source, slice_: Conjunction) -> str:
    """That no row lies in a slice, and the levels that there are where it names another."""
    for condition in slice_:
        levels = [] if condition.level is None else _levels(source, condition.feature)
        if levels and condition.level not in levels:
            near = did_you_mean(str(condition.level), map(str, levels))
            return f"No row has {condition!r}; {condition.feature!r} holds {first_ten(levels)}.{near}"
    return f"No row meets {str(slice_)!r}; give conditions that some rows meet."


def _levels(source: Source, name: str) -> list[Any]:
    """The distinct values of a column that are there, in order."""
    parts = [queries.collect(part.select(name).unique()).get_column(name).to_list() for part in source.parts]
    values = [value for part in parts for value in part]
    read = csv_values.group_values(values) if source.textual else values
    there = {value for value in read if not is_missing_value(value)}
    return sorted(there, key=lambda value: (str(type(value)), value))


def feature_values(series: nw.Series[Any], name: str, textual: bool = False) -> Array:
    """A column of features: numbers as float64, NaN where one is missing, or levels as objects, None where one is."""
    import narwhals as nw

    kind = series.dtype
    if kind.is_numeric():
        return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    if kind.is_temporal() or kind.is_nested():
        raise InputTypeError(f"The feature {name!r} holds {kind} values; give numbers, text or booleans.")
    listed = series.to_list()
    values = np.empty(len(listed), dtype=object)
    values[:] = csv_values.group_values(listed) if textual else listed
    return _numbers_or_levels(values)


def _numbers_or_levels(values: Array) -> Array:
    """Levels with None for what is missing; numbers as such where all are."""
    missing = np.array([is_missing_value(value) for value in values.tolist()], dtype=bool)
    kinds = {type(value) for value in values[~missing].tolist()}
    if kinds and all(issubclass(kind, (int, float, np.number)) and not issubclass(kind, bool) for kind in kinds):
        return np.where(missing, np.nan, np.where(missing, 0, values).astype(np.float64))
    values[missing] = None
    if not all(issubclass(kind, (*arrays.TEXTS, bool, np.bool_, int, float)) for kind in kinds):
        raise InputTypeError("A feature holds values that are neither numbers, text nor booleans; convert them first.")
    return values


def is_missing_value(value: object) -> bool:
    """Whether a value is missing, whatever an engine calls it."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and isnan(value))


def mask(columns: Mapping[str, Array], slice_: Conjunction) -> Array:
    """Whether each row lies in a slice, by columns as `feature_values` gives them."""
    held = [_holds(columns[condition.feature], condition) for condition in slice_]
    return np.asarray(np.logical_and.reduce(held))


def _check_kind(condition: Condition, *, numbers: bool) -> None:
    """Refuse a condition on numbers of a column of levels, and one on a level of a column of numbers."""
    if not numbers and condition.is_range:
        raise InputError(f"The condition '{condition}' is of numbers, and {condition.feature!r} holds levels.")
    if numbers and any(isinstance(level, str) for level in (condition.level, *condition.others)):
        raise InputError(f"The condition '{condition}' is of a level, and {condition.feature!r} holds numbers.")


def _holds(values: Array, condition: Condition) -> Array:
    _check_kind(condition, numbers=values.dtype.kind == "f")
    if values.dtype.kind == "f":
        return _holds_number(values, condition)
    listed = values.tolist()
    if condition.is_missing:
        return np.array([value is None for value in listed], dtype=bool)
    if condition.others:
        return np.array([value is not None and value not in condition.others for value in listed], dtype=bool)
    return np.array([value == condition.level for value in listed], dtype=bool)


def _holds_number(values: Array, condition: Condition) -> Array:
    if condition.is_missing:
        return np.isnan(values)
    if condition.others:
        return ~np.isnan(values) & ~np.isin(values, np.array(condition.others, dtype=np.float64))
    if not condition.is_range:
        return np.asarray(values == condition.level)
    low, high = (end if end is not None else sign * np.inf for end, sign in ((condition.low, -1), (condition.high, 1)))
    return np.asarray((values >= low) & ((values < high) | ((high == np.inf) & (values == np.inf))))


def expression(slice_: Conjunction, schema: nw.Schema) -> nw.Expr:
    """Whether a row lies in a slice, as an expression that filters a frame where it lives."""
    return functools.reduce(operator.and_, (condition_expression(each, schema) for each in slice_))


def condition_expression(condition: Condition, schema: nw.Schema) -> nw.Expr:
    """Whether one condition holds for a row; what is missing holds for no other condition than that."""
    import narwhals as nw

    column = nw.col(condition.feature)
    number = schema[condition.feature].is_numeric()
    if schema[condition.feature] != nw.Object:  # which may hold either
        _check_kind(condition, numbers=number)
    there = is_number(column) if number else ~column.is_null()
    column = column.cast(nw.Float64) if number else column
    if condition.is_missing:
        return ~there
    if condition.is_range:
        ends = [column >= condition.low] if condition.low is not None else []
        ends += [column < condition.high] if condition.high is not None else []
        return functools.reduce(operator.and_, ends, there)
    if condition.others:
        return there & ~column.is_in(list(condition.others))
    return there & (column == condition.level)


def with_numbers(part: nw.LazyFrame[Any], slice_: Conjunction) -> nw.LazyFrame[Any]:
    """A part of a text file with the features that a slice compares with numbers as numbers; other text is missing."""
    import narwhals as nw
    import polars as pl

    compared = {each.feature for each in slice_ if each.is_range or any(map(_is_number, (each.level, *each.others)))}
    numbers = [pl.col(name).str.strip_chars().cast(pl.Float64, strict=False) for name in sorted(compared)]
    read: nw.LazyFrame[Any] = nw.from_native(part.to_native().lazy().with_columns(*numbers))
    return read


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
