"""Score intervals: intervals of metrics of scores by the influence of their rows, with Student's t.

A metric between 0 and 1 gets Wilson's interval with as many trials as its variance is worth; a loss without an upper
limit gets one on the scale of its logarithm. Few rows show too little spread, and a perfect ranking none, so the
interval also holds those by the variances that half a row of each class more would give, were it anywhere among the
scores, and a part of a row at either end of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import exp, inf, isfinite, log, nan, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steelyard.analysis.distributions import student_reach
from steelyard.analysis.intervals.added_rows import with_added_rows
from steelyard.analysis.intervals.auc_intervals import AUC_INTERVALS, auc_ends
from steelyard.analysis.intervals.binned_scores import binned
from steelyard.analysis.intervals.cluster_scores import ClusterScores
from steelyard.analysis.intervals.influence_spread import ClassInfluence, StudentSpread, class_spread
from steelyard.analysis.intervals.own_precision import own_share
from steelyard.analysis.intervals.point_intervals import interval_of_highest, is_of_highest, widened
from steelyard.analysis.intervals.possible_shares import widened_by_prevalence
from steelyard.analysis.intervals.quantiles import quantiles
from steelyard.analysis.intervals.rate_intervals import score_ends
from steelyard.analysis.intervals.score_influence import has_influence, score_influence
from steelyard.analysis.intervals.searched_intervals import is_searched, searched_ends
from steelyard.analysis.prevalence.prevalence import positive_shares, scores_at
from steelyard.metrics import ranking
from steelyard.metrics.score_values import score_values
from steelyard.statistics.class_scores import ClassScores
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard._types import Array
    from steelyard.analysis.intervals.estimand import Estimand
    from steelyard.analysis.intervals.inference import ClusteredRows, Inference
    from steelyard.metrics.metric import Metric

    ReasonedEnds = tuple["_Ends", str | None]

MOST_BINS = 1_024  # scores of the rarer class that a variance keeps apart


class _Ends(NamedTuple):
    low: float
    high: float

    def joined(self, other: _Ends) -> _Ends:
        return _Ends(min(self.low, other.low), max(self.high, other.high))


@dataclass
class ScoreIntervals:
    """The tables that the variances of all metrics of one call are taken on."""

    inference: Inference
    asked: Sequence[Estimand] = ()
    clusters: ClusterScores | None = None  # the rows of the table that is asked of, where they are in clusters
    _tables: dict[int, tuple[ScoreTable, list[ScoreTable]]] = field(default_factory=dict)
    _spreads: dict[tuple[int, object, str], tuple[float, StudentSpread]] = field(default_factory=dict)

    def ends(self, estimand: Estimand, table: ScoreTable, method: str, value: float) -> tuple[float, float]:
        """The ends of the interval around the value of the whole table."""
        if method in AUC_INTERVALS:  # an AUC is the same at every prevalence
            return auc_ends(estimand.metric, table, method, self.inference.level)
        if not isfinite(value):
            return value, value
        metric, parameters, small = estimand.metric, estimand.parameters, self.tables(table)
        ends = self._of(metric, parameters, small, value)
        return widened_by_prevalence(ends, value, metric, parameters, binned(table, MOST_BINS), self.inference)

    def tables(self, table: ScoreTable) -> list[ScoreTable]:
        """The table with few distinct scores, and with parts of rows added, at the deployment prevalence."""
        if id(table) not in self._tables:
            small = binned(table, MOST_BINS)
            more = [] if ranking.missing(table) else with_added_rows(small)
            self._tables[id(table)] = table, [self._at_prevalence(part) for part in (small, *more)]
        return self._tables[id(table)][1]

    def cluster_ends(self, estimand: Estimand, table: ScoreTable, rows: ClusteredRows, value: float) -> ReasonedEnds:
        """The ends by the influence of whole clusters, or by draws of them where a metric has none; or why not."""
        if self.clusters is None or self.clusters.table is not table:
            self.clusters = ClusterScores.of(rows, table, self.inference)
        reason = self.clusters.unknown_variation(estimand.metric, estimand.parameters, fixed_shares=self._fixed_shares)
        if reason is not None:
            return _Ends(nan, nan), reason
        if has_influence(estimand.metric, table):
            return _Ends(*self.ends(estimand, table, "cluster", value)), None
        if is_searched(estimand.metric):  # which goes as far astray in clusters as the area does
            effect = self.clusters.widened(ranking.roc_auc, {}, StudentSpread(1.0, 1.0))
            ends = searched_ends(estimand.metric, estimand.parameters, table, value, self.inference, effect)
            return _Ends(*ends), None
        beside = [each for each in self.asked if each.table is table and not has_influence(each.metric, table)]
        low, high = quantiles(self.clusters.drawn_values(estimand, value, beside, self.inference), self.inference.tails)
        return _Ends(*widened(estimand, float(low), float(high), self.inference.level)), None

    def _of(
        self, metric: Metric, parameters: Mapping[str, Any], tables: list[ScoreTable], value: float
    ) -> tuple[float, float]:
        if metric.scores is ranking.mean_average_precision.scores:
            return self._of_mean(metric, tables, value)
        if is_of_highest(metric):
            level, fixed = self.inference.level, self._fixed_shares
            return interval_of_highest(metric, parameters, tables[0], value, level, fixed_shares=fixed)
        known = [self._known(metric, parameters, part) for part in tables]
        if metric.range in ((0, 1), (-1, 1)):
            return self._of_share(metric, parameters, tables[0], known, value)
        if metric.range[1] == 1:  # what a share of a loss leaves is a loss as well
            left = [(1 - at, spread) for at, spread in known]
            low, high = self._of_loss(tables[0], left, 1 - value)
            return 1 - high, 1 - low
        if not isfinite(metric.range[0]):
            return self._of_number(known[:2], value)
        low, high = self._of_loss(tables[0], known, value)
        return low, min(high, max(_worst_loss(tables[0]), value)) if metric.scores is ranking.log_loss.scores else high

    @property
    def _fixed_shares(self) -> bool:
        return self.inference.prevalence is not None or self.inference.keeps_class_sizes()

    def _of_mean(self, metric: Metric, tables: list[ScoreTable], value: float) -> tuple[float, float]:
        """From the intervals of both average precisions, with the correlation that their influences have (MOVER)."""
        parts = (ranking.average_precision, ranking.negative_average_precision)
        (one, a), (other, b) = (self._known(part, {}, tables[0]) for part in parts)
        both, error = 4 * self._known(metric, {}, tables[0])[1].variance, sqrt(a.variance * b.variance)
        alike = (both - a.variance - b.variance) / (2 * error) if 0 < error < inf else 1.0
        (low, high), (lower, upper) = (self._of(p, {}, tables, at) for p, at in zip(parts, (one, other), strict=True))
        down, up = (
            sqrt(max(x**2 + y**2 + 2 * alike * x * y, 0.0)) / 2
            for x, y in ((one - low, other - lower), (high - one, upper - other))
        )
        return value - down, value + up

    def _known(self, metric: Metric, parameters: Mapping[str, Any], table: ScoreTable) -> tuple[float, StudentSpread]:
        """The value on a table, and how far it scatters; of metrics that others are made of once."""
        key = (id(table), metric.scores, repr(parameters))
        if key in self._spreads:
            return self._spreads[key]
        influence = score_influence(metric, table, parameters)
        fixed = self._fixed_shares
        spread = StudentSpread(inf, 1.0) if influence is None else _spread(table, influence, fixed_shares=fixed)
        spread = spread if self.clusters is None else self.clusters.widened(metric, parameters, spread)
        self._spreads[key] = float(score_values(metric, table, parameters)), spread
        return self._spreads[key]

    def _of_share(
        self,
        metric: Metric,
        parameters: Mapping[str, Any],
        table: ScoreTable,
        known: list[tuple[float, StudentSpread]],
        value: float,
    ) -> tuple[float, float]:
        """Wilson's interval, between the least that the parameters allow and 1."""
        least = _least(metric, parameters)
        scaled = min(max((value - least) / (1 - least), 0.0), 1.0)
        used = known[:2] if metric.family == "calibration" and not metric.range[0] else known
        ends = _Ends(scaled, scaled)
        for at, spread in used:
            share = (at - least) / (1 - least)
            if 0 < share < 1 and 0 < spread.variance < inf:
                trials = share * (1 - share) * (1 - least) ** 2 / spread.variance
                reach = student_reach(self.inference.level, max(spread.degrees, 1.0))
                ends = ends.joined(_Ends(*map(float, score_ends(scaled, trials, reach))))
                if spread is known[1][1]:
                    lower = max(scaled - own_share(metric, table) / (1 - least), 0.0)
                    ends = ends.joined(_Ends(float(score_ends(lower, trials, reach)[0]), scaled))
        return least + (1 - least) * ends.low, least + (1 - least) * ends.high

    def _of_number(self, known: list[tuple[float, StudentSpread]], value: float) -> tuple[float, float]:
        """Around the value, as far as the wider of both spreads reaches; what nothing moves is known."""
        level, spreads = self.inference.level, [spread for _, spread in known if isfinite(spread.variance)]
        if not spreads:
            return -inf, inf
        reach = max(spread.reach(level) if spread.variance else 0.0 for spread in spreads)
        return value - reach, value + reach

    def _of_loss(
        self, table: ScoreTable, known: list[tuple[float, StudentSpread]], value: float
    ) -> tuple[float, float]:
        """On the scale of the logarithm; upwards at least as far as half a row more of each class would reach.

        Infinite where such a row would be given probability 0 often enough. Where the reach is longer than the loss, as
        of two or three clusters of a class, the factor grows with the reach and not with its exponential.
        """
        (at, spread), (more, wider) = known[:2]
        spread = spread if isfinite(spread.variance) else wider
        reach = student_reach(self.inference.level, max(spread.degrees, 1.0)) * sqrt(spread.variance)
        factor = (exp(reach / at) if reach < at else exp(1.0) * reach / at) if at > 0 else 1.0
        if isfinite(more):
            above = more + student_reach(self.inference.level, max(wider.degrees, 1.0)) * sqrt(wider.variance)
        else:
            above = inf if _sure_share(table) > self.inference.tails[0] else value
        return value / factor, max(value * factor, above)

    def _at_prevalence(self, table: ScoreTable) -> ScoreTable:
        prevalence = self.inference.prevalence
        return table if prevalence is None else scores_at(table, positive_shares(table, prevalence))


def _worst_loss(table: ScoreTable) -> float:
    """The log loss of rows that are all of the other class than the surest probability of the table has it."""
    ends = [float(end) for side in table.classes for end in (side.scores.min(), side.scores.max())]
    least = min(*ends, 1 - max(ends))
    return -log(least) if least > 0 else inf


def _sure_share(table: ScoreTable) -> float:
    """The share of rows that were given probability 0 or 1."""
    return float(
        sum(side.weights[(side.scores <= 0) | (side.scores >= 1)].sum() for side in table.classes) / table.total
    )


def _least(metric: Metric, parameters: Mapping[str, Any]) -> float:
    """The least value that a ranking can have: an area up to a false positive rate is scaled not to reach 0."""
    if not metric.is_rank_probability or not parameters.get("max_fpr"):
        return metric.range[0]
    worst = ScoreTable(ClassScores(np.zeros(1)), ClassScores(np.ones(1)))
    return float(score_values(metric, worst, parameters))


def _spread(table: ScoreTable, influence: tuple[Array, Array], *, fixed_shares: bool) -> StudentSpread:
    """How far the value scatters; where the shares of the classes are given, they do not move it."""
    classes = []
    for side, values in zip(table.classes, influence, strict=True):
        weights = side.weights.astype(np.float64)
        squares = weights if side.given_squares is None else side.squares.astype(np.float64)
        with np.errstate(invalid="ignore"):
            centre = float(weights @ values / weights.sum()) if fixed_shares else 0.0
        # A loss that is infinite has no centre, and scatters without bound wherever it is.
        classes.append(ClassInfluence(values - (centre if np.isfinite(centre) else 0.0), weights, squares))
    return class_spread(*classes)
