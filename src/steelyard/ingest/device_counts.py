"""Device counts: labels on a device as codes, and how often each pair of codes occurs, counted there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.exceptions import InputError
from steelyard.ingest import label_codes
from steelyard.ingest.device_kernel import one_pass_counts
from steelyard.statistics.sparse_matrix import MOST_DENSE_LABELS, SparseMatrix

if TYPE_CHECKING:
    from steelyard._types import Array, Labels
    from steelyard.statistics.device_array import DeviceArray
    from steelyard.statistics.device_library import DeviceLibrary, Native

_CHUNK = 2**24  # rows a step: bytes of both columns stay in the cache of a GPU
_SMALL = 64  # labels below this are counted without looking which there are
_TABLE = 2**20  # values between the least and the greatest label that a table of them may hold


def is_zero_one_column(column: DeviceArray) -> bool:
    """Whether integers or booleans are all 0 or 1."""
    if column.dtype.kind == "b":
        return True
    if column.dtype.kind != "i" or not len(column):
        return False
    least, most = (int(end) for end in column.library.ends(column.native))
    return least >= 0 and most <= 1


def device_binary_counts(true: DeviceArray, pred: DeviceArray) -> Array | None:
    """The 2 x 2 table of 0/1 columns; None where they hold anything else."""
    if not {true.dtype.kind, pred.dtype.kind} <= {"b", "i"}:
        return None
    counts = one_pass_counts(true.native, pred.native) if true.library.name == "torch" else None
    counts = _summed_ones(true, pred) if counts is None else counts
    if not counts:
        return None
    n_true, n_pred, both = counts
    return np.array([[len(true) - n_true - n_pred + both, n_pred - both], [n_true - both, both]])


def _summed_ones(true: DeviceArray, pred: DeviceArray) -> tuple[int, ...]:
    """The ones of each column and those they share, by sums of bytes; none of them where other values occur."""
    if not (is_zero_one_column(true) and is_zero_one_column(pred)):
        return ()
    library, xp, sums = true.library, true.library.xp, []
    for start in range(0, len(true), _CHUNK):
        stop = None if start + _CHUNK >= len(true) else start + _CHUNK
        t, p = (xp.astype(column.native[start:stop], xp.uint8) for column in (true, pred))
        sums.append(xp.stack([xp.sum(part, dtype=xp.int64) for part in (t, p, t & p)]))
    return tuple(library.brought(xp.stack(sums)).sum(0).tolist())


def device_small_counts(true: DeviceArray, pred: DeviceArray) -> Array | None:
    """The table of integers from 0 to 63, counted before anyone asks which there are; None where others occur."""
    if not (true.dtype.kind == pred.dtype.kind == "i" and len(true)):
        return None
    library = true.library
    ends = [int(end) for column in (true, pred) for end in library.ends(column.native)]
    if min(ends) < 0 or max(ends) >= _SMALL:
        return None
    true_codes, pred_codes = (library.xp.astype(column.native, library.xp.int64) for column in (true, pred))
    return _sums(library, true_codes * _SMALL + pred_codes, _SMALL, None)


def device_labels(column: DeviceArray, name: str) -> tuple[Native, Labels]:
    """The codes of a column into its own distinct labels, in order."""
    library, xp = column.library, column.library.xp
    if column.dtype.kind == "f":
        column = _whole(column, name)
    native = library.wide(column.native) if column.dtype.kind != "b" else xp.astype(column.native, xp.int64)
    kind = bool if column.dtype.kind == "b" else int
    if not len(column):
        return native, ()
    low, high = (int(end) for end in library.ends(native))
    if high - low >= max(len(column), _TABLE):
        present, _ = library.unique_counts(native)
        return library.places(present, native, "left"), tuple(library.brought(present).tolist())
    if high - low < 2:  # both ends occur: nothing is counted, which of two labels takes as long as a sort
        return native - low, tuple(map(kind, range(low, high + 1)))
    seen = library.brought(library.code_sums(native - low, high - low + 1)) > 0
    labels = np.flatnonzero(seen) + low
    table = library.native(np.cumsum(seen) - 1)
    codes = native - low if seen.all() else library.take(table, native - low)
    return codes, tuple(map(kind, labels.tolist()))


def _whole(column: DeviceArray, name: str) -> DeviceArray:
    """Labels that are floats as whole numbers; refused where one is missing or a fraction."""
    bad = ~(np.floor(column) == column) | ~np.isfinite(column)
    if np.any(bad):
        label_codes.distinct(np.repeat(np.asarray(column[np.flatnonzero(bad)[:1]]), 1), name)  # refuses it
    if float(np.abs(column).max()) >= 2**62:
        raise InputError(f"{name} holds labels beyond 2**62; give whole numbers, or text.")
    whole: DeviceArray = column.astype(np.int64)
    return whole


def device_codes(column: DeviceArray, declared: Labels | None = None, name: str = "y_true") -> tuple[Native, Labels]:
    """The codes of one column, and its labels: the declared ones, or all that occur."""
    codes, labels = device_labels(column, name)
    return (
        (codes, labels) if declared is None else (moved_codes(column.library, codes, labels, declared, name), declared)
    )


def moved_codes(library: DeviceLibrary, codes: Native, present: Labels, labels: Labels, name: str) -> Native:
    """Codes moved from the labels present to a list that must hold them all."""
    table = label_codes.recode(np.arange(len(present)), present, labels, name)
    if (table == np.arange(len(table))).all():
        return codes
    return library.take(library.native(table.astype(np.int64)), codes)


def device_pair_counts(
    library: DeviceLibrary,
    true: Native,
    pred: Native,
    k: int,
    weights: DeviceArray | None = None,
    frequency: DeviceArray | None = None,
) -> tuple[Any, Any, Any]:
    """The rows, weights and squared weights of each pair of codes below k, as `code_counts.pair_counts` has them."""
    codes = true * k + pred
    if k > MOST_DENSE_LABELS:
        return _sparse_counts(library, codes, k, weights, frequency)
    rows = _sums(library, codes, k, None if frequency is None else frequency.native)
    if weights is None:
        return rows, None, None
    scaled = weights if frequency is None else weights * frequency
    parts = (scaled, weights * scaled)
    sums, squares = (_sums(library, codes, k, library.wide(np_or_native(library, part))) for part in parts)
    return rows, sums, squares


def np_or_native(library: DeviceLibrary, values: DeviceArray | Array) -> Native:
    """The native array of a column, few of which may have been brought."""
    return library.native(values) if isinstance(values, np.ndarray) else values.native


def _sums(library: DeviceLibrary, codes: Native, k: int, amounts: Native | None) -> Array:
    return library.brought(library.code_sums(codes, k * k, amounts)).reshape(k, k)


def _sparse_counts(
    library: DeviceLibrary, codes: Native, k: int, weights: DeviceArray | None, frequency: DeviceArray | None
) -> tuple[Any, Any, Any]:
    """The same of very many labels as the cells that occur."""
    cells, counts = library.unique_counts(codes)
    places, at = library.places(cells, codes, "left"), library.brought(cells)

    def summed(amounts: DeviceArray | Array) -> Any:
        native = np_or_native(library, amounts)
        return SparseMatrix(at, library.brought(library.code_sums(places, len(at), native)), k)

    rows: Any = SparseMatrix(at, library.brought(counts), k) if frequency is None else summed(frequency)
    if weights is None:
        return rows, None, None
    scaled = weights if frequency is None else weights * frequency
    return rows, summed(scaled), summed(weights * scaled)
