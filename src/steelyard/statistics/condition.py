"""Conditions: what the rows of a slice have in common, such as "age >= 60 and site = B", written and read back."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.exceptions import InputError
from steelyard.statistics.label_kinds import parse_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard._types import Label, Labels

_TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|<=|>=|==|[<>=(),]|[^\s<>=(),"]+)')
_PLAIN = re.compile(r"[^\W\d][\w./%-]*")
_WORDS = ("and", "is", "in", "not", "missing", "or", "true", "false")
_EXPECTED = "write conditions such as 'age >= 60 and site = B', '40 <= age < 60', 'site is missing'"


@dataclass(frozen=True)
class Condition:
    """One condition on a feature: a level, numbers from `low` to below `high`, a missing value, or none of `others`.

    >>> Condition("age", low=40, high=60), Condition("site", level="B"), Condition("site", is_missing=True)
    (40 <= age < 60, site = B, site is missing)
    """

    feature: str
    low: float | None = None
    high: float | None = None
    level: Label = None
    others: Labels = ()
    is_missing: bool = False

    @property
    def is_range(self) -> bool:
        """Whether it is of numbers."""
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
            return Condition(_name(name), low=_number(low, text), high=_number(high, text))
        case [name, ">=", low]:
            return Condition(_name(name), low=_number(low, text))
        case [name, "<", high]:
            return Condition(_name(name), high=_number(high, text))
        case [name, "=" | "==", level]:
            return Condition(_name(name), level=_value(level))
        case [_, "<=" | ">", _] | [_, "<" | "<=", _, "<=", _]:
            raise InputError(f"The slice {text!r} has > or <= at the upper end; use >= and <, as bins have them.")
    raise InputError(f"The condition {' '.join(tokens)!r} cannot be read; {_EXPECTED}.")


def _name(token: str) -> str:
    return str(json.loads(token)) if token.startswith('"') else token


def _value(token: str) -> Label:
    if token.startswith('"'):
        return _name(token)
    value = parse_value(token)
    return token if value is None else value


def _number(token: str, text: str) -> float:
    try:
        value = float(token)
    except ValueError:
        value = math.nan
    if math.isnan(value):
        raise InputError(f"The slice {text!r} compares with {token!r}, which is no number; {_EXPECTED}.")
    return value
