"""Limit parts: the rows out of which a bounded metric is a share, so that exact binomial bounds hold for it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from steelyard.statistics.counts import CELLS, Counts

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.thresholds.threshold_limits import Limit

_TABLES = np.random.default_rng(0).integers(1, 60, (len(CELLS), 32)).astype(np.float64)
_HALVINGS = 60
_EACH = 1_000.0  # rows of a part in a table that has a given rate


@dataclass(frozen=True)
class RatePart:
    """Hits out of trials: the cells of the hits, and those of the other trials.

    `order` says how the trials of one threshold are among those of another: "fixed" where they are the same rows at
    every threshold, "rising" where more of them as more rows are flagged, "falling" where fewer.
    """

    hits: tuple[str, ...]
    others: tuple[str, ...]
    order: Literal["fixed", "rising", "falling"]

    @property
    def is_of_class(self) -> bool:
        """Whether the trials are the rows of one class, so that the rate is the same at every prevalence."""
        return self.order == "fixed" and len(self.hits) == 1

    def trials(self, counts: Counts[Array]) -> tuple[Array, Array]:
        """The hits and the trials of each table."""
        hits, others = (sum(np.asarray(getattr(counts, cell)) for cell in cells) for cells in (self.hits, self.others))
        return np.asarray(hits), np.asarray(hits + others)

    def at_rate(self, rate: Array | float) -> Counts[Array]:
        """Tables with this rate, of which nothing else is known."""
        share = np.asarray(rate, dtype=np.float64)
        cells = {name: np.full_like(share, _EACH if len(self.hits) == 1 else 0.0) for name in CELLS}
        cells[self.hits[0]], cells[self.others[0]] = _EACH * share, _EACH * (1 - share)
        return Counts.trusted(*(cells[name] for name in CELLS))


_PARTS = (
    RatePart(("tp",), ("fn",), "fixed"),
    RatePart(("tn",), ("fp",), "fixed"),
    RatePart(("tp", "fp"), ("fn", "tn"), "fixed"),
    RatePart(("tp",), ("fp",), "rising"),
    RatePart(("tn",), ("fn",), "falling"),
)


@dataclass(frozen=True)
class RateLimit:
    """A limit on a metric that is a function of one rate: the rate is to be high enough, or low enough."""

    limit: Limit
    part: RatePart

    @cached_property
    def wants_high(self) -> bool:
        """Whether the limit asks for a high rate, and not for a low one."""
        return bool(self._holds_at(1.0))

    @property
    def divides(self) -> bool:
        """Whether some rates meet the limit and others do not."""
        return bool(self._holds_at(1.0)) != bool(self._holds_at(0.0))

    @cached_property
    def bound(self) -> float:
        """The rate from which on, or up to which, the limit is met."""
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            half = (low + high) / 2
            low, high = (low, half) if bool(self._holds_at(half)) == self.wants_high else (half, high)
        return high if self.wants_high else low

    def _holds_at(self, rate: float) -> Array:
        with np.errstate(all="ignore"):
            return self.limit.is_met(self.part.at_rate(rate))

    def broken_chance(self, hits: Array, trials: Array) -> Array:
        """The largest chance of as many hits, or as few, at any rate that breaks the limit: the exact binomial tail."""
        return (at_least if self.wants_high else at_most)(hits, trials, self.bound)

    def kept_chance(self, hits: Array | int, trials: Array | int) -> Array:
        """The largest chance of hits as far on the wrong side at any rate that keeps the limit: the other tail."""
        return (at_most if self.wants_high else at_least)(hits, trials, self.bound)


def at_least(hits: Array | int, trials: Array | int, rate: float) -> Array:
    """The chance of that many hits or more at a rate, for numbers of rows that need not be whole."""
    from scipy.special import betainc

    hits, trials = np.asarray(hits, np.float64), np.asarray(trials, np.float64)
    with np.errstate(invalid="ignore"):
        return np.where(hits > 0, betainc(np.maximum(hits, 1e-9), np.maximum(trials - hits + 1, 1e-9), rate), 1.0)


def at_most(hits: Array | int, trials: Array | int, rate: float) -> Array:
    """The chance of that many hits or fewer at a rate: that of the other rows at the other rate."""
    return at_least(np.asarray(trials, np.float64) - hits, trials, 1 - rate)


@lru_cache(maxsize=64)
def rate_limit(limit: Limit) -> RateLimit | None:
    """The limit as one on a rate; None where its metric is not a function of one rate alone."""
    tables = Counts.trusted(*_TABLES)
    with np.errstate(all="ignore"):
        values = limit.values(tables)
        for part in _PARTS:
            hits, trials = part.trials(tables)
            if np.allclose(values, limit.values(part.at_rate(hits / trials)), rtol=1e-9, atol=1e-12, equal_nan=True):
                found = RateLimit(limit, part)
                return found if found.divides else None
    return None
