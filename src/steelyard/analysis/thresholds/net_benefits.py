"""Net benefits: what one rule gains over another at each threshold, with its interval.

A rule is a model at a threshold, flagging everybody, or flagging nobody. Only rows that one of two rules flags and the
other does not count; a net benefit is the gain over flagging nobody.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.analysis.distributions import normal_reach
from steelyard.analysis.intervals.linear_ends import linear_ends, multinomial_correlations
from steelyard.analysis.intervals.rate_intervals import score_ends
from steelyard.analysis.prevalence.estimated_prevalence import Prevalence
from steelyard.analysis.thresholds.clustered_shares import KnownShares

if TYPE_CHECKING:
    from typing import TypeAlias

    from steelyard._types import Array
    from steelyard.analysis.intervals.rate_intervals import Ends
    from steelyard.analysis.prevalence.estimated_prevalence import PrevalenceLike
    from steelyard.analysis.thresholds.clustered_shares import ClusterHits

    Possible: TypeAlias = tuple[bool, bool, bool, bool]

# What two rules may flag alone: of the positives the first and the second, of the negatives the first and the second.
ANY: Possible = (True, True, True, True)
OVER_NOBODY: Possible = (True, False, True, False)
OVER_EVERYBODY: Possible = (False, True, False, True)


class FlaggedAlone(NamedTuple):
    """The shares of each class that the first rule alone flags, and the second alone, at each threshold.

    What is not possible is 0 by definition, so that it adds nothing to an interval. Rows in clusters are known by them.
    """

    positives: Array
    negatives: Array
    possible: Possible | Array = ANY
    clusters: ClusterHits | None = None


class Benefit(NamedTuple):
    """A gain at each threshold, and the ends of its interval."""

    value: Array
    low: Array
    high: Array


@dataclass(frozen=True)
class BenefitScale:
    """What gains are read by: the odds of each threshold, the rows each class is worth, the prevalence, the level."""

    odds: Array
    sizes: tuple[float, float]  # of the positives and the negatives, in effective rows
    sample: float  # the prevalence of the sample
    prevalence: PrevalenceLike | None
    standardized: bool
    level: float
    clustered_sample: tuple[float, float] | None = None  # the ends of the sample's prevalence, of rows in clusters

    @property
    def share(self) -> float:
        """The prevalence that gains are read at."""
        return self.sample if self.prevalence is None else float(np.asarray(self.prevalence))

    def everybody(self) -> Array:
        """The net benefit of flagging everybody."""
        value = self.share - (1 - self.share) * self.odds
        return value / self.share if self.standardized else value

    def gain(self, rows: FlaggedAlone) -> Benefit:
        """The gain of the first rule over the second; no end lies beyond what any rows could give."""
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
            known = KnownShares(*self._ends(shares, sum(self.sizes)), multinomial_correlations(shares))
        else:
            known = rows.clusters.known(len(self.odds), self.level, of_classes=False)
        return Benefit(value, *linear_ends(value, weights, shares, known.ends(rows.possible), known.correlations))

    def _of_classes(self, rows: FlaggedAlone) -> Benefit:
        """Each class apart, at a prevalence that is known, estimated elsewhere or, to standardize, the sample's own."""
        weights, shares = self._coefficients(*self._factors(self.share)), np.concatenate(rows[:2], axis=-1)
        value = (weights * shares).sum(-1)
        if rows.clusters is None:
            known = self._known_of_classes(rows)
        else:
            known = rows.clusters.known(len(self.odds), self.level, of_classes=True)
        ends = linear_ends(value, weights, shares, known.ends(rows.possible), known.correlations)
        return Benefit(value, *self._with_prevalence(rows, value, ends))

    def _known_of_classes(self, rows: FlaggedAlone) -> KnownShares:
        """The shares of each class, whose rows are a sample of their own."""
        each = [self._ends(part, size) for part, size in zip(rows[:2], self.sizes, strict=True)]
        low, high = (np.concatenate(ends, axis=-1) for ends in zip(*each, strict=True))
        correlations = np.zeros((*low.shape, 4))
        for part, block in zip(rows[:2], (slice(0, 2), slice(2, 4)), strict=True):
            correlations[..., block, block] = multinomial_correlations(part)
        return KnownShares(low, high, correlations)

    def _with_prevalence(self, rows: FlaggedAlone, value: Array, ends: Ends) -> Ends:
        """The ends, further apart by what the prevalence may be where it is not known."""
        pi = self._possible()
        if pi is None:
            return ends
        hits, alarms = (part[..., 0] - part[..., 1] for part in rows[:2])
        shifted = [
            hits - alarms * self.odds * (1 - p) / p if self.standardized else p * hits - (1 - p) * alarms * self.odds
            for p in pi
        ]
        lower, upper = np.minimum(*shifted), np.maximum(*shifted)
        low = value - np.hypot(value - ends[0], np.maximum(value - lower, 0))
        return low, value + np.hypot(ends[1] - value, np.maximum(upper - value, 0))

    def _possible(self) -> tuple[float, float] | None:
        """The ends of the prevalence; None where it is known."""
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
        """What a share of the positives, and of the negatives, counts for at a prevalence."""
        factor = 1 / prevalence if self.standardized else 1.0
        return factor * prevalence, factor * (1 - prevalence)

    def _ends(self, shares: Array, trials: float) -> Ends:
        low, high = score_ends(shares, trials, normal_reach(self.level))
        return np.minimum(low, shares), np.maximum(high, shares)
