"""MetricValue: what a metric gives on a table, or on an array of tables, with the reason where that is undefined."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.exceptions import UndefinedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard._types import Array
    from steelyard.metrics.call_options import CallOptions
    from steelyard.metrics.measure import Metric


@dataclass(frozen=True)
class MetricValue:
    """A value, or an array of them, and where it is NaN the reason, worked out when asked for."""

    value: Any
    explain: Callable[[], Any]
    averaged: bool = False

    @property
    def why(self) -> Any:
        """The reasons in the shape of the values; None where a value is defined."""
        if np.ndim(self.value) == 0 and math.isfinite(self.value):
            return None
        return self.explain() if np.isnan(self.value).any() or np.isinf(self.value).any() else self._none()

    def _none(self) -> Any:
        return np.full(np.shape(self.value), None, dtype=object)[()]

    def finished(self, metric: Metric, options: CallOptions) -> float | Array:
        """The value as the caller wants it: a float or an array, NaN replaced or an error; never out of its range."""
        if metric.is_own:
            from steelyard.metrics.range_check import check_value

            check_value(metric, self.value)
        if options.undefined == "raise":
            for reason in filter(None, np.asarray(self.why, dtype=object).flat):
                raise UndefinedError(f"{metric.name} is undefined: {reason}.")
        elif not self.averaged and not math.isnan(options.replacement):
            return plain(np.where(np.isnan(self.value), options.replacement, self.value))
        return plain(self.value)


def plain(value: float | Array) -> float | Array:
    """A number as a float, an array as one."""
    return float(value) if np.ndim(value) == 0 else np.asarray(value)
