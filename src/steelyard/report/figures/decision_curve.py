"""DecisionCurveDisplay: the net benefit of acting on each model over the threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from steelyard.analysis.results.result import Rows
from steelyard.analysis.thresholds.decision_curve import decision_curve, shown_thresholds
from steelyard.evaluation.score_dots import RARE
from steelyard.report.figures import caption_text, score_curves, style
from steelyard.report.figures.display import Record, ScoreDisplay, evaluations, records, scores_of
from steelyard.report.figures.line_labels import Line, block, block_above, in_the_way, is_crowded, label_lines
from steelyard.report.figures.value_labels import named_values
from steelyard.report.palette import inks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from steelyard._types import Array
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.report.figures.figure_types import DrawingArea, DrawnAxes, Evaluations

_MOST_TICKS = 6  # on the x axis, whose numbers are long where positives are rare
_MOST_BAND = 1.3  # of the height of the curves: what the y axis shows of wide bands


@dataclass(frozen=True, eq=False)
class BenefitLine:
    """A model's net benefit over the thresholds, with the ends of its intervals, and that of treating everybody."""

    name: str
    value: Array
    low: Array
    high: Array
    treat_all: Array


@dataclass(eq=False, repr=False)
class DecisionCurveDisplay(ScoreDisplay):
    """Decision curves: net benefit over the threshold, beside treating everybody and treating nobody.

    The thresholds reach as far as some model is worth acting on; `thresholds=` names others. Where fewer than 5 % are
    positive they are even in log-odds. The bands are intervals at each threshold alone.

    >>> display = DecisionCurveDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], thresholds=[0.2])
    >>> [round(row["net_benefit"], 4) for row in display.frame()]
    [0.4375]
    """

    thresholds: Array
    lines: tuple[BenefitLine, ...]
    rows: str
    standardized: bool
    level: float
    clustered: bool
    is_logit: bool = False

    @classmethod
    def from_evaluation(
        cls,
        evaluation: Evaluations,
        *,
        thresholds: ArrayLike | None = None,
        standardized: bool = False,
        ax: DrawingArea | None = None,
    ) -> Self:
        """The curve of an Evaluation of probabilities, or those of several by name."""
        by_model = evaluations(evaluation, "A decision curve", scores=True)
        cuts = _thresholds(by_model) if thresholds is None else np.unique(np.asarray(thresholds, dtype=np.float64))
        lines = tuple(_line(name, each, cuts, standardized=standardized) for name, each in by_model.items())
        clustered = any(each.is_clustered for each in by_model.values())
        rows, level = caption_text.read_text(by_model.values()), next(iter(by_model.values())).level
        is_logit = len(cuts) > 1 and min(map(score_curves.shown_prevalence, by_model.values())) < RARE
        return cls(cuts, lines, rows, standardized, level, clustered, is_logit).placed(ax)

    def frame(self) -> Rows[Record]:
        """One row per model and threshold."""
        return Rows(
            row
            for line in self.lines
            for row in records(
                model=line.name,
                threshold=self.thresholds,
                net_benefit=line.value,
                low=line.low,
                high=line.high,
                treat_all=line.treat_all,
            )
        )

    def caption(self) -> str:
        """What is drawn, and how the bands were made."""
        what = "Standardized net benefit (1 is a perfect model)" if self.standardized else "Net benefit"
        method = "Wilson's ends of each share, put together by variance"
        bands = f"bands: {caption_text.percent(self.level)} intervals at each threshold ({method})"
        bands = score_curves.NO_BAND if self.clustered else bands
        odds = " in log-odds" if self.is_logit else ""
        return f"{what} over the threshold{odds}, of {self.rows}; {bands}; thin: treating everybody, and nobody."

    def _draw(self, ax: Axes) -> DrawnAxes:
        per = "Standardized net benefit" if self.standardized else "Net benefit per row"
        first = self.thresholds[0] if self.is_logit else 0
        if self.is_logit:
            style.logit_scale(ax)
        else:
            ax.locator_params(axis="x", nbins=_MOST_TICKS)
        ax.set(xlabel="Threshold (act at or above)", ylabel=per, xlim=(first, self.thresholds[-1]), ylim=self._limits())
        drawn, edges = self._defaults(ax), []
        for i, line in enumerate(self.lines):
            ink = style.colour(i)
            name = caption_text.drawn_label(line.name, 20) or "model"
            drawn.append(Line(self.thresholds, line.value, name, ink))
            edges += score_curves.draw_banded(
                ax, drawn[-1], None if self.clustered else (line.low, line.high), i, len(self.lines)
            )
        words = [("- - treat everybody", inks().soft), ("— treat nobody", inks().soft)]
        named = [*named_values((line.name, "") for line in self.lines), *words]
        if is_crowded(named):
            block_above(ax, named)
            return ax
        room = block(ax, words, drawn, edges)
        label_lines(ax, [*drawn, *in_the_way(ax, room)])
        return ax

    def _limits(self) -> tuple[float, float]:
        """The ends of the y axis: all that is to be gained, what is lost down to as much, and of the bands a little."""
        values = np.concatenate([line.value for line in self.lines])
        top = max(float(values.max()), *(float(line.treat_all[0]) for line in self.lines))
        edges = values if self.clustered else np.concatenate([line.high for line in self.lines])
        bottom = -min(max(-float(values.min()), 0.15 * top), top)
        return 1.05 * bottom, 1.05 * min(float(edges.max()), _MOST_BAND * top)

    def _defaults(self, ax: Axes) -> list[Line]:
        """Treating everybody, of groups of several prevalences in the colour of each, and nobody."""
        ax.axhline(0, color=inks().grey, linewidth=0.8)
        lines = [Line(np.array(ax.get_xlim()), np.zeros(2))]
        together = all(np.allclose(line.treat_all, self.lines[0].treat_all) for line in self.lines)
        for i, line in enumerate(self.lines[:1] if together else self.lines):
            ink = inks().grey if together else style.colour(i)
            ax.plot(self.thresholds, line.treat_all, color=ink, linestyle=style.CHANCE, linewidth=0.8)
            seen = line.treat_all > ax.get_ylim()[0]
            lines.append(Line(self.thresholds[seen], line.treat_all[seen]))
        return lines


def _thresholds(by_model: dict[str, Evaluation]) -> Array:
    """The thresholds worth showing, of all models together."""
    shown = [shown_thresholds([scores_of(each)], score_curves.shown_prevalence(each)) for each in by_model.values()]
    return max(shown, key=lambda cuts: float(cuts[-1]))


def _line(name: str, evaluation: Evaluation, cuts: Array, *, standardized: bool) -> BenefitLine:
    points = decision_curve(
        scores_of(evaluation),
        thresholds=cuts,
        standardized=standardized,
        prevalence=evaluation.prevalence,
        level=evaluation.level,
    )
    columns = ("net_benefit", "low", "high", "treat_all")
    return BenefitLine(name, *(np.array([getattr(point, column) for point in points]) for column in columns))
