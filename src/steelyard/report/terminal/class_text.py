"""Classes on a terminal: each of them or the lowest, the rare ones as one line, and the levels of a hierarchy."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from steelyard.evaluation.verdict.verdict import rare_text
from steelyard.report.level_texts import LEVEL_HEAD, level_rows, level_words
from steelyard.report.terminal.layout import clean_labels, paragraph, print_table, without_controls
from steelyard.report.terminal.matrix import MOST_SHOWN_LABELS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.evaluation.evaluation import ClassRow, Evaluation


def classes_text(evaluation: Evaluation, everything: bool) -> str:
    """Each class, or of many those below the median class and those of the lowest recall."""
    classes = list(getattr(evaluation, "per_class", ()))  # which label sets have not
    if evaluation.positive is not None or not classes:
        return ""
    if len(classes) <= MOST_SHOWN_LABELS or everything:
        return _class_table(classes)
    pooled = evaluation.rare_classes
    fewest = 0 if pooled is None else pooled.fewest
    standing = evaluation.standing
    below = {*(() if standing is None else (evaluation.labels[place] for place in standing.below))}
    listed = [row for row in classes if row.rows >= fewest]
    shown = sorted(listed, key=lambda row: (row.label not in below, _last_if_nan(row.recall.value)))
    shown = (shown or classes)[:MOST_SHOWN_LABELS]
    apart = sum(row.label in below for row in shown)
    first = "" if standing is None or not below else f", the first {apart} of them shown to be below the median class"
    more = f"The {len(shown)} classes of lowest recall{first}; --all shows all {len(classes):,}."
    lines = [_class_table(shown), *([] if pooled is None else [paragraph(rare_text(pooled))]), paragraph(more)]
    return "\n".join(lines)


def _class_table(classes: Sequence[ClassRow]) -> str:
    names = list(classes[0].intervals)
    rows = [
        [label, f"{row.rows:,}", *(interval.text() for interval in row.intervals.values())]
        for label, row in zip(clean_labels([row.label for row in classes]), classes, strict=True)
    ]
    return print_table(["class", "rows", *names], rows, wrap=(), optional=[*range(len(names) + 1, 3, -1), 2])


def _last_if_nan(value: float) -> float:
    return math.inf if math.isnan(value) else value


def levels_text(evaluation: Evaluation) -> str:
    """The levels of a hierarchy, the top first, the pair confused most at each, and the metrics over all levels."""
    rows = [[*map(without_controls, row)] for row in level_rows(evaluation)]
    if not rows:
        return ""
    return f"{print_table(LEVEL_HEAD, rows, wrap=(), optional=(5, 1))}\n{paragraph(level_words(evaluation))}"
