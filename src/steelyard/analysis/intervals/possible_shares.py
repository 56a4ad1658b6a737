"""Possible shares: the prevalences that an estimated one may be, and how far a metric moves over them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.prevalence.prevalence import positive_share_draws, scores_at
from steelyard.metrics.score_values import score_values

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steelyard._types import Array
    from steelyard.analysis.intervals.inference import Inference
    from steelyard.metrics.metric import Metric
    from steelyard.statistics.score_table import ScoreTable

_DRAWS, _BETWEEN = 4_000, 9  # of an estimated prevalence, and between its ends


def possible_shares(table: ScoreTable, inference: Inference) -> Array | None:
    """Prevalences from the lower end to the upper end of an estimated one; None where it is known."""
    drawn = positive_share_draws(table, inference.prevalence, _DRAWS, inference.generator)
    if drawn is None:
        return None
    low, high = np.quantile(drawn, inference.tails)
    return np.linspace(low, high, _BETWEEN)


def widened_by_prevalence(
    ends: tuple[float, float],
    value: float,
    metric: Metric,
    parameters: Mapping[str, Any],
    table: ScoreTable,
    inference: Inference,
) -> tuple[float, float]:
    """The ends at the mean of an estimated prevalence, with how far the value moves over it added in squares."""
    possible = possible_shares(table, inference)
    if possible is None:
        return ends
    there = [float(score_values(metric, scores_at(table, share), parameters)) for share in possible]
    down, up = max(value - min(there), 0.0), max(max(there) - value, 0.0)
    return value - float(np.hypot(value - ends[0], down)), value + float(np.hypot(ends[1] - value, up))
