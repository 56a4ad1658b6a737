"""Joined classes: a table in which several classes count as one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.statistics.confusion import Confusion, sort_labels
from steelyard.statistics.sparse_matrix import MOST_DENSE_LABELS, SparseMatrix, cell_entries

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steelyard._types import Array, Label


def joined_classes(table: Confusion, names: Mapping[Label, Label]) -> Confusion:
    r"""The table with the classes of one name as one; a class without a name keeps its own.

    >>> from steelyard import confusion
    >>> joined_classes(confusion(["cat", "dog", "car"], ["dog", "dog", "car"]), {"cat": "animal", "dog": "animal"})
    Confusion of 3 rows
    true \ predicted  animal  car
    animal                 2    0
    car                    0    1
    """
    new = [names.get(label, label) for label in table.labels]
    labels = sort_labels(new)
    place = {label: i for i, label in enumerate(labels)}
    codes = np.array([place[label] for label in new], dtype=np.int64)
    parts: tuple[Any, ...] = (table.rows, table.given_weights, table.given_squares)
    rows, weights, squares = (None if part is None else _joined(part, codes, len(labels)) for part in parts)
    return Confusion(labels, rows, weights, squares)  # type: ignore[arg-type]  # there are always rows


def _joined(matrix: Array, codes: Array, size: int) -> Array:
    true, predicted, values = cell_entries(matrix)
    cells: Any = SparseMatrix.of(codes[true], codes[predicted], values, size)
    if size > MOST_DENSE_LABELS:
        joined: Array = cells
        return joined
    dense = np.zeros((size, size), dtype=values.dtype)
    dense[cells.true, cells.predicted] = cells.values
    return dense
