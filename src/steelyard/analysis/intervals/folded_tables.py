"""Folded tables: one class of a confusion matrix against the rest, that class first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.statistics.confusion import Confusion
from steelyard.statistics.effective_rows import weight_per_class_row
from steelyard.statistics.one_vs_rest import one_vs_rest
from steelyard.statistics.sparse_matrix import SparseMatrix

if TYPE_CHECKING:
    from steelyard._types import Array, Label


def class_fold(place: int, k: int) -> Array:
    """The 2 x K matrix that adds up one class, then all others."""
    fold = np.ones((2, k))
    fold[0], fold[0, place], fold[1, place] = 0, 1, 0
    return fold


@dataclass(frozen=True)
class ClassFolds:
    """The 2 x 2 tables of classes against the rest: rows, and where there are any the weights and their squares."""

    rows: Array
    weights: Array | None = None
    squares: Array | None = None

    @classmethod
    def of(cls, table: Confusion, place: int | None = None) -> ClassFolds:
        """Those of all classes of a table, or of one."""
        parts = (table.rows, table.given_weights, None if table.given_squares is None else table.squares)
        return cls(*(None if part is None else _two_by_two(part, place) for part in parts))  # type: ignore[arg-type]  # there are always rows

    def __getitem__(self, place: int) -> tuple[Array, Array]:
        """The rows that the cells of one table are worth, and the weight of one of them in either class."""
        if self.weights is None or self.squares is None:
            return self.rows[place].astype(np.float64), np.ones((2, 1))
        row_weight = weight_per_class_row(self.weights[place], self.squares[place])
        return self.weights[place] / row_weight, row_weight


def _two_by_two(matrix: Array, place: int | None) -> Array:
    """One table below the other, each with its class first."""
    if place is not None:
        return _one_class(matrix, place).reshape(1, 2, 2)
    cells = np.stack(one_vs_rest(matrix), -1)
    if matrix.dtype.kind == "f" and not isinstance(matrix, SparseMatrix):
        for small in np.flatnonzero(cells[:, 3] < matrix.sum() / 1000):
            cells[small] = _one_class(matrix, int(small))
    return cells.reshape(-1, 2, 2)


def _one_class(matrix: Array, place: int) -> Array:
    """The four sums; what is left of all takes the digits of all with it, so that a small rest is added up itself."""
    if isinstance(matrix, SparseMatrix):
        return np.array([cell[place] for cell in one_vs_rest(matrix)])
    tp, fn, fp = matrix[place, place], np.delete(matrix[place], place).sum(), np.delete(matrix[:, place], place).sum()
    total = matrix.sum()
    rest = total - tp - fn - fp
    if rest < total / 1000:
        rest = np.delete(np.delete(matrix, place, 0), place, 1).sum()
    return np.array([tp, fn, fp, rest])


def folded(table: Confusion, place: int) -> Confusion:
    """The table of one class against the rest, that class first."""
    parts = (table.rows, table.given_weights, None if table.given_squares is None else table.squares)
    rows, weights, squares = (None if part is None else _two_by_two(part, place)[0] for part in parts)
    return Confusion((1, 0), np.asarray(rows, dtype=np.int64), weights, squares)


def against_rest(table: Confusion, label: Label) -> Confusion:
    """The table of one class against the rest, that class first."""
    return folded(table, table.index(label))
