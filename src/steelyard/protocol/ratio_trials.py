"""Ratio trials: two models and their controls on draws at several ratios, as Wu and Cannistraci compare them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from steelyard._types import Array  # noqa: TC001 - a result's JSON is read by the types of its fields
from steelyard.auditing.model_tables import value_change
from steelyard.ingest.array_tables import confusion
from steelyard.metrics.registry import get_metric
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard.metrics.metric import Metric

NEITHER, NO_SIDE = "neither", "–"


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

    def sign(self, short: str) -> int:
        """-1 for a metric of which less is better, otherwise 1."""
        return -1 if get_metric(self.metrics[short]).direction == "lower" else 1

    def mean_lead(self, ratio: str, short: str) -> float:
        """By how much the first model is better by one metric: mean over the draws that define it, NaN without any."""
        gap = self.gap(ratio, short)
        defined = gap[np.isfinite(gap)]
        return self.sign(short) * float(defined.mean()) if len(defined) else float("nan")

    def undefined_reason(self, ratio: str, short: str, pair: Sequence[str] = ()) -> str:
        """Why a metric of either model is undefined in a draw, each reason once; without names of the first two."""
        metric = get_metric(self.metrics[short])
        if not metric.function:
            return "undefined"
        reasons = {model: metric.why(self.counts(ratio, model)) for model in pair or self.models[:2]}
        return "; ".join(f"{model}: {why}" for model, all_of in reasons.items() for why in dict.fromkeys(all_of) if why)

    def mean_places(self) -> dict[str, list[int | None]]:
        """The place of each metric in the ranking by the mean lead of the first model, at each ratio.

        1 is the largest; equal leads share a place, and an undefined one has none.
        """
        leads = np.array([[self.mean_lead(ratio, short) for short in self.metrics] for ratio in self.ratios])
        return {short: [_place(row, i) for row in leads] for i, short in enumerate(self.metrics)}

    def places_moved(self) -> dict[str, int | None]:
        """By how many places each metric moves over the ratios; None where it has no place at one of them."""
        defined = {short: [p for p in places if p is not None] for short, places in self.mean_places().items()}
        every = len(self.ratios)
        return {short: max(p) - min(p) if len(p) == every else None for short, p in defined.items()}

    def mean_sides(self) -> dict[str, list[str]]:
        """Which of the two models each metric favours by its mean, at each ratio: neither in a tie, – if undefined."""
        return {short: [self._side(self.mean_lead(ratio, short)) for ratio in self.ratios] for short in self.metrics}

    def _side(self, lead: float) -> str:
        if np.isnan(lead):
            return NO_SIDE
        lead = float(value_change(np.asarray(lead), np.zeros(())))  # a difference by rounding alone favours neither
        return self.models[0] if lead > 0 else self.models[1] if lead < 0 else NEITHER

    def one_sided(self) -> list[str]:
        """The metrics by which the same model is ahead at every ratio."""
        return [short for short, sides in self.mean_sides().items() if set(sides) in ({m} for m in self.models[:2])]


def _place(leads: Array, i: int) -> int | None:
    """The place of one lead among all, the largest first; leads that differ by rounding alone are equal."""
    return None if np.isnan(leads[i]) else 1 + int((value_change(leads, leads[i]) > 0).sum())


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
