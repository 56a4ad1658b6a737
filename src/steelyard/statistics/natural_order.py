"""Natural order: names in the order that people give them, day2 before day10."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

_DIGITS = re.compile(r"(\d+)")


def naturally_sorted(names: Iterable[Any]) -> list[Any]:
    """The names in order: text with the numbers in it read as numbers, all else as it compares.

    >>> naturally_sorted(["day10", "day2", "day1"])
    ['day1', 'day2', 'day10']
    """
    every = list(names)
    if all(isinstance(name, str) for name in every):
        return sorted(every, key=_key)
    try:
        return sorted(every)
    except TypeError:  # of several kinds: in the order that their texts have
        return sorted(every, key=lambda name: _key(str(name)))


def _key(name: str) -> tuple[list[tuple[str, int]], str]:
    """The parts of a name, text and numbers in turn, and at last the name itself."""
    parts = _DIGITS.split(name)
    return [(text, int(number)) for text, number in zip(parts[::2], [*parts[1::2], "-1"], strict=True)], name
