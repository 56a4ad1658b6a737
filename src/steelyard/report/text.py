"""Text: an evaluation as its repr shows it, plain, with nothing to install."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from steelyard.analysis.results.formatting import filled, printable, text_table
from steelyard.analysis.results.result import table_text
from steelyard.evaluation.verdict.sentences import NUMBERS_HEAD
from steelyard.evaluation.verdict.use_sentences import use_numbers

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.evaluation.verdict.sentences import Sentence

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
            "no skill": row.text(row.chance),
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
    for is_of_use, of_kind in groupby(others, lambda sentence: sentence.is_of_use):
        sentences = [*of_kind]
        lines = _numbers(evaluation, sentences, fill, head) if is_of_use else [*map(fill, sentences)]
        parts.append("\n".join(lines))
    return "\n".join(headline), "\n\n".join(parts)


def _numbers(
    evaluation: Evaluation, sentences: list[Sentence], fill: Callable[[str], str], head: Callable[[str], str]
) -> list[str]:
    """The numbers by use below each other, each with what is proved of it; sentences where a line is too short."""
    codes = [sentence.code for sentence in sentences]
    numbers = [number for number in use_numbers(evaluation) if number.code in codes]
    level = f"value ({100 * evaluation.level:g} % interval)"
    table = text_table(["for", "number", level, "no skill"], [number.cells for number in numbers], optional=(3,))
    lines = table.split("\n")
    if len(lines) != len(numbers) + 1:
        return [head(NUMBERS_HEAD), *map(fill, sentences)]
    indent = " " * (2 + max(len(number.use) for number in numbers))
    below = [filled(number.why.removeprefix("it "), indent) for number in numbers]
    rest = [fill(sentence) for sentence in sentences if sentence.code == "without-number"]
    shown = [line for pair in zip(lines[1:], below, strict=True) for line in pair if line]
    return [head(NUMBERS_HEAD), lines[0], *shown, *rest]
