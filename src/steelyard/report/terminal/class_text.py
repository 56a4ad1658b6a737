"""Classes on a terminal: the worst first, the others folded into lines, and the levels of a hierarchy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.report.class_cells import class_cells
from steelyard.report.level_texts import LEVEL_HEAD, level_rows, level_words
from steelyard.report.terminal.layout import paragraph, print_table, safe_paragraph, without_controls

if TYPE_CHECKING:
    from steelyard.evaluation.evaluation import Evaluation


def classes_text(evaluation: Evaluation, everything: bool) -> str:
    """The classes, worst first; of more than twenty the others as one line, and the rare ones as another."""
    head, rows, notes = class_cells(evaluation, everything=everything)
    if not rows:
        return ""
    table = print_table(head, [[without_controls(cell) for cell in row] for row in rows], wrap=(), optional=(4, 3))
    return "\n".join([table, *map(safe_paragraph, notes)])


def levels_text(evaluation: Evaluation) -> str:
    """The levels of a hierarchy, the top first, the pair confused most at each, and the metrics over all levels."""
    rows = [[*map(without_controls, row)] for row in level_rows(evaluation)]
    if not rows:
        return ""
    return f"{print_table(LEVEL_HEAD, rows, wrap=(), optional=(5, 1))}\n{paragraph(level_words(evaluation))}"
