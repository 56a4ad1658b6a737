"""Row order: columns are used by position, so that those of one index in different orders are refused."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Protocol

from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard._types import Label


class RowIndex(Protocol):
    """The index of a series or frame of pandas and its like."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Label]: ...

    def equals(self, other: object) -> bool:
        """Whether the other index holds the same in the same order."""


def check_order(**columns: object) -> None:
    """Refuse columns that have the same index in different orders: by position, other rows would meet."""
    # By their attribute, not by the protocol: asking a protocol costs more than counting a hundred rows.
    given = [(name, values.index) for name, values in columns.items() if hasattr(values, "index")]
    indexes: list[tuple[str, RowIndex]] = [(name, index) for name, index in given if hasattr(index, "equals")]
    for name, index in indexes[1:]:
        first, other = indexes[0]
        if len(index) == len(other) and not index.equals(other) and Counter(index) == Counter(other):
            raise InputError(
                f"{first} and {name} have the same index in different orders, and rows are taken by position; give "
                f"{name}.reindex({first}.index), or both as .to_numpy() where they correspond row by row already."
            )
