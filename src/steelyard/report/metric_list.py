"""Listing: the catalogue as a table for the terminal, as JSON and as Markdown."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from steelyard.analysis.rows import json_text, strict
from steelyard.report.terminal import print_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.metrics.metric import Metric


def bounds(measure: Metric) -> str:
    """The range as an interval: [0, 1], or [0, ∞) where an end is never reached."""
    low, high = measure.range
    return f"{'[' if math.isfinite(low) else '('}{number(low)}, {number(high)}{']' if math.isfinite(high) else ')'}"


def number(value: float | None) -> str:
    """A fact of the catalogue as a person writes it: 1, -1, ∞, a dash for none."""
    if value is None:
        return "–"
    return f"{'-' if value < 0 else ''}∞" if math.isinf(value) else f"{value:g}"


def _name(measure: Metric) -> str:
    return " ".join([measure.name, *(f"[{alias}]" for alias in measure.aliases)])


def table(measures: Sequence[Metric]) -> str:
    """The measures by family, for a terminal."""
    rows: list[list[str] | str] = []
    for measure in measures:
        if measure.family not in rows:
            rows.append(measure.family)
        rows.append([measure.name, bounds(measure), number(measure.best), measure.meaning])
    return print_table(["measure", "range", "best", "meaning"], rows)


def facts(measure: Metric) -> dict[str, Any]:
    """What the registry knows of one measure, as strict JSON values; an unbounded end is null."""
    return {
        "name": measure.name,
        "title": measure.title,
        "family": measure.family,
        "aliases": list(measure.aliases),
        "meaning": measure.meaning,
        "range": strict(measure.range),
        "best": strict(measure.best),
        "direction": measure.direction,
        "parameters": {key: getattr(value, "name", value) for key, value in measure.parameters.items()},
        "formula": measure.text,
        "latex": measure.latex,
        "javascript": measure.javascript,
        "undefined": [why for why, value in measure.guards if value == "undefined"],
        "cite": measure.cite,
    }


def json(measures: Sequence[Metric]) -> str:
    """The measures as a JSON list."""
    return json_text([facts(measure) for measure in measures], indent=1)


def md(measures: Sequence[Metric]) -> str:
    """The measures as a Markdown table."""
    lines = ["| measure | family | range | best | formula | meaning | source |", "|---|---|---|---|---|---|---|"]
    for m in measures:
        cells = [_name(m), m.family, bounds(m), number(m.best), f"`{m.text}`", m.meaning, m.cite or "–"]
        lines.append("| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |")
    return "\n".join(lines)
