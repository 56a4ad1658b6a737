"""Curves: what the Counts at every threshold look like, as ROC and as precision and recall."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Unpack

import numpy as np

from steelyard.errors import InputError
from steelyard.ingest import array_tables as ingest
from steelyard.ingest.class_checks import check_both_classes
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Array, RowOptions


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


def roc_curve(
    y_true: ScoreTable | ArrayLike, y_score: ArrayLike | None = None, **options: Unpack[RowOptions]
) -> RocCurve:
    """The false positive rate and the recall at every threshold, from a ScoreTable or (y_true, y_score).

    The options are those of score_table. The first threshold is infinity, which flags nobody.

    >>> roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).tpr
    array([0. , 0.5, 0.5, 1. , 1. ])
    """
    return roc_points(_table(y_true, y_score, options))


def precision_recall_curve(
    y_true: ScoreTable | ArrayLike, y_score: ArrayLike | None = None, **options: Unpack[RowOptions]
) -> PrecisionRecallCurve:
    """The precision and the recall at every threshold, from a ScoreTable or (y_true, y_score).

    >>> precision_recall_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).recall
    array([0.5, 0.5, 1. , 1. ])
    """
    return precision_recall_points(_table(y_true, y_score, options))


def _table(data: ScoreTable | ArrayLike, y_score: ArrayLike | None, options: RowOptions) -> ScoreTable:
    if isinstance(data, ScoreTable):
        if options or y_score is not None:
            raise InputError("A ScoreTable is counted already; give the options with (y_true, y_score).")
        return data
    table = ingest.score_table(data, y_score, **options)  # type: ignore[arg-type]  # refused there where missing
    check_both_classes(table)
    return table
