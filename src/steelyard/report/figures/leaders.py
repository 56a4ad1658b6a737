"""LeadersDisplay: which model leads by each metric at each prevalence, as a heat map of models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from steelyard.analysis.results.result import Rows
from steelyard.arguments import names_wrong_arguments
from steelyard.report.figures import caption_text, style
from steelyard.report.figures.comparison_display import ComparisonDisplay, check_comparison
from steelyard.report.figures.display import Record
from steelyard.report.palette import inks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from steelyard.analysis.comparison.comparison import Comparison
    from steelyard.analysis.comparison.metric_ranking import Leader, PrevalenceLeaders
    from steelyard.report.figures.figure_types import DrawingArea, DrawnAxes


@dataclass(eq=False, repr=False)
class LeadersDisplay(ComparisonDisplay):
    """The leading model by each metric over the prevalence, in the colour and with the mark of the model.

    Where colours change along a line the ranking flips; a cell of several equal models is empty.

    >>> truth = [0] * 90 + [1] * 10
    >>> models = {"A": [0] * 85 + [1] * 15, "B": [0] * 98 + [1] * 2}
    >>> display = LeadersDisplay.from_predictions(truth, models, metrics=["accuracy"], prevalences=[0.01, 0.5])
    >>> display.frame()
    metric    prevalence  leader  value  next   ahead
    accuracy      0.0100  B       0.992  A     0.0470
    accuracy       0.500  A       0.972  B      0.372
    """

    options: ClassVar[tuple[str, ...]] = ("prevalences",)

    leaders: PrevalenceLeaders
    models: tuple[str, ...]
    n: int

    @classmethod
    @names_wrong_arguments
    def from_comparison(
        cls, comparison: Comparison, *, prevalences: Sequence[float] | None = None, ax: DrawingArea | None = None
    ) -> Self:
        """The leaders of a Comparison, at the given prevalences or at usual ones and the sample's own."""
        check_comparison(comparison, "A figure of leaders")
        return cls(comparison.leaders(prevalences), comparison.models, comparison.n).placed(ax)

    @property
    def metrics(self) -> list[str]:
        """The metrics in their order."""
        return list(dict.fromkeys(row.metric for row in self.leaders.rows))

    @property
    def height(self) -> float:
        """Inches: a line per metric."""
        return 1.0 + 0.19 * len(self.metrics)

    def frame(self) -> Rows[Record]:
        """One row per metric and prevalence."""
        return Rows(
            Record(
                metric=row.metric,
                prevalence=row.prevalence,
                leader=" = ".join(row.models),
                value=row.value,
                next=row.next_model or "",
                ahead=row.ahead,
            )
            for row in self.leaders.rows
        )

    def caption(self) -> str:
        """By how many metrics the leader depends on the prevalence."""
        text = f"The leading of {len(self.models)} models on {self.n:,} rows by each metric over the prevalence"
        sample = "" if self.leaders.observed is None else f" (sample: {caption_text.share(self.leaders.observed)})"
        return f"{text}{sample}. {self.leaders.headline}. Differences are not tested here."

    def _draw(self, ax: Axes) -> DrawnAxes:
        metrics, shares = self.metrics, self.leaders.prevalences
        for row in self.leaders.rows:
            self._cell(ax, row, metrics.index(row.metric), shares.index(row.prevalence))
        ax.set(xlim=(-0.5, len(shares) - 0.5), ylim=(len(metrics) - 0.5, -0.5), xlabel="prevalence")
        ax.set_yticks(range(len(metrics)), [style.short_title(name) for name in metrics])
        own = [share == self.leaders.observed for share in shares]
        texts = [f"{100 * share:.3g} %{' (sample)' if here else ''}" for share, here in zip(shares, own, strict=True)]
        ax.set_xticks(range(len(shares)), texts, rotation=90)
        ax.tick_params(length=0)
        ax.grid(visible=False)
        ax.spines[:].set_visible(False)
        self._names(ax)
        return ax

    def _cell(self, ax: Axes, row: Leader, y: int, x: int) -> None:
        """A cell in the colour of its model, with the model's mark so that grey prints keep them apart."""
        if len(row.models) != 1:
            return
        i = self.models.index(row.models[0])
        ax.fill_between([x - 0.47, x + 0.47], y - 0.44, y + 0.44, color=style.colour(i), linewidth=0)
        ax.plot(x, y, style.MARKS[i % len(style.MARKS)], color=inks().paper, markersize=3, markeredgewidth=0)

    def _names(self, ax: Axes) -> None:
        """The models that lead somewhere, above, each with its mark and in its colour."""
        from matplotlib.offsetbox import AnchoredOffsetbox, TextArea, VPacker

        leading = {name for row in self.leaders.rows if len(row.models) == 1 for name in row.models}
        parts: list[Any] = [
            TextArea(f"{style.sign(i)} {caption_text.drawn_label(name, 24)}", textprops={"color": style.colour(i)})
            for i, name in enumerate(self.models)
            if name in leading
        ]
        box = AnchoredOffsetbox("lower left", child=VPacker(children=parts, pad=0, sep=3), pad=0, frameon=False)
        box.set_bbox_to_anchor((0.0, 1.0), transform=ax.transAxes)  # type: ignore[arg-type]  # the stubs know only of boxes
        ax.add_artist(box)
