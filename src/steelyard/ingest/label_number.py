"""The number of labels: how many there may be before a column is taken for one of numbers or names."""

from __future__ import annotations

from steelyard.exceptions import InputError
from steelyard.statistics.confusion import MOST_LABELS
from steelyard.statistics.sparse_matrix import MOST_DENSE_LABELS

LEAST_ROWS_A_LABEL = 2  # of more than MOST_DENSE_LABELS labels that nobody declared


def too_many_labels(labels: int, rows: int, *, declared: bool = False) -> bool:
    """Whether there are more labels than are counted, or undeclared ones with hardly a row each."""
    few_rows = labels > MOST_DENSE_LABELS and rows < LEAST_ROWS_A_LABEL * labels and not declared
    return labels > MOST_LABELS or few_rows


def check_label_number(labels: int, rows: int, *, declared: bool = False) -> None:
    """Refuse a column of numbers or names as labels."""
    if labels > MOST_LABELS:
        raise InputError(
            f"There are {labels:,} different labels; at most {MOST_LABELS:,} are counted. "
            "Are these labels, or a column of numbers or names?"
        )
    if too_many_labels(labels, rows, declared=declared):
        raise InputError(
            f"There are {labels:,} different labels in {rows:,} rows. Are these labels, or a column of numbers or "
            "names? labels= declares them where they are."
        )
