"""Curves: what the Counts at every threshold look like, as ROC and as precision and recall."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.arguments import names_wrong_arguments
from steelyard.ingest.frame_columns import FrameColumns
from steelyard.metrics.call_options import CallOptions
from steelyard.metrics.frame_tables import given_scores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Array, Frame, Label, LabelSet, Weights
    from steelyard.ingest.source import Source
    from steelyard.statistics.score_table import ScoreTable


class RocCurve(NamedTuple):
    """Recall against the false positive rate at every threshold, highest threshold first."""

    fpr: Array
    tpr: Array
    thresholds: Array


class PrecisionRecallCurve(NamedTuple):
    """Precision against recall at every threshold that flags somebody, highest threshold first."""

    precision: Array
    recall: Array
    thresholds: Array


def roc_points(t: ScoreTable) -> RocCurve:
    """The ROC curve of a table; NaN where a class has no weight."""
    fp, tp = t.counts.fp, t.counts.tp
    with np.errstate(invalid="ignore"):
        # By the last running sum and not the total, so that the curve ends at 1 whatever the rounding.
        return RocCurve(fp / fp[..., -1:].astype(np.float64), tp / tp[..., -1:].astype(np.float64), t.thresholds)


def precision_recall_points(t: ScoreTable) -> PrecisionRecallCurve:
    """The precision-recall curve of a table, without the threshold that flags nobody, where precision is undefined."""
    tp, fp = t.counts.tp[..., 1:], t.counts.fp[..., 1:]
    with np.errstate(invalid="ignore"):
        return PrecisionRecallCurve(tp / (tp + fp), tp / tp[..., -1:].astype(np.float64), t.thresholds[1:])


@names_wrong_arguments
def roc_curve(
    y_true: ScoreTable | Frame | Source | ArrayLike,
    y_score: ArrayLike | None = None,
    *,
    pos_label: Label = None,
    labels: LabelSet | None = None,
    sample_weight: Weights = None,
    frequency: Weights | str = None,
    true: str | None = None,
    score: str | None = None,
    weight: str | None = None,
) -> RocCurve:
    """The false positive rate and the recall at every threshold, from a ScoreTable or (y_true, y_score).

    The options are those of score_table; of a frame name the columns with true, score and weight. The first threshold
    is infinity, which flags nobody.

    >>> roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).tpr
    array([0. , 0.5, 0.5, 1. , 1. ])
    """
    options = CallOptions(pos_label, labels, sample_weight=sample_weight, frequency=frequency)
    return roc_points(given_scores(y_true, y_score, options, FrameColumns(true, None, score, weight)))


@names_wrong_arguments
def precision_recall_curve(
    y_true: ScoreTable | Frame | Source | ArrayLike,
    y_score: ArrayLike | None = None,
    *,
    pos_label: Label = None,
    labels: LabelSet | None = None,
    sample_weight: Weights = None,
    frequency: Weights | str = None,
    true: str | None = None,
    score: str | None = None,
    weight: str | None = None,
) -> PrecisionRecallCurve:
    """The precision and the recall at every threshold, from a ScoreTable or (y_true, y_score), or as in roc_curve.

    >>> precision_recall_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).recall
    array([0.5, 0.5, 1. , 1. ])
    """
    options = CallOptions(pos_label, labels, sample_weight=sample_weight, frequency=frequency)
    return precision_recall_points(given_scores(y_true, y_score, options, FrameColumns(true, None, score, weight)))
