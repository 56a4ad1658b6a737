"""Cost curve: the normalized expected cost of the best threshold over the probability cost (Drummond and Holte 2006).

The probability cost PC(+) is the share of the positives in what errors could cost: prevalence x cost of a miss, over
that and (1 - prevalence) x cost of a false alarm. Costs are normalised by what being always wrong would cost, so the
curve has no prevalence of its own: it is twice the expected cost where both classes are as large, whose cost
proportion is 1 - PC(+).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.prevalence.prevalence import at_prevalence
from steelyard.analysis.thresholds.expected_costs import ExpectedCosts

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.intervals.rate_intervals import Ends
    from steelyard.analysis.thresholds.rate_bands import RateBand
    from steelyard.statistics.score_table import ScoreTable


def even_costs(table: ScoreTable) -> ExpectedCosts:
    """The costs of the best thresholds where both classes are as large, over 1 - PC(+)."""
    return ExpectedCosts.at_best_thresholds(at_prevalence(table, 0.5))


def cost_ends(band: RateBand, probability_cost: Array) -> Ends:
    """The least and the greatest cost of the best threshold, of the ROC curves in a band.

    Of the population the best threshold costs at least what the best corner of the band does, and at most what any
    threshold does by its worst corner, or flagging everybody or nobody.
    """
    x, trivial = probability_cost, np.minimum(probability_cost, 1 - probability_cost)
    least = x[:, None] * (1 - band.recall_high) + (1 - x[:, None]) * band.fpr_low
    most = x[:, None] * (1 - band.recall_low) + (1 - x[:, None]) * band.fpr_high
    return np.minimum(least.min(1), trivial), np.minimum(most.min(1), trivial)
