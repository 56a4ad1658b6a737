"""Resampled thresholds: where the best one of resampled rows lies, and its value on the rows that they leave out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from steelyard.analysis.thresholds.limits import SLACK
from steelyard.analysis.thresholds.threshold_sample import (
    MOST_APART,
    ThresholdCounts,
    coarse,
    indices_among,
    threshold_of,
)
from steelyard.tables.class_scores import ClassScores
from steelyard.tables.counts import Counts
from steelyard.tables.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from steelyard._types import Array
    from steelyard.analysis.thresholds.threshold_sample import Criterion, ThresholdSample


LEFT_OUT = math.exp(-1)  # share of the rows that a resample of as many leaves out
_AT_ONCE = 2**18  # cells of a chunk of resamples


class Resamples(NamedTuple):
    """What resamples of the rows say of a threshold that was found, one entry for each resample that has one.

    `indices` are those of the resamples' own thresholds among all of the sample, and `taken` the rows of each resample
    at it. `lost` is by how much the threshold of all rows is worse in a resample than the resample's own, and `there`
    the resample's table at it. `left` is one table of all rows left out, each at the threshold of its resample, and
    `unseen` the same of what the aim is read on, in the size of the table itself.
    """

    indices: Array
    taken: Counts[Array]
    lost: Array
    there: Counts[Array]
    left: Counts
    unseen: Counts


class Drawn(NamedTuple):
    """Some resamples at some thresholds: the rows taken and left out, and what the aim is read on, such as costs."""

    taken: Counts[Array]
    left: Counts[Array]
    merits_taken: Counts[Array]
    merits_left: Counts[Array]


class Found(NamedTuple):
    """The index of the threshold that each resample finds, whether it finds any, and how much worse another is."""

    indices: Array
    defined: Array
    lost: Array


class Rule(Protocol):
    """How a threshold is found on some rows; `best` is the index of that of all rows."""

    @property
    def best(self) -> int:
        """The index among all thresholds of the sample."""

    def found(self, drawn: Drawn, among: Array, best: int) -> Found:
        """What each resample finds among some thresholds, one of which is that of all rows."""


@dataclass(frozen=True)
class ByMerit:
    """The threshold that is best by a criterion, among those that are allowed."""

    best: int
    criterion: Criterion
    allowed: Array | None = None
    of_costs: bool = True  # whether the aim is read on the costs of rows, where there are any

    def found(self, drawn: Drawn, among: Array, best: int) -> Found:
        """The best threshold of each resample."""
        table = drawn.merits_taken if self.of_costs else drawn.taken
        merits = self.criterion.merits(table, drawn.taken)
        if self.allowed is not None:
            merits = np.where(self.allowed[among], merits, np.nan)
        indices, rows = self.criterion.chosen(merits), np.arange(len(merits))
        at_best = merits[:, best]
        lost = merits[rows, indices] - np.where(np.isnan(at_best), -np.inf, at_best)
        return Found(indices, ~np.isnan(merits[rows, indices]), lost)


@dataclass(frozen=True)
class Fixed:
    """A threshold that is what it is, whatever the rows."""

    best: int

    def found(self, drawn: Drawn, among: Array, best: int) -> Found:  # noqa: ARG002 - as all rules have it
        """The same threshold in each resample."""
        n = len(drawn.taken.tp)
        return Found(np.full(n, best), np.ones(n, dtype=bool), np.zeros(n))


@dataclass(frozen=True)
class ByAlerts:
    """The threshold that flags as many rows as a share allows, or as near as possible to as many as are positive."""

    best: int
    most: float | None = None

    def found(self, drawn: Drawn, among: Array, best: int) -> Found:  # noqa: ARG002 - as all rules have it
        """The threshold of each resample."""
        indices = flagging(drawn.taken, self.most)
        return Found(indices, np.ones(len(indices), dtype=bool), np.zeros(len(indices)))


def flagging(counts: Counts[Array], most: float | None) -> Array:
    """The index of the last threshold that flags at most a share of the rows, or nearly as many as are positive."""
    flagged = counts.tp + counts.fp
    if most is None:
        goal = counts.positives
        return np.asarray(np.abs(flagged - goal)[..., 1:].argmin(-1) + 1)
    total = counts.positives + counts.negatives
    return np.asarray((flagged <= total * most * (1 + SLACK) + SLACK).sum(-1) - 1)


@dataclass(frozen=True)
class Resampling:
    """Resamples of a sample's rows, by which thresholds are found again, all of them on the same resamples."""

    sample: ThresholdSample

    def resamples(self, rules: Sequence[Rule], n: int, rng: np.random.Generator) -> list[Resamples | None]:
        """What n resamples say of each rule's threshold; None where none of them finds one."""
        sample = self.sample
        observed = sample.every.observed[[rule.best for rule in rules]]
        table = sample.table if sample.costs is None else sample.costs
        small = coarse(table, observed, sample.fewer(MOST_APART))
        few = ThresholdCounts.of(small)
        among = indices_among(few, sample.every)
        places = [int(np.flatnonzero(among == rule.best)[0]) for rule in rules]
        chunks = min(math.ceil(n * few.observed.size / _AT_ONCE), n)
        parts: list[list[tuple[Any, ...]]] = [[] for _ in rules]
        for chunk in np.array_split(np.arange(n), chunks):
            drawn = self._drawn(small, len(chunk), rng)
            for part, rule, place in zip(parts, rules, places, strict=True):
                part.append(_part(rule, drawn, among, place))
        return [self._together(part, among) for part in parts]

    def _together(self, parts: list[tuple[Any, ...]], among: Array) -> Resamples | None:
        """The parts as one, the rows left out in one table: a mean of values would be biased by how few each has."""
        indices, lost = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
        if not len(indices):
            return None
        taken, there = (_joined([part[i] for part in parts], np.concatenate) for i in (2, 3))
        left, pooled = (_joined([part[i] for part in parts], np.sum) for i in (4, 5))
        # In the size of the table itself, for a user's own function may count rows and not shares.
        whole = self.sample.merits_of.counts
        positives = float(whole.positives[0]) / max(float(pooled.positives), 1e-300)
        negatives = float(whole.negatives[0]) / max(float(pooled.negatives), 1e-300)
        unseen = pooled.scaled(positives=positives, negatives=negatives)
        return Resamples(among[indices], taken, lost, there, left, unseen)

    def _drawn(self, small: ScoreTable, n: int, rng: np.random.Generator) -> Drawn:
        """The counts of n resamples, and of the rows that each leaves out."""
        taken, left = self._copies(small, n, rng)

        def counts(sums: list[Array]) -> Counts[Array]:
            positive, negative = (
                ClassScores(side.scores, each, each, each) for side, each in zip(small.classes, sums, strict=True)
            )
            return ScoreTable(positive, negative, small.label).counts

        def weighted(copies: list[Array]) -> Counts[Array]:
            return counts([each * weight for each, weight in zip(copies, weights, strict=True)])

        weights = [
            1.0 if side.given_weights is None else side.weights / np.maximum(side.rows, 1) for side in small.classes
        ]
        shifted = self.sample.shifted
        if self.sample.costs is None:
            rows, out = shifted(weighted(taken)), shifted(weighted(left))
            return Drawn(rows, out, rows, out)
        costs = [_varied_costs(side, copies, rng) for side, copies in zip(small.classes, taken, strict=True)]
        rows, out = (shifted(counts([copies * 1.0 for copies in each])) for each in (taken, left))
        return Drawn(rows, out, counts(costs), weighted(left))

    def _copies(self, small: ScoreTable, n: int, rng: np.random.Generator) -> tuple[list[Array], list[Array]]:
        """How often the rows of each class at each score are taken in n resamples, and how many are left out."""
        clusters = self.sample.clusters
        if clusters is None:
            taken, left = zip(*(_resampled_rows(side.rows, n, rng) for side in small.classes), strict=True)
            return [*taken], [*left]
        copies = rng.poisson(1.0, size=(n, len(clusters.sizes)))
        tables = [cells[:, cells.any(0)] for cells in clusters.tables(small.thresholds[:0:-1])]
        if self.sample.costs is None:  # else the weights are costs, and the tables of clusters count rows
            tables = [cells * (side.rows / side.weights) for cells, side in zip(tables, small.classes, strict=True)]
        return [copies @ cells for cells in tables], [(copies == 0) @ cells for cells in tables]


def _part(rule: Rule, drawn: Drawn, among: Array, best: int) -> tuple[Any, ...]:
    """What some resamples say of a rule's threshold: those that find one."""
    found = rule.found(drawn, among, best)
    rows = np.flatnonzero(found.defined)
    indices = found.indices[rows]
    left, unseen = (_joined([table[rows, indices]], np.sum) for table in (drawn.left, drawn.merits_left))
    return indices, found.lost[rows], drawn.taken[rows, indices], drawn.merits_taken[rows, best], left, unseen


def _joined(tables: list[Counts[Any]], join: Callable[[list[Array]], Any]) -> Counts[Any]:
    """Tables as one, cell by cell."""
    return Counts.trusted(*(join([*cells]) for cells in zip(*tables, strict=True)))


def _varied_costs(side: ClassScores, copies: Array, rng: np.random.Generator) -> Array:
    """The cost of the rows of an entry that are taken, with the variation between rows that cost more or less."""
    mean = side.weights / side.rows
    deviation = np.sqrt(np.maximum(side.squares / side.rows - mean**2, 0))
    costs = copies * mean + np.sqrt(copies) * deviation * rng.standard_normal(copies.shape)
    return np.asarray(np.maximum(costs, 0))


def _resampled_rows(rows: Array, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """How often the rows of each entry of a class are taken in n resamples, and how many of them are left out.

    A row is left out with probability 1/e, else taken once and about 0.58 times more.
    """
    once = rng.binomial(rows, 1 - LEFT_OUT, size=(n, len(rows)))
    return once + rng.poisson(once * (LEFT_OUT / (1 - LEFT_OUT))), rows - once


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

    def counts(self, indices: Array) -> Counts[Array]:
        """The counts at an index of each draw."""
        tp, fp = (np.take_along_axis(part, indices[..., None], -1)[..., 0] for part in (self.tp, self.fp))
        return Counts.trusted(tp, self.tp[..., -1] - tp, fp, self.fp[..., -1] - fp)

    def at(self, threshold: float) -> Array:
        """The index of the last score that is at or above a threshold."""
        index = int(np.count_nonzero(self.observed >= threshold)) - 1
        return np.full(self.tp.shape[:-1], index)

    def nearest(self, policy: str, target: Array) -> Array:
        """The index whose recall, or flag rate, is nearest to the target; of equal ones that which flags fewest."""
        flagged = self.tp if policy == EQUAL_RECALL else self.tp + self.fp
        with np.errstate(invalid="ignore"):
            rates = flagged / flagged[..., -1:]
        far = np.nan_to_num(np.abs(rates - target[..., None]), nan=np.inf)
        return np.asarray(np.argmin(np.round(far / _NEAR) * _NEAR, axis=-1))


def chosen_indices(policy: str, curves: Sequence[GroupCurve], threshold: float, target: float | None) -> list[Array]:
    """The index of each group's threshold by a policy; the target is set, or what one threshold for all gives."""
    same = [curve.at(threshold) for curve in curves]
    if policy == SAME:
        return same
    if target is not None:
        goal = np.full(np.shape(same[0]), target)
    else:
        counts = [curve.counts(index) for curve, index in zip(curves, same, strict=True)]
        tp, fn, fp, tn = (np.sum(cells, axis=0) for cells in zip(*counts, strict=True))
        with np.errstate(invalid="ignore"):
            goal = np.asarray(tp / (tp + fn) if policy == EQUAL_RECALL else (tp + fp) / (tp + fn + fp + tn))
    return [curve.nearest(policy, goal) for curve in curves]


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
        indices = chosen_indices(policy, whole, self.threshold, target)
        cells = [curve.counts(index) for curve, index in zip(whole, indices, strict=True)]
        scores = [float(curve.observed[int(index)]) for curve, index in zip(whole, indices, strict=True)]
        at = [
            self.threshold if policy == SAME else threshold_of(t, s) for t, s in zip(self.tables, scores, strict=True)
        ]
        if drawn is None:
            return PolicyOutcome(at, cells, None, None)
        drawn_indices = chosen_indices(policy, [taken for taken, _ in drawn], self.threshold, target)
        ranges, unseen, tails = [], [], ((1 - self.level) / 2, (1 + self.level) / 2)
        for curve, (_, left), counts, chosen, threshold in zip(whole, drawn, cells, drawn_indices, at, strict=True):
            low, high = np.quantile(curve.observed[chosen], tails, method="nearest").tolist()
            ranges.append((min(low, threshold), max(high, threshold)))
            unseen.append(_in_size_of(counts, left.counts(chosen)))
        return PolicyOutcome(at, cells, ranges, unseen)


def _in_size_of(whole: Counts[Any], left: Counts[Array]) -> Counts[Any]:
    """The rows left out of all resamples, in the number of the rows themselves."""
    tp, fn, fp, tn = (float(cell.sum()) for cell in left)
    recall, rate = tp / max(tp + fn, _NEAR), fp / max(fp + tn, _NEAR)
    positives, negatives = float(whole.positives), float(whole.negatives)
    return Counts.trusted(recall * positives, (1 - recall) * positives, rate * negatives, (1 - rate) * negatives)


def _weights_at_scores(table: ScoreTable) -> tuple[Array, Array, Array, Array, Array]:
    """All scores of a table, ascending, with the weight and the rows of each class at each."""
    scores = table.thresholds[:0:-1]
    columns = np.zeros((4, len(scores)))
    for i, side in enumerate(table.classes):
        indices = np.searchsorted(scores, side.scores)
        np.add.at(columns[i], indices, side.weights)
        np.add.at(columns[2 + i], indices, side.rows)
    positives, negatives, positive_rows, negative_rows = columns
    return scores, positives, negatives, positive_rows, negative_rows


def _resampled(grid: tuple[Array, ...], n: int, rng: np.random.Generator) -> tuple[GroupCurve, GroupCurve]:
    """The curves of the rows taken by n resamples, and of those left out."""
    scores, *columns = grid
    parts = []
    for weights, rows in zip(columns[:2], columns[2:], strict=True):
        taken, left = _resampled_rows(rows.astype(np.int64), n, rng)
        each = weights / np.maximum(rows, 1)
        parts.append((taken * each, left * each))
    (taken_p, left_p), (taken_n, left_n) = parts
    return GroupCurve.of(scores, taken_p, taken_n), GroupCurve.of(scores, left_p, left_n)
