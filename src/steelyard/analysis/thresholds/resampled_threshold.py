"""Resampled thresholds: where the best one of resampled rows lies, and what it is worth on the rows they leave out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steelyard.analysis.thresholds.threshold_sample import (
    MOST_APART,
    Criterion,
    ThresholdCounts,
    coarse,
    places_among,
    threshold_of,
)
from steelyard.statistics.class_scores import ClassScores
from steelyard.statistics.counts import Counts
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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


# ---------------------------------------------------------------- group policies
# One threshold for all groups, or one each for equal recall or flag rates, judged on new rows.


SAME, EQUAL_RECALL, EQUAL_FLAGS = "same threshold", "equal recall", "equal flag rate"
_APART = 1_024  # thresholds of a group that resamples tell apart
_NEAR = 1e-12


@dataclass(frozen=True)
class GroupCurve:
    """What thresholds flag of one group: the weight of each class at and above every score, highest first.

    The weights may have an axis of draws before that of the thresholds.
    """

    observed: Array
    tp: Array
    fp: Array

    @classmethod
    def of(cls, observed: Array, positives: Array, negatives: Array) -> GroupCurve:
        """By the weight of each class at every score, ascending."""
        nobody = np.zeros((*positives.shape[:-1], 1))
        sums = (np.concatenate([nobody, np.cumsum(part[..., ::-1], -1)], -1) for part in (positives, negatives))
        return cls(np.concatenate([[np.inf], observed[::-1]]), *sums)

    def counts(self, places: Array) -> Counts[Array]:
        """The counts at a place of each draw."""
        tp, fp = (np.take_along_axis(part, places[..., None], -1)[..., 0] for part in (self.tp, self.fp))
        return Counts.trusted(tp, self.tp[..., -1] - tp, fp, self.fp[..., -1] - fp)

    def at(self, threshold: float) -> Array:
        """The place of the last score that is at or above a threshold."""
        place = int(np.count_nonzero(self.observed >= threshold)) - 1
        return np.full(self.tp.shape[:-1], place)

    def nearest(self, policy: str, target: Array) -> Array:
        """The place whose recall, or flag rate, is nearest to the target; of equal ones that which flags fewest."""
        flagged = self.tp if policy == EQUAL_RECALL else self.tp + self.fp
        with np.errstate(invalid="ignore"):
            rates = flagged / flagged[..., -1:]
        far = np.nan_to_num(np.abs(rates - target[..., None]), nan=np.inf)
        return np.asarray(np.argmin(np.round(far / _NEAR) * _NEAR, axis=-1))


def chosen_places(policy: str, curves: Sequence[GroupCurve], threshold: float, target: float | None) -> list[Array]:
    """The place of each group's threshold by a policy; the target is set, or what one threshold for all gives."""
    same = [curve.at(threshold) for curve in curves]
    if policy == SAME:
        return same
    goal = _pooled_rate(policy, curves, same) if target is None else np.full(np.shape(same[0]), target)
    return [curve.nearest(policy, goal) for curve in curves]


def _pooled_rate(policy: str, curves: Sequence[GroupCurve], places: Sequence[Array]) -> Array:
    """The recall, or the flag rate, of all groups together at these places."""
    counts = [curve.counts(place) for curve, place in zip(curves, places, strict=True)]
    tp, fn, fp, tn = (np.sum(cells, axis=0) for cells in zip(*counts, strict=True))
    above, below = (tp, tp + fn) if policy == EQUAL_RECALL else (tp + fp, tp + fn + fp + tn)
    with np.errstate(invalid="ignore"):
        return np.asarray(above / below)


@dataclass(frozen=True)
class PolicyOutcome:
    """A policy: each group's threshold and counts, and over resamples the range of it and the counts on new rows."""

    thresholds: list[float]
    counts: list[Counts[Any]]
    ranges: list[tuple[float, float]] | None
    unseen: list[Counts[Any]] | None


@dataclass(frozen=True)
class PolicyTrial:
    """Groups of scores, and resamples of their rows: those taken choose thresholds, those left out judge them."""

    tables: Sequence[ScoreTable]
    threshold: float
    targets: Mapping[str, float | None]
    level: float
    resamples: int

    def outcomes(self, rng: np.random.Generator) -> dict[str, PolicyOutcome]:
        """Each policy on the rows themselves and on new rows."""
        small = [coarse(table, self.threshold, _APART) for table in self.tables]
        grids = [_weights_at_scores(table) for table in small]
        whole = [GroupCurve.of(*grid[:3]) for grid in grids]
        drawn = [_resampled(grid, self.resamples, rng) for grid in grids] if self.resamples else None
        return {policy: self._outcome(policy, whole, drawn) for policy in (SAME, EQUAL_RECALL, EQUAL_FLAGS)}

    def _outcome(
        self, policy: str, whole: Sequence[GroupCurve], drawn: Sequence[tuple[GroupCurve, GroupCurve]] | None
    ) -> PolicyOutcome:
        target = self.targets.get(policy)
        places = chosen_places(policy, whole, self.threshold, target)
        cells = [curve.counts(place) for curve, place in zip(whole, places, strict=True)]
        scores = [float(curve.observed[int(place)]) for curve, place in zip(whole, places, strict=True)]
        at = [
            self.threshold if policy == SAME else threshold_of(t, s) for t, s in zip(self.tables, scores, strict=True)
        ]
        if drawn is None:
            return PolicyOutcome(at, cells, None, None)
        found = chosen_places(policy, [taken for taken, _ in drawn], self.threshold, target)
        unseen = [_of_all(left.counts(p), own) for (_, left), p, own in zip(drawn, found, cells, strict=True)]
        tails = (1 - self.level) / 2, (1 + self.level) / 2
        ends = [np.quantile(c.observed[p], tails, method="nearest") for c, p in zip(whole, found, strict=True)]
        ranges = [(min(float(low), t), max(float(high), t)) for (low, high), t in zip(ends, at, strict=True)]
        return PolicyOutcome(at, cells, ranges, unseen)


def _of_all(left: Counts[Array], own: Counts[Any]) -> Counts[Any]:
    """The rows left out of all resamples, in the number of the rows themselves."""
    tp, fn, fp, tn = (float(cell.sum()) for cell in left)
    recall, rate = tp / max(tp + fn, _NEAR), fp / max(fp + tn, _NEAR)
    positives, negatives = float(own.positives), float(own.negatives)
    return Counts.trusted(recall * positives, (1 - recall) * positives, rate * negatives, (1 - rate) * negatives)


def _weights_at_scores(table: ScoreTable) -> tuple[Array, Array, Array, Array, Array]:
    """All scores of a table, ascending, with the weight and the rows of each class at each."""
    scores = table.thresholds[:0:-1]
    columns = np.zeros((4, len(scores)))
    for i, side in enumerate(table.classes):
        places = np.searchsorted(scores, side.scores)
        np.add.at(columns[i], places, side.weights)
        np.add.at(columns[2 + i], places, side.rows)
    positives, negatives, positive_rows, negative_rows = columns
    return scores, positives, negatives, positive_rows, negative_rows


def _resampled(grid: tuple[Array, ...], n: int, rng: np.random.Generator) -> tuple[GroupCurve, GroupCurve]:
    """The rows taken by n resamples, and those left out: 1/e of them, the others once and about 0.58 times more."""
    scores, *columns = grid
    parts = []
    for weights, rows in zip(columns[:2], columns[2:], strict=True):
        once = rng.binomial(rows.astype(np.int64), 1 - LEFT_OUT, size=(n, len(rows)))
        taken = once + rng.poisson(once * (LEFT_OUT / (1 - LEFT_OUT)))
        each = weights / np.maximum(rows, 1)
        parts.append((taken * each, (rows - once) * each))
    (taken_p, left_p), (taken_n, left_n) = parts
    return GroupCurve.of(scores, taken_p, taken_n), GroupCurve.of(scores, left_p, left_n)
