"""Statements: overlapping and nested discoveries merged into the simplest slices that explain the others."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from steelyard.analysis.results.result import Rows
from steelyard.analysis.slices.count_tests import RateTest
from steelyard.analysis.slices.slices_result import FoundSlice
from steelyard.frames.features import SliceTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array
    from steelyard.analysis.slices.count_tests import SliceTest
    from steelyard.analysis.slices.slices import Candidates, Discoveries
    from steelyard.frames.features import CodedFeature, Codes, RowPatterns, SliceCounter


_PLAIN = 0.05  # a p-value above which what is left of a slice is as good as the rest


class MergeTest(Protocol):
    """A test of the rows of a slice that are left against those outside it."""

    def merged_p_values(self, inside: SliceTable, whole: SliceTable) -> Array:
        """The p-values of slices, each within the rows that go with it."""


class SliceStatement(NamedTuple):
    """A slice that stands for itself, or several in neighbouring bins, and the indices of the others it explains."""

    indices: tuple[int, ...]
    explained: tuple[int, ...]


@dataclass
class Merger:
    """Discoveries in the order of their p-values, their conditions, and the kinds of rows that lie in them."""

    test: MergeTest
    features: Sequence[CodedFeature]
    slices: Sequence[Codes]
    p_values: Array
    rows: RowPatterns
    unit: float  # the false discovery rate over the tests, which allows k statements p-values of k times as much
    chosen: list[tuple[int, ...]] = field(init=False, default_factory=list)
    covered: Array = field(init=False)
    _worse_parts: dict[int, Array] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.covered = np.zeros(self.rows.inside.shape[1], dtype=bool)

    def statements(self, most: int) -> tuple[list[SliceStatement], int]:
        """The slices that explain the others, at most so many, and how many discoveries they leave unexplained.

        The most significant one first whose rows are worse without those that other discoveries explain, or the
        shorter slice that holds it and is as bad throughout, with those in the bins beside it that are as bad. Then
        the rows that it holds are set aside, and of the others only what is still worse by itself comes next.
        """
        chosen = self.chosen
        left, strength = np.arange(len(self.slices)), self.p_values
        while len(left) and len(chosen) < most:
            ordered = left[np.argsort(strength, kind="stable")].tolist()
            best = self._simplest(next((i for i in ordered if self._is_cause(i)), ordered[0]))
            chosen.append(self._with_neighbours(best, ordered))
            self.covered |= self._inside(chosen[-1])
            left = left[~np.isin(left, chosen[-1])]
            strength = self._by_itself(left)
            worse = strength <= self._limit
            left, strength = left[worse], strength[worse]
        stated = {i for group in chosen for i in group}
        # Each of the others is explained by the chosen slice that holds the largest part of its rows.
        size = self.rows.counts.sum(-1)
        shared = np.array([(self.rows.inside & self._inside(group)) @ size for group in chosen])
        explainer = shared.argmax(0) if chosen else np.array([])
        others = [i for i in range(len(self.slices)) if i not in stated]
        explained = [tuple(i for i in others if explainer[i] == number) for number in range(len(chosen))]
        return [SliceStatement(*each) for each in zip(chosen, explained, strict=True)], len(left)

    @property
    def _limit(self) -> float:
        """What the p-value of the next statement may be at most."""
        return self.unit * (len(self.chosen) + 1)

    def _is_cause(self, index: int) -> bool:
        """Whether a slice would be a statement without those of its parts, within other discoveries, that are worse."""
        inside, worse = self.rows.inside[index] & ~self.covered, self._worse_part(index)
        if not (inside & worse).any():
            return True
        return bool(self._p(inside & ~worse, ~self.covered & ~(inside & worse)) <= self._limit)

    def _worse_part(self, index: int) -> Array:
        """The rows of a slice that lie in discoveries within which it is worse than in the rest, again and again."""
        if index not in self._worse_parts:
            part = np.zeros(len(self.covered), dtype=bool)
            more = self._worse_within(np.flatnonzero(self.rows.inside[index]))
            while more.any():
                part |= more
                more = self._worse_within(np.flatnonzero(self.rows.inside[index] & ~part))
            self._worse_parts[index] = part
        return self._worse_parts[index]

    def _worse_within(self, kinds: Array) -> Array:
        """Those of some kinds of rows that lie in discoveries within which they are worse than the others of them."""
        part = np.zeros(len(self.covered), dtype=bool)
        shared = self.rows.inside[:, kinds]
        shared = shared[shared.any(-1) & ~shared.all(-1)]
        if len(shared):
            worse = self._p(shared, np.ones(len(kinds), dtype=bool), kinds) <= _PLAIN / len(shared)
            part[kinds] = shared[worse].any(0)
        return part

    def _simplest(self, index: int) -> int:
        """The slice itself, or a discovery of fewer conditions that holds it and is as bad in the rest of it."""
        conditions = set(self.slices[index])
        shorter = [i for i, other in enumerate(self.slices) if set(other) < conditions]
        for i in sorted(shorter, key=lambda i: (len(self.slices[i]), self.p_values[i])):
            child, parent = self.rows.inside[index] & ~self.covered, self.rows.inside[i] & ~self.covered
            rest = parent & ~child
            as_bad = self._p(rest, ~self.covered & ~child) <= _PLAIN and self._p(child, parent) > _PLAIN
            if as_bad and self._is_cause(i):
                return i
        return index

    def _with_neighbours(self, index: int, left: Sequence[int]) -> tuple[int, ...]:
        """The slice with those of the bins beside it that are as bad, in the order of the bins."""
        group: tuple[int, ...] = (index,)
        while True:
            beside = (i for i in left if i not in group and self._are_beside((*group, i)))
            joined = next((i for i in beside if self._is_cause(i) and self._are_alike(group, i)), None)
            if joined is None:
                return tuple(sorted(group, key=lambda i: self.slices[i]))
            group = (*group, joined)

    def _are_beside(self, group: tuple[int, ...]) -> bool:
        """Whether slices differ in one condition alone, of neighbouring bins that are not all there are."""
        conditions = [set(self.slices[i]) for i in group]
        common = reduce(set.intersection, conditions)
        differing = sorted(pair for each in conditions for pair in each - common)
        features = {feature for feature, _ in differing}
        if len(differing) != len(group) or len(features) != 1:
            return False
        codes = [code for _, code in differing]
        known = self.features[features.pop()].conditions
        if codes != list(range(codes[0], codes[-1] + 1)) or not all(known[code].is_range for code in codes):
            return False
        return len(codes) < sum(each.is_range for each in known)

    def _are_alike(self, group: tuple[int, ...], index: int) -> bool:
        """Whether neither the slices of a group nor the one beside them are worse than all of them together."""
        parts = np.array([self._inside(group), self.rows.inside[index]])
        return bool((self._p(parts, np.asarray(parts.any(0))) > _PLAIN).all())

    def _inside(self, group: Sequence[int]) -> Array:
        """The rows that lie in any of some slices."""
        return np.asarray(self.rows.inside[list(group)].any(0))

    def _by_itself(self, left: Array) -> Array:
        """The p-value of each slice without the rows set aside; of one that lies in a chosen slice, among its rows."""
        if not len(left):
            return np.array([])
        p_values = self._p(self.rows.inside[left] & ~self.covered, ~self.covered)
        for group in self.chosen:
            explained = self._inside(group)
            within = ~(self.rows.inside[left] & ~explained).any(-1)
            if within.any():
                p_values[within] = self._p(self.rows.inside[left[within]], explained)
        return p_values

    def _p(self, inside: Array, among: Array, kinds: Array | slice = slice(None)) -> Array:
        """The p-values of sets of rows, of all kinds or of some, among others that hold them."""
        return self.test.merged_p_values(self._table(inside, kinds), self._table(among, kinds))

    def _table(self, which: Array, kinds: Array | slice) -> SliceTable:
        sums = None
        if self.rows.sums is not None and self.rows.squares is not None:
            sums = np.concatenate([which @ self.rows.sums[kinds], which @ self.rows.squares[kinds]], axis=-1)
        return SliceTable(which.astype(np.int64) @ self.rows.counts[kinds], sums)


# ---------------------------------------------------------------- found rows
# The discoveries as rows of the result, the statements that explain the others first.


MOST_KEPT = 1_000  # discoveries that are kept as rows
MOST_MERGED = 120  # discoveries that are merged into statements


def found_rows(
    counter: SliceCounter, test: SliceTest, candidates: Candidates, p_values: Array, found: Discoveries, most: int
) -> tuple[Rows[FoundSlice], int]:
    """The discoveries as rows, at most so many statements first, and how many discoveries no statement explains."""
    if not len(found.places):
        return Rows(), 0
    kept = candidates.take(found.places[: MOST_KEPT if isinstance(test, RateTest) else MOST_MERGED])
    strengths = p_values[found.places[: len(kept)]]
    conditions = [kept.conditions(i) for i in range(min(len(kept), MOST_MERGED))]
    patterns = counter.patterns(conditions)
    merger = Merger(test, counter.features, conditions, strengths[: len(conditions)], patterns, found.unit)
    statements, more = merger.statements(most)
    rows = _rows(counter, test, kept, strengths, found.adjusted, found.level)
    stated: list[FoundSlice] = []
    explained: dict[int, str] = {}
    alone = set()
    for each in statements:
        if len(each.indices) == 1:
            row = rows[each.indices[0]]
            alone.add(each.indices[0])
        else:  # neighbouring bins are counted together
            joined = kept.joined([each.indices])
            adjusted = np.array([max(rows[i].p_adjusted for i in each.indices)])
            (row,) = _rows(counter, test, joined, test.p_values(joined.table, joined.whole), adjusted, found.level)
            row = replace(row, joined=len(each.indices))
        stated.append(row)
        explained |= dict.fromkeys((*each.indices, *each.explained), row.slice)
    first = stated[0].slice
    others = [replace(row, explained_by=explained.get(i, first)) for i, row in enumerate(rows) if i not in alone]
    return Rows([*stated, *others]), more


def _rows(
    counter: SliceCounter, test: SliceTest, found: Candidates, p_values: Array, adjusted: Array, level: float
) -> list[FoundSlice]:
    """Slices as rows."""
    estimates = test.estimates(found, level)
    sizes = found.table.counts.sum(-1)
    shares = sizes / found.whole.counts.sum()
    return [
        FoundSlice(
            str(found.written(i, counter)),
            float(estimates.values[i]),
            float(estimates.low[i]),
            float(estimates.high[i]),
            float(estimates.elsewhere[i]),
            int(estimates.counts[i]),
            int(sizes[i]),
            float(shares[i]),
            float(estimates.errors[i]),
            float(p_values[i]),
            float(adjusted[i]),
        )
        for i in range(len(found))
    ]
