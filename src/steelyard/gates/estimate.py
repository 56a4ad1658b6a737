"""Estimate: a metric or a difference with its interval, which a rule reads at the level that it needs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from steelyard.analysis.distributions import normal_below, normal_reach
from steelyard.analysis.intervals.intervals import interval

if TYPE_CHECKING:
    from steelyard.analysis.comparison.paired_difference import Difference
    from steelyard.analysis.intervals.interval import Interval
    from steelyard.analysis.prevalence.estimated_prevalence import PrevalenceLike
    from steelyard.evaluation.metric_row import MetricRow
    from steelyard.metrics.spec import MetricSpec
    from steelyard.statistics.confusion import Confusion
    from steelyard.statistics.score_table import ScoreTable


_NEAR_END = 0.02  # of the range: nearer to an end the share of rows that may change is not known from the value


@dataclass(frozen=True)
class Estimate:
    """A value, its interval at a level, and why it is undefined; of a difference both values and the p-value of 0.

    Where there is a table the interval of another level is made from it; of a difference, of clusters and of label sets
    the interval is widened as that of a normal distribution is.
    """

    spec: MetricSpec
    value: float
    low: float
    high: float
    level: float
    why: str | None = None
    table: Confusion | ScoreTable | None = None
    prevalence: PrevalenceLike | None = None
    design: str = "random"
    p_value: float | None = None
    values: tuple[float, float] | None = None
    own_error: float = math.nan  # of a difference: the standard error of the first model alone

    @classmethod
    def of_row(cls, row: MetricRow, level: float) -> Estimate:
        """That of a row of an evaluation."""
        return cls(row.spec, row.value, row.low, row.high, level, row.undefined or row.no_interval)

    @classmethod
    def of_interval(cls, row: Interval) -> Estimate:
        """That of one model of a comparison."""
        return cls(row.spec, float(row.value), float(row.low), float(row.high), row.level, row.why)

    @classmethod
    def of_difference(cls, row: Difference, level: float, own: Estimate | None = None) -> Estimate:
        """That of a difference of two models, of which the first has an estimate of its own."""
        alone = math.nan if own is None else own.error
        ends, values = (row.low, row.high, level, row.why), (row.value_a, row.value_b)
        return cls(row.spec, row.difference, *ends, p_value=row.p_value, values=values, own_error=alone)

    @property
    def error(self) -> float:
        """The standard error that the width of the interval is that of."""
        return (self.high - self.low) / (2 * normal_reach(self.level))

    def at(self, level: float) -> Estimate:
        """The same with its interval at another level."""
        if math.isclose(level, self.level, rel_tol=1e-12) or math.isnan(self.low):
            return self
        if self.table is not None:
            return self.from_table(self.table, level)
        wider = normal_reach(level) / normal_reach(self.level)
        least, most = self._range
        low = max(self.value - wider * (self.value - self.low), least)
        high = min(self.value + wider * (self.high - self.value), most)
        if self.p_value is not None and self.p_value > 1 - level:  # the test does not reject 0 at this level
            low, high = min(low, 0.0), max(high, 0.0)
        return replace(self, low=low, high=high, level=level)

    def from_table(self, table: Confusion | ScoreTable, level: float) -> Estimate:
        """The same with its interval made anew from its table."""
        ends = interval(self.spec, table, level=level, prevalence=self.prevalence, design=self.design)
        return replace(self, low=float(ends.low), high=float(ends.high), level=level)

    @property
    def _range(self) -> tuple[float, float]:
        """What the value may be."""
        least, most = self.spec.metric.of_many_columns.range
        return (least, most) if self.values is None else (least - most, most - least)

    def chance_beyond(self, distance: float, drop: float = 0.0) -> float | None:
        """How often an end of the interval does not reach a limit at that distance from the true value.

        By a drop rows change sides that both models had alike, so that the difference scatters more than it does here:
        by as much as the share of such rows would, read from the error of the one model. Without it a drop of 10 points
        of recall would be stated to be caught in 90 % of runs, and is in 79 %.
        """
        if not self.error > 0:
            return None
        error = math.hypot(self.error, self._added_error(drop) if drop else 0.0)
        return float(normal_below(distance / error - normal_reach(self.level)))

    def _added_error(self, drop: float) -> float:
        """What a drop adds to the standard error of the difference."""
        least, most = self.spec.metric.of_many_columns.range
        if self.values is None or not math.isfinite(most - least) or not self.own_error > 0:
            return 0.0
        share, changed = (self.values[0] - least) / (most - least), drop / (most - least)
        share = min(max(share, _NEAR_END), 1 - _NEAR_END)
        return self.own_error * math.sqrt(changed * (1 - changed) / (share * (1 - share)))
