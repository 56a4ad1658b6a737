"""Threshold samples: the rows that a threshold is chosen on, and what is known of both rates at every threshold."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.prevalence.class_shares import checked_prevalence, positive_shares
from steelyard.analysis.prevalence.estimated_prevalence import Prevalence
from steelyard.analysis.thresholds.band_prevalences import effective_share_rows
from steelyard.analysis.thresholds.class_curves import ClassWeights, Rates
from steelyard.analysis.thresholds.cluster_rows import worth_of_clusters
from steelyard.analysis.thresholds.coarse_thresholds import coarse, places_among
from steelyard.analysis.thresholds.threshold_criterion import ThresholdCounts
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard._types import Array
    from steelyard.analysis.prevalence.estimated_prevalence import PrevalenceLike
    from steelyard.analysis.thresholds.class_curves import ClassCurve
    from steelyard.analysis.thresholds.cluster_rows import ClusterRows
    from steelyard.statistics.score_table import ScoreTable

_MOST_DRAWN = 512  # thresholds that draws tell apart
_MOST_CELLS = 10_000_000  # of the tables of all clusters


def drawn_shares(
    prevalence: PrevalenceLike | None, seen: float, rows: float, draws: int, rng: np.random.Generator
) -> Array:
    """Draws of the prevalence: by what it is known where it was given, else by so many rows in which it was seen."""
    if isinstance(prevalence, Prevalence):
        return np.asarray(prevalence.draws(draws, rng))[:, None]
    if prevalence is not None:
        return np.asarray(checked_prevalence(prevalence))
    return np.asarray(rng.beta(seen * rows + 0.5, (1 - seen) * rows + 0.5, (draws, 1)))


@dataclass(frozen=True, eq=False)
class ThresholdSample:
    """A table of scores, the prevalence it is read at, what errors cost by row, and the clusters of dependent rows."""

    table: ScoreTable
    both: bool = False
    prevalence: PrevalenceLike | None = None
    costs: ScoreTable | None = None
    clusters: ClusterRows | None = None
    per_row: tuple[float, float, float] = (1.0, 1.0, 1.0)  # rows that one is worth, where clusters are not given

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
        return self.clusters is None and not self.table.weighted and self.per_row == (1.0, 1.0, 1.0)

    @cached_property
    def worth(self) -> tuple[float, float]:
        """As how many independent rows of equal weight the positives and the negatives count."""
        by_weight = (self.table.positive.effective_size, self.table.negative.effective_size)
        if self.clusters is None:
            return by_weight[0] * self.per_row[0], by_weight[1] * self.per_row[1]
        small = coarse(self.table, math.inf, self.fewer(_MOST_DRAWN))
        by_cluster = (worth_of_clusters(cells) for cells in self.clusters.tables(small.thresholds[:0:-1]))
        positives, negatives = (min(pair) for pair in zip(by_weight, by_cluster, strict=True))
        return positives, negatives

    def larger(self, table: ScoreTable) -> ThresholdSample:
        """A larger sample of such rows, in clusters like these."""
        sizes = (*(side.effective_size for side in self.table.classes), effective_share_rows(self.table))
        worth = (*self.worth, self._share_rows)
        positives, negatives, share = (now / most for now, most in zip(worth, sizes, strict=True))
        return replace(self, table=table, costs=None, clusters=None, per_row=(positives, negatives, share))

    def fewer(self, most: int) -> int:
        """That many thresholds, or fewer where the tables of all clusters would not fit into memory."""
        return most if self.clusters is None else max(64, min(most, _MOST_CELLS // len(self.clusters.sizes)))

    def some_places(self, most: int) -> Array:
        """The places of some of the thresholds, directions and thresholds taken as one axis."""
        return places_among(ThresholdCounts.of(coarse(self.table, math.inf, most), self.both), self.rows)

    def rates_at(self, places: Array) -> Rates:
        """Both rates at those thresholds."""
        return Rates(*(self.curve(of, places) for of in (0, 1)))

    def curve(self, of: int, places: Array | None = None) -> ClassCurve:
        """What thresholds flag of the positives (0) or of the negatives (1): those at some places, or all of them."""
        observed = self.rows.observed
        places = np.arange(observed.size) if places is None else places
        at = self.rows.flat()[places]
        flagged, all_of = (at.tp, at.positives) if of == 0 else (at.fp, at.negatives)
        low = places >= observed.shape[-1]
        curve = self._weights[of].curve(observed.flat[places], flagged / all_of, self.worth[of], low=low)
        return replace(curve, trivial=self.are_trivial(places))

    def are_trivial(self, places: Array | int) -> Array:
        """Which thresholds flag nobody, or everybody: the first and the last of each direction."""
        size = self.rows.observed.shape[-1]
        return np.isin(np.asarray(places) % size, (0, size - 1))

    @cached_property
    def _weights(self) -> list[ClassWeights]:
        return [ClassWeights.of(side) for side in self.table.classes]

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
        shares = drawn_shares(self.prevalence, seen, self._share_rows, draws, rng)
        yield from rates.tables(shares, total, draws, rng)

    @cached_property
    def _share_rows(self) -> float:
        """As how many independent rows of equal weight the sample's own prevalence is known."""
        rows = effective_share_rows(self.table) * self.per_row[2]
        return rows if self.clusters is None else min(rows, self.clusters.share_rows)
