"""Classes: the parts of a page for several classes: the table as a heat map, the averages, each class by itself."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.rows import interval_text, three_digits
from steelyard.evaluation.averages import averaged_metrics
from steelyard.evaluation.class_views import commonest_classes
from steelyard.report import controls, html_tables
from steelyard.report import sections as parts
from steelyard.report.document import clipped, name, scrolled, text
from steelyard.report.page_data import LABEL

if TYPE_CHECKING:
    from steelyard._types import Label
    from steelyard.analysis.sampler import Interval
    from steelyard.evaluation.evaluation import Evaluation, Row
    from steelyard.statistics.confusion import Confusion

_MOST = 40  # classes that the heat map and the choice of a class show, the commonest first
SHADES = (0.005, 0.05, 0.2, 0.4, 0.6)  # shares of a true class from which a cell is a shade darker


def shown_classes(table: Confusion) -> tuple[Label, ...]:
    """The classes that a page shows, in the order of the labels: all, or the commonest where they are very many."""
    return commonest_classes(table, _MOST)


def pieces(evaluation: Evaluation, one: Evaluation, source: str, data: dict[str, Any]) -> dict[str, str]:
    """What differs from the page of two classes."""
    head, said = parts.verdict(evaluation.verdict)
    table = evaluation.confusion
    assert table is not None  # noqa: S101 - a table of classes
    return {
        "facts": parts.facts_of(evaluation, source, f"{len(table.labels):,} classes"),
        "head": head,
        "verdict": said,
        "classes_first": _first(evaluation, table),
        "controls": _choice(table, one.positive) + controls.controls(data),
        "table_title": "One class against the rest",
        "of_class": f' data-class="{text(clipped(one.positive))}"',
        "metrics": html_tables.metric_rows(one, "class-metric"),
        "tables": parts.tables_of(evaluation),
        "now": _now(one),
    }


def _now(one: Evaluation) -> str:
    hint = controls.on_screen("Choose another class, or move the slider.")
    return f"<span>{name(one.positive)} against the other classes, as evaluated.</span> {hint}"


def _choice(table: Confusion, chosen: Label) -> str:
    options = "".join(_option(label, " selected" if label == chosen else "") for label in shown_classes(table))
    label = '<label for="class">class against the rest</label>'
    return f'<div class="control pick">{label}<select id="class">{options}</select></div>'


def _option(label: Label, selected: str) -> str:
    return f'<option value="{text(clipped(label, LABEL))}"{selected}>{text(clipped(label))}</option>'


def _first(evaluation: Evaluation, table: Confusion) -> str:
    return (
        f"<section><h2>True class by row, prediction by column</h2>{_note(table)}{heat_map(table)}</section>"
        f"<section><h2>Averages side by side</h2>{averages(evaluation, table)}</section>"
        f"<section><h2>Metrics of all classes</h2>{_all(evaluation)}</section>"
    )


def _note(table: Confusion) -> str:
    left = len(table.labels) - _MOST
    more = f" The {_MOST} commonest of {len(table.labels):,} classes are shown." if left > 0 else ""
    return f'<p class="soft">Rows, and the share of the true class; darker is a larger share.{more}</p>'


def heat_map(table: Confusion) -> str:
    """The table with every row shaded by its shares."""
    labels = shown_classes(table)
    places = [table.index(label) for label in labels]
    matrix, sums = table.matrix[np.ix_(places, places)], table.matrix.sum(1)[places]
    body = [
        [name(label), *(_heat(cell, total) for cell in row)]
        for label, row, total in zip(labels, matrix, sums, strict=True)
    ]
    top = "".join(f'<th scope="col">{name(label)}</th>' for label in labels)
    rows = "".join(f'<tr><th scope="row">{head}</th>{"".join(cells)}</tr>' for head, *cells in body)
    inside = f"<thead><tr><td></td>{top}</tr></thead><tbody>{rows}</tbody>"
    return scrolled(f'<table class="heat">{inside}</table>', "True and predicted classes")


def _heat(cell: float, total: float) -> str:
    share = float(cell / total) if total else 0.0
    shade = sum(share >= bound for bound in SHADES)
    told = f'<span class="share">{three_digits(100 * share)} %</span>' if cell else ""
    return f'<td class="h{shade}">{html_tables.count(float(cell))}{told}</td>'


def averages(evaluation: Evaluation, table: Confusion) -> str:
    """Precision, recall and F1 as macro, weighted and micro averages."""
    head = ("metric", "macro: classes alike", "weighted by class size", "micro: all decisions pooled")
    body = [
        [text(row.metric.title), _average(row.macro), _average(row.weighted), _micro(row.micro)]
        for row in averaged_metrics(evaluation, table)
    ]
    return html_tables.table(head, body)


def _average(row: Row | None) -> str:
    return "–" if row is None else text(interval_text(row.value, row.low, row.high))


def _micro(micro: Interval) -> str:
    if math.isnan(micro.low):
        return three_digits(micro.value)
    return text(interval_text(micro.value, micro.low, micro.high))


def _all(evaluation: Evaluation) -> str:
    head = "".join(
        f'<th scope="col"{kind}>{title}</th>'
        for title, kind in (
            ("metric", ""),
            ("value", ' class="value"'),
            ("over its range", ' class="bar"'),
            (f"{100 * evaluation.level:g} % interval", ""),
            ("chance", ""),
        )
    )
    body = "".join(map(html_tables.metric_row, evaluation.metrics))
    return f'<table id="all"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
