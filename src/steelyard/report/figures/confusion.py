"""ConfusionDisplay: the table as areas for two classes, as a heat map of each class's rows for more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from steelyard.analysis.uncertainty import interval
from steelyard.report.figures import style, words
from steelyard.report.figures.display import LabelDisplay, Record, evaluations, only, records

if TYPE_CHECKING:
    from steelyard.analysis.rows import Rows
    from steelyard.analysis.sampling import Interval
    from steelyard.statistics.confusion import Confusion

NARROW = 0.2  # a column thinner than this share of the width has its words beside it
MOST_WRITTEN = 12  # classes up to which the cells of a heat map hold their numbers


@dataclass(eq=False, repr=False)
class ConfusionDisplay(LabelDisplay):
    """The confusion table as a picture: for two classes the width is the class's size, the height what became of it.

    >>> ConfusionDisplay.from_predictions([0, 0, 0, 1, 1], [0, 0, 1, 1, 1]).frame()
    true  predicted  rows  weight  share
    0             0     2       2  0.667
    0             1     1       1  0.333
    1             0     0       0      0
    1             1     2       2      1
    """

    table: Confusion
    found: Interval

    @classmethod
    def from_evaluation(cls, evaluation: Any, *, ax: Any = None) -> Self:
        """The table of an Evaluation."""
        one = only(evaluations(evaluation, "A confusion table"), "A confusion table")
        if one.confusion is None:
            raise words.no_labels("A confusion table")
        found = interval("recall", one.confusion, average=None, level=one.level)
        return cls(one.confusion, found)._shown(ax)

    @property
    def shares(self) -> Any:
        """The share of each true class that went to each predicted one; NaN for a class without rows."""
        matrix = self.table.matrix.astype(np.float64)
        with np.errstate(invalid="ignore"):
            return matrix / matrix.sum(1, keepdims=True)

    @property
    def height(self) -> float:  # type: ignore[override]
        """Inches: a square heat map for many classes."""
        return 2.6 if len(self.table.labels) == 2 else 3.1

    def frame(self) -> Rows[Record]:
        """One row a cell: its rows, their weight, and its share of the true class."""
        k = len(self.table.labels)
        true = [label for label in self.table.labels for _ in range(k)]
        return records(
            true=true, predicted=list(self.table.labels) * k, rows=self.table.rows.ravel(),
            weight=self.table.matrix.ravel(), share=self.shares.ravel(),
        )  # fmt: skip

    def caption(self) -> str:
        """What the areas mean, and how much of each class was found."""
        sizes = self.table.rows.sum(1)
        parts = [
            f"{words.share(value)} ({words.share(low)} to {words.share(high)}) of the {n:,} rows of {label}"
            for label, n, value, low, high in zip(
                self.table.labels, sizes, self.found.value, self.found.low, self.found.high, strict=True
            )
        ]
        shape = "Areas are rows" if len(parts) == 2 else "Shades are shares of each true class"
        how = f"{words.percent(self.found.level)} intervals, {self.found.method}"
        return f"Confusion table of {int(sizes.sum()):,} rows. {shape}. Found: {words.listed(parts)} ({how})."

    def _draw(self, ax: Any) -> Any:
        (self._areas if len(self.table.labels) == 2 else self._heat)(ax)
        return ax

    # ---------------------------------------------------------------- two classes

    def _areas(self, ax: Any) -> None:
        widths = self.table.matrix.sum(1) / self.table.matrix.sum()
        left = np.array([0.0, widths[0] + 0.02])
        for i in (0, 1):
            self._column(ax, i, left[i], widths[i])
        ax.set(xlim=(0, 1.02), ylim=(0, 1), ylabel="share of the true class", yticks=[0, 0.25, 0.5, 0.75, 1])
        ax.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", "0.25", "0.5", "0.75", "1"])
        ax.tick_params(axis="x", length=0)
        places = left + widths / 2
        ends = ["left" if w < NARROW else "center" for w in widths]
        ax.set_xticks([])
        ax.grid(visible=False)
        ax.spines["bottom"].set_visible(False)
        for i, label in enumerate(self.table.labels):
            x, side = (places[i], "center") if ends[i] == "center" else ((1.02, "right") if i else (0, "left"))
            text = f"truly {words.short(label)}\n{self.table.rows[i].sum():,} rows"
            ax.annotate(text, (x, 0), (0, -4), textcoords="offset points", ha=side, va="top")

    def _column(self, ax: Any, i: int, left: float, width: float) -> None:
        """One true class: what was predicted right from the bottom, the rest hatched above it."""
        colour, right = style.colour(1 - i), self.shares[i, i]
        ax.bar(left, right, width, align="edge", color=colour, linewidth=0)
        ax.bar(
            left, 1 - right, width, bottom=right, align="edge", facecolor="white", edgecolor=colour, hatch="/////",
            linewidth=0.8,
        )  # fmt: skip
        for j, low, high in ((i, 0, right), (1 - i, right, 1)):
            if self.table.rows[i, j]:
                self._word(ax, (i, j), (left, width), (low + high) / 2, high - low)

    def _word(self, ax: Any, cell: tuple[int, int], across: tuple[float, float], y: float, tall: float) -> None:
        """The rows of a cell, inside it where they fit, else beside it."""
        i, j = cell
        left, width = across
        text = f"{self.table.rows[i, j]:,} called {words.short(self.table.labels[j])}"
        plain = {"boxstyle": "square,pad=0.25", "facecolor": "white", "edgecolor": "none"}
        if width >= NARROW and (tall >= 0.1 or i == j):
            white = i == j and tall >= 0.1
            box = None if white else plain
            text = text if width > 0.45 else text.replace(" called ", "\ncalled ")
            ax.text(left + width / 2, y, text, ha="center", va="center", color="white" if white else None, bbox=box)
            return
        if width >= NARROW:
            y = min(y, 0.97)
            ax.text(left + width / 2, y - 0.02, text, ha="center", va="top", color="white" if i != j else None)
            return
        x, side, edge = (left - 0.05, "right", left) if i else (left + width + 0.05, "left", left + width)
        box = {"boxstyle": "square,pad=0.2", "facecolor": "white", "edgecolor": "none"}
        ax.annotate(
            text, (edge, y), (x, min(max(y, 0.08), 0.92)), ha=side, va="center", bbox=box, zorder=5,
            arrowprops={"arrowstyle": "-", "color": style.GREY, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 0},
        )  # fmt: skip

    # ---------------------------------------------------------------- more classes

    def _heat(self, ax: Any) -> None:
        k, shares = len(self.table.labels), self.shares
        ax.imshow(shares, cmap=_blues(), vmin=0, vmax=1, aspect="equal")
        names = [words.short(label) for label in self.table.labels]
        slant = {"rotation": 90} if max(map(len, names)) * k > 40 else {}
        ax.set_xticks(range(k), names, **slant)
        ax.set_yticks(range(k), names)
        ax.set(xlabel="predicted class", ylabel="true class")
        ax.tick_params(length=0)
        ax.grid(visible=False)
        ax.spines[:].set_visible(False)
        if k <= MOST_WRITTEN:
            for i, j in np.ndindex(k, k):
                dark = shares[i, j] > 0.55
                ax.text(
                    j, i, f"{self.table.rows[i, j]:,}", ha="center", va="center", fontsize=7 if k > 6 else 8,
                    color="white" if dark else style.INK if self.table.rows[i, j] else style.FAINT,
                )  # fmt: skip


def _blues() -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("blues", ["#ffffff", "#9cc9e3", style.THIS, "#003d63"])
