"""The prevalence grid: round prevalences for a slider or an axis, and a metric of scores at each of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.chance.baselines import random_order
from steelyard.analysis.chance.chance import rounded_to_zero
from steelyard.analysis.intervals.score_draws import binned
from steelyard.analysis.prevalence.prevalence import scores_at
from steelyard.metrics.score_values import on_scores

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard._types import Array
    from steelyard.metrics.measure import Metric
    from steelyard.tables.score_table import ScoreTable

_STEPS = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)
_COMMON = (0.1, 0.12, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45)
_NEAR_ALL = (0.001, 0.005, 0.01, 0.02, 0.03, 0.05)
_LOWEST = -4  # the decade at which the grid begins, unless the sample lies lower
MOST_UNGROUPED = 20_000  # scores up to which the metrics are computed at every prevalence from all of them
_GROUPED = 4_000  # scores of the rarer class around which more than those are grouped
_AT_ONCE = 500_000  # weights: a dozen arrays of so many are kept for all metrics


def prevalence_grid(*included: float) -> Array:
    """Round prevalences, ten a decade up to 10 %, fewer above, and those that must be among them."""
    lowest = min([_LOWEST, *(int(np.floor(np.log10(min(share, 1 - share)))) for share in included)])
    low = [float(f"{step}e{decade}") for decade in range(lowest, -1) for step in _STEPS] + list(_COMMON)
    grid = np.array([*low, 0.5, *(1 - share for share in (*_NEAR_ALL, *_COMMON))]).round(12)
    # A round one beside the sample's own would be a step that a person cannot see.
    odds = [np.abs(np.log(grid / (1 - grid) * (1 - share) / share)) for share in included]
    far = np.min([np.full(len(grid), np.inf), *odds], axis=0) > 0.02
    return np.unique(np.concatenate([grid[far], included]))


def nearest_place(shares: Array, share: float) -> int:
    """The place of the prevalence of a grid that is nearest to one."""
    return int(np.abs(shares - share).argmin())


def grouped_scores(table: ScoreTable) -> ScoreTable:
    """The table that is read at every prevalence: the scores as they are, or grouped where they are very many.

    Grouped around the scores of the rarer class, which keeps their order exact while that class keeps all its scores.
    """
    return table if table.positive.size + table.negative.size <= MOST_UNGROUPED else binned(table, _GROUPED)


@dataclass(frozen=True)
class OverPrevalence:
    """A metric of scores at each prevalence of a grid: its values, the no-skill baseline, why it has no value."""

    values: Array
    chance: Array
    reasons: Mapping[int, str]


def over_prevalence(metrics: Sequence[Metric], table: ScoreTable, shares: Array) -> dict[Metric, OverPrevalence | None]:
    """The metrics over a grid; None for one that is the same at every prevalence."""
    orders = random_order(table)
    baselines = [orders.at(float(share)) for share in shares]
    over: dict[Metric, OverPrevalence | None] = {}
    for metric, values in values_over(metrics, table, shares).items():
        if _is_constant(values):
            over[metric] = None
            continue
        undefined = np.flatnonzero(~np.isfinite(values)).tolist()
        reasons = {i: str(metric.why(scores_at(table, float(shares[i]))) or "undefined") for i in undefined}
        chance = np.array([rounded_to_zero(metric, np.asarray(order.value(metric))) for order in baselines])
        over[metric] = OverPrevalence(values, chance, reasons)
    return over


def values_over(metrics: Sequence[Metric], table: ScoreTable, shares: Array) -> dict[Metric, Array]:
    """The metrics of scores at each prevalence, at as many at once as memory allows."""
    size = table.positive.size + table.negative.size
    values: dict[Metric, list[Array]] = {metric: [] for metric in metrics}
    for part in np.array_split(shares, max(1, int(np.ceil(size * len(shares) / _AT_ONCE)))):
        there = scores_at(table, part)
        for metric, parts in values.items():
            value = on_scores(metric, there, metric.parameters).value
            parts.append(np.broadcast_to(value, len(part)))
    return {metric: np.concatenate(parts) for metric, parts in values.items()}


def _is_constant(values: Array) -> bool:
    finite = values[np.isfinite(values)]
    if len(finite) < len(values):
        return not len(finite)  # undefined at some prevalences and not at others is no constant
    return bool(np.ptp(finite) <= 1e-12 * max(1.0, float(np.abs(finite).max())))


def grouping_error(table: ScoreTable, over: Mapping[Metric, Array], shares: Array) -> float:
    """How far values of grouped scores are off at most, tried at the lowest, the middle and the highest prevalence.

    Of a value beyond 1 or -1 as a share of it.
    """
    gaps = [0.0]
    for i in (0, len(shares) // 2, len(shares) - 1):
        ungrouped = scores_at(table, float(shares[i]))
        for metric, values in over.items():
            if np.isfinite(values[i]):
                gaps.append(abs(values[i] - float(metric(ungrouped))) / max(1, abs(values[i])))
    return max(gaps)
