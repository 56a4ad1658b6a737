"""Palette: the colours of page and figures, each with one meaning, and their twins on a dark ground.

Blue is this model and the right decisions about positives, vermilion errors and the other model of two, grey the
baseline and the grid. Up to six lines have the hues of Okabe and Ito, darkened where white would swallow them.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Palette:
    """The colours on one ground: the paper, the ink, softer words, the baseline, the grid and the lines in order."""

    paper: str
    ink: str
    soft: str
    grey: str
    line: str
    lines: tuple[str, str, str, str, str, str]
    shades: tuple[str, str, str]  # of this model from little to much, beside the paper
    signs: tuple[str, str, str, str]  # from the most negative to the most positive, the paper in their middle

    @property
    def this(self) -> str:
        """The colour of this model, and of the right decisions about positives."""
        return self.lines[0]

    @property
    def other(self) -> str:
        """The colour of errors, and of the other model of two."""
        return self.lines[1]


ON_WHITE = Palette(
    paper="#ffffff",
    ink="#16191d",
    soft="#5a636e",
    grey="#8a949f",
    line="#d9dee4",
    lines=("#0072b2", "#d55e00", "#009e73", "#b3578b", "#805600", "#1a9fc9"),
    shades=("#9cc9e3", "#0072b2", "#003d63"),
    signs=("#7a2f00", "#e59a66", "#74b3d6", "#00395e"),
)
ON_DARK = Palette(
    paper="#14171a",
    ink="#e9edf1",
    soft="#a3adb8",
    grey="#8a949f",
    line="#333a42",
    lines=("#58b4e8", "#ff9b57", "#3fc79c", "#e29ac4", "#ffdf5e", "#c9e8fb"),
    shades=("#1d4a66", "#3f93c4", "#a9d9f5"),
    signs=("#ffb98a", "#94512a", "#2d658a", "#8fcdf2"),
)
_IN_FORCE: ContextVar[Palette] = ContextVar("palette", default=ON_WHITE)


def inks() -> Palette:
    """The palette in force."""
    return _IN_FORCE.get()


@contextmanager
def drawn_with(colours: Palette) -> Iterator[None]:
    """Draw with a palette for as long as it lasts."""
    token = _IN_FORCE.set(colours)
    try:
        yield
    finally:
        _IN_FORCE.reset(token)
