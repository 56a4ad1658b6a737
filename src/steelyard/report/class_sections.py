"""Class sections: what a page of several classes shows besides one class against the rest."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.evaluation.averages import averaged_metrics
from steelyard.evaluation.class_views import commonest_classes
from steelyard.report.controls import MenuEntry
from steelyard.report.copied_json import LABEL
from steelyard.report.document import clipped
from steelyard.report.html_tables import MetricLine, class_table, group_table, interval_cell, metric_lines
from steelyard.report.sections import facts_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard._types import Label
    from steelyard.analysis.intervals.interval import Interval
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.evaluation.metric_row import MetricRow
    from steelyard.statistics.confusion import Confusion

_MOST = 40  # classes that the heat map and the choice of a class show, the commonest first
_SHADES = (0.005, 0.05, 0.2, 0.4, 0.6)  # shares of a true class from which a cell is a shade darker


@dataclass(frozen=True)
class HeatCell:
    """A cell of the heat map: its count, its share of the true class in percent, and how dark it is."""

    count: float
    percent: float
    shade: int


@dataclass(frozen=True)
class ClassSections:
    """The heat map, the averages and the metrics of all classes, and the classes to choose from."""

    labels: Sequence[Label]
    heat: Sequence[tuple[Label, Sequence[HeatCell]]]
    left_out: str
    averages: Sequence[Sequence[str]]
    metrics: Mapping[str, Sequence[MetricLine]]
    choices: Sequence[MenuEntry]


def shown_classes(table: Confusion) -> tuple[Label, ...]:
    """The classes that a page shows, in the order of the labels: all, or the commonest where they are very many."""
    return commonest_classes(table, _MOST)


def classes_context(evaluation: Evaluation, table: Confusion, source: str, chosen: Label) -> dict[str, object]:
    """What differs from the page of two classes."""
    count = len(table.labels)
    more = f" The {_MOST} commonest of {count:,} classes are shown." if count > _MOST else ""
    labels = shown_classes(table)
    sections = ClassSections(
        labels,
        _heat_map(table, labels),
        more,
        _averages(evaluation, table),
        metric_lines(evaluation),
        [MenuEntry(clipped(label, LABEL), clipped(label), label == chosen) for label in labels],
    )
    return {
        "facts": facts_of(evaluation, source, f"{count:,} classes"),
        "classes": sections,
        "metric_key": "class-metric",
        "class_table": class_table(evaluation),
        "group_table": group_table(evaluation),
    }


def _heat_map(table: Confusion, labels: Sequence[Label]) -> list[tuple[Label, list[HeatCell]]]:
    """The table with every row shaded by its shares."""
    places = [table.index(label) for label in labels]
    matrix, sums = table.matrix[np.ix_(places, places)], table.matrix.sum(1)[places]
    rows = zip(labels, matrix, sums, strict=True)
    return [(label, [_heat_cell(float(cell), float(total)) for cell in row]) for label, row, total in rows]


def _heat_cell(cell: float, total: float) -> HeatCell:
    share = cell / total if total else 0.0
    return HeatCell(cell, 100 * share, sum(share >= bound for bound in _SHADES))


def _averages(evaluation: Evaluation, table: Confusion) -> list[list[str]]:
    """Precision, recall and F1 as macro, weighted and micro averages."""
    return [
        [row.metric.title, *map(_average, (row.macro, row.weighted, row.micro))]
        for row in averaged_metrics(evaluation, table)
    ]


def _average(row: MetricRow | Interval | None) -> str:
    return "–" if row is None or math.isnan(row.value) else interval_cell(row)
