"""Summary: what the values of all runs of a model say together about one metric, or one kind of cost."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from steelyard.analysis.comparison.corrected_t_test import corrected_t_test
from steelyard.analysis.intervals.intervals import interval
from steelyard.analysis.results.result_json import read_metric
from steelyard.analysis.results.rows import Flat
from steelyard.exceptions import SteelyardError
from steelyard.metrics.spec import MetricSpec
from steelyard.protocol.cost import COST_KINDS, CostKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array
    from steelyard.protocol.splits import Part
    from steelyard.statistics.statistic import AnyTable


@dataclass(frozen=True)
class Extent:
    """The rows that a run trains on and tests, in the mean, and the share of all tested that are no repetition."""

    train: float
    test: float
    fresh: float

    @classmethod
    def of(cls, parts: Sequence[Part]) -> Extent:
        """That of the runs of a plan."""
        train, test = np.mean([part.sizes for part in parts], axis=0).tolist()
        seen = np.zeros(parts[0].rows, dtype=bool)
        for part in parts:
            seen[part.test] = True
        return cls(train, test, min(1.0, int(seen.sum()) / sum(len(part.test) for part in parts)))


@dataclass(frozen=True, eq=False)
class Summary(Flat):
    """One metric, or one kind of cost, over all runs of a model.

    `mean`, `sd`, `best` and `worst` are over the runs in which it is defined; `low` and `high` are Nadeau and Bengio's
    interval of the mean, which allows for training rows that runs share, and in which rows tested again do not count
    anew: to repeat the folds makes the mean steadier, but adds no rows. `pooled` is the value of the merged table.
    `chance` is for the mean: the no-skill baseline with the margins of each run, averaged over the same runs; of
    scores, and where a run tests rows of one class only, that of the merged table. `undefined` counts the runs left
    out. `noise` is how far repeated timings of one run lie apart, as a share, and `median` that of the costs of the
    runs, which one slow run does not move. Where all runs gave the same value their spread says nothing: then the
    interval is `of_rows`, that of the rows tested.
    """

    model: str | None
    spec: MetricSpec | CostKind = field(metadata={"key": "name"})
    mean: float = math.nan
    sd: float = math.nan
    low: float = math.nan
    high: float = math.nan
    best: float = math.nan
    worst: float = math.nan
    pooled: float | None = None
    chance: float | None = None
    undefined: int | None = None
    noise: float | None = None
    why: str | None = None
    of_rows: bool = False
    median: float | None = None

    @classmethod
    def from_held(cls, data: dict[str, Any]) -> Self:
        """The summary that was saved, of a metric or of a kind of cost."""
        name = data["name"]
        spec = COST_KINDS[name] if name in COST_KINDS else read_metric(name)
        return replace(super().from_held(data), spec=spec)

    @property
    def name(self) -> str:
        """The written form of the metric, or the name of the cost."""
        return self.spec.name

    def row(self) -> dict[str, Any]:
        """The summary as a row of a table."""
        numbers = {key: value for key, value in vars(self).items() if key not in ("model", "spec")}
        return {"model": self.model, "name": self.name, **numbers}

    @classmethod
    def of(cls, model: str | None, spec: MetricSpec | CostKind, values: Array, extent: Extent, level: float) -> Summary:
        """What the values of the runs say together."""
        finite = values[np.isfinite(values)]
        undefined = len(values) - len(finite) or None
        if not len(finite):
            return cls(model, spec, undefined=undefined)
        ends = (float(finite.max()), float(finite.min()))
        best, worst = ends[:: -1 if spec.sign < 0 else 1] if spec.sign else (math.nan, math.nan)
        # A mean of equal values may round to a neighbour of theirs.
        mean = float(np.clip(finite.mean(), finite.min(), finite.max()))
        return cls(model, spec, mean, *_spread(spec, finite, extent, level), best, worst, undefined=undefined)

    def with_row_interval(self, spec: MetricSpec, table: AnyTable, level: float) -> Summary:
        """The same with the interval of the rows tested, for runs that all gave the same value."""
        try:
            of_rows = interval(spec, cast("Any", table), level=level)
        except SteelyardError:  # such as one class only, or a label that no row has
            return self
        low, high = min(float(of_rows.low), self.mean), max(float(of_rows.high), self.mean)
        return replace(self, low=low, high=high, of_rows=True)


def _spread(spec: MetricSpec | CostKind, values: Array, extent: Extent, level: float) -> tuple[float, float, float]:
    """The standard deviation over the runs, and the interval of their mean inside the range."""
    if len(values) < 2:
        return math.nan, math.nan, math.nan
    if np.ptp(values) == 0:
        return 0.0, math.nan, math.nan  # no interval: runs that agree by chance do not make the mean certain
    worth = len(values) * extent.fresh
    test = corrected_t_test(values, n_train=extent.train, n_test=extent.test, worth=worth, level=level)
    least, most = spec.range if isinstance(spec, CostKind) else spec.metric.range
    return float(values.std(ddof=1)), float(max(test.low, least)), float(min(test.high, most))
