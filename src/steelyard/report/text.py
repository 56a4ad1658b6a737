"""Text: an evaluation as its repr shows it, plain, with nothing to install."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.analysis.results.formatting import filled
from steelyard.analysis.results.result import table_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard.evaluation.evaluation import Evaluation

ESTIMATED_ROWS = "Estimated numbers of all rows that the plan chose from, rounded."


def evaluation_text(evaluation: Evaluation) -> str:
    """The verdict, the usual metrics, the groups, and what was assumed."""
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
    return "\n".join(
        [verdict_text(evaluation, filled), "", table_text(rows), *by_group, "", *map(filled, evaluation.assumed)]
    ).rstrip()


def verdict_text(evaluation: Evaluation, fill: Callable[[str], str]) -> str:
    """The sentences of the verdict, filled one by one, the headline apart."""
    return "\n\n".join(part for part in verdict_parts(evaluation, fill) if part)


def verdict_parts(evaluation: Evaluation, fill: Callable[[str], str]) -> tuple[str, str]:
    """The headline, and the other sentences of the verdict, filled one by one."""
    headline = [fill(sentence) for sentence in evaluation.verdict if sentence.is_headline]
    others = [fill(sentence) for sentence in evaluation.verdict if not sentence.is_headline]
    return "\n".join(headline), "\n".join(others)


def printable(text: str) -> str:
    r"""Text without control codes, which a label may hold to move the cursor or to colour the terminal.

    >>> printable("a\x1b[31m\nb")
    'a�[31m b'
    """
    return "".join(" " if sign in "\n\t" else "�" if not sign.isprintable() and sign != " " else sign for sign in text)
