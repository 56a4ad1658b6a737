"""Label pairs: which label is predicted in rows that have another, which is missed there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.distributions import poisson_above
from steelyard.analysis.results.result import Rows
from steelyard.evaluation.label_sets.label_row import LabelPair
from steelyard.statistics.device_array import DeviceArray
from steelyard.statistics.device_indicators import meetings
from steelyard.statistics.indicators import is_sparse, label_counts

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.statistics.multilabel_table import MultilabelTable

_MOST_PAIRS = 20
_MOST_ROWS = 2_000_000  # of which errors are paired


def label_pairs(table: MultilabelTable, level: float) -> Rows[LabelPair]:
    """The pairs that fall together in more rows than chance explains, after Holm's correction, by how many more."""
    if table.predicted is None:
        return Rows()
    n = min(table.true.shape[0], _MOST_ROWS)
    of_missed, of_false, (rows, columns, counts) = (
        _there(table) if isinstance(table.true, DeviceArray) else _here(table)
    )
    if not len(counts):
        return Rows()
    expected = of_missed[rows] * of_false[columns] / n
    tests = int((of_missed > 0).sum() * (of_false > 0).sum())
    p_values = _adjusted(poisson_above(counts, expected), tests)
    shown = np.flatnonzero(p_values <= 1 - level)
    order = shown[np.argsort(-(counts - expected)[shown], kind="stable")][:_MOST_PAIRS]
    return Rows(
        LabelPair(
            table.labels[rows[i]], table.labels[columns[i]], int(counts[i]), float(expected[i]), float(p_values[i])
        )
        for i in order
    )


def _here(table: MultilabelTable) -> tuple[Array, Array, tuple[Array, ...]]:
    """How often each label is missed, and falsely predicted, and which pairs meet how often."""
    missed, false = _errors(table)
    together = (missed.T @ false).tocoo()  # what a row has falsely it cannot lack: no label meets itself
    return _sums(missed), _sums(false), (together.row, together.col, together.data.astype(np.int64))


def _there(table: MultilabelTable) -> tuple[Array, Array, tuple[Array, ...]]:
    """The same of rows on a device."""
    first: Any = table if table.true.shape[0] <= _MOST_ROWS else table.of_rows(slice(0, _MOST_ROWS))
    missed, false = first.true & ~first.predicted, first.predicted & ~first.true
    together = meetings(missed, false)
    rows, columns = np.nonzero(together.T)[::-1]  # label by label of those that are false, as SciPy has them
    sums = (label_counts(errors, errors).true.astype(np.float64) for errors in (missed, false))
    of_missed, of_false = sums
    return of_missed, of_false, (rows, columns, together[rows, columns])


def _errors(table: MultilabelTable) -> tuple[Any, Any]:
    """The labels that each row lacks, and those that it has falsely, sparse; of very many rows the first."""
    from scipy.sparse import csr_array

    true, predicted = (matrix[:_MOST_ROWS] for matrix in (table.true, table.predicted))  # type: ignore[index]  # there
    if is_sparse(true):
        both = true.multiply(predicted).tocsr().astype(np.int32)
        pair = (true.astype(np.int32) - both, predicted.astype(np.int32) - both)
    else:
        pair = (csr_array((true > predicted).astype(np.int32)), csr_array((predicted > true).astype(np.int32)))
    for matrix in pair:
        matrix.eliminate_zeros()
    return pair


def _sums(matrix: Any) -> Array:
    return np.bincount(matrix.indices, minlength=matrix.shape[1]).astype(np.float64)


def _adjusted(p_values: Array, tests: int) -> Array:
    """P-values adjusted by Holm's method for so many tests, of which the others are 1."""
    order = np.argsort(p_values)
    adjusted = np.empty(len(p_values))
    factors = np.maximum(tests - np.arange(len(order)), 1)
    adjusted[order] = np.minimum(np.maximum.accumulate(p_values[order] * factors), 1)
    return adjusted
