"""Numeric text: columns of text most of whose cells are numbers, and the cell that keeps them from being numbers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from steelyard.exceptions import InputTypeError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard._types import Array, Label

MOST = 0.9  # of the cells that are not missing; categories and codes that mix digits and letters have fewer numbers
_NUMBER = re.compile(r"\s*[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|inf|infinity)\s*", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"\s*[+-]?(?:\d+(?:\.\d{3})*)?,\d+(?:[eE][+-]?\d+)?\s*")


def check_numeric_text(columns: Mapping[str, Array]) -> None:
    """Refuse columns of text that are numbers but for some cells: as text they would change what a model learns."""
    for name, column in columns.items():
        if column.dtype.kind in "UOT":
            _check_cells(column.tolist(), name)


def _check_cells(cells: Sequence[Label], name: str) -> None:
    present = [(row, cell) for row, cell in enumerate(cells, 1) if cell is not None and cell == cell]  # noqa: PLR0124 - NaN
    others = [(row, cell) for row, cell in present if not _is_number(cell)]
    words = sum(not _DECIMAL_COMMA.fullmatch(str(cell)) for _, cell in others)
    if others and len(present) - words >= MOST * len(present):
        way = "Mend the cell or leave it empty; where these are categories, give all of them a letter."
        raise InputTypeError(cell_sentence(name, *others[0], way))


def first_other_text(column: Array) -> tuple[int, str] | None:
    """The first row, counted from 1, whose cell is text and no number, and that cell; None where there is none."""
    cells = enumerate(column.tolist() if column.dtype.kind in "UOT" else (), 1)
    return next(((row, cell) for row, cell in cells if isinstance(cell, str) and not _is_number(cell)), None)


def cell_sentence(name: str, row: int, cell: Label, way: str) -> str:
    """The refusal of a cell in a column of numbers, with the way out."""
    given = f"The column {name!r} holds {cell!r} in row {row:,}"
    if _DECIMAL_COMMA.fullmatch(str(cell)):
        return f"{given}, a number with a decimal comma; write numbers with a point, such as 1.5."
    return f"{given}; a number was expected. {way}"


def _is_number(cell: Label) -> bool:
    return _NUMBER.fullmatch(cell) is not None if isinstance(cell, str) else isinstance(cell, (int, float))
