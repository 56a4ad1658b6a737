"""Rows: what every analysis returns and every surface shows, readable as it is and as a frame."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from steelyard.analysis.formatting import cell_text
from steelyard.errors import InputTypeError


class _Row(Protocol):
    """A result that is one row of a table."""

    def row(self) -> dict[str, Any]:
        """The values by column."""


class Flat:
    """A result whose columns are its fields; a base of dataclasses.

    >>> from dataclasses import make_dataclass
    >>> make_dataclass("Pair", ["a", "b"], bases=(Flat,))(1, 2).row()
    {'a': 1, 'b': 2}
    """

    def row(self) -> dict[str, Any]:
        """The result as a row of a table."""
        return dict(vars(self))


Each = TypeVar("Each", bound=_Row)


class Rows(list[Each]):
    """A list of results, each with a `row()`; prints as a table, and becomes a frame."""

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dictionary a row."""
        return [item.row() for item in self]

    def to_frame(self, library: str | None = None) -> Any:
        """A data frame of pandas or Polars: the named one, or the first that is installed."""
        for name in [library] if library else ["pandas", "polars"]:
            try:
                return __import__(str(name)).DataFrame(self.to_dicts())
            except ImportError:
                continue
        raise InputTypeError(f"A frame needs {library or 'pandas or polars'} installed; to_dicts() needs nothing.")

    def __repr__(self) -> str:
        return table_text(self.to_dicts())


def table_text(rows: list[dict[str, Any]]) -> str:
    """Rows of dictionaries as aligned text; columns without a value are left out."""
    every = dict.fromkeys(name for row in rows for name in row)
    names = [n for n in every if any(row.get(n) is not None for row in rows)]
    cells = [[cell_text(name, row.get(name)) for name in names] for row in rows]
    widths = [max(len(name), *(len(row[i]) for row in cells)) for i, name in enumerate(names)]
    lines = [names, *cells]
    return "\n".join(
        "  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths, strict=True)))
        for line in lines
    )
