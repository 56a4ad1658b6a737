"""Margin draws: draws of a table of very many classes as the cells of each class against the rest, never as K x K.

A metric of many classes reads the diagonal and the margins, so that of each draw these are kept: the recall of every
class as in `class_draws`, and of its misses the share of each cell that holds any. Half a row falls on one other class.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steelyard.analysis.intervals.class_draws import HALF_ROW, recall_draws
from steelyard.analysis.intervals.large_tables import DrawnValues
from steelyard.statistics.effective_rows import weight_per_class_row
from steelyard.statistics.sparse_matrix import error_entries, summed_by

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from steelyard._types import Array
    from steelyard.analysis.intervals.estimand import Estimand
    from steelyard.statistics.confusion import Confusion

    ClassSizes = Callable[[Array], Array]  # of drawn sizes of the classes, those in use

CELLS_DRAWN = 10_000_000  # of all draws together, a class as much as twelve cells
LEAST_MARGIN_DRAWS, MOST_MARGIN_DRAWS = 200, 4_000
_AT_ONCE = 4_000_000  # of these that are in memory together


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
    """The cells off the diagonal that hold anything, in row order, and the rows that the table is worth."""

    true: Array
    predicted: Array
    rows: Array
    hits: Array
    misses: Array
    row_weight: Array

    @classmethod
    def of(cls, table: Confusion) -> ErrorCells:
        """Those of a table; weighted rows of a class are worth fewer."""
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

        places = np.arange(len(self.rows))
        return csr_array((np.ones(len(places)), (self.predicted, places)), shape=(len(self.hits), len(places)))

    def draw_count(self) -> int:
        """How many draws are made: fewer where there are many cells."""
        cells = len(self.rows) + 12 * len(self.hits)
        return int(np.clip(CELLS_DRAWN // cells, LEAST_MARGIN_DRAWS, MOST_MARGIN_DRAWS))

    def blocks(self, draws: int) -> list[int]:
        """The draws that are made at a time."""
        size = max(_AT_ONCE // (len(self.rows) + 4 * len(self.hits)), 1)
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
        wrong = _gammas(cells.rows, draws, rng)
        place = (np.arange(k) + rng.integers(1, k, (draws, k))) % k
        added = rng.standard_gamma(HALF_ROW, (draws, k))
        misses = np.maximum(_sums_by_row(wrong, cells.true, k).T + added, 1e-300)
        shares = [part / misses for part in missed]
        return [
            np.asarray(cells.by_column @ (wrong * share.T[cells.true])).T + _scattered(place, added * share)
            for share in shares
        ]

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


def _gammas(rows: Array, draws: int, rng: np.random.Generator) -> Array:
    """Gamma draws, one cell below the other; of one row, as most have, by the exponential in a fifth of the time."""
    drawn = rng.standard_exponential((len(rows), draws))
    more = np.flatnonzero(rows != 1)
    drawn[more] = rng.standard_gamma(rows[more, None], (len(more), draws))
    return drawn


def _sums_by_row(values: Array, true: Array, size: int) -> Array:
    """The sums over cells of each row, which are one below the other."""
    sums = np.zeros((size, values.shape[1]))
    starts = np.flatnonzero(np.diff(true, prepend=-1))
    if len(starts):
        sums[true[starts]] = np.add.reduceat(values, starts, axis=0)
    return sums


def _scattered(places: Array, values: Array) -> Array:
    """Values added up at their places, each draw by itself."""
    draws, size = values.shape
    flat = places + size * np.arange(draws)[:, None]
    return np.bincount(flat.ravel(), values.ravel(), minlength=draws * size).reshape(draws, size)
