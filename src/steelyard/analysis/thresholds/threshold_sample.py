"""Threshold samples: the rows that a threshold is chosen on, and what is known of both rates at every threshold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.analysis.prevalence.class_shares import checked_prevalence, positive_shares
from steelyard.analysis.prevalence.estimated_prevalence import Prevalence
from steelyard.analysis.thresholds.coarse_thresholds import coarse, places_among
from steelyard.analysis.thresholds.threshold_criterion import ThresholdCounts
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard._types import Array
    from steelyard.analysis.prevalence.estimated_prevalence import PrevalenceLike
    from steelyard.statistics.score_table import ScoreTable

_MOST_DRAWN = 512  # thresholds that draws tell apart
_MOST_CELLS = 10_000_000  # of the tables of all clusters
_MIDDLE = (0.1, 0.9)  # rates at which the variation between clusters is seen well


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

    def tables(self, scores: Array) -> tuple[Array, Array]:
        """The weight of each cluster at each of the scores, of the positives and of the negatives."""
        at, shape = np.searchsorted(scores, self.scores, side="right") - 1, (len(self.sizes), len(scores))
        code = self.clusters * len(scores) + at
        positive, negative = (
            np.bincount(code[rows], self.weights[rows], minlength=shape[0] * shape[1]).reshape(shape)
            for rows in (self.positive, ~self.positive)
        )
        return positive, negative


def worth_of_clusters(cells: Array) -> float:
    """As how many independent rows the rows of a class count, given the weight of each cluster at each score.

    By how much more the rate above a score varies between clusters than it would between rows, at the score where that
    is most; rows of a cluster that never vary are copies of one.
    """
    sizes = cells.sum(1)
    total, copies = float(sizes.sum()), float(sizes.sum() ** 2 / (sizes**2).sum())
    above = np.cumsum(cells[:, ::-1], axis=1)
    rates = above.sum(0) / total
    some = (rates >= _MIDDLE[0]) & (rates <= _MIDDLE[1])
    if not some.any():
        return copies
    apart = above[:, some] - sizes[:, None] * rates[some]
    known = max(copies - 1, 1.0) / copies  # few clusters show less than there is
    variance = (apart**2).sum(0) / total**2 / known
    return float(np.clip((rates[some] * (1 - rates[some]) / variance).min(), min(copies, total), total))


class Rates(NamedTuple):
    """Recall and false positive rate at some thresholds, and as how many rows of each class they are known."""

    places: Array
    recall: Array
    fpr: Array
    positives: float
    negatives: float

    def drawn(self, draws: int, rng: np.random.Generator) -> Iterator[tuple[Array, Array]]:
        """Draws of both rates, as low as the rows allow and as high, in four pairs: Clopper and Pearson's tails."""
        recalls = _drawn_curve(self.recall, self.positives, draws, rng)
        fprs = _drawn_curve(self.fpr, self.negatives, draws, rng)
        yield from ((recall, fpr) for recall in recalls for fpr in fprs)

    def tables(self, share: Array, total: float, draws: int, rng: np.random.Generator) -> Iterator[Counts[Array]]:
        """Draws of the counts of so many rows, of which a share is positive, with both rates drawn."""
        p, n = share * total, (1 - share) * total
        for recall, fpr in self.drawn(draws, rng):
            yield Counts.trusted(p * recall, p * (1 - recall), n * fpr, n * (1 - fpr))


def drawn_shares(
    prevalence: PrevalenceLike | None, seen: float, rows: float, draws: int, rng: np.random.Generator
) -> Array:
    """Draws of the prevalence: by what it is known where it was given, else by so many rows in which it was seen."""
    if isinstance(prevalence, Prevalence):
        return np.asarray(prevalence.draws(draws, rng))[:, None]
    if prevalence is not None:
        return np.asarray(checked_prevalence(prevalence))
    return np.asarray(rng.beta(seen * rows + 0.5, (1 - seen) * rows + 0.5, (draws, 1)))


def _drawn_curve(rates: Array, rows: float, draws: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draws of a rate at all thresholds together: the least and the largest that the order statistics allow.

    The share of the population above the h-th of n scores is a sum of h exponentials out of n + 1, so one draw is a
    whole curve: what neighbouring thresholds break, they break in the same draws. Drawn one by one, the luck of
    hundreds of them ended a run of good thresholds early.
    """
    hits, places = np.unique(rates * rows, return_inverse=True)
    steps = np.diff(hits, prepend=0.0, append=max(rows, float(hits[-1])))
    sums = np.cumsum(rng.standard_gamma(steps, size=(draws, len(steps))), axis=1)
    one_more = rng.standard_exponential((draws, 1))
    least, total = sums[:, places], sums[:, -1:] + one_more
    return least / total, (least + one_more) / total


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
        """Whether the rows are independent and count alike, so that they are worth as many as they are."""
        return self.clusters is None and not self.table.weighted

    @cached_property
    def worth(self) -> tuple[float, float]:
        """As how many independent rows of equal weight the positives and the negatives count."""
        by_weight = (self.table.positive.effective_size, self.table.negative.effective_size)
        if self.clusters is None:
            return by_weight
        small = coarse(self.table, math.inf, self.fewer(_MOST_DRAWN))
        by_cluster = (worth_of_clusters(cells) for cells in self.clusters.tables(small.thresholds[:0:-1]))
        positives, negatives = (min(pair) for pair in zip(by_weight, by_cluster, strict=True))
        return positives, negatives

    def fewer(self, most: int) -> int:
        """That many thresholds, or fewer where the tables of all clusters would not fit into memory."""
        return most if self.clusters is None else max(64, min(most, _MOST_CELLS // len(self.clusters.sizes)))

    def some_places(self, most: int) -> Array:
        """The places of some of the thresholds, directions and thresholds taken as one axis."""
        return places_among(ThresholdCounts.of(coarse(self.table, math.inf, most), self.both), self.rows)

    def rates_at(self, places: Array) -> Rates:
        """Both rates at those thresholds."""
        at = self.rows.flat()[places]
        return Rates(places, at.tp / at.positives, at.fp / at.negatives, *self.worth)

    def at_drawn_prevalence(self, place: int, draws: int, rng: np.random.Generator) -> Counts[Array] | None:
        """The counts at a threshold and draws of the prevalence; None where it is known, or costs differ by row."""
        if not isinstance(self.prevalence, Prevalence) or self.costs is not None:
            return None
        at = self.rows.flat()[place]
        share = drawn_shares(self.prevalence, 0.0, 0.0, draws, rng)[:, 0] * float(self.table.total)
        rest = float(self.table.total) - share
        recall, fpr = at.tp / at.positives, at.fp / at.negatives
        return Counts.trusted(share * recall, share * (1 - recall), rest * fpr, rest * (1 - fpr))

    def tables(self, rates: Rates, draws: int, rng: np.random.Generator) -> Iterator[Counts[Array]]:
        """Draws of the counts at the prevalence, in which both rates are as low, or as high, as the rows allow."""
        total = float(self.table.total)
        seen = float(self.table.positive.total) / total
        yield from rates.tables(drawn_shares(self.prevalence, seen, sum(self.worth), draws, rng), total, draws, rng)
