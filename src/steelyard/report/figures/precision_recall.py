"""PrecisionRecallDisplay: precision-recall curves, precision against recall at every threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from steelyard.analysis.results.result import Rows
from steelyard.metrics.curves import precision_recall_points
from steelyard.report.figures import caption_text, score_curves, style
from steelyard.report.figures.display import CurveDisplay, Record, evaluations, records
from steelyard.report.figures.line_labels import Line, is_free
from steelyard.report.figures.score_curves import Curve
from steelyard.report.palette import inks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steelyard._types import Array
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.report.figures.figure_types import DrawingArea, DrawnAxes, Evaluations


@dataclass(eq=False, repr=False)
class PrecisionRecallDisplay(CurveDisplay):
    """Precision-recall curves with their simultaneous confidence bands, and the unachievable region.

    With the level the whole curve of the population, at the prevalence shown, lies in its band; `low` and `high` are
    its ends at that recall.

    The unachievable region lies below the precision of flagging all negatives first (Boyd and others, ICML 2012).

    >>> display = PrecisionRecallDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> [row["recall"] for row in display.frame()]
    [0.5, 0.5, 1.0, 1.0]
    """

    needs: ClassVar[tuple[str, ...]] = ("average_precision",)

    curves: tuple[Curve, ...]
    rows: str
    prevalence: float
    folds: bool = False

    @classmethod
    def from_evaluation(cls, evaluation: Evaluations, *, ax: DrawingArea | None = None) -> Self:
        """The curve of an Evaluation of scores, or those of several by name."""
        by_model = evaluations(evaluation, "A precision-recall curve", scores=True)
        first = next(iter(by_model.values()))
        curves = tuple(_curve(name, each) for name, each in by_model.items())
        return cls(curves, caption_text.rows_text(first), score_curves.shown_prevalence(first)).placed(ax)

    @classmethod
    def _of_folds(cls, folds: list[Evaluation]) -> Self:
        curves = tuple(_curve(f"fold {i}", fold) for i, fold in enumerate(folds, 1))
        prevalence = float(np.mean([score_curves.shown_prevalence(fold) for fold in folds]))
        return cls(curves, caption_text.folds_text(folds), prevalence, folds=True)

    def frame(self) -> Rows[Record]:
        """One row per drawn threshold: recall, precision, and the ends of its band."""
        return Rows(
            row
            for c in self.curves
            for row in records(
                model=c.name, threshold=c.thresholds, recall=c.x, precision=c.y, low=c.band.low, high=c.band.high
            )
        )

    def caption(self) -> str:
        """The average precisions with their intervals, and how the band was made."""
        baseline = caption_text.share(self.prevalence)
        grey = f"dashed: no-skill baseline, {baseline}; grey: unachievable at that prevalence"
        if self.folds:
            mean = score_curves.over_folds(self.curves, "average precision")
            return f"Precision and recall of {self.rows}, one line each: {mean}; {grey}."
        first = self.curves[0]
        level = caption_text.percent(first.level)
        areas = "; ".join(c.words("average precision") for c in self.curves)
        band = first.band.words(first.level, "the curve at that prevalence")
        return (
            f"Precision and recall of {self.rows}. {areas} ({level} interval, {first.area.method}); "
            f"{band}{score_curves.marked_thresholds(self.curves)}; {grey}."
        )

    def _draw(self, ax: Axes) -> DrawnAxes:
        style.unit_square(ax, style.RECALL, style.PRECISION)
        recall = np.linspace(0, 1, 201)
        worst = self.prevalence * recall / (self.prevalence * recall + 1 - self.prevalence)
        ax.fill_between(recall, 0, worst, color=inks().line, linewidth=0, zorder=1.2)
        ax.axhline(self.prevalence, color=inks().grey, linestyle=style.CHANCE, linewidth=0.8)
        for i, curve in enumerate(self.curves):
            score_curves.draw_curve(ax, curve, i, len(self.curves), step="pre", faint=self.folds)
        ends = np.array([0.0, 1.0])
        baseline = Line(ends, np.full(2, self.prevalence))
        words = Line(0.35 * ends, np.full(2, self.prevalence + 0.05))  # of the baseline, at its left end
        taken = score_curves.label_areas(ax, self.curves, "average precision", [baseline, words], folds=self.folds)
        self._label_baseline(ax, taken)
        return ax

    def _label_baseline(self, ax: Axes, taken: Array) -> None:
        """The no-skill baseline in words, at the end of its line that is free; else the caption alone has it."""
        lines = [Line(np.append(0, c.x), np.append(c.y[0], c.y)) for c in self.curves]
        for right in (self.prevalence < 0.5, self.prevalence >= 0.5):
            text = ax.annotate(
                f"no skill {caption_text.share(self.prevalence)}",
                (1 if right else 0, self.prevalence),
                (-2 if right else 2, 1),
                textcoords="offset points",
                color=inks().soft,
                ha="right" if right else "left",
                va="bottom",
            )
            if is_free(ax, text, taken, lines):
                return
            text.remove()


def _curve(name: str, evaluation: Evaluation) -> Curve:
    curve, places = score_curves.curve_points(evaluation, precision_recall_points)
    # The curve leaves out the threshold at infinity.
    band = score_curves.curve_band(evaluation, places + 1, "precision", over="recall")
    point = score_curves.working_point(evaluation, "recall", "precision")
    return Curve(
        name,
        curve.recall[places],
        curve.precision[places],
        curve.thresholds[places],
        band,
        caption_text.metric_row(evaluation, "average_precision"),
        point,
        evaluation.threshold,
        evaluation.level,
    )
