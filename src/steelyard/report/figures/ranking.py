"""RankingDisplay: metrics ranked by how much they favour one of two models, as in Wu and Cannistraci's Figure 2."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from steelyard.analysis.comparison.compare import compare
from steelyard.analysis.comparison.comparison import Comparison
from steelyard.analysis.results.formatting import listed, three_digits
from steelyard.analysis.results.rows import Rows
from steelyard.errors import InputError, InputTypeError
from steelyard.report.figures import caption_text, style
from steelyard.report.figures.display import Display, Record
from steelyard.report.figures.figure_sources import FigureSource, take_rows
from steelyard.report.palette import inks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from steelyard._types import Estimator
    from steelyard.analysis.comparison.paired_difference import Difference
    from steelyard.report.figures.figure_types import CvResults, DrawingArea, DrawnAxes


@dataclass(eq=False, repr=False)
class RankingDisplay(Display):
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
    def from_comparison(
        cls, comparison: Comparison, a: str | None = None, b: str | None = None, *, ax: DrawingArea | None = None
    ) -> Self:
        """The ranking of a Comparison; of more than two models name two."""
        if not isinstance(comparison, Comparison):
            raise InputTypeError(f"A ranking is drawn from a Comparison, not {type(comparison).__name__}; see compare.")
        ranking = comparison.ranking(a, b, prevalences=())
        reverse = (ranking.b, ranking.a) in {(row.a, row.b) for row in comparison.rows}
        pair = (ranking.b, ranking.a) if reverse else (ranking.a, ranking.b)
        differences = {row.metric: row for row in comparison.rows if (row.a, row.b) == pair}
        ordered = Rows(_reversed(differences[s.metric]) if reverse else differences[s.metric] for s in ranking.order)
        return cls(ranking.a, ranking.b, ordered, ranking.changes, comparison.n, comparison.level).placed(ax)

    @classmethod
    def from_predictions(
        cls, y_true: ArrayLike, models: Mapping[str, ArrayLike], *, ax: DrawingArea | None = None, **options: Any
    ) -> Self:
        """The ranking of two named columns of labels, or with scores=True of scores; the options are compare's."""
        return cls.from_comparison(compare(y_true, models, **options), ax=ax)

    @classmethod
    def from_estimator(
        cls,
        estimators: Mapping[str, Estimator],
        X: ArrayLike,
        y: ArrayLike,
        *,
        scores: bool = False,
        ax: DrawingArea | None = None,
        **options: Any,
    ) -> Self:
        """The ranking of two fitted estimators by name, by their labels, or with scores=True by their scores."""
        source = FigureSource("scores", (), {"pos_label": options.get("pos_label")})
        columns = {n: source.scores(m, X)[0] if scores else m.predict(X) for n, m in dict(estimators).items()}
        return cls.from_predictions(y, columns, scores=scores, ax=ax, **options)

    @classmethod
    def from_cv_results(
        cls,
        cv_results: Mapping[str, CvResults],
        X: ArrayLike,
        y: ArrayLike,
        *,
        scores: bool = False,
        ax: DrawingArea | None = None,
        **options: Any,
    ) -> Self:
        """The ranking of two results of cross_validate by name, each row predicted by a model that had not seen it.

        Give both the same splits, and return_estimator=True, return_indices=True.
        """
        source = FigureSource("scores" if scores else "labels", (), {"pos_label": options.get("pos_label")})
        predictions = {name: source.test_predictions(results, X) for name, results in dict(cv_results).items()}
        rows = [part[0] for part in predictions.values()]
        if any(not np.array_equal(rows[0], other) for other in rows[1:]):
            raise InputError("The models were tested on other rows, or in another order; give both the same splits.")
        columns = {name: column for name, (_, column) in predictions.items()}
        return cls.from_predictions(take_rows(y, rows[0]), columns, scores=scores, ax=ax, **options)

    @classmethod
    def from_result(cls, result: Any, **options: Any) -> Self:
        """The ranking of a Comparison."""
        return cls.from_comparison(result, **options)

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
