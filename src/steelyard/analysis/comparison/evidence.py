"""Evidence: what the rows say of a difference: how far it scatters, its interval at any level, its tails."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from steelyard.analysis.distributions import normal_below
from steelyard.analysis.levels import tails

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.intervals.influence_spread import StudentSpread

FEWEST = 10  # draws beyond a value, below which a normal tail shows more than their number


class Evidence(Protocol):
    """What the rows say of a difference."""

    @property
    def error(self) -> float:
        """Its standard error."""

    @property
    def degrees(self) -> float:
        """The degrees of freedom of Student's t that the error is read with."""

    @property
    def undefined_share(self) -> float:
        """The share of the draws in which it is undefined."""

    def ends(self, level: float) -> tuple[float, float]:
        """The interval of that level."""

    def tail(self, limit: float, sign: int) -> float:
        """The one-sided p-value of a difference at the limit or below it; where the sign is -1, or above it."""


@dataclass(frozen=True)
class StudentEvidence:
    """A difference that scatters as Student's t, within the limits of the metric's range."""

    difference: float
    spread: StudentSpread
    limits: tuple[float, float]
    undefined_share: float = 0.0

    @property
    def error(self) -> float:
        """The root of the variance."""
        return math.sqrt(self.spread.variance)

    @property
    def degrees(self) -> float:
        """Those of the variance."""
        return self.spread.degrees

    def ends(self, level: float) -> tuple[float, float]:
        """The difference and the reach of t to either side."""
        reach = self.spread.reach(level)
        return max(self.difference - reach, self.limits[0]), min(self.difference + reach, self.limits[1])

    def tail(self, limit: float, sign: int) -> float:
        """The tail of t beyond the limit."""
        return self.spread.share_below(sign * (self.difference - limit))


@dataclass(frozen=True)
class DrawnEvidence:
    """A difference and what it is in draws of the rows."""

    difference: float
    drawn: Array
    degrees: float = math.inf  # draws of few units are as wide as Student's t already

    @property
    def error(self) -> float:
        """The spread of the draws."""
        return float(np.nanstd(self.drawn)) if np.isfinite(self.drawn).any() else math.nan

    @property
    def undefined_share(self) -> float:
        """The share of the draws without a value."""
        return float(np.isnan(self.drawn).mean())

    def ends(self, level: float) -> tuple[float, float]:
        """The quantiles of the draws."""
        low, high = drawn_ends(self.difference, self.drawn, tails(level))
        return float(low), float(high)

    def tail(self, limit: float, sign: int) -> float:
        """The share of the draws beyond the limit; a normal tail where they are few."""
        defined = np.count_nonzero(~np.isnan(self.drawn))
        beyond = np.count_nonzero(sign * (self.drawn - limit) <= 0)
        if beyond >= FEWEST or not defined or math.isnan(self.difference):
            return (beyond + 1) / (defined + 1) if defined and not math.isnan(self.difference) else math.nan
        distance = sign * (self.difference - limit)
        normal = float(normal_below(-distance / self.error)) if self.error else float(distance <= 0)
        return min(normal, FEWEST / defined)


def drawn_ends(difference: Array | float, drawn: Array, levels: tuple[float, float]) -> tuple[Array, Array]:
    """The quantiles of the draws on the last axis, which hold the difference between them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a metric that no draw defines has no interval
        low, high = np.nanquantile(drawn, levels, axis=-1)
    undefined = np.isnan(difference)
    ends = (np.fmin(low, difference), np.fmax(high, difference))
    return np.where(undefined, np.nan, ends[0]), np.where(undefined, np.nan, ends[1])
