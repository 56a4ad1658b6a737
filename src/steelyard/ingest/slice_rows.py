"""Slice rows: rows coded by their features and by their outcome, and counted by sets of features in memory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array, Label
    from steelyard.ingest.feature_codes import CodedFeature

    Codes = tuple[tuple[int, int], ...]  # the place of each feature and its code: the conditions of a slice

MEMORY_CELLS = 60_000  # of a block's table, which then stays in the cache


class SliceTable(NamedTuple):
    """The rows of every combination of some features' codes and outcome, and the sum of their values."""

    counts: Array
    sums: Array | None = None

    def part(self, places: Sequence[int]) -> SliceTable:
        """The table of some of the features alone."""
        others = tuple(i for i in range(self.counts.ndim - 1) if i not in places)
        return SliceTable(self.counts.sum(others), None if self.sums is None else self.sums.sum(others))


class RowPatterns(NamedTuple):
    """The kinds of rows that lie in the same ones of some slices: in which, and how many of each outcome they are.

    `sums` and `squares` are of their values.
    """

    inside: Array  # slices x kinds of rows
    counts: Array  # kinds of rows x outcomes
    sums: Array | None = None
    squares: Array | None = None


class SliceCounter(Protocol):
    """Rows that can be counted by their features, wherever they live."""

    @property
    def features(self) -> tuple[CodedFeature, ...]:
        """The features with their conditions."""

    @property
    def kinds(self) -> int:
        """How many outcomes there are."""

    @property
    def label(self) -> Label:
        """The positive class."""

    @property
    def assumed(self) -> tuple[str, ...]:
        """What says who chose the positive class."""

    @property
    def most_cells(self) -> int:
        """How large a table may be."""

    def table(self, block: Sequence[int]) -> SliceTable:
        """The rows of every combination of codes of these features."""

    def patterns(self, slices: Sequence[Codes]) -> RowPatterns:
        """Which of these slices the rows lie in."""


@dataclass(frozen=True)
class SliceRows:
    """Rows in memory: a column of codes for each feature, the outcome of each row, how often it counts, its value."""

    features: tuple[CodedFeature, ...]
    codes: tuple[Array, ...]
    outcome: Array
    kinds: int
    label: Label = None
    times: Array | None = None
    values: Array | None = None
    most_cells: int = MEMORY_CELLS
    assumed: tuple[str, ...] = ()

    @cached_property
    def _outcome(self) -> Array:
        return self.outcome.astype(np.int32)

    def table(self, block: Sequence[int]) -> SliceTable:
        """The rows of every combination of codes of these features."""
        key = self._outcome.copy()
        shape = [self.kinds]
        for i in block:
            key *= np.int32(self.features[i].size)
            key += self.codes[i]
            shape.append(self.features[i].size)
        cells = int(np.prod(shape))
        counts = np.bincount(key, self.times, minlength=cells)
        sums = None if self.values is None else np.bincount(key, self.values, minlength=cells)
        whole = counts if self.times is None else np.rint(counts).astype(np.int64)
        laid = [None if part is None else np.moveaxis(part.reshape(shape), 0, -1) for part in (whole, sums)]
        return SliceTable(*laid)  # type: ignore[arg-type]  # counts are there

    def inside(self, conditions: Codes, rows: Array | None = None) -> Array:
        """Whether each row, or each of these, lies in a slice."""
        held = [self.codes[i] == code if rows is None else self.codes[i][rows] == code for i, code in conditions]
        return np.asarray(np.logical_and.reduce(held))

    def patterns(self, slices: Sequence[Codes]) -> RowPatterns:
        """Which of these slices the rows lie in: rows that lie in the same ones are found by a hash of which."""
        words = np.random.default_rng(0).integers(1, 2**63, size=len(slices), dtype=np.uint64)
        key = np.zeros(len(self.outcome), dtype=np.uint64)
        for word, conditions in zip(words, slices, strict=True):
            key[self.inside(conditions)] ^= word
        _, first, place = np.unique(key, return_index=True, return_inverse=True)
        cell, cells = place * self.kinds + self.outcome, len(first) * self.kinds
        shape = (len(first), self.kinds)
        counts = np.rint(np.bincount(cell, self.times, minlength=cells)).astype(np.int64).reshape(shape)
        inside = np.array([self.inside(conditions, first) for conditions in slices])
        if self.values is None:
            return RowPatterns(inside, counts)
        sums = [np.bincount(cell, self.values**power, minlength=cells).reshape(shape) for power in (1, 2)]
        return RowPatterns(inside, counts, *sums)
