"""Clustered shares: what rules flag of rows in clusters, and how well whole clusters let its shares be known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.analysis.distributions import student_quantile
from steelyard.analysis.intervals.cluster_draws import ClassRows
from steelyard.analysis.intervals.rate_intervals import score_ends

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.intervals.rate_intervals import Ends


class KnownShares(NamedTuple):
    """The ends of four shares at each threshold, and how the shares go together."""

    low: Array
    high: Array
    correlations: Array

    def ends(self, possible: Array | tuple[bool, ...]) -> Ends:
        """The ends; of a share that is 0 by definition both are."""
        return np.where(possible, self.low, 0), np.where(possible, self.high, 0)


@dataclass(frozen=True, eq=False)
class ClusterHits:
    """Rows in clusters, and how many thresholds each reaches by either of two rules, so that it is flagged there."""

    positive: Array
    mass: Array
    clusters: Array
    reached: tuple[Array, Array]

    def known(self, thresholds: int, level: float, *, of_classes: bool) -> KnownShares:
        """The shares at each threshold of what either rule alone flags, out of each class or out of all rows."""
        sizes = np.repeat([self._sums(rows) for rows in (self.positive, ~self.positive)], 2, axis=0).T
        sizes = sizes if of_classes else np.repeat(self._sums()[:, None], 4, axis=1)
        each = [_known(self._at(i), sizes, level) for i in range(thresholds)]
        return KnownShares(*(np.array(parts) for parts in zip(*each, strict=True)))

    def prevalence(self, level: float) -> tuple[float, float]:
        """The ends of the prevalence."""
        low, high, _ = _known(self._sums(self.positive)[:, None], self._sums()[:, None], level)
        return float(low[0]), float(high[0])

    def _at(self, i: int) -> Array:
        """What either rule alone flags at a threshold, of each cluster: positives by each, negatives by each."""
        first, second = (reached > i for reached in self.reached)
        classes, alone = (self.positive, ~self.positive), (first & ~second, second & ~first)
        return np.stack([self._sums(rows & flagged) for rows in classes for flagged in alone], axis=-1)

    def _sums(self, rows: Array | float = 1.0) -> Array:
        """The mass of some rows in each cluster; a row has 1 in the mean, as the prior of clusters counts rows."""
        return np.bincount(self.clusters, self.mass * rows / self.mass.mean())


def _known(hits: Array, sizes: Array, level: float) -> tuple[Array, Array, Array]:
    """The ends and correlations of shares, given the hits and the size of each cluster on a first axis.

    Wilson's ends of the rows that the clusters are worth, by Student's t of how well that is known; one cluster alone
    shows no variation.
    """
    rows = ClassRows.of(hits, sizes)
    low, high = score_ends(rows.share, rows.worth, student_quantile((1 + level) / 2, rows.degrees))
    unknown = (sizes > 0).sum(0) < 2
    low, high = (np.where(unknown, np.nan, end) for end in (np.minimum(low, rows.share), np.maximum(high, rows.share)))
    moved = (hits - rows.share * sizes) / sizes.sum(0)
    spread = np.sqrt((moved**2).sum(0))
    scale = np.where(spread > 0, spread, np.inf)
    return low, high, np.where(np.eye(len(spread), dtype=bool), 1.0, moved.T @ moved / np.outer(scale, scale))
