"""Threshold gaps: the threshold half-way between the scores that are flagged and those that are not."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from steelyard.statistics import score_bins

if TYPE_CHECKING:
    from steelyard.statistics.score_table import ScoreTable

_PRECISIONS = (np.float16, np.float32)  # in which scores may be compared with the threshold later


def middle(below: float, flagged: float) -> float:
    """The threshold half-way between a score that is not flagged and a higher one that is.

    It separates the two in the precision that they are given in: between neighbouring floats it is the higher one.

    >>> middle(0.25, 0.5), middle(0.0, 5e-324)
    (0.375, 5e-324)
    """
    half = below / 2 + flagged / 2  # whose sum cannot overflow
    with np.errstate(over="ignore"):
        given = [kind for kind in _PRECISIONS if all(float(kind(score)) == score for score in (below, flagged))]
        separates = half > below and all(float(kind(half)) > below for kind in given)
    return half if separates else flagged


def threshold_of(table: ScoreTable, observed: float, direction: int = 1) -> float:
    """The threshold in the middle of the gap beside the last flagged score; an end of all scores beyond them all.

    Of probabilities it is 0 (or 1, where low ones are flagged) that flags everybody, of other scores an infinity.
    """
    if math.isinf(observed):
        return observed  # nobody
    scores = table.thresholds[:0:-1]
    lowest, highest = (0.0, 1.0) if table.has_probabilities else (-math.inf, math.inf)
    place = int(np.searchsorted(scores, observed))
    if direction > 0:
        return middle(score_bins.upper_end(table.bins, float(scores[place - 1])), observed) if place else lowest
    if place + 1 == len(scores):
        return highest
    return -middle(-float(scores[place + 1]), -score_bins.upper_end(table.bins, observed))
