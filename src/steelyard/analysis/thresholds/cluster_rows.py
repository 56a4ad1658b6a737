"""Cluster rows: the rows of clusters one by one, and as how many independent rows those of a class count."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.thresholds.limit_parts import rate_limit
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard._types import Array
    from steelyard.analysis.thresholds.threshold_limits import Limit

_FEWEST = 5  # clusters of a class of which it is seen how much they vary
_MIDDLE = (0.1, 0.9)  # rates at which the variation between clusters is seen well


@dataclass(frozen=True, eq=False)
class ClusterRows:
    """Rows one by one: which are positive, their scores and weights, and the number of the cluster of each."""

    positive: Array
    scores: Array
    weights: Array
    clusters: Array

    @cached_property
    def sizes(self) -> Array:
        """The weight of each cluster."""
        return np.bincount(self.clusters, self.weights)

    @cached_property
    def share_rows(self) -> float:
        """As how many independent rows the share of the positives is known, by how much it varies between clusters."""
        sizes = self.sizes / self.sizes.sum()
        positives = (
            np.bincount(self.clusters[self.positive], self.weights[self.positive], len(sizes)) / self.sizes.sum()
        )
        share, copies = float(positives.sum()), 1 / float((sizes**2).sum())
        variance = float(((positives - share * sizes) ** 2).sum()) * copies / max(copies - 1, 1.0)
        return share * (1 - share) / variance if variance > 0 else math.inf

    def tables(self, scores: Array) -> tuple[Array, Array]:
        """The weight of each cluster at each of the scores, of the positives and of the negatives."""
        at, shape = np.searchsorted(scores, self.scores, side="right") - 1, (len(self.sizes), len(scores))
        code = self.clusters * len(scores) + at
        positive, negative = (
            np.bincount(code[rows], self.weights[rows], minlength=shape[0] * shape[1]).reshape(shape)
            for rows in (self.positive, ~self.positive)
        )
        return positive, negative


def worth_of_clusters(cells: Array) -> float:
    """As how many independent rows the rows of a class count, given the weight of each cluster at each score.

    By how much more the rate above a score varies between clusters than it would between rows, at the score where that
    is most; rows of a cluster that never vary are copies of one.
    """
    sizes = cells.sum(1)
    total = float(sizes.sum())
    copies = 1 / float(((sizes / total) ** 2).sum())
    above = np.cumsum(cells[:, ::-1], axis=1)
    rates = above.sum(0) / total
    some = (rates >= _MIDDLE[0]) & (rates <= _MIDDLE[1])
    if not some.any():
        return copies
    apart = above[:, some] - sizes[:, None] * rates[some]
    known = max(copies - 1, 1.0) / copies  # few clusters show less than there is
    variance = np.maximum(((apart / total) ** 2).sum(0) / known, 1e-300)
    return float(np.clip((rates[some] * (1 - rates[some]) / variance).min(), min(copies, total), total))


def refuse_few_clusters(limits: Iterable[Limit], rows: ClusterRows) -> None:
    """Refuse to promise limits on a class whose rows are of too few clusters."""
    for limit in limits:
        rate = rate_limit(limit)
        cells = {"tp", "fp"} if rate is None else {*rate.part.hits, *rate.part.others}
        for name, of, side in (("positives", {"tp", "fn"}, rows.positive), ("negatives", {"fp", "tn"}, ~rows.positive)):
            clusters = len(np.unique(rows.clusters[side & (rows.weights > 0)]))
            if cells & of and clusters < _FEWEST:
                raise InputError(
                    f"{limit.text} depends on the {name}, whose rows are of {clusters} cluster{'s' * (clusters != 1)}, "
                    f"and a promise takes {_FEWEST} or more; give rows of more clusters, or leave out the confidence."
                )
