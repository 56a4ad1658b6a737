"""Sparse matrix: a square table of very many classes as the cells that hold anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array


MOST_DENSE_LABELS = 1_000  # beyond these a table is kept as the cells that exist: a dense one would have a million more


@dataclass(frozen=True, eq=False)
class SparseMatrix:
    """The cells of a `size` x `size` matrix that exist: their places in row order, each once, and their values.

    It answers as an array does to `sum`, `diagonal`, `trace`, `astype`, `tolist`, `matrix[i, j]`, `+` with another, and
    `*` and `/` with a number or one number for each row. What would need all cells is refused in a sentence.

    >>> cells = SparseMatrix.of(np.array([0, 0, 2]), np.array([0, 1, 2]), np.array([5, 1, 7]), 3)
    >>> cells.sum(1).tolist(), cells.diagonal().tolist(), int(cells[0, 1])
    ([6, 0, 7], [5, 0, 7], 1)
    """

    places: Array
    values: Array
    size: int
    __array_ufunc__ = None  # so that NumPy leaves array * matrix to this class

    @classmethod
    def of(cls, true: Array, pred: Array, values: Array, size: int) -> SparseMatrix:
        """The matrix of cells in any order, those of one place added up in an order that the rows' does not change."""
        places = true.astype(np.int64) * size + pred
        order = np.lexsort((values, places))
        places, values = places[order], values[order]
        starts = np.flatnonzero(np.diff(places, prepend=-1))
        return cls(places[starts], np.add.reduceat(values, starts) if len(starts) else values[:0], size)

    @classmethod
    def of_dense(cls, matrix: Array) -> SparseMatrix:
        """The cells of a dense matrix that are not 0."""
        places = np.flatnonzero(matrix)
        return cls(places, matrix.ravel()[places], len(matrix))

    def scaled_by_two(self, exponent: int) -> SparseMatrix:
        """Every cell times a power of two."""
        return SparseMatrix(self.places, np.ldexp(self.values, exponent), self.size)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return (self.size, self.size)

    @property
    def ndim(self) -> int:
        """Two, as of any matrix."""
        return 2

    @property
    def dtype(self) -> np.dtype[Any]:
        """The kind of number that the cells are."""
        return self.values.dtype

    @property
    def true(self) -> Array:
        """The row of each cell."""
        return np.asarray(self.places // self.size)

    @property
    def predicted(self) -> Array:
        """The column of each cell."""
        return np.asarray(self.places % self.size)

    def with_values(self, values: Array) -> SparseMatrix:
        """The same cells with other values."""
        return SparseMatrix(self.places, values, self.size)

    def sum(self, axis: int | None = None) -> Any:
        """The sum of all cells, of each column (0) or of each row (1)."""
        if axis is None:
            return self.values.sum()
        return summed_by(self.true if axis in (1, -1) else self.predicted, self.values, self.size)

    def diagonal(self) -> Array:
        """The cells of equal row and column."""
        right = self.true == self.predicted
        return summed_by(self.true[right], self.values[right], self.size)

    def trace(self) -> Any:
        """The sum of the diagonal."""
        return self.diagonal().sum()

    def max(self, initial: float = 0) -> Any:
        """The largest cell."""
        return self.values.max(initial=initial)

    def astype(self, kind: Any, *, copy: bool = True) -> SparseMatrix:
        """The same cells as numbers of another kind."""
        return self.with_values(self.values.astype(kind, copy=copy))

    def __getitem__(self, place: tuple[ArrayLike, ArrayLike]) -> Any:
        rows, columns = np.broadcast_arrays(*place)
        wanted = rows.astype(np.int64) * self.size + columns
        if not len(self.places):
            return np.zeros(wanted.shape, self.dtype)[()]
        at = np.minimum(np.searchsorted(self.places, wanted), len(self.places) - 1)
        return np.where(self.places[at] == wanted, self.values[at], 0).astype(self.dtype)[()]

    def moved(self, places: Sequence[int], size: int) -> SparseMatrix:
        """The matrix over more classes: each class goes to its new place."""
        to = np.asarray(places, dtype=np.int64)
        return SparseMatrix.of(to[self.true], to[self.predicted], self.values, size)

    def __add__(self, other: object) -> SparseMatrix:
        if not isinstance(other, SparseMatrix):
            return NotImplemented
        both = [np.concatenate(pair) for pair in ((self.places, other.places), (self.values, other.values))]
        return SparseMatrix.of(both[0] // self.size, both[0] % self.size, both[1], self.size)

    def __mul__(self, factor: ArrayLike) -> SparseMatrix:
        by = np.asarray(factor)
        return self.with_values(self.values * (by if by.ndim == 0 else by.reshape(-1)[self.true]))

    __rmul__ = __mul__

    def __truediv__(self, divisor: ArrayLike) -> SparseMatrix:
        return self * (1 / np.asarray(divisor, dtype=np.float64))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, SparseMatrix)
            and self.size == other.size
            and np.array_equal(self.places, other.places)
            and np.array_equal(self.values, other.values)
        )

    def __hash__(self) -> int:
        return hash((self.places.tobytes(), self.values.tobytes()))

    def tolist(self) -> dict[str, list[float]]:
        """The cells as plain lists, for JSON."""
        return {"true": self.true.tolist(), "predicted": self.predicted.tolist(), "values": self.values.tolist()}

    def tobytes(self) -> bytes:
        """The cells as bytes, for a hash."""
        return self.places.tobytes() + self.values.tobytes()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise InputError(
            f"This needs the whole matrix of {self.size:,} x {self.size:,} classes, which is made for at most "
            f"{MOST_DENSE_LABELS:,} of them; join rare classes first, or ask of one class with pos_label=."
        )


def summed_by(codes: Array, values: Array, size: int) -> Array:
    """The sum of the values of each code; whole numbers exactly."""
    if values.dtype.kind == "f":
        return np.bincount(codes, values, minlength=size).astype(np.float64, copy=False)  # of nothing: of integers
    sums = np.zeros(size, dtype=values.dtype)
    np.add.at(sums, codes, values)
    return sums


def cell_entries(matrix: Any) -> tuple[Array, Array, Array]:
    """The cells of a matrix that hold anything, dense or sparse: their rows, columns and values, in row order."""
    if isinstance(matrix, SparseMatrix):
        return matrix.true, matrix.predicted, matrix.values
    true, predicted = np.nonzero(matrix)
    return true, predicted, np.asarray(matrix[true, predicted])


def error_entries(matrix: Any) -> tuple[Array, Array, Array]:
    """The same off the diagonal."""
    true, predicted, values = cell_entries(matrix)
    wrong = true != predicted
    return true[wrong], predicted[wrong], values[wrong]


def grown(matrix: Array, places: Sequence[int], size: int) -> Array:
    """The matrix over more classes, each at its new place: of very many the cells that exist alone."""
    if size > MOST_DENSE_LABELS:
        sparse: Any = matrix if isinstance(matrix, SparseMatrix) else SparseMatrix.of_dense(matrix)
        moved: Array = sparse.moved(places, size)
        return moved
    wide = np.zeros((size, size), dtype=matrix.dtype)
    wide[np.ix_(places, places)] = matrix
    return wide
