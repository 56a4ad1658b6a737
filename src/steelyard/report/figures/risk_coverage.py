"""RiskCoverageDisplay: the errors that remain over the share of the rows that is decided, the rest sent to a person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from steelyard.analysis.decisions.best_decision_result import BestDecision
from steelyard.analysis.decisions.decision_rule import RiskCoverage
from steelyard.analysis.results.formatting import three_digits
from steelyard.analysis.results.result import Rows
from steelyard.exceptions import InputError
from steelyard.report.figures import caption_text, score_curves, style
from steelyard.report.figures.display import Record, ScoreDisplay, evaluations, records
from steelyard.report.figures.line_labels import Line, block, in_the_way, label_lines
from steelyard.report.figures.value_labels import named_values
from steelyard.report.palette import inks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steelyard.report.figures.figure_types import DrawingArea, DrawnAxes, Evaluations

_WORTH_SHOWING = 0.3  # the coverage from which on the ends of bands set the height of the axis


@dataclass(eq=False, repr=False)
class RiskCoverageDisplay(ScoreDisplay):
    """Risk-coverage curves: the errors, or the mean cost, of the rows decided over the share of the rows that is.

    The rows of highest risk are sent to a person first. `y_score` has a column of probabilities for each class; a
    result of best_decision is drawn as well, by its costs where it has some.

    >>> y, p = [0, 1, 2, 1], [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.2, 0.5], [0.4, 0.3, 0.3]]
    >>> display = RiskCoverageDisplay.from_predictions(y, p)
    >>> [(row["coverage"], row["risk"]) for row in display.frame() if row["sent"] in (0, 0.25)]
    [(1.0, 0.25), (0.75, 0.0)]
    """

    reads: ClassVar[Literal["labels", "scores", "columns"]] = "columns"
    needs: ClassVar[tuple[str, ...]] = ("accuracy",)

    curves: dict[str, RiskCoverage]
    rows: str

    @classmethod
    def from_evaluation(cls, evaluation: Evaluations, *, ax: DrawingArea | None = None) -> Self:
        """The curve of an Evaluation of probabilities of three classes or more, or those of several by name."""
        by_model, curves = evaluations(evaluation, "A risk-coverage curve"), {}
        for name, each in by_model.items():
            if each.risk_coverage is None:
                raise InputError(
                    "A risk-coverage curve needs the probabilities of three classes or more, y_score= with a column "
                    "for each, at the sample's prevalence; of two classes draw that of best_decision."
                )
            curves[name] = each.risk_coverage
        return cls(curves, caption_text.read_text(by_model.values())).placed(ax)

    @classmethod
    def from_result(cls, result: Any, **options: Any) -> Self:
        """The curve of an Evaluation, of several by name, of a best decision, or the curve itself."""
        curve = result.curve if isinstance(result, BestDecision) else result
        if isinstance(curve, RiskCoverage):
            return cls({"": curve}, "the rows decided").placed(options.pop("ax", None))
        return super().from_result(result, **options)

    @property
    def _is_cost(self) -> bool:
        return next(iter(self.curves.values())).is_cost

    def frame(self) -> Rows[Record]:
        """One row per model and share that is sent."""
        return Rows(
            row
            for name, curve in self.curves.items()
            for row in records(
                model=name, sent=curve.asked, coverage=curve.coverage, risk=curve.risk, low=curve.low, high=curve.high
            )
        )

    def caption(self) -> str:
        """The areas, and how the bands were made."""
        curve = next(iter(self.curves.values()))
        what = "Mean cost" if self._is_cost else "Error"
        areas = "; ".join(
            caption_text.with_name(
                name,
                f"area {three_digits(each.area)} (random order {three_digits(each.whole)}, best order "
                f"{three_digits(each.least_area)})",
            )
            for name, each in self.curves.items()
        )
        method = "Student's t" if self._is_cost else "Wilson"
        bands = f"bands: {caption_text.percent(curve.level)} intervals at each coverage ({method})"
        bands = bands if np.isfinite(curve.low).any() else score_curves.NO_BAND
        return f"{what} of the rows that are decided over their share, of {self.rows}. {areas}; {bands}."

    def _draw(self, ax: Axes) -> DrawnAxes:
        label = "Mean cost of the rows decided" if self._is_cost else "Error of the rows decided"
        ax.set(xlabel="Coverage (share of rows decided)", ylabel=label, xlim=(0, 1), ylim=(0, self._top()))
        drawn, edges = [], []
        for i, (name, curve) in enumerate(self.curves.items()):
            drawn.append(Line(curve.coverage, curve.risk, caption_text.drawn_label(name, 20), style.colour(i)))
            has_band = np.isfinite(curve.low).all()
            ends = (curve.low, curve.high) if has_band else None
            edges += score_curves.draw_banded(ax, drawn[-1], ends, i, len(self.curves))
            ax.axhline(curve.whole, color=inks().grey, linestyle=style.CHANCE, linewidth=0.8)
        named = named_values((name, f"area {three_digits(each.area)}") for name, each in self.curves.items())
        room = block(ax, [*named, ("- - random order", inks().soft)], drawn, edges)
        label_lines(ax, [*drawn, *in_the_way(ax, room)])
        return ax

    def _top(self) -> float:
        """The highest end that the axis shows: that of the bands where enough rows are decided."""
        tops = [curve.whole for curve in self.curves.values()]
        for curve in self.curves.values():
            ends = np.where(np.isnan(curve.high), curve.risk, curve.high)[curve.coverage >= _WORTH_SHOWING]
            tops.append(float(ends.max()))
        return 1.15 * max(tops) or 1.0
