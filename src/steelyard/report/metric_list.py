"""Listing: the catalogue as a table for the terminal, as JSON and as Markdown."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from steelyard.analysis.rows import json_text, strict
from steelyard.report.terminal import print_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.metrics.metric import Metric


def bounds(metric: Metric) -> str:
    """The range as an interval: [0, 1], or [0, ∞) where an end is never reached."""
    low, high = metric.range
    return f"{'[' if math.isfinite(low) else '('}{number(low)}, {number(high)}{']' if math.isfinite(high) else ')'}"


def number(value: float | None) -> str:
    """A fact of the catalogue as a person writes it: 1, -1, ∞, a dash for none."""
    if value is None:
        return "–"
    return f"{'-' if value < 0 else ''}∞" if math.isinf(value) else f"{value:g}"


def _name(metric: Metric) -> str:
    return " ".join([metric.name, *(f"[{alias}]" for alias in metric.aliases)])


def table(metrics: Sequence[Metric]) -> str:
    """The metrics by family, for a terminal."""
    rows: list[list[str] | str] = []
    for metric in metrics:
        if metric.family not in rows:
            rows.append(metric.family)
        rows.append([metric.name, bounds(metric), number(metric.best), metric.meaning])
    return print_table(["metric", "range", "best", "meaning"], rows)


def facts(metric: Metric) -> dict[str, Any]:
    """What the registry knows of one metric, as strict JSON values; an unbounded end is null."""
    return {
        "name": metric.name,
        "title": metric.title,
        "family": metric.family,
        "aliases": list(metric.aliases),
        "meaning": metric.meaning,
        "range": strict(metric.range),
        "best": strict(metric.best),
        "direction": metric.direction,
        "parameters": {key: getattr(value, "name", value) for key, value in metric.parameters.items()},
        "formula": metric.text,
        "latex": metric.latex,
        "javascript": metric.javascript,
        "undefined": [why for why, value in metric.guards if value == "undefined"],
        "cite": metric.cite,
    }


def json(metrics: Sequence[Metric]) -> str:
    """The metrics as a JSON list."""
    return json_text([facts(metric) for metric in metrics], indent=1)


def md(metrics: Sequence[Metric]) -> str:
    """The metrics as a Markdown table."""
    lines = ["| metric | family | range | best | formula | meaning | source |", "|---|---|---|---|---|---|---|"]
    for m in metrics:
        cells = [_name(m), m.family, bounds(m), number(m.best), f"`{m.text}`", m.meaning, m.cite or "–"]
        lines.append("| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |")
    return "\n".join(lines)
