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

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.intervals.rate_intervals import Ends
    from steelyard.analysis.prevalence.estimated_prevalence import PrevalenceLike


class FlaggedAlone(NamedTuple):
    """The shares of each class that the first rule alone flags, and the second alone, at each threshold."""

    positives: Array
    negatives: Array


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

    @property
    def share(self) -> float:
        """The prevalence that gains are read at."""
        return self.sample if self.prevalence is None else float(np.asarray(self.prevalence))

    def everybody(self) -> Array:
        """The net benefit of flagging everybody."""
        value = self.share - (1 - self.share) * self.odds
        return value / self.share if self.standardized else value

    def gain(self, rows: FlaggedAlone) -> Benefit:
        """The gain of the first rule over the second."""
        if self.prevalence is None and not self.standardized:
            return self._of_one_sample(rows)
        return self._of_classes(rows)

    def _of_one_sample(self, rows: FlaggedAlone) -> Benefit:
        """Rows as they come: the four shares are of all rows, and sum to no more than 1."""
        shares = np.concatenate([self.sample * rows.positives, (1 - self.sample) * rows.negatives], axis=-1)
        weights = self._coefficients(1.0, 1.0)
        value = (weights * shares).sum(-1)
        ends = self._ends(shares, sum(self.sizes))
        return Benefit(value, *linear_ends(value, weights, shares, ends, multinomial_correlations(shares)))

    def _of_classes(self, rows: FlaggedAlone) -> Benefit:
        """Each class apart, at a prevalence that is known, estimated elsewhere or, to standardize, the sample's own."""
        pi, factor = self.share, 1 / self.share if self.standardized else 1.0
        weights = self._coefficients(factor * pi, factor * (1 - pi))
        shares = np.concatenate(rows, axis=-1)
        value = (weights * shares).sum(-1)
        each = [self._ends(part, size) for part, size in zip(rows, self.sizes, strict=True)]
        low, high = (np.concatenate(ends, axis=-1) for ends in zip(*each, strict=True))
        correlations = np.zeros((*shares.shape, 4))
        for part, block in zip(rows, (slice(0, 2), slice(2, 4)), strict=True):
            correlations[..., block, block] = multinomial_correlations(part)
        ends = linear_ends(value, weights, shares, (low, high), correlations)
        return Benefit(value, *self._with_prevalence(rows, value, ends))

    def _with_prevalence(self, rows: FlaggedAlone, value: Array, ends: Ends) -> Ends:
        """The ends, further apart by what the prevalence may be where it is not known."""
        pi = self._possible()
        if pi is None:
            return ends
        hits, alarms = (part[..., 0] - part[..., 1] for part in rows)
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
        low, high = score_ends(self.sample, sum(self.sizes), normal_reach(self.level))
        return float(low), float(high)

    def _coefficients(self, positive: float, negative: float) -> Array:
        ones = np.ones_like(self.odds)
        gains, losses = positive * ones, negative * self.odds
        return np.stack([gains, -gains, -losses, losses], axis=-1)

    def _ends(self, shares: Array, trials: float) -> Ends:
        low, high = score_ends(shares, trials, normal_reach(self.level))
        return np.minimum(low, shares), np.maximum(high, shares)
