"""CostEnvelopes: the normalized expected cost of the best threshold over the probability cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from steelyard.analysis.results.formatting import three_digits
from steelyard.analysis.results.result import Rows
from steelyard.analysis.thresholds.bands import rate_band, thinned
from steelyard.analysis.thresholds.costs import cost_bounds, even_costs
from steelyard.metrics.curves import roc_points
from steelyard.report.figures import caption_text, score_curves, style
from steelyard.report.figures.display import Record, ScoreDisplay, evaluations, records, scores_of
from steelyard.report.figures.line_labels import Line, block_with_room, in_the_way, label_lines
from steelyard.report.figures.value_labels import named_values
from steelyard.report.palette import inks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steelyard._types import Array
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.report.figures.figure_types import DrawingArea, DrawnAxes, Evaluations
    from steelyard.report.figures.value_labels import InkedWords

_GRID = np.linspace(0, 1, 201)
_MOST = 0.5  # what the worst of always and never positive costs


@dataclass(frozen=True, eq=False)
class CostLine:
    """A model's envelope with the ends of its band and the best threshold, the area, and the threshold in use."""

    name: str
    probability_cost: Array
    cost: Array
    low: Array
    high: Array
    best_threshold: Array
    area: float
    prevalence: float
    threshold: float | None
    rates: tuple[float, ...] | None  # of false positives and false negatives, at the threshold in use


@dataclass(eq=False, repr=False)
class CostEnvelopes(ScoreDisplay):
    """Lower envelopes of the costs of all thresholds, beside always and never predicting the positive class."""

    lines: tuple[CostLine, ...]
    rows: str
    level: float
    clustered: bool

    @classmethod
    def from_evaluation(cls, evaluation: Evaluations, *, ax: DrawingArea | None = None) -> Self:
        """The curve of an Evaluation of scores, or those of several by name."""
        by_model = evaluations(evaluation, "A cost curve", scores=True)
        lines = tuple(_line(name, each) for name, each in by_model.items())
        clustered = any(each.is_clustered for each in by_model.values())
        level = next(iter(by_model.values())).level
        return cls(lines, caption_text.read_text(by_model.values()), level, clustered).placed(ax)

    def frame(self) -> Rows[Record]:
        """One row per model and drawn probability cost."""
        columns = ("probability_cost", "cost", "low", "high", "best_threshold")
        return Rows(
            row
            for line in self.lines
            for row in records(model=line.name, **{key: getattr(line, key) for key in columns})
        )

    def caption(self) -> str:
        """The areas, how the bands were made, and what the other lines are."""
        areas = "; ".join(caption_text.with_name(line.name, f"area {three_digits(line.area)}") for line in self.lines)
        areas = areas[0].upper() + areas[1:] if len(self.lines) == 1 else areas
        band = f"band: {caption_text.percent(self.level)} simultaneous confidence band of the curve"
        band = score_curves.NO_BAND if self.clustered else band
        grey = ["dashed: always and never positive"]
        if score_curves.have_one_prevalence(self.lines):
            grey.append(f"vertical: errors of equal costs, {caption_text.share(self.lines[0].prevalence)}")
        if self._in_use is not None:
            grey.append(f"thin: the threshold {caption_text.threshold_text(self._in_use.threshold)}")
        what = f"Normalized expected cost of the best threshold over the probability cost, of {self.rows}"
        return f"{'; '.join([f'{what}. {areas}', band, *grey])}."

    @property
    def _in_use(self) -> CostLine | None:
        """The model whose threshold in use is drawn: the only one, where it has one."""
        return self.lines[0] if len(self.lines) == 1 and self.lines[0].rates is not None else None

    def _draw(self, ax: Axes) -> DrawnAxes:
        ax.set(xlabel="Probability cost PC(+)", ylabel="Normalized expected cost", xlim=(0, 1), ylim=(0, 1.08 * _MOST))
        drawn, edges = [], []
        for i, line in enumerate(self.lines):
            drawn.append(Line(line.probability_cost, line.cost))
            edges += score_curves.draw_banded(
                ax, drawn[-1], None if self.clustered else (line.low, line.high), i, len(self.lines)
            )
        straight = self._straight(ax)
        room = block_with_room(ax, [self._labels()], [*drawn, *straight, *edges])
        label_lines(ax, [*straight, *drawn, *in_the_way(ax, room)])
        return ax

    def _straight(self, ax: Axes) -> list[Line]:
        """Always and never positive up to where they meet, and of one model the threshold in use."""
        left, right, share = _GRID[_GRID <= _MOST], _GRID[_GRID >= _MOST], self.lines[0].prevalence
        lines = [
            Line(left, left, "never positive", inks().soft),
            Line(right, 1 - right, "always positive", inks().soft),
        ]
        if (model := self._in_use) is not None:
            y = np.interp(_GRID, [0, 1], model.rates or ())
            words = f"threshold {caption_text.threshold_text(model.threshold)}"
            lines.append(Line(_GRID[y <= _MOST], y[y <= _MOST], words, inks().this))
        for line in lines:
            dash = style.CHANCE if line.colour == inks().soft else "-"
            ax.plot(line.x, line.y, color=line.colour, linestyle=dash, linewidth=0.8)
        if score_curves.have_one_prevalence(self.lines):
            lines.append(Line(np.full(2, share), np.array([0, _MOST]), "equal costs", inks().soft))
            ax.plot(lines[-1].x, lines[-1].y, color=inks().grey, linewidth=0.6)
        return lines

    def _labels(self) -> InkedWords:
        if len(self.lines) == 1:
            return [(f"area {three_digits(self.lines[0].area)}", inks().this)]
        return [("area", inks().soft), *named_values((line.name, three_digits(line.area)) for line in self.lines)]


def _line(name: str, evaluation: Evaluation) -> CostLine:
    table = scores_of(evaluation)
    costs = even_costs(table)
    x = np.union1d(_GRID, 1 - costs.edges)
    y = costs.at(1 - x)
    places = thinned(*roc_points(table)[:2])
    low, high = cost_bounds(rate_band(table, evaluation.level, np.union1d(0, places)), x)
    if evaluation.is_clustered:
        low = high = np.full(len(x), np.nan)
    best = costs.thresholds[np.searchsorted(costs.edges[1:-1], 1 - x)]
    rates = score_curves.working_point(evaluation, "specificity", "recall")
    used = None if rates is None else (1 - rates[0], 1 - rates[1])
    share = score_curves.shown_prevalence(evaluation)
    low, high = np.minimum(low, y), np.maximum(high, y)
    return CostLine(name, x, y, low, high, best, costs.mean, share, evaluation.threshold, used)
