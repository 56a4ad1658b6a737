"""Result view: any result as a headline and a table, for a notebook in its own colours, a page, or Markdown."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard._names import __version__
from steelyard.analysis.results.formatting import cell_text
from steelyard.analysis.results.result import Rows
from steelyard.report.markdown import escaped, markdown_table
from steelyard.report.pages.document import asset, clipped, document, rendered_html
from steelyard.report.pages.result_figures import result_figures
from steelyard.report.text import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.analysis.results.result import Result

_MOST_ROWS = 60  # of a table in a notebook; to_frame() has them all
_MIDDLES = ("threshold", "value", "difference", "mean", "gain")  # what an interval of low and high is around
_USUALLY = ("undefined_share", "undefined", "of_rows", "own")  # columns that are 0 or False unless something is amiss
_WIDE = 120  # of the picture of an interval, whose ends keep a margin of 4


@dataclass(frozen=True)
class Bar:
    """An interval as a picture shows it: where it begins, ends and has its value, and where 0 lies."""

    low: float
    high: float
    middle: float
    zero: float | None


@dataclass(frozen=True)
class ResultLine:
    """A row of the table: whether each cell is a number, its text, and the picture of its interval."""

    cells: Sequence[tuple[bool, str]]
    bar: Bar | None


def result_notebook(result: Result[Any]) -> str:
    """The result in the colours of the notebook that shows it: text escaped, no script, nothing from elsewhere."""
    return str(rendered_html("result.html", style=asset("result.css"), **_context(result, _MOST_ROWS)))


def result_page(result: Result[Any]) -> str:
    """The same as a file of its own, with all rows."""
    body = rendered_html("result.html", style="", **_context(result, None))
    return document(f"{_title(result)} · Steelyard", body, style=asset("result_page.css"))


def result_markdown(result: Result[Any], assumed: Sequence[str] = ()) -> str:
    """The headline, the table with all rows, the notes, and what was assumed."""
    tables = [_markdown(rows) for rows in (*result.shown_tables().values(), result.shown_rows()) if rows]
    return "\n\n".join(
        [*map(escaped, (result.headline, *result.lead)), *tables, *map(escaped, (*result.notes, *assumed))]
    )


def _markdown(rows: list[dict[str, Any]]) -> str:
    names, rows = _columns(rows)
    return markdown_table(names, ([_text(name, row.get(name)) for name in names] for row in rows))


def _context(result: Result[Any], most: int | None) -> dict[str, Any]:
    rows = result.shown_rows()
    tables = [_table(title, each, most) for title, each in (*result.shown_tables().items(), ("", rows)) if each]
    return {
        "title": "" if isinstance(result, Rows) else _title(result),
        "lead": [printable(sentence) for sentence in result.lead],
        "notes": [printable(note) for note in result.notes],
        "headline": printable(result.headline),
        "tables": tables,
        "figures": result_figures(result),
        "more": max(len(rows) - len(rows[:most]), 0),
        "wide": _WIDE,
        "version": __version__,
    }


def _table(title: str, rows: list[dict[str, Any]], most: int | None) -> dict[str, Any]:
    names, rows = _columns(rows)
    lines = [ResultLine(_cells(names, row), bar) for row, bar in zip(rows[:most], _bars(rows[:most]), strict=True)]
    return {"title": title.capitalize(), "names": [printable(name) for name in names], "lines": lines}


def _title(result: Result[Any]) -> str:
    return result.kind.replace("_", " ").capitalize()


def _columns(rows: list[dict[str, Any]]) -> tuple[list[str], list[dict[str, Any]]]:
    """The columns that say something, and the rows: not those without a value, nor that all of it is defined."""
    names = dict.fromkeys(name for row in rows for name in row)
    said = [name for name in names if any(row.get(name) is not None for row in rows)]
    return [name for name in said if name not in _USUALLY or any(row.get(name) for row in rows)], rows


def _cells(names: Sequence[str], row: dict[str, Any]) -> list[tuple[bool, str]]:
    return [(_is_number(row.get(name)), clipped(_text(name, row.get(name)), 200)) for name in names]


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def _text(name: str, value: Any) -> str:
    """A cell in the digits that stand everywhere; several values by commas, an array by its size."""
    match value:
        case np.ndarray() if value.ndim:
            return f"{value.size:,} values"
        case np.generic() | np.ndarray():
            return _text(name, value.item())
        case dict():
            return ", ".join(f"{key} {_text(key, item)}" for key, item in value.items() if item is not None)
        case list() | tuple():
            return ", ".join(_text(name, item) for item in value)
        case bool():
            return "yes" if value else "no"
    return printable(cell_text(name, value))


# ---------------------------------------------------------------- intervals


def _bars(rows: Sequence[dict[str, Any]]) -> list[Bar | None]:
    """The interval of each row on one scale: 0 to 1 where all lie there, else as wide as they are, 0 included."""
    spans = [_span(row) for row in rows]
    ends = [end for span in spans if span is not None for end in span]
    if not ends:
        return [None] * len(rows)
    least, most = min(0.0, *ends), max(1.0 if min(ends) >= 0 else 0.0, *ends)
    zero = _place(0.0, least, most) if least < 0 else None
    placed = ([_place(end, least, most) for end in span] if span else None for span in spans)
    return [None if places is None else Bar(places[0], places[1], places[2], zero) for places in placed]


def _span(row: dict[str, Any]) -> tuple[float, float, float] | None:
    """The low and the high end of a row's interval and the value inside it; None where it has none."""
    middle = next((row[name] for name in _MIDDLES if name in row), None)
    ends = [float(end) for end in (row.get("low"), row.get("high"), middle) if end is not None and _is_number(end)]
    return (ends[0], ends[1], ends[2]) if len(ends) == 3 and all(map(math.isfinite, ends)) else None


def _place(value: float, least: float, most: float) -> float:
    return round(4 + (_WIDE - 8) * (value - least) / (most - least), 2)
