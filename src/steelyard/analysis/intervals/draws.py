"""Draws: the tables that might have been, as one more axis of the table that is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.distributions import normal_reach, student_quantile
from steelyard.analysis.intervals.class_draws import HALF_ROW, TableDraws, class_draws
from steelyard.exceptions import CountOverflowError, InputTypeError
from steelyard.statistics.cell_values import LARGEST
from steelyard.statistics.class_scores import ClassScores
from steelyard.statistics.counts import Counts
from steelyard.statistics.effective_rows import weight_per_class_row
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from steelyard._types import Array, Rng
    from steelyard.statistics.confusion import Confusion

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
    """The rows that each cell is worth, true classes on the axis before the last, and the weight of one of them.

    Weighted rows of a true class are worth (sum w)^2 / sum w^2 rows together, or as many as the linearised variance of
    its recall is worth, if fewer: without weights they are what they are.
    """
    if isinstance(table, Counts):
        cells = np.stack([np.stack([table.tp, table.fn], -1), np.stack([table.fp, table.tn], -1)], -2)
        return cells.astype(np.float64), np.ones((2, 1))
    if not table.weighted:
        return table.rows.astype(np.float64), np.ones((len(table.labels), 1))
    row_weight = weight_per_class_row(table.weights, table.squares)
    return table.weights / row_weight, row_weight


def posterior_draws(rows: Array, row_weight: Array, draws: int, rng: np.random.Generator) -> TableDraws:
    """Draws of the table from its posterior: of two classes half a row is added to each cell.

    The same draws are read once more around the value seen: what the added rows move it by is taken back, without
    which an accuracy of ten classes with no error would be certain not to be 1.
    """
    if rows.shape[-1] > 2:
        drawn = class_draws(rows, draws, rng)
    else:
        cells = _draws_together(rng.standard_gamma(rows + HALF_ROW, size=(draws, *rows.shape)))
        drawn = TableDraws(cells, cells, (rows + HALF_ROW)[None])
    return weighted(drawn, row_weight)


def _draws_together(cells: Array) -> Array:
    """The same draws with those of one cell side by side in memory: formulas read cell by cell."""
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(cells, 0, -1)), -1, 0)


def stacked(parts: Iterable[TableDraws], size: int) -> TableDraws:
    """The draws of so many tables as those of one array of tables, on the axis after the draws."""
    kept: dict[str, Array] = {}
    for place, part in enumerate(parts):
        whole = {"cells": part.cells, "centre": part.centre, "deviance": part.deviance}
        whole |= {} if part.around is part.cells else {"around": part.around}
        for name, array in whole.items():
            if array is not None:
                draws_last = array if name == "deviance" else np.moveaxis(array, 0, -1)
                kept.setdefault(name, np.empty((size, *draws_last.shape)))[place] = draws_last
    moved = {name: array if name == "deviance" else np.moveaxis(array, -1, 0) for name, array in kept.items()}
    return TableDraws(moved["cells"], moved.get("around", moved["cells"]), moved.get("centre"), moved.get("deviance"))


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
    places = [np.searchsorted(scores, side.scores) for side in sides]
    both = zip(places, sides, strict=True)
    rows = np.sum([np.bincount(at, side.rows, minlength=len(scores)) for at, side in both], axis=0)
    drawn = []
    for at, side in zip(places, sides, strict=True):
        weights = np.zeros((draws, len(scores)))
        weights[:, at] = _gammas(side, draws, rng, student_spread(side.n, level))
        anywhere = rng.choice(len(scores), draws, p=rows / rows.sum())
        weights[np.arange(draws), anywhere] += rng.standard_gamma(RANK_PRIOR, draws) * (side.total / side.n)
        drawn.append(ClassScores(scores, weights * (side.n / side.total), weights, weights))
    return ScoreTable(drawn[0], drawn[1], table.label)


def _gammas(side: ClassScores, draws: int, rng: np.random.Generator, spread: float) -> Array:
    """Weights of mean w and variance the sum of w^2, as the weighted rows of each entry have it."""
    mass, squares = side.weights.astype(np.float64), side.squares.astype(np.float64)
    return np.asarray(
        rng.standard_gamma(spread * mass**2 / squares, size=(draws, len(mass))) * (squares / mass / spread)
    )


def steps(draws: int, size: int) -> Iterator[int]:
    """How many draws of that size are made at a time."""
    step = max(1, _AT_ONCE // max(size, 1))
    return (min(step, draws - start) for start in range(0, draws, step))
