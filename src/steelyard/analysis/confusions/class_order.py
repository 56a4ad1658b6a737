"""Class order: the classes of a table side by side where they are taken for each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.confusions.sparse_linkage import block_order, flat_order
from steelyard.statistics.sparse_matrix import error_entries

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.statistics.confusion import Confusion

_MOST_OPTIMAL = 300  # classes whose tree is turned for the best neighbours: 0.06 s, of 1,000 it would be 3 s


def confusion_order(table: Confusion) -> Array:
    """The places of the classes, those that are confused next to each other and where more errors are first.

    Classes are joined by average linkage of the shares of each true class that went to the other one, and the
    branches of that tree are turned so that neighbours are alike (Bar-Joseph, Gifford and Jaakkola 2001). What no error
    connects is ordered apart. Of more than 1,000 classes the blocks are ordered by their errors alone.

    >>> from steelyard import confusion
    >>> table = confusion(["b", "a", "c", "d", "a", "d"], ["b", "a", "c", "d", "d", "a"])
    >>> [table.labels[place] for place in confusion_order(table)]
    ['a', 'd', 'b', 'c']
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    errors = table.matrix.sum(1) + table.matrix.sum(0) - 2 * table.hits
    if table.is_sparse:
        return flat_order(_sparse_blocks(table), errors)
    shares = true_class_shares(table)
    alike = (shares + shares.T) / 2
    count, parts = connected_components(csr_array(alike), directed=False)
    sums = np.bincount(parts, errors, minlength=count)
    members = [np.flatnonzero(parts == part) for part in np.argsort(-sums, kind="stable")]
    return np.concatenate([places[_part_order(alike[np.ix_(places, places)], errors[places])] for places in members])


def _sparse_blocks(table: Confusion) -> list[list[int]]:
    """The blocks of very many classes, by the pairs that are confused."""
    true, predicted, weights = error_entries(table.matrix)
    totals = table.matrix.sum(1)
    return block_order(true, predicted, weights / totals[true] / 2, len(table.labels))


def true_class_shares(table: Confusion) -> Array:
    """The share of each true class that went to each predicted one; 0 for a class without rows."""
    matrix = table.matrix.astype(np.float64)
    totals = matrix.sum(1, keepdims=True)
    return np.asarray(np.divide(matrix, totals, out=np.zeros_like(matrix), where=totals > 0))


def _part_order(alike: Array, errors: Array) -> Array:
    """The order within a part that errors connect; the end with more of them first."""
    if len(alike) < 3:
        return np.argsort(-errors, kind="stable")
    order, half = _leaves(1 - alike), len(alike) // 2
    return order[::-1].copy() if errors[order[:half]].sum() < errors[order[-half:]].sum() else order


def _leaves(distances: Array) -> Array:
    """The leaves of the tree of average linkage, in its order."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    np.fill_diagonal(distances, 0)
    pairs = squareform(distances, checks=False)
    tree = linkage(pairs, "average", optimal_ordering=len(distances) <= _MOST_OPTIMAL)
    return np.asarray(leaves_list(tree), dtype=np.int64)
