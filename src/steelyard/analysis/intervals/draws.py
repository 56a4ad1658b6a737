"""Draws: the tables that might have been, as one more axis of the table that is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steelyard.analysis.distributions import logistic, normal_reach, student_quantile
from steelyard.arrays.numbers import LARGEST, weight_per_class_row
from steelyard.arrays.sparse import SparseMatrix, error_entries, summed_by
from steelyard.exceptions import CountOverflowError, InputTypeError
from steelyard.tables.class_scores import ClassScores
from steelyard.tables.confusion import Confusion, one_vs_rest
from steelyard.tables.counts import Counts
from steelyard.tables.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from steelyard._types import Array, Label, Rng
    from steelyard.analysis.intervals.estimand import Estimand
    from steelyard.tables.counts import SharedCells

    ClassSizes = Callable[[Array], Array]  # of drawn sizes of the classes, those in use


# ---------------------------------------------------------------- draws of three or more classes
# The prior of a class's recall is learnt from the classes, as rare ones say little.
#
# Half a row added to each side of every class would move the mean of many rare classes by far more than its error, and
# no rows at all would take a class without hits for one that is never found. So the recalls are drawn from a Beta
# distribution common to all classes; its mean and its variance are drawn as well. Where the classes agree, a rare one
# is read with the others; where they differ, nearly alone. The interval holds these draws, and those of half a row
# moved from their centre to the observed value, wholly and by (1 - 2 / K)^2 of the way, which with two classes is not
# at all, and on by the bias that a mean of few rows has (`recentred`). In trials with 3 to 20 classes (3 to 20 rows in
# the rare ones, recall 0.1 to 0.99; 150 to 600 test sets each) that covered .90 to 1.00 at 1.0 to 1.3 times the width
# of draws with 2 rows spread over all cells, which covered .15 to .96.


HALF_ROW = 0.5  # rows added to the hits, and to the misses, of each class
MOST_DENSE = 141  # classes up to which every cell has a draw of its own
_LOGITS = np.linspace(-7, 7, 29)  # of the mean recall
_FEW, _UNLIKELY, _FINEST = 8, 1e-5, 1e-6  # likely logits below which they stand closer: many rows allow one or none
_PRIOR_SIZES = 2.0 ** np.arange(-1, 10)  # how many rows the common distribution counts as: 1/2 to 512


class TableDraws(NamedTuple):
    """Draws of a table on a first axis, and draws that are read around the observed value, with their mean table."""

    cells: Array
    around: Array
    centre: Array | None = None
    deviance: Array | None = None


def class_draws(rows: Array, draws: int, rng: np.random.Generator) -> TableDraws:
    """Draws of a table of three or more classes; a class without rows gets none."""
    totals, hits = rows.sum(-1), np.diagonal(rows)
    sizes, wrong = rng.standard_gamma(totals, (draws, len(rows))), _wrong_shares(rows, draws, rng)
    learnt, alone = recall_draws(hits, totals, draws, rng)
    centre = recall_table(totals, (hits + HALF_ROW) / (totals + 2 * HALF_ROW), expected_wrong(rows))
    return TableDraws(recall_table(sizes, learnt, wrong), recall_table(sizes, alone, wrong), centre[None])


def recall_draws(hits: Array, totals: Array, draws: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draws of the recall of each class, with the other classes and by its rows alone; rows may be drawn too."""
    mean_hits, mean_totals = (np.atleast_2d(rows).mean(0) for rows in (hits, totals))
    learnt = _betas(*recall_prior(mean_hits, mean_totals, draws, rng), hits, totals, rng)
    return learnt, _betas(np.full((draws, 1), HALF_ROW), np.full((draws, 1), HALF_ROW), hits, totals, rng)


def recall_prior(hits: Array, totals: Array, draws: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draws of the two parameters of the Beta distribution of the classes' recalls, a column each."""
    pairs, times = np.unique(np.stack([hits, totals - hits]), axis=1, return_counts=True)  # many rare classes are alike
    logits = _LOGITS
    density = _prior_density(pairs, times, logits)
    while len(likely := np.flatnonzero(density.max(1) > _UNLIKELY)) < _FEW and np.ptp(logits) > _FINEST:
        low, high = logits[max(likely[0] - 1, 0)], logits[min(likely[-1] + 1, len(logits) - 1)]
        logits = np.linspace(low, high, len(_LOGITS))
        density = _prior_density(pairs, times, logits)
    drawn = rng.choice(density.size, draws, p=density.ravel() / density.sum())
    mean, size = logistic(logits[drawn // len(_PRIOR_SIZES)]), _PRIOR_SIZES[drawn % len(_PRIOR_SIZES)]
    return (mean * size)[:, None], ((1 - mean) * size)[:, None]


def _prior_density(pairs: Array, times: Array, logits: Array) -> Array:
    """How likely each mean recall is, with each number of rows that the distribution counts as."""
    from scipy.special import betaln

    mean = logistic(logits)
    a, b = (np.outer(share, _PRIOR_SIZES).ravel() for share in (mean, 1 - mean))
    log_likelihoods = betaln(pairs[0][:, None] + a, pairs[1][:, None] + b) - betaln(a, b)
    # Jeffreys' prior of the mean; the numbers of rows are as likely on every scale.
    logs = times @ log_likelihoods + np.log(a * b) / 2 - np.log(a + b)
    return np.asarray(np.exp(logs - logs.max()).reshape(len(logits), -1))


def _betas(a: Array, b: Array, hits: Array, totals: Array, rng: np.random.Generator) -> Array:
    right, wrong = rng.standard_gamma(hits + a), rng.standard_gamma(totals - hits + b)
    return np.asarray(right / np.maximum(right + wrong, 1e-300))


def recall_table(sizes: Array, recall: Array, wrong: Array) -> Array:
    """The cells of classes of these sizes and recalls, with these shares of each other class in their misses."""
    cells = wrong * (sizes * (1 - recall))[..., None]
    np.einsum("...ii->...i", cells)[...] = sizes * recall
    return np.asarray(cells)


def expected_wrong(rows: Array) -> Array:
    """The share of a class's misses that is taken for each other class, half a row spread over them."""
    k = len(rows)
    wrong = (rows + HALF_ROW / (k - 1)) * (1 - np.eye(k))
    return np.asarray(wrong / wrong.sum(-1, keepdims=True))


def _wrong_shares(rows: Array, draws: int, rng: np.random.Generator) -> Array:
    """Draws of the share of a class's misses that is taken for each other class."""
    misses, k = rows * (1 - np.eye(len(rows))), len(rows)
    if k <= MOST_DENSE:
        cells = rng.standard_gamma(misses + (1 - np.eye(k)) * HALF_ROW / (k - 1), (draws, k, k))
    else:
        filled, cells = np.flatnonzero(misses), np.zeros((draws, k, k))
        cells.reshape(draws, -1)[:, filled] = rng.standard_gamma(misses.ravel()[filled], (draws, len(filled)))
        _add_anywhere_else(cells, np.full(k, HALF_ROW), rng)
    return np.asarray(cells / np.maximum(cells.sum(-1, keepdims=True), 1e-300))


def moved_wrong_shares(cells: Array, rng: np.random.Generator) -> Array:
    """These shares in draws of the table, with half a row that falls on one other class."""
    k = cells.shape[-1]
    misses = _add_anywhere_else(cells * (1 - np.eye(k)), np.full(k, HALF_ROW), rng)
    return np.asarray(misses / np.maximum(misses.sum(-1, keepdims=True), 1e-300))


def _add_anywhere_else(cells: Array, misses: Array, rng: np.random.Generator) -> Array:
    """Add misses at a random other class: among many nearly all of a small gamma draw falls on one anyway."""
    draws, k = cells.shape[:2]
    other = (np.arange(k) + rng.integers(1, k, (draws, k))) % k
    cells[np.arange(draws)[:, None], np.arange(k), other] += rng.standard_gamma(misses, (draws, k))
    return cells


# ---------------------------------------------------------------- draws


# Rows added to each class, anywhere among the scores: 0.5 and 1 were tried, on settings like those of the coverage
# table, so that table does not test it; three settings of other distributions, drawn later, gave 92 to 98 %.
RANK_PRIOR = 0.5
_AT_ONCE = 2_000_000  # cells drawn at a time


def generator(rng: Rng) -> np.random.Generator:
    """The generator that was given, or one with a fixed seed, so that one input gives one output."""
    try:
        return np.random.default_rng(0 if rng is None else rng)
    except (TypeError, ValueError):
        raise InputTypeError(f"rng is a NumPy Generator or a whole number to seed one, not {rng!r}.") from None


# ---------------------------------------------------------------- tables of labels


def effective_cells(table: Counts | Confusion) -> tuple[Array, Array]:
    """The effective size of each cell, true classes on the axis before the last, and the weight of one effective row.

    The effective size of the weighted rows of a true class is (sum w)^2 / sum w^2, or that by the linearised variance
    of its recall, if smaller; without weights it is their number.
    """
    if isinstance(table, Counts):
        cells = np.stack([np.stack([table.tp, table.fn], -1), np.stack([table.fp, table.tn], -1)], -2)
        return cells.astype(np.float64), np.ones((2, 1))
    if not table.weighted:
        return table.rows.astype(np.float64), np.ones((len(table.labels), 1))
    row_weight = weight_per_class_row(table.weights, table.squares)
    return table.weights / row_weight, row_weight


def posterior_draws(rows: Array, row_weight: Array, draws: int, rng: np.random.Generator) -> TableDraws:
    """Draws of the table from its posterior: with two classes half a row is added to each cell.

    The same draws are read once more around the observed value: the change by the added rows is taken back, without
    which an accuracy of ten classes with no error would be certain not to be 1.
    """
    if rows.shape[-1] > 2:
        drawn = class_draws(rows, draws, rng)
    else:
        cells = rng.standard_gamma(rows + HALF_ROW, size=(draws, *rows.shape))
        # The draws of one cell lie side by side in memory, as formulas read cell by cell.
        cells = np.moveaxis(np.ascontiguousarray(np.moveaxis(cells, 0, -1)), -1, 0)
        drawn = TableDraws(cells, cells, (rows + HALF_ROW)[None])
    return weighted(drawn, row_weight)


def stacked(parts: Iterable[TableDraws], size: int) -> TableDraws:
    """The draws of so many tables as those of one array of tables, on the axis after the draws."""
    draws_last: dict[str, Array] = {}
    for i, part in enumerate(parts):
        arrays = {"cells": part.cells, "centre": part.centre, "deviance": part.deviance}
        if part.around is not part.cells:
            arrays["around"] = part.around
        for name, array in arrays.items():
            if array is not None:
                last = array if name == "deviance" else np.moveaxis(array, 0, -1)
                draws_last.setdefault(name, np.empty((size, *last.shape)))[i] = last
    first = {name: array if name == "deviance" else np.moveaxis(array, -1, 0) for name, array in draws_last.items()}
    return TableDraws(first["cells"], first.get("around", first["cells"]), first.get("centre"), first.get("deviance"))


def weighted(drawn: TableDraws, row_weight: Array) -> TableDraws:
    """The draws in which a row of each true class has that weight."""
    return drawn if (row_weight == 1).all() else mapped(drawn, lambda cells: cells * row_weight)


def mapped(drawn: TableDraws, change: Callable[[Array], Array]) -> TableDraws:
    """The draws with every table changed alike."""
    cells = change(drawn.cells)
    around = cells if drawn.around is drawn.cells else change(drawn.around)
    return drawn._replace(cells=cells, around=around, centre=None if drawn.centre is None else change(drawn.centre))


def with_class_totals(cells: Array, weights: Array) -> Array:
    """The draws where the weight of each true class is known and not a matter of chance."""
    total = cells.sum(-1, keepdims=True)
    return np.asarray(cells * (weights[..., None] / np.where(total > 0, total, 1)))


def bootstrap_draws(rows: Array, draws: int, rng: np.random.Generator, *, stratified: bool = False) -> Array:
    """Draws of the table by resampling its rows, which is a multinomial draw of its cells."""
    if stratified:
        return np.stack([_multinomial(row, draws, rng) for row in rows], axis=-2)
    return _multinomial(rows.ravel(), draws, rng).reshape(draws, *rows.shape)


def _multinomial(cells: Array, draws: int, rng: np.random.Generator) -> Array:
    total = cells.sum()
    if total > LARGEST:
        raise CountOverflowError(f"A bootstrap resamples whole rows, at most {LARGEST} of them; use 'posterior'.")
    shares = cells / total if total else np.full(len(cells), 1 / len(cells))
    return rng.multinomial(round(total), shares, size=draws).astype(np.float64)


def as_counts(cells: Array) -> Counts:
    """Draws of a 2 x 2 table, the positive class first, as Counts with the draws on the last axis."""
    if cells.ndim == 3:
        return Counts.trusted(cells[:, 0, 0], cells[:, 0, 1], cells[:, 1, 0], cells[:, 1, 1])
    moved = np.moveaxis(cells, 0, -1)
    return Counts.trusted(moved[..., 0, 0, :], moved[..., 0, 1, :], moved[..., 1, 0, :], moved[..., 1, 1, :])


# ---------------------------------------------------------------- tables of scores


def student_spread(n: float, level: float) -> float:
    """The gamma shape of n weights whose Dirichlet has the variance of a sample, widened as Student's t widens it."""
    if n < 3:
        return 0.1
    ratio = normal_reach(level) / float(student_quantile((1 + level) / 2, n - 1))
    return max(((n - 1) * ratio**2 - 1) / n, 0.1)


def rank_draws(table: ScoreTable, draws: int, rng: np.random.Generator, level: float) -> ScoreTable:
    """The Bayesian bootstrap of a compact score table: a gamma draw an entry, on a new first axis of the weights.

    Each class has a little more weight, at the score of a random row of either class in each draw: without it a
    perfect ranking would be certain to stay perfect, however few rows it has.
    """
    sides = (table.positive, table.negative)
    scores = np.union1d(*(side.scores for side in sides))
    indices = [np.searchsorted(scores, side.scores) for side in sides]
    both = zip(indices, sides, strict=True)
    rows = np.sum([np.bincount(at, side.rows, minlength=len(scores)) for at, side in both], axis=0)
    drawn = []
    for at, side in zip(indices, sides, strict=True):
        weights = np.zeros((draws, len(scores)))
        weights[:, at] = _entry_weights(side, draws, rng, student_spread(side.n, level))
        anywhere = rng.choice(len(scores), draws, p=rows / rows.sum())
        weights[np.arange(draws), anywhere] += rng.standard_gamma(RANK_PRIOR, draws) * (side.total / side.n)
        drawn.append(ClassScores(scores, weights * (side.n / side.total), weights, weights))
    return ScoreTable(drawn[0], drawn[1], table.label)


def _entry_weights(side: ClassScores, draws: int, rng: np.random.Generator, shape: float) -> Array:
    """Draws of the weight of each entry: its mean is the sum of its rows' weights w, its variance that of w^2."""
    weights, squares = side.weights.astype(np.float64), side.squares.astype(np.float64)
    drawn = rng.standard_gamma(shape * weights**2 / squares, size=(draws, len(weights)))
    return np.asarray(drawn * (squares / weights / shape))


def steps(draws: int, size: int) -> Iterator[int]:
    """How many draws of that size are made at a time."""
    step = max(1, _AT_ONCE // max(size, 1))
    return (min(step, draws - start) for start in range(0, draws, step))


# ---------------------------------------------------------------- cluster draws
# Tables of rows in clusters as they may be elsewhere, by the effective size of each class.
#
# How classes go together, and how many rows each has, is drawn by random weights of whole clusters (the Bayesian
# bootstrap). What is known of the recall of a class is counted by the clusters that have rows of it, which are few
# where the class belongs to the cluster: its rows are divided by their design effect, which is drawn as a variance that
# so many clusters show. Few clusters, or few that hold misses, say little of it, so there is a prior of the intraclass
# correlation. With few clusters of a class (5 to 8 of 48 to 100, even or log-normal in size; 300 runs a setting) recall
# is covered in .97 to 1.00 where weights of clusters alone gave .74 to .88, precision and MCC in .90 to .97 (.88 to
# .93); where classes are mixed within clusters all metrics in .94 to .99, at most 1.16 times as wide.


# Chosen on recalls of 3 to 40 clusters; with 5 to 8 positive clusters these cover recall and balanced accuracy in .96
# to 1.00, MCC and precision in .93 to .97 (200 to 400 runs, fresh seeds).
PRIOR_CORRELATION, PRIOR_DEGREES, MORE_DEGREES = 0.4, 1.0, 2.0
_TINY = 1e-300


class ClassRows(NamedTuple):
    """The share of right rows of each class, its effective size, and how well that is known."""

    share: Array
    effective_size: Array
    degrees: Array

    @classmethod
    def of(cls, hits: Array, sizes: Array) -> ClassRows:
        """The effective rows of each class, given its right and all its rows of each cluster on a first axis."""
        total = np.maximum(sizes.sum(0), _TINY)
        share, size = hits.sum(0) / total, (sizes**2).sum(0) / total  # the size of the cluster of a random row
        squares = ((hits - share * sizes) ** 2 / np.maximum(1 - sizes / total, 1e-9)).sum(0)
        rarer = np.where(share > 0.5, sizes - hits, hits)
        degrees = np.maximum(np.minimum(total / np.maximum(size, _TINY), _effective_clusters(rarer)) - 1, 0)
        prior = 1 + np.maximum(size - 1, 0) * PRIOR_CORRELATION
        effect = degrees * squares / np.maximum(share * (1 - share) * total, _TINY) + PRIOR_DEGREES * prior
        effect = np.maximum(effect / (degrees + PRIOR_DEGREES), 1)
        correlation = np.clip((effect - 1) / np.maximum(size - 1, 1e-9), 0, 1)
        # The effective number of uneven clusters is the smaller the more their rows are correlated.
        correlated = sizes**2 / np.maximum((sizes**2).sum(0), _TINY)
        parts = correlation * correlated + (1 - correlation) * sizes / total
        return cls(share, sizes.sum(0) / effect, np.maximum(_effective_clusters(parts) - 1, 0) + MORE_DEGREES)

    def drawn(self, draws: int, rng: np.random.Generator) -> Array:
        """Draws of the effective size."""
        size = self.effective_size
        return np.asarray(size * rng.chisquare(self.degrees, (draws, len(size))) / self.degrees)


def _effective_clusters(weights: Array) -> Array:
    """Kish's effective number of clusters of each class, given their weights in it."""
    squares = (weights**2).sum(0)
    return np.asarray(weights.sum(0) ** 2 / np.where(squares > 0, squares, 1))


def cluster_draws(tables: Array, draws: int, rng: np.random.Generator, level: float) -> TableDraws:
    """Draws of the sum of the clusters' tables (first axis): weights of clusters, and recalls of effective rows."""
    rows, of_classes = tables.sum(0), tables.sum(-1)
    effective = ClassRows.of(np.diagonal(tables, axis1=1, axis2=2), of_classes)
    weighted = _weighted_sums(tables, draws, rng, level)
    sizes, wrong = weighted.sum(-1), moved_wrong_shares(weighted, rng)
    recall_of_weighted = np.diagonal(weighted, axis1=1, axis2=2) / np.maximum(sizes, _TINY)
    sizes = sizes * _size_factors(of_classes, draws, rng, level)
    effective_sizes = effective.drawn(draws, rng)
    hits = effective.share * effective_sizes
    both = recall_draws(hits, effective_sizes, draws, rng)
    learnt, alone = (recall_table(sizes, _in_order_of(recall, recall_of_weighted, rng), wrong) for recall in both)
    mean_recall = ((hits + HALF_ROW) / (effective_sizes + 2 * HALF_ROW)).mean(0)
    centre = recall_table(rows.sum(-1), mean_recall, expected_wrong(rows))
    return TableDraws(alone if len(rows) == 2 else learnt, alone, centre[None])


def _weighted_sums(tables: Array, draws: int, rng: np.random.Generator, level: float) -> Array:
    """Draws of the sum of the tables with a random weight of each cluster; few clusters vary as Student's t does."""
    shape = student_spread(float(_effective_clusters(tables.sum((1, 2)))), level)
    # Clusters of one and the same table share a weight: a sum of gammas is a gamma of the summed shapes.
    distinct, times = np.unique(tables.reshape(len(tables), -1), axis=0, return_counts=True)
    weights = rng.standard_gamma(shape * times, size=(draws, len(times))) / shape
    return np.asarray((weights @ distinct).reshape(draws, *tables.shape[1:]))


def _size_factors(sizes: Array, draws: int, rng: np.random.Generator, level: float) -> Array:
    """Factors of the rows of a class, which vary more than weights of all clusters do where its few are uneven."""
    with_all = np.column_stack([sizes, sizes.sum(1)])
    effective, clusters = np.maximum(_effective_clusters(with_all), 1), np.maximum((with_all > 0).sum(0), 1)
    ratio = student_quantile((1 + level) / 2, np.maximum(effective - 1, 1)) / normal_reach(level)
    variance = (1 - effective / clusters) * (ratio**2 - 1) / effective
    shape = 1 / np.maximum(variance[:-1] - variance[-1], 1e-6)
    return np.asarray(rng.standard_gamma(shape, (draws, len(shape))) / shape)


def _in_order_of(drawn: Array, other: Array, rng: np.random.Generator) -> Array:
    """The draws of each column in the order of another's, ties at random: they go together as those do."""
    order = np.lexsort(np.stack([rng.random(other.T.shape), other.T]))
    ordered = np.empty_like(order, dtype=np.float64)
    np.put_along_axis(ordered, order, np.sort(drawn.T, axis=-1), -1)
    return ordered.T


# ---------------------------------------------------------------- one class against the rest
# That class stands first.


def class_fold(index: int, k: int) -> Array:
    """The 2 x K matrix that adds up one class, then all others."""
    fold = np.ones((2, k))
    fold[0], fold[0, index], fold[1, index] = 0, 1, 0
    return fold


@dataclass(frozen=True)
class ClassFolds:
    """The 2 x 2 tables of classes against the rest: rows, and where there are any the weights and their squares."""

    rows: Array
    weights: Array | None = None
    squares: Array | None = None

    @classmethod
    def of(cls, table: Confusion, index: int | None = None) -> ClassFolds:
        """Those of all classes of a table, or of one."""
        given = (table.given_weights, None if table.given_squares is None else table.squares)
        weights, squares = (None if part is None else _two_by_two(part, index) for part in given)
        return cls(_two_by_two(table.rows, index), weights, squares)

    def __getitem__(self, index: int) -> tuple[Array, Array]:
        """The effective size of the cells of one table, and the weight of one effective row of either class."""
        if self.weights is None or self.squares is None:
            return self.rows[index].astype(np.float64), np.ones((2, 1))
        row_weight = weight_per_class_row(self.weights[index], self.squares[index])
        return self.weights[index] / row_weight, row_weight


def _two_by_two(matrix: Array, index: int | None) -> Array:
    """One table below the other, each with its class first."""
    if index is not None:
        return _one_class(matrix, index).reshape(1, 2, 2)
    cells = np.stack(one_vs_rest(matrix), -1)
    if matrix.dtype.kind == "f" and not isinstance(matrix, SparseMatrix):
        for small in np.flatnonzero(cells[:, 3] < matrix.sum() / 1000):
            cells[small] = _one_class(matrix, int(small))
    return cells.reshape(-1, 2, 2)


def _one_class(matrix: Array, index: int) -> Array:
    """The four sums; what is left of all takes the digits of all with it, so that a small rest is added up itself."""
    if isinstance(matrix, SparseMatrix):
        return np.array([cell[index] for cell in one_vs_rest(matrix)])
    tp, fn, fp = matrix[index, index], np.delete(matrix[index], index).sum(), np.delete(matrix[:, index], index).sum()
    total = matrix.sum()
    rest = total - tp - fn - fp
    if rest < total / 1000:
        rest = np.delete(np.delete(matrix, index, 0), index, 1).sum()
    return np.array([tp, fn, fp, rest])


def folded(table: Confusion, index: int) -> Confusion:
    """The table of one class against the rest, that class first."""
    parts = (table.rows, table.given_weights, None if table.given_squares is None else table.squares)
    rows, weights, squares = (None if part is None else _two_by_two(part, index)[0] for part in parts)
    return Confusion((1, 0), np.asarray(rows, dtype=np.int64), weights, squares)


def against_rest(table: Confusion, label: Label) -> Confusion:
    """The table of one class against the rest, that class first."""
    return folded(table, table.index(label))


# ---------------------------------------------------------------- large tables
# Metrics on draws of a table of very many classes, a few draws at a time, so that memory is bounded.


DRAWS_AT_ONCE, LEAST_DRAWS, COUNT_DRAWS = 4_000_000, 200, 10_000


class DrawnValues(NamedTuple):
    """The values of a metric on draws of its table, on draws around a centre, and at the centre; draws come last."""

    values: Array
    around: Array
    centre: Array | None
    least_shift: float = 0.0  # the share of the way from the centre to the value that the draws move at least

    @classmethod
    def of(cls, estimand: Estimand, drawn: TableDraws, shared: SharedCells | None = None) -> DrawnValues:
        """The values of a metric on the draws; those of one and the same draws are computed once."""
        values = estimand.on_cells(drawn.cells) if shared is None else estimand.on_counts(shared)
        around = values if drawn.around is drawn.cells else estimand.on_cells(drawn.around)
        centre = None if drawn.centre is None else estimand.on_cells(drawn.centre)[..., 0]
        return cls(values, around, centre, (1 - 2 / drawn.cells.shape[-1]) ** 2)


def draw_count(classes: int, *, of_one: bool) -> int:
    """How many draws a table gets: fewer where it has many cells, or where each of many classes keeps its own."""
    cells = 4 * classes if of_one else classes**2
    return int(np.clip(DRAWS_AT_ONCE // cells, LEAST_DRAWS, COUNT_DRAWS))


def is_large(classes: int, draws: int) -> bool:
    """Whether the draws of the whole table are more than are kept at once."""
    return classes**2 * draws > DRAWS_AT_ONCE


def values_by_blocks(
    estimands: Sequence[Estimand], draw: Callable[[int], TableDraws], classes: int, draws: int
) -> dict[Estimand, DrawnValues]:
    """The values of all metrics on the same draws, which are made and forgotten block by block."""
    size = max(DRAWS_AT_ONCE // classes**2, 1)
    values: dict[Estimand, list[DrawnValues]] = {estimand: [] for estimand in estimands}
    for start in range(0, draws, size):
        drawn = draw(min(size, draws - start))
        for estimand, parts in values.items():
            parts.append(DrawnValues.of(estimand, drawn))
    return {
        estimand: parts[0]._replace(
            values=np.concatenate([part.values for part in parts], axis=-1),
            around=np.concatenate([part.around for part in parts], axis=-1),
        )
        for estimand, parts in values.items()
    }


# ---------------------------------------------------------------- margin draws
# Draws of a table of very many classes as the cells of each class against the rest, never as K x K.
#
# A metric of many classes reads the diagonal and the margins, so only these are drawn: the recall of every class as in
# `class_draws`, and the share of its misses in each cell that holds any. Half a row falls on one other class.


CELLS_DRAWN = 10_000_000  # of all draws together, a class as much as twelve cells
LEAST_MARGIN_DRAWS, MOST_MARGIN_DRAWS = 200, 4_000
_MARGINS_AT_ONCE = 4_000_000  # of these that are in memory together


class ClassMargins(NamedTuple):
    """Draws of the cells of each class against the rest: draws first, classes last."""

    tp: Array
    fn: Array
    fp: Array
    total: Array

    def cells(self) -> tuple[Array, Array, Array, Array]:
        """The four cells, true negatives as what is left."""
        return self.tp, self.fn, self.fp, np.maximum(self.total - self.tp - self.fn - self.fp, 0)


@dataclass(frozen=True)
class ErrorCells:
    """The cells off the diagonal that hold anything, in row order, and the effective sizes of the table."""

    true: Array
    predicted: Array
    rows: Array
    hits: Array
    misses: Array
    row_weight: Array

    @classmethod
    def of(cls, table: Confusion) -> ErrorCells:
        """Those of a table; weighted rows of a class count by their effective size."""
        true, predicted, weights = error_entries(table.matrix)
        row_weight = np.ones(len(table.labels))
        if table.weighted:
            row_weight = weight_per_class_row(table.weights, table.squares)[:, 0]
        rows = weights / row_weight[true]
        hits = table.hits / row_weight
        return cls(true, predicted, rows, hits, summed_by(true, rows, len(row_weight)), row_weight)

    @property
    def totals(self) -> Array:
        """The rows of each class."""
        return np.asarray(self.hits + self.misses)

    @cached_property
    def by_column(self) -> Any:
        """The sparse matrix that adds up the cells of each column."""
        from scipy.sparse import csr_array

        cells = np.arange(len(self.rows))
        return csr_array((np.ones(len(cells)), (self.predicted, cells)), shape=(len(self.hits), len(cells)))

    def draw_count(self) -> int:
        """How many draws are made: fewer where there are many cells."""
        cells = len(self.rows) + 12 * len(self.hits)
        return int(np.clip(CELLS_DRAWN // cells, LEAST_MARGIN_DRAWS, MOST_MARGIN_DRAWS))

    def blocks(self, draws: int) -> list[int]:
        """The draws that are made at a time."""
        size = max(_MARGINS_AT_ONCE // (len(self.rows) + 4 * len(self.hits)), 1)
        return [min(size, draws - start) for start in range(0, draws, size)]


@dataclass(frozen=True)
class MarginSampler:
    """Draws of one table, block by block; `sizes` puts the sizes of the classes in use in place of those drawn."""

    cells: ErrorCells
    sizes: ClassSizes
    centre_sizes: ClassSizes

    def values(
        self, estimands: Sequence[Estimand], draws: int, rng: np.random.Generator
    ) -> dict[Estimand, DrawnValues]:
        """The values of all metrics on the same draws of the margins."""
        cells, (drawn, around) = self.cells, self._drawn(draws, rng)
        centre, shift = self._centre(), (1 - 2 / len(cells.hits)) ** 2
        return {
            each: DrawnValues(
                each.on_margins(drawn.cells()),
                each.on_margins(around.cells()),
                each.on_margins(centre.cells())[..., 0],
                shift,
            )
            for each in estimands
        }

    def _drawn(self, draws: int, rng: np.random.Generator) -> tuple[ClassMargins, ClassMargins]:
        """Draws with recalls learnt from the classes, and with those of each class alone."""
        totals = self.cells.totals
        sizes = self.sizes(rng.standard_gamma(totals, (draws, len(totals))) * self.cells.row_weight)
        recalls = recall_draws(self.cells.hits, totals, draws, rng)
        missed = [sizes * (1 - recall) for recall in recalls]
        false, start = [np.empty_like(part) for part in missed], 0
        for block in self.cells.blocks(draws):
            some = slice(start, start + block)
            for fp, part in zip(false, self._false_positives([part[some] for part in missed], rng), strict=True):
                fp[some] = part
            start += block
        total = sizes.sum(-1, keepdims=True)
        learnt, alone = (ClassMargins(sizes * r, m, f, total) for r, m, f in zip(recalls, missed, false, strict=True))
        return learnt, alone

    def _false_positives(self, missed: Sequence[Array], rng: np.random.Generator) -> list[Array]:
        """The misses of each class as false positives of others, by one draw of the cells for all sizes of misses."""
        cells, (draws, k) = self.cells, missed[0].shape
        wrong = _cell_gammas(cells.rows, draws, rng)
        other = (np.arange(k) + rng.integers(1, k, (draws, k))) % k
        flat = (other + k * np.arange(draws)[:, None]).ravel()
        added = rng.standard_gamma(HALF_ROW, (draws, k))
        misses = np.maximum(_sums_by_row(wrong, cells.true, k).T + added, 1e-300)
        false_positives = []
        for part in missed:
            share = part / misses
            at_other = np.bincount(flat, (added * share).ravel(), minlength=draws * k).reshape(draws, k)
            false_positives.append(np.asarray(cells.by_column @ (wrong * share.T[cells.true])).T + at_other)
        return false_positives

    def _centre(self) -> ClassMargins:
        """The mean table of the draws of each class alone, half a row spread over the other classes."""
        cells, k = self.cells, len(self.cells.totals)
        sizes = self.centre_sizes(cells.totals * cells.row_weight)
        recall = (cells.hits + HALF_ROW) / (cells.totals + 2 * HALF_ROW)
        missed = sizes * (1 - recall)
        per_miss = missed / (cells.misses + HALF_ROW)
        fp = summed_by(cells.predicted, cells.rows * per_miss[cells.true], k)
        fp += HALF_ROW / (k - 1) * (per_miss.sum() - per_miss)
        return ClassMargins((sizes * recall)[None], missed[None], fp[None], sizes.sum(keepdims=True)[None])


def _cell_gammas(rows: Array, draws: int, rng: np.random.Generator) -> Array:
    """Gamma draws, one cell below the other; those of one row, as most are, by the exponential, five times as fast."""
    drawn = rng.standard_exponential((len(rows), draws))
    others = np.flatnonzero(rows != 1)
    drawn[others] = rng.standard_gamma(rows[others, None], (len(others), draws))
    return drawn


def _sums_by_row(values: Array, true: Array, size: int) -> Array:
    """The sums over cells of each row, which are one below the other."""
    sums = np.zeros((size, values.shape[1]))
    starts = np.flatnonzero(np.diff(true, prepend=-1))
    if len(starts):
        sums[true[starts]] = np.add.reduceat(values, starts, axis=0)
    return sums


def dealt_folds(codes: Array, clusters: Array | None, folds: int, rng: np.random.Generator) -> Array:
    """The fold of each row: rows of a class are dealt in turn, those of one cluster together."""
    if clusters is not None:
        _, first, cluster = np.unique(clusters, return_index=True, return_inverse=True)
        return dealt_folds(codes[first], None, folds, rng)[cluster]
    order = rng.permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    assigned = np.empty(len(codes), dtype=np.int64)
    assigned[order] = np.arange(len(codes)) % folds
    return assigned
