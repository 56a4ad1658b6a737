"""Class ranks: the scores that one model gives the rows of each class, sorted once for all that asks for places."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from steelyard.statistics import score_order
from steelyard.statistics.device_array import DeviceArray
from steelyard.statistics.placed_values import taken

if TYPE_CHECKING:
    from steelyard._types import Array


@dataclass(frozen=True, eq=False)
class ClassRanks:
    """The scores of the positives and of the negatives, in the order of the rows."""

    positives: Array
    negatives: Array

    @classmethod
    def of(cls, score: Array, positive: Array) -> ClassRanks:
        """Those of the rows of each class."""
        return cls(score[positive], score[~positive])

    @cached_property
    def ordered(self) -> list[tuple[Array, Array]]:
        """Of each class the places of its rows in ascending order, and the scores in that order."""
        orders = ((scores, np.argsort(scores)) for scores in (self.positives, self.negatives))
        return [(order, scores[order]) for scores, order in orders]

    def twice_beaten(self) -> tuple[Array, Array]:
        """Twice the negatives below each positive and twice the positives above each negative, ties once: midranks."""
        (up_order, positives), (down_order, negatives) = self.ordered
        up, down = np.empty(len(positives), dtype=np.int64), np.empty(len(negatives), dtype=np.int64)
        up[up_order] = _twice_below(positives, negatives)
        down[down_order] = 2 * len(positives) - _twice_below(negatives, positives)
        return up, down

    def groups(self, edges: Array) -> list[Array]:
        """Of each class the group of its rows, empty ones not counted: below an edge, at it, between two, above all."""
        if isinstance(self.positives, DeviceArray) or isinstance(self.negatives, DeviceArray):
            return [_groups_by_search(scores, edges) for scores in (self.positives, self.negatives)]
        places = []
        for order, ascending in self.ordered:
            around = np.stack([np.searchsorted(ascending, edges, side) for side in ("left", "right")], -1)
            sizes = np.diff(around.ravel(), prepend=0, append=len(ascending))
            place = np.empty(len(ascending), dtype=np.int64)
            place[order] = np.repeat(np.arange(np.count_nonzero(sizes)), sizes[sizes > 0])
            places.append(place)
        return places


def _groups_by_search(scores: Array, edges: Array) -> Array:
    """The groups of scores on a device, in the order of the rows: twice the edges below, and one more where it ties."""
    group = np.searchsorted(edges, scores) + np.searchsorted(edges, scores, side="right")
    used = np.asarray(np.bincount(group, minlength=2 * len(edges) + 1) > 0)
    return taken(np.cumsum(used) - 1, group)


def _twice_below(ascending: Array, others: Array) -> Array:
    """Twice how many others, in order as well, are below each score, ties once."""
    lower = score_order.below(ascending, others)
    return lower + score_order.up_to(ascending, others, lower)
