"""Style: the colours, the words on the axes and the direct labels that all figures share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.errors import MissingLibraryError
from steelyard.metrics.registry import get_metric

if TYPE_CHECKING:
    from collections.abc import Sequence

Array = np.ndarray[Any, Any]
WIDTH = 3.5  # inches: a column of a paper
THIS, OTHER = "#0072B2", "#D55E00"
COLOURS = (THIS, OTHER, "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")  # Okabe and Ito
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (6, 1.5, 1, 1.5)), (0, (3, 1)), (0, (1, 2.5)), "-")
INK, GREY, FAINT, LIGHT = "#222222", "#6b6b6b", "#9a9a9a", "#e4e4e4"
MARKS = ("o", "D", "s", "^", "v", "P", "X")
RECALL, FALSE_ALARMS = "share of positives found", "share of negatives flagged"
PRECISION = "share of flags that are right"
NEAR = 9.0  # points: a label this far from other lines is far enough


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


def title(name: str) -> str:
    """A measure's title, also where the name carries how it was averaged."""
    bare, _, rest = name.partition("[")
    if not rest:
        return get_metric(name).title
    told = rest.removesuffix("]")
    return f"{get_metric(bare).title}, {told.removeprefix('average=')}"


def colour(i: int) -> str:
    """The colour of the i-th model or measure."""
    return COLOURS[i % len(COLOURS)]


def dash(i: int) -> Any:
    """The line style of the i-th model or measure, so that grey prints tell them apart."""
    return DASHES[i % len(DASHES)]


def unit_square(ax: Any, x: str, y: str) -> None:
    """Both axes from 0 to 1, of one length, with their titles."""
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal", xlabel=x, ylabel=y)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_ticks([0, 0.25, 0.5, 0.75, 1], ["0", "0.25", "0.5", "0.75", "1"])


def thinned(*columns: Array, points: int = 1_000) -> Array:
    """The places of at most so many points that follow the columns evenly along their way, ends included."""
    n = len(columns[0])
    if n <= points:
        return np.arange(n)
    steps = sum(np.abs(np.diff(np.nan_to_num(column))) / (np.ptp(np.nan_to_num(column)) or 1) for column in columns)
    way = np.concatenate([[0.0], np.cumsum(steps)])
    return np.unique(np.append(np.searchsorted(way, np.linspace(0, way[-1], points)), n - 1))


# ---------------------------------------------------------------- direct labels


@dataclass(frozen=True)
class Line:
    """A drawn line with the words that name it."""

    x: Array
    y: Array
    text: str
    colour: str


def label_lines(ax: Any, lines: Sequence[Line], avoid: Sequence[Any] = ()) -> None:
    """Write each line's name beside it, where other lines, and the artists to avoid, leave most room."""
    ax.figure.get_figure(root=True).draw_without_rendering()  # the layout decides how large a letter is on the axes
    frame = ax.get_window_extent()
    ways = [_way(ax, line) for line in lines]
    taken = [_box(artist) for artist in avoid]
    for i, line in enumerate(lines):
        text = ax.text(0.5, 0.5, line.text, color=line.colour, ha="left", va="bottom", transform=ax.transAxes)
        extent = text.get_window_extent()
        size = np.array([extent.width, extent.height])
        others = np.concatenate([way for j, way in enumerate(ways) if j != i] or [np.zeros((0, 2))])
        corner = _roomiest(ways[i], others, size, taken, np.array(frame.extents), ax.figure.get_figure(root=True).dpi)
        text.set_position(ax.transAxes.inverted().transform(corner))
        taken.append(np.concatenate([corner, corner + size]))


def _box(artist: Any) -> Array:
    return np.array(artist.get_window_extent().extents)


def _way(ax: Any, line: Line) -> Array:
    """The line in pixels, with points close enough together that a label cannot slip between two."""
    known = np.isfinite(line.x) & np.isfinite(line.y)
    points = ax.transData.transform(np.column_stack([line.x[known], line.y[known]]))
    if len(points) < 2:
        return np.asarray(points)
    way = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(points, axis=0)).sum(1))])
    at = np.linspace(0, way[-1], max(200, int(way[-1] / 2)))
    return np.column_stack([np.interp(at, way, points[:, i]) for i in (0, 1)])


def _roomiest(own: Array, others: Array, size: Array, taken: list[Array], frame: Array, dpi: float) -> Array:
    """The lower left corner of the box for a label: near its own line, away from all else, inside the axes."""
    gap, far = 2.0 * dpi / 72, NEAR * dpi / 72
    best, corner = -np.inf, frame[:2]
    for x in np.linspace(frame[0] + gap, frame[2] - size[0] - gap, 60):
        under = own[(own[:, 0] >= x - gap) & (own[:, 0] <= x + size[0] + gap)]
        if not len(under):
            continue
        for y in (under[:, 1].max() + gap, under[:, 1].min() - size[1] - gap):
            if y < frame[1] or y + size[1] > frame[3]:
                continue
            box = np.array([x, y, x + size[0], y + size[1]])
            room = min(_distance(box, others), far, *(_apart(box, other) for other in taken), np.inf)
            away = np.ptp(under[:, 1])  # a steep line leaves its name far from part of it
            score = room - 0.15 * away - (1e3 if room < gap / 2 else 0)
            if score > best:
                best, corner = score, box[:2]
    return corner


def _distance(box: Array, points: Array) -> float:
    if not len(points):
        return np.inf
    outside = np.maximum(np.maximum(box[:2] - points, points - box[2:]), 0)
    return float(np.hypot(outside[:, 0], outside[:, 1]).min())


def _apart(box: Array, other: Array) -> float:
    gap = np.maximum(np.maximum(box[:2] - other[2:], other[:2] - box[2:]), 0)
    return float(np.hypot(*gap))


def spread(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """The same places moved apart to at least that gap, in their order, within the bounds where they fit."""
    order = np.argsort(places, kind="stable")
    moved = np.array(places, dtype=float)[order]
    for i in range(1, len(moved)):
        moved[i] = max(moved[i], moved[i - 1] + gap)
    moved -= max(moved[-1] - high, 0) if len(moved) else 0
    for i in range(len(moved) - 2, -1, -1):
        moved[i] = min(moved[i], moved[i + 1] - gap)
    moved += max(low - moved[0], 0) if len(moved) else 0
    result = np.empty_like(moved)
    result[order] = moved
    return [float(value) for value in result]


def sample(i: int) -> str:
    """A sign of the i-th line's dashes before its name, so that a grey print tells which it is."""
    return ("— ", "– – ", "··· ", "–·– ", "- - ", "· · ", "— ")[i % 7]


def corner(ax: Any, text: str, ink: str, y: float, *, top: bool) -> None:
    """A line of words at the right above, or at the left below."""
    side = {"ha": "right", "va": "top"} if top else {"ha": "left", "va": "bottom"}
    ax.text(0.99 if top else 0.03, y, text, color=ink, zorder=6, **side)
