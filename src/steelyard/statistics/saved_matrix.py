"""Saved matrices: the cells of a saved confusion, as rows of numbers or as the cells that exist, checked and read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.exceptions import InputError
from steelyard.statistics.saved_checks import check_saved_rows, check_saved_weights
from steelyard.statistics.sparse_matrix import MOST_DENSE_LABELS, SparseMatrix

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steelyard._types import Array


def read_matrices(saved: Mapping[str, Any], size: int) -> tuple[Any, Any, Any]:
    """The rows of a saved confusion of so many labels, its weights and its squares; None where it has no weights."""
    rows = read_matrix(saved["rows"], size, "rows")
    check_saved_rows(_values(rows), "confusion")
    if saved["weights"] is None and saved["squares"] is None:
        return rows, None, None
    if saved["weights"] is None or saved["squares"] is None:
        raise InputError("A saved confusion has weights and squares together, or neither; tally the rows again.")
    weights, squares = (read_matrix(saved[key], size, key).astype(np.float64) for key in ("weights", "squares"))
    if isinstance(rows, SparseMatrix) and not all(
        np.array_equal(part.places, rows.places) for part in (weights, squares)
    ):
        raise InputError(
            "The rows, weights and squares of a saved confusion are of the same cells; tally the rows again."
        )
    check_saved_weights(_values(rows), _values(weights), _values(squares), "confusion")
    return rows, weights, squares


def read_matrix(cells: Any, size: int, name: str) -> Any:
    """A saved matrix: a list of rows, or of very many labels an object of the cells that exist."""
    matrix = _sparse(cells, size, name) if isinstance(cells, dict) else _square(cells, size, name)
    numbers = _values(matrix)
    if numbers.size and not (np.isfinite(numbers).all() and (numbers >= 0).all()):
        raise InputError(f"The {name} of a saved confusion are finite and not negative.")
    return matrix


def _values(matrix: Any) -> Array:
    return matrix.values if isinstance(matrix, SparseMatrix) else np.asarray(matrix)


def _square(cells: Any, size: int, name: str) -> Array:
    try:
        matrix = np.asarray(cells)
    except ValueError:
        matrix = np.zeros(0)
    if (matrix.shape != (size, size) or matrix.dtype.kind not in "if") and (matrix.size or size):
        raise InputError(f"The {name} of a saved confusion are {size} x {size} numbers, a row and a column a label.")
    kind = np.int64 if matrix.dtype.kind == "i" or not size else np.float64
    return np.asarray(matrix).reshape(size, size).astype(kind)


def _sparse(cells: Mapping[str, Any], size: int, name: str) -> Any:
    try:
        true, predicted, values = (np.asarray(cells[key]) for key in ("true", "predicted", "values"))
    except (KeyError, ValueError):
        true = predicted = values = np.array([None])
    alike = true.ndim == 1 and true.shape == predicted.shape == values.shape
    places = np.concatenate([true.ravel(), predicted.ravel()])
    if not alike or (places.size and (places.dtype.kind != "i" or values.dtype.kind not in "if")):
        raise InputError(
            f"The {name} of a saved confusion of many labels list true, predicted and values of each cell."
        )
    if places.size and not (places.min() >= 0 and places.max() < size):
        raise InputError(f"The {name} of a saved confusion name places below {size:,}, the number of its labels.")
    if size <= MOST_DENSE_LABELS:
        raise InputError(f"The {name} of a saved confusion of {size:,} labels are a list of rows, not of cells.")
    matrix = SparseMatrix.of(true.astype(np.int64), predicted.astype(np.int64), values, size)
    if len(matrix.places) < len(true):
        raise InputError(f"The {name} of a saved confusion list each cell once.")
    return matrix
