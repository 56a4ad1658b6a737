"""Unlabelled curve: precision over recall at the prevalence of unlabelled rows, beside that of the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.results.result import Rows
from steelyard.analysis.thresholds.bands import confidence_band, thinned
from steelyard.evaluation.unlabelled.unlabelled_rows import CurvePoint
from steelyard.metrics.catalogue import precision
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from steelyard.analysis.prevalence.label_shift import UnlabelledPrevalence
    from steelyard.statistics.score_table import ScoreTable

_MOST_POINTS = 100


def curve_there(scores: ScoreTable | None, prevalence: UnlabelledPrevalence, level: float) -> Rows[CurvePoint]:
    """The precision-recall curve there with its band; none of labels alone, nor of many classes."""
    if scores is None:
        return Rows()
    band = confidence_band(scores, metric=precision, over="recall", level=level, prevalence=prevalence)
    fpr, recall = np.array([(point.false_positive_rate, point.recall) for point in band]).T
    positives, negatives = (float(side.total) for side in scores.classes)
    table = Counts(positives * recall, positives * (1 - recall), negatives * fpr, negatives * (1 - fpr))
    here = np.asarray(precision(table), dtype=np.float64)
    return Rows(
        CurvePoint(at.threshold, at.false_positive_rate, at.recall, float(here[place]), at.value, at.low, at.high)
        for place in thinned(fpr, recall, points=_MOST_POINTS)
        for at in [band[place]]
    )
