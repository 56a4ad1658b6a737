"""Bad rows: which row of a file or frame is the first that cannot be counted, so that a refusal can name it."""

from __future__ import annotations

import csv
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.exceptions import InputError, InputTypeError
from steelyard.ingest import arrays, queries

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import polars as pl

    from steelyard.ingest.source import Source


_FIRST_LINE = 1 << 20  # bytes within which a header ends


def first_not_finite(source: Source, column: str) -> str:
    """The number of the first row whose score is not a finite number, where rows have an order."""
    import polars as pl

    if source.in_memory:
        scores = arrays.numbers(queries.fetch_columns(source, [column])[column].to_native(), f"The column {column!r}")
        return f", the first in row {int(np.flatnonzero(~np.isfinite(scores))[0]) + 1:,}"
    if not source.parts[0].implementation.is_polars():
        return ""
    first = _first(source, column, ~pl.col(column).cast(pl.Float64, strict=False).is_finite().fill_null(value=False))
    return "" if first is None else f", the first in row {first[0]:,}"


def _first(source: Source, column: str, bad: pl.Expr) -> tuple[int, Any] | None:
    """The first row, counted from 1, for which an expression of Polars holds, and its value."""
    import polars as pl

    offset, number = 0, f"row of {column}"
    for part in source.parts:
        rows = part.to_native().lazy().select(column)
        first = rows.with_row_index(number).filter(bad).head(1).collect(engine="streaming")
        if len(first):
            return offset + first[number].item() + 1, first[column].item()
        offset += rows.select(pl.len()).collect(engine="streaming").item()
    return None


@contextmanager
def naming_costs(name: str) -> Iterator[None]:
    """What is wrong with costs, which are counted as weights, is stated of costs, of arrays by this name."""
    try:
        yield
    except (InputError, InputTypeError) as error:
        said = str(error).replace("sample_weight", name).replace("a weight", "a cost")
        raise type(error)(said) from None


@contextmanager
def naming_bad_numbers(source: Source, *names: str | None) -> Iterator[None]:
    """Text where a text file should have numbers is refused by its row; engines name the value alone."""
    try:
        yield
    except Exception:
        if source.textual:
            for name in names:
                if name is not None:
                    _refuse_text(source, name)
        raise


def _refuse_text(source: Source, name: str) -> None:
    import polars as pl

    first = _first(source, name, pl.col(name).is_not_null() & pl.col(name).cast(pl.Float64, strict=False).is_null())
    if first is not None:
        row, value = first
        raise InputTypeError(f"The column {name!r} holds {value!r} in row {row:,}; a number was expected.") from None


def csv_header(path: Path, separators: str, name: str) -> tuple[str, list[str]]:
    """The separator of a CSV file, which makes most cells of its header and divides no quotes, and those cells."""
    with path.open("rb") as file:
        start = file.read(_FIRST_LINE)
    if b"\r" in start and b"\n" not in start:
        raise InputError(f"{name} ends its lines by a carriage return alone; save it with line feeds.")
    headers = [_header(path, separator, strict) for strict in (True, False) for separator in separators]
    cells = max(headers[: len(separators)], key=len)
    if len(cells) < 2:  # quotes may be followed by blanks, which only a lenient reader takes
        cells = max(headers[len(separators) :], key=len)
    twice = next((cell for cell, times in Counter(cells).items() if cell and times > 1), None)
    if twice is not None:
        raise InputError(f"{name} has two columns called {twice!r}; give each column its own name.")
    return separators[headers.index(cells) % len(separators)], cells


def _header(path: Path, separator: str, strict: bool) -> list[str]:
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        lines = csv.reader(file, delimiter=separator, skipinitialspace=True, strict=strict)
        try:
            return [cell.strip() for cell in next(lines, [])]
        except csv.Error:
            return []


def has_blank_lines(path: Path, separator: str, name: str) -> bool:
    """Whether a CSV file holds blank lines; a row of more or fewer cells than the header is refused by its number."""
    row, blank = 0, False
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        lines: Iterator[Sequence[str]] = csv.reader(file, delimiter=separator)
        try:
            width = len(next(lines))
            for cells in lines:
                blank, row = blank or not cells, row + bool(cells)
                if cells and len(cells) != width:
                    raise InputError(
                        f"{name} has {len(cells):,} cells in row {row:,} and {width:,} in its header; give every row "
                        f"as many, and quote cells that hold {separator!r}."
                    )
        except csv.Error as error:
            raise InputError(f"{name} cannot be read at row {row + 1:,}: {error}.") from None
    return blank
