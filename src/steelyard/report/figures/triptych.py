"""TriptychDisplay: calibration, discrimination and overall score of models, side by side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

from steelyard.analysis.results.result import Rows
from steelyard.report.figures import caption_text, panels, style
from steelyard.report.figures.display import Record, ScoreDisplay, evaluations, records
from steelyard.report.figures.murphy import MurphyDisplay
from steelyard.report.figures.reliability import ReliabilityDisplay
from steelyard.report.figures.roc import RocDisplay

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase

    from steelyard._types import Array
    from steelyard.report.figures.figure_types import DrawingArea, DrawnAxes, Evaluations

_TITLES = ("Calibration", "Discrimination", "Both: the Brier score")


@dataclass(eq=False, repr=False)
class TriptychDisplay(ScoreDisplay):
    """Triptych: the reliability curves, ROC curves and Murphy diagram of the same models, side by side.

    They show calibration, discrimination and both together (Dimitriadis, Gneiting, Jordan and Vogel 2024). Each panel
    is a display of its own: `reliability`, `roc` and `murphy`.

    >>> display = TriptychDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> [(row["x"], row["y"]) for row in display.frame() if row["panel"] == "reliability"]
    [(0.1, 0.0), (0.35, 0.5), (0.4, 0.5), (0.8, 1.0)]
    """

    needs: ClassVar[tuple[str, ...]] = (*ReliabilityDisplay.needs, *RocDisplay.needs, *MurphyDisplay.needs)

    reliability: ReliabilityDisplay
    roc: RocDisplay
    murphy: MurphyDisplay

    @classmethod
    def from_evaluation(cls, evaluation: Evaluations, *, ax: DrawingArea | None = None) -> Self:
        """The three panels of an Evaluation of probabilities, or of several by name."""
        evaluations(evaluation, "A triptych", scores=True)
        reliability = ReliabilityDisplay.from_evaluation(evaluation, with_scores=False)
        others = (RocDisplay.from_evaluation(evaluation), MurphyDisplay.from_evaluation(evaluation))
        return cls(reliability, *others).placed(ax)

    @property
    def width(self) -> float:
        """Inches: two columns of a paper."""
        return 2 * style.WIDTH

    @property
    def height(self) -> float:
        """Inches: squares, and the words about them."""
        return 2.35 if len(self.roc.curves) == 1 else 2.6

    def frame(self) -> Rows[Record]:
        """One row per panel, model and drawn point, with the ends of the band there."""
        return Rows(
            row
            for panel, name, x, y, low, high in self._lines()
            for row in records(panel=panel, model=name, x=x, y=y, low=low, high=high)
        )

    def _lines(self) -> Iterator[tuple[str, str, Array, Array, Array, Array]]:
        for line in self.reliability.lines:
            yield "reliability", line.name, line.probability, line.observed, line.low, line.high
        for curve in self.roc.curves:
            yield "roc", curve.name, curve.x, curve.y, curve.band.low, curve.band.high
        for each in self.murphy.lines:
            yield "murphy", each.name, each.threshold, each.elementary_score, each.low, each.high

    def caption(self) -> str:
        """The captions of the panels, from left to right."""
        places, shown = ("Left", "Middle", "Right"), (self.reliability, self.roc, self.murphy)
        return " ".join(f"{place}: {display.caption()}" for place, display in zip(places, shown, strict=True))

    def _draw(self, ax: Axes) -> DrawnAxes:
        room = panels.place(ax)
        axes = room.subplots(1, 3)
        if len(self.roc.curves) > 1:
            self._name_models(room)
        for panel, title in zip(axes, _TITLES, strict=True):
            panel.set_title(title)
            panel.set(xlabel=title, ylabel=title)  # so that the layout leaves room for the words to come
            panel.set_box_aspect(1)
        for display, panel in zip(self._unnamed(), axes, strict=True):
            display.plot(panel)
        return panels.as_array(list(axes))

    def _name_models(self, room: FigureBase) -> None:
        """The names of all panels' lines, once above them."""
        from matplotlib.lines import Line2D

        names = [caption_text.drawn_label(curve.name, 24) for curve in self.roc.curves]
        lines = [Line2D([], [], color=style.colour(i), linestyle=style.dash(i)) for i in range(len(names))]
        room.legend(lines, names, loc="outside upper left", ncols=4, frameon=False, handlelength=2.5, borderpad=0)

    def _unnamed(self) -> tuple[ScoreDisplay, ...]:
        """The panels without the names of the models, for which they have no room."""
        reliability = replace(self.reliability, lines=tuple(replace(line, name="") for line in self.reliability.lines))
        roc = replace(self.roc, curves=tuple(replace(curve, name="") for curve in self.roc.curves))
        return reliability, roc, replace(self.murphy, lines=tuple(replace(line, name="") for line in self.murphy.lines))
