"""One against the rest: the two-class table of every class of a confusion matrix, from its margins and its diagonal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.statistics.sparse_matrix import SparseMatrix, error_entries, summed_by

if TYPE_CHECKING:
    from steelyard._types import Array


def one_vs_rest(matrix: Array) -> tuple[Array, Array, Array, Array]:
    """The cells tp, fn, fp, tn of each class against the rest, on the last axis."""
    if isinstance(matrix, SparseMatrix):
        return _of_cells(matrix)
    k = matrix.shape[-1]
    others, diagonal = np.array(matrix), np.arange(k)
    others[..., diagonal, diagonal] = 0  # sums, not differences: 0.3 - 0.1 - 0.2 is not 0
    tp, fn, fp = np.diagonal(matrix, axis1=-2, axis2=-1), others.sum(-1), others.sum(-2)
    if k == 2:
        return tp, fn, fp, tp[..., ::-1]
    if matrix.dtype.kind == "f" and matrix.ndim == 2 and k <= 100:
        keep = ~np.eye(k, dtype=bool)
        return tp, fn, fp, np.einsum("ki,ij,kj->k", keep, matrix, keep)
    return tp, fn, fp, np.maximum(matrix.sum((-2, -1))[..., None] - tp - fn - fp, 0)


def _of_cells(matrix: SparseMatrix) -> tuple[Array, Array, Array, Array]:
    """The same of the cells that exist."""
    true, predicted, wrong = error_entries(matrix)
    tp, fn, fp = matrix.diagonal(), *(summed_by(place, wrong, matrix.size) for place in (true, predicted))
    return tp, fn, fp, np.maximum(matrix.sum() - tp - fn - fp, 0)
