"""Logistic recalibration: the intercept and the slope that fit the outcomes best to the logits of the probabilities.

Cox (1958), Biometrika 45, 562-565; in the large: the intercept where the slope is held at 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.arrays.backend import backend_of, one_each
from steelyard.metrics.expression import undefined
from steelyard.metrics.ranking import once

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.tables.score_table import ScoreTable

_MOST_STEPS, _NEAR = 60, 1e-8  # the error after a step is of the order of its square; of many rows 1e-5 will do
_COARSE, _MANY = 64, 2**17  # rows that stand together in a first fit, where there are so many
_PART = 2**13  # entries of which all columns stay in the first caches
_ROUNDING = 1e-14  # what is left where the classes balance exactly
_STEEP = 50.0  # a slope beyond which the classes are separated to all digits


class LogitRows(NamedTuple):
    """The logits of all entries, which of them are positive, and their weights; draws on an axis before the last."""

    logits: Array
    positive: Array
    weights: Array

    @classmethod
    def of(cls, table: ScoreTable) -> LogitRows:
        """The positives first."""
        scores = np.concatenate([side.scores for side in table.classes])
        with np.errstate(divide="ignore"):
            logits = np.log(scores) - np.log1p(-scores)
        positive = _truth(*(side.scores for side in table.classes))
        return cls(
            logits, positive, np.concatenate([side.weights.astype(np.float64) for side in table.classes], axis=-1)
        )

    def step(self, intercept: Array, slope: Array) -> Array:
        """The score of both parameters, and the three entries of the information; by parts that stay in cache."""
        n = len(self.logits)
        parts = backend_of(self.logits).chunks(n, n if self.weights.ndim > 1 else _PART)
        return np.asarray(sum(self._part(part, intercept, slope) for part in parts))

    def _part(self, part: slice, intercept: Array, slope: Array) -> Array:
        logits, weights = self.logits[part], self.weights[..., part]
        with np.errstate(over="ignore", invalid="ignore"):  # the logits of 0 and 1 are infinite
            mean = 1 / (1 + np.exp(-intercept[..., None] - slope[..., None] * logits))
        off, spread = weights * (self.positive[part] - mean), weights * mean * (1 - mean)
        return np.stack([off.sum(-1), off @ logits, spread.sum(-1), spread @ logits, spread @ logits**2])

    def coarse(self) -> LogitRows:
        """Every so many entries of a class as one, by their mean logit."""
        parts, positives = [], int(self.positive.sum())
        for of_class in (slice(positives), slice(positives, None)):
            logits, weights = self.logits[of_class], self.weights[of_class]
            starts = np.arange(0, len(logits), _COARSE)
            mass = np.add.reduceat(weights, starts)
            parts.append((np.add.reduceat(weights * logits, starts) / mass, mass))
        (logits, mass), (others, rest) = parts
        return LogitRows(np.append(logits, others), _truth(logits, others), np.append(mass, rest))


@once
def logit_rows(table: ScoreTable) -> LogitRows:
    """The logits of a table's entries."""
    return LogitRows.of(table)


def why_no_recalibration(table: ScoreTable, *, slope: bool) -> str | None:
    """Why there is no finite intercept, or slope, of a table with weight in both classes."""
    positives, negatives = (side.scores for side in table.classes)
    ends = [end for scores in (positives, negatives) for end in (scores[0], scores[-1])]
    if min(ends) <= 0 or max(ends) >= 1:
        return "a probability of exactly 0 or 1 has no logit"
    if slope and min(ends) == max(ends):
        return "all probabilities are equal"
    if slope and (positives[0] >= negatives[-1] or negatives[0] >= positives[-1]):
        return "the scores separate the classes"
    return None


@once
def recalibrated(table: ScoreTable) -> tuple[Array, Array]:
    """The intercept and the slope of logistic recalibration; NaN of draws that have none."""
    return _fit(table, free=True)


@once
def intercept_in_the_large(table: ScoreTable) -> Array:
    """The intercept of logistic recalibration with a slope of 1."""
    return _fit(table, free=False)[0]


def _fit(table: ScoreTable, *, free: bool) -> tuple[Array, Array]:
    rows = logit_rows(table)
    zero = np.zeros(rows.weights.shape[:-1])
    start = (zero, zero) if free else (zero, zero + 1)
    if rows.weights.size > _MANY and rows.weights.ndim == 1:
        start = _climbed(rows.coarse(), *start, free=free)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):  # of a draw that has none
        intercept, slope = _climbed(rows, *start, free=free)
    wild = ~(np.isfinite(intercept) & (np.abs(slope) < _STEEP))
    intercept = np.where(np.abs(intercept) < _ROUNDING, 0.0, intercept)
    return np.where(wild, np.nan, intercept), np.where(wild, np.nan, slope)


def _climbed(rows: LogitRows, intercept: Array, slope: Array, *, free: bool) -> tuple[Array, Array]:
    """The top of the likelihood by Newton's steps, each halved where it overshoots; with a slope that is free or held.

    The likelihood is concave: a step overshoots where it falls, at its end, by more than half as steeply as it rose.
    """
    move, rise = (np.zeros_like(intercept), np.zeros_like(slope)), np.zeros_like(intercept)
    for _ in range(_MOST_STEPS):
        by_intercept, by_slope, a, b, c = rows.step(intercept + move[0], slope + move[1])
        over = by_intercept * move[0] + by_slope * move[1] < -0.5 * rise
        intercept, slope = (np.where(over, at, at + by) for at, by in zip((intercept, slope), move, strict=True))
        area = a * c - b * b
        full = (c * by_intercept - b * by_slope) / area, (a * by_slope - b * by_intercept) / area
        full = full if free else (by_intercept / a, np.zeros_like(slope))
        rise = np.where(over, rise / 2, by_intercept * full[0] + by_slope * full[1])
        move = np.where(over, move[0] / 2, full[0]), np.where(over, move[1] / 2, full[1])
        near = (_NEAR if rows.weights.size <= _MANY else 1e3 * _NEAR) * (1 + np.abs(intercept) + np.abs(slope))
        if not (np.maximum(np.abs(move[0]), np.abs(move[1])) > near).any():
            break
    return intercept + move[0], slope + move[1]


def _truth(positives: Array, negatives: Array) -> Array:
    """1 for each of the positives and 0 for each of the negatives, where they are."""
    return np.concatenate([one_each(positives), 0 * one_each(negatives)]).astype(np.float64)


def undefined_or(value: Array) -> Array | float:
    """The value; of a table alone, NaN with its reason."""
    why = f"no slope up to {_STEEP:g} fits best"
    return undefined(why) if value.ndim == 0 and np.isnan(value) else value
