"""HTML: the blocks of a result in the colours of the notebook that shows them, or as a page of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard._names import __version__
from steelyard.analysis.results.blocks import Figure, Sentence, Table
from steelyard.analysis.results.formatting import printable
from steelyard.report.pages.document import asset, clipped, document, rendered_html
from steelyard.report.pages.interval_panel import panel_html

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.analysis.results.blocks import Block, Span

_MOST_ROWS = 60  # of a table in a notebook; to_frame() has them all
_MOST_LETTERS = 200  # of a cell
_WIDE, _MARGIN = 120, 4  # of the picture of an interval


def blocks_notebook(blocks: Sequence[Block], title: str) -> str:
    """The blocks in the notebook's own colours: text escaped, no script, nothing from elsewhere."""
    return str(rendered_html("result.html", style=asset("result.css"), **_context(blocks, title, _MOST_ROWS)))


def blocks_page(blocks: Sequence[Block], title: str) -> str:
    """The same as a file of its own, with all rows."""
    body = rendered_html("result.html", style="", **_context(blocks, title, None))
    return document(f"{title or 'Rows'} · Steelyard", body, style=asset("result_page.css"))


def _context(blocks: Sequence[Block], title: str, most: int | None) -> dict[str, Any]:
    parts: list[tuple[str, Any]] = []
    more = 0
    for block in blocks:
        if isinstance(block, Sentence):
            parts.append((block.role, printable(block.text)))
        elif isinstance(block, Figure):
            if not parts or parts[-1][0] != "figures":
                parts.append(("figures", []))
            parts[-1][1].append(panel_html(block))
        elif block.rows:
            parts.append(("table", _table(block, most)))
            more += 0 if most is None else max(len(block.rows) - most, 0)
    return {"title": title, "parts": parts, "more": more, "wide": _WIDE, "version": __version__}


def _table(table: Table, most: int | None) -> dict[str, Any]:
    numeric = table.numeric()
    lines = [
        {"heading": printable(texts), "bar": None}
        if isinstance(texts, str)
        else {"cells": _cells(numeric, texts), "bar": _bar(span)}
        for texts, span in zip(table.texts(most), table.spans()[:most], strict=True)
    ]
    names = [printable(name) for name in table.names]
    return {"title": printable(table.heading), "names": [*zip(numeric, names, strict=True)], "lines": lines}


def _cells(numeric: list[bool], texts: list[str]) -> list[tuple[bool, str]]:
    """Whether each cell is a number, and its text."""
    return [*zip(numeric, (clipped(printable(text), _MOST_LETTERS) for text in texts), strict=True)]


def _bar(span: Span | None) -> dict[str, float | None] | None:
    """Where the picture of an interval begins, ends and has its value, and where 0 lies."""
    if span is None:
        return None

    def place(number: float) -> float:
        return round(_MARGIN + (_WIDE - 2 * _MARGIN) * span.place(number), 2)

    zero = place(0.0) if span.least < 0 else None
    return {"low": place(span.low), "high": place(span.high), "value": place(span.value), "zero": zero}
