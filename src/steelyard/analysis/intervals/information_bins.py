"""Information bins: adjacent scores together, finest where outcomes say most, so that draws need not hold all rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.metrics.calibration import isotonic_curve
from steelyard.metrics.isotonic_curve import isotonic_shares
from steelyard.metrics.ranking import once

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.statistics.score_table import ScoreTable

_MOST_BINS, _APART = 128, 12


class ScoreBins(NamedTuple):
    """Adjacent scores together: their mean, the weight of the positives and of all, and how many rows all are worth."""

    scores: Array
    positives: Array
    weights: Array
    rows: float
    starts: Array  # the places of their first scores among all distinct ones, ascending

    @staticmethod
    def of(table: ScoreTable) -> ScoreBins:
        """Bins of about equal information s (1 - s), so that rare positives are kept apart, and of rows in part.

        The lowest and the highest scores, which the curve may follow one by one, are bins of their own.
        """
        return _bins_of_information(table)

    @classmethod
    def of_starts(cls, table: ScoreTable, starts: Array) -> ScoreBins:
        """Bins that start at these places of the distinct scores, ascending."""
        scores, positives, weights = _columns(table)
        sums = [np.add.reduceat(column, starts) for column in (positives, weights, weights * scores)]
        squares = sum(float(side.squares.sum()) for side in table.classes)
        return cls(sums[2] / sums[1], sums[0], sums[1], float(weights.sum()) ** 2 / squares, starts)

    @property
    def share(self) -> Array:
        """The isotonic share of positives of each bin."""
        return isotonic_shares(self.positives, self.weights)

    @property
    def prevalence(self) -> float:
        """The share of the positives in all bins."""
        return float(self.positives.sum() / self.weights.sum())

    def class_weights(self, prevalence: Array | float | None) -> tuple[Array | float, Array | float]:
        """The weight of a positive and of a negative row at the prevalence, or at each of several."""
        share = self.prevalence
        return (1.0, 1.0) if prevalence is None else (prevalence / share, (1 - prevalence) / (1 - share))

    def drawn(self, share: Array, draws: int, rng: np.random.Generator, *, fixed: bool = False) -> tuple[Array, Array]:
        """Draws of the rows and of the positives among them, of so much share; the rows may be held."""
        sizes = self.weights / self.weights.sum()
        rows = np.maximum(np.round(sizes * self.rows), 1).astype(np.int64)[None]
        rows = rows if fixed else rng.multinomial(max(round(self.rows), 1), sizes, size=draws)
        return rows, rng.binomial(rows, share, size=(draws, len(self.scores)))


@once
def _columns(table: ScoreTable) -> tuple[Array, Array, Array]:
    """The distinct scores, ascending, with the weight of the positives and of all rows."""
    curve = isotonic_curve(table)
    return curve.scores, np.diff(curve.positives), np.diff(curve.weights)


@once
def _bins_of_information(table: ScoreTable) -> ScoreBins:
    scores, _, weights = _columns(table)
    spread = weights * scores * (1 - scores)
    information, total = np.cumsum(spread), np.cumsum(weights)
    information = information / (information[-1] or 1.0) + total / total[-1]
    inner = np.searchsorted(information, np.arange(1, _MOST_BINS) / _MOST_BINS * information[-1], side="right")
    n, few = len(scores), min(len(scores), _APART)
    return ScoreBins.of_starts(
        table, np.unique(np.concatenate([np.arange(few), inner[inner < n], np.arange(n - few, n)]))
    )
