"""The histogram of scores: the share of each class in bins of equal width."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.statistics.class_scores import ClassScores
    from steelyard.statistics.score_table import ScoreTable

_BINS = 48
_OUTER = 0.001  # share of the rows beyond either end, where the scores are no probabilities


@dataclass(frozen=True)
class ScoreHistogram:
    """The ends of the bins, and in each bin the share of the positives and of the negatives."""

    low: float
    high: float
    positive: Array
    negative: Array


def score_histogram(table: ScoreTable) -> ScoreHistogram:
    """The histogram of a score table; what lies beyond the ends is in the outer bins."""
    low, high = (0.0, 1.0) if table.has_probabilities else _ends(table)
    edges = np.linspace(low, high, _BINS + 1)
    return ScoreHistogram(low, high, _shares(table.positive, edges), _shares(table.negative, edges))


def _ends(table: ScoreTable) -> tuple[float, float]:
    sides = (side.scores for side in (table.positive, table.negative) if len(side.scores))
    ends = [np.quantile(scores, (_OUTER, 1 - _OUTER)) for scores in sides]
    low, high = float(np.min(ends)), float(np.max(ends))
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def _shares(side: ClassScores, edges: Array) -> Array:
    places = np.clip(np.searchsorted(edges, side.scores, side="right") - 1, 0, _BINS - 1)
    weights = np.bincount(places, side.entry_weights, minlength=_BINS).astype(np.float64)
    return np.asarray(weights / max(weights.sum(), 1e-300))
