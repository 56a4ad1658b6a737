"""Interval: a value and the range that holds the true one with a stated probability."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic

import numpy as np

from steelyard.analysis.results.formatting import interval_text, value_text
from steelyard.analysis.results.result import Flat
from steelyard.metrics.spec import MetricSpec
from steelyard.tables.counts import Cell_co

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, eq=False)
class Interval(Flat, Generic[Cell_co]):
    """A value and the range that holds the true one with the given probability; arrays for arrays of tables.

    A calibration error has no such range: `calibrated` is what a calibrated model with the same scores would show on
    average, and `calibrated_high` at most with the given probability.
    """

    spec: MetricSpec = field(metadata={"key": "metric"})
    value: Cell_co
    low: Cell_co
    high: Cell_co
    level: float
    method: str
    undefined_share: float = 0.0
    bin_error: float | None = None
    why: Any = field(default=None, repr=False)
    calibrated: float | None = None
    calibrated_high: float | None = None
    assumed: tuple[str, ...] = field(default=(), repr=False)

    @property
    def metric(self) -> str:
        """The written form of the metric."""
        return self.spec.name

    def row(self) -> dict[str, Any]:
        """The interval as a row of a table."""
        return {
            "metric": self.metric,
            **{key: value for key, value in vars(self).items() if key not in ("spec", "assumed")},
        }

    def text(self) -> str:
        """The value with its interval, as it is shown: a share of rows in percent."""
        return interval_text(float(self.value), float(self.low), float(self.high), share=self.spec.is_share)

    @classmethod
    def headline_of(cls, rows: Sequence[Interval]) -> str:
        """How many metrics, and of which level their intervals are."""
        levels = " and ".join(dict.fromkeys(f"{100 * row.level:g} %" for row in rows))
        return f"{len(rows)} metric{'s' * (len(rows) > 1)} with {levels} CI"

    def __repr__(self) -> str:
        if np.ndim(self.value):
            return f"<{np.size(self.value):,} intervals of {self.metric}, {100 * self.level:g} % {self.method}>"
        value = value_text(float(self.value), share=self.spec.is_share)
        if self.calibrated_high is not None:
            return f"{self.metric} {value}; {self.why}"
        if self.why and np.isnan(self.low) and not np.isnan(self.value):
            return f"{self.metric} {value} (no interval); {self.why}"
        text = f"{self.metric} {self.text()}, {100 * self.level:g} % {self.method}"
        text += f", within {self.bin_error:.1g} by binning" if self.bin_error and np.isfinite(self.bin_error) else ""
        undefined = f"; undefined in {self.undefined_share:.1%} of the draws" if self.undefined_share else ""
        return text + (f"; {self.why}" if self.why else "") + undefined
