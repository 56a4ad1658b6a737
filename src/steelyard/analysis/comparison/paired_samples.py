"""Paired samples: the rows of two models as truth x A x B, counted, weighted or by cluster, and draws of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from steelyard.analysis.intervals.draws import steps, student_spread
from steelyard.exceptions import InputError
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.effective_rows import weight_per_row

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard._types import Array, Label, Labels
    from steelyard.analysis.intervals.row_mass import RowMass

    Margins = tuple["Array", "Array"]

_PRIOR_MASS = 4.0  # 1/2 for each cell of 2 x 2 x 2; spread over K x K x K cells so that it does not drown them
_MOST_CELLS = 50_000_000  # of the tables of all clusters, which are in memory together


class PairSample(Protocol):
    """The rows of two models, of which both models' tables are drawn together."""

    @property
    def cells(self) -> int:
        """The number of cells of truth x A x B, and of clusters that a draw has weights of."""

    def of_class(self, place: int) -> PairSample:
        """One class against the rest, that class first."""

    def posterior(self, draws: int, rng: np.random.Generator) -> Margins:
        """Truth x A and truth x B as they may be elsewhere, draws on a new first axis."""

    def swapped(self, draws: int, rng: np.random.Generator) -> Margins:
        """Truth x A and truth x B where the two predictions of a row or cluster are swapped or not, as a coin falls."""


# ---------------------------------------------------------------- tables


def weighted_confusion(true: Array, pred: Array, labels: Labels, positive: Label, mass: RowMass) -> Confusion:
    """The table of one model, of codes of labels."""
    k = len(labels)
    code = true.astype(np.intp) * k + pred

    def counted(column: Array | None) -> Array:
        return np.bincount(code, column, minlength=k * k).reshape(k, k)

    rows = counted(mass.times).astype(np.int64)
    if mass.weights is None:
        return Confusion.of_rows(labels, rows, positive)
    return Confusion(labels, rows, counted(mass.weights), counted(mass.squares), positive)


def weighted_pair(true: Array, a: Array, b: Array, k: int, mass: RowMass, level: float) -> PairSample:
    """The rows of two models with weights, in clusters, or both, of codes of labels."""
    code = (true.astype(np.intp) * k + a) * k + b
    if mass.clusters is None:
        weights, squares = (np.bincount(code, column, minlength=k**3) for column in (mass.weights, mass.squares))
        return WeightedPair(weights.reshape(k, k, k), squares.reshape(k, k, k))
    clusters = int(mass.clusters.max()) + 1
    if clusters * k**3 > _MOST_CELLS:
        raise InputError(
            f"{clusters:,} clusters of {k:,} labels have tables of more than {_MOST_CELLS:,} cells; name one class "
            "with pos_label=, merge rare labels, or leave cluster= out."
        )
    tables = np.bincount(mass.clusters.astype(np.intp) * k**3 + code, mass.mass, minlength=clusters * k**3)
    tables = tables.reshape(clusters, k, k, k)
    row_weight = 1.0 if mass.weights is None else float(weight_per_row(mass.weights.sum(), mass.squares.sum()))  # type: ignore[union-attr]  # squares come with weights
    return ClusteredPair(tables[tables.any((1, 2, 3))] / row_weight, level)


def one_class_first(cubes: Array, place: int) -> Array:
    """One class against the rest on the last three axes, that class first."""
    for axis in (-3, -2, -1):
        of_class = cubes.take([place], axis)
        cubes = np.concatenate([of_class, cubes.sum(axis, keepdims=True) - of_class], axis)
    return cubes


# ---------------------------------------------------------------- draws


@dataclass(frozen=True)
class CountedPair:
    """Rows that count alike: the posterior is Dirichlet's, and a swap falls as coins do."""

    rows: Array

    @property
    def cells(self) -> int:
        """Those of the table."""
        return int(self.rows.size)

    def of_class(self, place: int) -> CountedPair:
        """One class against the rest."""
        return CountedPair(one_class_first(self.rows, place))

    def posterior(self, draws: int, rng: np.random.Generator) -> Margins:
        """Draws of the Dirichlet posterior."""
        prior = _PRIOR_MASS / self.rows.shape[-1] ** 3
        return _margins(lambda n: rng.standard_gamma(self.rows + prior, size=(n, *self.rows.shape)), self.cells, draws)

    def swapped(self, draws: int, rng: np.random.Generator) -> Margins:
        """A binomial draw a pair of cells."""
        return _swapped(self.rows, np.ones(()), draws, rng)


@dataclass(frozen=True)
class WeightedPair:
    """Rows with weights: a cell is worth as many rows as its weight and the squares of it say."""

    weights: Array
    squares: Array

    @property
    def cells(self) -> int:
        """Those of the table."""
        return int(self.weights.size)

    def of_class(self, place: int) -> WeightedPair:
        """One class against the rest."""
        return WeightedPair(one_class_first(self.weights, place), one_class_first(self.squares, place))

    def posterior(self, draws: int, rng: np.random.Generator) -> Margins:
        """Gamma draws with the mean and the variance that each cell's weights have; an empty cell has the prior's."""
        usual = weight_per_row(self.weights.sum((1, 2), keepdims=True), self.squares.sum((1, 2), keepdims=True))
        row_weight = np.where(self.weights > 0, self.squares / np.where(self.weights > 0, self.weights, 1), usual)
        shapes = self.weights / row_weight + _PRIOR_MASS / self.weights.shape[-1] ** 3
        return _margins(lambda n: rng.standard_gamma(shapes, size=(n, *shapes.shape)) * row_weight, self.cells, draws)

    def swapped(self, draws: int, rng: np.random.Generator) -> Margins:
        """A binomial draw of the rows that the weights of a pair of cells are worth."""
        both, squares = (cells + cells.swapaxes(-1, -2) for cells in (self.weights, self.squares))
        worth = np.maximum(np.round(both**2 / np.where(squares > 0, squares, 1)), both > 0)
        return _swapped(self.weights, np.where(worth > 0, both / np.where(worth > 0, worth, 1), 1), draws, rng)


@dataclass(frozen=True)
class ClusteredPair:
    """The table of each cluster, on a first axis: whole clusters are weighted at random, or swapped."""

    tables: Array
    level: float = 0.95  # at which the draws are as wide as Student's t

    @property
    def cells(self) -> int:
        """Those of the table, or the clusters where they are more."""
        return int(max(self.tables[0].size, len(self.tables)))

    def of_class(self, place: int) -> ClusteredPair:
        """One class against the rest."""
        return ClusteredPair(one_class_first(self.tables, place), self.level)

    def posterior(self, draws: int, rng: np.random.Generator) -> Margins:
        """The Bayesian bootstrap of clusters, as wide as Student's t, with the prior's rows added."""
        sizes, shape = self.tables.sum((1, 2, 3)), self.tables.shape[1:]
        spread = student_spread(float(sizes.sum() ** 2 / (sizes**2).sum()), self.level)
        flat, prior = self.tables.reshape(len(sizes), -1), _PRIOR_MASS / shape[-1] ** 3

        def cells(n: int) -> Array:
            drawn = rng.standard_gamma(spread, (n, len(sizes))) / spread @ flat
            return np.asarray(drawn.reshape(n, *shape) + rng.standard_gamma(prior, (n, *shape)))

        return _margins(cells, self.cells, draws)

    def swapped(self, draws: int, rng: np.random.Generator) -> Margins:
        """A coin a cluster."""
        shape, turned = self.tables.shape[1:], self.tables.swapaxes(-1, -2)
        middle, half = ((self.tables + turned).sum(0) / 2, ((self.tables - turned) / 2).reshape(len(turned), -1))
        half = half[half.any(1)]

        def cells(n: int) -> Array:
            return np.asarray(middle + (rng.choice([-1.0, 1.0], (n, len(half))) @ half).reshape(n, *shape))

        return _margins(cells, self.cells, draws)


def _swapped(rows: Array, row_weight: Array, draws: int, rng: np.random.Generator) -> Margins:
    """Draws where every row's two predictions change places or not; rows count `row_weight` each."""
    both = np.round((rows + rows.swapaxes(-1, -2)) / row_weight).astype(np.int64)
    upper = np.triu(np.ones(rows.shape[-2:], dtype=bool), 1)

    def cells(n: int) -> Array:
        heads = rng.binomial(np.where(upper, both, 0), 0.5, size=(n, *rows.shape))
        tails = np.where(upper, both, 0) - heads
        alike: Array = rows * np.eye(rows.shape[-1], dtype=np.int64)
        return np.asarray(heads * row_weight + (tails * row_weight).swapaxes(-1, -2) + alike)

    return _margins(cells, rows.size, draws)


def _margins(cells: Callable[[int], Array], size: int, draws: int) -> Margins:
    """Truth x A and truth x B of the draws, a part of them at a time."""
    parts = [(drawn.sum(-1), drawn.sum(-2)) for drawn in map(cells, steps(draws, size))]
    a, b = (np.concatenate(side).astype(np.float64) for side in zip(*parts, strict=True))
    return a, b
