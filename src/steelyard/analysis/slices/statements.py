"""Statements: overlapping and nested discoveries merged into the simplest slices that explain the others."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from steelyard.ingest.slice_rows import SliceTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array
    from steelyard.ingest.slice_rows import Codes, RowPatterns

_PLAIN = 0.05  # a p-value above which what is left of a slice is as good as the rest


class MergeTest(Protocol):
    """A test of the rows of a slice that are left against those outside it."""

    def merged_p_values(self, inside: SliceTable, whole: SliceTable) -> Array:
        """The p-values of slices, each within its own rows."""


class SliceStatement(NamedTuple):
    """A slice that stands for itself, and the places of the discoveries that it explains."""

    place: int
    explained: tuple[int, ...]


@dataclass
class Merger:
    """Discoveries in the order of their p-values, their conditions, and the kinds of rows that lie in them."""

    test: MergeTest
    slices: Sequence[Codes]
    p_values: Array
    rows: RowPatterns
    unit: (
        float  # the false discovery rate over the tests: so many times this may the p-value of that many statements be
    )
    covered: Array = field(init=False)

    def __post_init__(self) -> None:
        self.covered = np.zeros(self.rows.inside.shape[1], dtype=bool)

    def statements(self, most: int) -> tuple[list[SliceStatement], int]:
        """The slices that explain the others, at most so many, and how many discoveries they leave unexplained.

        The most significant one first, or the shorter slice that holds it and is as bad throughout. Then the rows
        that it holds are set aside, and of the others only what is still worse by itself comes next.
        """
        chosen: list[int] = []
        left, strength = np.arange(len(self.slices)), self.p_values
        while len(left) and len(chosen) < most:
            best = self._simplest(int(left[np.argmin(strength)]))
            chosen.append(best)
            self.covered |= self.rows.inside[best]
            left = left[left != best]
            strength = self._by_itself(left, chosen)
            worse = strength <= self.unit * (len(chosen) + 1)
            left, strength = left[worse], strength[worse]
        explainer = self._explainers(chosen)
        others = [i for i in range(len(self.slices)) if i not in chosen]
        return [SliceStatement(place, tuple(i for i in others if explainer[i] == place)) for place in chosen], len(left)

    def _simplest(self, place: int) -> int:
        """The slice itself, or a discovery of fewer conditions that holds it and is as bad in the rest of it."""
        own = set(self.slices[place])
        shorter = [i for i, other in enumerate(self.slices) if set(other) < own]
        for i in sorted(shorter, key=lambda i: (len(self.slices[i]), self.p_values[i])):
            child, parent = self.rows.inside[place] & ~self.covered, self.rows.inside[i] & ~self.covered
            rest = parent & ~child
            if self._p(rest, ~self.covered & ~child) <= _PLAIN and self._p(child, parent) > _PLAIN:
                return i
        return place

    def _by_itself(self, left: Array, chosen: list[int]) -> Array:
        """How significant the rows of each slice are without those set aside, or among those of a chosen one."""
        if not len(left):
            return np.array([])
        outside = self._p(self.rows.inside[left] & ~self.covered, ~self.covered)
        for place in chosen:
            held = self.rows.inside[place]
            within = ~(self.rows.inside[left] & ~held).any(-1)
            if within.any():
                outside[within] = self._p(self.rows.inside[left[within]], held)
        return outside

    def _explainers(self, chosen: list[int]) -> Array:
        """The chosen slice that holds the largest part of each one's rows."""
        size = self.rows.counts.sum(-1)
        shared = np.array([(self.rows.inside & self.rows.inside[place]) @ size for place in chosen])
        return np.array(chosen)[shared.argmax(0)] if chosen else np.array([])

    def _p(self, inside: Array, among: Array) -> Array:
        """The p-values of sets of rows among others that hold them."""
        return self.test.merged_p_values(self._table(inside), self._table(np.broadcast_to(among, inside.shape)))

    def _table(self, which: Array) -> SliceTable:
        sums = None
        if self.rows.sums is not None and self.rows.squares is not None:
            sums = np.concatenate([which @ self.rows.sums, which @ self.rows.squares], axis=-1)
        return SliceTable(which.astype(np.int64) @ self.rows.counts, sums)
