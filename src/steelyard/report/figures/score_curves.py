"""Score curves: one model's line over every threshold with its band, area and working point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

import numpy as np

from steelyard.analysis.intervals.inference import STRATIFIED
from steelyard.analysis.prevalence.prevalence import at_prevalence, positive_shares
from steelyard.analysis.results.formatting import listed
from steelyard.analysis.thresholds.bands import band_prevalences, rate_band, thinned
from steelyard.metrics.curves import roc_points
from steelyard.metrics.registry import get_metric
from steelyard.report.figures import caption_text, style
from steelyard.report.figures.display import scores_of
from steelyard.report.figures.line_labels import Line, block_or_shorter
from steelyard.report.figures.value_labels import in_lines, row_labels
from steelyard.report.palette import inks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from matplotlib.axes import Axes

    from steelyard._types import Array
    from steelyard.analysis.intervals.interval import Interval
    from steelyard.analysis.thresholds.bands import BandPrevalences
    from steelyard.evaluation.evaluation import Evaluation, MetricRow
    from steelyard.metrics.curves import PrecisionRecallCurve, RocCurve
    from steelyard.metrics.measure import Metric
    from steelyard.tables.score_table import ScoreTable

_SAME = 1e-9  # how far prevalences may differ that are shown as one
NO_BAND = "no band: rows in clusters are not independent"
Points = TypeVar("Points", "RocCurve", "PrecisionRecallCurve")


@dataclass(frozen=True, eq=False)
class CurveBand:
    """The band of a curve: its ends at each drawn threshold, and its outline over the x axis."""

    low: Array
    high: Array
    x: Array
    lowest: Array
    highest: Array

    def words(self, level: float, what: str) -> str:
        """What the band is, or why there is none."""
        if not len(self.x):
            return NO_BAND
        return f"band: {caption_text.percent(level)} simultaneous confidence band of {what}, at all thresholds together"


@dataclass(frozen=True, eq=False)
class Curve:
    """A model's line: x and y at each threshold, the band there and as drawn, the area, the threshold in use."""

    name: str
    x: Array
    y: Array
    thresholds: Array
    band: CurveBand
    area: MetricRow | Interval
    point: tuple[float, ...] | None
    threshold: float | None
    level: float

    def words(self, what: str) -> str:
        """The area in words, by name where there are several."""
        return caption_text.with_name(
            self.name, f"{what if self.name else what.capitalize()} {caption_text.area_text(self.area)}"
        )


def curve_points(evaluation: Evaluation, points: Callable[[ScoreTable], Points]) -> tuple[Points, Array]:
    """The curve of the scores where the evaluation is read, and the places of the points to draw."""
    table = scores_of(evaluation)
    curve = points(table if evaluation.prevalence is None else at_prevalence(table, evaluation.prevalence))
    return curve, thinned(curve[0], curve[1])


def shown_prevalence(evaluation: Evaluation) -> float:
    """The prevalence at which an evaluation of scores is read: the one given, or the sample's."""
    table = scores_of(evaluation)
    if evaluation.prevalence is None:
        return float(table.positive.total / table.total)
    return float(positive_shares(table, evaluation.prevalence))


def working_point(evaluation: Evaluation, *names: str) -> tuple[float, ...] | None:
    """The values of the metrics at the threshold in use; None where there is none, or one of them is undefined."""
    if evaluation.counts is None or evaluation.threshold is None:
        return None
    rates = tuple(caption_text.metric_row(evaluation, name).value for name in names)
    return rates if np.isfinite(rates).all() else None


def curve_band(evaluation: Evaluation, places: Array, metric: str, over: str) -> CurveBand:
    """The simultaneous band of a curve at its drawn places, of all thresholds; none where rows are in clusters."""
    table = scores_of(evaluation)
    if evaluation.is_clustered:
        nothing = np.full(len(places), np.nan)
        return CurveBand(nothing, nothing, np.zeros(0), np.zeros(0), np.zeros(0))
    of = get_metric(metric)
    known = prevalences(evaluation, table, of)
    band, rates = rate_band(table, known.level, np.union1d(0, places)), roc_points(table)
    at, x, steps = (
        (band.at_recall, rates.tpr[places], (band.recall_low, band.recall_high))
        if over == "recall"
        else (band.at_fpr, rates.fpr[places], (band.fpr_low, band.fpr_high))
    )
    sides = [np.clip(np.nextafter(step, end), 0, 1) for step in steps for end in (-1, 2)]
    grid = np.unique(np.concatenate([np.linspace(0, 1, 201), *steps, *sides]))
    ends, outline = (at(axis).bounds(of, float(table.total), *known.shares) for axis in (x, grid))
    if over == "recall":
        return CurveBand(*ends, grid, *outline)
    # Every ROC curve begins at (0, 0) and ends at (1, 1), and so does its band.
    closed = [np.concatenate([[0], side, [1]]) for side in (grid, *outline)]
    return CurveBand(*ends, *closed)


def prevalences(evaluation: Evaluation, table: ScoreTable, metric: Metric) -> BandPrevalences:
    """The prevalences at which the band of a metric is read."""
    stratified = STRATIFIED in evaluation.assumed
    return band_prevalences(metric, table, evaluation.level, evaluation.prevalence, stratified=stratified)


def draw_curve(
    ax: Axes, curve: Curve, i: int, of: int, *, step: Literal["pre"] | None = None, faint: bool = False
) -> None:
    """The line with its band and its point."""
    colour = inks().this if faint else style.colour(i)
    drawstyle = f"steps-{step}" if step else "default"
    x, y, band = curve.x, curve.y, curve.band
    if step:  # the first step has a width too, from 0 on
        x, y = np.append(0, x), np.append(y[0], y)
    if not faint:
        style.draw_band(ax, band.x, band.lowest, band.highest, i, of)
    line: dict[str, Any] = {"alpha": 0.45, "linewidth": 0.8} if faint else {"linestyle": style.dash(i)}
    ax.plot(x, y, color=colour, drawstyle=drawstyle, **line)
    if curve.point and not faint:
        style.draw_mark(ax, curve.point[0], curve.point[1], i)


def draw_banded(ax: Axes, line: Line, band: tuple[Array, Array] | None, i: int, of: int) -> list[Line]:
    """The i-th of some models' line and its band, whose edges are given back."""
    ax.plot(line.x, line.y, color=style.colour(i), linestyle=style.dash(i))
    if band is None:
        return []
    style.draw_band(ax, line.x, *band, i, of)
    return [Line(line.x, side) for side in band]


class _HasPrevalence(Protocol):
    @property
    def prevalence(self) -> float: ...


def have_one_prevalence(lines: Iterable[_HasPrevalence]) -> bool:
    """Whether all models are read at one prevalence, and so beside one baseline."""
    return float(np.ptp([line.prevalence for line in lines])) < _SAME


def label_areas(ax: Axes, curves: tuple[Curve, ...], what: str, avoid: list[Line], *, folds: bool) -> Array:
    """The areas in the colours of their lines, where the drawing leaves room; returns the room in pixels."""
    if folds:
        labels = [in_lines(over_folds(curves, what))]
    else:
        labels = row_labels(what, curves[0].level, [(curve.name, curve.area) for curve in curves])
    drawn = [Line(np.append(0, c.x), np.append(c.y[0], c.y)) for c in curves]
    bands = [] if folds else [c.band for c in curves if len(c.band.x)]
    edges = [Line(band.x, side) for band in bands for side in (band.lowest, band.highest)]
    return block_or_shorter(ax, labels, [*drawn, *avoid], edges)


def marked_thresholds(curves: tuple[Curve, ...]) -> str:
    """The threshold that each point marks."""
    marked = [c for c in curves if c.point is not None and c.threshold is not None]
    if not marked:
        return ""
    texts = [caption_text.threshold_text(curve.threshold) for curve in marked]
    if len({curve.threshold for curve in marked}) == 1:
        return f"; the point{'s mark' if len(marked) > 1 else ' marks'} the threshold {texts[0]}"
    thresholds = listed([f"{text} ({curve.name})" for text, curve in zip(texts, marked, strict=True)])
    return f"; the points mark the thresholds {thresholds}"


def over_folds(curves: tuple[Curve, ...], what: str) -> str:
    """The mean and the range of the area over folds."""
    areas = np.array([curve.area.value for curve in curves])
    low, mean, high = (caption_text.threshold_text(value) for value in (areas.min(), areas.mean(), areas.max()))
    return f"{what} {mean}, mean of {len(areas)} folds ({low} to {high})"
