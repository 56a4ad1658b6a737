"""Permutations: what random predictions with given margins get right, exact for two classes, by draws for more."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.analysis.intervals.draws import generator
from steelyard.arrays.sparse import MOST_DENSE_LABELS
from steelyard.tables.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard._types import Array, Rng


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
    def standard_deviation(self) -> float:
        """That of the number of true positives."""
        ways = self.positives * self.negatives * self.flagged * self.left
        return math.sqrt(ways / (self.total**2 * (self.total - 1)))

    @property
    def reach(self) -> int:
        """How far from the mean, or further out from a value, all but 1e-16 of the mass lies."""
        # 9 standard deviations hold that of a normal tail; the rest is for the longer tail of a Poisson's.
        return math.ceil(9 * self.standard_deviation) + 50

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
        """The values of tp that all but 1e-16 of the mass lies on, as floats; of very many, as many spread evenly."""
        if self.low == self.high:
            return np.array([float(self.low)])
        middle = self.positives * self.flagged // self.total
        first, last = max(self.low, middle - self.reach), min(self.high, middle + self.reach)
        return np.arange(first, last + 1, max(1, (last - first) // WHOLE_SUPPORT), dtype=np.float64)

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


# ---------------------------------------------------------------- random agreements
# The right rows of a random predictor with the margins of a K x K table, drawn and bounded.


_MOST_AGREEMENTS, _LEAST_AGREEMENTS, _AGREEMENT_CELLS = 10_999, 1_999, 4_000_000
MOST_ROWS = 10**9  # what NumPy draws a hypergeometric number from
_MOST_PERMUTED = 100_000  # rows of very many classes that are permuted as often as is drawn
_ROWS_A_CELL = 8  # up to so many rows a cell it is quicker to permute the rows than to draw the cells


class Tails(NamedTuple):
    """The logarithms of the probabilities of as many agreements or more, and of as many or fewer, and the test."""

    log_better: float
    log_worse: float
    method: str


def agreement_tails(matrix: Array, draws: int | None = None, rng: Rng = None) -> Tails:
    """The agreements beside those of tables drawn with the same margins; a bound where it is below all of them."""
    true, predicted, agreements = matrix.sum(1), matrix.sum(0), int(matrix.trace())
    total = float(true.sum(dtype=np.float64))
    bound = _agreement_bound(agreements, float((true / total) @ predicted), total)
    if bound < -math.log(_MOST_AGREEMENTS + 1):
        return Tails(bound, 0.0, "Chatterjee's upper bound over all permutations")
    if total >= MOST_ROWS or (len(true) > MOST_DENSE_LABELS and total > _MOST_PERMUTED):
        return normal_tails_of(matrix)
    drawn = drawn_agreements(true, predicted, generator(rng), draws)
    # The table itself is one of those that a random predictor may give, so that no p-value is 0 and each level holds.
    at_least, at_most = 1 + np.sum(drawn >= agreements), 1 + np.sum(drawn <= agreements)
    better, worse = (math.log(as_far / (1 + len(drawn))) for as_far in (at_least, at_most))
    return Tails(better, worse, f"permutation test of the agreements, {len(drawn):,} tables drawn")


def drawn_agreements(true: Array, predicted: Array, rng: np.random.Generator, draws: int | None = None) -> Array:
    """The agreements of random tables with these margins, drawn as permuting the predictions gives them."""
    k, total = len(true), int(true.sum())
    draws = draws or int(np.clip(_AGREEMENT_CELLS // k**2, _LEAST_AGREEMENTS, _MOST_AGREEMENTS))
    if total > _ROWS_A_CELL * k**2:
        rows = enumerate(_rows_by_cells(true, predicted, draws, rng))
        return np.asarray(sum(row[:, i] for i, row in rows))
    labels = np.arange(k, dtype=np.int16 if k <= MOST_DENSE_LABELS else np.int32)
    permuted = rng.permuted(np.tile(np.repeat(labels, predicted), (draws, 1)), axis=1)
    return np.asarray((permuted == np.repeat(labels, true)).sum(1))


def drawn_tables(true: Array, predicted: Array, draws: int, rng: np.random.Generator) -> Array:
    """So many random tables with these margins, on a first axis, drawn as permuting the predictions gives them."""
    k, total = len(true), int(true.sum())
    if total > _ROWS_A_CELL * k**2:
        return np.stack(list(_rows_by_cells(true, predicted, draws, rng)), 1)
    permuted = rng.permuted(np.tile(np.repeat(np.arange(k), predicted), (draws, 1)), axis=1)
    cells = np.repeat(np.arange(k) * k, true) + permuted + np.arange(draws)[:, None] * k**2
    return np.bincount(cells.ravel(), minlength=draws * k**2).reshape(draws, k, k)


def _rows_by_cells(true: Array, predicted: Array, draws: int, rng: np.random.Generator) -> Iterator[Array]:
    """Each class takes its predictions from those left (Patefield 1981, Applied Statistics 30, 91-97)."""
    left = np.repeat(np.asarray(predicted, dtype=np.int64)[:, None], draws, axis=1)
    for size in true[:-1]:
        wanted, rest = np.full(draws, size, dtype=np.int64), left.sum(0)
        row = np.empty((draws, len(left)), dtype=np.int64)
        for column in range(len(left)):
            rest -= left[column]
            row[:, column] = taken = rng.hypergeometric(left[column], rest, wanted)
            left[column] -= taken
            wanted -= taken
        yield row
    yield left.T


def _agreement_bound(agreements: float, mean: float, total: float) -> float:
    """The logarithm of a bound on the probability of as many agreements or more, whatever the margins.

    Chatterjee (2007), Probability Theory and Related Fields 138, 305-321, for a sum X over a random permutation of
    numbers between 0 and 1: swapping two predictions at random changes X by d with n / 4 E d^2 <= X + E X, as d^2 is
    at most twice the sum of the four numbers it is of. So X exceeds its mean by t with probability exp(-t^2 / (4 E X
    + 2 t)) at most, and falls short of it by t with exp(-t^2 / (4 E X)) at most. The first is used on the agreements,
    the second on the disagreements, and the lower one counts.
    """
    more = agreements - mean
    if more <= 0:
        return 0.0
    return -float(more**2 / min(4 * mean + 2 * more, 4 * max(total - mean, 1e-300)))


def normal_tails_of(matrix: Array) -> Tails:
    """A z test of the diagonal's sum, with the mean and the variance it has over all permutations."""
    total = float(matrix.sum(dtype=np.float64))
    p, q = matrix.sum(1) / total, matrix.sum(0) / total
    both = p * q
    # Each agreement is hypergeometric; those of classes i and j have covariance n^2 / (n - 1) p_i q_i p_j q_j.
    variance = (both * (1 - p) * (1 - q)).sum() + both.sum() ** 2 - (both**2).sum()
    deviation = math.sqrt(max(variance, 0.0) * total * total / (total - 1))
    tails = normal_tails(float(matrix.trace()), total * both.sum(), deviation)
    return Tails(*tails, "permutation z test of the agreements, approximate")


def normal_tails(statistic: float, mean: float, standard_deviation: float) -> tuple[float, float]:
    """The logarithms of both tails of a whole-numbered statistic that is about normal; 0 where it cannot vary."""
    from scipy.special import log_ndtr

    if not standard_deviation > 0:
        return 0.0, 0.0
    difference = statistic - mean
    better, worse = (0.5 - difference) / standard_deviation, (0.5 + difference) / standard_deviation
    return float(log_ndtr(better)), float(log_ndtr(worse))
