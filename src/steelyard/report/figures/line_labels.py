"""Line labels: the names of lines written beside them, where there is room, in place of a legend."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from steelyard.report.figures import style

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.offsetbox import AnchoredOffsetbox
    from matplotlib.text import Text

    from steelyard._types import Array
    from steelyard.report.figures.value_labels import InkedWords

GAP, _NEAR = 2.0, 9.0  # points: the least room around a label, and what is room enough
SPOTS = 80  # places along a line that are tried
CORNERS = ((1, 0), (1, 1), (0, 0), (0, 1), (1, 0.5), (0, 0.5), (0.5, 0), (0.5, 1), (0.5, 0.5))
_BETWEEN = tuple((x, y) for y in np.linspace(0, 1, 21) for x in np.linspace(1, 0, 9))  # where no corner is free
_LINE = 20  # a line in the way of words is worse than the edge of a band, by so much
_MOST_WORDS = 0.6  # of the height of the axes
_MOST_INSIDE = 4  # lines of words; more stand above the axes


@dataclass(frozen=True)
class Line:
    """A drawn line, and the words that name it; without words it is only in the way."""

    x: Array
    y: Array
    text: str = ""
    colour: str = ""


def label_lines(ax: Axes, lines: Sequence[Line]) -> None:
    """Write each line's name beside it, where the other lines and names leave most room."""
    scale = _laid_out(ax)
    frame, ways = np.array(ax.get_window_extent().extents), [_way(ax, line) for line in lines]
    taken: list[Array] = []
    for i, line in enumerate(lines):
        if not line.text:
            continue
        text = ax.text(0.5, 0.5, line.text, color=line.colour, ha="left", va="bottom", transform=ax.transAxes, zorder=6)
        extent = text.get_window_extent()
        boxes = _beside(ways[i], np.array([extent.width, extent.height]), GAP * scale)
        others = np.concatenate([way for j, way in enumerate(ways) if j != i] or [np.zeros((0, 2))])
        best = _roomiest(boxes, ways[i], others, taken, frame, scale)
        text.set_position(tuple(ax.transAxes.inverted().transform(best[:2])))
        taken.append(best)


def block(ax: Axes, lines: InkedWords, avoid: Sequence[Line], edges: Sequence[Line] = ()) -> Array:
    """Lines of words in their colours, together in the corner, or else the place, that the drawing leaves most free.

    Rather than a line they lie over the edge of a band. Returns the room that they take, in pixels: left, bottom,
    right, top.
    """
    box = _packed(ax, lines)
    scale = _laid_out(ax)
    extent, frame = box.get_window_extent(), np.array(ax.get_window_extent().extents)
    wide, edge = np.array([extent.width, extent.height]), 0.02 * (frame[2:] - frame[:2])
    points, others = (np.concatenate([np.zeros((0, 2)), *(_way(ax, line) for line in part)]) for part in (avoid, edges))
    places = [frame[:2] + edge + np.array(c) * (frame[2:] - frame[:2] - 2 * edge - wide) for c in (*CORNERS, *_BETWEEN)]
    boxes = [np.concatenate([c, c + wide]) for c in places]
    # Where something is in every one's way, that with least of it.
    rooms = [
        min(_distance(box, points), _distance(box, others), _NEAR * scale)
        or -_LINE * _inside(box, points) - _inside(box, others)
        for box in boxes
    ]
    chosen = places[int(np.argmax(rooms))]
    anchor: Any = tuple(ax.transAxes.inverted().transform(chosen))  # the stubs know only of boxes
    box.set_bbox_to_anchor(anchor, transform=ax.transAxes)
    return np.concatenate([chosen, chosen + wide])


def _packed(ax: Axes, lines: InkedWords, align: Literal["left", "right"] = "right") -> AnchoredOffsetbox:
    """Lines of words one below the other, drawn somewhere in the axes."""
    from matplotlib.offsetbox import AnchoredOffsetbox, TextArea, VPacker

    size = 8 if len(lines) < 3 else 7
    parts: list[Any] = [TextArea(text, textprops={"color": ink, "size": size}) for text, ink in lines]
    packed = VPacker(children=parts, pad=0, sep=3, align=align)
    box = AnchoredOffsetbox("lower left", child=packed, pad=0.3, borderpad=0)
    box.patch.set(facecolor=ax.get_facecolor(), edgecolor="none", alpha=0.75)
    box.set_zorder(6)
    ax.add_artist(box)
    return box


def block_or_shorter(
    ax: Axes, wordings: Sequence[InkedWords], avoid: Sequence[Line], edges: Sequence[Line] = ()
) -> Array:
    """The first of some wordings, the longest first, that fits in and lies over no line; else above the axes."""
    if is_crowded(wordings[-1]):
        return block_above(ax, wordings[0])
    _laid_out(ax)
    points = np.concatenate([_way(ax, line) for line in avoid])
    room, lines = _first_block(ax, wordings, lambda room: not _inside(room, points), avoid, edges)
    if not _inside(room, points):
        return room
    ax.artists[-1].remove()
    return block_above(ax, lines)


def is_crowded(lines: InkedWords) -> bool:
    """Whether lines of words are too many to stand among what is drawn."""
    return len(lines) > _MOST_INSIDE


def block_above(ax: Axes, lines: InkedWords) -> Array:
    """Lines of words above the axes and below their title, outside of what is drawn; the room that they take."""
    box = _packed(ax, lines, align="left")
    box.set_bbox_to_anchor((0.0, 1.0), transform=ax.transAxes)  # type: ignore[arg-type]  # the stubs know only of boxes
    scale = _laid_out(ax)
    points = box.get_window_extent().height / scale
    if title := ax.get_title("left"):
        ax.set_title(title, loc="left", pad=points + 3 * GAP)
    figure = ax.figure.get_figure(root=True)
    if isinstance(figure, style.canvas().PaperFigure):
        figure.make_room(points / 72)
    _laid_out(ax)
    return np.array(box.get_window_extent().extents)


def block_with_room(ax: Axes, wordings: Sequence[InkedWords], avoid: Sequence[Line]) -> Array:
    """The first of some wordings that fits in, where the y axis may reach higher: so far that no line is in the way."""
    if is_crowded(wordings[-1]):
        return block_above(ax, wordings[0])
    room, lines = _first_block(ax, wordings, lambda _: True, avoid, ())
    if not _inside(room, np.concatenate([_way(ax, line) for line in avoid])):
        return room
    ax.artists[-1].remove()
    _, bottom, _, top = ax.get_window_extent().extents
    scale = ax.yaxis.get_transform()  # that of a logarithmic axis
    low, high = scale.transform(np.array(ax.get_ylim()))
    share = min((room[3] - room[1]) / (top - bottom), _MOST_WORDS)
    ax.set_ylim(top=float(scale.inverted().transform(low + (high - low) / (1 - share))))
    return block(ax, lines, avoid)


def _first_block(
    ax: Axes,
    wordings: Sequence[InkedWords],
    serves: Callable[[Array], bool],
    avoid: Sequence[Line],
    edges: Sequence[Line],
) -> tuple[Array, InkedWords]:
    """The first wording that is no wider than the axes and serves, else the last, with the room that it takes."""
    for lines in wordings[:-1]:
        room = block(ax, lines, avoid, edges)
        if room[2] - room[0] < ax.get_window_extent().width and serves(room):
            return room, lines
        ax.artists[-1].remove()
    return block(ax, wordings[-1], avoid, edges), wordings[-1]


def in_the_way(ax: Axes, room: Array) -> list[Line]:
    """The room of a block of words, in pixels, as lines that the names of other lines keep clear of."""
    left, bottom, right, top = room
    rows = [[(left, y), (right, y)] for y in np.linspace(bottom, top, 9)]
    return [Line(*ax.transData.inverted().transform(ends).T) for ends in rows]


def is_free(ax: Axes, text: Text, block: Array, lines: Sequence[Line]) -> bool:
    """Whether a text that was written lies over neither a block of words nor a line."""
    box = np.array(text.get_window_extent().extents)
    return _apart(box, block) > 0 and min(_distance(box, _way(ax, line)) for line in lines) > 0


def _laid_out(ax: Axes) -> float:
    """Pixels a point, once the layout has decided how large the axes are."""
    figure = ax.figure.get_figure(root=True)
    figure.draw_without_rendering()
    return float(figure.dpi / 72)


def _way(ax: Axes, line: Line) -> Array:
    """The line in pixels, with points so close together that a label cannot slip between two."""
    finite = np.isfinite(line.x) & np.isfinite(line.y)
    points = ax.transData.transform(np.column_stack([line.x[finite], line.y[finite]]))
    if len(points) < 2:
        return np.asarray(points)
    way = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(points, axis=0)).sum(1))])
    at = np.linspace(0, way[-1], max(200, int(way[-1] / 2)))
    return np.column_stack([np.interp(at, way, points[:, i]) for i in (0, 1)])


def _beside(own: Array, size: Array, gap: float) -> list[Array]:
    """Boxes of that size around places of the line: above, below, and at either side."""
    spots = own[np.unique(np.linspace(0, len(own) - 1, SPOTS).astype(int))] if len(own) else own
    shifts = [
        (-0.5, gap / size[1]),
        (-0.5, -1 - gap / size[1]),
        (gap / size[0], -0.5),
        (-1 - gap / size[0], -0.5),
        (0, gap / size[1]),
        (-1, gap / size[1]),
        (0, -1 - gap / size[1]),
        (-1, -1 - gap / size[1]),
    ]
    return [np.concatenate([s + shift * size, s + shift * size + size]) for s in spots for shift in np.array(shifts)]


def _roomiest(boxes: list[Array], own: Array, others: Array, taken: list[Array], frame: Array, scale: float) -> Array:
    """The box inside the axes with most room about it, clear of its own line; the least bad where none fits."""
    middle = own.mean(0) if len(own) else frame[:2]

    def score(box: Array) -> float:
        inside = (box[:2] >= frame[:2] - 0.5).all() and (box[2:] <= frame[2:] + 0.5).all()
        free, names = _distance(box, others), min([_apart(box, other) for other in taken], default=np.inf)
        room = min(free, names, _NEAR * scale)
        clear = min(_distance(box, own), GAP * scale)
        away = abs((box[0] + box[2]) / 2 - middle[0]) / (frame[2] - frame[0])  # of equal places the middle one
        # Over a line a name can still be read, over another name neither can.
        crowded = (1e2 if free < GAP * scale / 2 else 0) + (3e2 if names < GAP * scale / 2 else 0)
        return float(room + 4 * clear - 3 * scale * away - crowded - (0 if inside else 1e3))

    return max(boxes, key=score) if boxes else np.concatenate([frame[:2], frame[:2]])


def _distance(box: Array, points: Array) -> float:
    if not len(points):
        return np.inf
    outside = np.maximum(np.maximum(box[:2] - points, points - box[2:]), 0)
    return float(np.hypot(outside[:, 0], outside[:, 1]).min())


def _inside(box: Array, points: Array) -> float:
    return float(((points >= box[:2]) & (points <= box[2:])).all(1).sum())


def _apart(box: Array, other: Array) -> float:
    gap = np.maximum(np.maximum(box[:2] - other[2:], other[:2] - box[2:]), 0)
    return float(np.hypot(*gap))
