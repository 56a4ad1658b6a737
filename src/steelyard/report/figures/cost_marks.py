"""Cost marks: what flagging nobody and everybody costs, and the thresholds whose cost is about the least."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.prevalence.prevalence import at_prevalence
from steelyard.analysis.thresholds.best_threshold import best_threshold
from steelyard.analysis.thresholds.threshold_sample import PLATEAU
from steelyard.report.figures import caption_text, style
from steelyard.report.figures.display import scores_of
from steelyard.report.figures.line_labels import Line
from steelyard.report.palette import inks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steelyard._types import Array
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.metrics.measure import Metric


@dataclass(frozen=True, eq=False)
class CostMarks:
    """A cost over the threshold: that of flagging nobody and everybody, the least, and where it is about the least."""

    nobody: float
    everybody: float
    least: float
    plateau: tuple[float, float]

    @classmethod
    def of(cls, evaluation: Evaluation, metrics: list[Metric]) -> CostMarks | None:
        """The marks of one metric of costs; None of others, and of several."""
        if len(metrics) != 1 or metrics[0].family != "decision" or metrics[0].direction != "lower":
            return None
        table = scores_of(evaluation)
        table = table if evaluation.prevalence is None else at_prevalence(table, evaluation.prevalence)
        costs = np.asarray(metrics[0](table.counts))
        best = best_threshold(table, metrics[0], draws=0)
        return cls(float(costs[0]), float(costs[-1]), best.value, best.plateau)

    def draw(self, ax: Axes, values: Array) -> list[Line]:
        """The range shaded and the baselines dashed, on an axis that ends where neither is of use."""
        top = 1.05 * min(float(np.nanmax(values)), max(1.25 * min(self.nobody, self.everybody), 3 * self.least))
        ax.set_ylim(0, top or 1)
        low, high = (float(np.clip(end, *ax.get_xlim())) for end in self.plateau)
        ax.axvspan(low, high, color=style.colour(0), alpha=0.16, linewidth=0, zorder=0)
        levels = {"nobody flagged": self.nobody, "everybody flagged": self.everybody}
        lines = []
        for words, level in levels.items():
            if level <= top:
                ax.axhline(level, color=inks().grey, linestyle=(0, (4, 4)), linewidth=1)
                lines.append(Line(np.array(ax.get_xlim()), np.full(2, level), words, inks().soft))
        return lines

    def caption(self) -> str:
        """What is shaded and dashed, in words."""
        digits = caption_text.threshold_text
        low, high = map(digits, self.plateau)
        return (
            f"; shaded: the cost is about the least (within {100 * PLATEAU:g} %), from {low} to {high}; dashed grey: "
            f"flagging nobody, {digits(self.nobody)}, and everybody, {digits(self.everybody)}"
        )
