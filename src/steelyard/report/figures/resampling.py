"""ResamplingDisplay: what samplers gain on the plain model, as both predict and each at its own best threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from steelyard.analysis.results.formatting import listed, three_digits
from steelyard.analysis.results.result import Rows
from steelyard.exceptions import InputTypeError
from steelyard.protocol.resampling_result import BEST, DEFAULT, ResamplingStudy, use_of
from steelyard.report.figures import caption_text, panels, style
from steelyard.report.figures.display import Display, Record
from steelyard.report.palette import inks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steelyard.metrics.spec import MetricSpec
    from steelyard.report.figures.figure_types import DrawingArea, DrawnAxes

_AT = (DEFAULT, BEST)
_TITLES = {DEFAULT: "as the models predict", BEST: "each at its own best threshold"}


@dataclass(eq=False, repr=False)
class ResamplingDisplay(Display):
    """What each sampler gains on the plain model by each metric, before and after the thresholds are moved.

    Metrics of the order of scores stand on the right alone, as they need no threshold. A gain is positive whichever
    way a metric runs. Shaded: within the margin.
    """

    study: ResamplingStudy

    @classmethod
    def from_study(cls, study: ResamplingStudy, *, ax: DrawingArea | None = None) -> Self:
        """The figure of a resampling_study."""
        if not isinstance(study, ResamplingStudy):
            raise InputTypeError(f"This figure shows what resampling_study returns, not {type(study).__name__}.")
        return cls(study).placed(ax)

    @classmethod
    def from_result(cls, result: Any, **options: Any) -> Self:
        """The figure of a resampling_study."""
        return cls.from_study(result, **options)

    @property
    def width(self) -> float:
        """Inches: two columns of a paper."""
        return 2 * style.WIDTH

    @property
    def height(self) -> float:
        """Inches: a line for each sampler of each metric."""
        return 0.9 + len(self.specs) * (0.12 + 0.17 * len(self.study.samplers))

    @property
    def specs(self) -> list[MetricSpec]:
        """The metrics drawn: of labels and of the order of scores, that of the verdict first."""
        every = dict.fromkeys(row.spec for row in self.study.differences if not row.spec.metric.of_probabilities)
        return sorted(every, key=lambda spec: spec != self.study.spec)

    def frame(self) -> Rows[Record]:
        """One row per sampler, metric and use."""
        return Rows(
            Record(sampler=name, metric=spec.name, at=use, **dict(zip(("gain", "low", "high"), gain, strict=True)))
            for use in _AT
            for spec in self.specs
            for name in self.study.samplers
            if (gain := self._gain(name, spec, use)) is not None
        )

    def _gain(self, name: str, spec: MetricSpec, use: str) -> tuple[float, float, float] | None:
        """The gain with its interval; of scores on the right alone."""
        own = use_of(spec)
        if own != BEST and use == DEFAULT:
            return None
        row = self.study.difference(name, spec, use if own == BEST else own)
        low, high = sorted((spec.sign * row.low, spec.sign * row.high))
        return spec.sign * row.difference, low, high

    def caption(self) -> str:
        """What the marks and intervals are."""
        names = listed([f"{style.sign(i)} {name}" for i, name in enumerate(self.study.samplers)])
        return (
            f"Gain on the plain model by {names}: as the models predict (left), and each model at the threshold that "
            f"is best for the metric on rows left out of its training part (right); "
            f"{caption_text.percent(self.study.level)} intervals (Nadeau and Bengio's). Shaded: within the margin of "
            f"{three_digits(self.study.margin)}."
        )

    def _draw(self, ax: Axes) -> DrawnAxes:
        axes = panels.grid(ax, 1, 2, sharey=True)
        k, step = len(self.study.samplers), len(self.study.samplers) + 0.8
        for panel, use in zip(axes.flat, _AT, strict=True):
            panel.axvspan(-self.study.margin, self.study.margin, color=inks().grey, alpha=0.18, linewidth=0)
            panel.axvline(0, color=inks().grey, linewidth=0.8)
            for j, spec in enumerate(self.specs):
                for i, name in enumerate(self.study.samplers):
                    self._line(panel, self._gain(name, spec, use), j * step + i, i)
            panel.set(xlabel="gain on the plain model")
            panel.locator_params(axis="x", nbins=4)  # as many labels as fit beside each other
            panel.set_title(_TITLES[use], fontsize=8)
            panel.grid(visible=False, axis="y")
            panel.tick_params(axis="y", length=0)
        first = axes.flat[0]
        first.set_yticks(np.arange(len(self.specs)) * step + (k - 1) / 2, [spec.title for spec in self.specs])
        first.set_ylim((len(self.specs) - 1) * step + k - 0.3, -0.7)
        self._legend(axes.flat[1])
        return axes

    def _line(self, ax: Axes, gain: tuple[float, float, float] | None, y: float, i: int) -> None:
        if gain is None or not np.isfinite(gain).all():
            return
        middle, low, high = gain
        ax.plot([low, high], [y, y], color=style.colour(i), linewidth=2, alpha=0.55, solid_capstyle="butt")
        style.draw_mark(ax, middle, y, i, size=5.5)

    def _legend(self, ax: Axes) -> None:
        """The samplers, each in its colour and mark, at the right of the panels."""
        for i, name in enumerate(self.study.samplers):
            ax.annotate(
                f"{style.sign(i)} {caption_text.drawn_label(name, 18)}",
                (1.02, 1),
                (0, -12 * i - 6),
                xycoords="axes fraction",
                textcoords="offset points",
                fontsize=7,
                color=style.colour(i),
            )
