"""Saved fields: the values of a JSON text and where they stand in it, so that a refusal can name the field."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

from steelyard.exceptions import InputError

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
_SHOWN = 40  # characters of a wrong value that a sentence quotes


@dataclass(frozen=True)
class SavedField:
    """A value and its place.

    >>> SavedField({"metrics": [{"value": "high"}]})["metrics"].each()[0]["value"].number()
    Traceback (most recent call last):
    steelyard.exceptions.InputError: In this JSON metrics[0].value is 'high', not a number; it was changed or truncated.
    """

    value: JsonValue
    path: str = ""

    def refused(self, expected: str) -> InputError:
        """The refusal of this value."""
        shown = repr(self.value)
        shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
        place = self.path or "the text"
        return InputError(f"In this JSON {place} is {shown}, not {expected}; it was changed or truncated.")

    def entries(self) -> dict[str, SavedField]:
        """The fields of an object."""
        if not isinstance(self.value, dict):
            raise self.refused("an object with fields")
        return {name: SavedField(value, self._below(name)) for name, value in self.value.items()}

    def _below(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path else name

    def __getitem__(self, name: str) -> SavedField:
        fields = self.entries()
        if name not in fields:
            raise InputError(f"This JSON lacks the field {self._below(name)}; it was changed or truncated.")
        return fields[name]

    def get(self, name: str) -> SavedField:
        """The field of an object, null where it is not there."""
        return self[name] if name in self.entries() else SavedField(None, self._below(name))

    def each(self) -> list[SavedField]:
        """The values of a list."""
        if not isinstance(self.value, list):
            raise self.refused("a list")
        return [SavedField(value, f"{self.path}[{i}]") for i, value in enumerate(self.value)]

    def each_or_none(self) -> list[SavedField]:
        """The values of a list; none for null."""
        return [] if self.value is None else self.each()

    def scalar(self) -> str | float | bool | None:
        """A text, a number, a boolean or null."""
        if isinstance(self.value, (list, dict)):
            raise self.refused("a single value")
        return self.value

    def text(self) -> str:
        """A text."""
        if not isinstance(self.value, str):
            raise self.refused("a text")
        return self.value

    def text_or_none(self) -> str | None:
        """A text, or None for null."""
        return None if self.value is None else self.text()

    def whole(self) -> int:
        """A whole number of 0 or more."""
        if not isinstance(self.value, int) or isinstance(self.value, bool) or self.value < 0:
            raise self.refused("a whole number of 0 or more")
        return self.value

    def flag(self) -> bool:
        """True or false."""
        if not isinstance(self.value, bool):
            raise self.refused("true or false")
        return self.value

    def number(self) -> float:
        """A number, NaN for null."""
        if self.value is None:
            return math.nan
        if not isinstance(self.value, (int, float)) or isinstance(self.value, bool):
            raise self.refused("a number")
        return float(self.value)

    def number_as_written(self) -> int | float:
        """A number, whole where it is written so."""
        return self.value if isinstance(self.value, int) and not isinstance(self.value, bool) else self.number()
