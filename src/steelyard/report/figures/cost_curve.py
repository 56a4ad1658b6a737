"""CostCurveDisplay: what acting on each model costs over the costs of errors, by the best thresholds or by its own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from steelyard.exceptions import InputError
from steelyard.report.figures.cost_envelopes import CostEnvelopes
from steelyard.report.figures.display import ScoreDisplay
from steelyard.report.figures.murphy import CostWords, MurphyDisplay

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from matplotlib.axes import Axes

    from steelyard.analysis.results.result import Rows
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.report.figures.display import Record
    from steelyard.report.figures.figure_sources import FigureSource
    from steelyard.report.figures.figure_types import DrawingArea, DrawnAxes, Evaluations
    from steelyard.report.figures.murphy import MurphyLine


class BrierCurves(MurphyDisplay):
    """Murphy curves read as costs, above those of the best thresholds."""

    words: ClassVar[CostWords] = CostWords(
        what="Brier curve",
        over="twice the expected cost of the threshold that equals the cost proportion",
        x="Cost proportion of a false alarm",
        y="Expected cost × 2",
        columns={
            "threshold": "cost_proportion",
            "elementary_score": "cost",
            "low": "low",
            "high": "high",
            "recalibrated": "best_cost",
            "no_skill": "trivial_cost",
        },
        recalibrated="best threshold",
        no_skill="always or never positive",
        each="cost proportion",
    )

    @property
    def _recalibrated(self) -> tuple[MurphyLine, ...]:
        return self.lines


@dataclass(eq=False, repr=False)
class CostCurveDisplay(ScoreDisplay):
    """Cost curves: the normalized expected cost of the best threshold over the probability cost, lower being better.

    The curve is the lower envelope of all thresholds, and of always and never predicting the positive class: the ROC
    convex hull in terms of costs (Drummond and Holte 2006). Its area is the Brier score of the isotonically
    recalibrated scores where both classes are as large. With the level the whole curve of the population lies in its
    band.

    kind="brier" draws Brier curves (Hernández-Orallo, Flach and Ferri 2011): twice the expected cost where each
    probability is taken at its word, so that the threshold equals the cost proportion. Their area is the Brier score;
    down to the dotted curve of the best thresholds it is what miscalibration costs.

    >>> display = CostCurveDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> [round(row["cost"], 3) for row in display.frame() if row["probability_cost"] in (0.25, 0.5, 0.75)]
    [0.125, 0.25, 0.125]
    """

    curves: CostEnvelopes | BrierCurves

    @classmethod
    def _from(
        cls, models: Mapping[str, Any], read: Callable[[Any, FigureSource], Evaluation], options: dict[str, Any]
    ) -> Self:
        """Evaluate each model; for Brier curves, and only for these, by their area, which needs probabilities."""
        needs = MurphyDisplay.needs if options.get("kind") == "brier" else ()
        return super()._from(models, lambda model, source: read(model, replace(source, needs=needs)), options)

    @classmethod
    def from_evaluation(cls, evaluation: Evaluations, *, kind: str = "cost", ax: DrawingArea | None = None) -> Self:
        """The curve of an Evaluation of scores, or those of several by name; Brier curves need probabilities."""
        kinds: dict[str, type[CostEnvelopes | BrierCurves]] = {"cost": CostEnvelopes, "brier": BrierCurves}
        if kind not in kinds:
            raise InputError(argument="kind", expected=f"one of {', '.join(kinds)}", given=kind)
        return cls(kinds[kind].from_evaluation(evaluation)).placed(ax)

    def frame(self) -> Rows[Record]:
        """One row per model and drawn place of its curve: the cost, the ends of its band, and the best there."""
        return self.curves.frame()

    def caption(self) -> str:
        """What is drawn, the areas, and how the bands were made."""
        return self.curves.caption()

    def _draw(self, ax: Axes) -> DrawnAxes:
        drawn: DrawnAxes = self.curves.plot(ax).ax_
        return drawn
