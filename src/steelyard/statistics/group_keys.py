"""Keys of groups: one value a column they are grouped by, in order, and the groups of two tallies under one key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.statistics.label_kinds import number_texts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard._types import Labels
    from steelyard.statistics.tally import Tally


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
    """A group in words.

    >>> group_label(["site", "year"], ("north", 2024))
    'site = north, year = 2024'
    """
    return ", ".join(f"{name} = {'–' if value is None else value}" for name, value in zip(by, key, strict=True))


def group_order(key: Labels) -> list[tuple[bool, str, Any]]:
    """What the keys of groups are sorted by: their values, kind by kind, missing ones last."""
    return [(value is None, str(type(value)), value) for value in key]
