"""ConfusionDisplay: the table as areas for two classes, as a heat map of each class's rows for more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from steelyard.analysis.formatting import listed
from steelyard.report.figures import caption_text, style
from steelyard.report.figures.display import LabelDisplay, Record, evaluations, only, records

if TYPE_CHECKING:
    from steelyard.analysis.rows import Rows
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.statistics.confusion import Confusion

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
    found: tuple[Any, ...]
    level: float

    @classmethod
    def from_evaluation(cls, evaluation: Any, *, ax: Any = None) -> Self:
        """The table of an Evaluation."""
        one = only(evaluations(evaluation, "A confusion table"), "A confusion table")
        if one.confusion is None:
            raise caption_text.no_labels("A confusion table")
        return cls(one.confusion, _found(one), one.level).placed(ax)

    @property
    def shares(self) -> Any:
        """The share of each true class that went to each predicted one; NaN for a class without rows."""
        matrix = self.table.matrix.astype(np.float64)
        with np.errstate(invalid="ignore"):
            return matrix / matrix.sum(1, keepdims=True)

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
            f"{caption_text.shares(row)} of the {n:,} rows of {caption_text.cropped(label)}"
            for label, n, row in zip(self.table.labels, sizes, self.found, strict=True)
        ]
        shape = "Areas are rows" if len(parts) == 2 else "Shades are shares of each true class"
        how = f"{caption_text.percent(self.level)} intervals, {self.found[0].method}"
        return f"Confusion table of {int(sizes.sum()):,} rows. {shape}. Found: {listed(parts)} ({how})."

    def _draw(self, ax: Any) -> Any:
        (self._areas if len(self.table.labels) == 2 else self._heat)(ax)
        return ax

    # ---------------------------------------------------------------- two classes

    def _areas(self, ax: Any) -> None:
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

    def _column(self, ax: Any, i: int, left: float, width: float) -> None:
        """One true class: what was called right from the bottom, the rest hatched above it."""
        right = float(np.nan_to_num(self.shares[i, i]))
        ax.bar(left, right, width, align="edge", color=style.THIS, linewidth=0)
        ax.bar(
            left,
            1 - right,
            width,
            bottom=right,
            align="edge",
            facecolor="white",
            edgecolor=style.OTHER,
            hatch="/////",
            linewidth=0.8,
        )
        thin = width < NARROW
        true = caption_text.broken(
            f"truly {caption_text.short(self.table.labels[i], 24)}", BESIDE if thin else width * LETTERS
        )
        name = f"{true}\n{self.table.rows[i].sum():,} rows"
        x = left if thin else left + width / 2
        ax.annotate(
            name,
            (x, 0),
            (0, -4),
            textcoords="offset points",
            ha="left" if thin else "center",
            va="top",
            annotation_clip=False,
        )
        for j, low, high in ((i, 0.0, right), (1 - i, right, 1.0)):
            if self.table.rows[i, j]:
                self._word(ax, (i, j), (left, width), (low, high))

    def _word(self, ax: Any, cell: tuple[int, int], across: tuple[float, float], along: tuple[float, float]) -> None:
        """The rows of a cell: inside it where they fit, else beside a thin column, else above or below a thin strip."""
        (i, j), (left, width), (low, high) = cell, across, along
        text, middle = (
            f"{self.table.rows[i, j]:,} called {caption_text.short(self.table.labels[j], 24)}",
            (low + high) / 2,
        )
        ink = style.THIS if i == j else style.OTHER
        if width < NARROW:
            y = min(max(middle, 0.04), 0.96)
            ax.annotate(
                caption_text.broken(text, BESIDE),
                (left + width, y),
                (4, 0),
                textcoords="offset points",
                color=ink,
                va="center",
                ha="left",
                annotation_clip=False,
            )
            return
        text = caption_text.broken(text, width * LETTERS)
        fits = high - low > STRIP * (1 + text.count("\n"))
        if fits or i == j:
            plain = i == j and fits
            box = None if plain else {"boxstyle": "square,pad=0.2", "facecolor": "white", "edgecolor": "none"}
            ax.text(left + width / 2, middle, text, ha="center", va="center", color="white" if plain else ink, bbox=box)
            return
        ax.annotate(
            text,
            (left + width / 2, 1),
            (0, 3),
            textcoords="offset points",
            ha="center",
            va="bottom",
            color=ink,
            annotation_clip=False,
        )

    # ---------------------------------------------------------------- more classes

    def _heat(self, ax: Any) -> None:
        k, shares = len(self.table.labels), self.shares
        ax.imshow(shares, cmap=style.shades(style.THIS, "#003d63"), vmin=0, vmax=1, aspect="equal")
        names = [caption_text.short(label) for label in self.table.labels]
        lines = [caption_text.broken(name, LETTERS / k) for name in names]
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
            for i, j in np.ndindex(k, k):
                dark = shares[i, j] > 0.55
                ax.text(
                    j,
                    i,
                    f"{self.table.rows[i, j]:,}",
                    ha="center",
                    va="center",
                    fontsize=7 if k > 6 else 8,
                    color="white" if dark else style.INK if self.table.rows[i, j] else style.FAINT,
                )


def _found(one: Evaluation) -> tuple[Any, ...]:
    """How much of each class was found, by the rows of the evaluation wherever it has them."""
    if len(one.labels) == 2 and one.positive in one.labels and one.prevalence is None:
        place = one.labels.index(one.positive)
        return tuple(caption_text.measured(one, "recall" if i == place else "specificity") for i in (0, 1))
    return tuple(row.recall for row in one.per_class)
