"""Drop test: which metrics of a classifier fell from one test set to another by more than chance, all together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from steelyard.analysis.distributions import normal_below
from steelyard.analysis.intervals.draws import generator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array, Rng
    from steelyard.analysis.comparison.exchanged_rows import LabelExchange, ScoreExchange
    from steelyard.metrics.spec import MetricSpec
    from steelyard.statistics.score_table import ScoreTable

    _Drawn: TypeAlias = Array | ScoreTable  # the cells of tables of labels, or tables of scores

_RUNS, _DRAWS_A_RUN = 200, 399  # by which the power is simulated
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Drop:
    """One metric on both test sets, and the largest drop that chance may explain."""

    spec: MetricSpec
    before: float
    after: float
    limit: float

    @property
    def size(self) -> float:
        """How much worse it became; below 0 where it became better."""
        return self.spec.metric.sign * (self.before - self.after)

    @property
    def is_shown(self) -> bool | None:
        """Whether it fell by more than chance explains; None where it is undefined."""
        return None if math.isnan(self.size) else self.size > self.limit + _ROUNDING


@dataclass(frozen=True)
class DropTest:
    """The drops of all metrics, of which chance shows one in at most `error` of runs, and the power of the whole."""

    drops: Sequence[Drop]
    error: float
    margin: float = math.nan
    margin_of: str = ""
    power: float = math.nan


def drop_test(
    labels: LabelExchange | None,
    scores: ScoreExchange | None,
    specs: Sequence[MetricSpec],
    *,
    level: float = 0.95,
    margin: float | None = 0.05,
    draws: int = 1_999,
    rng: Rng = None,
) -> DropTest:
    """Which metrics fell by more than exchanging the rows of both test sets explains, and the power to show a drop.

    Limits are those of Westfall and Young's smallest p-value: an unchanged classifier passes any of them in at most
    1 - level of runs, whatever the metrics have in common (1993, Resampling-Based Multiple Testing). Of
    unchanged classifiers at settings drawn at random (200 to 20,000 rows, prevalence 0.01 to 0.5, 300 runs
    each, labels and scores) 2 to 5 % fail by these limits; with the
    baseline taken for known and each metric for itself, 25 %.
    """
    random, error = generator(rng), 1 - level
    chance: dict[MetricSpec, Array] = {}
    observed: dict[MetricSpec, tuple[float, float]] = {}
    of_labels, of_scores = ([m for m in specs if (m.metric.scores is None) == kind] for kind in (True, False))
    for exchange, own in ((labels, of_labels), (scores, of_scores)):
        if exchange is not None and own:
            before, after = exchange.drawn(draws, random)
            chance |= {spec: _drops(exchange, spec, before, after) for spec in own}
            observed |= {spec: exchange.observed(spec) for spec in own}
    limits = _limits(chance, error)
    drops = [Drop(spec, *observed[spec], limit) for spec, limit in limits.items()]
    if margin is None:
        return DropTest(drops, error)
    if labels is None or not of_labels:
        return DropTest(drops, error, margin, *_power_of_scores(limits, chance, margin))
    beside = {spec: chance[spec] for spec in chance if spec not in of_labels}
    return DropTest(drops, error, margin, *_power_of_labels(labels, of_labels, beside, error, margin, random))


def _drops(exchange: LabelExchange | ScoreExchange, spec: MetricSpec, before: _Drawn, after: _Drawn) -> Array:
    """How much worse each draw is; an undefined value is no drop."""
    drops = spec.metric.sign * (exchange.values(spec, before) - exchange.values(spec, after))  # type: ignore[arg-type]  # its own
    return np.where(np.isnan(drops), -np.inf, drops)


def _limits(chance: dict[MetricSpec, Array], error: float) -> dict[MetricSpec, float]:
    """The drop of each metric such that at most that share of draws passes any: as far out for one as for another."""
    drops = np.stack([*chance.values()])
    ordered, draws = np.sort(drops, axis=1), drops.shape[1]
    below = np.stack([np.searchsorted(row, drop - _ROUNDING) for row, drop in zip(ordered, drops, strict=True)])
    as_far = np.sort((draws - below).min(0)) - 1  # how many other draws are, by the most striking metric
    beyond = int(as_far[max(math.floor(error * (draws + 1) + _ROUNDING) - 1, 0)]) - 1
    limits = ordered[:, -1 - beyond] if beyond >= 0 else np.full(len(drops), np.inf)
    return dict(zip(chance, limits.tolist(), strict=True))


def _power_of_labels(
    labels: LabelExchange,
    specs: Sequence[MetricSpec],
    beside: dict[MetricSpec, Array],
    error: float,
    margin: float,
    rng: np.random.Generator,
) -> tuple[str, float]:
    """What drops, and in which share of runs a metric of labels then passes the limit that it has in that run."""
    runs = max(_RUNS // max(len(labels.before.labels) // 2, 1), _RUNS // 10)
    tables, exchanged = labels.after_drop(margin, runs, _DRAWS_A_RUN, rng)
    drops = {spec: _drops(labels, spec, *tables) for spec in specs}
    chance = {spec: _drops(labels, spec, *exchanged).reshape(runs, -1) for spec in specs}
    beside = {spec: by_chance[:_DRAWS_A_RUN] for spec, by_chance in beside.items()}
    caught = 0
    for run in range(runs):
        limits = _limits({spec: chance[spec][run] for spec in specs} | beside, error)
        caught += any(drops[spec][run] > limits[spec] + _ROUNDING for spec in specs)
    return "recall" if labels.positive is not None else "the recall of every class", caught / runs


def _power_of_scores(
    limits: dict[MetricSpec, float], chance: dict[MetricSpec, Array], margin: float
) -> tuple[str, float]:
    """The same where there are scores alone, for the first metric, whose drops are about normal."""
    spec, limit = next(iter(limits.items()))
    spread = max(float(np.std(chance[spec])), _ROUNDING)
    return spec.metric.phrase, float(normal_below((margin - limit) / spread))
