"""The canvas: matplotlib's part of every figure, imported when something is drawn."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib import style
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure, FigureBase

from steelyard.report.figures.style import GREY, INK, LIGHT

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
    "text.color": INK,
    "axes.labelcolor": INK,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "axes.edgecolor": GREY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": LIGHT,
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
_DARK = 1.2  # the sum of red, green and blue below which words on axes are light
UNDATED = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {}}  # so that one input gives one file


@contextmanager
def paper() -> Iterator[None]:
    """The look of a paper for as long as it lasts; what the user had set is put back."""
    with mpl.rc_context():
        style.use("default")
        mpl.rcParams.update(_PAPER)
        yield


class PaperFigure(Figure):
    """A figure that is saved with its text as text, whatever is set elsewhere; pyplot does not keep it."""

    def savefig(self, fname: str | PathLike[str] | IO[bytes], **options: Any) -> None:
        """Save as matplotlib does, undated, in the look of a paper."""
        kind = options.get("format") or (Path(fname).suffix[1:] if isinstance(fname, (str, Path)) else "png")
        with paper():
            super().savefig(fname, **{"metadata": UNDATED.get(f".{kind}".lower()), **options})


def new_figure(size: tuple[float, float]) -> PaperFigure:
    """An empty figure of that many inches, whose parts make room for each other."""
    return PaperFigure(figsize=size, layout="constrained")


def dressed(ax: DrawingArea) -> Any:
    """Axes that somebody else made, in the look that axes made here would have; a figure is left as it is."""
    if isinstance(ax, FigureBase):
        return ax
    is_dark = sum(to_rgb(ax.get_facecolor())) < _DARK
    ink, line = (LIGHT, INK) if is_dark else (INK, LIGHT)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[:].set(linewidth=_PAPER["axes.linewidth"], edgecolor=GREY)
    ax.tick_params(labelsize=_PAPER["xtick.labelsize"], width=0.6, length=2.5, color=GREY, labelcolor=ink)
    ax.grid(visible=True, color=line, linewidth=_PAPER["grid.linewidth"])
    ax.set_axisbelow(True)
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set(size=_PAPER["axes.labelsize"], color=ink)
    return ax
