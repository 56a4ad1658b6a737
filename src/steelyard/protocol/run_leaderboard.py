"""Run leaderboard: the models of a cross-evaluation by their means over the runs, and which no test distinguishes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from steelyard.analysis.comparison.leaderboard import Leaderboard, ranked_leaderboard
from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from steelyard.metrics.spec import SpecLike
    from steelyard.protocol.cross_evaluation import CrossEvaluation


class _Mean(NamedTuple):
    """The mean of a model with its interval."""

    value: float
    low: float
    high: float
    why: Any


def run_leaderboard(result: CrossEvaluation, metric: SpecLike | None) -> Leaderboard:
    """The means over the runs in which all models have a value, and Nadeau and Bengio's tests of their differences."""
    spec = result.default_spec if metric is None else MetricSpec.of(metric)
    ranked = result.ranking(spec)
    means = {str(row.model): _Mean(row.mean, row.low, row.high, row.why) for row in ranked}
    first = next(iter(result.models.values()))
    in_order = {name: means[name] for name in result.models}
    return ranked_leaderboard(spec, first.level, in_order, result.differences(spec), len(first.runs))
