"""Score cells: labelled rows by class and by range of scores, each range predicted as one class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.statistics.precision import as_read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array
    from steelyard.statistics.class_scores import ClassScores
    from steelyard.statistics.probability_table import ProbabilityTable
    from steelyard.statistics.score_table import ScoreTable

PRIOR_ROWS = 0.5  # added to the rows of a class that are predicted as each class, spread over the ranges there


@dataclass(frozen=True)
class ScoreRanges:
    """Ranges of scores by their lower ends; what is below the first end is a range as well."""

    ends: Array

    def places(self, scores: Array) -> Array:
        """The range of each score."""
        return np.searchsorted(self.ends, scores, side="right")

    @property
    def size(self) -> int:
        """How many ranges there are."""
        return len(self.ends) + 1


@dataclass(frozen=True)
class ColumnRanges:
    """Ranges of rows that have a column for each class: the highest column, and ranges of how high that is."""

    by_class: tuple[ScoreRanges, ...]

    def places(self, columns: Array) -> Array:
        """The range of each row."""
        highest, starts = columns.argmax(1), np.cumsum([0, *(ranges.size for ranges in self.by_class)])
        places = np.zeros(len(columns), dtype=np.int64)
        for place, ranges in enumerate(self.by_class):
            of = highest == place
            places[of] = starts[place] + ranges.places(columns[of, place])
        return places

    @property
    def size(self) -> int:
        """How many ranges there are."""
        return sum(ranges.size for ranges in self.by_class)


@dataclass(frozen=True)
class ScoreCells:
    """The rows of each class, first axis, in each range of scores, and the place of the class predicted there.

    Of two classes the positive one is first. Weighted rows are as many as they are worth.
    """

    rows: Array
    decisions: Array

    @property
    def shares(self) -> Array:
        """The share of the rows of a class that is in each range."""
        return np.asarray(self.rows / self.rows.sum(1, keepdims=True))

    @property
    def decided(self) -> Array:
        """The rows of each class, first axis, that are predicted as each class."""
        return np.asarray(self.rows @ self._by_decision.T)

    @property
    def _by_decision(self) -> Array:
        return np.asarray(np.arange(len(self.rows))[:, None] == self.decisions, dtype=np.float64)

    def drawn_shares(self, rates: Array, rng: np.random.Generator) -> Array:
        """Draws of the shares where so much of each class is predicted as each class: draws, classes, ranges."""
        balanced = self.shares.mean(0)
        together = np.maximum(self._by_decision @ balanced, 1e-300)[self.decisions]
        shape = np.maximum(self.rows + PRIOR_ROWS * balanced / together, 1e-6)
        within = rng.standard_gamma(shape, (len(rates), *shape.shape))
        sums = np.maximum(within @ self._by_decision.T, 1e-300)
        return np.asarray(within * (rates / sums)[..., self.decisions])

    def drawn_rates(self, draws: int, rng: np.random.Generator) -> Array:
        """Draws of how much of each class is predicted as each class; all of it where no class is predicted."""
        decided, possible = self.decided, self._by_decision.any(1)
        cells = rng.standard_gamma(decided + PRIOR_ROWS, (draws, *decided.shape)) * possible
        return np.asarray(cells / cells.sum(-1, keepdims=True))


class RangedCells(NamedTuple):
    """Cells, and the ranges that unlabelled rows are counted by."""

    cells: ScoreCells
    ranges: ScoreRanges | ColumnRanges

    def counted(self, scores: Array, times: Array | None = None) -> Array:
        """The unlabelled rows in each range, each as often as it counts."""
        return np.bincount(self.ranges.places(scores), times, minlength=self.ranges.size).astype(np.float64)


# ---------------------------------------------------------------- of two classes


def two_class_cells(table: ScoreTable, threshold: float | None, ranges: int) -> RangedCells:
    """The cells of about so many ranges of scores, of which a threshold divides none."""
    ends = _balanced_ends(table.classes, ranges)
    at = None if threshold is None or not np.isfinite(threshold) else as_read(threshold, table.precision)
    ends = _between_bins(ends, table) if len(table.bins) else ends
    ends = np.unique(ends if at is None else np.append(ends, at))
    sorter = ScoreRanges(ends)
    rows = np.array([_counted(sorter, side) * (side.effective_size / side.total) for side in table.classes])
    flagged = np.arange(sorter.size) > (-1 if at is None else np.searchsorted(ends, at))
    if threshold == np.inf:
        flagged[:] = False
    return RangedCells(ScoreCells(rows, np.where(flagged, 0, 1)), sorter)


def _balanced_ends(classes: Sequence[ClassScores], ranges: int) -> Array:
    """Scores that divide both classes together, each of the same weight, into ranges of equal weight."""
    scores = np.concatenate([side.scores for side in classes])
    weights = np.concatenate([side.weights / (2 * side.total) for side in classes])
    order = np.argsort(scores, kind="stable")
    running = np.cumsum(weights[order])
    wanted = np.arange(1, ranges) / ranges
    return np.unique(scores[order][np.minimum(np.searchsorted(running, wanted), len(scores) - 1)])


def _between_bins(ends: Array, table: ScoreTable) -> Array:
    """The ends moved down to where no bin of the table is divided."""
    place = np.searchsorted(table.bins[:, 0], ends, side="right") - 1
    inside = (place >= 0) & (ends <= table.bins[place, 1])
    return np.asarray(np.where(inside, table.bins[place, 0], ends))


def _counted(ranges: ScoreRanges, side: ClassScores) -> Array:
    return np.bincount(ranges.places(side.scores), side.weights, minlength=ranges.size).astype(np.float64)


# ---------------------------------------------------------------- of many classes


def class_cells(table: ProbabilityTable, ranges: int) -> RangedCells:
    """The cells of the highest column and of about so many ranges of it."""
    highest, k = table.most_probable, len(table.labels)
    of_class = (table.probabilities[highest == place, place] for place in range(k))
    wanted = np.arange(1, ranges) / ranges
    quantiles = (np.unique(np.quantile(part, wanted)) if len(part) else np.zeros(0) for part in of_class)
    sorter = ColumnRanges(tuple(ScoreRanges(ends) for ends in quantiles))
    cell = table.codes * sorter.size + sorter.places(table.probabilities)
    weights, squares = (
        np.bincount(cell, part, minlength=k * sorter.size).reshape(k, -1) for part in (table.weights, table.squares)
    )
    per_row = squares.sum(1, keepdims=True) / np.maximum(weights.sum(1, keepdims=True), 1e-300)
    decisions = np.repeat(np.arange(k), [ranges.size for ranges in sorter.by_class])
    return RangedCells(ScoreCells(weights / np.maximum(per_row, 1e-300), decisions), sorter)


def decided_cells(rows: Array, threshold: float | None = None) -> RangedCells:
    """The cells of a confusion matrix, true classes first: a range is what is predicted as a class.

    Of two classes, the positive one first, a threshold divides the scores.
    """
    if threshold is not None:
        return RangedCells(
            ScoreCells(rows[:, ::-1].astype(np.float64), np.array([1, 0])), ScoreRanges(np.array([threshold]))
        )
    highest = ColumnRanges((ScoreRanges(np.zeros(0)),) * len(rows))
    return RangedCells(ScoreCells(rows.astype(np.float64), np.arange(len(rows))), highest)


# ---------------------------------------------------------------- how many


def range_count(fewest: float, *, fine: bool = False) -> int:
    """How many ranges the scores of classes of which the smallest has so many rows are divided into.

    Of few ranges the maximum is nearly unbiased: with 25 positives, 5,000 unlabelled rows and a true share of .30 the
    interval of three ranges covers .95, that of six .82 (250 runs), at widths of .15 and .13. `fine` ranges are for a
    test of fit and for the share of positives by score, where what is estimated in each is a share of its own.
    """
    return int(np.clip(fewest / 8, 4, 12)) if fine else int(np.clip(2 + np.sqrt(fewest) / 5, 3, 10))
