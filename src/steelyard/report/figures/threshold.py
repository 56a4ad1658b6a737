"""ThresholdDisplay: metrics at every cut of the scores, the best cut of each marked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from steelyard.analysis.best_threshold import BestThreshold, best_threshold
from steelyard.analysis.formatting import listed
from steelyard.analysis.intervals import intervals
from steelyard.analysis.prevalence import at_prevalence
from steelyard.errors import UndefinedError
from steelyard.report.figures import caption_text, metric_lines, style
from steelyard.report.figures.display import Record, ScoreDisplay, evaluations, only, scores_of
from steelyard.report.figures.line_labels import Line, label_lines
from steelyard.report.figures.metric_lines import Track

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.rows import Rows
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.metrics.metric import Metric

_USUAL = ("recall", "precision", "ac_score", "mcc")
_BAND_POINTS, _BAND_DRAWS = 150, 2_000


@dataclass(eq=False, repr=False)
class ThresholdDisplay(ScoreDisplay):
    """Metrics over the threshold; a dot marks the best cut of each that weighs both kinds of error.

    One metric or two have a band, more do not unless band=True.

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

    @classmethod
    def from_evaluation(
        cls, evaluation: Any, *, metrics: Any = _USUAL, band: bool | None = None, ax: Any = None
    ) -> Self:
        """The metrics at every cut of an Evaluation of scores."""
        what = "A figure over the threshold"
        one = only(evaluations(evaluation, what, scores=True), what)
        known = metric_lines.chosen(metrics)
        cuts, tracks = _tracks(one, known, banded=metric_lines.banded(band, known))
        best = tuple(found for metric in known if (found := _best(one, metric)) is not None)
        return cls(cuts, tracks, best, caption_text.rows_of(one), one.threshold, one.level).placed(ax)

    def frame(self) -> Rows[Record]:
        """One row a cut and metric."""
        return metric_lines.rows("threshold", self.thresholds, self.tracks)

    def caption(self) -> str:
        """What is drawn, where each metric is best, and how the bands were made."""
        told = listed([style.full(track.metric.name) for track in self.tracks])
        said = f"{told} at every cut of the scores of {self.rows}"
        best = [
            f"{style.brief(b.metric)} {caption_text.cut(b.value)} at {caption_text.cut(b.threshold)}" for b in self.best
        ]
        said += f"; dots: the best cut on these rows, {listed(best)}" if best else ""
        said += f"; dashed: the cut in use, {caption_text.cut(self.threshold)}" if self._in_use() else ""
        method = next((track.method for track in self.tracks if track.method), "")
        return (
            f"{said}; bands: {caption_text.percent(self.level)} intervals at each cut ({method})."
            if method
            else f"{said}."
        )

    def _in_use(self) -> bool:
        return self.threshold is not None and bool(np.isfinite(self.threshold))

    def _draw(self, ax: Any) -> Any:
        ax.set(xlabel="threshold (flagged where the score is at least this)", ylabel="value")
        if self.thresholds.min() >= 0 and self.thresholds.max() <= 1:
            ax.set_xlim(-0.01, 1.01)
        ax.locator_params(axis="x", nbins=6)
        # The cuts fall, and in the gap below a score the rows from that score up are flagged.
        lines = metric_lines.draw(ax, self.thresholds, self.tracks, step="post")
        metric_lines.limits(ax, self.tracks)
        names = [track.metric.name for track in self.tracks]
        for best in self.best:
            i = names.index(best.metric)
            ax.plot(
                best.threshold,
                best.value,
                style.MARKS[i],
                color=style.colour(i),
                markersize=4.5,
                markeredgecolor="white",
                zorder=4,
            )
        if self._in_use():
            style.upright(ax, float(self.threshold or 0), f"cut at {caption_text.cut(self.threshold)}")
            lines.append(Line(np.full(2, self.threshold), np.array(ax.get_ylim())))
        label_lines(ax, lines)
        return ax


def _tracks(one: Evaluation, known: list[Metric], *, banded: bool) -> tuple[Array, tuple[Track, ...]]:
    """The metrics at the cuts to draw, lowest last, with their bands where wanted."""
    table = scores_of(one)
    there = table if one.prevalence is None else at_prevalence(table, one.prevalence)
    cuts, counts = there.thresholds[1:], there.counts[slice(1, None)]
    values = [np.asarray(metric(counts)) for metric in known]
    places = style.thinned(cuts, *values, points=_BAND_POINTS if banded else 1_000)
    if one.threshold is not None and one.threshold <= cuts[0]:
        places = np.union1d(places, np.searchsorted(-cuts, -one.threshold, side="right") - 1)
    if not banded:
        tracks = [Track(metric, value[places]) for metric, value in zip(known, values, strict=True)]
        return cuts[places], tuple(tracks)
    sampled = table.counts[slice(1, None)][places]
    found = intervals(known, sampled, level=one.level, prevalence=one.prevalence, draws=_BAND_DRAWS)
    tracks = [
        Track(metric, value[places], np.asarray(part.low), np.asarray(part.high), part.method)
        for metric, value, part in zip(known, values, found, strict=True)
    ]
    return cuts[places], tuple(tracks)


def _best(one: Evaluation, metric: Metric) -> BestThreshold | None:
    """The best cut of a metric, where that says something: a rate alone is best at one end of the scores."""
    if metric.direction is None or metric.family == "rates" or one.scores is None:
        return None
    table = one.scores if one.prevalence is None else at_prevalence(one.scores, one.prevalence)
    try:
        found = best_threshold(table, metric=metric, resamples=0)
    except UndefinedError:
        return None
    return found if np.isfinite(found.threshold) else None
