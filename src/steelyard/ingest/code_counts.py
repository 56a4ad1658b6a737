"""Counts of pairs of codes, in steps that stay in the processor's cache, or in one pass where they lie on a device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.statistics.backend import backend_of
from steelyard.statistics.sparse_matrix import MOST_DENSE_LABELS, SparseMatrix

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.statistics.backend import Backend, Native

_SORTED = 4_194_304  # rows a step where their codes are sorted
_SMALL = 64  # labels below this are counted without looking which there are


def binary_counts(true: Array, pred: Array) -> Array | None:
    """The 2 x 2 table of 0/1 columns of whole numbers or booleans; None where they hold anything else."""
    there = backend_of(true, pred)
    if (ones := there.pair_ones(there.native(true), there.native(pred))) is None:
        return None
    n_true, n_pred, both = ones
    return np.array([[len(true) - n_true - n_pred + both, n_pred - both], [n_true - both, both]])


def small_counts(true: Array, pred: Array) -> Array | None:
    """The table of integers from 0 to 63, counted before anyone asks which there are; None where others occur."""
    there = backend_of(true, pred)
    columns = there.native(true), there.native(pred)
    counts: Any = 0
    for part in there.chunks(len(true)):
        t, p = (column[part] for column in columns)
        ends = [int(end) for column in (t, p) for end in there.ends(column)]
        if min(ends) < 0 or max(ends) >= _SMALL:
            return None
        counts = counts + there.code_sums(there.pair_codes(t, p, _SMALL), _SMALL * _SMALL)
    table: Array = there.to_host(counts).reshape(_SMALL, _SMALL)
    return table


def pair_counts(
    true: Array, pred: Array, k: int, weights: Array | None = None, frequency: Array | None = None
) -> tuple[Array, Array | None, Array | None]:
    """The one function that counts rows of labels: codes below k in, the rows, weights and squares of each pair out.

    `true` and `pred` hold a code a row, `weights` the sample weight (above 0) and `frequency` how many rows it counts
    for. Out come the number of rows of each pair, the sum of weights and the sum of squared weights, each row as often
    as it counts for; the latter two are None without weights. Each is a k x k array, and beyond MOST_DENSE_LABELS a
    SparseMatrix of the pairs that occur. Everything that is labels, of arrays, tensors, frames or batches, is counted
    here.
    """
    if k == 2 and weights is None and frequency is None and (counts := binary_counts(true, pred)) is not None:
        return counts, None, None
    there = backend_of(true, pred)
    xp, (t, p) = there.xp, (there.native(true), there.native(pred))
    w = None if weights is None else there.real(there.native(weights))
    f = None if frequency is None else there.native(frequency)
    if k > MOST_DENSE_LABELS:
        return _sparse_counts(there, t, p, k, w, f)
    rows = xp.zeros((k * k,), dtype=xp.int64, device=there.device)
    sums, squares = (xp.zeros((k * k,), dtype=xp.float64, device=there.device) for _ in range(2))
    for part in there.chunks(len(true)):
        codes, times = there.pair_codes(t[part], p[part], k), None if f is None else f[part]
        rows += there.code_sums(codes, k * k, times)
        if w is not None:
            weighed, squared = _weighed(there, w[part], times)
            sums += there.code_sums(codes, k * k, weighed)
            squares += there.code_sums(codes, k * k, squared)
    whole = [rows] if w is None else [rows, sums, squares]
    return (*(there.to_host(cells).reshape(k, k) for cells in whole), *[None] * (3 - len(whole)))  # type: ignore[return-value]  # three


def _weighed(there: Backend, weights: Native, times: Native | None) -> tuple[Native, Native]:
    """The weights and the squared weights of rows, as often as each counts."""
    with np.errstate(over="ignore", under="ignore"):  # which `squares` of a table refuses, and no value needs
        if times is None:
            return weights, weights * weights
        scale = there.real(times)
        return weights * scale, weights * weights * scale


def _sparse_counts(
    there: Backend, true: Native, pred: Native, k: int, weights: Native | None, frequency: Native | None
) -> tuple[Any, Any, Any]:
    """The same as the cells that occur, counted by sorting the codes of some million rows at a time."""
    whole: list[Any] = [SparseMatrix(np.zeros(0, np.int64), np.zeros(0, np.int64), k), None, None]
    for part in there.chunks(true.shape[0], _SORTED):
        codes = there.pair_codes(true[part], pred[part], k)
        if frequency is None and weights is None:
            (cells, counted), places = there.unique_counts(codes), None
        else:
            cells, counted, places = there.unique_places(codes)
        times = None if frequency is None else frequency[part]
        amounts = [times, *((None, None) if weights is None else _weighed(there, weights[part], times))]
        at = there.to_host(cells)
        for kind, values in enumerate(amounts):
            if values is None and kind:
                continue
            sums = counted if values is None else there.code_sums(places, len(at), values)
            new = SparseMatrix(at, there.to_host(sums), k)
            whole[kind] = new if whole[kind] is None else whole[kind] + new
    return whole[0], whole[1], whole[2]
