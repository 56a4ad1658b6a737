"""Candidates: every conjunction of conditions with rows enough, and the rows of each outcome that it holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.ingest.slice_rows import SliceTable
from steelyard.statistics.condition import Conjunction
from steelyard.statistics.feature_blocks import feature_blocks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array
    from steelyard.ingest.slice_rows import Codes, SliceCounter


@dataclass(frozen=True)
class Candidates:
    """Slices: the places of their features (-1 where there is none), their codes, and their rows by outcome."""

    features: Array
    codes: Array
    table: SliceTable
    whole: SliceTable

    def __len__(self) -> int:
        return len(self.features)

    def take(self, places: Array) -> Candidates:
        """Some of them."""
        sums = None if self.table.sums is None else self.table.sums[places]
        return Candidates(
            self.features[places], self.codes[places], SliceTable(self.table.counts[places], sums), self.whole
        )

    def conditions(self, place: int) -> Codes:
        """The places of the features of one slice, each with its code."""
        pairs = zip(self.features[place].tolist(), self.codes[place].tolist(), strict=True)
        return tuple((feature, code) for feature, code in pairs if feature >= 0)

    def written(self, place: int, counter: SliceCounter) -> Conjunction:
        """The conditions of one slice as such."""
        return Conjunction(tuple(counter.features[i].conditions[code] for i, code in self.conditions(place)))


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
    return Candidates(np.concatenate(features), np.concatenate(codes), SliceTable(np.concatenate(counts), added), whole)


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
