"""Costs: expected cost and net benefit at every threshold, with errors that cost by row.

A rule is a model at a threshold, flagging everybody, or flagging nobody. Only rows that one of two rules flags and the
other does not count; a net benefit is the gain over flagging nobody.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.analysis.distributions import normal_reach, student_quantile
from steelyard.analysis.intervals.draws import ClassRows
from steelyard.analysis.intervals.rate_intervals import linear_ends, multinomial_correlations, score_ends
from steelyard.analysis.prevalence.prevalence import Prevalence, at_prevalence, of_positives
from steelyard.metrics.calibration import isotonic_curve

if TYPE_CHECKING:
    from typing import TypeAlias

    from steelyard._types import Array
    from steelyard.analysis.intervals.rate_intervals import Ends
    from steelyard.analysis.prevalence.prevalence import PrevalenceLike
    from steelyard.analysis.thresholds.bands import RateBand
    from steelyard.tables.score_table import ScoreTable

    Possible: TypeAlias = tuple[bool, bool, bool, bool]


# ---------------------------------------------------------------- clustered shares
# What rules flag of rows in clusters, and how well whole clusters let its shares be known.


class KnownShares(NamedTuple):
    """The bounds of four shares at each threshold, and their correlations."""

    low: Array
    high: Array
    correlations: Array

    def bounds(self, possible: Array | tuple[bool, ...]) -> Ends:
        """The bounds, both 0 for a share that is 0 by definition."""
        return np.where(possible, self.low, 0), np.where(possible, self.high, 0)


@dataclass(frozen=True, eq=False)
class ClusterHits:
    """Rows in clusters, and how many thresholds each reaches by either of two rules, so that it is flagged there."""

    positive: Array
    weights: Array
    clusters: Array
    reached: tuple[Array, Array]

    def known(self, thresholds: int, level: float, *, of_classes: bool) -> KnownShares:
        """The shares at each threshold of what either rule alone flags, out of each class or out of all rows."""
        classes = (self.positive, ~self.positive)
        if of_classes:
            sizes = np.repeat([self._sums(rows) for rows in classes], 2, axis=0).T
        else:
            sizes = np.repeat(self._sums()[:, None], 4, axis=1)
        shares = []
        for i in range(thresholds):
            first, second = (reached > i for reached in self.reached)
            alone = (first & ~second, second & ~first)
            hits = np.stack([self._sums(rows & flagged) for rows in classes for flagged in alone], axis=-1)
            shares.append(_known(hits, sizes, level))
        return KnownShares(*(np.array(parts) for parts in zip(*shares, strict=True)))

    def prevalence(self, level: float) -> tuple[float, float]:
        """The bounds of the prevalence."""
        low, high, _ = _known(self._sums(self.positive)[:, None], self._sums()[:, None], level)
        return float(low[0]), float(high[0])

    def _sums(self, rows: Array | float = 1.0) -> Array:
        """The weight of some rows in each cluster; the mean weight is 1, as the prior of clusters counts rows."""
        return np.bincount(self.clusters, self.weights * rows / self.weights.mean())


def _known(hits: Array, sizes: Array, level: float) -> tuple[Array, Array, Array]:
    """The bounds and correlations of shares, given the hits and the size of each cluster on a first axis.

    Wilson's bounds by the effective number of rows, with Student's t for how well that number is known. One cluster
    alone shows no variation.
    """
    rows = ClassRows.of(hits, sizes)
    low, high = score_ends(rows.share, rows.effective_size, student_quantile((1 + level) / 2, rows.degrees))
    unknown = (sizes > 0).sum(0) < 2
    low = np.where(unknown, np.nan, np.minimum(low, rows.share))
    high = np.where(unknown, np.nan, np.maximum(high, rows.share))
    influence = (hits - rows.share * sizes) / sizes.sum(0)
    standard_error = np.sqrt((influence**2).sum(0))
    scale = np.where(standard_error > 0, standard_error, np.inf)
    correlations = influence.T @ influence / np.outer(scale, scale)
    return low, high, np.where(np.eye(len(scale), dtype=bool), 1.0, correlations)


# ---------------------------------------------------------------- net benefits


# What two rules may flag alone: of the positives the first and the second, of the negatives the first and the second.
ANY: Possible = (True, True, True, True)
OVER_NOBODY: Possible = (True, False, True, False)
OVER_EVERYBODY: Possible = (False, True, False, True)


class FlaggedAlone(NamedTuple):
    """The shares of each class that the first rule alone flags, and the second alone, at each threshold.

    What is not possible is 0 by definition, so that it adds nothing to an interval. `clusters` are there for rows in
    clusters.
    """

    positives: Array
    negatives: Array
    possible: Possible | Array = ANY
    clusters: ClusterHits | None = None


class Benefit(NamedTuple):
    """A gain at each threshold, and the bounds of its interval."""

    value: Array
    low: Array
    high: Array


@dataclass(frozen=True)
class BenefitScale:
    """What gains are read by: the odds of each threshold, the effective sizes, the prevalence, the level."""

    odds: Array
    sizes: tuple[float, float]  # of the positives and the negatives, in effective rows
    sample: float  # the prevalence of the sample
    prevalence: PrevalenceLike | None
    standardized: bool
    level: float
    clustered_sample: tuple[float, float] | None = None  # the bounds of the sample's prevalence, of rows in clusters

    @property
    def share(self) -> float:
        """The prevalence that gains are read at."""
        return self.sample if self.prevalence is None else float(np.asarray(self.prevalence))

    def everybody(self) -> Array:
        """The net benefit of flagging everybody."""
        value = self.share - (1 - self.share) * self.odds
        return value / self.share if self.standardized else value

    def gain(self, rows: FlaggedAlone) -> Benefit:
        """The gain of the first rule over the second; no bound lies beyond what any rows could give."""
        of_one_sample = self.prevalence is None and not self.standardized
        value, low, high = self._of_one_sample(rows) if of_one_sample else self._of_classes(rows)
        most = np.stack([self._coefficients(*self._factors(pi)) for pi in self._possible() or (self.share,)])
        most = most * np.asarray(rows.possible)
        least, highest = (part.sum(-1) for part in (np.minimum(most, 0), np.maximum(most, 0)))
        return Benefit(value, np.maximum(low, least.min(0)), np.minimum(high, highest.max(0)))

    def _of_one_sample(self, rows: FlaggedAlone) -> Benefit:
        """Rows as they come: the four shares are of all rows, and sum to no more than 1."""
        shares = np.concatenate([self.sample * rows.positives, (1 - self.sample) * rows.negatives], axis=-1)
        weights = self._coefficients(1.0, 1.0)
        value = (weights * shares).sum(-1)
        if rows.clusters is None:
            known = KnownShares(*self._bounds(shares, sum(self.sizes)), multinomial_correlations(shares))
        else:
            known = rows.clusters.known(len(self.odds), self.level, of_classes=False)
        return Benefit(value, *linear_ends(value, weights, shares, known.bounds(rows.possible), known.correlations))

    def _of_classes(self, rows: FlaggedAlone) -> Benefit:
        """Each class apart, at a prevalence that is known, estimated elsewhere or, to standardize, the sample's own."""
        weights, shares = self._coefficients(*self._factors(self.share)), np.concatenate(rows[:2], axis=-1)
        value = (weights * shares).sum(-1)
        if rows.clusters is None:
            positives, negatives = (self._bounds(part, n) for part, n in zip(rows[:2], self.sizes, strict=True))
            low, high = (np.concatenate(pair, axis=-1) for pair in zip(positives, negatives, strict=True))
            correlations = np.zeros((*low.shape, 4))  # the classes are samples of their own
            correlations[..., :2, :2] = multinomial_correlations(rows.positives)
            correlations[..., 2:, 2:] = multinomial_correlations(rows.negatives)
            known = KnownShares(low, high, correlations)
        else:
            known = rows.clusters.known(len(self.odds), self.level, of_classes=True)
        bounds = linear_ends(value, weights, shares, known.bounds(rows.possible), known.correlations)
        return Benefit(value, *self._with_prevalence(rows, value, bounds))

    def _with_prevalence(self, rows: FlaggedAlone, value: Array, bounds: Ends) -> Ends:
        """The bounds, further apart by what the prevalence may be if it is not known."""
        possible = self._possible()
        if possible is None:
            return bounds
        hits, alarms = (part[..., 0] - part[..., 1] for part in rows[:2])
        shifted = []
        for pi in possible:
            if self.standardized:
                shifted.append(hits - alarms * self.odds * (1 - pi) / pi)
            else:
                shifted.append(pi * hits - (1 - pi) * alarms * self.odds)
        lower, upper = np.minimum(*shifted), np.maximum(*shifted)
        low = value - np.hypot(value - bounds[0], np.maximum(value - lower, 0))
        return low, value + np.hypot(bounds[1] - value, np.maximum(upper - value, 0))

    def _possible(self) -> tuple[float, float] | None:
        """The bounds of the prevalence; None where it is known."""
        if isinstance(self.prevalence, Prevalence):
            return self.prevalence.interval(self.level)
        if self.prevalence is not None:
            return None
        if self.clustered_sample is not None:
            return self.clustered_sample
        low, high = score_ends(self.sample, sum(self.sizes), normal_reach(self.level))
        return float(low), float(high)

    def _coefficients(self, positive: float, negative: float) -> Array:
        ones = np.ones_like(self.odds)
        gains, losses = positive * ones, negative * self.odds
        return np.stack([gains, -gains, -losses, losses], axis=-1)

    def _factors(self, prevalence: float) -> tuple[float, float]:
        """The weight of a share of the positives, and of the negatives, at a prevalence."""
        factor = 1 / prevalence if self.standardized else 1.0
        return factor * prevalence, factor * (1 - prevalence)

    def _bounds(self, shares: Array, trials: float) -> Ends:
        low, high = score_ends(shares, trials, normal_reach(self.level))
        return np.minimum(low, shares), np.maximum(high, shares)


# ---------------------------------------------------------------- expected costs
# What acting on a model costs over the cost proportion, on which Murphy and cost curves are drawn.
#
# The cost proportion is that of a false alarm out of a false alarm and a miss together, so it is the threshold at and
# above which a true probability is worth acting on. Costs are twice the mean over the rows: over all proportions alike,
# those of thresholds equal to the proportion have the Brier score as their mean (Shuford, Albert and Massengill 1966;
# Schervish 1989), and those of the best thresholds the Brier score of the isotonic curve, which is the ROC convex hull.


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
        sizes = (table.positive.effective_size, table.negative.effective_size)
        sample = float(table.positive.total / table.total)
        scale = BenefitScale(x / (1 - x), sizes, sample, of_positives(table, prevalence), False, level)
        misses, alarms = self.misses[pieces] / scale.share, self.alarms[pieces] / (1 - scale.share)
        none, never, always = np.zeros_like(x), np.zeros(x.shape, dtype=bool), np.ones(x.shape, dtype=bool)
        possible = np.stack([x > 0, never, never, always], axis=-1)  # at 0 all rows are flagged, so that none is missed
        rows = FlaggedAlone(np.stack([misses, none], axis=-1), np.stack([none, alarms], axis=-1), possible)
        gain = scale.gain(rows)
        return 2 * (1 - x) * gain.low, 2 * (1 - x) * gain.high


# ---------------------------------------------------------------- cost curve
# The normalized expected cost of the best threshold over the probability cost (Drummond and Holte 2006).
#
# The probability cost PC(+) is the share of the positives in what errors could cost: prevalence x cost of a miss, over
# that and (1 - prevalence) x cost of a false alarm. Costs are normalised by what being always wrong would cost, so the
# curve has no prevalence of its own: it is twice the expected cost where both classes are as large, whose cost
# proportion is 1 - PC(+).


def even_costs(table: ScoreTable) -> ExpectedCosts:
    """The costs of the best thresholds where both classes are as large, over 1 - PC(+)."""
    return ExpectedCosts.at_best_thresholds(at_prevalence(table, 0.5))


def cost_bounds(band: RateBand, probability_cost: Array) -> Ends:
    """The least and the greatest cost of the best threshold, of the ROC curves in a band.

    Of the population the best threshold costs at least what the best corner of the band does, and at most what any
    threshold does by its worst corner, or flagging everybody or nobody.
    """
    x, trivial = probability_cost, np.minimum(probability_cost, 1 - probability_cost)
    least = x[:, None] * (1 - band.recall_high) + (1 - x[:, None]) * band.fpr_low
    most = x[:, None] * (1 - band.recall_low) + (1 - x[:, None]) * band.fpr_high
    return np.minimum(least.min(1), trivial), np.minimum(most.min(1), trivial)
