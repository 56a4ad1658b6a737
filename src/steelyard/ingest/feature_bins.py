"""Feature bins: where numbers are divided into bins of about equal rows, at round numbers, on every engine alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array

_SLACK = 0.1  # how far the rows of a bin may be from their share, as a part of it, for the sake of a round number
_STEPS = 60
_DIGITS = (1, 2, 3, 4, 6)


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
