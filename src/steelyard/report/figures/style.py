"""Style: the colours, the words on the axes and the direct labels that all figures share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.errors import MissingLibraryError
from steelyard.metrics.registry import get_metric
from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap


WIDTH = 3.5  # inches: a column of a paper
THIS, OTHER = "#0072B2", "#D55E00"
COLOURS = (THIS, OTHER, "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")  # Okabe and Ito
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (6, 1.5, 1, 1.5)), (0, (3, 1)), (0, (1, 2.5)), "-")
INK, GREY, FAINT, LIGHT = "#222222", "#6b6b6b", "#9a9a9a", "#e4e4e4"
CHANCE = (0, (4, 3))  # the dashes of what is not a model: chance, cuts, the sample
MARKS = ("o", "D", "s", "^", "v", "P", "X")
RECALL, FALSE_POSITIVE_RATE = "True positive rate (recall)", "False positive rate"
PRECISION = "Precision"


def canvas() -> Any:
    """The module that draws, or one sentence on how to get matplotlib."""
    try:
        from steelyard.report.figures import canvas
    except ImportError as missing:
        if not (missing.name or "").startswith("matplotlib"):
            raise
        raise MissingLibraryError(
            "Figures need matplotlib, which is not installed; run pip install 'steelyard[figures]'."
        ) from None
    return canvas


def metric_title(name: str) -> str:
    """A metric's title, also where the name carries how it was averaged."""
    return MetricSpec.of(name).title


def short_title(name: str) -> str:
    """A metric's name where room is scarce: letters such as MCC in place of a long title."""
    letters = name.upper()
    return letters if len(letters) <= 4 and letters.isalnum() and name == get_metric(name).name else metric_title(name)


def full_title(name: str) -> str:
    """A metric's title with the letters that stand for it in the picture."""
    whole, letters = metric_title(name), short_title(name)
    return whole if letters == whole else f"{whole} ({letters})"


def colour(i: int) -> str:
    """The colour of the i-th model or metric."""
    return COLOURS[i % len(COLOURS)]


def dash(i: int) -> Any:
    """The line style of the i-th model or metric, so that grey prints keep them apart."""
    return DASHES[i % len(DASHES)]


def unit_square(ax: Axes, x: str, y: str) -> None:
    """Both axes from 0 to 1, of one length, with their titles."""
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal", xlabel=x, ylabel=y)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_ticks([0, 0.25, 0.5, 0.75, 1], ["0", "0.25", "0.5", "0.75", "1"])


def sample(i: int) -> str:
    """A sign of the i-th line's dashes before its name, so that a grey print shows which it is."""
    return ("— ", "– – ", "··· ", "–·– ", "- - ", "· · ", "— ")[i % 7]


def sign(i: int) -> str:
    """The mark of the i-th model as a letter, to stand before its name."""
    return "●◆■▲▼✚✖"[i % len(MARKS)]


def shades(ink: str, dark: str | None = None) -> Colormap:
    """Colours from white to an ink, and on to a darker one."""
    from matplotlib.colors import LinearSegmentedColormap

    inks = [ink] if dark is None else ["#9cc9e3", ink, dark]
    return LinearSegmentedColormap.from_list("shades", ["#ffffff", *inks])


def write_above(ax: Axes, text: str, x: float, points: float, *, size: float = 7, colour: str = GREY) -> None:
    """Words above the axes, from a share of their width on, so many points up."""
    ax.annotate(
        text,
        (x, 1),
        (0, points),
        xycoords="axes fraction",
        textcoords="offset points",
        ha="left",
        va="bottom",
        fontsize=size,
        color=colour,
    )


def vertical_line(ax: Axes, x: float, text: str) -> None:
    """A dashed grey line at a place of the x axis, its words above it."""
    ax.axvline(x, color=GREY, linestyle=CHANCE, linewidth=0.8, zorder=1)
    ax.annotate(
        text.replace(" -", " −"),
        (x, 1),
        (0, 2),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        color=GREY,
        ha="center",
        va="bottom",
    )
