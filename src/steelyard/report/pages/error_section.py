"""The section of wrong rows: the first hundred of them, on a page that was asked to hold rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.analysis.results.formatting import cell_text
from steelyard.report.pages.document import clipped, rendered_html
from steelyard.report.pages.frame import Section

if TYPE_CHECKING:
    from steelyard.evaluation.error_rows import ErrorRows

MOST_ERRORS = 100  # rows that a page lists, as many of each kind
_OPEN = 10  # of each kind; the others are folded
_WIDEST = 60  # characters of a cell


def error_section(errors: ErrorRows) -> Section:
    """The wrong rows by kind, as many as a page lists."""
    kinds = dict.fromkeys(row.kind for row in errors.each)
    rows = {kind: [row.row() for row in errors.each if row.kind == kind] for kind in kinds}
    share = MOST_ERRORS // max(1, len(rows))
    most = MOST_ERRORS - sum(min(len(each), share) for each in rows.values()) + share  # what one leaves, others take
    tables = {kind: _table(each[:most]) for kind, each in rows.items()}
    html = rendered_html("errors.html", headline=errors.headline, tables=tables, open=_OPEN)
    return Section(html, holds_rows=True)


def _table(rows: list[dict[str, object]]) -> tuple[list[str], list[list[str]]]:
    """The columns that hold anything, and their cells."""
    names = [name for name in dict.fromkeys(name for row in rows for name in row) if name != "error"]
    names = [name for name in names if any(row.get(name) is not None for row in rows)]
    cells = [[clipped(cell_text(name, row.get(name)), _WIDEST) for name in names] for row in rows]
    return [clipped(name, _WIDEST) for name in names], cells
