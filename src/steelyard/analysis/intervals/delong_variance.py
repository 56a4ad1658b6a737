"""DeLong's variance of an AUC, by the structural components of both classes.

DeLong, DeLong and Clarke-Pearson (1988), Biometrics 44, 837-845; Sun and Xu (2014), IEEE Signal Processing Letters
21, 1389-1393.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from steelyard.statistics.class_scores import starting_at_zero

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.statistics.class_scores import ClassScores
    from steelyard.statistics.score_table import ScoreTable


@dataclass(frozen=True, eq=False)
class Components:
    """The structural components of one class: its rows' shares of the other class ranked rightly, ties half."""

    values: Array
    weights: Array

    @property
    def mean(self) -> float:
        """The AUC, from either class."""
        return float(self.weights @ self.values / self.weights.sum())

    def variance_of_mean(self, size: float) -> float:
        """What the class adds to the variance of the AUC; infinite where a single row shows no spread."""
        if size <= 1:
            return inf
        total = self.weights.sum()
        mean = self.weights @ self.values / total
        return float(self.weights @ (self.values - mean) ** 2 / total / (size - 1))


def components(table: ScoreTable) -> tuple[Components, Components]:
    """DeLong's structural components of the positives and of the negatives, with the weight of each; both must occur.

    One class is placed among the other, never every pair: rows of the larger class that lie between the same two
    scores of the smaller one, or tie with the same one, share a component.

    >>> from steelyard import score_table
    >>> positives, negatives = components(score_table([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]))
    >>> positives.values
    array([0.5, 1. ])
    """
    few, many = _by_size(table)
    first, second = _shares_below(few, many)
    return (first, _above(second)) if few is table.positive else (second, _above(first))


def _by_size(table: ScoreTable) -> list[ClassScores]:
    return sorted((table.positive, table.negative), key=lambda side: side.size)


def _shares_below(few: ClassScores, many: ClassScores) -> tuple[Components, Components]:
    """The share of the other class below each of the few, and below each of the many, ties half."""
    scores, weights = few.distinct
    below, up_to = large = many.around_each(scores)
    total = _total(many)
    first = Components(np.add(below, up_to, dtype=np.float64) / (2.0 * total), weights.astype(np.float64))
    return first, _between(weights, large, total)


def _total(side: ClassScores) -> float:
    """The weight of a class; that of fractions as their running sum ends, so that rounding leaves nothing over."""
    return float(side.total if side.given_weights is None else side.below(np.array(np.inf)))


def _between(weights: Array, around: tuple[Array, Array], total: float) -> Components:
    """The share of the few below the many that lie before each of them, tie with it, or lie above them all."""
    reached = starting_at_zero(np.cumsum(weights, dtype=np.float64))
    shares = np.concatenate([reached, (reached[:-1] + reached[1:]) / 2]) / reached[-1]
    below, up_to = around
    before = np.append(below, total) - starting_at_zero(up_to)
    return Components(shares, np.concatenate([before, up_to - below]).astype(np.float64))


def _above(shares: Components) -> Components:
    """The negatives are ranked rightly by the positives above them."""
    return Components(1 - shares.values, shares.weights)


def delong_variance(table: ScoreTable) -> float:
    """DeLong's variance of the AUC; infinite where a class has fewer than two rows.

    >>> from steelyard import score_table
    >>> delong_variance(score_table([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]))
    0.125
    """
    few, many = _by_size(table)
    if min(few.effective_size, many.effective_size) <= 1:
        return inf
    shares = zip(_shares_below(few, many), (few, many), strict=True)  # of those above the variance is the same
    return sum(part.variance_of_mean(side.effective_size) for part, side in shares)
