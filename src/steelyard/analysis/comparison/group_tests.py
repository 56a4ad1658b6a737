"""Tests of groups: in which of several groups of rows a metric is lower than in the others, all tested together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.distributions import normal_reach, student_below
from steelyard.metrics.class_values import ClassCells
from steelyard.metrics.count_values import count_values, run_formula
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard._types import Array
    from steelyard.metrics.metric import Metric

    RightRowsValue = Callable[[Array, Array], Array]  # of the hits and the rows of each class, classes last

FEWEST_DRAWS, MOST_DRAWS = 1_999, 10_000  # draws; with fewer than 2 / alpha for each group no p-value could reach alpha
_MOST_ROWS = 10**9  # of a class: NumPy draws from fewer without replacement
_MOST_CELLS = 50_000_000  # of all draws of all tables: a few seconds
_AT_ONCE = 4_000_000  # of these that are in memory together
_NEAR = 1e-9


def groups_to_test(sizes: Array, classes: int, level: float) -> Array:
    """The places of the largest groups, as many as the draws can test; their sizes depend on no outcome."""
    draws = MOST_DRAWS * (1 - level) / 2, np.sqrt(_MOST_CELLS * (1 - level) / (2 * max(2, classes) ** 2))
    most = int(min(draws))
    return np.sort(np.argsort(-sizes, kind="stable")[: max(2, most)])


def exact_p_values(hits: Array, sizes: Array, value: RightRowsValue, level: float, rng: np.random.Generator) -> Array:
    """Adjusted p-values that the metric is lower in each group than in the others together: exact permutations.

    `hits` and `sizes` are the rows that are right and all rows, groups by true classes. Rows change groups within their
    true class, which keeps every margin; the smallest p-value of each draw is the simultaneous test (Westfall and
    Young's min-p), so that a group of four rows, whose p-value cannot be small, takes no power from the others.
    """
    draws = int(np.clip(2 * len(hits) / (1 - level), FEWEST_DRAWS, MOST_DRAWS))
    totals = hits.sum(0)
    drawn = np.stack(
        [rng.multivariate_hypergeometric(sizes[:, k], totals[k], size=draws) for k in range(len(totals))], -1
    )
    tables = np.concatenate([hits[None], drawn])
    p_values = np.ones((draws + 1, len(hits)))
    for group, size in enumerate(sizes):
        below = value(totals - tables[:, group], sizes.sum(0) - size) - value(tables[:, group], size)
        below = np.where(np.isnan(below), -np.inf, np.round(below, 12))
        p_values[:, group] = 1 - np.searchsorted(np.sort(below), below, "left") / (draws + 1)
    least = np.sort(p_values.min(1))
    return np.asarray(np.searchsorted(least, p_values[0] + _NEAR / draws, "right") / (draws + 1))


def interval_p_values(ends: Array, sizes: Array, level: float) -> Array:
    """Adjusted two-sided p-values of the same from the groups' own intervals: Newcombe's differences, by Bonferroni.

    For weighted or clustered rows and ranks, where rows cannot change groups. `ends` has the value, low and high of
    each group; one without an interval has p-value 1. The others are averaged by their rows: by the width of their
    intervals high values, whose intervals are narrow, would count for more. The tails are Student's: those of a
    metric of four rows, which Bonferroni goes far out into, are not normal.
    """
    known = np.isfinite(ends).all(1)
    values, lows, highs = np.where(known, ends.T, 0)
    errors = (highs - values) / normal_reach(level), (values - lows) / normal_reach(level)
    p_values = np.ones(len(ends))
    for group in np.flatnonzero(known) if known.sum() > 1 else ():
        share = np.where(known, sizes, 0) * (np.arange(len(ends)) != group)
        share = share / share.sum()
        error = np.hypot(errors[0][group], np.sqrt((share**2 * errors[1] ** 2).sum()))
        below = share @ values - values[group]
        p_values[group] = 2 * known.sum() * student_below(-below / max(error, _NEAR), max(sizes[group] - 1, 1))
    return np.minimum(p_values, 1)


def can_permute(sizes: Array) -> bool:
    """Whether rows can be drawn into other groups in a few seconds: of so many rows, and of tables of so many cells."""
    return bool(sizes.sum(0).max() < _MOST_ROWS and 2 * FEWEST_DRAWS * sizes.shape[-1] ** 2 <= _MOST_CELLS)


def moves_with_shares(value: RightRowsValue, hits: Array, sizes: Array) -> bool:
    """Whether the metric is another one where the same rates meet other class shares, as precision is.

    By such a metric groups differ whose classifier is the same; permutations, which keep the shares, allow for that.
    """
    times = 1.0 + np.arange(len(sizes))
    return not np.isclose(value(hits, sizes), value(hits * times, sizes * times), rtol=1e-9, equal_nan=True)


def two_class_value(metric: Metric) -> RightRowsValue:
    """The metric of two classes by the right rows of each, the positive class first."""

    def value(hits: Array, sizes: Array) -> Array:
        tp, tn = hits[..., 0], hits[..., 1]
        return np.asarray(count_values(metric, Counts.trusted(tp, sizes[0] - tp, sizes[1] - tn, tn), metric.parameters))

    return value


def class_value(metric: Metric, matrix: Array) -> RightRowsValue | None:
    """The metric of many classes by the right rows of each; None where it depends on more than those of this table."""
    form = metric.classes
    if form is None:
        return None

    def value(hits: Array, sizes: Array) -> Array:
        hits = np.asarray(hits, dtype=np.float64)
        if hits.ndim > 1 and (blocks := hits.size * len(sizes) // _AT_ONCE):
            return np.concatenate([value(block, sizes) for block in np.array_split(hits, blocks + 1)])
        tables = hits[..., None] * np.eye(hits.shape[-1])
        tables += (sizes - hits)[..., None] * np.roll(np.eye(hits.shape[-1]), 1, axis=1)  # wrong: as the next class
        return np.asarray(run_formula(form, ClassCells.of(tables), metric.parameters))

    own = run_formula(form, ClassCells.of(matrix), metric.parameters)
    same = np.isclose(value(np.diagonal(matrix), matrix.sum(1)), own, rtol=1e-9, equal_nan=False)
    return value if bool(same) else None


def recall_value(hits: Array, sizes: Array) -> Array:
    """The share of right rows."""
    with np.errstate(invalid="ignore"):
        return np.asarray(hits[..., 0] / sizes[0])
