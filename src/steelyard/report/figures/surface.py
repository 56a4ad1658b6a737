"""SurfaceDisplay: metrics as surfaces and sections over the two rates, as in Wu and Cannistraci's Figure 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from steelyard.analysis.prevalence.prevalence import checked_prevalence
from steelyard.analysis.results.formatting import listed
from steelyard.analysis.results.result import Rows
from steelyard.arguments import names_wrong_arguments
from steelyard.auditing.model_tables import at_rates
from steelyard.exceptions import InputError, InputTypeError
from steelyard.report.figures import caption_text, metric_lines, panels, style
from steelyard.report.figures.display import LabelDisplay, Record, evaluations, records, single_evaluation
from steelyard.report.palette import inks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from mpl_toolkits.mplot3d import Axes3D

    from steelyard._types import Array
    from steelyard.metrics.measure import Metric
    from steelyard.report.figures.figure_types import DrawingArea, DrawnAxes, Evaluations, Metrics

SECTIONS = (1.0, 0.5, 0.0)
_GRID = 51  # odd, so that the sections at one half lie on it
SHAPES = ("surface", "contour")
_ROOM = {"left": 0.06, "right": 0.98, "bottom": 0.12, "top": 0.89, "wspace": 0.2}  # of the surfaces, set by hand


@dataclass(eq=False, repr=False)
class SurfaceDisplay(LabelDisplay):
    """Any metric of a table over (TPR, TNR) at one prevalence: surfaces above, sections at fixed rates below.

    `of` draws metrics alone; the other constructors mark where a classifier stands.

    >>> display = SurfaceDisplay.of(["ac_score"])
    >>> [row["value"] for row in display.frame() if (row["tpr"], row["tnr"]) == (0.5, 1.0)]
    [0.6666666666666666]
    """

    metrics: tuple[Metric, ...]
    prevalence: float
    values: Array  # metric, TPR, TNR
    point: tuple[float, float] | None = None
    shape: str = "surface"
    sections: tuple[float, ...] = SECTIONS

    @classmethod
    @names_wrong_arguments
    def of(
        cls,
        metrics: Metrics | None = None,
        *,
        prevalence: float = 0.5,
        shape: str = "surface",
        sections: tuple[float, ...] = SECTIONS,
        ax: DrawingArea | None = None,
        _point: tuple[float, float] | None = None,
    ) -> Self:
        """The metrics over both rates where that share of the rows is positive."""
        shown = metric_lines.metrics_of_counts(metrics, ("balanced_accuracy", "g_mean", "ac_score"))
        if shape not in SHAPES:
            raise InputError(argument="shape", expected=f"one of {', '.join(SHAPES)}", given=shape)
        if not sections or not all(isinstance(s, (int, float)) and 0 <= s <= 1 for s in sections):
            raise InputError(f"sections= are rates between 0 and 1, one or more, not {sections!r}.")
        share = float(checked_prevalence(prevalence))
        tables = at_rates(rates()[:, None], rates()[None, :], share)
        values = np.stack([np.asarray(metric(tables)) for metric in shown])
        return cls(tuple(shown), share, values, _point, shape, tuple(map(float, sections))).placed(ax)

    @classmethod
    def from_evaluation(cls, evaluation: Evaluations, *, ax: DrawingArea | None = None, **options: Any) -> Self:
        """The surfaces at the evaluation's prevalence, with the place of its classifier marked."""
        chosen = single_evaluation(evaluations(evaluation, "A surface"), "A surface")
        counts = caption_text.two_class(chosen, "A surface")
        recall, specificity = caption_text.metric_row(chosen, "recall"), caption_text.metric_row(chosen, "specificity")
        point = recall.value, specificity.value
        share = (
            float(counts.positives / counts.total)
            if chosen.prevalence is None
            else float(np.asarray(chosen.prevalence))
        )
        return cls.of(**{"prevalence": share, **options}, ax=ax, _point=point)

    @classmethod
    def from_result(cls, result: Any, **options: Any) -> Self:
        """The surfaces alone, or with the place of an Evaluation's classifier."""
        return cls.of(**options) if result is None else cls.from_evaluation(result, **options)

    @property
    def height(self) -> float:
        """Inches: a row of surfaces and two of sections."""
        return 4.3

    def frame(self) -> Rows[Record]:
        """One row per metric and pair of rates."""
        tpr, tnr = np.meshgrid(rates(), rates(), indexing="ij")
        return Rows(
            row
            for metric, value in zip(self.metrics, self.values, strict=True)
            for row in records(metric=metric.name, tpr=tpr.ravel(), tnr=tnr.ravel(), value=value.ravel())
        )

    def caption(self) -> str:
        """What is drawn, at which prevalence."""
        titles = listed([style.full_title(metric.name) for metric in self.metrics])
        places = listed([f"{s:g}" for s in self.sections])
        text = f"{titles} over the true positive rate (TPR) and the true negative rate (TNR), at a prevalence of "
        prevalence = caption_text.share(self.prevalence)
        text += f"{prevalence}: above the surfaces, below their sections at {places} of either rate"
        if self.point is None:
            return f"{text}."
        return f"{text}; the point: TPR {caption_text.share(self.point[0])}, TNR {caption_text.share(self.point[1])}."

    # ---------------------------------------------------------------- drawing

    def _draw(self, ax: Axes) -> DrawnAxes:
        part = panels.place(ax)
        upper, lower = part.subfigures(2, 1, squeeze=False, height_ratios=[1.15, 2])[:, 0]
        project, room = ({"projection": "3d"}, _ROOM) if self.shape == "surface" else ({}, {})
        tops = upper.subplots(1, len(self.metrics), squeeze=False, subplot_kw=project, gridspec_kw=room)
        for i, panel in enumerate(tops.flat):
            (self._surface if self.shape == "surface" else self._contour)(panel, i)
        cells = lower.subplots(2, len(self.sections), sharex=True, sharey=True, squeeze=False)
        for row, fixed in enumerate(("TNR", "TPR")):
            for column, at in enumerate(self.sections):
                self._section(cells[row, column], fixed, at, first=column == 0)
        self._names(cells)
        return panels.as_array([*tops.flat, *cells.flat])

    def _limits(self) -> tuple[float, float]:
        finite = self.values[np.isfinite(self.values)]
        low = min(0.0, float(finite.min(initial=0)))
        return low, max(1.0, float(finite.max(initial=1)))

    def _surface(self, ax: Axes3D, i: int) -> None:
        tpr, tnr = np.meshgrid(rates(), rates(), indexing="ij")
        low, high = self._limits()
        ax.plot_surface(
            tpr,
            tnr,
            self.values[i],
            cmap=style.shades(style.colour(i)),
            vmin=low - 0.5 * (high - low),
            vmax=high,
            rcount=11,
            ccount=11,
            linewidth=0.3,
            edgecolor=inks().paper,
            antialiased=True,
        )
        ax.set(xlim=(0, 1), ylim=(0, 1), zlim=(low, high), xlabel="TPR", ylabel="TNR")
        ax.set_title(style.short_title(self.metrics[i].name), color=style.colour(i), loc="center", pad=-2, fontsize=8)
        ax.view_init(elev=24, azim=-128)
        ax.set_box_aspect((1, 1, 0.8), zoom=1.12)
        _dress_3d(ax, low, high)
        if self.point is not None:
            ax.plot(*([v] for v in self.point), [self._at_point(i)], "o", color=inks().ink, markersize=3.5, zorder=10)

    def _contour(self, ax: Axes, i: int) -> None:
        low, high = self._limits()
        levels = np.linspace(low, high, 11)
        ax.contourf(rates(), rates(), self.values[i].T, levels=levels, cmap=style.shades(style.colour(i)))
        lines = ax.contour(
            rates(), rates(), self.values[i].T, levels=levels, colors=inks().ink, linewidths=0.4, linestyles="-"
        )
        ax.clabel(lines, levels[1:-1:2], fmt="%.2g", fontsize=5)
        ax.set(aspect="equal", xlabel="TPR", ylabel="TNR" if i == 0 else "", xticks=[0, 1], yticks=[0, 1])
        ax.set_title(style.short_title(self.metrics[i].name), loc="center", fontsize=8)
        ax.grid(visible=False)
        if self.point is not None:
            ax.plot(*self.point, "o", color=inks().paper, markeredgecolor=inks().ink, markersize=4)

    def _at_point(self, i: int) -> float:
        tpr, tnr = self.point or (np.nan, np.nan)
        return float(self.metrics[i](at_rates(tpr, tnr, self.prevalence)))

    def _section(self, ax: Axes, fixed: str, at: float, *, first: bool) -> None:
        for i, line in enumerate(section(self.metrics, fixed, at, self.prevalence)):
            ax.plot(rates(), line, color=style.colour(i), linestyle=style.dash(i), linewidth=1.2, clip_on=False)
        low, high = self._limits()
        ax.set(xlim=(0, 1), ylim=(low, high), xlabel="TPR" if fixed == "TNR" else "TNR")
        ax.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
        ax.set_title(f"{fixed} = {at:g}", loc="center", fontsize=8)
        ax.tick_params(labelbottom=True)
        if first:
            ax.set_ylabel("value")

    def _names(self, cells: Array) -> None:
        """The names of the lines, once, over the sections."""
        parent, n = cells[0, 0].figure, len(self.metrics)
        for i, metric in enumerate(self.metrics):
            text = f"{style.sample(i)}{style.short_title(metric.name)}"
            parent.text((i + 0.5) / n, 1.0, text, color=style.colour(i), ha="center", va="bottom", fontsize=7)


def _dress_3d(ax: Axes3D, low: float, high: float) -> None:
    """Few numbers: three axes end in a corner or two, so one stands there, and the height has one in its middle."""
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        least, most = (low, high) if axis is ax.zaxis else (0.0, 1.0)
        middle = (least + most) / 2
        first = f"{least:g}" if axis is ax.xaxis else ""
        axis.set_ticks([least, middle, most], [first, f"{middle:g}" if axis is ax.zaxis else "", f"{most:g}"])
        axis.set_pane_color((1, 1, 1, 0))
        axis._axinfo["grid"].update(color=inks().line, linewidth=0.5)  # noqa: SLF001 - 3-D axes have no other door
        axis.line.set_color(inks().grey)
    ax.tick_params(pad=-5, labelsize=6)
    ax.xaxis.labelpad = ax.yaxis.labelpad = -13
    ax.set_in_layout(False)  # matplotlib before 3.11 measures a 3-D axis where it was last drawn


def rates() -> Array:
    """The rates of the grid."""
    return np.linspace(0, 1, _GRID)


def section(metrics: tuple[Metric, ...], fixed: str, at: float, prevalence: float) -> list[Array]:
    """The values of the metrics along one rate while the other stays."""
    if fixed not in ("TPR", "TNR"):
        raise InputTypeError(f"A section fixes 'TPR' or 'TNR', not {fixed!r}.")
    tables = at_rates(rates(), at, prevalence) if fixed == "TNR" else at_rates(at, rates(), prevalence)
    return [np.asarray(metric(tables)) for metric in metrics]
