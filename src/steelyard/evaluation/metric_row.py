"""Rows of an evaluation: a metric as asked with its value, interval and baseline; and a class with its metrics."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from steelyard.analysis.results.formatting import bounds_text, interval_text, value_text
from steelyard.analysis.results.result_json import same_fields
from steelyard.metrics.spec import MetricSpec  # noqa: TC001 - saved fields are read back by their types

if TYPE_CHECKING:
    from steelyard._types import Label
    from steelyard.analysis.intervals.interval import Interval


@dataclass(frozen=True, eq=False, repr=False)
class MetricRow:
    """One metric: its value, its interval, its no-skill baseline, and where it is undefined the reason.

    The baseline of a calibration error, which has no interval, is a calibrated model with the same scores: `chance` is
    what it would show on average, `chance_high` at most with the level's probability.
    """

    spec: MetricSpec = field(metadata={"key": "name"})
    value: float
    low: float
    high: float
    chance: float
    undefined: str | None = None
    undefined_share: float = 0.0
    method: str = ""
    chance_high: float = math.nan
    no_interval: str | None = None  # why a value has no interval

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MetricRow) and same_fields(self, other)

    def __hash__(self) -> int:
        return hash((self.spec, self.method))

    @property
    def name(self) -> str:
        """The written form of the metric."""
        return self.spec.name

    @property
    def is_headline(self) -> bool:
        """Whether it stands among the metrics that are shown first."""
        metric, macro = self.spec.metric, self.spec.average == "macro"
        averaged = macro and not metric.is_fixed and {"averaged over columns", "headline"} <= {*metric.roles}
        return self.spec.is_headline or averaged

    def text(self, value: float) -> str:
        """A value of this metric as it is shown: a share of rows in percent."""
        return value_text(value, share=self.spec.is_share)

    def interval_or_reason(self) -> str:
        """The interval as it is shown, or why there is no value."""
        if self.undefined is not None and math.isnan(self.value):
            return self.undefined
        if math.isfinite(self.chance_high):
            return f"calibrated: up to {self.text(self.chance_high)}"
        return self.no_interval or bounds_text(self.low, self.high, share=self.spec.is_share)

    def row(self) -> dict[str, Any]:
        """The metric as strict JSON values: null where it is undefined."""
        numbers = {key: _finite(getattr(self, key)) for key in ("value", "low", "high", "chance")}
        numbers |= {"chance_high": self.chance_high} if math.isfinite(self.chance_high) else {}
        reasons = {"no_interval": self.no_interval} if self.no_interval else {}
        return {"name": self.name, **numbers, "undefined": self.undefined, **reasons}

    def __repr__(self) -> str:
        if math.isnan(self.value):
            return f"{self.name} undefined{f': {self.undefined}' if self.undefined else ''}"
        if math.isfinite(self.chance_high):
            own, usual, most = map(self.text, (self.value, self.chance, self.chance_high))
            return f"{self.name} {own}; a calibrated model with these scores: {usual}, up to {most}"
        if self.no_interval:
            return f"{self.name} {self.text(self.value)} ({self.no_interval})"
        text = f"{self.name} {interval_text(self.value, self.low, self.high, share=self.spec.is_share)}"
        return text if math.isnan(self.chance) else f"{text}, chance {self.text(self.chance)}"


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


@dataclass(frozen=True)
class ClassRow:
    """The precision, recall and F1 of one class against the rest, with their intervals."""

    label: Label
    rows: int
    precision: Interval
    recall: Interval
    f1: Interval

    @property
    def intervals(self) -> dict[str, Interval]:
        """The intervals by the name of their metric."""
        return {name: getattr(self, name) for name in CLASS_METRICS}

    def row(self) -> dict[str, Any]:
        """The class as a row of a table."""
        ends = {
            name if end == "value" else f"{name}_{end}": getattr(interval, end)
            for name, interval in self.intervals.items()
            for end in ("value", "low", "high")
        }
        return {"class": self.label, "rows": self.rows, **ends}

    def __repr__(self) -> str:
        parts = (f"{name} {interval.text()}" for name, interval in self.intervals.items())
        return f"{self.label!r} ({self.rows:,} rows): {', '.join(parts)}"


CLASS_METRICS = tuple(field.name for field in fields(ClassRow))[2:]
