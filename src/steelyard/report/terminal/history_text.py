"""Terminal history: the evaluations of a ledger as one table, from the first to the last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.analysis.results.result import table_text
from steelyard.report.terminal.layout import bold, clean_label, safe_paragraph, without_controls

if TYPE_CHECKING:
    from steelyard.ledger.history import History

_TAGS_WIDTH = 40


def history_text(history: History) -> str:
    """How many evaluations there are, each in one line with its tags and metrics, and what to do next."""
    rows = [
        {
            name: clean_label(cell, _TAGS_WIDTH) if name == "tags" else without_controls(str(cell))
            for name, cell in row.items()
        }
        for row in history.shown_rows()
    ]
    last = (
        [f"Next: steelyard diff {' '.join(row['id'] for row in rows[-2:])} compares the last two."]
        if len(rows) > 1
        else []
    )
    parts = [bold(safe_paragraph(history.headline)), table_text(rows, bold)]
    return "\n\n".join(part for part in (*parts, "\n".join(map(safe_paragraph, (*history.notes, *last)))) if part)
