"""Random order: rows of both classes in any order alike, where one score for all rows is no baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.metrics import discrimination
from steelyard.statistics.class_scores import ClassScores
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from steelyard.metrics.metric import Metric
    from steelyard.statistics.statistic import MetricTable

_LEVELS = 10_000
_BOUNDED = (discrimination.recall_at_fpr.scores, discrimination.specificity_at_recall.scores)


def without_skill(metric: Metric, table: MetricTable) -> MetricTable:
    """The table of rows that all have one score; in a random order for a metric of the thresholds that keep a bound.

    With one score for all rows the only threshold that keeps it flags nobody.
    """
    if metric.scores not in _BOUNDED or not isinstance(table, ScoreTable):
        return table
    each = ClassScores(np.arange(_LEVELS) / _LEVELS)  # of both classes as many: the rates of either are its own
    return ScoreTable(each, each, table.label)
