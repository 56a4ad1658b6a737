"""Terminal: tables and paragraphs as wide as the terminal, plain where there is none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from steelyard.analysis.formatting import filled, terminal_width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table


_LONGEST, _LONGEST_LABEL = 800, 60  # characters of a message, of a label
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def one_line(sentence: str) -> str:
    """A message without what could steer a terminal or fill it."""
    clean = _CONTROL.sub("·", sentence)
    return clean if len(clean) <= _LONGEST else f"{clean[: _LONGEST - 200]} ... {clean[-195:]}"


def clean_label(value: object) -> str:
    """Text of a user's data without what could steer a terminal; a very long one is shortened."""
    clean = _CONTROL.sub("·", str(value))
    return clean if len(clean) <= _LONGEST_LABEL else f"{clean[: _LONGEST_LABEL - 3]}..."


def print_table(
    head: Sequence[str],
    rows: Sequence[Sequence[str] | str],
    right: Sequence[int] = (),
    wrap: Sequence[int] | None = None,
) -> str:
    """A table; a row that is one string is the light rule above a family. The last column wraps, or those named."""
    from rich.console import Console

    # Markup and highlighting are off, since labels are data.
    console = Console(width=terminal_width(), markup=False, highlight=False, emoji=False, no_color=True)
    with console.capture() as capture:
        console.print(_table(head, rows, right, (len(head) - 1,) if wrap is None else wrap))
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def _table(
    head: Sequence[str], rows: Sequence[Sequence[str] | str], right: Sequence[int], wrap: Sequence[int]
) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for i, title in enumerate(head):
        justify: Literal["left", "right"] = "right" if i in right else "left"
        table.add_column(title, no_wrap=i not in wrap, justify=justify, overflow="fold")
    for row in rows:
        cells = [f"── {row}"] if isinstance(row, str) else list(row)
        table.add_row(*cells)
    return table


def paragraph(text: str, indent: str = "") -> str:
    """The text filled to the width of the terminal."""
    return filled(text, indent)


def safe_paragraph(text: str) -> str:
    """A paragraph whose words may come from a user's data."""
    return paragraph(_CONTROL.sub("·", text))
