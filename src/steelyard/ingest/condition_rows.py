"""Rows of conditions: those of a frame that a slice or a group holds, by filters that run where the data live."""

from __future__ import annotations

import functools
import operator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.exceptions import InputError, InputTypeError, did_you_mean, first_ten
from steelyard.ingest import arrays, queries, text_cells
from steelyard.ingest.finite_numbers import is_number
from steelyard.ingest.label_tables import is_missing
from steelyard.ingest.source import check_kinds
from steelyard.statistics.condition import Conjunction
from steelyard.statistics.group_keys import group_order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import narwhals as nw

    from steelyard._types import Array, Label, Labels
    from steelyard.ingest.source import Source
    from steelyard.statistics.condition import Condition

_MOST_GROUPS = 500  # of which each is read by itself


def as_conjunction(slice_: str | Conjunction) -> Conjunction:
    """The conditions of a slice, of their text or as they are."""
    if isinstance(slice_, Conjunction):
        return slice_
    if not isinstance(slice_, str):
        raise InputTypeError(f"A slice is a text such as 'age >= 60 and site = B', not {slice_!r}.")
    return Conjunction.parse(slice_)


def check_features(source: Source, names: Sequence[str]) -> None:
    """Refuse a feature that is no column of the frame."""
    check_names(names, source.parts[0].collect_schema())


def check_names(names: Sequence[str], present: Iterable[str]) -> None:
    """Refuse the name of a column that is not there."""
    listed = list(present)
    for name in names:
        if name not in listed:
            raise InputError(f"There is no column {name!r}; there are {first_ten(listed)}.{did_you_mean(name, listed)}")


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
    read = text_cells.group_values(values) if source.textual else values
    there = {value for value in read if not is_missing(value)}
    return sorted(there, key=lambda value: (str(type(value)), value))


def feature_values(values: Array, textual: bool = False) -> Array:
    """A column of features: numbers as float64, NaN where one is missing, or levels as objects, None where one is.

    Text of a file is numbers or truth values where all of it is.
    """
    listed = values.tolist()
    values = np.empty(len(listed), dtype=object)
    values[:] = text_cells.group_values(listed) if textual else listed
    return _numbers_or_levels(values)


def _numbers_or_levels(values: Array) -> Array:
    """Levels with None for what is missing; numbers as such where all are."""
    missing = np.array([is_missing(value) for value in values.tolist()], dtype=bool)
    kinds = {type(value) for value in values[~missing].tolist()}
    if kinds and all(issubclass(kind, (int, float, np.number)) and not issubclass(kind, bool) for kind in kinds):
        return np.where(missing, np.nan, np.where(missing, 0, values).astype(np.float64))
    values[missing] = None
    if not all(issubclass(kind, (*arrays.TEXTS, bool, np.bool_, int, float)) for kind in kinds):
        raise InputTypeError("A feature holds values that are neither numbers, text nor booleans; convert them first.")
    return values


def expression(slice_: Conjunction, schema: nw.Schema) -> nw.Expr:
    """Whether a row lies in a slice, as an expression that filters a frame where it lives."""
    return functools.reduce(operator.and_, (condition_expression(each, schema) for each in slice_))


def condition_expression(condition: Condition, schema: nw.Schema) -> nw.Expr:
    """Whether one condition holds for a row; what is missing holds for no other condition than that."""
    import narwhals as nw

    column, kind = nw.col(condition.feature), schema[condition.feature]
    number = kind.is_numeric()
    there = is_number(column) if number else ~column.is_null()
    column = column.cast(nw.Float64) if number else column
    if condition.is_missing:
        return ~there
    condition = _as_held(condition, kind)
    if condition.is_range:
        ends = [column >= condition.low] if condition.low is not None else []
        ends += [column < condition.high] if condition.high is not None else []
        return functools.reduce(operator.and_, ends, there)
    if condition.others:
        return there & ~column.is_in(list(condition.others))
    return there & (column == condition.level)


def _as_held(condition: Condition, kind: nw.dtypes.DType) -> Condition:
    """The condition with levels as a column of this kind holds them; one of another kind is refused.

    Some engines would end in an error of their own, and others would compare a date with a number.
    """
    import narwhals as nw

    of_text = kind in (nw.String, nw.Categorical, nw.Enum)
    levels = [level for level in (condition.level, *condition.others) if level is not None]
    numbers = condition.is_range or any(map(_is_number, levels))
    text = any(isinstance(level, str) for level in levels)
    if kind.is_temporal():
        held, fits = "dates or times; make it numbers or text", False
    elif kind.is_numeric():
        held, fits = "numbers", not text
    elif kind == nw.Boolean:
        held, fits = "true and false", not text and not condition.is_range and all(level in (0, 1) for level in levels)
    else:  # categories of pandas may be numbers
        held, fits = "text", not (of_text and condition.is_range) and not (kind == nw.String and numbers)
    if not fits:
        asked = "numbers" if numbers and not text else "text" if text and not numbers else "levels"
        raise InputError(f"The condition '{condition}' is of {asked}, and {condition.feature!r} holds {held}.")
    written: Callable[[Any], Label] | None = None  # how the column has true, false, 1 and 0
    if kind == nw.Boolean:
        written = bool
    elif kind.is_numeric():
        written = float
    elif kind == nw.String:
        written = _as_text
    if written is None or condition.is_range:
        return condition
    level = None if condition.level is None else written(condition.level)
    return replace(condition, level=level, others=tuple(map(written, condition.others)))


def _as_text(level: Label) -> Label:
    """A level as text files have it."""
    return str(level).lower() if isinstance(level, bool) else level


def filtered_part(part: nw.LazyFrame[Any], slice_: Conjunction, textual: bool) -> nw.LazyFrame[Any]:
    """The rows of a slice; text is compared as numbers where a condition has them, and stays as it is."""
    import narwhals as nw

    if not textual:
        return part.filter(expression(slice_, part.collect_schema()))
    given = {name: f"as given: {name}" for name in slice_.features}
    names = part.collect_schema().names()
    part = with_numbers(part.with_columns(*(nw.col(name).alias(kept) for name, kept in given.items())), slice_)
    part = part.filter(expression(slice_, part.collect_schema()))
    return part.with_columns(*(nw.col(kept).alias(name) for name, kept in given.items())).select(*names)


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


# ---------------------------------------------------------------- groups


def group_sources(source: Source, true: str, by: tuple[str, ...]) -> dict[Labels, Source]:
    """The rows of each group by its key, in order."""
    import narwhals as nw

    check_kinds(source, values=[true, *by])
    keys: set[Labels] = set()
    for part in source.parts:
        keys |= set(queries.collect(part.select(*by).unique()).rows())
        if len(keys) > _MOST_GROUPS:
            raise InputError(f"There are more than {_MOST_GROUPS} groups, each of which is read by itself; name fewer.")
    return {
        key: replace(
            source,
            parts=tuple(
                part.filter(
                    *(
                        nw.col(name).is_null() if value is None else nw.col(name) == value
                        for name, value in zip(by, key, strict=True)
                    )
                )
                for part in source.parts
            ),
        )
        for key in sorted(keys, key=group_order)
    }
