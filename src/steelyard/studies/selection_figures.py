"""The figures of the selection study: dots with intervals, and the matrix of selectors and goals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from steelyard.analysis.results.rows import Rows
from steelyard.report.figures.display import Display, Record
from steelyard.report.palette import inks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steelyard._types import Array
    from steelyard.report.figures.figure_types import DrawnAxes


@dataclass(frozen=True)
class DotSeries:
    """One value for each line of a figure, with its interval."""

    name: str
    values: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(eq=False, repr=False)
class _SelectionDisplay(Display):
    """A display whose caption is handed to it, as its fields are."""

    text: str

    def caption(self) -> str:
        """What is shown."""
        return self.text

    @classmethod
    def from_result(cls, result: Any, **options: Any) -> Self:
        """The figure of what its fields say."""
        return cls(**result, **options)


@dataclass(eq=False, repr=False)
class DotIntervals(_SelectionDisplay):
    """Lines by name, with a dot and its interval for each of one or two series, and a dashed line to read them by."""

    lines: tuple[str, ...]
    series: tuple[DotSeries, ...]
    axis: str
    reference: float

    @property
    def height(self) -> float:
        """Inches: a line each."""
        return 0.85 + 0.19 * len(self.lines)

    def frame(self) -> Rows[Record]:
        """One row for each line and series."""
        return Rows(
            Record(line=line, series=part.name, value=part.values[i], low=part.low[i], high=part.high[i])
            for i, line in enumerate(self.lines)
            for part in self.series
        )

    def _draw(self, ax: Axes) -> DrawnAxes:
        at = np.arange(len(self.lines))[::-1]
        colours = (inks().this, inks().grey)
        for i, part in enumerate(self.series):
            y = at + (0.0 if len(self.series) == 1 else 0.16 - 0.32 * i)
            ax.hlines(y, part.low, part.high, color=colours[i], linewidth=1.2)
            face = colours[i] if i == 0 else inks().paper
            ax.scatter(part.values, y, s=14, color=face, edgecolor=colours[i], linewidth=0.9, zorder=3, label=part.name)
        ax.axvline(self.reference, color=inks().grey, linestyle=(0, (4, 3)), linewidth=0.9)
        ax.set_yticks(at, self.lines)
        ax.set_ylim(-0.7, len(self.lines) - 0.3)
        ax.set_xlabel(self.axis)
        ax.grid(visible=False, axis="y")
        if len(self.series) > 1:
            ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False, fontsize=7, borderaxespad=0.2)
        return ax


@dataclass(eq=False, repr=False)
class RankMatrix(_SelectionDisplay):
    """The mean rank for each selector, a line each, on each goal, a column each; darker is worse."""

    selectors: tuple[str, ...]
    goals: tuple[str, ...]
    values: Array
    worst: float

    @property
    def height(self) -> float:
        """Inches: a line each, and the names below."""
        return 1.5 + 0.2 * len(self.selectors)

    def frame(self) -> Rows[Record]:
        """One row for each selector and goal."""
        return Rows(
            Record(selector=selector, goal=goal, rank=float(self.values[i, j]))
            for i, selector in enumerate(self.selectors)
            for j, goal in enumerate(self.goals)
        )

    def _draw(self, ax: Axes) -> DrawnAxes:
        from matplotlib.colors import LinearSegmentedColormap

        shades = LinearSegmentedColormap.from_list("ranks", [inks().paper, *inks().signs[2:]])
        ax.imshow(self.values, cmap=shades, vmin=1.5, vmax=self.worst, aspect="auto")
        ax.set_xticks(range(len(self.goals)), self.goals, rotation=90)
        ax.set_yticks(range(len(self.selectors)), self.selectors)
        ax.tick_params(length=0)
        ax.grid(visible=False)
        ax.spines[:].set_visible(False)
        for (i, j), value in np.ndenumerate(self.values):
            ink = inks().paper if value > 0.75 * self.worst else inks().ink
            bold = "bold" if value == self.values[:, j].min() else "normal"
            ax.text(j, i, f"{value:.1f}", ha="center", va="center", fontsize=6.5, color=ink, fontweight=bold)
        return ax
