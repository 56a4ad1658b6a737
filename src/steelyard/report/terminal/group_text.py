"""Group text: groups compared, as a terminal shows them: the tests, the differences and the gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.analysis.results.formatting import LABEL_WIDTH
from steelyard.analysis.results.result import table_text
from steelyard.evaluation.group_thresholds import ROW_KEYS
from steelyard.report.terminal.layout import bold, clean_label, safe_paragraph

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.evaluation.compare_groups import GroupComparison
    from steelyard.evaluation.group_thresholds import GroupThresholds


def groups_text(comparison: GroupComparison, notes: Sequence[str]) -> str:
    """The headline, a table each, and what is noted."""
    tables = (comparison.test_rows(), comparison.shown_rows(), comparison.gap_rows())
    shown = [table_text([*map(_clean, rows)], bold) for rows in tables]
    return "\n\n".join(
        filter(None, [safe_paragraph(comparison.headline), *shown, "\n".join(map(safe_paragraph, notes))])
    )


def thresholds_text(thresholds: GroupThresholds, notes: Sequence[str]) -> str:
    """Thresholds of groups: the headline, the table and what is noted."""
    table = table_text([*map(_clean, thresholds.shown_rows())], bold, ROW_KEYS)
    return "\n\n".join([safe_paragraph(thresholds.headline), table, "\n".join(map(safe_paragraph, notes))])


def _clean(row: dict[str, Any]) -> dict[str, Any]:
    """A row whose words cannot steer a terminal."""
    return {key: clean_label(cell, 2 * LABEL_WIDTH) if isinstance(cell, str) else cell for key, cell in row.items()}
