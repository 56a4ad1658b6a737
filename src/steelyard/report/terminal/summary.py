"""Terminal summaries: an evaluation, a threshold or a shift as a terminal shows it."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING, Any

from steelyard.analysis.results.formatting import LABEL_WIDTH, terminal_width, text_width
from steelyard.analysis.results.result import table_text
from steelyard.report.metric_blocks import metric_blocks
from steelyard.report.source_facts import source_facts
from steelyard.report.terminal.bars import bar_cells, metric_bar
from steelyard.report.terminal.class_text import classes_text, levels_text
from steelyard.report.terminal.label_table import labels_text
from steelyard.report.terminal.layout import (
    bold,
    clean_label,
    paragraph,
    print_table,
    safe_paragraph,
    without_controls,
)
from steelyard.report.terminal.matrix import matrix_text
from steelyard.report.terminal.scores import scores_text
from steelyard.report.text import verdict_parts

if TYPE_CHECKING:
    from steelyard.evaluation.evaluation import Evaluation, MetricRow
    from steelyard.tables.confusion import Confusion


# ---------------------------------------------------------------- an evaluation


def evaluation_summary(
    evaluation: Evaluation,
    name: str,
    *,
    everything: bool = False,
    given: bool | None = None,
    then: tuple[str, str] | None = None,
) -> str:
    """The headline, the scores, why, the metrics as bars, the table, and what was assumed."""
    table = getattr(evaluation, "confusion", None)  # which label sets have not
    headline, reasons = verdict_parts(evaluation, safe_paragraph, bold)
    parts = [
        _title(evaluation, name, given),
        bold(headline),
        scores_text(evaluation),
        reasons,
        _metrics(evaluation, everything),
        levels_text(evaluation),
        classes_text(evaluation, everything),
        labels_text(evaluation, everything),
        _groups(evaluation),
        "" if table is None else _matrix(evaluation, table),
        _last(evaluation, everything, then),
    ]
    return "\n\n".join(part for part in parts if part)


def _matrix(evaluation: Evaluation, table: Confusion) -> str:
    ways = {"clustered": evaluation.is_clustered, "planned": evaluation.is_planned}
    return matrix_text(table, evaluation.level, **ways)


def _title(evaluation: Evaluation, name: str, given: bool | None) -> str:
    """What was read, by which columns, about which class: the source first, in bold."""
    source, *facts = (clean_label(fact, 2 * LABEL_WIDTH) for fact in source_facts(evaluation, name, given=given))
    unbroken = " · ".join(fact.replace(" ", "\u00a0") for fact in (source, *facts))
    return paragraph(unbroken).replace("\u00a0", " ").replace(source, bold(source), 1)


def _metrics(evaluation: Evaluation, everything: bool) -> str:
    """One line per metric, what to read first apart; the bars take what is left of the width."""
    blocks = _blocks(evaluation, everything)
    cells = bar_cells([row for rows in blocks.values() for row in rows])
    shown: list[list[str] | str] = []
    for heading, rows in blocks.items():
        shown += [heading] if heading else []
        for row in rows:
            name, drawn = without_controls(row.name), metric_bar(row, cells)
            shown.append([name, row.text(row.value), drawn, row.interval_or_reason(), row.text(row.chance)])
    head = ["metric", "value", "", f"{100 * evaluation.level:g} % interval", "no skill"]
    return print_table(head, shown, wrap=(3,), optional=(2, 4))


def _blocks(evaluation: Evaluation, everything: bool) -> dict[str, list[MetricRow]]:
    """The rows by their headings: of all metrics, of those shown first, or of those asked for in their order."""
    if not evaluation.metrics_named or hasattr(evaluation, "headings"):
        names = {row.name for row in (evaluation.metrics if everything else evaluation.shown())}
        blocks = {key: [row for row in rows if row.name in names] for key, rows in metric_blocks(evaluation).items()}
        return {heading: rows for heading, rows in blocks.items() if rows}
    families = [row.spec.metric.family for row in evaluation.metrics]
    if len(list(groupby(families))) > len(set(families)):  # a heading would stand above others' rows
        return {"": list(evaluation.metrics)}
    return {key: list(rows) for key, rows in groupby(evaluation.metrics, lambda row: row.spec.metric.family)}


def _groups(evaluation: Evaluation) -> str:
    if not evaluation.groups:
        return ""
    rows = [group.summary(named=evaluation.metrics_named) for group in evaluation.groups]
    labels = (clean_label(group.label, 2 * LABEL_WIDTH) for group in evaluation.groups)
    return table_text([{**row, "group": label} for row, label in zip(rows, labels, strict=True)], bold)


def _last(evaluation: Evaluation, everything: bool, then: tuple[str, str] | None) -> str:
    """What was assumed, and what to try next: a command where there is one to copy."""
    assumed = map(safe_paragraph, evaluation.assumed)
    hidden = 0 if everything else len(evaluation.metrics) - len(evaluation.shown())
    more = f"--all shows {hidden} more metrics" if hidden else "steelyard explain NAME shows a metric's formula"
    more = f"{more}; --format json gives every number" if then is None else more
    return "\n".join([*assumed, *next_lines(more, then)])


def next_lines(more: str, then: tuple[str, str] | None) -> list[str]:
    """What to try next, and a command where there is one to copy."""
    if then is None:
        return [paragraph(f"Next: {more}.")]
    does, command = then
    lines = _command_lines(without_controls(command))
    if max(map(text_width, lines)) > terminal_width():  # a path or a label that no line holds
        return [paragraph(f"Next: {more}; {' '.join(command.split()[:2])} {does}.")]
    return [paragraph(f"Next: {more}; this {does}:"), *lines]


def _command_lines(command: str) -> list[str]:
    """A command in lines that a shell reads as one, each as wide as the terminal at most, broken before options."""
    lines = [" "]
    for part in re.split(r" (?=-)", command):
        if lines[-1].strip() and text_width(f"{lines[-1]} {part} \\") > terminal_width():
            lines[-1] += " \\"
            lines.append("   ")
        lines[-1] += f" {part}"
    return lines


# ---------------------------------------------------------------- the other answers


def shifted_rows(here: Evaluation, there: Evaluation) -> list[dict[str, Any]]:
    """Each metric in the sample and at the other prevalence."""
    sample = {row.name: row.value for row in here.metrics}
    return [
        {
            "metric": row.name,
            "sample": sample[row.name],
            "there": row.value,
            "low": row.low,
            "high": row.high,
            "chance": row.chance,
        }
        for row in there.metrics
    ]


def shift_summary(here: Evaluation, there: Evaluation) -> str:
    """The verdict at the other prevalence, and each metric here and there."""
    shown = {row.name for row in there.shown()}
    rows = [row for row in shifted_rows(here, there) if row["metric"] in shown]
    by_group = ["", _groups(there)] if there.groups else []
    headline, reasons = verdict_parts(there, safe_paragraph, bold)
    return "\n".join(
        [
            bold(headline),
            *([""] if headline and reasons else []),
            *([reasons] if reasons else []),
            "",
            table_text(rows, bold),
            *by_group,
            "",
            *map(paragraph, there.assumed),
        ]
    ).rstrip()
