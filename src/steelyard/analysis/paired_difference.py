"""Difference: how far two models lie apart by one metric, and the tables that say so. Used by comparison."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis import draws as drawing
from steelyard.analysis.rows import Flat
from steelyard.metrics import application

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steelyard.metrics.call_options import CallOptions
    from steelyard.metrics.metric import Metric
    from steelyard.metrics.metric_value import MetricValue
    from steelyard.statistics.confusion import Confusion
    from steelyard.statistics.score_table import ScoreTable

ROUNDING = 1e-12  # differences this small are none


@dataclass(frozen=True)
class Difference(Flat):
    """How much model a exceeds model b by one metric, the interval of that, and the test that it is 0."""

    a: str
    b: str
    metric: str
    value_a: float
    value_b: float
    difference: float
    low: float = math.nan
    high: float = math.nan
    p_value: float = math.nan
    p_holm: float = math.nan
    method: str = ""
    undefined_share: float = 0.0
    why: str | None = None


@dataclass(frozen=True, eq=False)
class Weighed:
    """What the values of a comparison come from: each model's tables, the metrics, and how they are read."""

    metrics: tuple[Metric, ...]
    options: CallOptions
    tables: Mapping[str, Confusion] = field(default_factory=dict)
    scores: Mapping[str, ScoreTable] = field(default_factory=dict)

    def by_rank(self, metric: Metric) -> bool:
        """Whether the metric reads the scores and not the labels."""
        return bool(self.scores) and metric.scores is not None

    def answer(self, metric: Metric, model: str) -> MetricValue:
        """The metric's answer for one model."""
        table = self.scores[model] if self.by_rank(metric) else self.tables[model]
        return application.on_table(metric, table, self.options, metric.parameters)

    def difference(self, metric: Metric, a: str, b: str) -> Difference:
        """The difference of two models by the metric, not yet judged."""
        one, other = self.answer(metric, a), self.answer(metric, b)
        whys = [f"{name}: {answer.why}" for name, answer in ((a, one), (b, other)) if np.isnan(answer.value)]
        value_a, value_b = float(one.value), float(other.value)
        return Difference(a, b, metric.name, value_a, value_b, value_a - value_b, why="; ".join(whys) or None)


@dataclass(frozen=True)
class Plan:
    """How the differences are judged: the level of the intervals, the draws asked for, and where they come from."""

    level: float
    draws: int | None
    rng: np.random.Generator

    @property
    def tails(self) -> tuple[float, float]:
        """The two quantiles that cut the draws."""
        return drawing.tails(self.level)
