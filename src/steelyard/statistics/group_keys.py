"""Keys of groups: one value a column they are grouped by, in order, and the groups of two tallies under one key."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

from steelyard.statistics.label_kinds import number_texts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard._types import Label, Labels
    from steelyard.statistics.tally import Tally

_NUMBER = r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
_BIN = re.compile(  # as a Condition is written
    rf"(?:(?P<low>{_NUMBER}) <= )?(?P<name>\S.*?)(?: < {_NUMBER}| >= (?P<least>{_NUMBER}))"
)


def merge_groups(groups: Mapping[Labels, Tally], others: Mapping[Labels, Tally], columns: int) -> dict[Labels, Tally]:
    """The groups of two tallies in order, those of one key added up; numbers that meet text in a key are text."""
    listed = [*groups.items(), *others.items()]
    texts = [number_texts(key[i] for key, _ in listed) for i in range(columns)]
    merged: dict[Labels, Tally] = {}
    for key, group in listed:
        name = tuple(names.get(value, value) for names, value in zip(texts, key, strict=True))
        merged[name] = merged[name] + group if name in merged else group
    return {key: merged[key] for key in sorted(merged, key=group_order)}


def group_label(by: Sequence[str], key: Labels) -> str:
    """A group in words, as a slice has them; a bin of numbers names its column itself.

    >>> group_label(["site", "year"], ("north", 2024))
    'site = north, year = 2024'
    >>> group_label(["site", "age"], ("north", "34 <= age < 51"))
    'site = north, 34 <= age < 51'
    >>> group_label(["site", "age"], ("north", None))
    'site = north, age is missing'
    """
    return ", ".join(_words(name, value) for name, value in zip(by, key, strict=True))


def _words(name: str, value: Label) -> str:
    bin_ = _BIN.fullmatch(value) if isinstance(value, str) else None
    if bin_ is not None and bin_["name"] in (name, json.dumps(name, ensure_ascii=False)):
        return str(value)
    return f"{name} is missing" if value is None else f"{name} = {value}"


def group_order(key: Labels) -> list[tuple[bool, str, Any]]:
    """What the keys of groups are sorted by: their values, kind by kind, missing ones last."""
    return [(value is None, str(type(value)), _place(value)) for value in key]


def _place(value: Label) -> Any:
    """What a value is sorted by: a bin by its lower end, and so before all other text."""
    if not isinstance(value, str):
        return value
    bin_ = _BIN.fullmatch(value)
    low = -math.inf if bin_ is None else float(bin_["low"] or bin_["least"] or -math.inf)
    return bin_ is None, low, value
