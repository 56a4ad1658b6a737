"""Terminal: tables and paragraphs as wide as the terminal, bold and one colour in them.

The codes are always there; what prints them takes them out where no one is looking.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from steelyard.analysis.results.formatting import LABEL_WIDTH, clipped_text, filled, text_table, text_width

if TYPE_CHECKING:
    from collections.abc import Sequence

_LONGEST = 800  # characters of a message
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def bold(text: str) -> str:
    """The text in bold."""
    return f"\x1b[1m{text}\x1b[0m" if text else ""


def coloured(text: str) -> str:
    """The text in the one colour of a terminal, the page's blue for this model as near as 256 colours come."""
    return f"\x1b[38;5;31m{text}\x1b[0m" if text else ""


def plain(text: str) -> str:
    """The text without the codes of bold and colour."""
    return re.sub(r"\x1b\[[\d;]*m", "", text)


def without_controls(text: str) -> str:
    """Text of a user's data without what could steer a terminal."""
    return _CONTROL.sub("·", text)


def one_line(sentence: str) -> str:
    """A message without what could steer a terminal or fill it."""
    clean = without_controls(sentence)
    return clean if len(clean) <= _LONGEST else f"{clean[: _LONGEST - 200]} ... {clean[-195:]}"


def clean_label(value: object, most: int = LABEL_WIDTH) -> str:
    """A label without what could steer a terminal; a long one ends in an ellipsis."""
    return clipped_text(without_controls(str(value)), most)


def clean_labels(values: Sequence[object]) -> list[str]:
    """Labels without what could steer a terminal; long ones that differ only later keep their ends.

    >>> clean_labels(["a rather long class name 01", "a rather long class name 02"])
    ['a rather long cl…name 01', 'a rather long cl…name 02']
    """
    labels = [clean_label(value) for value in values]
    return labels if len(set(labels)) == len(labels) else [_with_end(without_controls(str(value))) for value in values]


def _with_end(text: str, most: int = LABEL_WIDTH) -> str:
    if text_width(text) <= most:
        return text
    end = clipped_text(text[::-1], most // 3)[:-1][::-1]
    return clipped_text(text, most - text_width(end)) + end


def print_table(
    head: Sequence[str],
    rows: Sequence[Sequence[str] | str],
    *,
    wrap: Sequence[int] | None = None,
    optional: Sequence[int] = (),
) -> str:
    """A table under a bold head; the last column wraps, or those named."""
    return text_table(head, rows, wrap=(len(head) - 1,) if wrap is None else wrap, optional=optional, emphasis=bold)


def paragraph(text: str, indent: str = "") -> str:
    """The text filled to the width of the terminal."""
    return filled(text, indent)


def safe_paragraph(text: str) -> str:
    """A paragraph whose words may come from a user's data."""
    return paragraph(without_controls(text))
