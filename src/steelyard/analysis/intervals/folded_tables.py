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
    tp, true, predicted = table.rows[place, place], table.rows[place].sum(), table.rows[:, place].sum()
    rows = np.array([[tp, true - tp], [predicted - tp, table.rows.sum() - true - predicted + tp]], dtype=np.int64)
    if not table.weighted:
        return Confusion.of_rows((1, 0), rows)
    return Confusion((1, 0), rows, fold @ table.weights @ fold.T, fold @ table.squares @ fold.T)


def against_rest(table: Confusion, label: Label) -> Confusion:
    """The table of one class against the rest, that class first."""
    return folded(table, class_fold(table.index(label), len(table.labels)))
