"""Thinned rows: a part of very many rows, from which how far an average of areas scatters is known."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.intervals.column_ends import ColumnEnds

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.statistics.multilabel_table import MultilabelTable
    from steelyard.statistics.probability_table import ProbabilityTable

_ROWS, _POSITIVES = 50_000, 500  # by which it is known to a few percent


def some_rows(table: MultilabelTable) -> MultilabelTable | None:
    """So many rows, drawn at random and brought; None where a label would be rare there, or rows are weighted."""
    rows = None if table.weights is not None else _drawn(table.true.shape[0], np.asarray(table.positives))
    return None if rows is None else table.of_rows(rows).on_host()


def some_rows_of_classes(table: ProbabilityTable) -> ProbabilityTable | None:
    """The same of rows that have one class each, with a column of scores for each."""
    if table.sample_weight is not None or table.frequency is not None:
        return None
    if some_rows_of_classes not in table.remembered:  # the metrics of one table ask for the same
        rows = _drawn(len(table.codes), table.class_rows)
        table.remembered[some_rows_of_classes] = None if rows is None else table.at(rows).brought()
    part: ProbabilityTable | None = table.remembered[some_rows_of_classes]
    return part


def _drawn(n: int, positives: Array) -> Array | None:
    present = positives[positives > 0]
    if n < 2 * _ROWS or not len(present) or present.min() * _ROWS < _POSITIVES * n:
        return None
    return np.sort(np.random.default_rng(0).choice(n, _ROWS, replace=False))


def nearer(ends: ColumnEnds, there: float, value: float, n: int) -> ColumnEnds:
    """The ends around the value of all n rows, by those around that of the part."""
    ratio = sqrt(n / _ROWS)
    return ColumnEnds(value - (there - ends.low) / ratio, value + (ends.high - there) / ratio)
