"""Confused pairs: the errors of a table by true and predicted class, the commonest first, and which are too common."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from steelyard.analysis.confusions.quasi_independence import ErrorModel
from steelyard.analysis.intervals.rate_intervals import jeffreys, wilson
from steelyard.statistics.effective_rows import weight_per_class_row
from steelyard.statistics.sparse_matrix import error_entries

if TYPE_CHECKING:
    from steelyard._types import Array, Label
    from steelyard.statistics.confusion import Confusion


PairOrder: TypeAlias = Literal["weight", "share"]
_MOST_TRIED = 20_000  # cells whose exact ends are taken


@dataclass(frozen=True)
class ConfusedPair:
    """A true class, what it was predicted as, the weight of those rows, and their share of the class with its ends.

    `expected` is how many rows there would be if errors fell on classes whatever the true one (quasi-independence), and
    `p_value` that of so many or more, adjusted by Holm's method for all pairs of the table.
    """

    true: Label
    predicted: Label
    weight: float
    share: float
    low: float
    high: float
    rows: int = 0
    expected: float = math.nan
    p_value: float = math.nan

    def row(self) -> dict[str, Any]:
        """The pair as a row of a table."""
        return dict(vars(self))


def confused_pairs(
    table: Confusion,
    level: float,
    *,
    most: int,
    by: PairOrder = "weight",
    clustered: bool = False,
    tested_first: bool = False,
) -> list[ConfusedPair]:
    """The pairs with the largest weight off the diagonal, at most so many; ties in the order of the labels.

    By share they are those whose share of the true class is largest for certain, by the lower end of its interval. The
    ends are Jeffreys' of the rows that the class is worth. The test counts rows, as far as weights go; Holm's method
    holds whatever the pairs, whose margins are common, have to do with each other. Rows in clusters have neither. With
    `tested_first` the pairs that the test shows go before all others.

    >>> from steelyard import confusion
    >>> pair, *_ = confused_pairs(confusion(["a", "a", "b"], ["a", "b", "b"]), 0.95, most=3)
    >>> pair.true, pair.predicted, pair.weight, pair.share
    ('a', 'b', 1.0, 0.5)
    """
    errors = _Errors.of(table)
    expected, p_values = _tested(table, errors)
    p_values = np.full(len(errors.true), math.nan) if clustered else p_values
    chosen = errors.largest(most, level, by, first=(p_values <= 1 - level) & tested_first)
    shares, low, high = errors.shares(chosen, level)
    if clustered:
        low, high = np.full((2, len(chosen)), math.nan)
    names = (errors.true[chosen], errors.predicted[chosen], errors.rows[chosen])
    numbers = (errors.weights[chosen], shares, low, high, expected[chosen], p_values[chosen])
    return [
        ConfusedPair(table.labels[true], table.labels[predicted], float(weight), *ends, rows, at_random, p_value)  # type: ignore[call-arg]  # three ends
        for true, predicted, rows, weight, *ends, at_random, p_value in zip(
            *(part.tolist() for part in (*names, *numbers)), strict=True
        )
    ]


def excess_pairs(table: Confusion, level: float) -> int:
    """How many pairs are confused more often than quasi-independence has it, all tested together."""
    return int((_tested(table, _Errors.of(table))[1] <= 1 - level).sum())


def _tested(table: Confusion, errors: _Errors) -> tuple[Array, Array]:
    """The rows expected in the cells that hold errors, and Holm's p-values among all pairs that may hold any."""
    if not len(errors.true):
        return np.zeros(0), np.zeros(0)
    model = ErrorModel.of(table.rows)
    expected = model.expected(errors.true, errors.predicted)
    p_values = model.p_values(errors.true, errors.predicted, errors.rows)
    order = np.argsort(p_values, kind="stable")
    adjusted = np.empty(len(order))
    steps = np.maximum(model.cells - np.arange(len(order)), 1)  # pairs without errors have p-value 1, and come last
    adjusted[order] = np.minimum(np.maximum.accumulate(p_values[order] * steps), 1)
    return expected, adjusted


@dataclass(frozen=True)
class _Errors:
    """The cells off the diagonal that hold anything, in row order, and the rows that they and their class are worth."""

    true: Array
    predicted: Array
    weights: Array
    rows: Array
    worth: Array
    class_worth: Array

    @classmethod
    def of(cls, table: Confusion) -> _Errors:
        true, predicted, weights = error_entries(table.matrix)
        row_weight = np.ones(len(table.labels))
        if table.weighted:
            row_weight = weight_per_class_row(table.weights, table.squares)[:, 0]
        totals = table.matrix.sum(1) / row_weight
        rows = np.asarray(table.rows[true, predicted])
        return cls(true, predicted, weights, rows, weights / row_weight[true], totals[true])

    def largest(self, most: int, level: float, by: PairOrder, first: Array) -> Array:
        """The places of the largest errors, or of those whose share is certain to be large; some before the others."""
        size = self.weights.astype(np.float64) if by == "weight" else self._lower_ends(level)
        order = np.lexsort((-size, ~first))[:most]
        return order[size[order] > 0]

    def shares(self, chosen: Array, level: float) -> tuple[Array, Array, Array]:
        """The shares of the true classes, and their ends."""
        hits, trials = self.worth[chosen], self.class_worth[chosen]
        return hits / trials, *jeffreys(hits, trials, level)

    def _lower_ends(self, level: float) -> Array:
        """The lower end of each share, of very many cells for those alone whose score interval is far from 0."""
        tried = np.arange(len(self.true))
        if len(tried) > _MOST_TRIED:
            low, _ = wilson(self.worth, self.class_worth, level)
            tried = np.sort(np.argsort(-low, kind="stable")[:_MOST_TRIED])
        ends = np.zeros(len(self.true))
        ends[tried] = self.shares(tried, level)[1]
        return ends
