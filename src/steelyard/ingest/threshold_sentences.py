"""Sentences about a threshold that may not be what was meant: beside all scores, or exactly at many of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from steelyard.statistics.precision import as_read

if TYPE_CHECKING:
    from steelyard.statistics.score_table import ScoreTable

HALF = 0.5  # where probabilities are thresholded, unless another is given
ASSUMED_HALF = f"Scores were thresholded at {HALF}; best_threshold finds a better one."


def threshold_sentences(scores: ScoreTable, threshold: float) -> tuple[str, ...]:
    """What to know of a threshold of probabilities: that it lies beside them, or in how many rows argmax differs."""
    if not scores.has_probabilities or not math.isfinite(threshold):
        return ()
    if not 0 <= threshold <= 1:
        share = f"; as a percentage it would be {threshold / 100:g}" if 1 < threshold <= 100 else ""
        return (f"The threshold {threshold:g} lies outside 0 to 1, where all scores are{share}.",)
    at = _rows_at(scores, as_read(threshold, scores.precision)) if threshold == HALF and not len(scores.bins) else 0
    if not at:
        return ()
    rows = "1 row scores" if at == 1 else f"{at:,} rows score"
    return (
        f"{rows} exactly {HALF:g} and count as predicted positive; scikit-learn's argmax predicts the other class.",
    )


def _rows_at(scores: ScoreTable, score: float) -> int:
    """How many rows have a score."""
    ends = [[np.searchsorted(side.scores, score, end) for end in ("left", "right")] for side in scores.classes]
    return sum(int(side.rows[low:high].sum()) for side, (low, high) in zip(scores.classes, ends, strict=True))
