"""Row search: the least number of rows whose interval, or whose interval of a difference, is narrow enough."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.intervals.draws import generator
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard.analysis.planning.planned_widths import Plan

_MOST_ROWS, _WIDEST = 10**12, 1e100  # the second for a width without bound, which quantiles can reckon with


def rows_for_width(plan: Plan, width: float, assurance: float | None) -> int:
    """The rows whose interval is so narrow, on the expected test set or with some probability."""
    rows = _least_rows(lambda n: plan.expected_width(n) <= width, min(plan.class_shares))
    if assurance is None:
        return rows
    rng, least, steps = generator(None), 1, 0
    while steps < 3:  # widths go by the square root of the rows, nearly
        widths = plan.simulated_widths(rows, rng)
        # So many widths find their quantile to one standard error; planned a little further out, it is met.
        further = min(assurance + 1.25 * math.sqrt(assurance * (1 - assurance) / len(widths)), 1.0)
        if np.isinf(widths).mean() > 1 - further:  # a class is missing too often: so few rows are never enough
            rows = least = math.ceil(1.25 * rows)
            continue
        seen, steps = float(np.quantile(np.minimum(widths, _WIDEST), further)), steps + 1
        rows = max(math.ceil(rows * min(max((seen / width) ** 2, 0.5), 2.0)), least)
    return rows


def rows_to_tell(plan: Plan, other: Plan, width: float) -> int:
    """The rows whose interval of the difference of two classifiers that err apart from each other is so narrow."""

    def enough(rows: float) -> bool:
        return math.hypot(plan.expected_width(rows), other.expected_width(rows)) <= width

    return _least_rows(enough, min(plan.class_shares))


def _least_rows(enough: Callable[[float], bool], least_share: float) -> int:
    """The least number of rows that are enough, found by doubling and halving on a scale of 1 %."""
    low, high = 1.0, 2 / least_share
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
