"""Blocks on a terminal: sentences as wide as it is, tables that fold, and nothing of the pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.analysis.results.blocks import Sentence, Table
from steelyard.analysis.results.formatting import text_table
from steelyard.report.terminal.layout import bold, paragraph, safe_paragraph, without_controls

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard.analysis.results.blocks import Block


def blocks_text(blocks: Iterable[Block], *, everything: bool = False, more: str = "to_frame() has them all") -> str:
    """The blocks with a blank line between them, sentences of one role below each other; `more` says where all are."""
    parts: list[list[str]] = []
    before, is_below = "", False
    for block in blocks:
        if isinstance(block, Sentence):
            line = paragraph(without_controls(block.text), "  " if is_below and block.role == "lead" else "")
            if block.role == "heading" or block.role != before:
                parts.append([])
            parts[-1].append(bold(line) if block.role in ("headline", "heading") else line)
            is_below = block.role == "heading" or (is_below and block.role == "lead")
            before = "lead" if block.role == "heading" else block.role
        elif isinstance(block, Table) and block.rows:
            parts.append([_table(block, everything, more)])
            before, is_below = "", False
    return "\n\n".join("\n".join(lines) for lines in parts)


def _table(table: Table, everything: bool, more: str) -> str:
    """The table under its title; of many rows the first, and how many more there are."""
    names, most = table.names, None if everything else table.most
    cells = [
        without_controls(row) if isinstance(row, str) else [without_controls(text) for text in row]
        for row in table.texts(most)
    ]
    words = [i for i, name in enumerate(names) if i and any(isinstance(row.get(name), str) for row in table.lines)]
    optional = [names.index(name) for name in table.optional if name in names]
    head = [*map(without_controls, names)]
    text = text_table(head, cells, wrap=words, optional=optional, keys=table.keys, emphasis=bold)
    left = len(table.rows) - len(cells)
    rest = [f"and {left:,} more; {more}"] if left else []
    return "\n".join([*([safe_paragraph(table.heading)] if table.title else []), text, *rest])
