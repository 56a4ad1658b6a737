"""Score draws: metrics of several models' scores under random weights of the rows, by the Bayesian bootstrap."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.analysis.intervals.draws import steps, student_spread
from steelyard.metrics import application
from steelyard.metrics.calibration import isotonic_curve
from steelyard.metrics.isotonic_curve import isotonic_shares
from steelyard.metrics.ranking import once
from steelyard.statistics import score_order
from steelyard.statistics.class_scores import ClassScores
from steelyard.statistics.device_array import DeviceArray
from steelyard.statistics.effective_rows import weight_per_row
from steelyard.statistics.placed_values import taken
from steelyard.statistics.score_order import sums_between
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.intervals.design import RowMass
    from steelyard.analysis.intervals.inference import Inference
    from steelyard.metrics.metric import Metric


# ---------------------------------------------------------------- binned scores
# A table of scores with few entries, of which variances and draws are taken.


MOST_ENTRIES = 4_096  # distinct scores of a class that a bootstrap keeps apart


def binned(table: ScoreTable, most: int = MOST_ENTRIES) -> ScoreTable:
    """The table with at most about 2 x `most` entries per class, split at the scores of the rarer class.

    What counts for the order is which scores of the common class lie between two of the rarer one, so nothing is
    lost to ranking while the rarer class keeps all its scores; beyond that its quantiles are kept.
    """
    if (binned, most) not in table.remembered:  # the metrics of one table ask for the same
        table.remembered[binned, most] = _binned(table, most)
    small: ScoreTable = table.remembered[binned, most]
    return small


def _binned(table: ScoreTable, most: int) -> ScoreTable:
    edges = _bin_edges(table, most)
    if edges is None:
        return ScoreTable(table.positive.compact(), table.negative.compact(), table.label)
    sides = [side.compact() for side in (table.positive, table.negative)]
    ends = [_group_ends(side, edges) for side in sides]
    pairs = list(zip(sides, ends, strict=True))
    sums = sum(sums_between(side.scores * side.weights, end) for side, end in pairs)
    weights = [_weights_between(side, end) for side, end in pairs]
    masses = np.asarray(sum(weights), dtype=np.float64)
    scores = sums / np.where(masses > 0, masses, 1)
    # Of scores a rounding apart a mean may come to an edge or pass it, and the order would be lost.
    limits = [np.concatenate([[-np.inf], edges]), np.concatenate([edges, [np.inf]])]
    scores[::2] = np.clip(scores[::2], np.nextafter(limits[0], np.inf), np.nextafter(limits[1], -np.inf))
    scores[1::2] = edges
    positive, negative = (_grouped(*pair, mass, scores) for pair, mass in zip(pairs, weights, strict=True))
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
    """The binned table, and the place among its entries of the scores of each class, row by row."""
    edges = _bin_edges(table, most)
    if edges is not None:
        return binned(table, most), ranks.groups(edges)
    pairs = zip(table.classes, (ranks.positives, ranks.negatives), strict=True)
    return binned(table, most), [np.searchsorted(side.distinct[0], rows) for side, rows in pairs]


def _group_ends(side: ClassScores, edges: Array) -> Array:
    """Where the groups of an ordered class begin and end: what lies below an edge, ties with it, and lies between."""
    inner = np.stack([np.searchsorted(side.scores, edges, "left"), np.searchsorted(side.scores, edges, "right")], -1)
    return np.concatenate([[0], inner.ravel(), [len(side.scores)]])


def _weights_between(side: ClassScores, ends: Array) -> Array:
    """The weight of each group; of whole rows by their running sums, which round nothing."""
    whole = side.given_weights is None
    return np.diff(side.running_or_places[ends]) if whole else sums_between(side.weights, ends)


def _grouped(side: ClassScores, ends: Array, weights: Array, scores: Array) -> ClassScores:
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
    """How far each metric of each model moves under random weights of the rows or clusters, the same for all models.

    Scores are binned where there are many. With 40 positives weights of the plain gamma shape, 1, would leave 95 %
    intervals of average precision at a coverage of 92 %.
    """
    n, given = len(positive), np.ones(len(positive)) if mass.weights is None else mass.weights
    most = _MOST_WORK if mass.clusters is None else _MOST_WORK // 4  # a row's weight is looked up by its cluster
    draws = inference.draws or int(np.clip(most // n, 100, _DRAWS))
    models = {name: _entries(score, positive) for name, score in values.items()} if metrics else {}
    unmoved = {name: _metric_values(metrics, entries, given[None]) for name, entries in models.items()}
    parts: dict[str, list[Array]] = {name: [] for name in values}
    for step in steps(draws, n) if metrics else ():
        weights = given * _row_weights(step, positive, mass, inference)
        for name, entries in models.items():
            parts[name].append(_metric_values(metrics, entries, weights) - unmoved[name])
    moved = {name: np.concatenate(changes, axis=-1) for name, changes in parts.items() if changes}
    return {name: {m.name: row for m, row in zip(metrics, rows, strict=True)} for name, rows in moved.items()}


def _row_weights(draws: int, positive: Array, mass: RowMass, inference: Inference) -> Array:
    """Random weights around 1 of each row, or of each cluster and so of all its rows."""
    rng, given = inference.generator, np.ones(len(positive)) if mass.weights is None else mass.weights
    if mass.clusters is None:
        sizes = (float(given[rows].sum() ** 2 / (given[rows] ** 2).sum()) for rows in (positive, ~positive))
        spread = np.where(positive, *(_spread(size, inference.level) for size in sizes))
        return np.asarray(rng.standard_gamma(spread, (draws, len(positive))) / spread)
    sums = (np.bincount(mass.clusters[rows], given[rows]) for rows in (positive, ~positive))
    of_cluster = student_spread(min(float(part.sum() ** 2 / (part**2).sum()) for part in sums), inference.level)
    drawn = rng.standard_gamma(of_cluster, (draws, int(mass.clusters.max()) + 1)) / of_cluster
    rows = drawn[:, mass.clusters]
    return np.asarray(rows * (given.sum() / (rows @ given))[:, None])  # as many rows as there are, of which k are taken


def _spread(rows: float, level: float) -> float:
    """The gamma shape of the weights of a class; of a large one 1, which is drawn eight times as fast.

    Student's t widens the interval of 10,000 rows by 1 in 8,000.
    """
    return 1.0 if rows >= LARGE else student_spread(rows, level)


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
    table = _table(entries, weights)
    values = [application.score_values(m, table, m.parameters) for m in metrics]
    return np.array([np.broadcast_to(value, len(weights)) for value in values])


def _table(entries: Entries, weights: Array) -> ScoreTable:
    # A loop, as a draw of many rows is longer than its call, and bins summed in place need no rows in order: 1.5 ns a
    # row, where sorting the weights of two draws at a time into bins took 33.
    size = len(entries.scores)
    drawn = np.array([np.bincount(entries.cells, row, minlength=2 * size) for row in weights])
    masses = (drawn[:, entries.occupied[0]], drawn[:, size + entries.occupied[1]])
    both = zip(entries.occupied, masses, strict=True)
    positives, negatives = (ClassScores(entries.scores[at], mass, mass, mass) for at, mass in both)
    return ScoreTable(positives, negatives)


# ---------------------------------------------------------------- added rows
# A table of scores with parts of rows more, as few rows show too little of how far a value scatters.


# Rows of each class that are added. At 95 %, with 5 to 30 positives among 200 to 1,000 rows (normal, t2, tied scores;
# no skill to near-perfect; 300 to 400 runs a setting) half a row anywhere covers .94 to 1.00 for areas under the ROC
# curve and .87 to .99 for average precision, of which the precision of the first rows is the weak part: the part of a
# row at an end brings it to .92 to .99, at 1.1 times the width.
_ANYWHERE, _AT_AN_END = 0.5, 0.15


def with_added_rows(table: ScoreTable) -> list[ScoreTable]:
    """The table with half a row more of each class anywhere; with part of one at the lowest score; at the highest."""
    scores = np.union1d(*(side.scores for side in table.classes))
    columns = [_class_columns(side, scores) for side in table.classes]
    rows = columns[0][0] + columns[1][0]
    anywhere, places = rows / rows.sum(), np.arange(len(scores))
    lowest, highest = (1.0 * (places == end) for end in (0, len(scores) - 1))
    shapes = ((_ANYWHERE, anywhere), (_AT_AN_END, lowest), (_AT_AN_END, highest))
    both = ([_more(scores, column, mass * shape) for column in columns] for mass, shape in shapes)
    return [ScoreTable(positive, negative, table.label) for positive, negative in both]


def _class_columns(side: ClassScores, scores: Array) -> tuple[Array, Array, Array]:
    """The rows, weights and squared weights of a class at scores among which its own are."""
    given = np.zeros((3, len(scores)))
    given[:, np.searchsorted(scores, side.scores)] = side.rows, side.weights, side.squares
    return given[0], given[1], given[2]


def _more(scores: Array, columns: tuple[Array, Array, Array], rows: Array) -> ClassScores:
    """A class with parts of rows added, of its usual weight."""
    _, weights, squares = columns
    usual = float(weight_per_row(weights.sum(), squares.sum()))
    return ClassScores(scores, np.ones(len(scores)), weights + rows * usual, squares + rows * usual**2)


# ---------------------------------------------------------------- the histogram of scores
# The share of each class in bins of equal width.


_BINS = 48
_OUTER = 0.001  # share of the rows beyond either end, where the scores are no probabilities


@dataclass(frozen=True)
class ScoreHistogram:
    """The ends of the bins, and in each bin the share of the positives and of the negatives."""

    low: float
    high: float
    positive: Array
    negative: Array


def score_histogram(table: ScoreTable) -> ScoreHistogram:
    """The histogram of a score table; what lies beyond the ends is in the outer bins."""
    low, high = (0.0, 1.0) if table.has_probabilities else _ends(table)
    edges = np.linspace(low, high, _BINS + 1)
    return ScoreHistogram(low, high, _shares(table.positive, edges), _shares(table.negative, edges))


def _ends(table: ScoreTable) -> tuple[float, float]:
    sides = (side.scores for side in (table.positive, table.negative) if len(side.scores))
    ends = [np.quantile(scores, (_OUTER, 1 - _OUTER)) for scores in sides]
    low, high = float(np.min(ends)), float(np.max(ends))
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def _shares(side: ClassScores, edges: Array) -> Array:
    places = np.clip(np.searchsorted(edges, side.scores, side="right") - 1, 0, _BINS - 1)
    weights = np.bincount(places, side.entry_weights, minlength=_BINS).astype(np.float64)
    return np.asarray(weights / max(weights.sum(), 1e-300))


# ---------------------------------------------------------------- class ranks
# The scores that one model gives the rows of each class, sorted once for all that asks for places.


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
        """Of each class the places of its rows in ascending order, and the scores in that order."""
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
        """Of each class the group of its rows, empty ones not counted: below an edge, at it, between two, above all."""
        if isinstance(self.positives, DeviceArray) or isinstance(self.negatives, DeviceArray):
            return [_groups_by_search(scores, edges) for scores in (self.positives, self.negatives)]
        places = []
        for order, ascending in self.ordered:
            around = np.stack([np.searchsorted(ascending, edges, side) for side in ("left", "right")], -1)
            sizes = np.diff(around.ravel(), prepend=0, append=len(ascending))
            place = np.empty(len(ascending), dtype=np.int64)
            place[order] = np.repeat(np.arange(np.count_nonzero(sizes)), sizes[sizes > 0])
            places.append(place)
        return places


def _groups_by_search(scores: Array, edges: Array) -> Array:
    """The groups of scores on a device, in the order of the rows: twice the edges below, and one more where it ties."""
    group = np.searchsorted(edges, scores) + np.searchsorted(edges, scores, side="right")
    used = np.asarray(np.bincount(group, minlength=2 * len(edges) + 1) > 0)
    return taken(np.cumsum(used) - 1, group)


def _twice_below(ascending: Array, others: Array) -> Array:
    """Twice how many others, in order as well, are below each score, ties once."""
    lower = score_order.below(ascending, others)
    return lower + score_order.up_to(ascending, others, lower)


# ---------------------------------------------------------------- information bins
# Adjacent scores together, finest where outcomes say most, so that draws need not hold all rows.


_MOST_BINS, _APART = 128, 12


class ScoreBins(NamedTuple):
    """Adjacent scores together: their mean, the weight of the positives and of all, and how many rows all are worth."""

    scores: Array
    positives: Array
    weights: Array
    rows: float
    starts: Array  # the places of their first scores among all distinct ones, ascending

    @staticmethod
    def of(table: ScoreTable) -> ScoreBins:
        """Bins of about equal information s (1 - s), so that rare positives are kept apart, and of rows in part.

        The lowest and the highest scores, which the curve may follow one by one, are bins of their own.
        """
        return _bins_of_information(table)

    @classmethod
    def of_starts(cls, table: ScoreTable, starts: Array) -> ScoreBins:
        """Bins that start at these places of the distinct scores, ascending."""
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
        """Draws of the rows and of the positives among them, of so much share; the rows may be held."""
        sizes = self.weights / self.weights.sum()
        rows = np.maximum(np.round(sizes * self.rows), 1).astype(np.int64)[None]
        rows = rows if fixed else rng.multinomial(max(round(self.rows), 1), sizes, size=draws)
        return rows, rng.binomial(rows, share, size=(draws, len(self.scores)))


@once
def _columns(table: ScoreTable) -> tuple[Array, Array, Array]:
    """The distinct scores, ascending, with the weight of the positives and of all rows."""
    curve = isotonic_curve(table)
    return curve.scores, np.diff(curve.positives), np.diff(curve.weights)


@once
def _bins_of_information(table: ScoreTable) -> ScoreBins:
    scores, _, weights = _columns(table)
    spread = weights * scores * (1 - scores)
    information, total = np.cumsum(spread), np.cumsum(weights)
    information = information / (information[-1] or 1.0) + total / total[-1]
    inner = np.searchsorted(information, np.arange(1, _MOST_BINS) / _MOST_BINS * information[-1], side="right")
    n, few = len(scores), min(len(scores), _APART)
    return ScoreBins.of_starts(
        table, np.unique(np.concatenate([np.arange(few), inner[inner < n], np.arange(n - few, n)]))
    )
