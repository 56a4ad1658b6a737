"""Error text: wrong rows as a terminal lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.analysis.results.formatting import LABEL_WIDTH, cell_text
from steelyard.report.terminal.layout import clean_label, print_table, safe_paragraph

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.evaluation.error_rows import ErrorRows


def errors_text(errors: ErrorRows, notes: Sequence[str]) -> str:
    """The headline, the rows, and what is noted."""
    rows = errors.to_dicts()
    names = [name for name in dict.fromkeys(name for row in rows for name in row) if _is_given(rows, name)]
    cells = [[clean_label(cell_text(name, row.get(name)), LABEL_WIDTH) for name in names] for row in rows]
    table = print_table([clean_label(name) for name in names], cells) if rows else ""
    parts = [safe_paragraph(errors.headline), table, "\n".join(map(safe_paragraph, notes))]
    return "\n\n".join(filter(None, parts))


def _is_given(rows: Sequence[dict[str, object]], name: str) -> bool:
    return any(row.get(name) is not None for row in rows)
