"""Bars on a terminal: a metric over its range with its interval, and a stroke at the no-skill baseline."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from steelyard.analysis.results.formatting import terminal_width
from steelyard.report.terminal.layout import coloured

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.evaluation.evaluation import MetricRow

_BAR_CELLS, _LEAST_BAR_CELLS = 20, 10


def bar_cells(rows: Sequence[MetricRow]) -> int:
    """How long the bars are beside the names and the numbers; reasons are words and wrap."""
    beside = [
        [row.name for row in rows],
        ["value", *(row.text(row.value) for row in rows)],
        [
            "95 % interval",
            *(row.interval_or_reason() for row in rows if not math.isnan(row.value) and not row.no_interval),
        ],
        ["chance", *(row.text(row.chance) for row in rows)],
    ]
    room = terminal_width() - sum(max(map(len, texts)) + 2 for texts in beside)
    return min(room, _BAR_CELLS) if room >= _LEAST_BAR_CELLS else 0


def metric_bar(row: MetricRow, size: int) -> str:
    """Cells over the range of the metric: the interval drawn, the value in it, chance as a stroke."""
    low, high = row.spec.metric.range
    if not size or not (math.isfinite(low) and math.isfinite(high)) or math.isnan(row.value):
        return ""
    cells = ["·"] * size

    def place(value: float) -> int:
        return min(max(int((value - low) / (high - low) * size), 0), size - 1)

    if math.isfinite(row.low) and math.isfinite(row.high):
        for i in range(place(row.low), place(row.high) + 1):
            cells[i] = "━"
    if math.isfinite(row.chance):
        cells[place(row.chance)] = "┃" if cells[place(row.chance)] == "━" else "|"
    cells[place(row.value)] = "●"
    return re.sub("[━┃●]+", lambda drawn: coloured(drawn[0]), "".join(cells))
