"""Class cells: the table of classes as every surface shows it, worst first, and what is folded below it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from steelyard.analysis.results.formatting import percent_text, three_digits
from steelyard.evaluation.verdict.verdict import rare_text
from steelyard.report.terminal.layout import clean_labels

if TYPE_CHECKING:
    from steelyard.evaluation.evaluation import Evaluation

MOST_CLASSES = 20  # that are shown one by one


def class_cells(evaluation: Evaluation, *, everything: bool = False) -> tuple[list[str], list[list[str]], list[str]]:
    """The head and the rows of the table of classes, worst recall first, and the lines below it; none of two classes.

    >>> from steelyard import evaluate
    >>> head, rows, notes = class_cells(evaluate(list("aabbcc"), list("aabbca")))
    >>> head[0], rows[0][0], rows[0][2]
    ('class', 'c', '50.0 % (6.03 to 93.4)')
    """
    if evaluation.positive is not None or not evaluation.per_class:
        return [], [], []
    classes = [row for _, row in evaluation.weakest_classes()]
    pooled = evaluation.rare_classes if len(classes) > MOST_CLASSES and not everything else None
    fewest = 0 if pooled is None else pooled.fewest
    listed = [row for row in classes if row.rows >= fewest] or classes
    shown = classes if everything else listed[:MOST_CLASSES]
    rows = []
    for name, row in zip(clean_labels([row.label for row in shown]), shown, strict=True):
        rates = [row.recall.text(), percent_text(row.precision.value), three_digits(row.f1.value)]
        rows.append([name, f"{row.rows:,}", *rates])
    notes = [] if pooled is None else [rare_text(pooled)]
    if folded := [row for row in listed[len(shown) :] if not math.isnan(row.recall.value)]:
        lowest = percent_text(folded[0].recall.value)
        classes_text = f"{len(folded):,} more class{'es' * (len(folded) > 1)}"
        notes.append(f"And {classes_text}, all with a recall of {lowest} or more; --all shows them.")
    return ["class", "rows", "recall", "precision", "F1"], rows, notes
