"""Numbers that a table may hold: checked, brought to one shape, summed exactly, and the rows that weights are worth."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from steelyard.arrays.sparse import SparseMatrix, error_entries, summed_by
from steelyard.exceptions import CountOverflowError, InputError, InputTypeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array


LARGEST = 2**63 - 1
_LEAST_TOTAL, _MOST_TOTAL = 1e-60, 1e60  # between them products of cells stay what floats hold


def is_usual_size(total: float) -> bool:
    """Whether products of cells that sum to this stay what floats hold."""
    return _LEAST_TOTAL <= total <= _MOST_TOTAL


def usual_exponents(totals: ArrayLike) -> Array | None:
    """The power of two that brings each extreme total near 1; None where all are of usual size."""
    total = np.asarray(totals, dtype=np.float64)
    if total.size and total.min() >= _LEAST_TOTAL and total.max() <= _MOST_TOTAL:  # in two quick passes
        return None
    extreme = (total > _MOST_TOTAL) | ((total < _LEAST_TOTAL) & (total > 0))
    return np.where(extreme, -np.frexp(np.where(extreme, total, 1.0))[1], 0) if extreme.any() else None


def broadcast(cells: Sequence[Array]) -> list[Array]:
    """The cells in one shape."""
    try:
        return list(np.broadcast_arrays(*cells))
    except ValueError:
        shapes = ", ".join(str(shape) for shape in dict.fromkeys(map(np.shape, cells)))
        raise InputError(f"Cells of the shapes {shapes} do not broadcast; give them one shape, or numbers.") from None


def exact_sum(cell: ArrayLike, axis: int | tuple[int, ...] | None) -> ArrayLike:
    """The sum over the axis; of whole numbers as Python integers, which do not wrap."""
    values = np.asarray(cell)
    total: ArrayLike = values.astype(object).sum(axis) if values.dtype.kind == "i" else values.sum(axis)
    return total


def is_masked_array(values: object) -> TypeGuard[np.ma.MaskedArray[Any, Any]]:
    """Whether it is a masked array: where nobody has imported numpy.ma, which takes a while, there is none."""
    return "numpy.ma" in sys.modules and isinstance(values, np.ma.MaskedArray)


def checked_values(name: str, cell: ArrayLike) -> Array:
    """The numbers of a cell as int64 or float64, or one sentence on what is wrong with it."""
    if is_masked_array(cell) and np.ma.is_masked(cell):
        raise InputError(f"{name} holds masked values; a cell is a finite number. Fill or drop them first.")
    try:
        array = np.asarray(cell)
        if array.dtype.kind == "O":
            array = _from_objects(name, array)
    except (TypeError, ValueError):
        msg = f"{name} must be a number or an array of numbers of one shape, not {_short(cell)}."
        raise InputTypeError(msg) from None
    if array.dtype.kind == "b":
        array = array.astype(np.int64)
    if array.dtype.kind not in "iuf":
        msg = f"{name} must be a number or an array of numbers, not {_short(cell)}."
        raise InputTypeError(msg)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        msg = f"{name} holds NaN or an infinity; a cell is a finite number. Leave such tables out first."
        raise InputError(msg)
    if (array < 0).any():
        msg = f"{name} holds {array.min()}; a cell counts rows or weight, so it cannot be negative."
        raise InputError(msg)
    if array.dtype.kind == "u" and (array > LARGEST).any():
        raise _too_large(name)
    return array.astype(np.int64 if array.dtype.kind in "iu" else np.float64)


def _from_objects(name: str, array: Array) -> Array:
    if all(isinstance(item, (int, np.integer)) for item in array.flat):
        if any(item > LARGEST for item in array.flat):
            raise _too_large(name)
        return np.asarray(np.maximum(array, -1)).astype(np.int64)
    if not all(isinstance(item, (int, float, np.number)) for item in array.flat):
        raise TypeError
    return array.astype(np.float64)


def _too_large(name: str) -> CountOverflowError:
    return CountOverflowError(f"{name} exceeds {LARGEST}, the largest whole count; give the cells as floats.")


def check_total(cells: Sequence[Array]) -> None:
    """Refuse whole cells whose sum 64 bits cannot hold."""
    if any(cell.size and cell.max() > LARGEST // 4 for cell in cells):
        total = sum(cell.astype(object) for cell in cells)
        if np.any(np.asarray(total) > LARGEST):
            raise _too_large("The sum of the four cells")


def _short(thing: object) -> str:
    text = repr(thing)
    return text if len(text) <= 60 else f"{text[:57]}..."


# ---------------------------------------------------------------- effective rows


_LEAST_SQUARES = 1e-290  # below which they lose digits


def check_squares(squares: Any) -> None:
    """Refuse sums of squared weights that floats do not hold: no interval can be had of them."""
    total = float(squares.sum())
    if not _LEAST_SQUARES <= total < np.inf:
        raise InputError(
            "The squares of these weights are beyond what floats hold, and intervals need them; divide the weights by "
            "their maximum first."
        )


def weight_per_row(weight: ArrayLike, squares: ArrayLike) -> Array:
    """The weight of one effective row, the sum of w^2 over the sum of w: a total weight divided by it is in rows.

    Where nothing has weight it is that of all rows together.

    >>> print(10 / weight_per_row(10, 20))  # ten rows' weight in rows of weight 2
    5.0
    """
    total, squared = np.asarray(weight, dtype=np.float64), np.maximum(squares, 1e-300)
    usual = squared.sum() / total.sum()
    return np.asarray(np.divide(squared, total, out=np.full_like(total, usual), where=total > 0))


def weight_per_class_row(cell_weights: Array, cell_squares: Array) -> Array:
    """The weight of one effective row of each true class: Kish's, or that of Taylor's linearised variance if larger.

    Kish's takes weights as unrelated to errors; rows that are hard and have large weights make a recall p vary by
    sum w^2 (right - p)^2 / (sum w)^2, whose weight per row is that of the wrong rows where p is near 1. Of 30 to 200
    rows a class with weights related to errors (two or lognormal weights, 2,000 runs a cell) recall covered .88 to .93
    by Kish's and covers .92 to .95 by the larger, .87 where 3 heavy rows are expected; weights unrelated to errors
    cover .95 to .98, and widen by 1.05 at most.
    """
    total = _column(cell_weights.sum(1))
    usual = weight_per_row(total, _column(cell_squares.sum(1)))
    heavy = []
    for sums in (_right_sums, _wrong_sums):
        weights, squares = (_column(sums(part)) for part in (cell_weights, cell_squares))
        heavy.append(np.divide(squares, weights, out=usual.copy(), where=weights > 0))
    recall = _column(cell_weights.diagonal()) / np.where(total > 0, total, 1)
    linearised = (1 - recall) * heavy[0] + recall * heavy[1]
    return np.where((recall > 0) & (recall < 1), np.maximum(usual, linearised), usual)


def _column(numbers: Array) -> Array:
    """One number below the other."""
    return np.asarray(numbers, dtype=np.float64)[:, None]


def _right_sums(matrix: Array) -> Array:
    return np.asarray(matrix.diagonal())


def _wrong_sums(matrix: Array) -> Array:
    if isinstance(matrix, SparseMatrix):
        true, _, values = error_entries(matrix)
        return summed_by(true, values, matrix.size)
    return np.asarray(np.where(np.eye(len(matrix), dtype=bool), 0.0, matrix).sum(1))
