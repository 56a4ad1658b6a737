"""Own precision: what average precision gains as each positive counts itself among those at or above its score."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.metrics import ranking

if TYPE_CHECKING:
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
    without = np.divide(others, flagged, out=np.ones_like(others), where=flagged > 0)
    itself = np.divide(tp, tp + fp, out=np.ones_like(tp), where=tp + fp > 0)
    return max(float(weights @ (itself - without) / positives), 0.0)
