"""ThresholdDisplay: metrics at every threshold of the scores, the best threshold of each marked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from steelyard.analysis.prevalence.prevalence import at_prevalence
from steelyard.analysis.results.formatting import listed
from steelyard.analysis.thresholds.bands import rate_band, thinned
from steelyard.analysis.thresholds.best_threshold import best_threshold
from steelyard.arrays.backend import as_read
from steelyard.exceptions import UndefinedError
from steelyard.report.figures import caption_text, metric_lines, score_curves, style
from steelyard.report.figures.cost_marks import CostMarks
from steelyard.report.figures.display import Record, ScoreDisplay, evaluations, scores_of, single_evaluation
from steelyard.report.figures.line_labels import Line, label_lines
from steelyard.report.figures.metric_lines import Track

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steelyard._types import Array
    from steelyard.analysis.results.result import Rows
    from steelyard.analysis.thresholds.best_threshold import BestThreshold
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.metrics.measure import Metric
    from steelyard.report.figures.figure_types import DrawingArea, DrawnAxes, Evaluations, Metrics
    from steelyard.tables.score_table import ScoreTable

_METHOD = "simultaneous confidence bands, each at all thresholds together"


@dataclass(eq=False, repr=False)
class ThresholdDisplay(ScoreDisplay):
    """Metrics over the threshold; a dot marks the best one of each metric that counts both kinds of error.

    One metric or two have a simultaneous confidence band, which holds at all thresholds together; more do not unless
    band=True. A cost alone, such as expected_cost[cost_fn=10], has that of flagging nobody and everybody as well, and
    the thresholds at which it is about the least are shaded.

    >>> display = ThresholdDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], metrics=["recall"])
    >>> [(row["threshold"], row["value"]) for row in display.frame()]
    [(0.8, 0.5), (0.4, 0.5), (0.35, 1.0), (0.1, 1.0)]
    """

    thresholds: Array
    tracks: tuple[Track, ...]
    best: tuple[BestThreshold, ...]
    rows: str
    threshold: float | None
    level: float
    costs: CostMarks | None = None

    @classmethod
    def from_evaluation(
        cls,
        evaluation: Evaluations,
        *,
        metrics: Metrics | None = None,
        band: bool | None = None,
        ax: DrawingArea | None = None,
    ) -> Self:
        """The metrics at every threshold of an Evaluation of scores."""
        what = "A figure over the threshold"
        chosen = single_evaluation(evaluations(evaluation, what, scores=True), what)
        shown = metric_lines.metrics_of_counts(metrics, ("recall", "precision", "ac_score", "mcc"), chosen.use)
        thresholds, tracks = _tracks(chosen, shown, banded=metric_lines.has_bands(band, shown))
        best = tuple(best for metric in shown if (best := _best(chosen, metric)) is not None)
        rows, costs = caption_text.read_text([chosen]), CostMarks.of(chosen, shown)
        return cls(thresholds, tracks, best, rows, chosen.threshold, chosen.level, costs).placed(ax)

    def frame(self) -> Rows[Record]:
        """One row per threshold and metric."""
        return metric_lines.track_rows("threshold", self.thresholds, self.tracks)

    def caption(self) -> str:
        """What is drawn, where each metric is best, and how the bands were made."""
        titles = listed([style.full_title(track.metric.name) for track in self.tracks])
        text = f"{titles} at every threshold, of {self.rows}"
        digits = caption_text.threshold_text
        best = [f"{style.short_title(b.metric)} {digits(b.value)} at {digits(b.threshold)}" for b in self.best]
        text += f"; dots: the best threshold on these rows, {listed(best)}" if best else ""
        text += (
            f"; dashed: the threshold in use, {caption_text.threshold_text(self.threshold)}" if self._in_use() else ""
        )
        text += "" if self.costs is None else self.costs.caption()
        if self.tracks[0].low is not None:
            text += f"; bands: {caption_text.percent(self.level)} {self.tracks[0].method}"
        elif self.tracks[0].method:
            text += f"; {self.tracks[0].method}"
        return f"{text}."

    def _in_use(self) -> bool:
        return self.threshold is not None and bool(np.isfinite(self.threshold))

    def _draw(self, ax: Axes) -> DrawnAxes:
        ax.set(xlabel="threshold (predicted positive at or above)", ylabel="value")
        if self.thresholds.min() >= 0 and self.thresholds.max() <= 1:
            ax.set_xlim(-0.01, 1.01)
        ax.locator_params(axis="x", nbins=6)
        # The cuts fall, and in the gap below a score the rows from that score up are flagged.
        lines = metric_lines.draw_tracks(ax, self.thresholds, self.tracks, step="post")
        metric_lines.set_limits(ax, self.tracks)
        if self.costs is not None:
            lines += self.costs.draw(ax, self.tracks[0].value)
        names = [track.metric.name for track in self.tracks]
        for best in self.best:
            i = names.index(best.metric)
            style.draw_mark(ax, best.threshold, best.value, i)
        if self._in_use():
            shown = caption_text.threshold_text(self.threshold)
            style.vertical_line(ax, float(self.threshold or 0), f"threshold {shown}")
            lines.append(Line(np.full(2, self.threshold), np.array(ax.get_ylim())))
        label_lines(ax, lines)
        return ax


def _tracks(evaluation: Evaluation, metrics: list[Metric], *, banded: bool) -> tuple[Array, tuple[Track, ...]]:
    """The metrics at the thresholds to draw, lowest last, with their bands where wanted."""
    table = scores_of(evaluation)
    shifted = table if evaluation.prevalence is None else at_prevalence(table, evaluation.prevalence)
    thresholds, counts = shifted.thresholds[1:], shifted.counts[slice(1, None)]
    values = [np.asarray(metric(counts)) for metric in metrics]
    places = thinned(thresholds, *values)
    in_use = np.inf if evaluation.threshold is None else as_read(evaluation.threshold, table.precision)
    if in_use <= thresholds[0]:
        places = np.union1d(places, np.searchsorted(-thresholds, -in_use, side="right") - 1)
    if not banded or evaluation.is_clustered:
        why = score_curves.NO_BAND if banded else ""
        tracks = [Track(metric, value[places], method=why) for metric, value in zip(metrics, values, strict=True)]
        return thresholds[places], tuple(tracks)
    tracks = [
        Track(metric, value[places], *_ends(evaluation, table, metric, places), _METHOD)
        for metric, value in zip(metrics, values, strict=True)
    ]
    return thresholds[places], tuple(tracks)


def _ends(evaluation: Evaluation, table: ScoreTable, metric: Metric, places: Array) -> tuple[Array, Array]:
    """The ends of a metric's band at the drawn thresholds."""
    known = score_curves.prevalences(evaluation, table, metric)
    band = rate_band(table, known.level, places + 1)  # the first threshold, at infinity, is not drawn
    return band.bounds(metric, float(table.total), *known.shares)


def _best(evaluation: Evaluation, metric: Metric) -> BestThreshold | None:
    """The best threshold of a metric, where that says something: a rate alone is best at one end of the scores."""
    if metric.direction is None or metric.kind.is_rate or evaluation.scores is None:
        return None
    scores, prevalence = evaluation.scores, evaluation.prevalence
    table = scores if prevalence is None else at_prevalence(scores, prevalence)
    try:
        best = best_threshold(table, metric=metric, draws=0)
    except UndefinedError:
        return None
    return best if np.isfinite(best.threshold) else None
