"""Reliability: in bins of the predicted probability, the share of positives that was observed, with its interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.intervals.intervals import interval
from steelyard.analysis.results.rows import Flat, Rows
from steelyard.statistics.counts import Counts
from steelyard.statistics.effective_rows import weight_per_row

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.statistics.class_scores import ClassScores
    from steelyard.statistics.score_table import ScoreTable

_BINS = 10


@dataclass(frozen=True, eq=False)
class ReliabilityBin(Flat):
    """One bin: the weight and the summed score of each class, and the interval of the share of positives."""

    positives: float
    negatives: float
    positive_scores: float
    negative_scores: float
    low: float
    high: float


def reliability(table: ScoreTable, level: float) -> Rows[ReliabilityBin]:
    """The bins of equal width that hold rows, from the lowest probability up."""
    (positives, positive_scores), (negatives, negative_scores) = map(_sums, (table.positive, table.negative))
    used = positives + negatives > 0
    p, n = _effective(table, positives[used], negatives[used], used)
    share = interval("precision", Counts(p, 0 * p, n, 0 * n), level=level, method="jeffreys")
    columns = (positives[used], negatives[used], positive_scores[used], negative_scores[used], share.low, share.high)
    return Rows(ReliabilityBin(*map(float, cells)) for cells in zip(*columns, strict=True))


def _effective(table: ScoreTable, p: Array, n: Array, used: Array) -> tuple[Array, Array]:
    """The weight of each class in a bin as the rows that carry as much information: (sum of w)^2 / sum of w^2 of them.

    The share of positives stays that of the weights, so that the interval is about the point that is drawn.
    """
    squares = sum(np.bincount(_places(scores), scores.squares, minlength=_BINS) for scores in table.classes)
    per_row = weight_per_row(p + n, np.asarray(squares)[used])
    return p / per_row, n / per_row


def _places(side: ClassScores) -> Array:
    return np.minimum((side.scores * _BINS).astype(np.int64), _BINS - 1)


def _sums(side: ClassScores) -> tuple[Array, Array]:
    """In each bin the weight, and the weighted sum of the scores."""
    places, weights = _places(side), side.weights
    weight, score = (np.bincount(places, w, minlength=_BINS) for w in (weights, weights * side.scores))
    return weight, score
