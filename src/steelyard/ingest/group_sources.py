"""Sources of groups: the rows of each group of a frame, left where they are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from steelyard.exceptions import InputError
from steelyard.ingest.source import ColumnNames, Source, check_columns
from steelyard.statistics.group_keys import group_order

if TYPE_CHECKING:
    from steelyard._types import Labels

_MOST_GROUPS = 500  # of which each is read by itself


def group_sources(source: Source, true: str, by: tuple[str, ...]) -> dict[Labels, Source]:
    """The rows of each group by its key, in order."""
    import narwhals as nw

    check_columns(source, ColumnNames(true, by=by))
    keys: set[Labels] = set()
    for part in source.parts:
        keys |= set(part.select(*by).unique().collect().rows())
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
