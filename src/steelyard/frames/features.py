"""Features of rows: each as levels or bins of about equal rows, coded as small whole numbers and counted by sets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from math import prod
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from steelyard.frames.conditions import Condition

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard._types import Array, Label

    Block = tuple[int, ...]
    Codes = tuple[tuple[int, int], ...]  # the place of each feature and its code: the conditions of a slice


def feature_blocks(sizes: Sequence[int], order: int, most: int) -> dict[Block, list[Block]]:
    """Blocks of features with at most so many combinations of codes, and the sets of up to `order` that each counts.

    Counting a block counts all its parts. The greedy choice takes some 60 blocks of six for the 1,140 triples of 20.

    >>> feature_blocks([5, 5, 5], order=2, most=200)
    {(0, 1, 2): [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]}
    """
    features = range(len(sizes))
    order = min(order, len(sizes))
    missing = set(combinations(features, order))
    blocks: list[Block] = []
    while missing:
        block = _grown(set(min(missing)), features, sizes, missing, order, most)
        blocks.append(block)
        missing.difference_update(combinations(block, order))
    counted: dict[Block, list[Block]] = {block: [] for block in blocks}
    holders: dict[Block, Block] = {}
    for block in blocks:
        for size in range(1, order + 1):
            for part in combinations(block, size):
                holders.setdefault(part, block)
    for part, block in holders.items():
        counted[block].append(part)
    return counted


def _grown(block: set[int], features: range, sizes: Sequence[int], missing: set[Block], order: int, most: int) -> Block:
    """The block with as many features as fit, each the one that holds the most sets not yet counted."""
    while True:
        room = most // prod(sizes[i] for i in block)
        others = [i for i in features if i not in block and sizes[i] <= room]
        gains = [_gain(block, i, missing, order) for i in others]
        if not gains or max(gains) == 0:
            return tuple(sorted(block))
        block.add(others[gains.index(max(gains))])


def _gain(block: set[int], feature: int, missing: set[Block], order: int) -> int:
    return sum(tuple(sorted((*part, feature))) in missing for part in combinations(block, order - 1))


# ---------------------------------------------------------------- feature codes


MOST_LEVELS = 20  # of a feature that stand for themselves; rarer ones are one condition together
_SLACK = 0.1  # how far the rows of a bin may be from their share, as a part of it, for the sake of a round number
_STEPS = 60
_DIGITS = (1, 2, 3, 4, 6)


@dataclass(frozen=True)
class CodedFeature:
    """A feature: the condition of each code; the code after the last is of rows that no condition holds."""

    name: str
    conditions: tuple[Condition, ...]
    has_rest: bool = True

    @property
    def size(self) -> int:
        """How many codes there are."""
        return len(self.conditions) + self.has_rest

    @property
    def is_binned(self) -> bool:
        """Whether it is of numbers in bins."""
        return any(condition.is_range for condition in self.conditions)

    def codes(self, values: Array) -> Array:
        """The code of each row of a column as `feature_values` gives it."""
        if values.dtype.kind != "f":
            book = {self._key(each): code for code, each in enumerate(self.conditions)}
            others = next((code for code, each in enumerate(self.conditions) if each.others), len(self.conditions))
            listed = (book.get(("", value), others) if value is not None else book.get("", -1) for value in values)
            codes = np.fromiter(listed, np.int16, len(values))
            return np.where(codes < 0, len(self.conditions), codes).astype(np.uint8)
        codes = np.full(len(values), len(self.conditions), dtype=np.uint8)
        missing = np.isnan(values)
        if self.is_binned:
            edges = [each.low for each in self.conditions if each.low is not None]
            codes = np.searchsorted(np.array(edges, dtype=np.float64), values, "right").astype(np.uint8)
        for code, condition in enumerate(self.conditions):
            if condition.others:
                codes[~missing & ~np.isin(values, np.array(condition.others, dtype=np.float64))] = code
            elif not condition.is_range and not condition.is_missing:
                codes[values == condition.level] = code
        gone = next((code for code, each in enumerate(self.conditions) if each.is_missing), len(self.conditions))
        codes[missing] = gone
        return codes

    @staticmethod
    def _key(condition: Condition) -> object:
        return "" if condition.is_missing else None if condition.others else ("", condition.level)


def binned_feature(name: str, edges: Sequence[float], missing: int, least: int) -> CodedFeature:
    """A feature of numbers in bins between these edges."""
    ends = [None, *edges, None]
    bins = [Condition(name, low=low, high=high) for low, high in pairwise(ends)] if edges else []
    gone = _missing(name, missing, least)
    return CodedFeature(name, (*bins, *gone), has_rest=missing > 0 and not gone)


def levels_feature(name: str, counts: Mapping[Label, int], least: int) -> CodedFeature:
    """A feature of levels: the most frequent ones of enough rows, the others pooled, and missing values."""
    missing = sum(rows for level, rows in counts.items() if level is None)
    there = {level: rows for level, rows in counts.items() if level is not None}
    frequent = sorted((level for level in there if there[level] >= least), key=lambda each: (-there[each], str(each)))
    kept = sorted(frequent[:MOST_LEVELS], key=lambda each: (isinstance(each, str), each))
    pooled = sum(there.values()) - sum(there[level] for level in kept)
    levels = [Condition(name, level=level) for level in kept]
    others = [Condition(name, others=tuple(kept))] if kept and pooled >= least else []
    gone = _missing(name, missing, least)
    rest = (pooled > 0 and not others) or (missing > 0 and not gone)
    return CodedFeature(name, (*levels, *others, *gone), has_rest=rest)


def _missing(name: str, rows: int, least: int) -> list[Condition]:
    return [Condition(name, is_missing=True)] if rows >= max(least, 1) else []


# ---------------------------------------------------------------- bins, at round numbers on every engine alike


class NumberColumns(Protocol):
    """Columns of numbers that can be asked how many rows lie below a value."""

    @property
    def rows(self) -> Array:
        """The finite numbers of each column."""

    @property
    def ends(self) -> tuple[Array, Array]:
        """The least and the largest finite number of each column."""

    def below(self, values: Array) -> Array:
        """How many numbers of each column lie below its values: columns x values."""

    def least_from(self, values: Array) -> Array:
        """The least number of each column that is not below its values."""


@dataclass(frozen=True)
class MemoryColumns:
    """Columns of finite numbers in memory, and how many rows each stands for; counted, as sorting takes longer."""

    values: Sequence[Array]
    times: Sequence[Array | None]

    @property
    def rows(self) -> Array:
        """The numbers of each column."""
        pairs = zip(self.values, self.times, strict=True)
        return np.array([len(column) if times is None else times.sum() for column, times in pairs])

    @property
    def ends(self) -> tuple[Array, Array]:
        """The least and the largest number of each column."""
        return np.array([column.min() for column in self.values]), np.array([column.max() for column in self.values])

    def below(self, values: Array) -> Array:
        """How many numbers of each column lie below its values."""
        parts = zip(self.values, self.times, values, strict=True)
        return np.array([[_count(column < value, times) for value in asked] for column, times, asked in parts])

    def least_from(self, values: Array) -> Array:
        """The least number of each column that is not below its values, or its largest one."""
        parts = zip(self.values, values, strict=True)
        return np.array([[column[column >= value].min(initial=column.max()) for value in at] for column, at in parts])


def _count(which: Array, times: Array | None) -> float:
    return float(np.count_nonzero(which) if times is None else times[which].sum())


def bin_edges(columns: NumberColumns, bins: int) -> list[list[float]]:
    """The inner edges of about equally filled bins of each column: the roundest numbers that keep within the slack.

    >>> bin_edges(MemoryColumns([np.arange(1000.0)], [None]), 5)
    [[200.0, 400.0, 600.0, 800.0]]
    """
    shares = np.arange(1, bins) / bins
    rows, slack = columns.rows[:, None], _SLACK / bins
    low, high = (np.repeat(end[:, None], bins - 1, axis=1) for end in columns.ends)
    edge = np.full(low.shape, np.nan)
    for _ in range(_STEPS):
        middle = low / 2 + high / 2
        share = columns.below(middle) / rows
        fits = np.isnan(edge) & (np.abs(share - shares) <= slack)
        edge = np.where(fits, middle, edge)
        low, high = np.where(share < shares, middle, low), np.where(share < shares, high, middle)
        if not np.isnan(edge).any() or (high - low <= 1e-9 * (np.abs(low) + np.abs(high))).all():
            break
    jumps = np.isnan(edge)
    edge = _rounded(columns, edge, shares, slack) if not jumps.all() else edge
    if jumps.any():
        edge = np.where(jumps, _at_jumps(columns, low, shares), edge)
    first = columns.ends[0]
    return [sorted({float(v) + 0.0 for v in line if v > least}) for line, least in zip(edge, first, strict=True)]


def _rounded(columns: NumberColumns, edge: Array, shares: Array, slack: float) -> Array:
    """Each edge with as few digits as keep its share within the slack."""
    tried = np.stack([_significant(edge, digits) for digits in _DIGITS], -1)
    flat = columns.below(np.nan_to_num(tried).reshape(len(edge), -1)).reshape(tried.shape)
    fits = np.abs(flat / columns.rows[:, None, None] - shares[:, None]) <= slack
    place = fits.argmax(-1)
    chosen = np.take_along_axis(tried, place[..., None], -1)[..., 0]
    return np.where(fits.any(-1), chosen, edge)


def _significant(values: Array, digits: int) -> Array:
    """The numbers with so many significant digits."""
    texts = [f"{value:.{digits - 1}e}" for value in values.ravel().tolist()]
    return np.array([float(text) for text in texts]).reshape(values.shape)


def _at_jumps(columns: NumberColumns, low: Array, shares: Array) -> Array:
    """Where many rows share one number: that number or the next one, whichever leaves the share nearer."""
    number = columns.least_from(low)
    after = columns.least_from(np.nextafter(number, np.inf))
    rows = columns.rows[:, None]
    off = [np.abs(columns.below(edge) / rows - shares) for edge in (number, after)]
    return np.where(off[0] <= off[1], number, after)


# ---------------------------------------------------------------- slice rows


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
