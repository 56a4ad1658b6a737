"""Sample size: how many rows, and how many positives, an interval or a difference takes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from steelyard.analysis.distributions import normal_quantile, normal_reach
from steelyard.analysis.formatting import three_digits
from steelyard.analysis.intervals import interval
from steelyard.analysis.rows import Flat
from steelyard.errors import InputError, InputTypeError
from steelyard.metrics.registry import get_metric
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard.metrics.metric import Metric
    from steelyard.metrics.registry import MetricLike
    from steelyard.statistics.counts import Cells

    RatesLike: TypeAlias = Counts | tuple[float, float]  # or its recall and specificity

_MOST_ROWS = 10**12


@dataclass(frozen=True, eq=False)
class SampleSize(Flat):
    """The rows that a test set needs, and what they are needed for."""

    metric: str
    goal: str
    rows: int
    positives: int
    negatives: int
    prevalence: float
    balanced_rows: int

    def __repr__(self) -> str:
        text = (
            f"{self.goal} takes {self.rows:,} rows at a prevalence of {three_digits(self.prevalence)}: "
            f"{self.positives:,} positives and {self.negatives:,} negatives."
        )
        if self.balanced_rows * 2 <= self.rows:
            rare = "positives" if self.prevalence < 0.5 else "negatives"
            text += (
                f" Label more {rare}: {self.balanced_rows:,} rows, half of each class, would be "
                "enough, read at the deployment prevalence."
            )
        return text


def sample_size(
    metric: MetricLike,
    *,
    at: RatesLike,
    prevalence: float,
    width: float | None = None,
    versus: RatesLike | None = None,
    level: float = 0.95,
    power: float = 0.8,
) -> SampleSize:
    """The sample size for an interval of that width, or to distinguish `at` from `versus` with that power.

    `at` and `versus` are (recall, specificity), or Counts whose rates are taken.

    >>> sample_size("recall", at=(0.8, 0.95), prevalence=0.05, width=0.1)
    recall to a width of 0.100 takes 5,120 rows at a prevalence of 0.0500: 256 positives and 4,864 negatives. Label more
    positives: 499 rows, half of each class, would be enough, read at the deployment prevalence.
    """
    planned = get_metric(metric)
    if planned.function is None:
        raise InputTypeError(f"{planned.name} is a metric of scores; sizes are planned for metrics of labels.")
    if not 0 < prevalence < 1:
        raise InputError(f"prevalence is a share above 0 and below 1, not {prevalence!r}.")
    if (width is None) == (versus is None):
        raise InputError("Give either width= (of the interval) or versus= (the other classifier), one of them.")
    rates = [_rates(point) for point in ([at] if versus is None else [at, versus])]
    if width is not None:
        goal = f"{planned.name} to a width of {three_digits(width)}"
        share, needed = width, _width
    else:
        values = [float(planned(_table(10**6, prevalence, *rate))) for rate in rates]
        goal = f"telling {planned.name} {three_digits(values[0])} from {three_digits(values[1])}"
        share, needed = abs(values[0] - values[1]) * _power_factor(level, power), _both_widths
    if not (share > 0 and math.isfinite(share)):
        raise InputError(
            f"{planned.name} would have to be distinguished to {share:g}; give a width or a difference above 0."
        )
    rows = _least_rows(lambda n: needed(planned, n, (prevalence, prevalence), rates, level) <= share, prevalence)
    balanced = rows
    if prevalence != 0.5:
        balanced = _least_rows(lambda n: needed(planned, n, (0.5, prevalence), rates, level) <= share, 0.5)
    positives = max(1, round(rows * prevalence))
    return SampleSize(planned.name, goal, rows, positives, rows - positives, prevalence, balanced)


def _rates(point: RatesLike) -> tuple[float, float]:
    if isinstance(point, Counts):
        point = (float(get_metric("recall")(point)), float(get_metric("specificity")(point)))
    try:
        recall, specificity = map(float, point)
    except (TypeError, ValueError):
        raise InputTypeError(f"A classifier is planned as (recall, specificity) or Counts, not {point!r}.") from None
    if not (0 <= recall <= 1 and 0 <= specificity <= 1):
        raise InputError(f"Recall and specificity lie between 0 and 1, not {recall:g} and {specificity:g}.")
    return recall, specificity


def _table(n: float, prevalence: float, recall: float, specificity: float) -> Counts:
    """The expected table of n rows."""
    p, q = n * prevalence, n * (1 - prevalence)
    return Counts(p * recall, p * (1 - recall), q * (1 - specificity), q * specificity)


def _width(
    metric: Metric, n: float, prevalence: tuple[float, float], rates: list[tuple[float, float]], level: float
) -> float:
    """The width of the interval of the first classifier: at a sampled prevalence, read at the one in use."""
    sampled, used = prevalence
    ends = interval(_shifted(metric, sampled, used), _table(n, sampled, *rates[0]), level=level, draws=4_000)
    return float(ends.high - ends.low)


def _both_widths(
    metric: Metric, n: float, prevalence: tuple[float, float], rates: list[tuple[float, float]], level: float
) -> float:
    """The width of the interval of the difference of two classifiers that err apart from each other."""
    return math.hypot(*(_width(metric, n, prevalence, [rate], level) for rate in rates))


def _shifted(metric: Metric, sampled: float, used: float) -> Metric:
    """The metric read at another prevalence than the sampled one: each class weighted accordingly."""
    if sampled == used:
        return metric
    p, q = used / sampled, (1 - used) / (1 - sampled)
    form = metric.function
    assert form is not None  # noqa: S101 - a metric of labels, as sample_size checks

    def shifted(c: Cells) -> Any:
        return form(type(c)(c.tp * p, c.fn * p, c.fp * q, c.tn * q), **metric.parameters)

    return get_metric(shifted)


def _least_rows(enough: Callable[[float], bool], prevalence: float) -> int:
    """The least number of rows that are enough, found by doubling and halving on a scale of 1 %."""
    low, high = 1.0, 2 / min(prevalence, 1 - prevalence)
    while not enough(high):
        low, high = high, high * 2
        if high > _MOST_ROWS:
            raise InputError(
                f"Even {_MOST_ROWS:,} rows would not be enough; ask for a wider interval or a larger difference."
            )
    while high / low > 1.01:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return int(np.ceil(high))


def _power_factor(level: float, power: float) -> float:
    """How wide the interval of a difference may be, as a multiple of it, to find it with that power."""
    if not 0 < power < 1:
        raise InputError(f"power is a probability above 0 and below 1, not {power!r}.")
    z = normal_reach(level)
    return float(2 * z / (z + normal_quantile(power)))
