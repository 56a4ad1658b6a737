"""Markdown: an evaluation as tables that a README, an issue or a notebook shows."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from steelyard.analysis.results.blocks import Sentence, Table
from steelyard.analysis.results.formatting import cell_text, printable, three_digits
from steelyard.evaluation.verdict.sentences import NUMBERS_HEAD
from steelyard.report.class_cells import class_cells
from steelyard.report.metric_blocks import rows_by_class
from steelyard.report.source_facts import source_facts
from steelyard.report.text import ESTIMATED_ROWS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from steelyard.analysis.results.blocks import Block
    from steelyard.evaluation.evaluation import Evaluation, LabelRow
    from steelyard.tables.confusion import Confusion


def blocks_markdown(blocks: Iterable[Block]) -> str:
    """Sentences as paragraphs, tables with all rows; a picture has no place."""
    parts = []
    for block in blocks:
        if isinstance(block, Sentence):
            text = escaped(block.text)
            parts.append(f"**{text}**" if block.role == "heading" else text)
        elif isinstance(block, Table) and block.rows:
            parts += [f"**{escaped(block.heading)}**"] if block.title else []
            parts.append(markdown_table(block.names, block.texts()))
    return "\n\n".join(parts)


def evaluation_markdown(evaluation: Evaluation, *, given: bool | None = None) -> str:
    """What was read, the verdict, the metrics, the groups and the confusion matrix; of a profile its own table."""
    use = getattr(evaluation, "use", None)
    if use is not None and use.metrics:
        from steelyard.report.terminal.profile import profile_markdown

        return profile_markdown(evaluation, use)
    head = ("metric", "value", f"{100 * evaluation.level:g} % interval", "no skill")
    apart = rows_by_class(evaluation)
    rows = (
        (row.name, row.text(row.value), row.interval_or_reason(), row.text(row.chance))
        for row in evaluation.metrics
        if row.name not in apart
    )
    parts = [_words(evaluation), markdown_table(head, rows)]
    parts += [f"{len(apart):,} more metrics of one class each are in the JSON and the CSV."] if apart else []
    class_head, classes, notes = class_cells(evaluation)
    parts += [markdown_table(class_head, classes), *map(escaped, notes)] if classes else []
    if source := getattr(evaluation, "source", None):
        parts.insert(0, " · ".join(map(escaped, source_facts(evaluation, source, given=given))))
    parts += [_groups(evaluation)] if evaluation.groups else []
    parts += [_labels(labels)] if (labels := getattr(evaluation, "per_label", None)) else []
    table = getattr(evaluation, "confusion", None)  # which label sets have not
    parts += [_matrix(table, planned=evaluation.is_planned)] if table is not None else []
    return "\n\n".join(parts)


def shift_markdown(there: Evaluation, rows: Sequence[dict[str, Any]]) -> str:
    """The verdict at another prevalence, each metric in the sample and there, and the groups."""
    table = markdown_table(
        [*next(iter(rows), {})], ([cell_text(name, cell) for name, cell in row.items()] for row in rows)
    )
    return "\n\n".join([_words(there), table, *([_groups(there)] if there.groups else [])])


def _words(evaluation: Evaluation) -> str:
    """The verdict, its headline in bold, and what was assumed."""
    return "\n\n".join([*verdict_markdown(evaluation), *map(escaped, evaluation.assumed)])


def verdict_markdown(evaluation: Evaluation) -> list[str]:
    """The sentences of the verdict, its headline in bold, the numbers by use as a list under their heading."""
    parts = []
    for is_of_use, sentences in groupby(evaluation.verdict, lambda sentence: sentence.is_of_use):
        if is_of_use:
            parts += [f"{NUMBERS_HEAD}:", "\n".join(f"- {escaped(sentence)}" for sentence in sentences)]
        else:
            parts += [f"**{escaped(s)}**" if s.is_headline else escaped(s) for s in sentences]
    return parts


def _groups(evaluation: Evaluation) -> str:
    rows = [group.summary(named=evaluation.metrics_named) for group in evaluation.groups]
    names = list(dict.fromkeys(name for row in rows for name in row))
    return markdown_table(names, ([three_digits(row.get(name)) for name in names] for row in rows))


def _labels(labels: Sequence[LabelRow]) -> str:
    """Each label of label sets."""
    names = [*labels[0].metrics]
    rows = (
        [str(row.label), f"{row.rows:,}", *(row.metrics[name].text() for name in names), three_digits(row.imbalance)]
        for row in labels
    )
    return markdown_table(["label", "rows", *names, "imbalance ratio"], rows)


def _matrix(table: Confusion, *, planned: bool) -> str:
    labels = [str(label) for label in table.labels]
    rows = zip(labels, (table.matrix.round().astype(int) if planned else table.matrix).tolist(), strict=True)
    cells = ([label, *map(three_digits, row)] for label, row in rows)
    shown = markdown_table(["true \\ predicted", *labels], cells)
    return f"{shown}\n\n{ESTIMATED_ROWS}" if planned else shown


def markdown_table(head: Sequence[str], rows: Iterable[Iterable[str] | str]) -> str:
    """A table of Markdown."""
    lines = [f"| *{escaped(row)}* |{' |' * (len(head) - 1)}" if isinstance(row, str) else _row(row) for row in rows]
    return "\n".join([_row(head), "|" + "---|" * len(head), *lines])


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(' '.join(escaped(cell).split()) for cell in cells)} |"


def escaped(text: str) -> str:
    r"""Text that Markdown shows as it is: no tag, link, emphasis or end of a cell, and no control code.

    >>> print(escaped("<script>|*a*"))
    &lt;script&gt;\|\*a\*
    """
    plain = printable(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    for sign in ("|", "*", "`", "]("):
        plain = plain.replace(sign, f"{sign[:-1]}\\{sign[-1]}")
    return plain
