"""DensityDisplay: the score densities of each class, with the threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from steelyard.analysis.results.result import Rows
from steelyard.evaluation.score_dots import ScoreAxis, bin_shares
from steelyard.exceptions import InputError
from steelyard.report.figures import caption_text, panels, score_curves, style
from steelyard.report.figures.display import Record, ScoreDisplay, evaluations, records, scores_of
from steelyard.report.figures.line_labels import Line, label_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steelyard._types import Array, Label
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.report.figures.figure_types import DrawingArea, DrawnAxes, Evaluations

_BINS = 40


@dataclass(frozen=True, eq=False)
class _Spread:
    """The share of each class's weight in each bin of the scores, as a density, and the threshold in use."""

    name: str
    axis: ScoreAxis
    edges: Array
    positives: Array
    negatives: Array
    threshold: float | None

    def columns(self, label: str, density: Array) -> dict[str, Array | list[Any] | str]:
        """The columns of one class's rows."""
        edges = {"from": self.edges[:-1], "to": self.edges[1:]}
        return {"model": self.name, "class": label, **edges, "density": density}


@dataclass(eq=False, repr=False)
class DensityDisplay(ScoreDisplay):
    """The scores, or projections, of positives and negatives as densities, with the threshold; a panel for each model.

    Each class has an area of 1 whatever its size; the bins are exact sums of rows. Below 5 % positives the
    bins of probabilities are even in log-odds.

    >>> display = DensityDisplay.from_predictions([0, 0, 1, 1], [0.0, 0.4, 0.35, 1.0], n_bins=2)
    >>> display.frame()
    model  class     from     to  density
           positive     0  0.500     1.00
           positive 0.500   1.00     1.00
           negative     0  0.500     2.00
           negative 0.500   1.00        0
    """

    spreads: tuple[_Spread, ...]
    rows: str
    label: Label
    unit: str = "score"

    @classmethod
    def from_evaluation(
        cls, evaluation: Evaluations, *, n_bins: int = _BINS, unit: str = "score", ax: DrawingArea | None = None
    ) -> Self:
        """The scores of an Evaluation, or of several by name; `unit` is what stands below them."""
        by_model = evaluations(evaluation, "A figure of densities", scores=True)
        if not isinstance(n_bins, (int, np.integer)) or n_bins < 1:
            raise InputError(argument="n_bins", expected="a whole number of 1 or more", given=n_bins)
        first = next(iter(by_model.values()))
        spreads = tuple(_spread(name, each, int(n_bins)) for name, each in by_model.items())
        return cls(spreads, caption_text.shared_rows_text(by_model.values()), first.positive, unit).placed(ax)

    @property
    def height(self) -> float:
        """Inches: a panel each."""
        return 2.2 if len(self.spreads) == 1 else 0.3 + 1.6 * len(self.spreads)

    def frame(self) -> Rows[Record]:
        """One row per model, class and bin."""
        return Rows(
            row
            for s in self.spreads
            for name, density in (("positive", s.positives), ("negative", s.negatives))
            for row in records(**s.columns(name, density))
        )

    def caption(self) -> str:
        """What is drawn, and where the thresholds are."""
        bins = len(self.spreads[0].edges) - 1
        even = " even in log-odds" if self.spreads[0].axis.is_logit else ""
        text = f"{self.unit.capitalize()}s of {self.rows}, as densities of {bins} bins{even}, each class of area 1"
        thresholds = [
            caption_text.with_name(s.name, caption_text.threshold_text(s.threshold))
            for s in self.spreads
            if s.threshold is not None
        ]
        return f"{text}; dashed: the threshold in use ({', '.join(thresholds)})." if thresholds else f"{text}."

    def _draw(self, ax: Axes) -> DrawnAxes:
        if len(self.spreads) == 1:
            self._panel(ax, self.spreads[0], last=True)
            return ax
        axes = panels.grid(ax, len(self.spreads), 1)
        for i, (panel, spread) in enumerate(zip(axes.flat, self.spreads, strict=True)):
            self._panel(panel, spread, last=i == len(self.spreads) - 1)
            panel.set_title(caption_text.drawn_label(spread.name, 40), pad=13 if spread.threshold is not None else 4)
        return axes

    def _panel(self, ax: Axes, spread: _Spread, *, last: bool) -> None:
        if spread.axis.is_logit:
            style.logit_scale(ax)
        x, lines = np.repeat(spread.edges, 2)[1:-1], []
        for i, (name, density) in enumerate((("positives", spread.positives), ("negatives", spread.negatives))):
            ax.stairs(density, spread.edges, fill=True, color=style.class_colour(i), alpha=style.BAND)
            ax.stairs(density, spread.edges, color=style.class_colour(i), linestyle=style.dash(i), linewidth=1.1)
            y = np.repeat(density, 2)
            high = y >= 0.3 * density.max()  # where the class is, so that its name stands there
            lines += [Line(x[high], y[high], name, style.class_colour(i)), Line(x, y)]
        top = max(spread.positives.max(), spread.negatives.max())
        ax.set(ylabel="density", xlim=(spread.edges[0], spread.edges[-1]), ylim=(0, 1.12 * top))
        if last:
            ax.set_xlabel(self.unit)
        if spread.threshold is not None and np.isfinite(spread.threshold):
            style.vertical_line(ax, spread.threshold, f"threshold {caption_text.threshold_text(spread.threshold)}")
            lines.append(Line(np.full(2, spread.threshold), np.array(ax.get_ylim())))
        label_lines(ax, lines)


def _spread(name: str, evaluation: Evaluation, bins: int) -> _Spread:
    table = scores_of(evaluation)
    axis = ScoreAxis.of(table, score_curves.shown_prevalence(evaluation), evaluation.threshold)
    edges = axis.edges(bins)
    densities = [bin_shares(side, edges) / axis.widths(edges) for side in table.classes]
    return _Spread(name, axis, edges, densities[0], densities[1], evaluation.threshold)
