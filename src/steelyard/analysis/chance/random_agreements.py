"""Random agreements: the right rows of a random predictor with the margins of a K x K table, drawn and bounded."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.analysis.intervals.draws import generator
from steelyard.statistics.sparse_matrix import MOST_DENSE_LABELS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard._types import Array

_MOST_DRAWS, _LEAST_DRAWS, _CELLS = 10_999, 1_999, 4_000_000
MOST_ROWS = 10**9  # what NumPy draws a hypergeometric number from
_MOST_PERMUTED = 100_000  # rows of very many classes that are permuted as often as is drawn
_ROWS_A_CELL = 8  # up to so many rows a cell it is quicker to permute the rows than to draw the cells


class Tails(NamedTuple):
    """The logarithms of the probabilities of as many agreements or more, and of as many or fewer, and the test."""

    log_better: float
    log_worse: float
    method: str


def agreement_tails(matrix: Array) -> Tails:
    """The agreements beside those of tables drawn with the same margins; a bound where it is below all of them."""
    true, predicted, agreements = matrix.sum(1), matrix.sum(0), int(matrix.trace())
    total = float(true.sum(dtype=np.float64))
    bound = _agreement_bound(agreements, float((true / total) @ predicted), total)
    if bound < -math.log(_MOST_DRAWS + 1):
        return Tails(bound, 0.0, "Chatterjee's upper bound over all permutations")
    if total >= MOST_ROWS or (len(true) > MOST_DENSE_LABELS and total > _MOST_PERMUTED):
        return normal_tails_of(matrix)
    drawn = drawn_agreements(true, predicted, generator(None))
    # The table itself is one of those that a random predictor may give, so that no p-value is 0 and each level holds.
    at_least, at_most = 1 + np.sum(drawn >= agreements), 1 + np.sum(drawn <= agreements)
    better, worse = (math.log(as_far / (1 + len(drawn))) for as_far in (at_least, at_most))
    return Tails(better, worse, f"permutation test of the agreements, {len(drawn):,} tables drawn")


def drawn_agreements(true: Array, predicted: Array, rng: np.random.Generator) -> Array:
    """The agreements of random tables with these margins, drawn as permuting the predictions gives them."""
    k, total = len(true), int(true.sum())
    draws = int(np.clip(_CELLS // k**2, _LEAST_DRAWS, _MOST_DRAWS))
    if total > _ROWS_A_CELL * k**2:
        return _by_cells(true, predicted, draws, rng)
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


def _by_cells(true: Array, predicted: Array, draws: int, rng: np.random.Generator) -> Array:
    rows = enumerate(_rows_by_cells(true, predicted, draws, rng))
    return np.asarray(sum(row[:, place] for place, row in rows))


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
    + 2 t)) at most, and falls short of it with exp(-t^2 / (4 E X)): of the agreements and of the disagreements,
    whichever is lower.
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
    spread = math.sqrt(max(variance, 0.0) * total * total / (total - 1))
    tails = normal_tails(float(matrix.trace()), total * both.sum(), spread)
    return Tails(*tails, "permutation z test of the agreements, approximate")


def normal_tails(statistic: float, mean: float, spread: float) -> tuple[float, float]:
    """The logarithms of both tails of a whole-numbered statistic that is about normal; 0 where it cannot vary."""
    from scipy.special import log_ndtr

    if not spread > 0:
        return 0.0, 0.0
    away = statistic - mean
    return float(log_ndtr((0.5 - away) / spread)), float(log_ndtr((0.5 + away) / spread))
