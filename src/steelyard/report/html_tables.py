"""Tables: the numbers of a page as plain HTML, which stands without the script. Used by the page."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from steelyard.analysis.rows import interval_text, three_digits
from steelyard.evaluation.class_views import agreeing_intervals
from steelyard.evaluation.evaluation import FIRST
from steelyard.report import metric_facts
from steelyard.report.document import clipped, name, scrolled, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from steelyard.evaluation.evaluation import Evaluation, Row

MOST_GROUPS = 20
GROUP_NAME = 32  # characters of a group's name, of which a page may have many
FAMILIES = {
    "rates": "Rates of one class",
    "overall": "All rows alike",
    "balanced": "Both classes alike",
    "F": "Precision and recall of one class",
    "agreement": "Agreement of truth and prediction",
    "corrected": "Corrected for the class shares",
    "skewed": "Leaning to one class",
    "diagnostic": "Odds",
    "decision": "What the errors cost",
    "ranking": "Order of the scores",
    "calibration": "Scores as probabilities",
    "description": "Descriptions, of which no value is best",
    "own": "Your own",
}


def digits(value: float) -> str:
    """All digits of a value for a machine, nothing where it is undefined."""
    return repr(float(value)) if math.isfinite(value) else ""


def count(value: float) -> str:
    """A count of rows, or of weight, with thousands apart."""
    shown = f"{value:,.0f}" if float(value).is_integer() else f"{value:,.2f}"
    return three_digits(float(value)) if shown in ("0.00", "1.00") else shown


def metric_rows(evaluation: Evaluation, key: str = "metric") -> str:
    """The body of the table of metrics: the usual few first, the others by family."""
    usual = evaluation.shown() if evaluation.first is not None else []
    names = {row.name for row in usual}
    groups: dict[str, list[Row]] = {"Read first": usual} if usual else {}
    for row in evaluation.metrics:
        if row.name not in names:
            family = metric_facts.metric_of(row).family
            groups.setdefault(FAMILIES.get(family, family), []).append(row)
    return "".join(_group(title, rows, key) for title, rows in groups.items())


def _group(title: str, rows: Iterable[Row], key: str) -> str:
    head = f'<tr class="family"><th scope="rowgroup" colspan="5">{text(title)}</th></tr>'
    return f"<tbody>{head}{''.join(metric_row(row, key) for row in rows)}</tbody>"


def metric_row(row: Row, key: str = "metric") -> str:
    """One metric: its value, room for its bar, its interval, and what guessing scores.

    Its name is in `data-metric`, once on a page; of one class against the rest in `data-class-metric`.
    """
    undefined = not math.isfinite(row.value)
    between = (
        text(row.undefined or "undefined") if undefined else f"{three_digits(row.low)} to {three_digits(row.high)}"
    )
    # HTML lets the ends of cells and rows be left out, and a page has fifty of them.
    return (
        f'<tr data-{key}="{text(row.name)}" data-value="{digits(row.value)}">'
        f'<th scope="row">{text(metric_facts.title(row))}'
        f'<td class="value">{"–" if undefined else three_digits(row.value)}<td class="bar">'
        f'<td class="between">{between}<td class="chance">{three_digits(row.chance)}'
    )


def class_table(evaluation: Evaluation) -> str:
    """Precision, recall and F1 of each class; of two, those of the metrics where they are the same quantity."""
    head = ("class", "rows", "precision", "recall", "F1")
    body = [
        [name(row.label), f"{row.rows:,}", *map(_interval, agreeing_intervals(evaluation, row))]
        for row in evaluation.per_class
    ]
    return table(head, body, "plain classes" if evaluation.positive is None else "plain two-classes")


def _interval(part: Any) -> str:
    return (
        text(interval_text(part.value, part.low, part.high))
        if math.isfinite(part.value)
        else f"– {text(getattr(part, 'why', None) or getattr(part, 'undefined', None) or '')}"
    )


def group_table(groups: Sequence[Any], most: int = MOST_GROUPS) -> str:
    """The usual metrics of each group, with their intervals; the largest groups where they are very many."""
    largest, shown = _shown(groups, most)
    left = len(groups) > len(largest)
    note = f'<p class="soft">The {most} largest of {len(groups):,} groups are shown.</p>' if left else ""
    body = [
        [name(group.label, GROUP_NAME), f"{group.rows:,}", *(_group_cell(group, metric) for metric in shown)]
        for group in largest
    ]
    titles = [metric_facts.title(largest[0][metric]) for metric in shown]
    return note + table(("group", "rows", *titles), body)


def _shown(groups: Sequence[Any], most: int) -> tuple[Sequence[Any], list[str]]:
    """The groups and the metrics for which a page has room."""
    largest = sorted(groups, key=lambda group: -group.rows)[:most] if len(groups) > most else groups
    shared = [row.name for row in largest[0].metrics if all(row.name in group for group in largest)]
    return largest, [metric for metric in FIRST if metric in shared][:5] or shared[:5]


def group_numbers(evaluation: Evaluation, most: int = MOST_GROUPS) -> dict[str, Any]:
    """The groups that the page shows, for the copied JSON: names once, and of each group its key, rows and numbers."""
    if not evaluation.groups:
        return {"by": [], "names": [], "parts": []}
    largest, shown = _shown(list(evaluation.groups), most)
    parts = [
        [[_key(key) for key in group.key], group.rows, [_numbers(group[metric]) for metric in shown]]
        for group in largest
    ]
    return {"by": [clipped(by, GROUP_NAME) for by in largest[0].by], "names": shown, "parts": parts}


def _numbers(row: Row) -> list[Any]:
    ends = [metric_facts.rounded(end) for end in (row.low, row.high, row.chance)]
    return [metric_facts.finite(row.value), *ends, *([] if row.undefined is None else [row.undefined])]


def _key(key: Any) -> Any:
    return key if key is None or isinstance(key, (int, float)) else clipped(key, GROUP_NAME)


def _group_cell(group: Any, metric: str) -> str:
    row = group[metric]
    if not math.isfinite(row.value):
        return f"– <i>{text(row.undefined or 'undefined')}</i>"
    return f"{three_digits(row.value)} <i>{three_digits(row.low)} to {three_digits(row.high)}</i>"


def table(head: Sequence[str], body: Iterable[Sequence[str]], kind: str = "plain") -> str:
    """A table whose cells are HTML already, the first of each row its heading."""
    top = "".join(f'<th scope="col">{text(title)}</th>' for title in head)
    rows = "".join(
        f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in rest)}</tr>' for first, *rest in body
    )
    inside = f"<thead><tr>{top}</tr></thead><tbody>{rows}</tbody>"
    return scrolled(f'<table class="{kind}">{inside}</table>', f"{head[0]} table")
