"""Threshold samples: the rows that a threshold is chosen on, and the counts that might have been at every threshold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.class_shares import positive_shares
from steelyard.analysis.coarse_thresholds import coarse
from steelyard.analysis.draws import RANK_PRIOR, rank_draws, student_spread
from steelyard.analysis.estimated_prevalence import Prevalence
from steelyard.analysis.prevalence import scores_at
from steelyard.analysis.threshold_criterion import ThresholdCounts
from steelyard.statistics.class_scores import ClassScores
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.estimated_prevalence import PrevalenceLike

_DRAWS, _MOST_DRAWN = 1_000, 512
_MOST_CELLS = 10_000_000  # of the tables of all clusters
_WIDENED = 0.95  # the level at which few rows or clusters widen the draws as Student's t does


@dataclass(frozen=True, eq=False)
class ClusterRows:
    """Rows one by one: which are positive, their scores and weights, and the number of the cluster of each."""

    positive: Array
    scores: Array
    weights: Array
    clusters: Array

    @cached_property
    def sizes(self) -> Array:
        """The weight of each cluster."""
        return np.bincount(self.clusters, self.weights)

    @property
    def effective(self) -> float:
        """How many clusters of one size are worth as much as these."""
        return float(self.sizes.sum() ** 2 / (self.sizes**2).sum())

    def tables(self, scores: Array) -> tuple[Array, Array]:
        """The weight of each cluster at each of the scores, of the positives and of the negatives."""
        at, shape = np.searchsorted(scores, self.scores, side="right") - 1, (len(self.sizes), len(scores))
        code = self.clusters * len(scores) + at
        positive, negative = (
            np.bincount(code[rows], self.weights[rows], minlength=shape[0] * shape[1]).reshape(shape)
            for rows in (self.positive, ~self.positive)
        )
        return positive, negative


@dataclass(frozen=True, eq=False)
class ThresholdSample:
    """A table of scores, the prevalence it is read at, what errors cost by row, and the clusters of dependent rows."""

    table: ScoreTable
    both: bool = False
    prevalence: PrevalenceLike | None = None
    costs: ScoreTable | None = None
    clusters: ClusterRows | None = None

    @cached_property
    def rows(self) -> ThresholdCounts:
        """The counts of the rows at every threshold."""
        return ThresholdCounts.of(self.table, self.both)

    @cached_property
    def every(self) -> ThresholdCounts:
        """The counts at every threshold, at the prevalence where one is given."""
        return self.rows if self.prevalence is None else self.shifted(self.rows)

    @cached_property
    def merits_of(self) -> ThresholdCounts:
        """What the aim is read on: the costs by row where there are any, else the counts."""
        return self.every if self.costs is None else ThresholdCounts.of(self.costs, self.both)

    def shifted(self, counts: ThresholdCounts) -> ThresholdCounts:
        """The counts at the prevalence where one is given."""
        if self.prevalence is None:
            return counts
        share, n = float(positive_shares(self.table, self.prevalence)), float(self.table.total)
        up = share * n / self.table.positive.total, (1 - share) * n / self.table.negative.total
        return ThresholdCounts(counts.observed, counts.counts.scaled(positives=up[0], negatives=up[1]))

    @property
    def has_equal_rows(self) -> bool:
        """Whether the rows are independent and count alike, so that exact binomial bounds hold."""
        return self.clusters is None and not self.table.weighted

    def fewer(self, most: int) -> int:
        """That many thresholds, or fewer where the tables of all clusters would not fit into memory."""
        return most if self.clusters is None else max(64, min(most, _MOST_CELLS // len(self.clusters.sizes)))

    def drawn(self, rng: np.random.Generator, draws: int = _DRAWS, most: int = _MOST_DRAWN) -> ThresholdCounts:
        """Draws of the counts from their posterior, on a first axis, at some of the thresholds."""
        small = coarse(self.table, math.inf, self.fewer(most))
        if self.clusters is None:
            table = rank_draws(small, draws, rng, _WIDENED)
        else:
            table = _by_cluster(small, self.clusters, draws, rng)
        if self.prevalence is None:
            return ThresholdCounts.of(table, self.both)
        uncertain = isinstance(self.prevalence, Prevalence)
        shares = self.prevalence.draws(draws, rng) if uncertain else None  # type: ignore[union-attr]  # as asked
        return ThresholdCounts.of(scores_at(table, positive_shares(table, self.prevalence, shares)), self.both)


def _by_cluster(small: ScoreTable, rows: ClusterRows, draws: int, rng: np.random.Generator) -> ScoreTable:
    """The table with one random weight a cluster in each draw: the Bayesian bootstrap of clusters."""
    scores = small.thresholds[:0:-1]
    spread = student_spread(rows.effective, _WIDENED)
    weights = rng.standard_gamma(spread, size=(draws, len(rows.sizes))) / spread
    at, mean = np.searchsorted(scores, rows.scores, side="right") - 1, float(rows.weights.mean())
    sides = []
    for cells in rows.tables(scores):
        drawn = weights @ cells
        drawn[np.arange(draws), rng.choice(at, draws)] += rng.standard_gamma(RANK_PRIOR, draws) * mean
        sides.append(ClassScores(scores, drawn, drawn, drawn))
    return ScoreTable(sides[0], sides[1], small.label)
