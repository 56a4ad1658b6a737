"""ConfusionDisplay: the confusion matrix as areas for two classes, as a heat map of each class's rows for more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from steelyard.analysis.results.formatting import listed
from steelyard.report.figures import caption_text, style
from steelyard.report.figures.display import LabelDisplay, Record, evaluations, records, single_evaluation
from steelyard.report.palette import inks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steelyard._types import Array
    from steelyard.analysis.intervals.interval import Interval
    from steelyard.analysis.results.result import Rows
    from steelyard.evaluation.evaluation import Evaluation, MetricRow
    from steelyard.report.figures.figure_types import DrawingArea, DrawnAxes, Evaluations
    from steelyard.tables.confusion import Confusion

NARROW, STRIP = 0.2, 0.09  # shares: a column with its words beside it, and the height that a line of words takes
LETTERS, BESIDE = 38, 14  # how many fit across the whole width, and beside a column
SPACE = 0.02  # between the two columns
_MOST_WRITTEN = 12  # classes up to which the cells of a heat map hold their numbers


@dataclass(eq=False, repr=False)
class ConfusionDisplay(LabelDisplay):
    """The confusion table as a picture: for two classes the width is the class's size, the height what became of it.

    >>> ConfusionDisplay.from_predictions([0, 0, 0, 1, 1], [0, 0, 1, 1, 1]).frame()
    true  predicted  rows  weight  share
    0             0     2       2  0.667
    0             1     1       1  0.333
    1             0     0       0      0
    1             1     2       2   1.00
    """

    table: Confusion
    recalls: tuple[MetricRow | Interval, ...]
    level: float

    @classmethod
    def from_evaluation(cls, evaluation: Evaluations, *, ax: DrawingArea | None = None) -> Self:
        """The table of an Evaluation."""
        chosen = single_evaluation(evaluations(evaluation, "A confusion table"), "A confusion table")
        if chosen.confusion is None:
            raise caption_text.labels_missing("A confusion table")
        return cls(chosen.confusion, _recalls(chosen), chosen.level).placed(ax)

    @property
    def shares(self) -> Array:
        """The share of each true class that went to each predicted one; NaN for a class without rows."""
        matrix = self.table.matrix.astype(np.float64)
        with np.errstate(invalid="ignore"):
            return np.asarray(matrix / matrix.sum(1, keepdims=True))

    @property
    def height(self) -> float:
        """Inches: a square heat map for many classes."""
        return 2.6 if len(self.table.labels) == 2 else 3.4

    def frame(self) -> Rows[Record]:
        """One row a cell: its rows, their weight, and its share of the true class."""
        k = len(self.table.labels)
        true = [label for label in self.table.labels for _ in range(k)]
        return records(
            true=true,
            predicted=list(self.table.labels) * k,
            rows=self.table.rows.ravel(),
            weight=self.table.matrix.ravel(),
            share=self.shares.ravel(),
        )

    def caption(self) -> str:
        """What the areas mean, and how much of each class was found."""
        sizes = self.table.rows.sum(1)
        parts = [
            f"{caption_text.share_interval(row)} of the {n:,} rows of {caption_text.cropped(label)}"
            for label, n, row in zip(self.table.labels, sizes, self.recalls, strict=True)
        ]
        shape = "Areas are rows" if len(parts) == 2 else "Shades are shares of each true class"
        method = f"{caption_text.percent(self.level)} intervals, {self.recalls[0].method}"
        return f"Confusion table of {int(sizes.sum()):,} rows. {shape}. Found: {listed(parts)} ({method})."

    def _draw(self, ax: Axes) -> DrawnAxes:
        (self._areas if len(self.table.labels) == 2 else self._heat)(ax)
        return ax

    # ---------------------------------------------------------------- two classes

    def _areas(self, ax: Axes) -> None:
        """The larger class at the left, so that a thin column has room for words at its right."""
        widths = self.table.matrix.sum(1) / self.table.matrix.sum()
        order = [0, 1] if widths[0] >= widths[1] else [1, 0]
        lefts = dict(zip(order, (0.0, float(widths[order[0]]) + SPACE), strict=True))
        for i in order:
            self._column(ax, i, lefts[i], float(widths[i]))
        ax.set(xlim=(0, 1 + SPACE), ylim=(0, 1), ylabel="share of the true class")
        ax.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", "0.25", "0.5", "0.75", "1"])
        ax.set_xticks([])
        ax.grid(visible=False)
        ax.spines["bottom"].set_visible(False)

    def _column(self, ax: Axes, i: int, left: float, width: float) -> None:
        """One true class: what was called right from the bottom, the rest hatched above it."""
        right = float(np.nan_to_num(self.shares[i, i]))
        hatched: dict[str, Any] = {
            "facecolor": inks().paper,
            "edgecolor": inks().other,
            "hatch": "/////",
            "linewidth": 0.8,
        }
        ax.bar(left, right, width, align="edge", color=inks().this, linewidth=0)
        ax.bar(left, 1 - right, width, bottom=right, align="edge", **hatched)
        thin = width < NARROW
        true = f"truly {caption_text.drawn_label(self.table.labels[i], 24)}"
        name = caption_text.wrapped(true, BESIDE if thin else width * LETTERS)
        text = f"{name}\n{self.table.rows[i].sum():,} rows"
        _write_beside(ax, text, (left if thin else left + width / 2, 0), (0, -4), "left" if thin else "center", "top")
        for j, low, high in ((i, 0.0, right), (1 - i, right, 1.0)):
            if self.table.rows[i, j]:
                self._cell_text(ax, (i, j), (left, width), (low, high))

    def _cell_text(
        self, ax: Axes, cell: tuple[int, int], across: tuple[float, float], along: tuple[float, float]
    ) -> None:
        """The rows of a cell: inside it where they fit, else beside a thin column, else above or below a thin strip."""
        (i, j), (left, width), (low, high) = cell, across, along
        text = f"{self.table.rows[i, j]:,} called {caption_text.drawn_label(self.table.labels[j], 24)}"
        center, middle = left + width / 2, (low + high) / 2
        ink = inks().this if i == j else inks().other
        if width < NARROW:
            spot = left + width, min(max(middle, 0.04), 0.96)
            _write_beside(ax, caption_text.wrapped(text, BESIDE), spot, (4, 0), "left", "center", ink)
            return
        text = caption_text.wrapped(text, width * LETTERS)
        fits = high - low > STRIP * (1 + text.count("\n"))
        if not fits and i != j:
            _write_beside(ax, text, (center, 1), (0, 3), "center", "bottom", ink)
            return
        plain = i == j and fits
        box = None if plain else {"boxstyle": "square,pad=0.2", "facecolor": inks().paper, "edgecolor": "none"}
        ax.text(center, middle, text, ha="center", va="center", color=inks().paper if plain else ink, bbox=box)

    # ---------------------------------------------------------------- more classes

    def _heat(self, ax: Axes) -> None:
        k = len(self.table.labels)
        ax.imshow(self.shares, cmap=style.shades(), vmin=0, vmax=1, aspect="equal")
        names = [caption_text.drawn_label(label) for label in self.table.labels]
        lines = [caption_text.wrapped(name, LETTERS / k) for name in names]
        widest = max(len(part) for line in lines for part in line.split("\n"))
        if widest > LETTERS / k:
            ax.set_xticks(range(k), names, rotation=90)
        else:
            ax.set_xticks(range(k), lines)
        ax.set_yticks(range(k), names)
        ax.set(xlabel="predicted class", ylabel="true class")
        ax.tick_params(length=0)
        ax.grid(visible=False)
        ax.spines[:].set_visible(False)
        if k <= _MOST_WRITTEN:
            self._cell_numbers(ax)

    def _cell_numbers(self, ax: Axes) -> None:
        size = 7 if len(self.table.labels) > 6 else 8
        for (i, j), rows in np.ndenumerate(self.table.rows):
            ink = inks().paper if self.shares[i, j] > 0.55 else inks().ink if rows else inks().grey
            ax.text(j, i, f"{rows:,}", ha="center", va="center", fontsize=size, color=ink)


def _write_beside(
    ax: Axes,
    text: str,
    spot: tuple[float, float],
    points: tuple[float, float],
    ha: Literal["left", "center"],
    va: Literal["top", "center", "bottom"],
    ink: str | None = None,
) -> None:
    """Words so many points away from a spot, also where that is outside the axes."""
    ax.annotate(text, spot, points, textcoords="offset points", color=ink, ha=ha, va=va, annotation_clip=False)


def _recalls(evaluation: Evaluation) -> tuple[MetricRow | Interval, ...]:
    """The recall of each class, by the rows of the evaluation wherever it has them."""
    labels, positive = evaluation.labels, evaluation.positive
    if len(labels) == 2 and positive in labels and evaluation.prevalence is None:
        position = labels.index(positive)
        return tuple(caption_text.metric_row(evaluation, "recall" if i == position else "specificity") for i in (0, 1))
    return tuple(row.recall for row in evaluation.per_class)
