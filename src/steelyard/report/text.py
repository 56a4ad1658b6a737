"""Text: an evaluation as its repr shows it, plain, with nothing to install."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from steelyard.analysis.results.formatting import filled, text_table
from steelyard.analysis.results.result import table_text
from steelyard.evaluation.verdict.sentences import NUMBERS_HEAD

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard.evaluation.evaluation import Evaluation

ESTIMATED_ROWS = "Estimated numbers of all rows that the plan chose from, rounded."


def evaluation_text(evaluation: Evaluation) -> str:
    """The verdict, the usual metrics, the groups, and what was assumed; of a profile its own table."""
    use = getattr(evaluation, "use", None)
    if use is not None and use.metrics:
        from steelyard.report.terminal.layout import plain
        from steelyard.report.terminal.profile import profile_text

        return plain(profile_text(evaluation, use))
    rows = [
        {
            "metric": row.name,
            "value": row.text(row.value),
            "interval": row.interval_or_reason(),
            "chance": row.text(row.chance),
        }
        for row in evaluation.shown()
    ]
    groups = [group.summary(named=evaluation.metrics_named) for group in evaluation.groups]
    by_group = ["", table_text(groups)] if groups else []
    parts = [verdict_text(evaluation, filled), "", table_text(rows), *_classes(evaluation), *by_group]
    return "\n".join([*parts, "", *map(filled, evaluation.assumed)]).rstrip()


def _classes(evaluation: Evaluation) -> list[str]:
    """The table of classes, the worst first, and what is folded below it."""
    from steelyard.report.class_cells import class_cells

    head, rows, notes = class_cells(evaluation)
    if not rows:
        return []
    printed = [[printable(cell) for cell in row] for row in rows]
    return ["", text_table(head, printed, wrap=(), optional=(4, 3)), *map(filled, notes)]


def verdict_text(evaluation: Evaluation, fill: Callable[[str], str]) -> str:
    """The sentences of the verdict, filled one by one, the headline apart."""
    return "\n\n".join(part for part in verdict_parts(evaluation, fill) if part)


def verdict_parts(
    evaluation: Evaluation, fill: Callable[[str], str], head: Callable[[str], str] = str
) -> tuple[str, str]:
    """The headline, and the other sentences of the verdict, filled one by one; numbers by use have a heading."""
    headline = [fill(sentence) for sentence in evaluation.verdict if sentence.is_headline]
    others = [sentence for sentence in evaluation.verdict if not sentence.is_headline]
    parts = []
    for is_of_use, sentences in groupby(others, lambda sentence: sentence.is_of_use):
        lines = [fill(sentence) for sentence in sentences]
        parts.append("\n".join([head(NUMBERS_HEAD), *lines] if is_of_use else lines))
    return "\n".join(headline), "\n\n".join(parts)


def printable(text: str) -> str:
    r"""Text without control codes, which a label may hold to move the cursor or to colour the terminal.

    >>> printable("a\x1b[31m\nb")
    'a�[31m b'
    """
    return "".join(" " if sign in "\n\t" else "�" if not sign.isprintable() and sign != " " else sign for sign in text)
