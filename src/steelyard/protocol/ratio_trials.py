"""Ratio trials: two models and their controls on draws at several ratios, as Wu and Cannistraci compare them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from steelyard._types import Array  # noqa: TC001 - a result's JSON is read by the types of its fields
from steelyard.auditing.metric_values import value_change
from steelyard.ingest.array_tables import confusion
from steelyard.metrics.registry import get_metric
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard.metrics.metric import Metric


@dataclass(frozen=True, eq=False)
class RatioTrial:
    """One draw at one ratio: the truth of the test rows, where each model puts them, and its threshold.

    `predicted` holds which rows a model flags, where that is known otherwise than by its threshold.
    """

    y: Array
    scores: dict[str, Array]
    thresholds: dict[str, float]
    centroid: str
    predicted: dict[str, Array] = field(default_factory=dict)

    def flagged(self, model: str) -> Array:
        """Which test rows the model calls positive."""
        known = self.predicted.get(model)
        return np.asarray(self.scores[model] >= self.thresholds[model]) if known is None else known

    def counts(self, model: str) -> Counts:
        """The table of one model on the test rows."""
        return confusion(self.y, self.flagged(model).astype(int), labels=[0, 1]).counts()

    def value(self, model: str, metric: str) -> float:
        """One metric of one model, of its labels or of its scores."""
        compute = get_metric(metric)
        return float(compute(self.counts(model)) if compute.function else compute(self.y, self.scores[model]))

    def place(self, model: str) -> float:
        """Where the threshold lies between the lowest and the highest score of the test rows, 0 to 1."""
        return self.normalised(model)[1]

    def passed(self, model: str) -> float:
        """The share of the test rows that the model calls positive."""
        return float(self.flagged(model).mean())

    def normalised(self, model: str) -> tuple[Array, float]:
        """The scores from 0 to 1, and the threshold on that scale; as they are where all are equal."""
        z, threshold = self.scores[model], self.thresholds[model]
        low, high = z.min(), z.max()
        width = high - low or 1.0
        return (z - low) / width, float((threshold - low) / width)


@dataclass(frozen=True, eq=False, repr=False)
class RatioTrials:
    """All draws at all ratios: every metric of every model, and the tables behind them.

    The first two models are those that are compared; `metrics` gives the name of each as it is called here.
    """

    ratios: tuple[str, ...]
    models: tuple[str, ...]
    metrics: dict[str, str]
    values: Array  # draw, ratio, model, metric
    tables: Counts[Array]  # draw, ratio, model
    trials: list[dict[str, RatioTrial]] = field(default_factory=list, metadata={"key": None}, compare=False)

    @property
    def draws(self) -> int:
        """How often rows were drawn at each ratio."""
        return len(self.values)

    def of(self, ratio: str, model: str, short: str) -> Array:
        """One metric of one model over the draws."""
        place = self.ratios.index(ratio), self.models.index(model), list(self.metrics).index(short)
        return np.asarray(self.values[:, *place])

    def gap(self, ratio: str, short: str, a: str | None = None, b: str | None = None) -> Array:
        """Model a less model b by one metric, over the draws; without names the first less the second."""
        return value_change(self.of(ratio, a or self.models[0], short), self.of(ratio, b or self.models[1], short))

    def counts(self, ratio: str, model: str) -> Counts[Array]:
        """The tables of one model over the draws."""
        return self.tables[:, self.ratios.index(ratio), self.models.index(model)]

    def mean_places(self) -> dict[str, list[int]]:
        """The place of each metric in the ranking by the mean difference, 1 for the largest, at each ratio."""
        gaps = np.array([[self.gap(c, short).mean() for short in self.metrics] for c in self.ratios])
        places = np.argsort(np.argsort(-gaps, axis=1, kind="stable"), axis=1) + 1
        return {short: places[:, i].tolist() for i, short in enumerate(self.metrics)}

    def mean_sides(self) -> dict[str, list[str]]:
        """Which of the two models each metric favours by its mean difference, at each ratio."""
        return {
            short: [self.models[0] if self.gap(c, short).mean() > 0 else self.models[1] for c in self.ratios]
            for short in self.metrics
        }


def tabulated(
    trials: list[dict[str, RatioTrial]], models: Sequence[str], metrics: Mapping[str, str]
) -> tuple[Array, Counts[Array]]:
    """The values of every metric, and the tables, of every model in every trial."""
    tables = Counts.stack(Counts.stack(Counts.stack(t.counts(m) for m in models) for t in by.values()) for by in trials)
    columns = [_column(get_metric(name), tables, trials, models) for name in metrics.values()]
    return np.stack(columns, -1), tables


def _column(metric: Metric, tables: Counts[Array], trials: list[dict[str, RatioTrial]], models: Sequence[str]) -> Array:
    """One metric of every model in every trial, of the tables or of the scores."""
    if metric.function:
        return np.asarray(metric(tables))
    return np.array([[[t.value(m, metric.name) for m in models] for t in by.values()] for by in trials])
