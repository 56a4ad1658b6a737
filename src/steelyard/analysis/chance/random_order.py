"""Random order: what a metric of ranks scores in the mean over random orders of the same scores, ties kept.

Average precision has its mean in closed form. Of the others orders are drawn, always the same ones: of the rarer class
every row falls anywhere among the scores, and of the other class only what lies between those rows is counted. Where
both classes are large the scores are grouped in levels. A metric of probabilities has the value of one constant score.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.chance.class_baselines import mean_where_defined, or_exact
from steelyard.analysis.prevalence.prevalence import scores_at
from steelyard.metrics import discrimination, ranking
from steelyard.metrics.application import on_scores
from steelyard.statistics.class_scores import ClassScores
from steelyard.statistics.device_array import DeviceArray
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.metrics.metric import Metric

_CELLS, _MOST_DRAWS, _LEAST_DRAWS = 24_000, 4_000, 30  # entries of all drawn tables together, and draws
_MOST_EACH = 300  # rows of the rarer class that are placed one by one; of more, the scores are grouped in levels
_MOST_SCORES = 10_000  # distinct ones that are all kept where a metric is a mean over them
_LEVELS = 300  # half of them of as many rows each, half of as many distinct scores
_MANY_ROWS = 20_000  # of the rarer class, from which on the precision of a random order is the prevalence
_SORTED_ENTRIES = 20_000  # of which all are looked at for ties; of more, as many spread evenly
# Exactly what they are with one score for all rows: linear in what is found at a depth, or an area of pairs.
_KNOWN = (
    ranking.roc_auc.scores,
    discrimination.gini.scores,
    ranking.precision_at_k.scores,
    ranking.lift.scores,
)


@dataclass(frozen=True, eq=False)
class RandomOrder:
    """The random orders of one table of scores, drawn once for all metrics, and the table of one constant score."""

    table: ScoreTable
    constant: ScoreTable
    base: RandomOrder | None = None

    def at(self, share: float) -> RandomOrder:
        """The same orders where such a share of the weight is that of positives."""
        there = scores_at(self.table, share)
        return RandomOrder(there, _constant(there), self)

    def value(self, metric: Metric) -> float | Array:
        """The mean over the orders in which the metric is defined."""
        exact: float | Array = on_scores(metric, self.constant, metric.parameters).value
        known = metric.scores in _KNOWN and metric.parameters.get("max_fpr") is None
        if known or metric.of_probabilities or np.ndim(self.table.total):
            return exact
        if (mean := self._known_mean(metric)) is not None:
            return mean
        drawn = self._at_every_score if metric.scores is discrimination.mcc_f1.scores else self._drawn
        values = np.asarray(on_scores(metric, drawn, metric.parameters).value, dtype=np.float64)
        if metric.scores is ranking.pr_auc.scores and (known_mean := self._known_mean(ranking.average_precision)):
            # The two areas differ little in any order, and one has a known mean.
            steps = on_scores(ranking.average_precision, self._drawn, {}).value
            return known_mean + float(np.mean(values - steps))
        return float(or_exact(mean_where_defined(np.atleast_1d(values)), exact))

    def _known_mean(self, metric: Metric) -> float | None:
        """The mean of the average precisions in closed form, where rows have no weights or are very many."""
        sides = [side.effective_size for side in self.table.classes]
        if self.table.weighted and min(sides) < _MANY_ROWS:
            return None
        if metric.scores is ranking.average_precision.scores:
            return self._average_precisions[0]
        if metric.scores is ranking.negative_average_precision.scores:
            return self._average_precisions[1]
        if metric.scores is ranking.mean_average_precision.scores:
            return sum(self._average_precisions) / 2
        return None

    @cached_property
    def _average_precisions(self) -> tuple[float, float]:
        """The means of the positives and of the negatives."""
        return self._average_precision(0), self._average_precision(1)

    def _average_precision(self, place: int) -> float:
        sides = self.table.classes if place == 0 else self.table.classes[::-1]
        total = float(self.table.total)
        share = float(sides[0].total) / total
        if min(side.effective_size for side in sides) >= _MANY_ROWS:
            return share
        n, p = self.table.n, sides[0].n
        sizes, ends = self._groups
        first = ends if place == 0 else n - ends + sizes
        again = (p - 1) / (n - 1)  # that another row is of the class, where one is
        # At rank r precision is 1 / r for the row itself, and that share of the r - 1 rows above and beside it.
        return float((sizes / first * (1 + (first - 1) * again)).sum() / n)

    @cached_property
    def _groups(self) -> tuple[Array, Array]:
        """The rows of each group of equal scores, and those down to its end, from the highest score on.

        Of very many entries every so-many-th is looked at: one that is alone there stands for rows without ties.
        """
        n, sides = self.table.n, self.table.classes
        among = [side.among[0] for side in sides if side.among is not None]
        scores: Array = np.asanyarray(among[0]) if among else np.concatenate([side.entries for side in sides])
        plain = all(side.given_rows is None for side in sides)
        rows = None if plain else np.concatenate([side.rows for side in sides])
        step = 1 if isinstance(scores, DeviceArray) else max(1, len(scores) // _SORTED_ENTRIES)
        looked_at = ClassScores.of_rows(scores[::step], frequency=None if rows is None else rows[::step])
        sizes = looked_at.distinct[1][::-1]
        if step > 1:
            alone = sizes == 1
            sizes = np.repeat(np.where(alone, 1, sizes * step), np.where(alone, step, 1))
        ends = np.cumsum(sizes)
        if step > 1:
            kept = int(np.searchsorted(ends, n))
            ends = np.append(ends[:kept], n)
            return np.diff(ends, prepend=0), ends
        if int(ends[-1]) != n:  # entries that stand for parts of rows
            return np.ones(n, dtype=np.int64), np.arange(1, n + 1)
        return sizes, ends

    @cached_property
    def _drawn(self) -> ScoreTable:
        """Drawn orders, as tables whose weights have an axis of draws."""
        if self.base is not None:
            return scores_at(self.base._drawn, float(self.table.positive.total / self.table.total))  # noqa: SLF001
        rare = 0 if self.table.positive.n <= self.table.negative.n else 1
        few = self.table.classes[rare].n <= _MOST_EACH
        return self._as_table(self._placed(rare) if few else self._in_levels(rare), rare)

    @cached_property
    def _at_every_score(self) -> ScoreTable:
        """The same with all distinct scores, for a mean over the points of a curve, where rows have no weights."""
        if self.base is not None:
            return scores_at(self.base._at_every_score, float(self.table.positive.total / self.table.total))  # noqa: SLF001
        sizes = np.asarray(self._groups[0])
        if self.table.weighted or len(sizes) > _MOST_SCORES:
            return self._drawn
        positives, draws = self.table.positive.n, max(_LEAST_DRAWS, 10 * _CELLS // len(sizes))
        found = np.random.default_rng(0).multivariate_hypergeometric(sizes, positives, size=min(draws, _MOST_DRAWS))
        return self._as_table((1.0 * found, 1.0 * (sizes - found)), 0)

    def _as_table(self, both: tuple[Array, Array], rare: int) -> ScoreTable:
        """The table of drawn orders: the weight of the rare class and of the other at each score, descending."""
        scores = np.arange(both[0].shape[1], dtype=np.float64)
        weights = [np.ascontiguousarray(part[:, ::-1]) for part in (both if rare == 0 else both[::-1])]
        positive, negative = (ClassScores(scores, part, part, part) for part in weights)
        return ScoreTable(positive, negative, self.table.label)

    def _placed(self, rare: int) -> tuple[Array, Array]:
        """The weight of the rare class and of the other at the rows of the rare one and between them, descending."""
        few, other = self.table.classes[rare], self.table.classes[1 - rare]
        n, size, (sizes, ends) = self.table.n, few.n, self._groups
        draws = int(np.clip(_CELLS // (2 * size + 1), _LEAST_DRAWS, _MOST_DRAWS))
        rng = np.random.default_rng(0)
        places = np.sort(_distinct(rng, n, size, draws), axis=1)
        weights = self._row_weights(few)
        if len(weights) != size:  # entries that stand for parts of rows
            weights = np.full(size, float(few.total) / size)
        weighed = rng.permuted(np.tile(weights, (draws, 1)), axis=1)
        if len(ends) <= places.size:  # the shorter of the two travels from a device
            sizes, ends = np.asarray(sizes), np.asarray(ends)
        group = np.searchsorted(ends, places.ravel(), side="right")
        end = np.asarray(ends[group]).reshape(places.shape)
        start = end - np.asarray(sizes[group]).reshape(places.shape)
        group = np.asarray(group).reshape(places.shape)
        first = np.ones_like(group, dtype=bool)
        first[:, 1:] = group[:, 1:] != group[:, :-1]
        # The rare rows of one group stand at its first entry.
        at = np.maximum.accumulate(np.where(first, np.arange(size), 0), axis=1) + np.arange(draws)[:, None] * size
        own = np.bincount(at.ravel(), weighed.ravel(), draws * size).reshape(draws, size)
        tied = np.bincount(at.ravel(), minlength=draws * size).reshape(draws, size)
        beside = np.where(first, end - start - tied, 0)
        ended = np.concatenate([np.zeros((draws, 1), dtype=np.int64), end[:, :-1]], 1)
        before = np.where(first, start - ended, 0)
        found, rest = (np.zeros((draws, 2 * size + 1)) for _ in range(2))
        found[:, 1::2] = own
        rest[:, 1::2], rest[:, 0:-1:2], rest[:, -1] = beside, before, n - end[:, -1]
        return found, rest * (float(other.total) / other.n)

    def _in_levels(self, rare: int) -> tuple[Array, Array]:
        """The weight of the rare class and of the other in levels, descending."""
        few, other = self.table.classes[rare], self.table.classes[1 - rare]
        n, ends = self.table.n, self._groups[1]
        by_rows = np.searchsorted(ends, np.linspace(0, n, _LEVELS // 2 + 1)[1:].astype(np.int64))
        by_groups = np.linspace(0, len(ends) - 1, _LEVELS // 2).astype(np.int64)
        at = np.unique(np.minimum(np.concatenate([np.asarray(by_rows), by_groups]), len(ends) - 1))
        sizes = np.diff(np.asarray(ends[at]), prepend=0)
        draws = _LEAST_DRAWS
        drawn = np.random.default_rng(0).multivariate_hypergeometric(sizes, few.n, size=draws)
        return drawn * (float(few.total) / few.n), (sizes - drawn) * (float(other.total) / other.n)

    @staticmethod
    def _row_weights(side: ClassScores) -> Array:
        """The weight of each row, the mean where an entry holds several."""
        rows = np.asarray(side.rows, dtype=np.int64)
        return np.repeat(np.asarray(side.weights, dtype=np.float64) / np.maximum(rows, 1), rows)


def random_order(table: ScoreTable) -> RandomOrder:
    """The random orders of a table."""
    return RandomOrder(table, _constant(table))


def _constant(table: ScoreTable) -> ScoreTable:
    """The same rows, each with the share of positives as its score."""
    share = np.array([table.positive.total / table.total])
    return ScoreTable(_level(table.positive, share), _level(table.negative, share), table.label)


def _level(side: ClassScores, score: Array) -> ClassScores:
    rows, weights = np.array([side.n]), np.array([side.total])
    return ClassScores(score, rows) if side.given_weights is None else ClassScores(score, rows, weights, weights)


def _distinct(rng: np.random.Generator, n: int, size: int, draws: int) -> Array:
    """So many draws of distinct places among n."""
    if n <= 4 * size:
        return np.asarray(rng.permuted(np.tile(np.arange(n), (draws, 1)), axis=1)[:, :size])
    places = rng.integers(0, n, (draws, size))
    while True:
        places.sort(axis=1)
        again = np.zeros_like(places, dtype=bool)
        again[:, 1:] = places[:, 1:] == places[:, :-1]
        if not again.any():
            return places
        places[again] = rng.integers(0, n, int(again.sum()))
