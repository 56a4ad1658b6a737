"""The section of wrong rows: the first hundred of them, on a page that was asked to hold rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.analysis.results.formatting import cell_text
from steelyard.report.pages.document import clipped, rendered_html
from steelyard.report.pages.frame import Section

if TYPE_CHECKING:
    from steelyard.evaluation.error_rows import ErrorRows

MOST_ERRORS = 100  # rows that a page lists
_WIDEST = 60  # characters of a cell


def error_section(errors: ErrorRows) -> Section:
    """The wrong rows, as many as a page lists."""
    rows = [row.row() for row in errors.each[:MOST_ERRORS]]
    names = [name for name in dict.fromkeys(name for row in rows for name in row) if _is_given(rows, name)]
    cells = [[clipped(cell_text(name, row.get(name)), _WIDEST) for name in names] for row in rows]
    head = [clipped(name, _WIDEST) for name in names]
    return Section(rendered_html("errors.html", headline=errors.headline, head=head, rows=cells), holds_rows=True)


def _is_given(rows: list[dict[str, object]], name: str) -> bool:
    return any(row.get(name) is not None for row in rows)
