"""Confused pairs: the errors of a table by true and predicted class, the commonest first."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from steelyard.analysis.intervals.draws import effective_cells
from steelyard.analysis.intervals.rate_intervals import jeffreys, wilson

if TYPE_CHECKING:
    from steelyard._types import Array, Label
    from steelyard.statistics.confusion import Confusion


PairOrder: TypeAlias = Literal["weight", "share"]
_MOST_TRIED = 20_000  # cells whose exact ends are taken


@dataclass(frozen=True)
class ConfusedPair:
    """A true class, what it was predicted as, the weight of those rows, and their share of the class with its ends."""

    true: Label
    predicted: Label
    weight: float
    share: float
    low: float
    high: float


def confused_pairs(
    table: Confusion, level: float, *, most: int, by: PairOrder = "weight", clustered: bool = False
) -> list[ConfusedPair]:
    """The pairs with the largest weight off the diagonal, at most so many; ties in the order of the labels.

    By share they are those whose share of the true class is largest for certain, by the lower end of its interval. The
    ends are Jeffreys' of the rows that the class is worth; rows in clusters have none.

    >>> from steelyard import confusion
    >>> pair, *_ = confused_pairs(confusion(["a", "a", "b"], ["a", "b", "b"]), 0.95, most=3)
    >>> pair.true, pair.predicted, pair.weight, pair.share
    ('a', 'b', 1.0, 0.5)
    """
    places = _largest_errors(table, most, level, by)
    shares, low, high = _pair_shares(table, places, level)
    if clustered:
        low, high = np.full((2, len(places)), math.nan)
    return [
        ConfusedPair(table.labels[i], table.labels[j], float(table.matrix[i, j]), *map(float, ends))
        for (i, j), *ends in zip(places, shares, low, high, strict=True)
    ]


def _largest_errors(table: Confusion, most: int, level: float, by: PairOrder) -> Array:
    """The places of the largest cells off the diagonal that hold anything, as rows of true and predicted place."""
    errors = table.matrix.astype(np.float64)
    np.fill_diagonal(errors, 0)
    if by == "share":
        errors = _lower_ends(table, errors > 0, level)
    order = np.argsort(-errors, axis=None, kind="stable")[:most]
    places = np.stack(np.unravel_index(order, errors.shape), -1)
    return np.asarray(places[errors.ravel()[order] > 0])


def _lower_ends(table: Confusion, errors: Array, level: float) -> Array:
    """The lower end of each share, of very many cells for those alone whose score interval is far from 0."""
    places = np.argwhere(errors)
    if len(places) > _MOST_TRIED:
        rows, _ = effective_cells(table)
        low, _ = wilson(rows[errors], rows.sum(1)[places[:, 0]], level)
        places = places[np.sort(np.argsort(-low, kind="stable")[:_MOST_TRIED])]
    ends = np.zeros(errors.shape)
    ends[places[:, 0], places[:, 1]] = _pair_shares(table, places, level)[1]
    return ends


def _pair_shares(table: Confusion, places: Array, level: float) -> tuple[Array, Array, Array]:
    """The shares of the true classes, and their ends."""
    rows, _ = effective_cells(table)
    hits, trials = rows[places[:, 0], places[:, 1]], rows.sum(1)[places[:, 0]]
    return hits / trials, *jeffreys(hits, trials, level)
