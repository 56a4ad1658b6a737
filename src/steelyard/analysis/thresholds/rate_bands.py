"""Rate bands: bounds of the recall and of the false positive rate that hold at all thresholds together.

Of each class the scores in order are, by the share of the population at or above them, uniform order statistics, so the
j-th of n has a Beta(j, n - j + 1) distribution, ties or not. All n lie between the quantiles of one local level with a
probability that depends on n alone (equal local levels: Berk and Jones 1979; Gontscharuk and Finner 2015): the bounds
at a threshold are those of Clopper and Pearson at that local level. The classes are independent: each holds with the
root of the level, both together with the level.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.polynomial.polynomial import polyval2d

from steelyard.analysis.distributions import beta_quantile
from steelyard.analysis.thresholds.class_curves import ClassWeights
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.metrics.metric import Metric
    from steelyard.statistics.class_scores import ClassScores
    from steelyard.statistics.score_table import ScoreTable

# The logarithm of how many independent one-sided bounds all n are worth, as a polynomial in log(n + 0.5) over itself
# plus 9 and in the logarithm of what each class may miss. Fitted to the exact probability (by a recursion over the
# Poisson process) at 1 to 300,000 rows and levels of 0.79 to 0.99996, and to its law beyond, linear in log n to 0.03 %:
# the local level is within 1.3 % of the exact one and made that much smaller, so 95 % is 95.00 to 95.13 %.
_WORTH = np.array(
    [
        [0.261472, 0.0462005, 0.00310962],
        [12.5203, -0.519411, -0.0436892],
        [-12.0853, -1.3855, 0.0497188],
        [8.09845, 4.19012, -0.0175685],
        [-0.929838, -2.70281, 0.0],
    ]
)
_SAFE, _MISSED = 0.987, (2e-5, 0.12)
_STEPS = np.linspace(0, 1, 9)  # along each side of a rectangle; a metric that rises or falls needs its ends alone
_NEAR = 1e-9  # how near to a rate of 0 or 1 a metric is read that is undefined there
_ENDLESS = 1e6


@dataclass(frozen=True, eq=False)
class RateBand:
    """The lowest and the highest recall and false positive rate at each of some thresholds, the highest first."""

    recall_low: Array
    recall_high: Array
    fpr_low: Array
    fpr_high: Array

    def at_fpr(self, fpr: Array) -> RateBand:
        """The recalls that the ROC curve may have at false positive rates."""
        first = np.searchsorted(self.fpr_high, fpr)
        last = np.searchsorted(self.fpr_low, fpr, side="right") - 1
        # Through tied scores the curve runs straight, between the lines through the corners of the rectangles.
        low = np.minimum(self.recall_low[first], np.interp(fpr, self.fpr_high, self.recall_low))
        high = np.maximum(self.recall_high[last], np.interp(fpr, self.fpr_low, self.recall_high))
        return RateBand(low, high, fpr, fpr)

    def at_recall(self, recall: Array) -> RateBand:
        """The false positive rates that the ROC curve may have at recalls."""
        first = np.searchsorted(self.recall_high, recall)
        last = np.searchsorted(self.recall_low, recall, side="right") - 1
        return RateBand(recall, recall, self.fpr_low[first], self.fpr_high[last])

    def ends(self, metric: Metric, total: float, *shares: float) -> tuple[Array, Array]:
        """The lowest and the highest value of a metric of so many rows in each rectangle, at some prevalences."""
        lows, highs = zip(*(self._ends_at(metric, share * total, (1 - share) * total) for share in shares), strict=True)
        return np.fmin.reduce(lows), np.fmax.reduce(highs)

    def _ends_at(self, metric: Metric, positives: float, negatives: float) -> tuple[Array, Array]:
        recall = self.recall_low + (self.recall_high - self.recall_low) * _STEPS[:, None, None]
        fpr = self.fpr_low + (self.fpr_high - self.fpr_low) * _STEPS[:, None]
        values = _values(metric, recall, fpr, positives, negatives)
        low, high = (pick.reduce(values, axis=(0, 1)) for pick in (np.fmin, np.fmax))
        if (open_ended := ~np.isfinite(values).all(axis=(0, 1))).any():
            near = _near_undefined(metric, recall[..., open_ended], fpr[..., open_ended], positives, negatives)
            low[open_ended] = np.fmin(low[open_ended], np.fmin.reduce(near))
            high[open_ended] = np.fmax(high[open_ended], np.fmax.reduce(near))
        return low, high


def rate_band(table: ScoreTable, level: float, places: Array | None = None) -> RateBand:
    """The band at each threshold of a table; with places, at those thresholds and from each on to the next."""
    first = np.arange(len(table.thresholds)) if places is None else places
    of = table.positive, table.counts.tp, table.thresholds, first, level
    others = table.negative, table.counts.fp, table.thresholds, first, level
    return RateBand(*_bounds(*of), *_bounds(*others))


def _bounds(scores: ClassScores, cells: Array, thresholds: Array, first: Array, level: float) -> tuple[Array, Array]:
    """The least share at or above a threshold by the rows at it, and the largest by those right before the next."""
    last = np.append(first[1:] - 1, len(cells) - 1)
    rows = scores.effective_size
    local, share = local_level(rows, level), cells / max(cells[-1], 1e-300)
    known = ClassWeights.of(scores).curve(thresholds, share, rows).known
    found, missed = (known * share)[first], (known * (1 - share))[last]
    low = np.where(found > 0, beta_quantile(local, np.maximum(found, 1e-9), known[first] - found + 1), 0.0)
    above = np.where(missed > 0, beta_quantile(local, np.maximum(missed, 1e-9), known[last] - missed + 1), 0.0)
    # No share falls from a threshold to a lower one, though single bounds of weighted rows may.
    return np.maximum.accumulate(low), np.minimum.accumulate((1 - above)[::-1])[::-1]


def local_level(rows: float, level: float) -> float:
    """The level of each single bound, to either side, with which those of all rows hold with the root of the level."""
    missed = min(-np.log(level) / 2, _MISSED[1])  # a lower level has the band of 0.79
    if missed < _MISSED[0]:
        return float(missed / (2 * max(rows, 1.0)))  # Bonferroni's, where the fit ends
    log_rows = np.log(max(rows, 1.0) + 0.5)
    return float(_SAFE * missed / np.exp(polyval2d(log_rows / (log_rows + 9), np.log(missed), _WORTH)))


def _values(metric: Metric, recall: Array, fpr: Array, p: float, n: float) -> Array:
    recall, fpr = np.broadcast_arrays(recall, fpr)
    return np.asarray(metric(Counts.trusted(recall * p, (1 - recall) * p, fpr * n, (1 - fpr) * n)), dtype=np.float64)


def _near_undefined(metric: Metric, recall: Array, fpr: Array, p: float, n: float) -> Array:
    """The values next to rates of 0 and 1, from all sides, where a metric may be undefined at them or endless."""
    nearby = [[np.clip(rate, near, 1 - near) for near in (0.0, _NEAR, _NEAR**2)] for rate in (recall, fpr)]
    pairs = [(a, b) for a in nearby[0] for b in nearby[1]][1:]
    near = np.concatenate([_values(metric, a, b, p, n).reshape(-1, recall.shape[-1]) for a, b in pairs])
    return np.where(np.abs(near) > _ENDLESS, np.copysign(np.inf, near), near)
