"""The confusion matrix on a terminal: with its margins, or where it does not fit the pairs that are confused most."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from steelyard.analysis.confusions.confused_pairs import confused_pairs
from steelyard.analysis.results.formatting import (
    bounds_text,
    count_text,
    p_digits,
    percent_text,
    terminal_width,
    text_width,
    three_digits,
)
from steelyard.report.terminal.layout import clean_labels, paragraph, print_table
from steelyard.report.text import ESTIMATED_ROWS

if TYPE_CHECKING:
    from steelyard.analysis.confusions.confused_pairs import ConfusedPair
    from steelyard.tables.confusion import Confusion

MOST_SHOWN_LABELS, _MOST_SHOWN_PAIRS = 12, 8
_TESTED = (
    "Expected if errors fell on classes whatever the true one; p is of so many or more. Pairs that it shows come "
    "first; a dash may be chance. "
)


def matrix_text(table: Confusion, level: float = 0.95, *, clustered: bool = False, planned: bool = False) -> str:
    """The confusion matrix with its margins; where it does not fit, the pairs confused most.

    That of labels which a plan chose is an estimate of all rows, in whole ones.
    """
    if len(table.labels) > MOST_SHOWN_LABELS:
        return _most_confused(table, level, clustered)
    labels = clean_labels(table.labels)
    matrix = table.matrix.round() if planned else table.matrix
    numbers = [[count_text(cell) for cell in (*row, row.sum())] for row in (*matrix, matrix.sum(0))]
    heads = labels
    if _matrix_width(labels, numbers) > terminal_width():  # classes by number, told apart by their rows
        heads = [str(i) for i in range(1, len(labels) + 1)]
        labels = [f"{head:>{len(heads[-1])}} {label}" for head, label in zip(heads, labels, strict=True)]
        if _matrix_width(labels, numbers, heads) > terminal_width():
            return _most_confused(table, level, clustered)
    rows = [[label, *row] for label, row in zip([*labels, "all"], numbers, strict=True)]
    shown = print_table(["true \\ predicted", *heads, "all"], rows, wrap=())
    return f"{shown}\n{ESTIMATED_ROWS}" if planned else shown


def _most_confused(table: Confusion, level: float, clustered: bool) -> str:
    """The pairs of classes that are confused most, where the whole matrix would not fit."""
    pairs = confused_pairs(table, level, most=_MOST_SHOWN_PAIRS, clustered=clustered, tested_first=True)
    labels = clean_labels(table.labels)
    rows = [
        [
            *(labels[table.index(label)] for label in (pair.true, pair.predicted)),
            count_text(pair.weight),
            _share(pair),
            three_digits(pair.expected),
            p_digits(pair.p_value) if pair.p_value <= 1 - level else "–",
        ]
        for pair in pairs
    ]
    head = ["true", "mostly mistaken for", "rows", "of the true class", "expected", "p (Holm)"]
    shown = print_table(head, rows, wrap=(), optional=(4, 5, 3))
    tested = "" if not rows else _TESTED
    whole = f"The confusion matrix of all {len(table.labels):,} classes is in --format json and on the page."
    return f"{shown}\n{paragraph(tested + whole)}"


def _share(pair: ConfusedPair) -> str:
    ends = f" ({bounds_text(pair.low, pair.high, share=True).removesuffix(' %')})" if math.isfinite(pair.low) else ""
    return f"{percent_text(pair.share)}{ends}"


def _matrix_width(labels: list[str], numbers: list[list[str]], heads: list[str] | None = None) -> int:
    first = max(map(text_width, ("true \\ predicted", *labels)))
    columns = zip([*(heads or labels), "all"], zip(*numbers, strict=True), strict=True)
    return first + sum(2 + max(map(text_width, (head, *cells))) for head, cells in columns)
