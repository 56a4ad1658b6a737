"""Label influence: how far the label of a row moves a metric, positive or negative, where others have their shares."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.analysis.intervals.score_influence import has_influence, score_influence
from steelyard.exceptions import InputError
from steelyard.metrics import application
from steelyard.statistics.class_scores import ClassScores
from steelyard.statistics.counts import Counts
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.metrics.spec import MetricSpec

_STEP = 1e-5  # of all rows, by which a cell is moved to see how the metric moves


class LabelInfluence(NamedTuple):
    """What a unit of weight moves the metric by: of a positive at each row's score, and of a negative."""

    positive: Array
    negative: Array

    def moments(self, shares: Array) -> tuple[Array, Array]:
        """The mean influence of each row, of which that share is positive, and the mean of its square."""
        mean = shares * self.positive + (1 - shares) * self.negative
        return mean, shares * self.positive**2 + (1 - shares) * self.negative**2


def label_influence(
    spec: MetricSpec, scores: Array, flagged: Array | None, shares: Array, rows: Array | float = 1.0
) -> LabelInfluence:
    """The influence of each row's label, where the rows at each score are positive with those shares."""
    if spec.metric.function is not None and flagged is not None:
        return _of_counts(spec, flagged, shares, rows)
    return _of_scores(spec, scores, shares, rows)


def reads_labels(spec: MetricSpec) -> bool:
    """Whether a metric is planned by the counts at a threshold, and not by the ranks of all scores."""
    return spec.metric.function is not None


def check_planned(spec: MetricSpec) -> None:
    """Refuse a metric whose labels cannot be planned."""
    if not spec.is_native or spec.label is not None:
        raise InputError(f"{spec.name} is of many classes; labels are planned for metrics of one positive class.")
    tiny = np.array([0.25, 0.75])
    table = _working_table(tiny, tiny, np.ones(2))
    if not reads_labels(spec) and not has_influence(spec.metric, table):
        raise InputError(
            f"Labels cannot be planned for {spec.name}, since what a label moves it by is not known; plan for roc_auc, "
            "average_precision, brier, or a metric of labels such as f1."
        )


def _of_counts(spec: MetricSpec, flagged: Array, shares: Array, rows: Array | float) -> LabelInfluence:
    """By the derivatives of the metric in its four cells, less their mean."""
    positives, total = shares * rows, float(np.sum(np.ones_like(shares) * rows))
    sums = [float(part[side].sum()) for part in (positives, (1 - shares) * rows) for side in (flagged, ~flagged)]
    cells = np.array(sums) / total  # tp, fn, fp, tn
    step = np.minimum(_STEP, cells / 2)
    moved = cells + np.concatenate([np.diag(step), -np.diag(step)])
    values = np.asarray(application.count_values(spec.metric, Counts.trusted(*moved.T), spec.metric.parameters))
    slopes = (values[:4] - values[4:]) / np.where(step > 0, 2 * step, 1.0)
    slopes = np.where(np.isfinite(slopes), slopes, 0.0) - float(np.nan_to_num(slopes) @ cells)
    return LabelInfluence(np.where(flagged, slopes[0], slopes[1]), np.where(flagged, slopes[2], slopes[3]))


def _of_scores(spec: MetricSpec, scores: Array, shares: Array, rows: Array | float) -> LabelInfluence:
    distinct, place = np.unique(scores, return_inverse=True)
    weights = np.ones_like(shares) * rows
    sums = (np.bincount(place, part * weights) for part in (shares, np.ones_like(shares)))
    table = _working_table(distinct, *sums)
    influence = score_influence(spec.metric, table, spec.metric.parameters)
    if influence is None:
        raise InputError(f"{spec.name} has no value where all rows are of one class; more labels are needed.")
    total = float(weights.sum())
    return LabelInfluence(*(each[place] * total for each in influence))


def _working_table(distinct: Array, positives: Array, rows: Array) -> ScoreTable:
    """The scores of rows that are positive in part; a little of each class everywhere, where it has an influence."""
    least, ones = 1e-12 * rows.sum(), np.ones(len(distinct), np.int64)
    of_class = (np.maximum(positives, least), np.maximum(rows - positives, least))
    positive, negative = (ClassScores(distinct, ones, side, side) for side in of_class)
    return ScoreTable(positive, negative)
