"""MurphyDisplay: the mean elementary score of each model over the threshold, whose area is the Brier score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Self

import numpy as np

from steelyard.analysis.prevalence.prevalence import at_prevalence
from steelyard.analysis.results.result import Rows
from steelyard.analysis.thresholds.bands import thinned
from steelyard.analysis.thresholds.costs import ExpectedCosts
from steelyard.metrics.ranking import check_probabilities
from steelyard.report.figures import caption_text, score_curves, style
from steelyard.report.figures.display import Record, ScoreDisplay, evaluations, records, scores_of
from steelyard.report.figures.line_labels import Line, block_with_room
from steelyard.report.figures.value_labels import row_labels
from steelyard.report.palette import inks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steelyard._types import Array
    from steelyard.analysis.intervals.interval import Interval
    from steelyard.evaluation.evaluation import Evaluation, MetricRow
    from steelyard.report.figures.figure_types import DrawingArea, DrawnAxes, Evaluations
    from steelyard.report.figures.value_labels import InkedWords

_BRIER = "brier"


class CostWords(NamedTuple):
    """How a figure of costs over the threshold puts them: its axes, columns, and what its lines are called."""

    what: str
    over: str
    x: str
    y: str
    columns: dict[str, str]  # those of a line, and what the rows behind the picture call them
    recalibrated: str
    no_skill: str
    each: str


@dataclass(frozen=True, eq=False)
class MurphyLine:
    """A model's curve with its intervals, the same after isotonic recalibration, that of the prevalence, the area."""

    name: str
    threshold: Array
    elementary_score: Array
    low: Array
    high: Array
    recalibrated: Array
    prevalence: float
    brier: MetricRow | Interval

    @property
    def no_skill(self) -> Array:
        """The curve of always predicting the prevalence."""
        return _of_prevalence(self.threshold, self.prevalence)


_COLUMNS = ("threshold", "elementary_score", "low", "high", "recalibrated", "no_skill")


@dataclass(eq=False, repr=False)
class MurphyDisplay(ScoreDisplay):
    """Murphy diagram: twice the mean elementary score of probabilities over the threshold, lower being better.

    At a threshold t a missed positive costs 2 (1 - t) and a false alarm 2 t, so that the area under the curve is the
    Brier score (Ehm, Gneiting, Jordan and Krüger 2016, who leave out the 2). A model whose curve is nowhere above
    another's has the better mean of every proper score. Between the curve and that of the isotonically recalibrated
    probabilities lies the miscalibration, and from there to that of always predicting the prevalence the
    discrimination. The bands are intervals at each threshold alone.

    >>> display = MurphyDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> [round(row["elementary_score"], 4) for row in display.frame()][2:6]
    [0.05, 0.175, 0.5, 0.5]
    """

    needs: ClassVar[tuple[str, ...]] = (_BRIER,)
    words: ClassVar[CostWords] = CostWords(
        what="Murphy diagram",
        over="twice the mean elementary score",
        x="Threshold",
        y="Mean elementary score × 2",
        columns={name: name for name in _COLUMNS},
        recalibrated="recalibrated",
        no_skill="always the prevalence",
        each="threshold",
    )

    lines: tuple[MurphyLine, ...]
    rows: str
    level: float
    clustered: bool

    @classmethod
    def from_evaluation(cls, evaluation: Evaluations, *, ax: DrawingArea | None = None) -> Self:
        """The curve of an Evaluation of probabilities, or those of several by name."""
        what = f"A {cls.words.what}"
        by_model = evaluations(evaluation, what, scores=True)
        lines = tuple(_line(name, each, what) for name, each in by_model.items())
        clustered = any(each.is_clustered for each in by_model.values())
        level = next(iter(by_model.values())).level
        return cls(lines, caption_text.read_text(by_model.values()), level, clustered).placed(ax)

    def frame(self) -> Rows[Record]:
        """One row per model and end of a straight piece of its curve."""
        names = self.words.columns.items()
        return Rows(
            row
            for line in self.lines
            for row in records(model=line.name, **{name: getattr(line, key) for key, name in names})
        )

    def caption(self) -> str:
        """The areas with their intervals, and what the other lines are."""
        words, level = self.words, caption_text.percent(self.level)
        areas = "; ".join(
            caption_text.with_name(line.name, f"Brier score {caption_text.area_text(line.brier)}")
            for line in self.lines
        )
        bands = f"bands: {level} intervals at each {words.each} (Wilson's ends of each share, put together by variance)"
        bands = score_curves.NO_BAND if self.clustered else bands
        others = [f"dotted: {words.recalibrated}"] * bool(self._recalibrated)
        others += [f"dashed: {words.no_skill}"] * score_curves.have_one_prevalence(self.lines)
        what = f"{words.what} of {self.rows}: {words.over}, whose area is the Brier score"
        return f"{'; '.join([f'{what}. {areas} ({level} interval)', bands, *others])}."

    @property
    def _recalibrated(self) -> tuple[MurphyLine, ...]:
        """The models whose curve after recalibration is drawn."""
        return self.lines if len(self.lines) == 1 else ()

    def _draw(self, ax: Axes) -> DrawnAxes:
        ax.set(xlabel=self.words.x, ylabel=self.words.y, xlim=(0, 1))
        drawn, edges, first = [], [], self.lines[0]
        for i, line in enumerate(self.lines):
            drawn.append(Line(line.threshold, line.elementary_score))
            edges += score_curves.draw_banded(
                ax, drawn[-1], None if self.clustered else (line.low, line.high), i, len(self.lines)
            )
        for i, line in enumerate(self._recalibrated):
            drawn.append(Line(line.threshold, line.recalibrated))
            ax.plot(line.threshold, line.recalibrated, color=style.colour(i), linestyle=style.dash(2), linewidth=0.9)
        if score_curves.have_one_prevalence(self.lines):
            ends = np.array([0, first.prevalence, 1])
            drawn.append(Line(ends, _of_prevalence(ends, first.prevalence)))
            ax.plot(ends, drawn[-1].y, color=inks().grey, linestyle=style.CHANCE, linewidth=0.8)
        ax.set_ylim(0, 1.05 * max(float(np.nanmax(line.y)) for line in [*drawn, *edges]))
        block_with_room(ax, self._labels(), [*drawn, *edges])
        return ax

    def _labels(self) -> list[InkedWords]:
        """The Brier scores, with intervals and without, and what the other lines are."""
        others = []
        if self._recalibrated:
            ink = inks().this if len(self.lines) == 1 else inks().soft
            others.append((f"{style.sample(2)}{self.words.recalibrated}", ink))
        if score_curves.have_one_prevalence(self.lines):
            others.append((f"- - {self.words.no_skill}", inks().soft))
        scores = row_labels("Brier score", self.level, [(line.name, line.brier) for line in self.lines])
        return [[*labels, *others] for labels in scores]


def _line(name: str, evaluation: Evaluation, what: str) -> MurphyLine:
    table, prevalence = scores_of(evaluation), evaluation.prevalence
    check_probabilities(what, table)
    shifted = table if prevalence is None else at_prevalence(table, prevalence)
    costs, best = ExpectedCosts.at_own_thresholds(shifted), ExpectedCosts.at_best_thresholds(shifted)
    places = thinned(costs.proportions, costs.values)
    x, y, nothing = costs.proportions[places], costs.values[places], np.full(len(places), np.nan)
    ends = costs.ends(table, prevalence, evaluation.level, x, places // 2)
    row, share = caption_text.metric_row(evaluation, _BRIER), score_curves.shown_prevalence(evaluation)
    low, high = (nothing, nothing) if evaluation.is_clustered else (np.minimum(ends[0], y), np.maximum(ends[1], y))
    return MurphyLine(name, x, y, low, high, best.at(x), share, row)


def _of_prevalence(threshold: Array, share: float) -> Array:
    return np.asarray(2 * np.minimum((1 - threshold) * share, threshold * (1 - share)))
