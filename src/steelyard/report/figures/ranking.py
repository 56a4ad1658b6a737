"""RankingDisplay: metrics ranked by how much they favour one of two models, as in Wu and Cannistraci's Figure 2."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from steelyard.analysis.results.formatting import listed, three_digits
from steelyard.analysis.results.result import Rows
from steelyard.arguments import names_wrong_arguments
from steelyard.report.figures import caption_text, style
from steelyard.report.figures.comparison_display import ComparisonDisplay, check_comparison
from steelyard.report.figures.display import Record
from steelyard.report.palette import inks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steelyard.analysis.comparison.comparison import Comparison, Difference
    from steelyard.report.figures.figure_types import DrawingArea, DrawnAxes


@dataclass(eq=False, repr=False)
class RankingDisplay(ComparisonDisplay):
    """The values of two models by every metric, ordered by their difference; a dashed line where its sign changes.

    >>> truth = [0] * 90 + [1] * 10
    >>> models = {"A": [0] * 85 + [1] * 14 + [0], "B": [0] * 98 + [1] * 2}
    >>> display = RankingDisplay.from_predictions(truth, models, metrics=["recall", "accuracy", "specificity"])
    >>> [(row["metric"], round(row["difference"], 3)) for row in display.frame()]
    [('recall', 0.7), ('accuracy', 0.02), ('specificity', -0.056)]
    """

    a: str
    b: str
    ordered: Rows[Difference]
    changes: tuple[str, ...]
    n: int
    level: float

    @classmethod
    @names_wrong_arguments
    def from_comparison(
        cls, comparison: Comparison, a: str | None = None, b: str | None = None, *, ax: DrawingArea | None = None
    ) -> Self:
        """The ranking of a Comparison; of more than two models name two."""
        check_comparison(comparison, "A ranking")
        ranking = comparison.ranking(a, b, prevalences=())
        reverse = (ranking.b, ranking.a) in {(row.a, row.b) for row in comparison.rows}
        pair = (ranking.b, ranking.a) if reverse else (ranking.a, ranking.b)
        differences = {row.metric: row for row in comparison.rows if (row.a, row.b) == pair}
        ordered = Rows(_reversed(differences[s.metric]) if reverse else differences[s.metric] for s in ranking.order)
        return cls(ranking.a, ranking.b, ordered, ranking.changes, comparison.n, comparison.level).placed(ax)

    @property
    def height(self) -> float:
        """Inches: a line per metric."""
        return 0.95 + 0.19 * len(self.ordered)

    def frame(self) -> Rows[Record]:
        """One row per metric, in the order of the difference, with its interval."""
        keys = ("metric", "value_a", "value_b", "difference", "low", "high", "p_value", "p_holm", "method")
        return Rows(Record({key: getattr(row, key) for key in keys}) for row in self.ordered)

    def caption(self) -> str:
        """What the order is, and how the intervals were made."""
        methods = listed(list(dict.fromkeys(row.method for row in self.ordered if row.method)) or ["none"])
        turn = "; dashed: where the sign of the difference changes" if self.changes else ""
        return (
            f"{self.a} and {self.b} on the same {self.n:,} rows by {len(self.ordered)} metrics, ranked by the "
            f"difference {self.a} - {self.b}, at the right with its {caption_text.percent(self.level)} interval "
            f"({methods}){turn}."
        )

    def _draw(self, ax: Axes) -> DrawnAxes:
        for y, row in enumerate(self.ordered):
            self._line(ax, row, y)
            if row.metric in self.changes:
                ax.axhline(y - 0.5, color=inks().grey, linestyle=style.CHANCE, linewidth=0.8)
        values = np.array([v for row in self.ordered for v in (row.value_a, row.value_b) if np.isfinite(v)])
        low, high = min(0.0, float(values.min(initial=0))), max(1.0, float(values.max(initial=1)))
        margin = 0.03 * (high - low)
        ax.set(xlim=(low - margin, high + margin), ylim=(len(self.ordered) - 0.4, -0.7), xlabel="value")
        ax.set_yticks(range(len(self.ordered)), [style.short_title(row.metric) for row in self.ordered])
        if (low, high) == (0, 1):
            ax.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
        ax.tick_params(axis="y", length=0)
        ax.spines["left"].set_visible(False)
        ax.grid(visible=False, axis="y")
        self._head(ax)
        return ax

    def _line(self, ax: Axes, row: Difference, y: int) -> None:
        ax.plot([row.value_a, row.value_b], [y, y], color=inks().line, linewidth=2.5, solid_capstyle="butt", zorder=1)
        for i, value in ((1, row.value_b), (0, row.value_a)):
            style.draw_mark(ax, value, y, i)
        ends = "" if np.isnan(row.low) else f" ({_signed(row.low)} to {_signed(row.high)})"
        ax.annotate(
            f"{_signed(row.difference)}{ends}",
            (1.03, y),
            xycoords=("axes fraction", "data"),
            va="center",
            ha="left",
            fontsize=7,
        )

    def _head(self, ax: Axes) -> None:
        """The names of both models with their marks, and what the column at the right is."""
        from matplotlib.offsetbox import AnchoredOffsetbox, HPacker, TextArea

        texts = [f"{style.sign(i)} {caption_text.drawn_label(name, 18)}" for i, name in enumerate((self.a, self.b))]
        parts: list[Any] = [TextArea(text, textprops={"color": style.colour(i)}) for i, text in enumerate(texts)]
        above: dict[str, Any] = {"bbox_to_anchor": (0, 1), "bbox_transform": ax.transAxes}
        packed = HPacker(children=parts, pad=0, sep=8)
        ax.add_artist(AnchoredOffsetbox("lower left", child=packed, pad=0, borderpad=1.6, frameon=False, **above))
        style.write_above(ax, f"difference ({caption_text.percent(self.level)} interval)", 1.03, 2)


def _signed(value: float) -> str:
    text = three_digits(float(value)).replace("-", "−")
    return f"+{text}" if value > 0 else text


def _reversed(row: Difference) -> Difference:
    """The same difference read from the other model."""
    return replace(
        row,
        a=row.b,
        b=row.a,
        value_a=row.value_b,
        value_b=row.value_a,
        difference=-row.difference,
        low=-row.high,
        high=-row.low,
    )
