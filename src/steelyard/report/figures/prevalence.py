"""PrevalenceDisplay: what metrics would be where other shares of the rows are positive."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from steelyard.analysis.intervals.inference import Inference
from steelyard.analysis.intervals.intervals import table_intervals
from steelyard.analysis.prevalence.prevalence import at_prevalence
from steelyard.analysis.results.formatting import listed
from steelyard.exceptions import InputError
from steelyard.metrics.call_options import CallOptions
from steelyard.metrics.spec import MetricSpec
from steelyard.report.figures import caption_text, metric_lines, style
from steelyard.report.figures.display import LabelDisplay, Record, evaluations, single_evaluation
from steelyard.report.figures.line_labels import Line, label_lines
from steelyard.report.figures.metric_lines import Track

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steelyard._types import Array
    from steelyard.analysis.results.result import Rows
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.metrics.measure import Metric
    from steelyard.report.figures.figure_types import DrawingArea, DrawnAxes, Evaluations, Metrics

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
        evaluation: Evaluations,
        *,
        metrics: Metrics | None = None,
        band: bool | None = None,
        low: float = 0.001,
        high: float = 0.99,
        ax: DrawingArea | None = None,
    ) -> Self:
        """The metrics of an Evaluation's table at prevalences from `low` to `high`."""
        what = "A figure over prevalence"
        chosen = single_evaluation(evaluations(evaluation, what), what)
        counts = caption_text.two_class(chosen, what)
        if not 0 < low < high < 1:
            raise InputError(f"low= and high= are two rising prevalences above 0 and below 1, not {low} and {high}.")
        shown = metric_lines.metrics_of_counts(metrics, ("precision", "accuracy", "f1", "ac_score", "mcc"), chosen.use)
        grid, tracks = _tracks(chosen, shown, low, high, banded=metric_lines.has_bands(band, shown))
        share = float(counts.positives / counts.total)
        return cls(grid, tracks, share, caption_text.rows_text(chosen), chosen.level).placed(ax)

    def frame(self) -> Rows[Record]:
        """One row a prevalence and metric."""
        return metric_lines.track_rows("prevalence", self.prevalences, self.tracks)

    def caption(self) -> str:
        """What is drawn, and how the bands were made."""
        titles = listed([style.full_title(track.metric.name) for track in self.tracks])
        text = f"{titles} where other shares of the rows are positive, with the rates found on {self.rows}"
        text += f"; dashed: the sample's prevalence, {caption_text.share(self.sample)}"
        method = next((track.method for track in self.tracks if track.method), "")
        return f"{text}; bands: {caption_text.percent(self.level)} intervals ({method})." if method else f"{text}."

    def _draw(self, ax: Axes) -> DrawnAxes:
        ax.set(xscale="log", xlabel="prevalence (share of rows that are positive)", ylabel="value")
        ax.set_xlim(self.prevalences[0], 1)
        lines = metric_lines.draw_tracks(ax, self.prevalences, self.tracks)
        metric_lines.set_limits(ax, self.tracks)
        ticks = 10.0 ** np.arange(np.ceil(np.log10(self.prevalences[0]) - 1e-9), 1)
        ax.set_xticks(ticks, [f"{100 * tick:g} %" for tick in ticks])
        ax.minorticks_off()
        if self.prevalences[0] <= self.sample <= self.prevalences[-1]:
            style.vertical_line(ax, self.sample, f"sample, {caption_text.share(self.sample)}")
            lines.append(Line(np.full(2, self.sample), np.array(ax.get_ylim())))
        label_lines(ax, lines)
        return ax


def _tracks(
    evaluation: Evaluation, metrics: list[Metric], low: float, high: float, *, banded: bool
) -> tuple[Array, tuple[Track, ...]]:
    """The metrics over the grid, as even in odds as in sight, with their bands where wanted."""
    grid = np.geomspace(low, high, _BAND_POINTS if banded else _POINTS)
    assert evaluation.counts is not None  # noqa: S101 - two classes, as the caller checks
    counts = at_prevalence(evaluation.counts, grid)
    values = [np.asarray(metric(counts)) for metric in metrics]
    if not banded:
        return grid, tuple(Track(metric, value) for metric, value in zip(metrics, values, strict=True))
    assert evaluation.confusion is not None  # noqa: S101 - its counts were taken above
    options, inference = CallOptions(pos_label=evaluation.positive), Inference(evaluation.level, draws=_BAND_DRAWS)
    specs = [MetricSpec(metric) for metric in metrics]
    shifts = [replace(inference, prevalence=float(share)) for share in grid]
    bands = [table_intervals(specs, evaluation.confusion, options, shift) for shift in shifts]
    ends = [[np.array([getattr(row[i], end) for row in bands]) for end in ("low", "high")] for i in range(len(metrics))]
    return grid, tuple(
        Track(metric, value, end[0], end[1], bands[0][i].method)
        for i, (metric, value, end) in enumerate(zip(metrics, values, ends, strict=True))
    )
