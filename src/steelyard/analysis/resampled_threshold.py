"""Resampled thresholds: where the best one of resampled rows lies, and what it is worth on the rows they leave out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.draws import tails
from steelyard.analysis.threshold_criterion import Criterion, ThresholdCounts
from steelyard.statistics.class_scores import ClassScores
from steelyard.statistics.counts import Counts
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from steelyard._types import Array

MOST_APART = 4_096  # thresholds that a resample tells apart
LEFT_OUT = math.exp(-1)  # share of the rows that a resample of as many leaves out
_AT_ONCE = 2**18  # cells of a chunk of resamples


@dataclass(frozen=True)
class ResampledThresholds:
    """The last flagged score at each resample's best threshold, its direction, and the counts of all rows left out."""

    observed: Array
    directions: Array
    unseen: Counts

    def interval(self, observed: float, direction: int, level: float) -> tuple[float, float]:
        """The drawn scores that leave out as many on either side, and hold that of all rows."""
        drawn = np.append(self.observed[self.directions == direction], observed)
        low, high = (float(np.quantile(drawn, tail, method="inverted_cdf")) for tail in tails(level))
        return min(low, observed), max(high, observed)


def resampled_thresholds(
    table: ScoreTable, criterion: Criterion, observed: float, resamples: int, rng: np.random.Generator
) -> ResampledThresholds:
    """The best thresholds of resamples of a table, given the last flagged score at the best of all its rows."""
    small = _coarse(table, observed)
    scores = ThresholdCounts.of(small, criterion.both).observed
    parts = [_draws(small, criterion, n, rng) for n in _sizes(resamples, scores.size)]
    places = np.concatenate([part[0] for part in parts])
    # One table of all rows left out: a mean of values would be biased by how few rows each is made of.
    pooled = Counts.trusted(*(np.sum(cells) for cells in zip(*(part[1] for part in parts), strict=True)))
    # Of the size of the table itself, for a user's own function may count rows and not shares.
    up = [
        side.total / max(total, 1e-300)
        for side, total in ((table.positive, pooled.positives), (table.negative, pooled.negatives))
    ]
    unseen = pooled.scaled(positives=up[0], negatives=up[1])
    return ResampledThresholds(scores.flat[places], np.where(places < scores.shape[-1], 1, -1), unseen)


def _sizes(resamples: int, cells: int) -> list[int]:
    steps = math.ceil(resamples * cells / _AT_ONCE)
    return [len(part) for part in np.array_split(np.arange(resamples), min(steps, resamples))]


def _draws(small: ScoreTable, criterion: Criterion, n: int, rng: np.random.Generator) -> tuple[Array, Counts]:
    """The places of the best thresholds of n resamples, less those without one, and the counts of the rows left out."""
    sides = [_resample(side, n, rng) for side in (small.positive, small.negative)]
    drawn, left = (
        ThresholdCounts.of(ScoreTable(p, q, small.label), criterion.both) for p, q in zip(*sides, strict=True)
    )
    merits = criterion.merits(drawn.counts)
    places = criterion.chosen(merits)
    defined = np.flatnonzero(~np.isnan(merits.reshape(n, -1)[np.arange(n), places]))
    return places[defined], Counts.trusted(*(cell.sum() for cell in left.flat()[defined, places[defined]]))


def _resample(side: ClassScores, n: int, rng: np.random.Generator) -> tuple[ClassScores, ClassScores]:
    """Resamples of the rows of a class on a new first axis of its weights, and the rows that they leave out.

    A row is left out with probability 1/e, else taken once and about 0.58 times more.
    """
    rows = side.rows
    taken = rng.binomial(rows, 1 - LEFT_OUT, size=(n, len(rows)))
    again = rng.poisson(taken * (LEFT_OUT / (1 - LEFT_OUT)))
    row_weight = 1.0 if side.given_weights is None else side.weights / rows
    drawn, left = (taken + again) * row_weight, (rows - taken) * row_weight
    return ClassScores(side.scores, drawn, drawn, drawn), ClassScores(side.scores, left, left, left)


def _coarse(table: ScoreTable, observed: float) -> ScoreTable:
    """The table with at most about MOST_APART thresholds, each score moved down to the next that is left."""
    small, scores = table.compact(), table.thresholds[:0:-1]
    if len(scores) <= MOST_APART:
        return small
    # A sensible metric is best at a score of one class or right above it: the rare class has few of them.
    rare = min((table.positive, table.negative), key=lambda side: side.size).distinct[0]
    near = np.searchsorted(scores, rare[_evenly(len(rare), MOST_APART // 4)])
    best = np.searchsorted(scores, observed) if math.isfinite(observed) else 0
    places = np.concatenate([near, near + 1, _evenly(len(scores), MOST_APART // 2), [best]])
    left = scores[np.unique(np.minimum(places, len(scores) - 1))]
    return ScoreTable(_moved(small.positive, left), _moved(small.negative, left), table.label)


def _evenly(n: int, most: int) -> Array:
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64))


def _moved(side: ClassScores, thresholds: Array) -> ClassScores:
    places, starts = np.unique(np.searchsorted(thresholds, side.scores, side="right") - 1, return_index=True)
    columns = (side.rows, side.given_weights, side.given_squares)
    rows, weights, squares = (None if c is None else np.add.reduceat(c, starts) for c in columns)
    return ClassScores(thresholds[places], rows, weights, squares)
