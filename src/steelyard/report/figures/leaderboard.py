"""LeaderboardDisplay: models from the best to the worst by a metric, with brackets for what no test distinguishes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from steelyard.analysis.results.formatting import interval_text, listed
from steelyard.analysis.results.result import Rows
from steelyard.arguments import names_wrong_arguments
from steelyard.report.figures import caption_text, style
from steelyard.report.figures.comparison_display import ComparisonDisplay, check_comparison
from steelyard.report.figures.display import Record
from steelyard.report.palette import inks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steelyard.analysis.comparison.comparison import Comparison
    from steelyard.analysis.comparison.leaderboard import Leaderboard, RankedModel
    from steelyard.metrics.spec import SpecLike
    from steelyard.report.figures.figure_types import DrawingArea, DrawnAxes

_STEP = 0.035  # of the width, between brackets


@dataclass(eq=False, repr=False)
class LeaderboardDisplay(ComparisonDisplay):
    """The models of a comparison from the best to the worst by one metric, each with its interval.

    A bracket joins models that no test distinguishes, by Holm's method over all pairs. The colours are those of the
    order in which the models were given.

    >>> truth = [0] * 90 + [1] * 10
    >>> models = {"A": [0] * 85 + [1] * 15, "B": [0] * 98 + [1] * 2}
    >>> LeaderboardDisplay.from_predictions(truth, models, metrics=["recall"]).frame()
    place  model  value     low   high  letters
        1  A      1.00   0.786   1.00   a
        2  B      0.200  0.0349  0.496  b
    """

    options: ClassVar[tuple[str, ...]] = ("metric",)

    board: Leaderboard
    models: tuple[str, ...]
    n: int
    methods: tuple[str, ...]

    @classmethod
    @names_wrong_arguments
    def from_comparison(
        cls, comparison: Comparison, *, metric: SpecLike | None = None, ax: DrawingArea | None = None
    ) -> Self:
        """The leaderboard of a Comparison by a metric; by the default one, or the first compared, unless named."""
        check_comparison(comparison, "A leaderboard")
        board = comparison.leaderboard(metric)
        place = comparison.tables.specs.index(board.spec)
        methods = [rows[place].method for rows in comparison.intervals.values()]
        used = tuple(dict.fromkeys(method for method in methods if method))
        return cls(board, comparison.models, comparison.n, used).placed(ax)

    @property
    def height(self) -> float:
        """Inches: a line per model."""
        return 0.85 + 0.24 * len(self.board.rows)

    def frame(self) -> Rows[Record]:
        """One row per model, the best first."""
        keys = ("place", "model", "value", "low", "high", "letters")
        return Rows(Record({key: getattr(row, key) for key in keys}) for row in self.board.rows)

    def caption(self) -> str:
        """Who leads, how the intervals were made, and what the brackets are."""
        level = caption_text.percent(self.board.level)
        made = f" ({listed(list(self.methods))})" if self.methods else ""
        text = f"{len(self.models)} models on {self.n:,} rows by {self._title}, with {level} intervals{made}"
        joined = "; brackets join models that no test distinguishes, by Holm's method over all pairs"
        return f"{text}{joined if self._joined else ''}. {self.board.headline}"

    @property
    def _title(self) -> str:
        return style.full_title(self.board.spec.name) if self.board.spec.is_native else self.board.spec.title

    @property
    def _joined(self) -> list[tuple[str, ...]]:
        """The brackets that hold more than one model."""
        return [bracket for bracket in self.board.brackets if len(bracket) > 1]

    def _draw(self, ax: Axes) -> DrawnAxes:
        rows = list(self.board.rows)
        for y, row in enumerate(rows):
            self._line(ax, row, y)
        names = [f"{row.place or '–'}  {caption_text.drawn_label(row.model, 24)}" for row in rows]
        ax.set_yticks(range(len(rows)), names)
        for label, row in zip(ax.get_yticklabels(), rows, strict=True):
            label.set_color(style.colour(self.models.index(row.model)))
        ax.set(ylim=(len(rows) - 0.4, -0.6), xlabel=self._title)
        ax.locator_params(axis="x", nbins=4)
        ax.tick_params(axis="y", length=0)
        ax.spines["left"].set_visible(False)
        ax.grid(visible=False, axis="y")
        self._brackets(ax)
        style.write_above(ax, f"value ({caption_text.percent(self.board.level)} interval)", self._right, 3)
        return ax

    @property
    def _right(self) -> float:
        """Where the numbers begin, as a share of the width."""
        return 1.03 + _STEP * len(self._joined) + (0.01 if self._joined else 0)

    def _line(self, ax: Axes, row: RankedModel, y: int) -> None:
        """The interval, the value and the numbers at the right."""
        i = self.models.index(row.model)
        if np.isfinite([row.low, row.high]).all():
            ends = [row.low, row.high]
            ax.plot(ends, [y, y], color=style.colour(i), linewidth=2.2, alpha=0.55, solid_capstyle="butt")
        if np.isfinite(row.value):
            style.draw_mark(ax, row.value, y, i)
        value = interval_text(row.value, row.low, row.high, share=self.board.spec.is_share)
        text = value if np.isfinite(row.value) else f"– {row.why or ''}"
        ax.annotate(text, (self._right, y), xycoords=("axes fraction", "data"), va="center", fontsize=7)

    def _brackets(self, ax: Axes) -> None:
        """A line over the places of the models of each bracket, with a dot at each of them."""
        places = {row.model: place for place, row in enumerate(self.board.rows)}
        for i, bracket in enumerate(self._joined):
            at = [places[model] for model in bracket]
            x = np.full(len(at), 1.03 + _STEP * i)
            line = ax.plot(x, at, "-o", linewidth=1, markersize=2.6, color=inks().soft, clip_on=False)[0]
            line.set_transform(ax.get_yaxis_transform())
