"""The metric list: the catalogue as a table for the terminal, as JSON and as Markdown."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from steelyard.analysis.results.result_json import json_text, strict
from steelyard.report.markdown import markdown_table
from steelyard.report.terminal.layout import print_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from steelyard.metrics.measure import Metric


def range_text(metric: Metric) -> str:
    """The range as an interval: [0, 1], or [0, ∞) where an end is never reached."""
    low, high = metric.range
    opening, closing = "[" if math.isfinite(low) else "(", "]" if math.isfinite(high) else ")"
    return f"{opening}{number_text(low)}, {number_text(high)}{closing}"


def number_text(value: float | None) -> str:
    """A fact of the catalogue as a person writes it: 1, -1, ∞, a dash for none."""
    if value is None:
        return "–"
    return f"{'-' if value < 0 else ''}∞" if math.isinf(value) else f"{value:g}"


def _name(metric: Metric) -> str:
    return " ".join([metric.name, *(f"[{alias}]" for alias in metric.aliases)])


def _table(metrics: Sequence[Metric]) -> str:
    """The metrics by family, for a terminal."""
    rows: list[list[str] | str] = []
    for metric in metrics:
        if metric.family not in rows:
            rows.append(metric.family)
        rows.append([metric.name, range_text(metric), number_text(metric.best), metric.meaning])
    return print_table(["metric", "range", "best", "meaning"], rows)


def _facts(metric: Metric) -> dict[str, Any]:
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


def _json(metrics: Sequence[Metric]) -> str:
    """The metrics as a JSON list."""
    return json_text([_facts(metric) for metric in metrics], indent=1)


def _markdown(metrics: Sequence[Metric]) -> str:
    """The metrics as a Markdown table."""
    head = ("metric", "family", "range", "best", "formula", "meaning", "source")
    rows = (
        (_name(m), m.family, range_text(m), number_text(m.best), f"`{m.text}`", m.meaning, m.cite or "–")
        for m in metrics
    )
    return markdown_table(head, rows)


FORMS: Mapping[str, Callable[[Sequence[Metric]], str]] = {"table": _table, "json": _json, "md": _markdown}
