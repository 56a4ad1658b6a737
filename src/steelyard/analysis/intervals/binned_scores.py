"""Binned scores: a table of scores with few entries, of which variances and draws are taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.statistics.class_scores import ClassScores
from steelyard.statistics.score_order import sums_between
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.intervals.class_ranks import ClassRanks

MOST_ENTRIES = 4_096  # distinct scores of a class that a bootstrap keeps apart


def binned(table: ScoreTable, most: int = MOST_ENTRIES) -> ScoreTable:
    """The table with at most about 2 x `most` entries per class, split at the scores of the rarer class.

    What counts for the order is which scores of the common class lie between two of the rarer one, so nothing is
    lost to ranking while the rarer class keeps all its scores; beyond that its quantiles are kept.
    """
    if (binned, most) not in table.remembered:  # the metrics of one table ask for the same
        table.remembered[binned, most] = _binned(table, most)
    small: ScoreTable = table.remembered[binned, most]
    return small


def _binned(table: ScoreTable, most: int) -> ScoreTable:
    edges = _bin_edges(table, most)
    if edges is None:
        return ScoreTable(table.positive.compact(), table.negative.compact(), table.label)
    sides = [side.compact() for side in (table.positive, table.negative)]
    ends = [_group_ends(side, edges) for side in sides]
    pairs = list(zip(sides, ends, strict=True))
    sums = sum(sums_between(side.scores * side.weights, end) for side, end in pairs)
    weights = [_weights_between(side, end) for side, end in pairs]
    masses = np.asarray(sum(weights), dtype=np.float64)
    scores = sums / np.where(masses > 0, masses, 1)
    # Of scores a rounding apart a mean may come to an edge or pass it, and the order would be lost.
    limits = [np.concatenate([[-np.inf], edges]), np.concatenate([edges, [np.inf]])]
    scores[::2] = np.clip(scores[::2], np.nextafter(limits[0], np.inf), np.nextafter(limits[1], -np.inf))
    scores[1::2] = edges
    positive, negative = (_grouped(*pair, mass, scores) for pair, mass in zip(pairs, weights, strict=True))
    return ScoreTable(positive, negative, table.label)


def grouped_at(table: ScoreTable, edges: Array) -> ScoreTable:
    """The table with all scores from one edge up to the next at that edge: exact where a threshold is an edge."""
    scores = np.concatenate([[np.nextafter(edges[0], -np.inf)], edges])
    sides = [side.compact() for side in table.classes]
    ends = [np.concatenate([[0], np.searchsorted(side.scores, edges), [len(side.scores)]]) for side in sides]
    pairs = zip(sides, ends, strict=True)
    positive, negative = (_grouped(side, end, _weights_between(side, end), scores) for side, end in pairs)
    return ScoreTable(positive, negative, table.label)


def _bin_edges(table: ScoreTable, most: int) -> Array | None:
    """The scores of the rarer class, or as many of their quantiles; None where no class has more scores than that."""
    if max(len(side.distinct[0]) for side in table.classes) <= most:
        return None
    edges: Array = min(table.classes, key=lambda side: side.n).distinct[0]  # by rows, however tied scores are stored
    return edges if len(edges) <= most else edges[np.linspace(0, len(edges) - 1, most).astype(np.int64)]


def binned_rows(table: ScoreTable, ranks: ClassRanks, most: int = MOST_ENTRIES) -> tuple[ScoreTable, list[Array]]:
    """The binned table, and the place among its entries of the scores of each class, row by row."""
    edges = _bin_edges(table, most)
    if edges is not None:
        return binned(table, most), ranks.groups(edges)
    pairs = zip(table.classes, (ranks.positives, ranks.negatives), strict=True)
    return binned(table, most), [np.searchsorted(side.distinct[0], rows) for side, rows in pairs]


def _group_ends(side: ClassScores, edges: Array) -> Array:
    """Where the groups of an ordered class begin and end: what lies below an edge, ties with it, and lies between."""
    inner = np.stack([np.searchsorted(side.scores, edges, "left"), np.searchsorted(side.scores, edges, "right")], -1)
    return np.concatenate([[0], inner.ravel(), [len(side.scores)]])


def _weights_between(side: ClassScores, ends: Array) -> Array:
    """The weight of each group; of whole rows by their running sums, which round nothing."""
    whole = side.given_weights is None
    return np.diff(side.running_or_places[ends]) if whole else sums_between(side.weights, ends)


def _grouped(side: ClassScores, ends: Array, weights: Array, scores: Array) -> ClassScores:
    used = np.diff(ends) > 0
    if side.given_weights is None:
        return ClassScores(scores[used], weights[used])
    rows, squares = (sums_between(column, ends)[used] for column in (side.rows, side.squares))
    return ClassScores(scores[used], rows, weights[used], squares)
