"""RunsDisplay: metrics over repeated runs or folds as box plots, every run a point (Nguyen's Figures 1 and 2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from steelyard.analysis.results.formatting import listed, three_digits
from steelyard.analysis.results.result import Rows
from steelyard.arguments import names_wrong_arguments
from steelyard.evaluation.evaluation import Evaluation
from steelyard.exceptions import InputError, InputTypeError
from steelyard.report.figures import caption_text, metric_lines, panels, style
from steelyard.report.figures.display import Display, Record, records
from steelyard.report.figures.figure_sources import FigureSource, by_name, cv_results_by_name
from steelyard.report.palette import inks
from steelyard.tables import array_tables
from steelyard.tables.confusion import Confusion
from steelyard.tables.counts import Counts

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from steelyard._types import Array, Estimator, Label
    from steelyard.metrics.measure import Metric
    from steelyard.report.figures.figure_types import CvResults, DrawingArea, DrawnAxes, Metrics

    Runs = Counts[Array] | Iterable[Counts | Confusion | Evaluation]

MOST_POINTS = 60
MOST_MEDIANS = 6  # boxes in a row whose medians fit beside them in digits


@dataclass(eq=False, repr=False)
class RunsDisplay(Display):
    """Box plots of metrics over runs: the quartiles, whiskers to the last run within 1.5 of their distance.

    Give one array of Counts, or several by name: models, or sets of other balance. Every run is a point, and all
    panels have one scale, so that spreads can be compared.

    >>> from steelyard import Counts
    >>> runs = Counts(tp=[8, 9], fn=[2, 1], fp=[5, 10], tn=[85, 80])
    >>> RunsDisplay.from_runs(runs, metrics=["recall"]).frame()
    group  metric  run  value
           recall    1  0.800
           recall    2  0.900
    """

    groups: tuple[str, ...]
    metrics: tuple[Metric, ...]
    values: tuple[Array, ...]  # a group each: metric, run

    @classmethod
    def from_runs(
        cls, runs: Runs | Mapping[str, Runs], *, metrics: Metrics | None = None, ax: DrawingArea | None = None
    ) -> Self:
        """The runs as an array of Counts, or a list of tables or evaluations; of several groups by name."""
        chosen = metric_lines.metrics_of_counts(metrics, ("recall", "precision", "ac_score", "mcc"))
        groups: dict[str, Runs] = by_name(runs)
        tables = {str(name): _stacked(part) for name, part in groups.items()}
        if not tables:
            raise InputError("There are no runs to draw; give Counts with an axis of runs, or a list of tables.")
        values = tuple(np.stack([np.asarray(metric(part)) for metric in chosen]) for part in tables.values())
        return cls(tuple(tables), tuple(chosen), values).placed(ax)

    @classmethod
    @names_wrong_arguments
    def from_predictions(
        cls,
        y_true: Sequence[ArrayLike] | Array,
        y_pred: Sequence[ArrayLike] | Mapping[str, Sequence[ArrayLike]],
        *,
        pos_label: Label | None = None,
        **options: Any,
    ) -> Self:
        """The runs as lists of columns, one a run: y_true and y_pred alike, or one y_true for all; y_pred by name."""
        return cls.from_runs(
            {name: _tables(y_true, part, pos_label) for name, part in by_name(y_pred).items()}, **options
        )

    @classmethod
    def from_estimator(
        cls,
        estimators: Sequence[Estimator] | Mapping[str, Sequence[Estimator]],
        X: ArrayLike,
        y: ArrayLike,
        *,
        pos_label: Label | None = None,
        **options: Any,
    ) -> Self:
        """The runs as fitted estimators, one a run, on the same rows; lists of them by name."""
        columns = {name: [model.predict(X) for model in part] for name, part in by_name(estimators).items()}
        tables = {name: _tables([y] * len(part), part, pos_label) for name, part in columns.items()}
        return cls.from_runs(tables, **options)

    @classmethod
    def from_cv_results(cls, cv_results: CvResults, X: ArrayLike, y: ArrayLike, **options: Any) -> Self:
        """One run a test fold of scikit-learn's cross_validate(..., return_estimator=True, return_indices=True)."""
        source, rest = FigureSource.split("labels", (), options)
        folds = {name: source.of_each_fold(part, X, y) for name, part in cv_results_by_name(cv_results).items()}
        return cls.from_runs(folds, **rest)

    @classmethod
    def from_result(cls, result: Any, **options: Any) -> Self:
        """The runs as Counts, tables or evaluations, by name where there are several groups."""
        return cls.from_runs(result, **options)

    @property
    def height(self) -> float:
        """Inches: one row of boxes, or a row of panels for several groups of many names."""
        return 2.5 if len(self.groups) == 1 else 0.55 + 1.3 * int(np.ceil(len(self.metrics) / 2))

    def frame(self) -> Rows[Record]:
        """One row a group, metric and run."""
        return Rows(
            row
            for name, part in zip(self.groups, self.values, strict=True)
            for metric, values in zip(self.metrics, part, strict=True)
            for row in records(group=name, metric=metric.name, run=list(range(1, len(values) + 1)), value=values)
        )

    def caption(self) -> str:
        """How many runs, and what a box is."""
        sizes = {part.shape[1] for part in self.values}
        n = f"{min(sizes)}" if len(sizes) == 1 else f"{min(sizes)} to {max(sizes)}"
        titles = listed([style.full_title(metric.name) for metric in self.metrics])
        lost = sum(int(np.isnan(part).sum()) for part in self.values)
        missing = f"; {lost} undefined values are left out" if lost else ""
        each = f" each of {listed(list(self.groups))}" if len(self.groups) > 1 else ""
        return (
            f"{titles} over {n} runs{each}: boxes from quartile to quartile with the median, whiskers to the last run "
            f"within 1.5 times their distance, points the runs; the spread of runs is no confidence interval{missing}."
        )

    def _draw(self, ax: Axes) -> DrawnAxes:
        if len(self.groups) == 1:
            self._boxes(
                ax, [(style.short_title(metric.name), self.values[0][i]) for i, metric in enumerate(self.metrics)]
            )
            ax.set_ylabel("value")
            return ax
        columns = min(2, len(self.metrics))
        axes = panels.grid(ax, int(np.ceil(len(self.metrics) / columns)), columns, sharey=True)
        for i, panel in enumerate(axes.flat):
            if i >= len(self.metrics):
                panel.set_axis_off()
                continue
            pairs = [
                (caption_text.drawn_label(n, 14), part[i]) for n, part in zip(self.groups, self.values, strict=True)
            ]
            self._boxes(panel, pairs, columns=columns, colours=True)
            panel.set_title(style.short_title(self.metrics[i].name))
        return axes

    def _boxes(self, ax: Axes, pairs: list[tuple[str, Array]], *, columns: int = 1, colours: bool = False) -> None:
        room = len(pairs) * columns <= MOST_MEDIANS
        for i, (_, values) in enumerate(pairs):
            _box(ax, i, values[np.isfinite(values)], style.colour(i) if colours else inks().this, digits=room)
        ax.set_xticks(range(len(pairs)), _wrapped([name for name, _ in pairs], columns))
        ax.set_xlim(-0.5, len(pairs) - 0.25)
        ax.tick_params(axis="x", length=0)
        ax.grid(visible=False, axis="x")
        ax.margins(y=0.08)


def _box(ax: Axes, x: int, values: Array, colour: str, *, digits: bool) -> None:
    """One box with its runs beside each other where they are few, and its median in digits where there is room."""
    if not len(values):
        ax.text(x, 0.5, "undefined", rotation=90, ha="center", va="center", transform=ax.get_xaxis_transform())
        return
    _quartiles(ax, x, values, colour)
    if len(values) <= MOST_POINTS:
        aside = 0.13 * np.sin(2.4 * np.arange(len(values)))  # apart, and the same every time
        ax.plot(x + aside, values, "o", color=colour, markersize=2.2, alpha=0.7, markeredgewidth=0)
    if digits:
        median = float(np.median(values))
        beside: dict[str, Any] = {"textcoords": "offset points", "va": "center", "ha": "left"}
        ax.annotate(_median_text(median), (x + 0.27, median), (1, 0), fontsize=6.5, color=colour, **beside)


def _quartiles(ax: Axes, x: int, values: Array, colour: str) -> None:
    """The box, its whiskers, and the runs beyond them where not every run is a point."""
    thin = {"color": colour, "linewidth": 0.9}
    ax.boxplot(
        [values],
        positions=[x],
        widths=0.5,
        showfliers=len(values) > MOST_POINTS,
        patch_artist=True,
        manage_ticks=False,
        boxprops={"facecolor": f"{colour}22", "edgecolor": colour, "linewidth": 0.9},
        whiskerprops=thin,
        capprops=thin,
        medianprops={"color": colour, "linewidth": 1.6},
        flierprops={"marker": ".", "markersize": 3, "color": colour},
    )


def _median_text(value: float) -> str:
    """A median where room is scarce: three decimals without the leading zero, three digits above 1."""
    return three_digits(value) if abs(value) >= 1 else f"{value:.3f}".replace("0.", ".").replace("-", "−")


def _wrapped(names: list[str], columns: int) -> list[str]:
    """Names in two lines where they would meet their neighbours', in so many columns of panels."""
    most = 44 // max(len(names) * columns, 1)
    return [name.replace(" ", "\n", 1) if len(name) > most else name for name in names]


def _stacked(runs: Runs) -> Counts[Array]:
    if isinstance(runs, Counts):
        if len(runs.shape) != 1 or not runs.shape[0]:
            raise InputError(f"Runs lie on the one axis of Counts; these have the shape {runs.shape}.")
        return runs
    if isinstance(runs, (str, bytes, Mapping)) or not hasattr(runs, "__iter__"):
        raise InputTypeError(f"Runs are Counts with an axis, or a list of tables, not {type(runs).__name__}.")
    return Counts.stack(_counts(run) for run in runs)


def _counts(run: Counts | Confusion | Evaluation) -> Counts:
    if isinstance(run, Evaluation):
        return caption_text.two_class(run, "A box plot of runs")
    if isinstance(run, (Counts, Confusion)):
        return run.counts() if isinstance(run, Confusion) else run
    raise InputTypeError(f"A run is Counts, a Confusion or an Evaluation, not {type(run).__name__}.")


def _tables(
    y_true: Sequence[ArrayLike] | Array, y_pred: Sequence[ArrayLike], pos_label: Label | None
) -> list[Confusion]:
    """One table a run."""
    y_pred = list(y_pred)
    alike = np.ndim(next(iter(y_true), 0)) > 0
    truths = y_true if alike else [y_true] * len(y_pred)
    if len(truths) != len(y_pred):
        raise InputError(f"There are {len(truths)} runs in y_true and {len(y_pred)} in y_pred; give as many.")
    return [array_tables.confusion(t, p, pos_label=pos_label) for t, p in zip(truths, y_pred, strict=True)]
