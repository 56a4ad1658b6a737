"""The canvas: matplotlib's part of every figure, imported when something is drawn."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib import style
from matplotlib.colors import to_hex, to_rgba
from matplotlib.figure import Figure, FigureBase

from steelyard.exceptions import InputTypeError
from steelyard.report.figures.font_fallback import font_families, without_font_warnings
from steelyard.report.palette import ON_DARK, ON_WHITE, Palette, drawn_with

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike
    from typing import IO

    from steelyard.report.figures.figure_types import DrawingArea

_PAPER: dict[Any, Any] = {
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.titlesize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "axes.titlelocation": "left",
    "axes.labelpad": 3,
    "lines.linewidth": 1.3,
    "hatch.linewidth": 0.5,
    "svg.fonttype": "none",
    "svg.hashsalt": "steelyard",
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "savefig.dpi": 300,
    "figure.dpi": 150,
}
_DARK = 1.2  # the sum of red, green and blue below which a ground is dark
UNDATED = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {}}  # so that one input gives one file


@contextmanager
def paper(colours: Palette | None = None) -> Iterator[None]:
    """The look of a paper for as long as it lasts, on a dark ground where the style in force has one.

    What the user had set is put back.
    """
    chosen = colours or palette_in_force()
    with mpl.rc_context(), drawn_with(chosen), without_font_warnings():
        style.use("default")
        mpl.rcParams.update(_PAPER | _inks(chosen) | {"font.family": font_families()})
        yield


def palette_in_force() -> Palette:
    """The palette of the style in force: that of white paper, or of its own ground and ink where the ground is dark."""
    ground = mpl.rcParams["figure.facecolor"]
    if not _is_dark(ground):
        return ON_WHITE
    ink = mpl.rcParams["text.color"]
    return replace(ON_DARK, paper=to_hex(ground), ink=ON_DARK.ink if _is_dark(ink) else to_hex(ink))


def palette_of(ax: DrawingArea) -> Palette:
    """The palette for axes, or a figure, that somebody else made."""
    if not hasattr(ax, "get_facecolor"):
        raise InputTypeError(argument="ax", expected="the axes of a figure, or the figure", given=ax)
    grounds = [to_rgba(part.get_facecolor()) for part in _around(ax)]
    ground = next((ground for ground in grounds if ground[3] > 0.5), to_rgba("white"))
    return replace(ON_DARK, paper=to_hex(ground)) if _is_dark(ground) else replace(ON_WHITE, paper=to_hex(ground))


def _around(ax: DrawingArea) -> Iterator[Any]:
    """The axes, or a part of a figure, and what lies behind."""
    yield ax
    if not isinstance(ax, Figure):
        yield from _around(ax.figure)


def _is_dark(colour: Any) -> bool:
    red, green, blue, alpha = to_rgba(colour)
    return alpha > 0 and red + green + blue < _DARK


def _inks(colours: Palette) -> dict[Any, Any]:
    """The settings that are colours."""
    settings = {"text.color": colours.ink, "axes.labelcolor": colours.ink, "axes.edgecolor": colours.grey}
    ticks = {"xtick.color": colours.grey, "ytick.color": colours.grey}
    labels = {"xtick.labelcolor": colours.ink, "ytick.labelcolor": colours.ink}
    grounds = {"figure.facecolor": colours.paper, "axes.facecolor": colours.paper, "grid.color": colours.line}
    return settings | ticks | labels | grounds


class PaperFigure(Figure):
    """A figure that is saved with its text as text, whatever is set elsewhere; pyplot does not keep it."""

    _room = 0.0

    def make_room(self, inches: float) -> None:
        """Grow by the height of words above the axes; of panels side by side by that of the tallest."""
        self.set_figheight(self.get_figheight() + max(inches - self._room, 0))
        self._room = max(inches, self._room)

    def savefig(self, fname: str | PathLike[str] | IO[bytes], **options: Any) -> None:
        """Save as matplotlib does, undated, in the look of a paper."""
        kind = options.get("format") or (Path(fname).suffix[1:] if isinstance(fname, (str, Path)) else "png")
        with paper(palette_of(self)):
            super().savefig(fname, **{"metadata": UNDATED.get(f".{kind}".lower()), **options})


def new_figure(size: tuple[float, float]) -> PaperFigure:
    """An empty figure of that many inches, whose parts make room for each other."""
    return PaperFigure(figsize=size, layout="constrained")


def dressed(ax: DrawingArea) -> Any:
    """Axes that somebody else made, in the look that axes made here would have; a figure is left as it is."""
    if isinstance(ax, FigureBase):
        return ax
    colours = palette_of(ax)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[:].set(linewidth=_PAPER["axes.linewidth"], edgecolor=colours.grey)
    ticks = {"labelsize": _PAPER["xtick.labelsize"], "color": colours.grey, "labelcolor": colours.ink}
    ax.tick_params(width=0.6, length=2.5, **ticks)
    ax.grid(visible=True, color=colours.line, linewidth=_PAPER["grid.linewidth"])
    ax.set_axisbelow(True)
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set(size=_PAPER["axes.labelsize"], color=colours.ink)
    return ax
