"""Counts of pairs of codes and the rows of a class, in chunks that stay in the processor's cache."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.statistics.score_order import chunks
from steelyard.statistics.sparse_matrix import MOST_DENSE_LABELS, SparseMatrix

if TYPE_CHECKING:
    from steelyard._types import Array

LONG = 131_072  # rows a step where nothing but the labels themselves is read twice
_SORTED = 4_194_304  # rows a step where their codes are sorted
_FEW = 2048  # rows that take no longer than the calls that count them
_SMALL = 64  # labels below this are counted without looking which there are


def is_zero_one(values: Array) -> bool:
    """Whether integers or booleans are all 0 or 1."""
    if values.dtype.kind == "b":
        return True
    # A negative value keeps its sign bit in the OR, a larger one some bit above the first.
    return values.dtype.kind in "iu" and all(
        0 <= np.bitwise_or.reduce(values[part]) <= 1 for part in chunks(len(values))
    )


def binary_counts(true: Array, pred: Array) -> Array | None:
    """The 2 x 2 table of 0/1 arrays; None as soon as a chunk holds anything else."""
    if len(true) <= _FEW:
        return _few_binary_counts(true, pred)
    true, pred = (a.view(np.uint8) if a.dtype.kind == "b" else a for a in (true, pred))
    both = n_true = n_pred = 0
    # count_nonzero is the fastest count of narrow integers, a plain sum that of 8-byte ones.
    count_true, count_pred = (np.add.reduce if a.itemsize == 8 else np.count_nonzero for a in (true, pred))
    for part in chunks(len(true), LONG):
        t, p = true[part], pred[part]
        if not (0 <= np.bitwise_or.reduce(t) <= 1 and 0 <= np.bitwise_or.reduce(p) <= 1):
            return None
        ones_true, ones_pred = int(count_true(t)), int(count_pred(p))
        n_true, n_pred = n_true + ones_true, n_pred + ones_pred
        both += (ones_true + ones_pred - int(np.count_nonzero(t != p))) // 2
    return np.array([[len(true) - n_true - n_pred + both, n_pred - both], [n_true - both, both]])


def _few_binary_counts(true: Array, pred: Array) -> Array | None:
    """The same of few rows, where the number of calls is what costs."""
    if not (_is_binary(true) and _is_binary(pred)):
        return None
    n_true, n_pred = np.count_nonzero(true), np.count_nonzero(pred)
    both = np.count_nonzero(np.logical_and(true, pred))
    return np.array([[len(true) - n_true - n_pred + both, n_pred - both], [n_true - both, both]])


def _is_binary(values: Array) -> bool:
    return values.dtype.kind == "b" or 0 <= np.bitwise_or.reduce(values) <= 1


def small_counts(true: Array, pred: Array) -> Array | None:
    """The table of integers from 0 to 63; None as soon as a chunk holds anything else."""
    counts = np.zeros(_SMALL * _SMALL, dtype=np.int64)
    for part in chunks(len(true)):
        t, p = true[part], pred[part]
        if min(t.min(), p.min()) < 0 or max(t.max(), p.max()) >= _SMALL:
            return None
        counts += np.bincount(_codes(t, p, _SMALL), minlength=_SMALL * _SMALL)
    return counts.reshape(_SMALL, _SMALL)


def _codes(true: Array, pred: Array, k: int) -> Array:
    codes = np.multiply(true, k, dtype=np.intp, casting="unsafe")
    codes += pred.astype(np.intp, copy=False)
    return codes


def pair_counts(
    true: Array, pred: Array, k: int, weights: Array | None = None, frequency: Array | None = None
) -> tuple[Array, Array | None, Array | None]:
    """The one function that counts rows of labels: codes below k in, the rows, weights and squares of each pair out.

    `true` and `pred` hold a code a row, `weights` the sample weight (above 0) and `frequency` how many rows it counts
    for. Out come the number of rows of each pair, the sum of weights and the sum of squared weights, each row as often
    as it counts for; the latter two are None without weights. Each is a k x k array, and beyond MOST_DENSE_LABELS a
    SparseMatrix of the pairs that occur. Everything that is labels, of arrays, frames or batches, is counted here, so
    that counting elsewhere, as on a device, is this function written once more.
    """
    if k == 2 and weights is None and frequency is None and (counts := binary_counts(true, pred)) is not None:
        return counts, None, None
    if k > MOST_DENSE_LABELS:
        return _sparse_counts(true, pred, k, weights, frequency)
    rows, sums, squares = np.zeros(k * k, dtype=np.int64), np.zeros(k * k), np.zeros(k * k)
    for part in chunks(len(true)):
        code = _codes(true[part], pred[part], k)
        times = None if frequency is None else frequency[part]
        rows += _whole_sums(code, times, k * k)
        if weights is not None:
            w = weights[part]
            scale = 1 if times is None else times
            sums += np.bincount(code, w * scale, minlength=k * k)
            with np.errstate(over="ignore", under="ignore"):  # which `squares` of a table refuses, and no value needs
                squares += np.bincount(code, w * w * scale, minlength=k * k)
    if weights is None:
        return rows.reshape(k, k), None, None
    return rows.reshape(k, k), sums.reshape(k, k), squares.reshape(k, k)


def _sparse_counts(
    true: Array, pred: Array, k: int, weights: Array | None, frequency: Array | None
) -> tuple[Any, Any, Any]:
    """The same as the cells that occur, counted by sorting the codes of some million rows at a time."""
    whole: list[Any] = [SparseMatrix(np.zeros(0, np.int64), np.zeros(0, np.int64), k), None, None]
    for part in chunks(len(true), _SORTED):
        code = _codes(true[part], pred[part], k)
        times = None if frequency is None else frequency[part]
        counted = _cells_of(code, None if weights is None else weights[part], times)
        cells = [None if values is None else SparseMatrix(counted[0], values, k) for values in counted[1:]]
        whole = [
            old if new is None else new if old is None else old + new for old, new in zip(whole, cells, strict=True)
        ]
    return whole[0], whole[1], whole[2]


def _cells_of(code: Array, weights: Array | None, times: Array | None) -> tuple[Any, ...]:
    """The codes that occur, in order, with their rows and, where there are any, weights and squared weights."""
    if weights is None and times is None:
        return *np.unique(code, return_counts=True), None, None
    order = np.argsort(code, kind="stable")
    code = code[order]
    starts = np.flatnonzero(np.diff(code, prepend=-1))
    scale = np.ones(1, dtype=np.int64) if times is None else times[order]
    rows = np.diff(starts, append=len(code)) if times is None else np.add.reduceat(scale, starts)
    if weights is None:
        return code[starts], rows, None, None
    w = weights[order]
    with np.errstate(over="ignore", under="ignore"):
        squares = np.add.reduceat(w * w * scale, starts)
    return code[starts], rows, np.add.reduceat(w * scale, starts), squares


def _whole_sums(code: Array, times: Array | None, size: int) -> Array:
    """How often each code occurs, by frequency weight; exact also beyond 2**53."""
    if times is None:
        return np.bincount(code, minlength=size)
    sums = np.zeros(size, dtype=np.int64)
    np.add.at(sums, code, times)
    return sums


def count_ones(positive: Array) -> int:
    """How many of 0/1 values are 1: count_nonzero is quickest on narrow ones, a sum on 8-byte ones."""
    return int(np.count_nonzero(positive) if positive.itemsize < 8 else np.add.reduce(positive))
