"""RunDifference: how much one model beats another over the runs of both."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from steelyard.analysis.results.rows import Flat
from steelyard.metrics.spec import MetricSpec


@dataclass(frozen=True, eq=False)
class RunDifference(Flat):
    """How much one model beats another over the runs, with Nadeau and Bengio's interval and test."""

    a: str
    b: str
    spec: MetricSpec = field(metadata={"key": "metric"})
    runs: int
    difference: float = math.nan
    low: float = math.nan
    high: float = math.nan
    p_value: float = math.nan
    p_holm: float = math.nan

    @property
    def metric(self) -> str:
        """The written form of the metric."""
        return self.spec.name

    @property
    def why(self) -> str | None:
        """Why it was not tested."""
        return "fewer than two runs in which both have a value" if math.isnan(self.p_value) else None

    def row(self) -> dict[str, Any]:
        """The difference as a row of a table."""
        numbers = ("difference", "low", "high", "p_value", "p_holm", "runs")
        return {"a": self.a, "b": self.b, "metric": self.metric, **{key: getattr(self, key) for key in numbers}}
