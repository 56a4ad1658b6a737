"""Conditions: what the rows of a slice have in common, such as "age >= 60", and these rows of a frame."""

from __future__ import annotations

import functools
import json
import math
import operator
import re
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.arrays import checks
from steelyard.arrays.labels import parse_value
from steelyard.exceptions import InputError, InputTypeError, did_you_mean, first_ten
from steelyard.frames import decoding, queries
from steelyard.frames.decoding import is_missing
from steelyard.frames.queries import is_number
from steelyard.frames.source import check_kinds
from steelyard.tables.tally import group_order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import narwhals as nw

    from steelyard._types import Array, Label, Labels
    from steelyard.frames.source import Source


_TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|\'[^\']*\'(?![^\s<>=(),])|<=|>=|==|[<>=(),]|[^\s<>=(),"]+)')
_PLAIN = re.compile(r"[^\W\d][\w./%-]*")
_WORDS = ("and", "is", "in", "not", "missing", "or", "true", "false")
_EXPECTED = (
    "write conditions such as 'age >= 60 and site = B', '40 <= age < 60', 'site is missing', 'day >= 2026-03-01'"
)


@dataclass(frozen=True)
class Condition:
    """One condition on a feature: a level, from `low` to below `high` (numbers or dates), missing, or none of `others`.

    >>> Condition("age", low=40, high=60), Condition("site", level="B"), Condition("site", is_missing=True)
    (40 <= age < 60, site = B, site is missing)
    """

    feature: str
    low: float | datetime | None = None
    high: float | datetime | None = None
    level: Label = None
    others: Labels = ()
    is_missing: bool = False

    @property
    def is_range(self) -> bool:
        """Whether it is of numbers or dates."""
        return self.low is not None or self.high is not None

    def __repr__(self) -> str:
        name = _written(self.feature)
        if self.is_missing:
            return f"{name} is missing"
        if self.others:
            return f"{name} not in ({', '.join(map(_written, self.others))})"
        if not self.is_range:
            return f"{name} = {_written(self.level)}"
        if self.low is None or self.high is None:
            return f"{name} < {_written(self.high)}" if self.low is None else f"{name} >= {_written(self.low)}"
        return f"{_written(self.low)} <= {name} < {_written(self.high)}"


@dataclass(frozen=True)
class Conjunction:
    """The conditions of a slice, all of which hold for its rows.

    >>> Conjunction.parse('age >= 60 and site = "North Bay" and 1 <= dose < 2.5')
    age >= 60 and site = "North Bay" and 1 <= dose < 2.5
    """

    conditions: tuple[Condition, ...]

    @classmethod
    def parse(cls, text: str) -> Conjunction:
        """The conditions that a text states; each is read back as it is printed."""
        tokens = _tokens(text)
        parts: list[list[str]] = [[]]
        for token in tokens:
            if token == "and":  # noqa: S105 - a word, no password
                parts.append([])
            else:
                parts[-1].append(token)
        return cls(tuple(_condition(part, text) for part in parts))

    @property
    def features(self) -> tuple[str, ...]:
        """The columns that are read."""
        return tuple(dict.fromkeys(condition.feature for condition in self.conditions))

    def __iter__(self) -> Iterator[Condition]:
        return iter(self.conditions)

    def __len__(self) -> int:
        return len(self.conditions)

    def __repr__(self) -> str:
        return " and ".join(map(repr, self.conditions))


def _written(value: object) -> str:
    """A name, a level or a number as text that is read back as the same."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return value.isoformat().removesuffix("T00:00:00")
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if not isinstance(value, str):
        return str(value)
    plain = _PLAIN.fullmatch(value) and value.lower() not in (*_WORDS, "nan", "inf", "infinity")
    return value if plain else json.dumps(value, ensure_ascii=False)


def _tokens(text: str) -> list[str]:
    tokens, place = [], 0
    for match in _TOKEN.finditer(text):
        if match.start() != place:
            break
        tokens.append(match[1])
        place = match.end()
    if text[place:].strip() or not tokens:
        raise InputError(f"The slice {text!r} cannot be read; {_EXPECTED}.")
    return tokens


def _condition(tokens: list[str], text: str) -> Condition:
    match tokens:
        case [name, "is", "missing"]:
            return Condition(_name(name), is_missing=True)
        case [name, "not", "in", "(", *levels, ")"] if levels and all(sign == "," for sign in levels[1::2]):
            return Condition(_name(name), others=tuple(_value(level) for level in levels[::2]))
        case [low, "<=", name, "<", high]:
            return Condition(_name(name), low=_end(low, text), high=_end(high, text))
        case [name, ">=", low]:
            return Condition(_name(name), low=_end(low, text))
        case [name, "<", high]:
            return Condition(_name(name), high=_end(high, text))
        case [name, "=" | "==", level]:
            return Condition(_name(name), level=_value(level))
        case [_, "<=" | ">", _] | [_, "<" | "<=", _, "<=", _]:
            raise InputError(f"The slice {text!r} has > or <= at the upper end; use >= and <, as bins have them.")
    raise InputError(f"The condition {' '.join(tokens)!r} cannot be read; {_EXPECTED}.")


def _name(token: str) -> str:
    if token.startswith("'") and token.endswith("'") and len(token) > 1:
        return token[1:-1]
    return str(json.loads(token)) if token.startswith('"') else token


def _value(token: str) -> Label:
    if token != _name(token):  # in quotation marks
        return _name(token)
    value = parse_value(token)
    return token if value is None else value


def _end(token: str, text: str) -> float | datetime:
    """An end of a range: a number, or a date as ISO 8601 writes it."""
    try:
        value = float(token)
    except ValueError:
        if (moment := _moment(token)) is not None:
            return moment
        value = math.nan
    if math.isnan(value):
        raise InputError(f"The slice {text!r} compares with {token!r}, which is no number or date; {_EXPECTED}.")
    return value


def _moment(value: object) -> datetime | None:
    """A date or time of its text without a time zone; None of anything else."""
    try:
        moment = datetime.fromisoformat(value if isinstance(value, str) else "")
    except ValueError:
        return None
    return moment if moment.tzinfo is None else None


# ---------------------------------------------------------------- condition rows


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
    read = decoding.group_values(values) if source.textual else values
    there = {value for value in read if not is_missing(value)}
    return sorted(there, key=lambda value: (str(type(value)), value))


def feature_values(values: Array, textual: bool = False) -> Array:
    """A column of features: numbers as float64, NaN where one is missing, or levels as objects, None where one is.

    Text of a file is numbers or truth values where all of it is.
    """
    listed = values.tolist()
    values = np.empty(len(listed), dtype=object)
    values[:] = decoding.group_values(listed) if textual else listed
    return _numbers_or_levels(values)


def _numbers_or_levels(values: Array) -> Array:
    """Levels with None for what is missing; numbers as such where all are."""
    missing = np.array([is_missing(value) for value in values.tolist()], dtype=bool)
    kinds = {type(value) for value in values[~missing].tolist()}
    if kinds and all(issubclass(kind, (int, float, np.number)) and not issubclass(kind, bool) for kind in kinds):
        return np.where(missing, np.nan, np.where(missing, 0, values).astype(np.float64))
    values[missing] = None
    if not all(issubclass(kind, (*checks.TEXTS, bool, np.bool_, int, float)) for kind in kinds):
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

    if kind == nw.Date or (isinstance(kind, nw.Datetime) and kind.time_zone is None):
        return _of_moments(condition, of_days=kind == nw.Date)
    of_text = kind in (nw.String, nw.Categorical, nw.Enum)
    levels = [level for level in (condition.level, *condition.others) if level is not None]
    dates = any(isinstance(end, datetime) for end in (condition.low, condition.high))
    numbers = (condition.is_range and not dates) or any(map(_is_number, levels))
    text = any(isinstance(level, str) for level in levels)
    if kind == nw.Object and (condition.is_range or any(map(_moment, levels))):
        held, fits = "objects of Python; make them dates, numbers or text", False
    elif kind.is_temporal():
        held, fits = "times of a day or of a time zone; make them dates, numbers or text", False
    elif dates:
        held, fits = "text; make it dates" if of_text else "no dates", False
    elif kind.is_numeric():
        held, fits = "numbers", not text
    elif kind == nw.Boolean:
        held, fits = "true and false", not text and not condition.is_range and all(level in (0, 1) for level in levels)
    else:  # categories of pandas may be numbers
        held, fits = "text", not (of_text and condition.is_range) and not (kind == nw.String and numbers)
    if not fits:
        asked = (
            "dates" if dates else "numbers" if numbers and not text else "text" if text and not numbers else "levels"
        )
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


def _of_moments(condition: Condition, *, of_days: bool) -> Condition:
    """The condition on a column of dates or times, with its ends and levels as such a column holds them."""

    def held(value: Any) -> Any:
        moment = value if value is None or isinstance(value, datetime) else _moment(value)
        if moment is None and value is not None:
            of = f"The condition '{condition}' is no date, and {condition.feature!r} holds dates"
            raise InputError(f"{of}; write them as in 'day >= 2026-03-01'.")
        return moment.date() if moment is not None and of_days else moment

    ends = {name: held(getattr(condition, name)) for name in ("low", "high", "level")}
    return replace(condition, **ends, others=tuple(map(held, condition.others)))


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

    compared = {
        each.feature
        for each in slice_
        if _is_number(each.low) or _is_number(each.high) or any(map(_is_number, (each.level, *each.others)))
    }
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
