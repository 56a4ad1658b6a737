"""RocDisplay: ROC curves, the true positive rate against the false positive rate at every threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from steelyard.analysis.results.result import Rows
from steelyard.metrics.curves import roc_points
from steelyard.report.figures import caption_text, score_curves, style
from steelyard.report.figures.display import CurveDisplay, Record, evaluations, records
from steelyard.report.figures.line_labels import Line
from steelyard.report.figures.score_curves import Curve
from steelyard.report.palette import inks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.report.figures.figure_types import DrawingArea, DrawnAxes, Evaluations


@dataclass(eq=False, repr=False)
class RocDisplay(CurveDisplay):
    """ROC curves with their simultaneous confidence bands, the area, the threshold in use, and the no-skill baseline.

    With the level the whole curve of the population lies in its band; `low` and `high` are its ends at that false
    positive rate.

    >>> display = RocDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> [row["recall"] for row in display.frame()]
    [0.0, 0.5, 0.5, 1.0, 1.0]
    """

    needs: ClassVar[tuple[str, ...]] = ("roc_auc",)

    curves: tuple[Curve, ...]
    rows: str
    folds: bool = False

    @classmethod
    def from_evaluation(cls, evaluation: Evaluations, *, ax: DrawingArea | None = None) -> Self:
        """The curve of an Evaluation of scores, or those of several by name."""
        by_model = evaluations(evaluation, "A ROC curve", scores=True)
        rows = caption_text.shared_rows_text(by_model.values())
        return cls(tuple(_curve(name, each) for name, each in by_model.items()), rows).placed(ax)

    @classmethod
    def _of_folds(cls, folds: list[Evaluation]) -> Self:
        curves = tuple(_curve(f"fold {i}", fold) for i, fold in enumerate(folds, 1))
        return cls(curves, caption_text.folds_text(folds), folds=True)

    def frame(self) -> Rows[Record]:
        """One row per drawn threshold: the two rates, and the ends of the band."""
        return Rows(
            row
            for c in self.curves
            for row in records(
                model=c.name,
                threshold=c.thresholds,
                false_positive_rate=c.x,
                recall=c.y,
                low=c.band.low,
                high=c.band.high,
            )
        )

    def caption(self) -> str:
        """The areas with their intervals, and how the band was made."""
        if self.folds:
            mean = score_curves.over_folds(self.curves, "area")
            return f"ROC curves of {self.rows}, one line each: {mean}; dashed: no-skill baseline."
        first = self.curves[0]
        level = caption_text.percent(first.level)
        areas = "; ".join(c.words("area") for c in self.curves)
        band = first.band.words(first.level, "the curve")
        marks = score_curves.marked_thresholds(self.curves)
        methods = f"({level} interval, {first.area.method}); {band}{marks}; dashed: no-skill baseline"
        return f"ROC curve{'s' if len(self.curves) > 1 else ''} of {self.rows}. {areas} {methods}."

    def _draw(self, ax: Axes) -> DrawnAxes:
        style.unit_square(ax, style.FALSE_POSITIVE_RATE, style.RECALL)
        ax.plot([0, 1], [0, 1], color=inks().grey, linestyle=style.CHANCE, linewidth=0.8)
        ax.text(0.62, 0.59, "no skill", color=inks().soft, rotation=45, ha="center", va="top", rotation_mode="anchor")
        for i, curve in enumerate(self.curves):
            score_curves.draw_curve(ax, curve, i, len(self.curves), faint=self.folds)
        ends = np.array([0.0, 1.0])
        score_curves.label_areas(ax, self.curves, "area", [Line(ends, ends)], folds=self.folds)
        return ax


def _curve(name: str, evaluation: Evaluation) -> Curve:
    curve, places = score_curves.curve_points(evaluation, roc_points)
    band = score_curves.curve_band(evaluation, places, "recall", over="false_positive_rate")
    rates = score_curves.working_point(evaluation, "specificity", "recall")
    point = None if rates is None else (1 - rates[0], rates[1])
    return Curve(
        name,
        curve.fpr[places],
        curve.tpr[places],
        curve.thresholds[places],
        band,
        caption_text.metric_row(evaluation, "roc_auc"),
        point,
        evaluation.threshold,
        evaluation.level,
    )
