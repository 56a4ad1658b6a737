"""Hypergeometric: the true positives of a random predictor with given margins, exact for any counts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard._types import Array

WHOLE_SUPPORT = 1_000_000  # as many values of tp are enumerated one and all; of more, those that can matter
_CHUNK = 1 << 17  # values of tp at a time, so that the cells of their tables stay in the cache


@dataclass(frozen=True)
class TruePositives:
    """The true positives of a random predictor with given margins: hypergeometric, and exact for any counts.

    scipy's goes by differences of log-gammas, which at 1e12 rows leave two digits, and sums tails to their end.
    """

    positives: int
    negatives: int
    flagged: int
    left: int

    @classmethod
    def of(cls, counts: Counts) -> TruePositives:
        """The random predictor with the margins of a table."""
        margins = (counts.positives, counts.negatives, counts.predicted_positives, counts.predicted_negatives)
        return cls(*map(int, margins))

    @property
    def total(self) -> int:
        """All rows."""
        return self.positives + self.negatives

    @property
    def low(self) -> int:
        """The fewest true positives there can be."""
        return max(0, self.flagged - self.negatives)

    @property
    def high(self) -> int:
        """The most true positives there can be."""
        return min(self.flagged, self.positives)

    @property
    def spread(self) -> float:
        """The standard deviation."""
        ways = self.positives * self.negatives * self.flagged * self.left
        return math.sqrt(ways / (self.total**2 * (self.total - 1)))

    @property
    def reach(self) -> int:
        """How far from the mean, or further out from a value, all but 1e-16 of the mass lies."""
        # 9 standard deviations hold that of a normal tail; the rest is for the longer tail of a Poisson's.
        return math.ceil(9 * self.spread) + 50

    def tables(self, tp: Array) -> Counts[Array]:
        """The tables with so many true positives."""
        return Counts.trusted(tp, self.positives - tp, self.flagged - tp, self.negatives - self.flagged + tp)

    def log_mass(self, tp: Array) -> Array:
        """The logarithm of the probability of so many true positives, as floats.

        By Loader's deviances: Stirling's leading terms cancel on paper, and what is left is small and exact.
        """
        rows, columns = (self.positives, self.negatives), (self.flagged, self.left)
        middle, over = divmod(self.positives * self.flagged, self.total)
        shift = (tp - middle) - over / self.total
        log = sum(map(_beyond_stirling, (*rows, *columns))) - _beyond_stirling(self.total)
        sides = ((rows[i] * columns[j] / self.total, 1 if i == j else -1) for i in (0, 1) for j in (0, 1))
        for cell, (expected, sign) in zip(self.tables(tp), sides, strict=True):
            off = np.maximum(sign * shift / np.where(expected, expected, 1.0), -1.0)
            entropy = (1 + off) * np.log1p(np.where(off > -1, off, 0.0))  # 0 log 0 is 0
            log = log - _beyond_stirling(cell) - expected * (entropy - off)
        return np.asarray(log)

    def likely(self) -> Array:
        """The values of tp that all but 1e-16 of the mass lies on, as floats."""
        if self.low == self.high:
            return np.array([float(self.low)])
        middle = self.positives * self.flagged // self.total
        first, last = max(self.low, middle - self.reach), min(self.high, middle + self.reach)
        return np.arange(first, last + 1, dtype=np.float64)

    def support(self, tp: int) -> Iterator[Array]:
        """The values of tp that can matter, in chunks: all, or of very many those near the mean or the observed."""
        if self.high - self.low < WHOLE_SUPPORT:
            return _chunks(self.low, self.high)
        middle = self.positives * self.flagged // self.total
        (a, b), (c, d) = ((max(self.low, k - self.reach), min(self.high, k + self.reach)) for k in sorted((middle, tp)))
        spans = [(a, d)] if c <= b else [(a, b), (c, d)]
        return (chunk for span in spans for chunk in _chunks(*span))

    def tails(self, tp: int) -> tuple[float, float]:
        """The logarithms of the probabilities of at least and of at most so many true positives."""
        if tp * self.total < self.positives * self.flagged:
            flipped = TruePositives(self.positives, self.negatives, self.left, self.flagged)
            upper, lower = flipped.tails(self.positives - tp)
            return lower, upper
        last = min(self.high, tp + self.reach)
        upper = min(0.0, log_sum(np.array([log_sum(self.log_mass(chunk)) for chunk in _chunks(tp, last)])))
        here = float(self.log_mass(np.array(tp, dtype=np.float64)))
        return upper, math.log(-math.expm1(upper) + math.exp(here)) if upper > here else 0.0


def _chunks(first: int, last: int) -> Iterator[Array]:
    """The whole numbers from first to last, some at a time."""
    for start in range(first, last + 1, _CHUNK):
        yield np.arange(start, min(last + 1, start + _CHUNK), dtype=np.float64)


def log_sum(logs: Array) -> float:
    """The logarithm of the sum of what these are the logarithms of."""
    top = logs.max(initial=-math.inf)
    return -math.inf if top == -math.inf else float(top + np.log(np.exp(logs - top).sum()))


_FIRST = np.array([0.0, *(math.lgamma(n + 1) - n * math.log(n) + n for n in range(1, 16))])


def _beyond_stirling(n: Array | int) -> Array:
    """The logarithm of n! less n log n - n, for whole n."""
    large = np.maximum(np.asarray(n, dtype=np.float64), 16)
    square = large * large
    series = (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / (1188 * square)) / square) / square) / square) / large
    return np.where(
        np.less(n, 16), _FIRST[np.minimum(n, 15).astype(np.int64)], 0.5 * np.log(2 * math.pi * large) + series
    )
