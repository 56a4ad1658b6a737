"""Picture: a figure of a study, drawn from its numbers, or as it was drawn before the study was saved."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from typing import TYPE_CHECKING

from steelyard.exceptions import InputError
from steelyard.report.figures import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from steelyard.report.figures.display import Display


@dataclass(frozen=True)
class Picture:
    """A display; `name` becomes the name of its files.

    `columns` is how much of the page it takes: 1, or 2 for a wide one; `width` is in inches, where a display should be
    wider than a column of a paper. Without a caption the display's own is used.
    """

    name: str
    display: Display
    caption: str = ""
    columns: int = 1
    width: float | None = None

    @property
    def words(self) -> str:
        """What stands below the picture."""
        return self.caption or self.display.caption()

    def figure(self) -> Figure:
        """The figure of matplotlib."""
        if self.width is not None:
            canvas = style.canvas()
            with canvas.paper():
                self.display.plot(canvas.new_figure((self.width, self.display.height)).add_subplot())
        figure: Figure = self.display.figure_
        return figure

    def image(self, kind: str) -> bytes:
        """The picture as "svg" or "pdf", undated, its text as text."""
        return self._svg if kind == "svg" else self._drawn(kind)

    @cached_property
    def _svg(self) -> bytes:
        return self._drawn("svg")  # once: a figure drawn again names its clip paths anew

    def _drawn(self, kind: str) -> bytes:
        file = BytesIO()
        self.figure().savefig(file, format=kind)
        return file.getvalue()


@dataclass(frozen=True)
class SavedPicture:
    """A picture as it was drawn before its study was saved."""

    name: str
    words: str
    columns: int
    svg: str

    def image(self, kind: str) -> bytes:
        """The picture as "svg"; other kinds are drawn from the numbers, which are not saved."""
        if kind != "svg":
            raise InputError(f"A study read from JSON has its figures as svg, not as {kind}; run it again for these.")
        return self.svg.encode()
