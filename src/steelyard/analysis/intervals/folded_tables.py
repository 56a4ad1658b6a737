"""Folded tables: one class of a confusion matrix against the rest, that class first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.statistics.confusion import Confusion

if TYPE_CHECKING:
    from steelyard._types import Array, Label


def class_fold(place: int, k: int) -> Array:
    """The 2 x K matrix that adds up one class, then all others."""
    fold = np.ones((2, k))
    fold[0], fold[0, place], fold[1, place] = 0, 1, 0
    return fold


def folded(table: Confusion, fold: Array) -> Confusion:
    """The table of one class against the rest, that class first."""
    place = int(fold[0].argmax())
    rows = _added_up(table.rows, place)
    if not table.weighted:
        return Confusion.of_rows((1, 0), rows)
    return Confusion((1, 0), rows, _added_up(table.weights, place), _added_up(table.squares, place))


def _added_up(matrix: Array, place: int) -> Array:
    """The four sums; what is left of all takes the digits of all with it, so that a small rest is added up itself."""
    tp, fn, fp = matrix[place, place], np.delete(matrix[place], place).sum(), np.delete(matrix[:, place], place).sum()
    total = matrix.sum()
    rest = total - tp - fn - fp
    if rest < total / 1000:
        rest = np.delete(np.delete(matrix, place, 0), place, 1).sum()
    return np.array([[tp, fn], [fp, rest]])


def against_rest(table: Confusion, label: Label) -> Confusion:
    """The table of one class against the rest, that class first."""
    return folded(table, class_fold(table.index(label), len(table.labels)))
