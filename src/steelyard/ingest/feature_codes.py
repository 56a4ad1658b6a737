"""Feature codes: each feature's levels or bins of about equal rows as conditions, and its rows as small integers."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

import numpy as np

from steelyard.statistics.condition import Condition

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard._types import Array, Label

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
            edges = [float(each.low) for each in self.conditions if each.low is not None]
            codes = np.searchsorted(np.array(edges), values, "right").astype(np.uint8)
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
