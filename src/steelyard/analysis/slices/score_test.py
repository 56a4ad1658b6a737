"""Score test: whether a metric of scores is worse inside a slice than its class sizes alone explain, by influences.

The influence of a row is how much the metric changes with it. The sum of a slice's influences is compared with that of
as many rows of each class drawn at random, by the saddlepoint, which holds far out in the tail.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.distributions import normal_below
from steelyard.analysis.intervals.intervals import interval
from steelyard.analysis.intervals.score_influence import score_influence
from steelyard.analysis.slices.estimates import Estimates
from steelyard.analysis.slices.findable import findable_sizes, normal_findable
from steelyard.analysis.slices.saddlepoint import Atoms, sum_variance, tail_above
from steelyard.exceptions import InputError
from steelyard.ingest.array_tables import score_table

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.results.rows import Rows
    from steelyard.analysis.slices.candidates import Candidates
    from steelyard.analysis.slices.slices_result import Findable
    from steelyard.ingest.slice_rows import SliceRows, SliceTable
    from steelyard.metrics.metric import Metric
    from steelyard.statistics.score_table import ScoreTable

_SCREEN = 1.5  # standard errors from which on a tail is computed; 1 stands for the others, which is cautious


@dataclass(frozen=True)
class ScoreTest:
    """A metric of scores on rows in memory: the outcome of a row is its class, its value how bad its influence is."""

    metric: Metric
    rows: SliceRows
    scores: Array

    counted, errors = "positives", ""

    @classmethod
    def of(cls, metric: Metric, rows: SliceRows, positive: Array, scores: Array) -> ScoreTest:
        """The test of a metric, whose rows have their influences as values."""
        table = score_table(positive, scores, pos_label=True, labels=[False, True])
        if not metric.fits_scores(table):
            raise InputError(f"{metric.name} needs probabilities from 0 to 1, which the scores are not; give such.")
        influence = score_influence(metric, table, metric.parameters)
        if influence is None:
            raise InputError(
                f"{metric.name} has no known influence of each row, by which slices of scores are tested; ask for "
                "roc_auc, brier or log_loss, or give a threshold and a metric of labels."
            )
        values = np.empty(len(scores))
        for which, side, each in zip((positive, ~positive), table.classes, influence, strict=True):
            values[which] = -metric.sign * each[np.searchsorted(side.distinct[0], scores[which])]
        outcome = np.where(positive, 0, 1).astype(np.uint8)
        return cls(metric, replace(rows, outcome=outcome, kinds=2, values=values), scores)

    @property
    def is_mean(self) -> bool:
        """Whether it is the mean of a loss of each row, whatever its class."""
        return self.metric.columns is not None and not self.metric.is_skill_of_columns

    @property
    def denominators(self) -> list[tuple[int, ...]]:
        """Rows of any class for a mean, else of each class."""
        return [(0, 1)] if self.is_mean else [(0,), (1,)]

    @property
    def least_of(self) -> str:
        """What a slice has the least number of."""
        return "rows" if self.is_mean else "rows of each class"

    @cached_property
    def classes(self) -> list[Atoms]:
        """The values of each class."""
        assert self.rows.values is not None  # noqa: S101 - the influences
        return [Atoms.of(self.rows.values[self.rows.outcome == kind]) for kind in (0, 1)]

    def value(self, whole: SliceTable) -> float:  # noqa: ARG002 - of the scores themselves
        """The metric of all rows."""
        return float(self.metric(self._table(np.ones(len(self.scores), dtype=bool))))

    def _table(self, which: Array) -> ScoreTable:
        positive = self.rows.outcome[which] == 0
        return score_table(positive, self.scores[which], pos_label=True, labels=[False, True])

    def _weights(self, sizes: Array, totals: Array) -> Array:
        """What a row of each class counts for in a slice of these sizes."""
        if self.is_mean:
            each = totals.sum(-1, keepdims=True) / np.maximum(sizes.sum(-1, keepdims=True), 1)
            return np.broadcast_to(each, sizes.shape)
        return np.asarray(totals / np.maximum(sizes, 1))

    def _sums(self, inside: SliceTable, whole: SliceTable) -> tuple[Array, Array]:
        """The weighted sum of each slice's values less the mean of their class, and the weights."""
        assert inside.sums is not None and whole.sums is not None  # noqa: S101 - of the influences
        sizes, totals = inside.counts, whole.counts
        weights = self._weights(sizes, totals)
        means = whole.sums[..., :2] / np.maximum(totals, 1)
        return (weights * (inside.sums[..., :2] - sizes * means)).sum(-1), weights

    def p_values(self, inside: SliceTable, whole: SliceTable) -> Array:
        """The probability of influences as bad or worse; 1 where they are not far off."""
        sums, weights = self._sums(inside, whole)
        spread = np.sqrt(sum_variance(inside.counts, weights, self.classes))
        far = np.flatnonzero(sums > _SCREEN * spread)
        p_values = np.ones(len(sums))
        p_values[far] = tail_above(sums[far], inside.counts[far], weights[far], self.classes)
        return p_values

    def merged_p_values(self, inside: SliceTable, whole: SliceTable) -> Array:
        """The same within rows that are left, whose sums are taken as normal."""
        assert inside.sums is not None and whole.sums is not None  # noqa: S101 - of the influences
        sums, weights = self._sums(inside, whole)
        totals = np.maximum(whole.counts, 1)
        variances = np.maximum(whole.sums[..., 2:] - whole.sums[..., :2] ** 2 / totals, 0) / np.maximum(totals - 1, 1)
        spread = np.sqrt((weights**2 * inside.counts * (1 - inside.counts / totals) * variances).sum(-1))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.nan_to_num(normal_below(-sums / spread), nan=1.0))

    def least_p_values(self, inside: SliceTable, whole: SliceTable) -> None:  # noqa: ARG002 - of a rate alone
        """Not known beforehand: every slice is tested."""
        return

    def estimates(self, kept: Candidates, level: float) -> Estimates:
        """The values with the default intervals at the level, and the values elsewhere."""
        held = [np.logical_or.reduce([*map(self.rows.inside, kept.members(i))]) for i in range(len(kept))]
        inside = [interval(self.metric, self._table(which), level=level) for which in held]
        elsewhere = np.array([float(self.metric(self._table(~which))) for which in held])
        values, low, high = np.array([[each.value, each.low, each.high] for each in inside]).T
        return Estimates(values, low, high, elsewhere, kept.table.counts[:, 0], np.full(len(kept), np.nan))

    def findable(self, whole: SliceTable, unit: float, least: int) -> Rows[Findable]:
        """How bad the metric must be in slices of so many positives, and as many negatives for each as in all rows."""
        positives = int(whole.counts[0])
        sizes = findable_sizes(positives, least)
        counts = np.array(sizes)[:, None] / positives * whole.counts
        spread = np.sqrt(sum_variance(counts, self._weights(counts, whole.counts), self.classes))
        return normal_findable(sizes, np.full(len(sizes), self.value(whole)), spread, unit, self.metric)
