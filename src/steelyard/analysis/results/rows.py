"""Rows: what every analysis returns and every surface shows, readable as it is and as a frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from steelyard.analysis.results.formatting import cell_text
from steelyard.analysis.results.result import Each, Result
from steelyard.analysis.results.result_homes import result_class
from steelyard.analysis.results.text_table import text_table
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from steelyard.analysis.results.result_json import Writer


class Flat(Result[Any]):
    """A result that is one row, whose columns are its fields unless it says otherwise; a base of dataclasses.

    >>> from dataclasses import make_dataclass
    >>> make_dataclass("Pair", ["a", "b"], bases=(Flat,))(1, 2).row()
    {'a': 1, 'b': 2}
    """

    def row(self) -> dict[str, Any]:
        """The result as a row of a table."""
        return dict(vars(self))

    def __iter__(self) -> Iterator[Self]:
        yield self

    def shown_row(self) -> dict[str, Any]:
        """The row as people see it."""
        return self.row()

    def shown_rows(self) -> list[dict[str, Any]]:
        """Itself as people see it."""
        return [self.shown_row()]

    @classmethod
    def headline_of(cls, rows: Sequence[Any]) -> str:
        """Several of them in one sentence."""
        kind = cls.kind.replace("_", " ")
        return (
            f"{len(rows):,} {kind}"
            if len(rows) == 1
            else f"{len(rows):,} {kind.removesuffix('y')}{'ies' if kind[-1] == 'y' else 's'}"
        )


class Rows(list[Each], Result[Each]):  # type: ignore[misc]  # a list has no hash, and needs none
    """A list of results, each with a `row()`; prints as a table, and becomes a frame."""

    def __bool__(self) -> bool:
        return len(self) > 0

    def held(self, writer: Writer) -> dict[str, Any]:
        """The rows, and of which kind they are."""
        first = self[0] if self else None
        if isinstance(first, Flat):
            return {"of": first.kind, "rows": writer.written(list(self), "/rows")}
        return {"of": None, "rows": writer.written(self.to_dicts(), "/rows")}  # parts of a larger result

    @classmethod
    def from_held(cls, data: dict[str, Any]) -> Self:
        """The rows that were saved."""
        if data["rows"] and data["of"] is None:
            raise InputError("These rows are a part of a larger result; save and read that one.")
        each: Any = result_class(data["of"]) if data["rows"] else None  # the class of one row
        return cls(each.from_held(row) for row in data["rows"])

    @property
    def headline(self) -> str:
        """How many rows of what these are, or what their class says of several."""
        return type(self[0]).headline_of(self) if self and isinstance(self[0], Flat) else f"{len(self):,} rows"

    def shown_rows(self) -> list[dict[str, Any]]:
        """The rows as people see them."""
        return [row.shown_row() if isinstance(row, Flat) else row.row() for row in self]

    def __repr__(self) -> str:
        return table_text(self.to_dicts())


def table_text(rows: list[dict[str, Any]], emphasis: Callable[[str], str] = str, keys: int = 1) -> str:
    """Rows of dictionaries as a table that fits the terminal; columns without a value are left out.

    What is too wide is folded, with the first `keys` columns, which name a row, in every part.
    """
    every = dict.fromkeys(name for row in rows for name in row)
    names = [name for name in every if any(row.get(name) is not None for row in rows)]
    cells = [[cell_text(name, row.get(name)) for name in names] for row in rows]
    words = [i for i, name in enumerate(names) if i and any(isinstance(row.get(name), str) for row in rows)]
    return text_table(names, cells, wrap=words, keys=keys, emphasis=emphasis) if names else ""
