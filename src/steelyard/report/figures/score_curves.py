"""Score curves: one model's line over every threshold with its band, area and working point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from steelyard.analysis.formatting import listed
from steelyard.analysis.intervals import intervals
from steelyard.analysis.prevalence import at_prevalence
from steelyard.auditing.decision_store import recalled_decisions
from steelyard.metrics.registry import get_metric
from steelyard.report.figures import caption_text, style
from steelyard.report.figures.display import scores_of
from steelyard.report.figures.line_labels import Line, block
from steelyard.statistics.effective_rows import weight_per_row

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

    from steelyard._types import Array
    from steelyard.analysis.interval import Interval
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.evaluation.metric_row import MetricRow
    from steelyard.metrics.curves import PrecisionRecallCurve, RocCurve
    from steelyard.statistics.counts import Counts
    from steelyard.statistics.score_table import ScoreTable

Points = TypeVar("Points", "RocCurve", "PrecisionRecallCurve")
_BAND_DRAWS = 2_000  # for a band at another prevalence, which has no closed form


@dataclass(frozen=True, eq=False)
class Curve:
    """A model's line: x and y at each threshold, the band of y, the area with its interval, the threshold in use."""

    name: str
    x: Array
    y: Array
    thresholds: Array
    low: Array
    high: Array
    area: MetricRow | Interval
    point: tuple[float, ...] | None
    threshold: float | None
    level: float
    method: str

    def words(self, what: str) -> str:
        """The area in words, by name where there are several."""
        return caption_text.with_name(
            self.name, f"{what if self.name else what.capitalize()} {caption_text.area_text(self.area)}"
        )


def curve_points(evaluation: Evaluation, points: Callable[[ScoreTable], Points]) -> tuple[Points, Array]:
    """The curve of the scores where the evaluation is read, and the places of the points to draw."""
    table = scores_of(evaluation)
    curve = points(table if evaluation.prevalence is None else at_prevalence(table, evaluation.prevalence))
    return curve, style.thinned(curve[0], curve[1])


def working_point(evaluation: Evaluation, *names: str) -> tuple[float, ...] | None:
    """The values of the metrics at the threshold in use; None where there is none, or one of them is undefined."""
    if evaluation.counts is None or evaluation.threshold is None:
        return None
    rates = tuple(caption_text.metric_row(evaluation, name).value for name in names)
    return rates if np.isfinite(rates).all() else None


def rate_band(metric: str, evaluation: Evaluation, places: Array) -> tuple[Array, Array, str]:
    """The interval of a rate at each threshold, and its method: Jeffreys', at another prevalence the posterior's.

    Weighted rows count by their effective sample size: the squared sum of the weights over the sum of their squares.
    """
    counts = _effective(scores_of(evaluation), metric)[places]
    method = "jeffreys" if evaluation.prevalence is None else "posterior"
    draws = None if evaluation.prevalence is None else _BAND_DRAWS
    interval = intervals(
        [metric], counts, method=method, level=evaluation.level, prevalence=evaluation.prevalence, draws=draws
    )[0]
    return np.asarray(interval.low), np.asarray(interval.high), interval.method


def _effective(table: ScoreTable, metric: str) -> Counts[Array]:
    if not table.weighted:
        return table.counts
    weight, squares = np.array([[scores.total, scores.squares.sum()] for scores in table.classes], dtype=float).T
    # Precision mixes the classes, so both are scaled alike or its value would move.
    by_class = (weight, squares) if _is_of_one_class(metric) else ([weight.sum()] * 2, [squares.sum()] * 2)
    positives, negatives = 1 / weight_per_row(*by_class)
    return table.counts.scaled(positives=float(positives), negatives=float(negatives))


def _is_of_one_class(metric: str) -> bool:
    """Whether the shares of the classes do not enter the metric, by what is proved of it."""
    decision = recalled_decisions(get_metric(metric)).get("prevalence_invariance")
    return decision is not None and decision.holds is True


def draw_curve(ax: Axes, curve: Curve, i: int, *, step: Literal["pre"] | None = None, faint: bool = False) -> None:
    """The line with its band and its point."""
    colour = style.THIS if faint else style.colour(i)
    drawstyle = f"steps-{step}" if step else "default"
    x, y, low, high = curve.x, curve.y, curve.low, curve.high
    if step:  # the first step has a width too, from 0 on
        x, (y, low, high) = np.append(0, x), (np.append(column[0], column) for column in (y, low, high))
    if not faint:
        ax.fill_between(x, low, high, step=step, color=colour, alpha=0.16, linewidth=0, zorder=1.5)
    line: dict[str, Any] = {"alpha": 0.45, "linewidth": 0.8} if faint else {"linestyle": style.dash(i)}
    ax.plot(x, y, color=colour, drawstyle=drawstyle, **line)
    if curve.point and not faint:
        ax.plot(*curve.point, style.MARKS[i], color=colour, markersize=4.5, markeredgecolor="white", zorder=4)


def label_areas(ax: Axes, curves: tuple[Curve, ...], what: str, avoid: list[Line], *, folds: bool) -> Array:
    """The areas in the colours of their lines, where the drawing leaves room; returns the room in pixels."""
    if folds:
        first, _, rest = over_folds(curves, what).partition(" (")
        lines = [(first, style.THIS), (f"({rest}", style.THIS)]
    elif len(curves) == 1:
        lines = [(f"{what} {caption_text.area_text(curves[0].area)}", style.THIS)]
    else:
        lines = [(f"{what} ({caption_text.percent(curves[0].level)} interval)", style.GREY)]
        lines += [
            (
                f"{style.sample(i)}{caption_text.drawn_label(c.name, 20)} {caption_text.area_text(c.area)}",
                style.colour(i),
            )
            for i, c in enumerate(curves)
        ]
    drawn = [
        Line(np.append(0, c.x), np.append(y[0], y)) for c in curves for y in ((c.y,) if folds else (c.y, c.low, c.high))
    ]
    return block(ax, lines, [*drawn, *avoid])


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
