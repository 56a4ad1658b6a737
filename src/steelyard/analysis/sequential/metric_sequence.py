"""MetricSequence: a metric of the four cells by the method that fits it: evidence, and ends that hold at every look.

A rate is bounded by beta mixtures, a ratio of sums of cells by betting, any other metric over the region of the rates
that determine it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.intervals.rate_intervals import is_rate
from steelyard.analysis.sequential import beta_mixture
from steelyard.analysis.sequential.joint_evidence import JointEvidence
from steelyard.analysis.sequential.linear_ratio import LinearRatio
from steelyard.analysis.sequential.rate_region import RateRegion
from steelyard.exceptions import InputError
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.intervals.rate_intervals import Ends
    from steelyard.metrics.metric import Metric
    from steelyard.metrics.spec import MetricSpec

SEQUENCE_METHODS = {
    "mixture": "beta-binomial mixture",
    "betting": "betting on the rows",
    "region": "region of the rates behind it",
}
_SMALLEST = 1e-12  # the p-value at which a search for it ends


@dataclass(frozen=True, eq=False)
class MetricSequence:
    """A metric and how it is followed: "mixture", "betting" or "region". Tables are arrays whose last axis is cells."""

    metric: Metric
    method: str
    ratio: LinearRatio | None

    @classmethod
    def of(cls, spec: MetricSpec) -> MetricSequence:
        """The method that fits; metrics of scores and of single classes are refused."""
        metric = spec.metric
        if metric.function is None:
            raise InputError(f"{spec.name} is of {metric.basis}; give a metric of predicted labels, such as recall.")
        if not spec.is_native:
            raise InputError(f"{spec.name} names classes; ask for {metric.name}, and name the class with pos_label=.")
        ratio = LinearRatio.of(metric)
        if ratio is None:
            return cls(metric, "region", None)
        return cls(metric, "mixture" if is_rate(metric) and (ratio.above <= 1).all() else "betting", ratio)

    def value(self, cells: Array) -> Array:
        """The metric of each table."""
        return np.asarray(self.metric(Counts.trusted(*np.moveaxis(np.asarray(cells, dtype=np.float64), -1, 0))))

    def ends(self, cells: Array, low_alpha: float, high_alpha: float) -> Ends:
        """Both ends at all looks together, each with its own error; an error of 0 gives the end of the range."""
        cells = np.asarray(cells, dtype=np.float64)
        value, (least, most) = self.value(cells), self.metric.range
        low, high = np.full(value.shape, least), np.full(value.shape, most)
        if low_alpha:
            low = self._end(cells, low_alpha, -1)
        if high_alpha:
            high = self._end(cells, high_alpha, 1)
        low, high = np.minimum(low, value), np.maximum(high, value)  # NaN where the value is
        return np.where(np.isnan(low), least, low), np.where(np.isnan(high), most, high)

    def _end(self, cells: Array, alpha: float, sign: int) -> Array:
        if self.ratio is None:
            return RateRegion.of(self.metric).extreme(cells, alpha, sign)
        if self.method == "mixture":
            bound = beta_mixture.highest_rate if sign > 0 else beta_mixture.lowest_rate
            return bound(*self._trials(cells), alpha)
        return self.ratio.highest(cells, alpha) if sign > 0 else -self.ratio.turned.highest(cells, alpha)

    def _trials(self, cells: Array) -> tuple[Array, Array]:
        """The hits and the misses of a rate."""
        assert self.ratio is not None  # noqa: S101 - a rate is one
        hits = cells @ self.ratio.above
        return hits, cells @ self.ratio.below - hits

    # ---------------------------------------------------------------- evidence

    def log_evidence(self, cells: Array, limit: float, sign: int) -> Array:
        """The logarithm of the evidence that the metric is below (sign 1) or above (-1) the limit; not of a region."""
        assert self.ratio is not None  # noqa: S101 - a region excludes values, and has no evidence for each
        if self.method == "betting":
            ratio = self.ratio
            return ratio.log_evidence_below(cells, limit) if sign > 0 else ratio.log_evidence_above(cells, limit)
        hits, misses = self._trials(cells)
        if sign > 0:
            return beta_mixture.log_evidence_below(hits, misses, limit)
        return beta_mixture.log_evidence_below(misses, hits, 1 - limit)

    def joint_evidence(self, limit: float, sign: int) -> JointEvidence | None:
        """Of a region: bets on all of its rates together, where it follows one of them."""
        return None if self.ratio is not None else JointEvidence.of(RateRegion.of(self.metric), limit, sign)

    def excluded(self, cells: Array, limit: float, sign: int, alpha: Array) -> Array:
        """Whether the region lies below (sign 1) or above (-1) the limit, each table with its own error.

        A region holds the metric's own value, so that tables on the right side of the limit need no region.
        """
        alpha = np.broadcast_to(alpha, cells.shape[:-1])
        result = sign * self.value(cells) < sign * limit
        region = RateRegion.of(self.metric)
        for value in (region.nearest, region.extreme):  # first inside the region, which costs little
            if result.any():
                result[result] = sign * value(cells[result], alpha[result], sign) < sign * limit
        return result

    def log_p(self, cells: Array, limit: float, sign: int) -> Array:
        """The logarithm of the least error with which each table excludes the limit; 0 where none does."""
        cells = np.asarray(cells, dtype=np.float64)
        if self.ratio is not None:
            return np.minimum(-self.log_evidence(cells, limit, sign), 0.0)
        low, high = np.full(cells.shape[:-1], np.log(_SMALLEST)), np.zeros(cells.shape[:-1])
        for _ in range(24):
            middle = (low + high) / 2
            excluded = self.excluded(cells, limit, sign, np.exp(middle))
            high, low = np.where(excluded, middle, high), np.where(excluded, low, middle)
        return high
