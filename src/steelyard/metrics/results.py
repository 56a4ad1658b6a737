"""Answer: how the call of a metric is to be read, and the value and the reason that it gives. Used by calling."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.errors import InputError, UndefinedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard.metrics.metric import Metric

_AVERAGES = ("native", "macro", "weighted", "micro", None)


@dataclass(frozen=True)
class Options:
    """How a call is to be read: which class is positive, how classes are averaged, what rows weigh."""

    pos_label: Any = None
    labels: Any = None
    average: str | None = "native"
    sample_weight: Any = None
    frequency: Any = None
    undefined: float | str = math.nan

    def __post_init__(self) -> None:
        if self.average not in _AVERAGES:
            raise InputError(f"average= takes 'macro', 'weighted', 'micro' or None, not {self.average!r}.")
        if self.pos_label is not None and self.average in _AVERAGES[1:]:
            raise InputError("pos_label= and average= contradict each other: one class, or all of them. Give one.")
        if self.undefined != "raise" and not isinstance(self.undefined, (int, float, np.number)):
            raise InputError(f"undefined= takes a number or 'raise', not {self.undefined!r}.")

    @property
    def replacement(self) -> float:
        """The number for an undefined value: NaN unless one was given."""
        return math.nan if isinstance(self.undefined, str) else self.undefined


@dataclass(frozen=True)
class Answer:
    """A value, or an array of them, and where it is NaN the reason, worked out when asked for."""

    value: Any
    explain: Callable[[], Any]
    averaged: bool = False

    @property
    def why(self) -> Any:
        """The reasons in the shape of the values; None where a value is defined."""
        return self.explain() if np.isnan(self.value).any() or np.isinf(self.value).any() else self._none()

    def _none(self) -> Any:
        return np.full(np.shape(self.value), None, dtype=object)[()]

    def finished(self, metric: Metric, options: Options) -> Any:
        """The value as the caller wants it: a float or an array, NaN replaced or an error."""
        if options.undefined == "raise":
            for reason in filter(None, np.asarray(self.why, dtype=object).flat):
                raise UndefinedError(f"{metric.name} is undefined: {reason}.")
        elif not self.averaged and not math.isnan(options.replacement):
            return plain(np.where(np.isnan(self.value), options.replacement, self.value))
        return plain(self.value)


def plain(value: Any) -> Any:
    """A number as a float, an array as one."""
    return float(value) if np.ndim(value) == 0 else np.asarray(value)
