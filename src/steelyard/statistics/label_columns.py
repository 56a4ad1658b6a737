"""Label columns: the columns of a table of label sets one by one, joined to others, repeated or brought."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.exceptions import InputError
from steelyard.statistics.backend import backend_of
from steelyard.statistics.class_scores import ClassScores
from steelyard.statistics.indicators import is_sparse
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard._types import Array, Label
    from steelyard.statistics.indicators import Indicators
    from steelyard.statistics.multilabel_table import MultilabelTable


def repeated(column: Array, times: int) -> Array:
    """Each of the numbers so many times."""
    there = backend_of(column)
    native, xp = there.native(column), there.xp
    cells = xp.broadcast_to(xp.reshape(native, (-1, 1)), (len(column), times))
    each: Array = there.kept(xp.reshape(cells, (-1,)))
    return each


def two_classes(own: Array, scores: Array, weights: Iterable[Array | None], label: Label) -> ScoreTable:
    """The scores of the rows that have a label, and of the others."""
    columns = tuple(weights)
    positive, negative = (
        ClassScores.of_rows(scores[rows], *(None if column is None else column[rows] for column in columns))
        for rows in (own, ~own)
    )
    return ScoreTable(positive, negative, label)


def on_processor(values: Array | None) -> Any:
    """A column or matrix in the processor's memory; booleans as the bytes by which indicators are counted there."""
    if values is None:
        return None
    array = np.asarray(values)
    return array.view(np.uint8) if array.dtype == bool else array


def joined(mine: Indicators | None, theirs: Indicators | None, name: str) -> Indicators | None:
    """Matrices of two tables, one below the other."""
    if mine is None and theirs is None:
        return None
    if mine is None or theirs is None:
        raise InputError(f"One of the tables has no {name}, and the other has; give both the same.")
    if is_sparse(mine) or is_sparse(theirs):
        from scipy.sparse import csr_array, vstack

        return csr_array(vstack([mine, theirs]))
    return np.concatenate([mine, theirs])


def joined_weights(mine: MultilabelTable, theirs: MultilabelTable, name: str) -> Array | None:
    """The weights of two tables, of which one may have none for ones."""
    columns = [getattr(table, name) for table in (mine, theirs)]
    if all(column is None for column in columns):
        return None
    tables = zip(columns, (mine, theirs), strict=True)
    return np.concatenate(
        [np.ones(table.true.shape[0], np.int64) if column is None else column for column, table in tables]
    )
