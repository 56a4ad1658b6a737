"""Paired gain: by how much one way to decide is better than another on the same rows, with its interval.

Rows that both decide alike vary in both values together, so that the interval is of the difference itself. It is a
Bayesian bootstrap of the rows, counted by true class and both decisions, made wider by how much the value of the rule
varies with the rows that choose it: the jackknife of the folds' rules on all rows, and what is lost by choosing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.intervals.draws import student_spread
from steelyard.analysis.levels import tails
from steelyard.metrics.application import ClassCells

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.decisions.class_aim import ClassAim
    from steelyard.analysis.decisions.decided_rows import DecidedRows

_DRAWS = 1_000
_AT_ONCE = 2**22  # cells of the tables that are drawn at a time


def paired_gain_ends(
    aim: ClassAim,
    rows: DecidedRows,
    both: tuple[Array, Array],
    k: int,
    level: float,
    rng: np.random.Generator,
    by_choice: float,
) -> tuple[float, float] | None:
    """The ends of what the first decisions gain on the second, of k columns; None where too few draws have a value.

    `by_choice` is the variance that comes of choosing the rule.
    """
    codes = rows.table.codes
    cells, place = np.unique((codes * k + both[0]) * k + both[1], return_inverse=True)
    weights, squares = (np.bincount(place, column) for column in (rows.table.weights, rows.table.squares))
    drawn = _drawn_weights(weights, squares, level, rng)
    true = cells // (k * k)
    if rows.factors is not None:
        shares = np.stack([drawn[:, true == i].sum(1) for i in range(rows.k)], 1)
        drawn = drawn * (rows.shares / np.maximum(shares, 1e-300))[:, true]
    size = max(1, _AT_ONCE // (k * k))
    parts = [drawn[start : start + size] for start in range(0, _DRAWS, size)]
    gains = np.concatenate([_values(aim, part, true, (cells // k) % k, k) for part in parts]) - np.concatenate(
        [_values(aim, part, true, cells % k, k) for part in parts]
    )
    defined = aim.sign * gains[np.isfinite(gains)]
    if len(defined) < _DRAWS / 2:
        return None
    middle, spread = float(np.median(defined)), float(np.var(defined))
    wider = float(np.sqrt(1 + by_choice / spread)) if spread > 0 else 1.0
    low, high = (middle + (end - middle) * wider for end in np.quantile(defined, tails(level)).tolist())
    return low, high


def choice_variance(optimism: float, k: int) -> float:
    """The variance of what a rule of k thresholds loses on the best one of such rows.

    Near its best a metric falls off by squares, so that the rule gains on its own rows what it loses on new ones, half
    of the optimism, which varies as chi-square with k - 1 degrees does: by 2 / (k - 1) of the square of its mean.
    """
    return (max(optimism, 0.0) / 2) ** 2 * 2 / (k - 1)


def jackknife_variance(values: Array) -> float:
    """The variance of a value by what it is without each fold."""
    return float(np.var(values)) * (len(values) - 1) if len(values) > 1 and np.isfinite(values).all() else 0.0


def _drawn_weights(weights: Array, squares: Array, level: float, rng: np.random.Generator) -> Array:
    """Gamma weights of the cells of rows, each as many as it is worth."""
    counted = weights > 0
    mean = np.where(counted, squares / np.where(counted, weights, 1), 1)
    n = float(weights.sum() ** 2 / squares.sum())
    return np.asarray(rng.standard_gamma(weights / mean * student_spread(n, level), (_DRAWS, len(weights))) * mean)


def _values(aim: ClassAim, drawn: Array, true: Array, decided: Array, k: int) -> Array:
    """The metric on the tables of draws."""
    matrices = np.zeros((len(drawn), k * k))
    cell, place = np.unique(true * k + decided, return_inverse=True)
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(len(cell)))
    matrices[:, cell] = np.add.reduceat(drawn[:, order], starts, axis=1)
    return np.asarray(aim.values(ClassCells.of(matrices.reshape(-1, k, k))), dtype=np.float64)
