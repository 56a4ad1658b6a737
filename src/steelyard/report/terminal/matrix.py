"""The confusion matrix on a terminal: with its margins, or where it does not fit the pairs that are confused most."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.results.formatting import percent_text, terminal_width
from steelyard.analysis.results.text_table import text_width
from steelyard.report.terminal.layout import clean_labels, paragraph, print_table

if TYPE_CHECKING:
    from steelyard.statistics.confusion import Confusion

MOST_SHOWN_LABELS, _MOST_SHOWN_PAIRS = 12, 8


def matrix_text(table: Confusion) -> str:
    """The confusion matrix with its margins; where it does not fit, the pairs confused most."""
    if len(table.labels) > MOST_SHOWN_LABELS:
        return _confused_pairs(table)
    labels = clean_labels(table.labels)
    numbers = [[cell_count(cell) for cell in (*row, row.sum())] for row in (*table.matrix, table.matrix.sum(0))]
    heads = labels
    if _matrix_width(labels, numbers) > terminal_width():  # classes by number, told apart by their rows
        heads = [str(i) for i in range(1, len(labels) + 1)]
        labels = [f"{head:>{len(heads[-1])}} {label}" for head, label in zip(heads, labels, strict=True)]
        if _matrix_width(labels, numbers, heads) > terminal_width():
            return _confused_pairs(table)
    rows = [[label, *row] for label, row in zip([*labels, "all"], numbers, strict=True)]
    return print_table(["true \\ predicted", *heads, "all"], rows, wrap=())


def _confused_pairs(table: Confusion) -> str:
    """The pairs of classes that are confused most, where the whole matrix would not fit."""
    off = table.matrix - np.diag(np.diag(table.matrix))
    places = [divmod(int(place), len(off)) for place in np.argsort(-off, axis=None, kind="stable")[:_MOST_SHOWN_PAIRS]]
    labels = clean_labels(table.labels)
    rows = [
        [
            *(labels[k] for k in (i, j)),
            cell_count(off[i, j]),
            percent_text(off[i, j] / table.matrix[i].sum()),
        ]
        for i, j in places
        if off[i, j] > 0
    ]
    whole = paragraph(f"The confusion matrix of all {len(off)} classes is in --format json and on the page.")
    head = ["true", "mostly mistaken for", "rows", "of the true class"]
    return f"{print_table(head, rows, wrap=(), optional=(3,))}\n{whole}"


def _matrix_width(labels: list[str], numbers: list[list[str]], heads: list[str] | None = None) -> int:
    first = max(map(text_width, ("true \\ predicted", *labels)))
    columns = zip([*(heads or labels), "all"], zip(*numbers, strict=True), strict=True)
    return first + sum(2 + max(map(text_width, (head, *cells))) for head, cells in columns)


def cell_count(value: float) -> str:
    """A cell of the matrix: whole, or of weights with four digits."""
    return f"{int(value):,}" if float(value).is_integer() else f"{value:,.4g}"
