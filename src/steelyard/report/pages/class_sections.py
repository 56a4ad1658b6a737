"""Class sections: what a page of several classes shows besides one class against the rest."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from markupsafe import Markup, escape

from steelyard.analysis.confusions.confused_pairs import PairOrder, confused_pairs, true_class_shares
from steelyard.analysis.results.formatting import bounds_text, p_text, percent_text, three_digits, unbroken
from steelyard.arrays.sparse import error_entries
from steelyard.evaluation.class_views import averaged_metrics
from steelyard.evaluation.verdict.verdict import rare_text
from steelyard.report.level_texts import level_rows, level_words
from steelyard.report.metric_blocks import BY_CLASS, rows_by_class
from steelyard.report.pages.html_tables import MetricLine, interval_cell, metric_lines
from steelyard.report.pages.page_numbers import amount
from steelyard.report.pages.sections import facts_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from steelyard._types import Array, Label
    from steelyard.analysis.confusions.confused_pairs import ConfusedPair
    from steelyard.analysis.intervals.interval import Interval
    from steelyard.evaluation.evaluation import ClassRow, Evaluation, MetricRow
    from steelyard.tables.confusion import Confusion

MOST_WRITTEN = 12  # classes whose whole matrix stands as a table of numbers
MOST_LISTED = 100  # classes that are all listed without the script; of more the weakest
_WEAKEST = 50  # of very many classes that are listed without the script and on paper
_PAIRS = 10  # confused pairs
_MOST_PRINTED = 200  # classes whose matrix is a picture on paper
_TESTED = (
    "Expected are the rows if errors fell on classes whatever the true one (quasi-independence); p is that of so many "
    "or more, adjusted by Holm's method for all pairs; pairs that it shows go before the others."
)
_SHADES = (0, 0.005, 0.05, 0.2, 0.4, 0.6)  # shares of a true class above which a cell is a shade darker


@dataclass(frozen=True)
class MatrixCell:
    """A cell of the written matrix: its count, its share of the true class, and its kind and shade as classes."""

    count: float
    share: str
    kind: str


@dataclass(frozen=True)
class PairLine:
    """A confused pair as its line shows it: the places of both classes, their names, and the share with its ends."""

    places: tuple[int, int]
    true: Label
    predicted: Label
    count: float
    share: str
    ends: str
    expected: str = ""
    p_value: str = ""


@dataclass(frozen=True)
class ClassLine:
    """A class as its line shows it: its place, its rows, and its metrics with their intervals."""

    place: int
    label: Label
    rows: int
    cells: Sequence[str]
    recall: tuple[float, float, float] | None


@dataclass(frozen=True)
class ScoredClasses:
    """Each of many classes by its scores against the rest: the metrics, and of each class their values."""

    title: str
    heads: Sequence[str]
    rows: Sequence[tuple[Label, Sequence[str]]]


@dataclass(frozen=True)
class ClassSections:
    """The matrix in numbers where it is small, the confused pairs, the classes, the averages and the metrics of all."""

    count: int
    labels: Sequence[Label]
    matrix: Sequence[tuple[Label, Sequence[MatrixCell]]]
    pairs: Mapping[str, Sequence[PairLine]]
    pair_words: Mapping[str, str]
    errors: float
    unit: str
    lines: Sequence[ClassLine]
    listed: str
    left_out: str
    heads: Sequence[str]
    averages: Sequence[Sequence[str]]
    metrics: Mapping[str, Sequence[MetricLine]]
    rare: str = ""
    levels: Sequence[Sequence[str]] = ()
    level_words: str = ""
    by_scores: ScoredClasses | None = None


def classes_context(evaluation: Evaluation, table: Confusion, source: str) -> dict[str, object]:
    """What differs from the page of two classes."""
    return {
        "facts": facts_of(evaluation, source, f"{len(table.labels):,} classes"),
        "classes": _sections(evaluation, table),
        "metric_key": "class-metric",
        "class_table": None,
    }


def _sections(evaluation: Evaluation, table: Confusion) -> ClassSections:
    lines, count = evaluation.weakest_classes(), len(table.labels)
    few = lines if count <= MOST_LISTED else lines[:_WEAKEST]
    listed = "" if len(few) == count else f"The {len(few)} classes with the lowest recall of {count:,} are listed."
    return ClassSections(
        count,
        table.labels,
        _matrix(table) if count <= MOST_WRITTEN else (),
        {by: _pairs(evaluation, table, by) for by in get_args(PairOrder)},
        _pair_words(evaluation, table),
        float(table.matrix.sum() - table.matrix.trace()),
        "weight" if table.weighted else "rows",
        [_class_line(place, row) for place, row in few],
        listed,
        _left_out(count),
        [interval.spec.metric.phrase for interval in evaluation.per_class[0].intervals.values()],
        _averages(evaluation, table),
        {heading: lines for heading, lines in metric_lines(evaluation).items() if heading != BY_CLASS},
        "" if evaluation.rare_classes is None else rare_text(evaluation.rare_classes),
        level_rows(evaluation),
        level_words(evaluation),
        _by_scores(evaluation),
    )


def _by_scores(evaluation: Evaluation) -> ScoredClasses | None:
    """The metrics of each class that read scores, where so many would hide the others."""
    columns: dict[str, dict[Label, str]] = {}
    for row in rows_by_class(evaluation).values():
        columns.setdefault(row.spec.metric.title, {})[row.spec.label] = _with_ends(interval_cell(row))
    if not columns:
        return None
    labels = dict.fromkeys(label for column in columns.values() for label in column)
    rows = [(label, [column.get(label, "–") for column in columns.values()]) for label in labels]
    return ScoredClasses(BY_CLASS, [*columns], rows)


def _left_out(count: int) -> str:
    """What paper has no room for."""
    if count <= _MOST_PRINTED:
        return ""
    return (
        f"A matrix of {count:,} classes cannot be read on paper: printed are the pairs that are confused most and the "
        f"{_WEAKEST} classes with the lowest recall; the page on a screen shows all."
    )


def _pairs(evaluation: Evaluation, table: Confusion, by: PairOrder) -> list[PairLine]:
    clustered = evaluation.is_clustered
    pairs = confused_pairs(table, evaluation.level, most=_PAIRS, by=by, clustered=clustered, tested_first=True)
    return [_pair_line(table, pair, evaluation.level) for pair in pairs]


def _pair_words(evaluation: Evaluation, table: Confusion) -> dict[str, str]:
    """What each list of pairs holds, and in which order."""
    errors = table.matrix.sum() - table.matrix.trace()
    every = f"{amount(float(errors))} {'units of weight' if table.weighted else 'rows'}"
    some = len(error_entries(table.matrix)[0]) > _PAIRS
    level, clustered = f"{100 * evaluation.level:g} % interval", evaluation.is_clustered
    ends = "" if clustered else f" and its {level}, each pair by itself"
    alike = " that rows outside clusters would have" if clustered else ""
    tested = "" if clustered else f" {_TESTED}"
    return {
        "weight": f"{f'{_PAIRS} pairs of all' if some else 'All'} errors ({every}), the commonest first, with the "
        f"share of the true class{ends}.{tested}",
        "share": f"{f'The {_PAIRS} largest shares' if some else 'The shares'} of a true class that went to one other "
        f"class, by the lower end of the {level}{alike}.{tested}",
    }


def _matrix(table: Confusion) -> list[tuple[Label, list[MatrixCell]]]:
    """The table with every row shaded by its shares."""
    shares = true_class_shares(table)
    return [(label, [*_matrix_row(table, shares, i)]) for i, label in enumerate(table.labels)]


def _matrix_row(table: Confusion, shares: Array, i: int) -> Iterator[MatrixCell]:
    for j, (count, share) in enumerate(zip(table.matrix[i].tolist(), shares[i], strict=True)):
        kind = f"{'right' if i == j else 'wrong'}-{sum(share > bound for bound in _SHADES)}"
        yield MatrixCell(count, unbroken(percent_text(float(share))) if count else "", kind)


def _pair_line(table: Confusion, pair: ConfusedPair, level: float) -> PairLine:
    places = table.index(pair.true), table.index(pair.predicted)
    ends = unbroken(bounds_text(pair.low, pair.high, share=True)) if math.isfinite(pair.low) else ""
    shown = unbroken(p_text(pair.p_value)) if pair.p_value <= 1 - level else "may be chance"
    p_value = "" if math.isnan(pair.p_value) else shown
    share, expected = unbroken(percent_text(pair.share)), three_digits(pair.expected)
    return PairLine(places, pair.true, pair.predicted, pair.weight, share, ends, expected, p_value)


def _class_line(place: int, row: ClassRow) -> ClassLine:
    cells, recall = [_with_ends(interval_cell(interval)) for interval in row.intervals.values()], row.recall
    ends = (recall.low, recall.high) if math.isfinite(recall.low) else (recall.value, recall.value)
    bar = _across(recall.value, *ends) if math.isfinite(recall.value) else None
    return ClassLine(place, row.label, row.rows, cells, bar)


def _with_ends(cell: str) -> Markup:
    """A value with its interval, the interval apart so that it may stand below."""
    value, bracket, ends = cell.partition(" (")
    return Markup('{} <span class="ends">({}</span>').format(value, ends) if bracket else escape(cell)


def _across(value: float, low: float, high: float) -> tuple[float, float, float]:
    """Where a value and its interval lie on a bar from 0 to 1, in percent: the value, the start and the width."""
    return round(100 * value, 2), round(100 * low, 2), round(100 * (high - low), 2)


def _averages(evaluation: Evaluation, table: Confusion) -> list[list[str]]:
    """Precision, recall and F1 as macro, weighted and micro averages."""
    return [
        [row.metric.title, *map(_average, (row.macro, row.weighted, row.micro))]
        for row in averaged_metrics(evaluation, table)
    ]


def _average(row: MetricRow | Interval | None) -> str:
    return "–" if row is None or math.isnan(row.value) else interval_cell(row)
