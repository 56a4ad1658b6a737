"""GainDisplay: the share of the positives that is found, or the lift, over the share of the rows that is flagged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from steelyard.analysis.results.result import Rows
from steelyard.analysis.thresholds.bands import gain_bounds, gain_points, rate_band, thinned
from steelyard.exceptions import InputError
from steelyard.metrics.registry import get_metric
from steelyard.report.figures import caption_text, score_curves, style
from steelyard.report.figures.display import Record, ScoreDisplay, evaluations, records, scores_of
from steelyard.report.figures.line_labels import Line, block_or_shorter, block_with_room, in_the_way, label_lines
from steelyard.report.figures.value_labels import row_labels
from steelyard.report.palette import inks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steelyard._types import Array
    from steelyard.analysis.intervals.interval import Interval
    from steelyard.evaluation.evaluation import Evaluation, MetricRow
    from steelyard.report.figures.figure_types import DrawingArea, DrawnAxes, Evaluations

_NUMBERS = {"gain": ("gini", "accuracy ratio"), "lift": ("lift", "lift of the first 10 %")}
_GRID = np.linspace(0, 1, 401)[1:]
_FIRST_SHARES = 200  # of flagged rows that are also drawn, by their logarithms
_RARE = 0.05  # a prevalence below which the lift is drawn over the logarithm of the share


@dataclass(frozen=True, eq=False)
class GainLine:
    """A model's curve with its band, at the thresholds, and as drawn at shares of flagged rows between them too."""

    name: str
    threshold: Array
    flagged: Array
    recall: Array
    drawn: tuple[Array, Array, Array, Array]  # the share flagged, the recall and the ends of its band
    prevalence: float
    number: MetricRow | Interval  # the accuracy ratio, or the lift of the first rows

    def perfect(self, flagged: Array) -> Array:
        """The recall of a perfect model."""
        return np.asarray(np.minimum(flagged / self.prevalence, 1))


@dataclass(eq=False, repr=False)
class GainDisplay(ScoreDisplay):
    """Cumulative gain (CAP) curves: recall over the share of rows flagged; kind="lift" divides by that share.

    The accuracy ratio is the area between the curve and no skill over that between a perfect model and no skill; it is
    Gini's coefficient, 2 ROC AUC - 1, at every prevalence. Lift is precision over prevalence. With the level the whole
    curve of the population lies in its band.

    >>> display = GainDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> [(row["flagged"], row["recall"], row["lift"]) for row in display.frame()][1:]
    [(0.25, 0.5, 2.0), (0.5, 0.5, 1.0), (0.75, 1.0, 1.3333333333333333), (1.0, 1.0, 1.0)]
    """

    needs: ClassVar[tuple[str, ...]] = (_NUMBERS["gain"][0],)

    lines: tuple[GainLine, ...]
    rows: str
    kind: str
    level: float
    clustered: bool

    @classmethod
    def from_evaluation(cls, evaluation: Evaluations, *, kind: str = "gain", ax: DrawingArea | None = None) -> Self:
        """The curve of an Evaluation of scores, or those of several by name."""
        if kind not in _NUMBERS:
            raise InputError(argument="kind", expected=f"one of {', '.join(_NUMBERS)}", given=kind)
        by_model = evaluations(evaluation, f"A {kind} curve", scores=True)
        lines = tuple(_line(name, each, kind) for name, each in by_model.items())
        clustered = any(each.is_clustered for each in by_model.values())
        level = next(iter(by_model.values())).level
        return cls(lines, caption_text.read_text(by_model.values()), kind, level, clustered).placed(ax)

    @property
    def height(self) -> float:
        """Inches: of the gain a square, and the words of its axes."""
        return 3.3 if self.kind == "gain" else 2.8

    def frame(self) -> Rows[Record]:
        """One row per model and drawn threshold: the share flagged, recall, lift, and the ends of the band drawn."""
        return Rows(row for line in self.lines for row in self._records(line))

    def _records(self, line: GainLine) -> Rows[Record]:
        places = np.searchsorted(line.drawn[0], line.flagged)
        low, high = (self._shown(line.flagged, side[places]) for side in line.drawn[2:])
        lift = _over(line.recall, line.flagged)
        return records(
            model=line.name,
            threshold=line.threshold,
            flagged=line.flagged,
            recall=line.recall,
            lift=lift,
            low=low,
            high=high,
        )

    def _shown(self, flagged: Array, recall: Array) -> Array:
        return recall if self.kind == "gain" else _over(recall, flagged)

    def caption(self) -> str:
        """The accuracy ratios, or lifts, with their intervals, and how the band was made."""
        level, (_, number) = caption_text.percent(self.level), _NUMBERS[self.kind]
        what = "Cumulative gain (CAP)" if self.kind == "gain" else "Lift"
        numbers = "; ".join(
            caption_text.with_name(line.name, f"{number} {caption_text.area_text(line.number)}") for line in self.lines
        )
        numbers = numbers[0].upper() + numbers[1:] if len(self.lines) == 1 else numbers
        band = f"band: {level} simultaneous confidence band of the curve"
        band = score_curves.NO_BAND if self.clustered else band
        grey = "dashed: no-skill baseline"
        grey += "; grey: a perfect model" if score_curves.have_one_prevalence(self.lines) else ""
        return f"{what} over the share of rows flagged, of {self.rows}. {numbers} ({level} interval); {band}; {grey}."

    def _draw(self, ax: Axes) -> DrawnAxes:
        self._axes(ax)
        drawn, edges = [], []
        for i, line in enumerate(self.lines):
            x = line.drawn[0]
            y, low, high = (self._shown(x, column) for column in line.drawn[1:])
            drawn.append(Line(x, y))
            edges += score_curves.draw_banded(
                ax, drawn[-1], None if self.clustered else (low, high), i, len(self.lines)
            )
        grey = self._references(ax)
        labels = row_labels(_NUMBERS[self.kind][1], self.level, [(line.name, line.number) for line in self.lines])
        if self.kind == "gain":
            room = block_or_shorter(ax, labels, [*drawn, *grey], edges)
        else:
            room = block_with_room(ax, labels, [*drawn, *grey, *_filled(ax, edges)])
        label_lines(ax, [*grey, *drawn, *in_the_way(ax, room)])
        return ax

    def _axes(self, ax: Axes) -> None:
        ax.set(xlabel="Share of rows flagged", ylabel=style.RECALL)
        if self.kind == "gain":
            style.unit_square(ax, "Share of rows flagged", style.RECALL)
            return
        top = max(float(np.nanmax(_over(line.recall, line.flagged))) for line in self.lines)
        ax.set(ylabel="Lift (precision over prevalence)", xlim=(0, 1), ylim=(0, 1.1 * top))
        if min(line.prevalence for line in self.lines) < _RARE:
            ax.set(xscale="log", yscale="log", xlim=(self._first, 1), ylim=(0.5, 2 * top))
            for axis in (ax.xaxis, ax.yaxis):
                axis.set_major_formatter("{x:g}")

    @property
    def _first(self) -> float:
        """The least share of rows that a threshold flags."""
        return min(float(line.flagged[line.flagged > 0].min()) for line in self.lines)

    def _references(self, ax: Axes) -> list[Line]:
        """The no-skill baseline and, of one prevalence, a perfect model."""
        x = np.unique([self._first, *_GRID, self.lines[0].prevalence])
        lines = [Line(x, self._shown(x, x), "no skill", inks().soft)]
        ax.plot(x, lines[0].y, color=inks().grey, linestyle=style.CHANCE, linewidth=0.8)
        if score_curves.have_one_prevalence(self.lines):
            lines.append(Line(x, self._shown(x, self.lines[0].perfect(x)), "perfect", inks().soft))
            ax.plot(x, lines[1].y, color=inks().grey, linewidth=0.8)
        return lines


def _filled(ax: Axes, edges: list[Line]) -> list[Line]:
    """The edges of bands, two of each, and lines between them, so that words keep clear of the bands too."""
    bottom = ax.get_ylim()[0] or np.finfo(float).tiny
    pairs = [(low.x, np.maximum(low.y, bottom), high.y) for low, high in zip(edges[::2], edges[1::2], strict=True)]
    return [Line(x, low ** (1 - part) * high**part) for x, low, high in pairs for part in np.linspace(0, 1, 9)]


def _over(recall: Array, flagged: Array) -> Array:
    """The lift, which flagging nobody has none of."""
    return np.asarray(np.divide(recall, flagged, out=np.full(len(flagged), np.nan), where=flagged > 0))


def _line(name: str, evaluation: Evaluation, kind: str) -> GainLine:
    table, share = scores_of(evaluation), score_curves.shown_prevalence(evaluation)
    curve = gain_points(table, share)
    places = thinned(curve.flagged, curve.recall)
    flagged, recall, thresholds = (column[places] for column in curve)
    x = np.unique([*flagged, *_GRID, *np.geomspace(curve.flagged[1], 1, _FIRST_SHARES)])
    y, nothing = np.interp(x, curve.flagged, curve.recall), np.full(len(x), np.nan)
    if evaluation.is_clustered:
        low = high = nothing
    else:
        known = score_curves.prevalences(evaluation, table, get_metric("precision"))
        ends = gain_bounds(rate_band(table, known.level, np.union1d(0, places)), known.shares, x)
        low, high = np.minimum(ends[0], y), np.maximum(ends[1], y)
    row = caption_text.metric_row(evaluation, _NUMBERS[kind][0])
    return GainLine(name, thresholds, flagged, recall, (x, y, low, high), share, row)
