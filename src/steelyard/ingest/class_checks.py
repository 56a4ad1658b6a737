"""Refusals of a whole input that no classifier can be judged on: empty, of one class, without the positive one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.exceptions import TooFewRowsError
from steelyard.ingest.array_tables import positive_rows
from steelyard.statistics.positive_class import absent_sentence

if TYPE_CHECKING:
    from steelyard._types import Array, Label, Labels
    from steelyard.statistics.confusion import Confusion
    from steelyard.statistics.score_table import ScoreTable


def check_classes(table: Confusion) -> None:
    """Refuse a table whose truth holds one class, or not the positive one."""
    if not table.rows.sum():
        raise TooFewRowsError("y_true and y_pred are empty; a metric needs rows of at least two classes.")
    present = [label for label, rows in zip(table.labels, table.rows.sum(1), strict=True) if rows]
    if len(present) == 1:
        raise TooFewRowsError(f"The truth holds one class only, {present[0]!r}; a metric needs rows of at least two.")
    if table.positive is not None and table.positive not in present:
        what = f"The positive class {table.positive!r}"
        raise TooFewRowsError(
            absent_sentence(what, table.positive, present).replace("occur;", "occur in the truth;", 1)
        )


def check_both_classes(table: ScoreTable) -> None:
    """Refuse scores whose truth holds one class."""
    for scores, words in zip(table.classes, ("no positives", "no negatives"), strict=True):
        if scores.total == 0:
            raise TooFewRowsError(_needs_both(words, table.label))


def rows_of_both_classes(true: Array, pos_label: Label, declared: Labels | None = None) -> tuple[Array, Label]:
    """Which rows are positive, and the label that says so; refused where all are, or none."""
    rows, label = positive_rows(true, pos_label, declared)
    positive: Array = np.asarray(rows) != 0
    if positive.all() or not positive.any():
        raise TooFewRowsError(_needs_both("one class only", label))
    return positive, label


def _needs_both(classes: str, label: Label) -> str:
    return f"The truth holds {classes} ({label!r} is the positive class); give rows of both classes."
