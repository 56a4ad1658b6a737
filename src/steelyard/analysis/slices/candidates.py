"""Candidates: every conjunction of conditions with rows enough, and the rows of each outcome that it holds."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from steelyard.ingest.slice_rows import SliceTable
from steelyard.statistics.condition import Condition, Conjunction
from steelyard.statistics.feature_blocks import feature_blocks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array
    from steelyard.ingest.slice_rows import Codes, SliceCounter


@dataclass(frozen=True)
class Candidates:
    """Slices: the places of their features (-1 where there is none), their codes, and their rows by outcome.

    `last` is the last code of each condition: of a slice that joins neighbouring bins another one than its first.
    """

    features: Array
    codes: Array
    last: Array
    table: SliceTable
    whole: SliceTable

    def __len__(self) -> int:
        return len(self.features)

    def take(self, places: Array) -> Candidates:
        """Some of them."""
        sums = None if self.table.sums is None else self.table.sums[places]
        table = SliceTable(self.table.counts[places], sums)
        return Candidates(self.features[places], self.codes[places], self.last[places], table, self.whole)

    def joined(self, groups: Sequence[Sequence[int]]) -> Candidates:
        """Slices that join those of neighbouring bins, which share no row."""
        codes = np.array([self.codes[list(group)].min(0) for group in groups])
        last = np.array([self.last[list(group)].max(0) for group in groups])
        counts = np.array([self.table.counts[list(group)].sum(0) for group in groups])
        added = self.table.sums
        sums = None if added is None else np.array([added[list(group)].sum(0) for group in groups])
        features = self.features[[group[0] for group in groups]]
        return Candidates(features, codes, last, SliceTable(counts, sums), self.whole)

    def conditions(self, place: int) -> Codes:
        """The places of the features of one slice, each with its code, the first one of bins that are joined."""
        pairs = zip(self.features[place].tolist(), self.codes[place].tolist(), strict=True)
        return tuple((feature, code) for feature, code in pairs if feature >= 0)

    def members(self, place: int) -> list[Codes]:
        """The slices of single bins that one slice consists of."""
        last = dict(zip(self.features[place].tolist(), self.last[place].tolist(), strict=True))
        bins = [[(i, each) for each in range(code, last[i] + 1)] for i, code in self.conditions(place)]
        return list(product(*bins))

    def written(self, place: int, counter: SliceCounter) -> Conjunction:
        """The conditions of one slice as such."""
        ends = zip(self.members(place)[0], self.members(place)[-1], strict=True)
        known = [counter.features[i].conditions for i, _ in self.conditions(place)]
        pairs = [(of[first], of[last]) for of, ((_, first), (_, last)) in zip(known, ends, strict=True)]
        return Conjunction(tuple(a if a == b else Condition(a.feature, low=a.low, high=b.high) for a, b in pairs))


def count_candidates(
    counter: SliceCounter, conditions: int, least: int, denominators: Sequence[Sequence[int]]
) -> Candidates:
    """All slices of up to so many conditions in which each denominator, a set of outcomes, has the least rows.

    A slice that a condition leaves as it was is left out: the shorter one says the same. What is left out depends on
    the features and on the denominators, never on how well the classifier does.
    """
    sizes = [feature.size for feature in counter.features]
    parts = []
    whole = None
    for block, subsets in feature_blocks(sizes, conditions, counter.most_cells // counter.kinds).items():
        table = counter.table(block)
        whole = table.part(()) if whole is None else whole
        for subset in subsets:
            part = table.part([block.index(i) for i in subset])
            parts.append(_kept(part, subset, counter, conditions, least, denominators, whole))
    assert whole is not None  # noqa: S101 - there is a feature
    features, codes, counts, sums = (list(part) for part in zip(*parts, strict=True))
    added = None if sums[0] is None else np.concatenate(sums)
    coded = np.concatenate(codes)
    return Candidates(np.concatenate(features), coded, coded, SliceTable(np.concatenate(counts), added), whole)


def _kept(
    table: SliceTable,
    subset: Sequence[int],
    counter: SliceCounter,
    conditions: int,
    least: int,
    denominators: Sequence[Sequence[int]],
    whole: SliceTable,
) -> tuple[Array, Array, Array, Array | None]:
    """The slices of one set of features that are candidates."""
    read = sorted({kind for each in denominators for kind in each})
    rows = table.counts[..., read].sum(-1)
    keep = np.ones(rows.shape, dtype=bool)
    for axis in range(rows.ndim):
        keep &= rows < rows.sum(axis, keepdims=True)  # else the other conditions alone hold the same rows
    for kinds in denominators:
        trials = table.counts[..., list(kinds)].sum(-1)
        keep &= (trials >= least) & (whole.counts[list(kinds)].sum() - trials >= least)
    for axis, place in enumerate(subset):
        if counter.features[place].has_rest:
            keep[(slice(None),) * axis + (-1,)] = False
    places = np.argwhere(keep)
    pad = ((0, 0), (0, conditions - len(subset)))
    features = np.pad(np.tile(np.array(subset), (len(places), 1)), pad, constant_values=-1)
    codes = np.pad(places, pad, constant_values=-1)
    return features, codes, table.counts[keep], None if table.sums is None else table.sums[keep]
