"""Tables of a page: its metrics, classes and groups as cells of text, which stand without the script."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from markupsafe import Markup

from steelyard.analysis.results.formatting import interval_text, three_digits, unbroken, value_text
from steelyard.evaluation.class_views import agreeing_intervals
from steelyard.metrics.usual import HEADLINE, ON_PAGE_OF_GROUPS
from steelyard.report.metric_blocks import metric_blocks
from steelyard.report.pages.document import clipped, label_html
from steelyard.report.pages.failing_groups import GROUP_NAME, groups_shown
from steelyard.report.pages.page_numbers import exact_digits, finite_or_none, rounded, rounded_ends

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Label
    from steelyard.analysis.intervals.interval import Interval
    from steelyard.evaluation.evaluation import Evaluation, Group, MetricRow
    from steelyard.metrics.spec import MetricSpec

MOST_GROUPS = 20
_GROUP_METRICS = 5
_CLASS_NAME = 24  # characters of a class in the title of a metric


@dataclass(frozen=True)
class MetricLine:
    """One metric as a row shows it: its value, its interval or why it has none, and the no-skill baseline."""

    name: str
    title: str
    exact: str
    value: str
    between: str
    chance: str


@dataclass(frozen=True)
class HtmlTable:
    """A table whose cells are text, or HTML that was escaped already; the first of each row is its heading."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    kind: str = "plain"
    notes: Sequence[str] = ()
    evaluated: str = ""


def metric_line(row: MetricRow) -> MetricLine:
    """A row of the evaluation as its line."""
    undefined = not math.isfinite(row.value)
    return MetricLine(
        row.name,
        _title(row.spec),
        exact_digits(row.value),
        "–" if undefined else unbroken(row.text(row.value)),
        (row.undefined or "undefined") if undefined else unbroken(row.interval_or_reason()),
        unbroken(row.text(row.chance)),
    )


def _title(spec: MetricSpec) -> str:
    """The title of a metric; a class in it takes at most 24 characters."""
    if spec.label is None:
        return spec.title
    label = Markup('<bdi title="{}">{}</bdi>').format(clipped(spec.label), clipped(spec.label, _CLASS_NAME))
    return Markup("{}, {}").format(replace(spec, label=None).title, label)


def metric_lines(evaluation: Evaluation) -> dict[str, list[MetricLine]]:
    """The table of metrics by its headings: those that stand above, then the others by family."""
    return {heading: [metric_line(row) for row in rows] for heading, rows in metric_blocks(evaluation).items()}


def class_table(evaluation: Evaluation) -> HtmlTable | None:
    """Precision, recall and F1 of each class; of two, those of the metrics where they are the same quantity."""
    if not evaluation.per_class:
        return None
    rows = [
        [label_html(row.label), f"{row.rows:,}", *map(interval_cell, agreeing_intervals(evaluation, row))]
        for row in evaluation.per_class
    ]
    kind = "plain classes" if evaluation.positive is None else "plain two-classes"
    head = ("class", "rows", *(interval.spec.metric.phrase for interval in evaluation.per_class[0].intervals.values()))
    return HtmlTable(head, rows, kind)


def interval_cell(part: Interval | MetricRow) -> str:
    """A value with its interval, alone where it has none, or why there is no value."""
    if math.isfinite(part.value):
        share = part.spec.is_share
        if math.isnan(part.low):
            return unbroken(value_text(part.value, share=share))
        return unbroken(interval_text(part.value, part.low, part.high, share=share))
    return f"– {getattr(part, 'why', None) or getattr(part, 'undefined', None) or ''}"


# ---------------------------------------------------------------- groups


def group_table(evaluation: Evaluation, most: int = MOST_GROUPS) -> HtmlTable | None:
    """The usual metrics of each group, with their intervals; the largest groups where they are very many."""
    if not evaluation.groups:
        return None
    largest = groups_shown(evaluation, most)
    names, left_out = metrics_shown(largest), len(evaluation.groups) > len(largest)
    which = f"Of {len(evaluation.groups):,} groups {most} are shown: those that fail, then the largest."
    notes = [which] if left_out else []
    rows = [
        [label_html(group.label, GROUP_NAME), f"{group.rows:,}", *(_group_cell(group[name]) for name in names)]
        for group in largest
    ]
    head = ("group", "rows", *(largest[0][name].spec.title for name in names))
    return HtmlTable(head, rows, notes=notes, evaluated=_evaluated(evaluation))


def _evaluated(evaluation: Evaluation) -> str:
    """Where the groups stand, whatever the sliders say: at a threshold, as predicted, or ranked only."""
    metrics = {row.spec.metric for group in evaluation.groups for row in group.metrics}
    if evaluation.threshold is None or all(metric.scores is not None for metric in metrics):
        return "As evaluated"
    return f"At threshold {three_digits(evaluation.threshold)}, as evaluated"


def metrics_shown(groups: Sequence[Group]) -> list[str]:
    """The metrics of groups for which a page has room."""
    shared = [row.name for row in groups[0].metrics if all(row.name in group for group in groups)]
    usual = dict.fromkeys([*ON_PAGE_OF_GROUPS, *HEADLINE])
    return ([name for name in usual if name in shared] or shared)[:_GROUP_METRICS]


def _group_cell(row: MetricRow) -> str:
    if not math.isfinite(row.value):
        return Markup("– <i>{}</i>").format(row.undefined or "undefined")
    return Markup("{} <i>{}</i>").format(unbroken(row.text(row.value)), unbroken(row.interval_or_reason()))


def group_numbers(evaluation: Evaluation, most: int = MOST_GROUPS) -> dict[str, list[object]]:
    """The groups that the page shows, for the copied JSON: names once, and of each group its key, rows and numbers."""
    if not evaluation.groups:
        return {"by": [], "names": [], "methods": [], "parts": []}
    largest = groups_shown(evaluation, most)
    names = metrics_shown(largest)
    methods = [*dict.fromkeys(group[name].method for group in largest for name in names)]
    parts = [
        [[_key(key) for key in group.key], group.rows, [_numbers(group[name], methods) for name in names]]
        for group in largest
    ]
    by = [clipped(by, GROUP_NAME) for by in largest[0].by]
    return {"by": [*by], "names": [*names], "methods": [*methods], "parts": [*parts]}


def _numbers(row: MetricRow, methods: list[str]) -> list[float | str | None]:
    why = [] if row.undefined is None else [row.undefined]
    return [finite_or_none(row.value), *rounded_ends(row), rounded(row.chance), methods.index(row.method), *why]


def _key(key: Label | None) -> int | float | str | None:
    return key if key is None or isinstance(key, (int, float)) else clipped(key, GROUP_NAME)
