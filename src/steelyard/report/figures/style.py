"""Style: the colours, the words on the axes and the direct labels that all figures share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.exceptions import MissingLibraryError
from steelyard.metrics.registry import get_metric
from steelyard.metrics.spec import MetricSpec
from steelyard.report.palette import inks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

    from steelyard._types import Array


WIDTH = 3.5  # inches: a column of a paper
# One more than there are colours, so that lines beyond six differ from those whose colours they share.
DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 1.5)),
    (0, (1, 1)),
    (0, (6, 1.5, 1, 1.5)),
    (0, (3, 1)),
    (0, (1, 2.5)),
    (0, (8, 1.5, 1, 1.5, 1, 1.5)),
)
_ROUND = (1e-5, 1e-4, 0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999)  # on an axis of log-odds
BAND, _FAINT_BAND, _MOST_FILLED = 0.16, 0.04, 2  # how much of its colour a band has: of one model or two, and of more
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
    lines = inks().lines
    return lines[i % len(lines)]


def class_colour(i: int) -> str:
    """The colour of the positives, then that of the negatives, which are neither errors nor another model."""
    return (inks().this, inks().soft)[i]


def logit_scale(ax: Axes, which: str = "x") -> None:
    """An axis of probabilities, x or y, even in log-odds, with few round numbers on it."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    getattr(ax, f"set_{which}scale")("logit")
    axis = getattr(ax, f"{which}axis")
    axis.set_major_locator(FixedLocator(_ROUND))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def dash(i: int) -> Any:
    """The line style of the i-th model or metric, so that grey prints keep them apart."""
    return DASHES[i % len(DASHES)]


def draw_mark(ax: Axes, x: float, y: float, i: int, size: float = 4.5) -> None:
    """The mark of the i-th model at a point, set off from what lies behind it."""
    ax.plot(x, y, MARKS[i % len(MARKS)], color=colour(i), markersize=size, markeredgecolor=inks().paper, zorder=4)


def unit_square(ax: Axes, x: str, y: str) -> None:
    """Both axes from 0 to 1, of one length, with their titles."""
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal", xlabel=x, ylabel=y)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_ticks([0, 0.25, 0.5, 0.75, 1], ["0", "0.25", "0.5", "0.75", "1"])


def sample(i: int) -> str:
    """A sign of the i-th line's dashes before its name, so that a grey print shows which it is."""
    return ("— ", "– – ", "··· ", "–·– ", "- - ", "· · ", "–·· ")[i % 7]


def sign(i: int) -> str:
    """The mark of the i-th model as a letter, to stand before its name."""
    return "●◆■▲▼✚✖"[i % len(MARKS)]


def shades(ink: str | None = None) -> Colormap:
    """Colours from the paper to an ink; without one those of this model, and on to a stronger one."""
    from matplotlib.colors import LinearSegmentedColormap

    shades = inks().shades if ink is None else (ink,)
    return LinearSegmentedColormap.from_list("shades", [inks().paper, *shades])


def draw_band(ax: Axes, x: Array, low: Array, high: Array, i: int, of: int) -> None:
    """The band of the i-th of some models: filled, and of more than two only just, between thin outlines."""
    ink, crowded = colour(i), of > _MOST_FILLED
    alpha = _FAINT_BAND if crowded else BAND
    ax.fill_between(x, low, high, facecolor=ink, alpha=alpha, linewidth=0, zorder=1.5)
    if crowded:
        ax.fill_between(x, low, high, facecolor="none", edgecolor=ink, alpha=0.4, linewidth=0.4, zorder=1.6)


def write_above(ax: Axes, text: str, x: float, points: float, *, size: float = 7, colour: str = "") -> None:
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
        color=colour or inks().soft,
    )


def vertical_line(ax: Axes, x: float, text: str) -> None:
    """A dashed grey line at a place of the x axis, its words above it."""
    ax.axvline(x, color=inks().grey, linestyle=CHANCE, linewidth=0.8, zorder=1)
    ax.annotate(
        text.replace(" -", " −"),
        (x, 1),
        (0, 2),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        color=inks().soft,
        ha="center",
        va="bottom",
    )
