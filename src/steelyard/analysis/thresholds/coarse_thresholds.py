"""Coarse thresholds: a table of scores with fewer thresholds, each of which it has too."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from steelyard.statistics.class_scores import ClassScores
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.thresholds.threshold_criterion import ThresholdCounts

MOST_APART = 4_096  # thresholds that a resample tells apart


def coarse(table: ScoreTable, observed: float = math.inf, most: int = MOST_APART) -> ScoreTable:
    """The table with about that many thresholds, the observed one among them; scores move down to the next left."""
    small, scores = table.compact(), table.thresholds[:0:-1]
    if len(scores) <= most:
        return small
    # A sensible metric is best at a score of one class or right above it: the rare class has few of them.
    rare = min((table.positive, table.negative), key=lambda side: side.size).distinct[0]
    near = np.searchsorted(scores, rare[_evenly(len(rare), most // 4)])
    best = np.searchsorted(scores, observed) if math.isfinite(observed) else 0
    places = np.concatenate([near, near + 1, _evenly(len(scores), most // 2), [best]])
    left = scores[np.unique(np.minimum(places, len(scores) - 1))]
    return ScoreTable(_moved(small.positive, left), _moved(small.negative, left), table.label)


def places_among(few: ThresholdCounts, every: ThresholdCounts) -> Array:
    """The place of each of some thresholds among all of them, directions and thresholds taken as one axis."""
    size = every.observed.shape[-1]
    parts = []
    for side, (mine, others) in enumerate(zip(few.observed, every.observed, strict=True)):
        order = slice(None, None, -1) if side == 0 else slice(None)  # descending from infinity, or ascending
        found = np.searchsorted(others[order], mine)
        parts.append(side * size + (size - 1 - found if side == 0 else found))
    return np.concatenate(parts)


def _evenly(n: int, most: int) -> Array:
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64))


def _moved(side: ClassScores, thresholds: Array) -> ClassScores:
    places, starts = np.unique(np.searchsorted(thresholds, side.scores, side="right") - 1, return_index=True)
    columns = (side.rows, side.given_weights, side.given_squares)
    rows, weights, squares = (None if c is None else np.add.reduceat(c, starts) for c in columns)
    return ClassScores(thresholds[places], rows, weights, squares)
