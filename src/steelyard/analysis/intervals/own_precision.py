"""Own precision: what average precision gains as each positive counts itself among those at or above its score."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.metrics import ranking

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.metrics.metric import Metric
    from steelyard.statistics.score_table import ScoreTable


def own_share(metric: Metric, table: ScoreTable) -> float:
    """How far average precision is too high as each positive counts itself; 0 of other metrics."""
    if metric.scores is ranking.negative_average_precision.scores:
        return _own_precision(table.swapped())
    averaged = (ranking.average_precision.scores, ranking.pr_auc.scores)
    return _own_precision(table) if metric.scores in averaged else 0.0


def _own_precision(table: ScoreTable) -> float:
    """What average precision loses where each positive's threshold is read on the other positives alone."""
    weights, tp, fp = (column.astype(np.float64) for column in table.at_positive_scores)
    positives, own = weights.sum(), table.positive.compact().squares / np.where(weights > 0, weights, 1.0)
    others = np.maximum(tp - own, 0.0) / np.maximum(positives - own, 1e-300) * positives
    flagged = others + fp
    without, itself = _shares(others, flagged), _shares(tp, tp + fp)
    return max(float(weights @ (itself - without) / positives), 0.0)


def _shares(parts: Array, wholes: Array) -> Array:
    """The parts of the wholes; of an empty one all of it."""
    return np.where(wholes > 0, parts / np.where(wholes > 0, wholes, 1.0), 1.0)
