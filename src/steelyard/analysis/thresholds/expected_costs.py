"""Expected costs: what acting on a model costs over the cost proportion, on which Murphy and cost curves are drawn.

The cost proportion is that of a false alarm out of a false alarm and a miss together, so it is the threshold at and
above which a true probability is worth acting on. Costs are twice the mean over the rows: over all proportions alike,
those of thresholds equal to the proportion have the Brier score as their mean (Shuford, Albert and Massengill 1966;
Schervish 1989), and those of the best thresholds the Brier score of the isotonic curve, which is the ROC convex hull.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.prevalence.class_shares import of_positives
from steelyard.analysis.thresholds.net_benefits import BenefitScale, FlaggedAlone
from steelyard.metrics.calibration import isotonic_curve

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.intervals.rate_intervals import Ends
    from steelyard.analysis.prevalence.estimated_prevalence import PrevalenceLike
    from steelyard.statistics.score_table import ScoreTable

_BELOW_1 = 1 - 2.0**-53  # where the odds of the last cost proportion are finite


@dataclass(frozen=True, eq=False)
class ExpectedCosts:
    """The shares of rows that are missed and falsely flagged, in each piece between two cost proportions.

    Piece i ends at the proportion `edges[i + 1]`, and rows that score `thresholds[i]` or more are flagged in it.
    """

    edges: Array
    misses: Array
    alarms: Array
    thresholds: Array

    @classmethod
    def at_own_thresholds(cls, table: ScoreTable) -> ExpectedCosts:
        """The costs of flagging the probabilities that reach the cost proportion."""
        counts, thresholds = table.counts, table.thresholds[::-1]
        return cls._of(thresholds[:-1], thresholds, counts.fn[::-1] / table.total, counts.fp[::-1] / table.total)

    @classmethod
    def at_best_thresholds(cls, table: ScoreTable) -> ExpectedCosts:
        """The costs of the threshold that is best at each cost proportion, for these rows: no other costs less."""
        curve, total = isotonic_curve(table), float(table.total)
        misses, weights = curve.positives[curve.ends], curve.weights[curve.ends]
        alarms = weights[-1] - misses[-1] - (weights - misses)
        thresholds = np.append(curve.scores, np.inf)[curve.ends]
        return cls._of(np.diff(misses) / np.diff(weights), thresholds, misses / total, alarms / total)

    @classmethod
    def _of(cls, inner: Array, thresholds: Array, misses: Array, alarms: Array) -> ExpectedCosts:
        edges = np.concatenate([[0.0], inner, [1.0]])
        wide = np.diff(edges) > 0  # a probability of 0 or 1 is itself the end
        return cls(np.append(edges[:-1][wide], 1.0), misses[wide], alarms[wide], thresholds[wide])

    @property
    def proportions(self) -> Array:
        """The ends of the pieces, from 0 to 1: each between two pieces twice, where the cost leaps."""
        return np.repeat(self.edges, 2)[1:-1]

    @property
    def values(self) -> Array:
        """The cost at each of these proportions."""
        x = self.proportions
        return np.asarray(2 * ((1 - x) * np.repeat(self.misses, 2) + x * np.repeat(self.alarms, 2)))

    @property
    def mean(self) -> float:
        """The area beneath, which is the mean over all cost proportions alike."""
        return float((np.diff(self.edges) * self.values.reshape(-1, 2).mean(1)).sum())

    def at(self, proportions: Array) -> Array:
        """The cost at some cost proportions."""
        piece = np.searchsorted(self.edges[1:-1], proportions)
        return np.asarray(2 * ((1 - proportions) * self.misses[piece] + proportions * self.alarms[piece]))

    def ends(
        self, table: ScoreTable, prevalence: PrevalenceLike | None, level: float, proportions: Array, pieces: Array
    ) -> Ends:
        """The interval of the cost at proportions of some pieces, of each alone: of what a perfect model would gain."""
        x = np.minimum(proportions, _BELOW_1)
        sizes, sample = (
            (table.positive.effective_size, table.negative.effective_size),
            table.positive.total / table.total,
        )
        scale = BenefitScale(x / (1 - x), sizes, float(sample), of_positives(table, prevalence), False, level)
        misses, alarms = self.misses[pieces] / scale.share, self.alarms[pieces] / (1 - scale.share)
        none, never, ever = np.zeros_like(x), x < 0, x >= 0
        possible = np.stack([x > 0, never, never, ever], axis=-1)  # at 0 all rows are flagged, so that none is missed
        rows = FlaggedAlone(np.stack([misses, none], axis=-1), np.stack([none, alarms], axis=-1), possible)
        gain = scale.gain(rows)
        return 2 * (1 - x) * gain.low, 2 * (1 - x) * gain.high
