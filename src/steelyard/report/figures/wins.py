"""WinsDisplay: of each pair of models by how many metrics a test shows one to be better, as a matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from steelyard.analysis.results.result import Rows
from steelyard.arguments import names_wrong_arguments
from steelyard.report.figures import caption_text, style
from steelyard.report.figures.comparison_display import ComparisonDisplay, check_comparison
from steelyard.report.figures.display import Record
from steelyard.report.palette import inks

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

    from steelyard._types import Array
    from steelyard.analysis.comparison.comparison import Comparison, PairWins
    from steelyard.report.figures.figure_types import DrawingArea, DrawnAxes

_LIGHT = 0.55  # the share of metrics from which a cell is so dark that its number is light


@dataclass(eq=False, repr=False)
class WinsDisplay(ComparisonDisplay):
    """Win matrix: by how many metrics the model of the row is better than that of the column, by test.

    A win has a p-value below 1 - level by Holm's method over all pairs and metrics.

    >>> truth = [0] * 90 + [1] * 10
    >>> models = {"A": [0] * 85 + [1] * 15, "B": [0] * 98 + [1] * 2}
    >>> WinsDisplay.from_predictions(truth, models, metrics=["recall", "accuracy"]).frame()
    model  than  wins  metrics
    A         B     1        2
    B         A     0        2
    """

    models: tuple[str, ...]
    pairs: tuple[PairWins, ...]
    n: int
    level: float

    @classmethod
    @names_wrong_arguments
    def from_comparison(cls, comparison: Comparison, *, ax: DrawingArea | None = None) -> Self:
        """The win matrix of a Comparison."""
        check_comparison(comparison, "A win matrix")
        return cls(comparison.models, tuple(comparison.wins()), comparison.n, comparison.level).placed(ax)

    @property
    def wins(self) -> Array:
        """The number of metrics by which the model of the row is better than that of the column."""
        return self._filled(lambda pair: (len(pair.by_a), len(pair.by_b)))

    @property
    def metrics(self) -> Array:
        """The number of metrics by which the two were compared."""
        return self._filled(lambda pair: (len(pair.by_a + pair.by_b + pair.undecided),) * 2)

    def _filled(self, numbers: Callable[[PairWins], tuple[int, int]]) -> Array:
        matrix = np.zeros((len(self.models),) * 2, dtype=np.int64)
        for pair in self.pairs:
            i, j = self.models.index(pair.a), self.models.index(pair.b)
            matrix[i, j], matrix[j, i] = numbers(pair)
        return matrix

    @property
    def height(self) -> float:
        """Inches: a square, and the names."""
        return 1.2 + min(0.45 * len(self.models), 2.6)

    def frame(self) -> Rows[Record]:
        """One row per ordered pair of models."""
        wins, metrics = self.wins, self.metrics
        return Rows(
            Record(model=a, than=b, wins=int(wins[i, j]), metrics=int(metrics[i, j]))
            for i, a in enumerate(self.models)
            for j, b in enumerate(self.models)
            if i != j
        )

    def caption(self) -> str:
        """What the numbers are, and by which test."""
        return (
            f"By how many of {int(self.metrics.max())} metrics the model of the row is better than that of the column "
            f"on {self.n:,} rows (p < {1 - self.level:.2g} by Holm's method over all pairs and metrics)."
        )

    def _draw(self, ax: Axes) -> DrawnAxes:
        k, wins, metrics = len(self.models), self.wins, self.metrics
        shares = np.divide(wins, metrics, out=np.full((k, k), np.nan), where=metrics > 0)
        ax.imshow(shares, cmap=style.shades(), vmin=0, vmax=1, aspect="auto")
        names = [caption_text.drawn_label(name, 18) for name in self.models]
        ax.set_xticks(range(k), names, rotation=0 if sum(map(len, names)) < 40 else 90)
        ax.set_yticks(range(k), names)
        ax.set(xlabel="… than", ylabel="better by so many metrics")
        ax.tick_params(length=0)
        ax.grid(visible=False)
        ax.spines[:].set_visible(False)
        for i, j in zip(*np.nonzero(~np.eye(k, dtype=bool)), strict=True):
            ink = inks().paper if shares[i, j] > _LIGHT else inks().ink if wins[i, j] else inks().soft
            ax.text(j, i, f"{wins[i, j]}", ha="center", va="center", color=ink)
        return ax
