"""Stops: the prevalences that the page's slider takes, and what the rank metrics are at each. Used by the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.chance import chance
from steelyard.analysis.draws import binned
from steelyard.analysis.prevalence import scores_at
from steelyard.metrics import application

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.metrics.metric import Metric
    from steelyard.statistics.score_table import ScoreTable

_STEPS = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)
COMMON = (0.1, 0.12, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45)
NEAR_ALL = (0.001, 0.005, 0.01, 0.02, 0.03, 0.05)
LOWEST = -4  # the decade at which the slider begins, unless the sample lies lower
MOST_ENTRIES = 100_000  # scores up to which the rank metrics are weighed again at every stop as they are
GROUPED = 20_000  # scores of the rarer class around which more than those are grouped
_AT_ONCE = 4_000_000


def stops(*held: float) -> Array:
    """Round prevalences, ten a decade up to 10 %, fewer above, and those that must be among them."""
    lowest = min([LOWEST, *(int(np.floor(np.log10(min(share, 1 - share)))) for share in held)])
    low = [float(f"{step}e{decade}") for decade in range(lowest, -1) for step in _STEPS] + list(COMMON)
    grid = np.array([*low, 0.5, *(1 - share for share in (*NEAR_ALL, *COMMON))]).round(12)
    # A round one beside the sample's own would be a step that a person cannot see.
    odds = [np.abs(np.log(grid / (1 - grid) * (1 - share) / share)) for share in held]
    far = np.min([np.full(len(grid), np.inf), *odds], axis=0) > 0.02
    return np.unique(np.concatenate([grid[far], held]))


def grouped(table: ScoreTable) -> ScoreTable:
    """The table that is weighed at every stop: the scores as they are, or grouped where they are very many.

    Grouped around the scores of the rarer class, which keeps their order exact while that class keeps all its scores.
    """
    return table if table.positive.size + table.negative.size <= MOST_ENTRIES else binned(table, GROUPED)


def over_stops(metric: Metric, table: ScoreTable, shares: Array) -> Array:
    """The metric of scores at each prevalence."""
    size = table.positive.size + table.negative.size
    parts = np.array_split(shares, max(1, int(np.ceil(size * len(shares) / _AT_ONCE))))
    found = [application.on_scores(metric, scores_at(table, part), metric.parameters).value for part in parts]
    return np.concatenate([np.broadcast_to(v, len(part)) for v, part in zip(found, parts, strict=True)])


def guesses_over_stops(metric: Metric, table: ScoreTable, shares: Array) -> Array:
    """What a score that tells nothing gets at each prevalence."""
    return np.array([chance(metric, scores_at(table, float(share))).same_margins for share in shares])


def why_at(metric: Metric, table: ScoreTable, share: float) -> str:
    """Why the metric is undefined at a prevalence."""
    return str(metric.why(scores_at(table, share)) or "undefined")
