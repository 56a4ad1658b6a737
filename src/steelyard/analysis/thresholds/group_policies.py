"""Group policies: one threshold for all groups, or one each for equal recall or flag rates, judged on new rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.thresholds.coarse_thresholds import coarse
from steelyard.analysis.thresholds.resampled_threshold import LEFT_OUT
from steelyard.analysis.thresholds.threshold_gap import threshold_of
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard._types import Array
    from steelyard.statistics.score_table import ScoreTable

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
