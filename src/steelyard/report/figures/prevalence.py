"""PrevalenceDisplay: what metrics would be where other shares of the rows are positive."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from steelyard.analysis.formatting import listed
from steelyard.analysis.inference import Inference
from steelyard.analysis.intervals import table_intervals
from steelyard.analysis.prevalence import at_prevalence
from steelyard.errors import InputError
from steelyard.metrics.call_options import CallOptions
from steelyard.metrics.spec import MetricSpec
from steelyard.report.figures import caption_text, metric_lines, style
from steelyard.report.figures.display import LabelDisplay, Record, evaluations, only
from steelyard.report.figures.line_labels import Line, label_lines
from steelyard.report.figures.metric_lines import Track

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.rows import Rows
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.metrics.metric import Metric

_USUAL = ("precision", "f1", "ac_score", "mcc", "accuracy")
_POINTS, _BAND_POINTS, _BAND_DRAWS = 200, 25, 2_000


@dataclass(eq=False, repr=False)
class PrevalenceDisplay(LabelDisplay):
    """Metrics over the prevalence, the rates of the classifier kept; the sample's own prevalence is marked.

    One metric or two have a band, more do not unless band=True.

    >>> display = PrevalenceDisplay.from_predictions([0, 0, 0, 1], [0, 0, 1, 1], metrics=["precision"], low=0.01)
    >>> round(display.frame()[0]["value"], 4)
    0.0294
    """

    prevalences: Array
    tracks: tuple[Track, ...]
    sample: float
    rows: str
    level: float

    @classmethod
    def from_evaluation(
        cls,
        evaluation: Any,
        *,
        metrics: Any = _USUAL,
        band: bool | None = None,
        low: float = 0.001,
        high: float = 0.99,
        ax: Any = None,
    ) -> Self:
        """The metrics of an Evaluation's table at prevalences from `low` to `high`."""
        what = "A figure over prevalence"
        one = only(evaluations(evaluation, what), what)
        counts = caption_text.two_class(one, what)
        if not 0 < low < high < 1:
            raise InputError(f"low= and high= are two rising prevalences above 0 and below 1, not {low} and {high}.")
        known = metric_lines.chosen(metrics)
        grid, tracks = _tracks(one, known, low, high, banded=metric_lines.banded(band, known))
        share = float(counts.positives / counts.total)
        return cls(grid, tracks, share, caption_text.rows_of(one), one.level).placed(ax)

    def frame(self) -> Rows[Record]:
        """One row a prevalence and metric."""
        return metric_lines.rows("prevalence", self.prevalences, self.tracks)

    def caption(self) -> str:
        """What is drawn, and how the bands were made."""
        told = listed([style.full(track.metric.name) for track in self.tracks])
        said = f"{told} where other shares of the rows are positive, with the rates found on {self.rows}"
        said += f"; dashed: the sample's prevalence, {caption_text.share(self.sample)}"
        method = next((track.method for track in self.tracks if track.method), "")
        return f"{said}; bands: {caption_text.percent(self.level)} intervals ({method})." if method else f"{said}."

    def _draw(self, ax: Any) -> Any:
        ax.set(xscale="log", xlabel="prevalence (share of rows that are positive)", ylabel="value")
        ax.set_xlim(self.prevalences[0], 1)
        lines = metric_lines.draw(ax, self.prevalences, self.tracks)
        metric_lines.limits(ax, self.tracks)
        ticks = 10.0 ** np.arange(np.ceil(np.log10(self.prevalences[0]) - 1e-9), 1)
        ax.set_xticks(ticks, [f"{100 * tick:g} %" for tick in ticks])
        ax.minorticks_off()
        if self.prevalences[0] <= self.sample <= self.prevalences[-1]:
            style.upright(ax, self.sample, f"sample, {caption_text.share(self.sample)}")
            lines.append(Line(np.full(2, self.sample), np.array(ax.get_ylim())))
        label_lines(ax, lines)
        return ax


def _tracks(
    one: Evaluation, known: list[Metric], low: float, high: float, *, banded: bool
) -> tuple[Array, tuple[Track, ...]]:
    """The metrics over the grid, as even in odds as in sight, with their bands where wanted."""
    grid = np.geomspace(low, high, _BAND_POINTS if banded else _POINTS)
    counts = at_prevalence(one.counts, grid)
    values = [np.asarray(metric(counts)) for metric in known]
    if not banded:
        return grid, tuple(Track(metric, value) for metric, value in zip(known, values, strict=True))
    assert one.confusion is not None  # noqa: S101 - its counts were taken above
    options = CallOptions(pos_label=one.positive)
    inference = Inference(one.level, draws=_BAND_DRAWS)
    specs = [MetricSpec(metric) for metric in known]
    found = [table_intervals(specs, one.confusion, options, replace(inference, prevalence=float(pi))) for pi in grid]
    ends = [[np.array([getattr(part[i], end) for part in found]) for end in ("low", "high")] for i in range(len(known))]
    return grid, tuple(
        Track(metric, value, end[0], end[1], found[0][i].method)
        for i, (metric, value, end) in enumerate(zip(known, values, ends, strict=True))
    )
