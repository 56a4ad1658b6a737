"""IntervalDisplay: a forest plot of metrics, each with its interval and a tick at the no-skill baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from steelyard.analysis.results.formatting import interval_text, listed
from steelyard.analysis.results.result import Rows
from steelyard.exceptions import InputError, InputTypeError
from steelyard.report.figures import caption_text, style
from steelyard.report.figures.display import LabelDisplay, Record, evaluations
from steelyard.report.figures.figure_sources import FigureSource
from steelyard.report.palette import inks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from matplotlib.axes import Axes

    from steelyard.evaluation.evaluation import Evaluation, MetricRow
    from steelyard.predictions import Predictions
    from steelyard.report.figures.figure_types import DrawingArea, DrawnAxes, Evaluations, Metrics

_COLUMNS = ("value", "low", "high", "chance", "method")


@dataclass(eq=False, repr=False)
class IntervalDisplay(LabelDisplay):
    """Metrics with their intervals and no-skill baselines, one line each; several models stand below each other.

    >>> from steelyard import Counts, evaluate
    >>> report = evaluate(Counts(tp=28, fn=23, fp=72, tn=2680))
    >>> IntervalDisplay.from_evaluation(report, metrics=["recall", "ac_score"]).frame()
    metric    value    low   high  chance  method
    recall    0.549  0.414  0.681  0.0357  posterior
    ac_score  0.702  0.581  0.802  0.0676  posterior
    """

    models: dict[str, tuple[MetricRow, ...]]
    rows: str
    level: float

    @classmethod
    def from_evaluation(
        cls, evaluation: Evaluations, *, metrics: Metrics | None = None, ax: DrawingArea | None = None
    ) -> Self:
        """The metrics of an Evaluation, or of several by name: the named ones, or those it shows first."""
        by_model = evaluations(evaluation, "A forest of intervals")
        first = next(iter(by_model.values()))
        models = {name: _rows(each, metrics) for name, each in by_model.items()}
        names = [row.name for row in next(iter(models.values()))]
        if any([row.name for row in part] != names for part in models.values()):
            raise InputError("The models were evaluated by different metrics; name those to draw with metrics=.")
        return cls(models, caption_text.read_text(by_model.values()), first.level).placed(ax)

    @classmethod
    def _from(
        cls, models: Mapping[str, Any], read: Callable[[Any, FigureSource], Evaluation], options: dict[str, Any]
    ) -> Self:
        """Evaluate by the metrics to be drawn, and no more."""
        metrics = options.get("metrics")
        if isinstance(metrics, str):
            raise InputTypeError(f"metrics= takes a list of metrics; write [{metrics!r}].")
        source, rest = FigureSource.split(cls.reads, tuple(metrics or ()), options)
        whole = source if metrics else _EveryMetric(source.reads, (), source.options, source.response_method)
        return cls.from_evaluation({name: read(model, whole) for name, model in models.items()}, **rest)

    @property
    def height(self) -> float:
        """Inches: a line for each metric of each model."""
        lines = sum(map(len, self.models.values()))
        return 0.75 + 0.2 * lines + (0.12 * lines / len(self.models) if len(self.models) > 1 else 0)

    def frame(self) -> Rows[Record]:
        """One row per model and metric."""
        return Rows(
            Record(({"model": name} if name else {}) | {"metric": r.name} | {key: getattr(r, key) for key in _COLUMNS})
            for name, part in self.models.items()
            for r in part
        )

    def caption(self) -> str:
        """The level and the methods of the intervals, and what the ticks are."""
        methods = listed(list(dict.fromkeys(r.method for part in self.models.values() for r in part if r.method)))
        who = f" for {listed(list(self.models))}" if len(self.models) > 1 else ""
        return (
            f"Metrics of {self.rows}{who}, with {caption_text.percent(self.level)} intervals ({methods}); "
            "grey ticks: no-skill baseline (same margins)."
        )

    def _draw(self, ax: Axes) -> DrawnAxes:
        names = [row.name for row in next(iter(self.models.values()))]
        k = len(self.models)
        step = 1.0 if k == 1 else k + 0.6
        for i, part in enumerate(self.models.values()):
            for j, row in enumerate(part):
                self._line(ax, row, j * step + i, i)
        last = (len(names) - 1) * step + k - 1
        ax.set(ylim=(last + 0.7, -0.7), xlabel="value (grey tick: no-skill baseline)")
        ax.set_yticks(np.arange(len(names)) * step + (k - 1) / 2, [style.metric_title(name) for name in names])
        ax.tick_params(axis="y", length=0)
        ax.spines["left"].set_visible(False)
        ax.grid(visible=False, axis="y")
        _reach(ax, [row for part in self.models.values() for row in part])
        self._head(ax)
        return ax

    def _line(self, ax: Axes, row: MetricRow, y: float, i: int) -> None:
        """The interval, the value, the tick of chance, and the numbers at the right."""
        colour = style.colour(i)
        if np.isfinite(row.chance):
            ax.plot([row.chance] * 2, [y - 0.32, y + 0.32], color=inks().grey, linewidth=1.1, zorder=2)
        if np.isfinite([row.low, row.high]).all():
            ax.plot([row.low, row.high], [y, y], color=colour, linewidth=2.2, alpha=0.55, solid_capstyle="butt")
        if np.isfinite(row.value):
            style.draw_mark(ax, row.value, y, i, size=4)
        value = interval_text(row.value, row.low, row.high, share=row.spec.is_share)
        text = value if np.isfinite(row.value) else f"– {row.undefined or ''}"
        ax.annotate(
            text,
            (1.03, y),
            xycoords=("axes fraction", "data"),
            va="center",
            ha="left",
            fontsize=7,
            color=colour if len(self.models) > 1 else None,
        )

    def _head(self, ax: Axes) -> None:
        """What the column at the right is, and the models, each in its colour and mark."""
        style.write_above(ax, f"value ({caption_text.percent(self.level)} interval)", 1.03, 3)
        for i, name in enumerate(self.models if len(self.models) > 1 else ()):
            text = f"{style.sign(i)} {caption_text.drawn_label(name, 24)}"
            style.write_above(ax, text, 0, 3 + 10 * (len(self.models) - 1 - i), size=8, colour=style.colour(i))


class _EveryMetric(FigureSource):
    """The source of an evaluation by every metric, of which the usual few are shown."""

    def _metrics(self, p: Predictions) -> None:  # noqa: ARG002 - all metrics of any rows
        return None


def _rows(evaluation: Evaluation, metrics: Metrics | None) -> tuple[MetricRow, ...]:
    if metrics is None:
        return tuple(evaluation.shown())
    if isinstance(metrics, str):
        raise InputTypeError(f"metrics= takes a list of metrics; write [{metrics!r}].")
    return tuple(evaluation[str(getattr(metric, "name", metric))] for metric in metrics)


def _reach(ax: Axes, rows: list[MetricRow]) -> None:
    """The x axis from 0 to 1 where the values lie there, else as far as they go."""
    ends = np.array([end for row in rows for end in (row.low, row.high, row.value, row.chance) if np.isfinite(end)])
    low, high = min(0.0, float(ends.min(initial=0))), max(1.0, float(ends.max(initial=1)))
    ax.set_xlim(low - 0.02 * (high - low), high + 0.02 * (high - low))
    if (low, high) == (0, 1):
        ax.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "0.25", "0.5", "0.75", "1"])
