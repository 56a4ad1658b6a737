"""The confidence band of a curve: bounds that hold at all thresholds together, not at one of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.intervals.inference import check_design
from steelyard.analysis.levels import check_level
from steelyard.analysis.prevalence.prevalence import at_prevalence
from steelyard.analysis.results.rows import Flat, Rows
from steelyard.analysis.thresholds.band_prevalences import band_prevalences
from steelyard.analysis.thresholds.rate_bands import rate_band
from steelyard.exceptions import InputError
from steelyard.ingest.frame_columns import FrameColumns
from steelyard.ingest.refused_keywords import refuses_other_keywords
from steelyard.metrics.call_options import CallOptions
from steelyard.metrics.curves import roc_points
from steelyard.metrics.frame_tables import given_scores
from steelyard.metrics.registry import get_metric

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Array, Frame, Label, LabelSet, Weights
    from steelyard.analysis.prevalence.estimated_prevalence import PrevalenceLike
    from steelyard.analysis.thresholds.band_prevalences import BandPrevalences
    from steelyard.ingest.source import Source
    from steelyard.metrics.metric import Metric
    from steelyard.metrics.registry import MetricLike
    from steelyard.statistics.score_table import ScoreTable

_MOST_POINTS = 1_000
_AXES = ("threshold", "false_positive_rate", "recall")


@dataclass(frozen=True, eq=False)
class BandPoint(Flat):
    """A threshold with both rates there, and a metric with the ends of its band."""

    threshold: float
    false_positive_rate: float
    recall: float
    value: float
    low: float
    high: float


@refuses_other_keywords
def confidence_band(
    y_true: ScoreTable | Frame | Source | ArrayLike,
    y_score: ArrayLike | None = None,
    metric: MetricLike = "recall",
    *,
    over: str = "threshold",
    level: float = 0.95,
    prevalence: PrevalenceLike | None = None,
    design: str = "random",
    pos_label: Label = None,
    labels: LabelSet | None = None,
    sample_weight: Weights = None,
    frequency: Weights | str = None,
    true: str | None = None,
    score: str | None = None,
    weight: str | None = None,
) -> Rows[BandPoint]:
    """The simultaneous confidence band of a metric of counts: the whole true curve lies in it with the level.

    Over "threshold" the curve is the metric at each threshold; recall over "false_positive_rate" is the ROC curve and
    precision over "recall" the precision-recall curve. The band holds for any scores, ties included, of independent
    rows, wherever the prevalence may lie that the sample, or an estimated one, shows; with a number as prevalence=, or
    design="stratified" (so many rows of each class were chosen), it holds at that prevalence. Weighted rows count by
    their effective number at each threshold. Of more than 1,000 thresholds so many are given, and the band of each
    holds on to the next. Other options as in roc_curve.

    >>> y_true, y_score = [0] * 30 + [1] * 30, [*range(30), *range(15, 45)]
    >>> point = confidence_band(y_true, y_score)[25]
    >>> f"{point.threshold:g}: {point.value:.2f} ({point.low:.2f} to {point.high:.2f})"
    '20: 0.83 (0.54 to 0.97)'
    """
    check_level(level)
    of = get_metric(metric)
    if of.function is None:
        raise InputError(f"{of.name} is a metric of all scores at once; a band is of a metric at a threshold.")
    if over not in _AXES:
        raise InputError(f"A band is over one of {', '.join(_AXES)}, not {over!r}.")
    options = CallOptions(pos_label, labels, sample_weight=sample_weight, frequency=frequency)
    table = given_scores(y_true, y_score, options, FrameColumns(true, None, score, weight))
    check_design(design)
    known = band_prevalences(of, table, level, prevalence, stratified=design == "stratified")
    return _points(table, of, over, known, at_sample=prevalence is None)


def _points(
    table: ScoreTable, metric: Metric, over: str, known: BandPrevalences, *, at_sample: bool
) -> Rows[BandPoint]:
    """The points of the band, which at several prevalences, the one that was seen first, holds at each of them."""
    curve = roc_points(table)
    places = thinned(curve.fpr, curve.tpr)
    fpr, recall = curve.fpr[places], curve.tpr[places]
    band = rate_band(table, known.level, places)
    band = {"threshold": band, "false_positive_rate": band.at_fpr(fpr), "recall": band.at_recall(recall)}[over]
    shifted = table if at_sample else at_prevalence(table, known.shares[0])
    value = np.asarray(metric(shifted.counts[places]), dtype=np.float64)
    low, high = band.ends(metric, float(table.total), *known.shares)
    columns = (curve.thresholds[places], fpr, recall, value, np.fmin(low, value), np.fmax(high, value))
    return Rows(BandPoint(*map(float, cells)) for cells in zip(*columns, strict=True))


def thinned(*columns: Array, points: int = _MOST_POINTS) -> Array:
    """The places of at most so many points that follow the columns evenly along their way, ends included."""
    n = len(columns[0])
    if n <= points:
        return np.arange(n)
    steps = sum(np.abs(np.diff(np.nan_to_num(column))) / (np.ptp(np.nan_to_num(column)) or 1) for column in columns)
    way = np.concatenate([[0.0], np.cumsum(steps)])
    return np.unique(np.append(np.searchsorted(way, np.linspace(0, way[-1], points)), n - 1))
