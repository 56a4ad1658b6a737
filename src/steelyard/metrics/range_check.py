"""Range checks: a metric whose value leaves its declared range is refused, with the table that shows it."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.exceptions import InputError
from steelyard.metrics.score_values import score_values
from steelyard.metrics.values import count_values, run_formula
from steelyard.tables.array_tables import score_table
from steelyard.tables.counts import CELLS, Cells, Counts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard._types import Array
    from steelyard.metrics.measure import Metric

_LARGEST = 3  # a cell of a small table
_ROUNDING = 1e-9  # by which a value may miss the end of its range
_SCORES = (([0, 1], [0.2, 0.8]), ([0, 1], [0.8, 0.2]), ([0, 1], [0.5, 0.5]), ([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9]))


def check_range(metric: Metric) -> None:
    """Refuse a metric of a user that leaves its declared range on a small table, which the sentence names."""
    if not metric.is_own or not np.isfinite(metric.range).any():
        return
    for value, table in _small_values(metric):
        if leaves_range(metric, value):
            raise InputError(_sentence(metric, value, f"on the table {table}"))


def check_value(metric: Metric, value: float | Array) -> None:
    """Refuse a value outside the declared range: an interval in it could not hold the value."""
    if np.ndim(value) == 0 and metric.range[0] <= value <= metric.range[1]:
        return
    outside = np.asarray(value)[leaves_range(metric, value)]
    if outside.size:
        raise InputError(_sentence(metric, float(outside.flat[0]), "here"))


def leaves_range(metric: Metric, value: float | Array) -> Array:
    """Where values lie outside the declared range by more than rounding; what is undefined does not."""
    low, high = metric.range
    slack = _ROUNDING * max(1.0, *(abs(end) for end in (low, high) if math.isfinite(end)), 0.0)
    numbers = np.asarray(value, dtype=np.float64)
    return np.isfinite(numbers) & ((numbers < low - slack) | (numbers > high + slack))


def _sentence(metric: Metric, value: float, where: str) -> str:
    low, high = metric.range
    how = "range=, or bounds= where it depends on the parameters" if metric.parameters else "range="
    return (
        f"{metric.name} is {value:.6g} {where}, outside its declared range, {low:g} to {high:g}. "
        f"Declare the range that it has: @metric(..., {how})."
    )


def _small_values(metric: Metric) -> Iterator[tuple[float, str]]:
    """The value on each small table that a user's function takes, and the table in words, the smallest first."""
    if metric.function is None:
        for y_true, y_score in _SCORES:
            value = _or_nan(lambda y=y_true, s=y_score: score_values(metric, score_table(y, s), metric.parameters))
            yield float(np.ravel(value)[0]), f"y_true={y_true}, y_score={y_score}"
        return
    tables = sorted(itertools.product(range(_LARGEST + 1), repeat=4), key=sum)[1:]
    values = _or_nan(lambda: count_values(metric, Counts.trusted(*np.array(tables).T), metric.parameters))
    if np.ndim(values) == 0:  # a function of numbers only
        values = [_or_nan(lambda t=table: _on_one(metric, t)) for table in tables]
    for value, table in zip(values, tables, strict=True):
        yield float(value), ", ".join(f"{name}={cell}" for name, cell in zip(CELLS, table, strict=True))


def _on_one(metric: Metric, table: tuple[int, ...]) -> Any:
    assert metric.function is not None  # noqa: S101 - asked above
    return run_formula(metric.function, Cells(*map(float, table)), metric.parameters)[()]


def _or_nan(compute: Any) -> Any:
    """What a user's function gives; NaN where it raises, which is worded where it is used."""
    try:
        return compute()
    except Exception:  # noqa: BLE001 - a user's function may raise anything
        return math.nan
