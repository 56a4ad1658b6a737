"""Curves: what the Counts at every threshold look like, as ROC and as precision and recall."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Unpack

import numpy as np

from steelyard.predictions import Predictions, question, refuse_unused

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Array
    from steelyard.predictions import RowOptions, RowsLike
    from steelyard.tables.score_table import ScoreTable


class _Roc(NamedTuple):
    fpr: Array
    tpr: Array
    thresholds: Array


class RocCurve(_Roc):
    """Recall against the false positive rate at every threshold, highest threshold first; and what was assumed."""

    assumed: tuple[str, ...] = ()


class _PrecisionRecall(NamedTuple):
    precision: Array
    recall: Array
    thresholds: Array


class PrecisionRecallCurve(_PrecisionRecall):
    """Precision against recall at every threshold that flags somebody, highest first; and what was assumed."""

    assumed: tuple[str, ...] = ()


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


@question
def roc_curve(data: RowsLike = None, scored: ArrayLike | None = None, /, **rows: Unpack[RowOptions]) -> RocCurve:
    """The false positive rate and the recall at every threshold, the first of which is infinity and flags nobody.

    >>> roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).tpr
    array([0. , 0.5, 0.5, 1. , 1. ])
    """
    p = _scored_rows("roc_curve", data, scored, rows)
    curve = roc_points(p.scores_of_both())
    curve.assumed = p.assumed
    return curve


@question
def precision_recall_curve(
    data: RowsLike = None, scored: ArrayLike | None = None, /, **rows: Unpack[RowOptions]
) -> PrecisionRecallCurve:
    """The precision and the recall at every threshold that flags somebody, highest threshold first.

    >>> precision_recall_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).recall
    array([0.5, 0.5, 1. , 1. ])
    """
    p = _scored_rows("precision_recall_curve", data, scored, rows)
    curve = precision_recall_points(p.scores_of_both())
    curve.assumed = p.assumed
    return curve


def _scored_rows(who: str, data: RowsLike, scored: ArrayLike | None, rows: RowOptions) -> Predictions:
    """The rows, whose curve is the same whether they are clustered or not."""
    p = Predictions.of(data, scored, second_is="y_score", **rows)
    refuse_unused(p, who, "design", "by", "threshold", "columns")
    return p
