"""Resampled thresholds: where the best one of resampled rows lies, and what it is worth on the rows they leave out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.analysis.thresholds.coarse_thresholds import MOST_APART, coarse, places_among
from steelyard.analysis.thresholds.threshold_criterion import Criterion, ThresholdCounts
from steelyard.statistics.class_scores import ClassScores
from steelyard.statistics.counts import Counts
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.thresholds.threshold_sample import ThresholdSample

LEFT_OUT = math.exp(-1)  # share of the rows that a resample of as many leaves out
_AT_ONCE = 2**18  # cells of a chunk of resamples


class Resamples(NamedTuple):
    """What resamples of the rows say of the best threshold, one entry a resample that has one.

    `places` of the thresholds that they take are among all of the sample; `lost` is by how much the best of all rows is
    worse in them than their own; `there` are their counts at it, and `unseen` those of all rows left out, at theirs.
    """

    places: Array
    lost: Array
    there: Counts[Array]
    unseen: Counts


@dataclass(frozen=True)
class Resampling:
    """Resamples of a sample's rows, in which the thresholds that are allowed stay what they are."""

    sample: ThresholdSample
    criterion: Criterion
    place: int
    allowed: Array | None = None

    def resamples(self, n: int, rng: np.random.Generator) -> Resamples | None:
        """What n resamples say; None where none of them has a best threshold."""
        observed = float(self.sample.every.observed.flat[self.place])
        table = self.sample.table if self.sample.costs is None else self.sample.costs
        small = coarse(table, observed, self.sample.fewer(MOST_APART))
        few = ThresholdCounts.of(small, self.criterion.both)
        among = places_among(few, self.sample.every)
        mine = int(np.flatnonzero(among == self.place)[0])
        parts = [self._part(small, among, mine, size, rng) for size in _sizes(n, few.observed.size)]
        places, lost = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
        if not len(places):
            return None
        there = Counts.trusted(*(np.concatenate(cells) for cells in zip(*(part[2] for part in parts), strict=True)))
        # One table of all rows left out: a mean of values would be biased by how few rows each is made of.
        pooled = Counts.trusted(*(np.sum(cells) for cells in zip(*(part[3] for part in parts), strict=True)))
        return Resamples(among[places], lost, there, self._of_all(pooled))

    def _part(
        self, small: ScoreTable, among: Array, mine: int, n: int, rng: np.random.Generator
    ) -> tuple[Array, Array, Counts[Array], Counts]:
        """The places of the best thresholds of n resamples, less those without one, and what they are worth."""
        taken, left, of_rows = self._drawn(small, n, rng)
        merits = self.criterion.merits(taken.counts, of_rows.counts)
        if self.allowed is not None:
            merits = np.where(self.allowed.reshape(-1)[among].reshape(merits.shape[1:]), merits, np.nan)
        flat = merits.reshape(n, -1)
        places = self.criterion.chosen(merits)
        defined = np.flatnonzero(~np.isnan(flat[np.arange(n), places]))
        places = places[defined]
        lost = flat[defined, places] - np.where(np.isnan(flat[defined, mine]), -np.inf, flat[defined, mine])
        unseen = Counts.trusted(*(cell.sum() for cell in left.flat()[defined, places]))
        return places, lost, taken.flat()[defined, mine], unseen

    def _drawn(
        self, small: ScoreTable, n: int, rng: np.random.Generator
    ) -> tuple[ThresholdCounts, ThresholdCounts, ThresholdCounts]:
        """The counts of n resamples, of the rows that each leaves out, and of the rows taken, whatever they cost."""
        (taken, left), scores = self._times(small, n, rng), [side.scores for side in small.classes]
        weights = [
            1.0 if side.given_weights is None else side.weights / np.maximum(side.rows, 1) for side in small.classes
        ]
        tables = []
        for times, each in ((taken, weights), (left, weights), (taken, [1.0, 1.0])):
            columns = [(at, time * weight) for at, time, weight in zip(scores, times, each, strict=True)]
            if self.sample.costs is not None and each is weights and times is taken:
                columns = [
                    (at, self._varied(side, time, rng))
                    for (at, _), side, time in zip(columns, small.classes, times, strict=True)
                ]
            positive, negative = (ClassScores(at, column, column, column) for at, column in columns)
            tables.append(ThresholdCounts.of(ScoreTable(positive, negative, small.label), self.criterion.both))
            if len(tables) == 2 and self.sample.costs is None:
                in_use, out = map(self.sample.shifted, tables)
                return in_use, out, in_use
        return tables[0], tables[1], self.sample.shifted(tables[2])

    @staticmethod
    def _varied(side: ClassScores, times: Array, rng: np.random.Generator) -> Array:
        """What the rows of an entry cost that are taken, of which some cost more than others."""
        mean = side.weights / side.rows
        spread = np.sqrt(np.maximum(side.squares / side.rows - mean**2, 0))
        moved = times * mean + np.sqrt(times) * spread * rng.standard_normal(times.shape)
        return np.asarray(np.maximum(moved, 0))

    def _times(self, small: ScoreTable, n: int, rng: np.random.Generator) -> tuple[list[Array], list[Array]]:
        """How often the rows of each class at each score are taken in n resamples, and how many are left out."""
        clusters = self.sample.clusters
        if clusters is None:
            taken, left = zip(*(_resample(side, n, rng) for side in small.classes), strict=True)
            return [*taken], [*left]
        times = rng.poisson(1.0, size=(n, len(clusters.sizes)))
        tables = [cells[:, cells.any(0)] for cells in clusters.tables(small.thresholds[:0:-1])]
        if self.sample.costs is None:  # else the weights are costs, and the tables of clusters count rows
            tables = [cells * (side.rows / side.weights) for cells, side in zip(tables, small.classes, strict=True)]
        return [times @ cells for cells in tables], [(times == 0) @ cells for cells in tables]

    def _of_all(self, pooled: Counts) -> Counts:
        """The pooled table in the size of the table itself, for a user's own function may count rows and not shares."""
        whole = self.sample.merits_of.counts
        p, n = (float(total.flat[0]) for total in (whole.positives, whole.negatives))
        up = p / max(float(pooled.positives), 1e-300), n / max(float(pooled.negatives), 1e-300)
        return pooled.scaled(positives=up[0], negatives=up[1])


def _sizes(resamples: int, cells: int) -> list[int]:
    steps = math.ceil(resamples * cells / _AT_ONCE)
    return [len(part) for part in np.array_split(np.arange(resamples), min(steps, resamples))]


def _resample(side: ClassScores, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """How often the rows of each entry of a class are taken in n resamples, and how many of them are left out.

    A row is left out with probability 1/e, else taken once and about 0.58 times more.
    """
    rows = side.rows
    taken = rng.binomial(rows, 1 - LEFT_OUT, size=(n, len(rows)))
    return taken + rng.poisson(taken * (LEFT_OUT / (1 - LEFT_OUT))), rows - taken
