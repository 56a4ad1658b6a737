"""Score draws: metrics of several models' scores under random weights of the rows, by the Bayesian bootstrap."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.analysis.intervals.draws import steps, student_spread
from steelyard.arrays.backend import backend_of, taken
from steelyard.arrays.numbers import weight_per_row
from steelyard.arrays.sorting import sums_between
from steelyard.metrics.calibration import isotonic_curve
from steelyard.metrics.isotonic_curve import isotonic_shares
from steelyard.metrics.ranking import once
from steelyard.metrics.score_values import score_values
from steelyard.tables.class_scores import ClassScores
from steelyard.tables.score_table import ScoreTable

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.intervals.design import RowMass
    from steelyard.analysis.intervals.inference import Inference
    from steelyard.metrics.measure import Metric


# ---------------------------------------------------------------- binned scores
# A table of scores with few entries, of which variances and draws are taken.


MOST_ENTRIES = 4_096  # distinct scores of a class that a bootstrap keeps apart


def binned(table: ScoreTable, most: int = MOST_ENTRIES) -> ScoreTable:
    """The table with at most about 2 x `most` entries per class, split at the scores of the rarer class.

    The order only depends on which scores of the common class lie between two of the rarer one, so nothing is lost to
    ranking while the rarer class keeps all its scores; beyond that it keeps its quantiles.
    """
    if (binned, most) not in table.remembered:  # the metrics of one table ask for the same
        table.remembered[binned, most] = _binned(table, most)
    small: ScoreTable = table.remembered[binned, most]
    return small


def _binned(table: ScoreTable, most: int) -> ScoreTable:
    edges = _bin_edges(table, most)
    if edges is None:
        return ScoreTable(table.positive.compact(), table.negative.compact(), table.label)
    pairs = []  # of each class, and where its groups end: below an edge, tied with it, between two, above all
    for side in (table.positive.compact(), table.negative.compact()):
        around = [np.searchsorted(side.scores, edges, where) for where in ("left", "right")]
        pairs.append((side, np.concatenate([[0], np.stack(around, -1).ravel(), [len(side.scores)]])))
    sums = sum(sums_between(side.scores * side.weights, ends) for side, ends in pairs)
    by_class = [_weights_between(side, ends) for side, ends in pairs]
    weights = np.asarray(sum(by_class), dtype=np.float64)
    scores = sums / np.where(weights > 0, weights, 1)
    # The mean of scores a rounding apart may come to an edge or pass it, and the order would be lost.
    limits = [np.concatenate([[-np.inf], edges]), np.concatenate([edges, [np.inf]])]
    scores[::2] = np.clip(scores[::2], np.nextafter(limits[0], np.inf), np.nextafter(limits[1], -np.inf))
    scores[1::2] = edges
    positive, negative = (_grouped(*pair, part, scores) for pair, part in zip(pairs, by_class, strict=True))
    return ScoreTable(positive, negative, table.label)


def grouped_at(table: ScoreTable, edges: Array) -> ScoreTable:
    """The table with all scores from one edge up to the next at that edge: exact where a threshold is an edge."""
    scores = np.concatenate([[np.nextafter(edges[0], -np.inf)], edges])
    sides = [side.compact() for side in table.classes]
    ends = [np.concatenate([[0], np.searchsorted(side.scores, edges), [len(side.scores)]]) for side in sides]
    pairs = zip(sides, ends, strict=True)
    positive, negative = (_grouped(side, end, _weights_between(side, end), scores) for side, end in pairs)
    return ScoreTable(positive, negative, table.label)


def _bin_edges(table: ScoreTable, most: int) -> Array | None:
    """The scores of the rarer class, or as many of their quantiles; None where no class has more scores than that."""
    if max(len(side.distinct[0]) for side in table.classes) <= most:
        return None
    edges: Array = min(table.classes, key=lambda side: side.n).distinct[0]  # by rows, however tied scores are stored
    return edges if len(edges) <= most else edges[np.linspace(0, len(edges) - 1, most).astype(np.int64)]


def binned_rows(table: ScoreTable, ranks: ClassRanks, most: int = MOST_ENTRIES) -> tuple[ScoreTable, list[Array]]:
    """The binned table, and the index of its entry for each row of each class."""
    edges = _bin_edges(table, most)
    if edges is not None:
        return binned(table, most), ranks.groups(edges)
    pairs = zip(table.classes, (ranks.positives, ranks.negatives), strict=True)
    return binned(table, most), [np.searchsorted(side.distinct[0], rows) for side, rows in pairs]


def _weights_between(side: ClassScores, ends: Array) -> Array:
    """The weight of each group; whole rows by their running sums, which round nothing."""
    whole = side.given_weights is None
    return np.diff(side.running_or_places[ends]) if whole else sums_between(side.weights, ends)


def _grouped(side: ClassScores, ends: Array, weights: Array, scores: Array) -> ClassScores:
    """A class with these weights and scores of its groups, without those that are empty."""
    used = np.diff(ends) > 0
    if side.given_weights is None:
        return ClassScores(scores[used], weights[used])
    rows, squares = (sums_between(column, ends)[used] for column in (side.rows, side.squares))
    return ClassScores(scores[used], rows, weights[used], squares)


# ---------------------------------------------------------------- score draws


_MOST_WORK, _DRAWS = 100_000_000, 2_000  # weights of rows drawn in all, and draws, unless more are asked for
LARGE = 10_000  # rows of a class from which Student's t is the normal distribution


def score_deviations(
    metrics: list[Metric], values: dict[str, Array], positive: Array, mass: RowMass, inference: Inference
) -> dict[str, dict[str, Array]]:
    """How much each metric of each model changes under random weights of the rows or clusters, the same for all models.

    Scores are binned where there are many. With 40 positives weights of the plain gamma shape, 1, would leave 95 %
    intervals of average precision at a coverage of 92 %.
    """
    n, weights = len(positive), np.ones(len(positive)) if mass.weights is None else mass.weights
    most = _MOST_WORK if mass.clusters is None else _MOST_WORK // 4  # a row's weight is looked up by its cluster
    draws = inference.draws or int(np.clip(most // n, 100, _DRAWS))
    models = {name: _entries(score, positive) for name, score in values.items()} if metrics else {}
    unchanged = {name: _metric_values(metrics, entries, weights[None]) for name, entries in models.items()}
    parts: dict[str, list[Array]] = {name: [] for name in values}
    for step in steps(draws, n) if metrics else ():
        drawn = weights * _row_weights(step, positive, mass, inference)
        for name, entries in models.items():
            parts[name].append(_metric_values(metrics, entries, drawn) - unchanged[name])
    changes = {name: np.concatenate(part, axis=-1) for name, part in parts.items() if part}
    return {name: {m.name: row for m, row in zip(metrics, rows, strict=True)} for name, rows in changes.items()}


def _row_weights(draws: int, positive: Array, mass: RowMass, inference: Inference) -> Array:
    """Random weights around 1 of each row, or of each cluster and so of all its rows."""
    rng, weights = inference.generator, np.ones(len(positive)) if mass.weights is None else mass.weights
    if mass.clusters is None:
        sizes = (float(weights[rows].sum() ** 2 / (weights[rows] ** 2).sum()) for rows in (positive, ~positive))
        # The shape 1 of a large class is drawn eight times as fast: Student's t widens 10,000 rows by 1 in 8,000.
        shapes = (1.0 if size >= LARGE else student_spread(size, inference.level) for size in sizes)
        shape = np.where(positive, *shapes)
        return np.asarray(rng.standard_gamma(shape, (draws, len(positive))) / shape)
    sums = (np.bincount(mass.clusters[rows], weights[rows]) for rows in (positive, ~positive))
    of_cluster = student_spread(min(float(part.sum() ** 2 / (part**2).sum()) for part in sums), inference.level)
    drawn = rng.standard_gamma(of_cluster, (draws, int(mass.clusters.max()) + 1)) / of_cluster
    rows = drawn[:, mass.clusters]
    # Each draw has the weight of all rows, as precision at k takes k of them.
    return np.asarray(rows * (weights.sum() / (rows @ weights))[:, None])


class Entries(NamedTuple):
    """The cell of each row, in which the bins of the negatives follow those of the positives, and the bins' scores."""

    cells: Array
    scores: Array
    occupied: list[Array]  # the bins in which each class has rows


def _entries(score: Array, positive: Array) -> Entries:
    """The entries of the positives and of the negatives: distinct scores, or the bins of `binned`."""
    edges, common = sorted((np.unique(score[rows]) for rows in (positive, ~positive)), key=len)
    if len(common) <= MOST_ENTRIES:
        bins, which = np.unique(score, return_inverse=True)
    else:
        edges = edges[np.linspace(0, len(edges) - 1, min(len(edges), MOST_ENTRIES)).astype(np.int64)]
        below = np.searchsorted(edges, score)
        which = 2 * below + (edges.take(below, mode="clip") == score)
        bins = np.bincount(which, score) / np.maximum(np.bincount(which), 1)
    occupied = [np.flatnonzero(np.bincount(which[rows], minlength=len(bins))) for rows in (positive, ~positive)]
    return Entries(np.where(positive, which, which + len(bins)), bins, occupied)


def _metric_values(metrics: list[Metric], entries: Entries, weights: Array) -> Array:
    """The metrics, one a row, under each draw of the rows' weights."""
    # A loop, as a draw of many rows takes longer than its call, and bins summed in place need no rows in order: 1.5 ns
    # a row, where sorting the weights of two draws at a time into bins took 33.
    size = len(entries.scores)
    sums = np.array([np.bincount(entries.cells, row, minlength=2 * size) for row in weights])
    by_class = (sums[:, entries.occupied[0]], sums[:, size + entries.occupied[1]])
    both = zip(entries.occupied, by_class, strict=True)
    positives, negatives = (ClassScores(entries.scores[bins], part, part, part) for bins, part in both)
    table = ScoreTable(positives, negatives)
    values = [score_values(m, table, m.parameters) for m in metrics]
    return np.array([np.broadcast_to(value, len(weights)) for value in values])


# ---------------------------------------------------------------- added rows
# A table of scores with parts of rows more, as few rows show too little variance.


# Rows of each class that are added. With 5 to 30 positives among 200 to 1,000 rows half a row anywhere covers .94 to
# 1.00 for areas under the ROC curve and .87 to .99 for average precision; the part at an end brings it to .92 to .99.
_ANYWHERE, _AT_AN_END = 0.5, 0.15


def with_added_rows(table: ScoreTable) -> list[ScoreTable]:
    """The table with half a row more of each class anywhere; with part of one at the lowest score; at the highest."""
    scores = np.union1d(*(side.scores for side in table.classes))
    columns = []  # of each class: the rows, weights and squared weights at the scores of both
    for side in table.classes:
        at_scores = np.zeros((3, len(scores)))
        at_scores[:, np.searchsorted(scores, side.scores)] = side.rows, side.weights, side.squares
        columns.append(at_scores)
    rows, index = columns[0][0] + columns[1][0], np.arange(len(scores))
    lowest, highest = (1.0 * (index == end) for end in (0, len(scores) - 1))
    tables = []
    for added in (_ANYWHERE * (rows / rows.sum()), _AT_AN_END * lowest, _AT_AN_END * highest):
        sides = []
        for _, weights, squares in columns:
            usual = float(weight_per_row(weights.sum(), squares.sum()))  # the weight of an added row
            ones = np.ones(len(scores))
            sides.append(ClassScores(scores, ones, weights + added * usual, squares + added * usual**2))
        tables.append(ScoreTable(sides[0], sides[1], table.label))
    return tables


# ---------------------------------------------------------------- the histogram of scores
# The share of each class in bins of equal width.


_BINS = 48
_OUTER = 0.001  # share of the rows beyond either end, where the scores are no probabilities


@dataclass(frozen=True)
class ScoreHistogram:
    """The lowest and the highest edge of the bins, and in each bin the share of the positives and of the negatives."""

    low: float
    high: float
    positive: Array
    negative: Array


def score_histogram(table: ScoreTable) -> ScoreHistogram:
    """The histogram of a score table; scores beyond the edges are in the outer bins."""
    low, high = 0.0, 1.0
    if not table.has_probabilities:
        sides = (side.scores for side in table.classes if len(side.scores))
        quantiles = [np.quantile(scores, (_OUTER, 1 - _OUTER)) for scores in sides]
        low, high = float(np.min(quantiles)), float(np.max(quantiles))
        low, high = (low, high) if high > low else (low - 0.5, low + 0.5)
    edges = np.linspace(low, high, _BINS + 1)
    return ScoreHistogram(low, high, _shares(table.positive, edges), _shares(table.negative, edges))


def _shares(side: ClassScores, edges: Array) -> Array:
    bins = np.clip(np.searchsorted(edges, side.scores, side="right") - 1, 0, _BINS - 1)
    weights = np.bincount(bins, side.entry_weights, minlength=_BINS).astype(np.float64)
    return np.asarray(weights / max(weights.sum(), 1e-300))


# ---------------------------------------------------------------- class ranks
# The scores that one model gives the rows of each class, sorted once.


@dataclass(frozen=True, eq=False)
class ClassRanks:
    """The scores of the positives and of the negatives, in the order of the rows."""

    positives: Array
    negatives: Array

    @classmethod
    def of(cls, score: Array, positive: Array) -> ClassRanks:
        """Those of the rows of each class."""
        return cls(score[positive], score[~positive])

    @cached_property
    def ordered(self) -> list[tuple[Array, Array]]:
        """For each class the ascending order of its rows, and the scores in that order."""
        orders = ((scores, np.argsort(scores)) for scores in (self.positives, self.negatives))
        return [(order, scores[order]) for scores, order in orders]

    def twice_beaten(self) -> tuple[Array, Array]:
        """Twice the negatives below each positive and twice the positives above each negative, ties once: midranks."""
        (up_order, positives), (down_order, negatives) = self.ordered
        up, down = np.empty(len(positives), dtype=np.int64), np.empty(len(negatives), dtype=np.int64)
        up[up_order] = _twice_below(positives, negatives)
        down[down_order] = 2 * len(positives) - _twice_below(negatives, positives)
        return up, down

    def groups(self, edges: Array) -> list[Array]:
        """The group of each row by class, empty ones not counted: below an edge, at it, between two, above all."""
        if backend_of(self.positives, self.negatives).is_device:
            return [_groups_by_search(scores, edges) for scores in (self.positives, self.negatives)]
        groups = []
        for order, ascending in self.ordered:
            around = np.stack([np.searchsorted(ascending, edges, side) for side in ("left", "right")], -1)
            sizes = np.diff(around.ravel(), prepend=0, append=len(ascending))
            group = np.empty(len(ascending), dtype=np.int64)
            group[order] = np.repeat(np.arange(np.count_nonzero(sizes)), sizes[sizes > 0])
            groups.append(group)
        return groups


def _groups_by_search(scores: Array, edges: Array) -> Array:
    """The groups of scores on a device, in the order of the rows: twice the edges below, and one more where it ties."""
    group = np.searchsorted(edges, scores) + np.searchsorted(edges, scores, side="right")
    used = np.asarray(np.bincount(group, minlength=2 * len(edges) + 1) > 0)
    return taken(np.cumsum(used) - 1, group)


def _twice_below(ascending: Array, others: Array) -> Array:
    """Twice how many others, in order as well, are below each score, ties once."""
    there = backend_of(ascending, others)
    lower: Array = there.below(ascending, others)
    up_to: Array = there.up_to(ascending, others, lower)
    return lower + up_to


# ---------------------------------------------------------------- information bins
# Adjacent scores together, finest where outcomes say most, so that draws need not hold all rows.


_MOST_BINS, _APART = 128, 12


class ScoreBins(NamedTuple):
    """Adjacent scores together: their mean, the weight of the positives and of all, and the effective size of all."""

    scores: Array
    positives: Array
    weights: Array
    effective_size: float
    starts: Array  # the indices of their first scores among all distinct ones, ascending

    @staticmethod
    def of(table: ScoreTable) -> ScoreBins:
        """Bins of about equal information s (1 - s), in part of equal rows, so that rare positives stay apart.

        Each of the lowest and of the highest scores is a bin, as the curve may follow them one by one.
        """
        return _bins_of_information(table)

    @classmethod
    def of_starts(cls, table: ScoreTable, starts: Array) -> ScoreBins:
        """Bins that start at these indices of the distinct scores, ascending."""
        scores, positives, weights = _columns(table)
        sums = [np.add.reduceat(column, starts) for column in (positives, weights, weights * scores)]
        squares = sum(float(side.squares.sum()) for side in table.classes)
        return cls(sums[2] / sums[1], sums[0], sums[1], float(weights.sum()) ** 2 / squares, starts)

    @property
    def share(self) -> Array:
        """The isotonic share of positives of each bin."""
        return isotonic_shares(self.positives, self.weights)

    @property
    def prevalence(self) -> float:
        """The share of the positives in all bins."""
        return float(self.positives.sum() / self.weights.sum())

    def class_weights(self, prevalence: Array | float | None) -> tuple[Array | float, Array | float]:
        """The weight of a positive and of a negative row at the prevalence, or at each of several."""
        share = self.prevalence
        return (1.0, 1.0) if prevalence is None else (prevalence / share, (1 - prevalence) / (1 - share))

    def drawn(self, share: Array, draws: int, rng: np.random.Generator, *, fixed: bool = False) -> tuple[Array, Array]:
        """Draws of the rows, unless these are fixed, and of the positives among them, which have this share."""
        sizes = self.weights / self.weights.sum()
        rows = np.maximum(np.round(sizes * self.effective_size), 1).astype(np.int64)[None]
        rows = rows if fixed else rng.multinomial(max(round(self.effective_size), 1), sizes, size=draws)
        return rows, rng.binomial(rows, share, size=(draws, len(self.scores)))


@once
def _columns(table: ScoreTable) -> tuple[Array, Array, Array]:
    """The distinct scores, ascending, with the weight of the positives and of all rows."""
    curve = isotonic_curve(table)
    return curve.scores, np.diff(curve.positives), np.diff(curve.weights)


@once
def _bins_of_information(table: ScoreTable) -> ScoreBins:
    scores, _, weights = _columns(table)
    information, total = np.cumsum(weights * scores * (1 - scores)), np.cumsum(weights)
    information = information / (information[-1] or 1.0) + total / total[-1]
    inner = np.searchsorted(information, np.arange(1, _MOST_BINS) / _MOST_BINS * information[-1], side="right")
    n, few = len(scores), min(len(scores), _APART)
    return ScoreBins.of_starts(
        table, np.unique(np.concatenate([np.arange(few), inner[inner < n], np.arange(n - few, n)]))
    )
