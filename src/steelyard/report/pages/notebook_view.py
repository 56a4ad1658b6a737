"""Notebook view: an evaluation in the colours of the notebook that shows it, with a slider where there are scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from steelyard._names import __version__
from steelyard.analysis.intervals.score_draws import score_histogram
from steelyard.analysis.results.formatting import three_digits
from steelyard.evaluation.class_views import ClassView, class_view
from steelyard.evaluation.prevalence_grid import nearest_place, prevalence_grid
from steelyard.evaluation.saved.json_values import plain_scores
from steelyard.evaluation.score_dots import DOTS
from steelyard.evaluation.threshold_grid import threshold_grid
from steelyard.evaluation.verdict.moved_sentences import moved_sentences
from steelyard.evaluation.verdict.sentences import NUMBERS_HEAD
from steelyard.report.class_cells import class_cells
from steelyard.report.pages import metric_facts
from steelyard.report.pages.document import asset, embedded, rendered_html
from steelyard.report.pages.html_tables import metric_line
from steelyard.report.pages.page_data import given_prevalence, threshold_columns, view_numbers
from steelyard.report.pages.page_numbers import finite_or_none, interval_constants, rounding_constants

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.evaluation.evaluation import Evaluation, MetricRow
    from steelyard.evaluation.verdict.sentences import Sentence
    from steelyard.report.pages.html_tables import MetricLine
    from steelyard.tables.confusion import Confusion
    from steelyard.tables.score_table import ScoreTable

_WIDE = 120  # of the bar, whose ends keep a margin of 4
_MOST_CLASSES = 12  # of a confusion matrix that fits an output
_MOST_THRESHOLDS = 200


@dataclass(frozen=True)
class NotebookLine:
    """A metric as the table shows it, and where its bar begins, ends, and has the value and the baseline."""

    line: MetricLine
    low: float | None
    high: float | None
    value: float | None
    chance: float | None
    is_ranked: bool


def notebook_view(evaluation: Evaluation) -> str:
    """The verdict, the usual metrics with their intervals, and the confusion matrix: no colour of its own.

    >>> from steelyard import Counts, evaluate
    >>> notebook_view(evaluate(Counts(tp=28, fn=23, fp=72, tn=2680)))
    '<div class="steelyard-result...</div>'
    """
    rows, table = evaluation.shown(), getattr(evaluation, "confusion", None)
    data = _slider_data(evaluation, rows)
    key = sha256(data.encode("utf-8", "replace")).hexdigest()[:16]
    return str(
        rendered_html(
            "notebook_view.html",
            style=asset("notebook.css"),
            script=_script(evaluation, rows, data, key) if data else "",
            key=key,
            **_verdict(evaluation.verdict),
            assumed=evaluation.assumed,
            lines=[_line(row) for row in rows],
            level=f"{100 * evaluation.level:g} %",
            matrix=_matrix(table),
            class_table=class_cells(evaluation),
            classes=0 if table is None else len(table.labels),
            positive=evaluation.positive,
            wide=_WIDE,
            version=__version__,
        )
    )


def _verdict(sentences: Sequence[Sentence]) -> dict[str, object]:
    """The sentences that stand first, the numbers by use, and those that are folded away."""
    numbers = [sentence for sentence in sentences if sentence.is_of_use]
    others = [sentence for sentence in sentences if not sentence.is_of_use]
    beside = ("beside-number", "at-capacity")
    first = max(2, *(i + 1 for i, s in enumerate(others) if s.is_headline or s.code in beside), 0)
    return {"first": others[:first], "numbers": numbers, "why": others[first:], "numbers_head": NUMBERS_HEAD}


def _line(row: MetricRow) -> NotebookLine:
    low, high, value, chance = (_place(row, getattr(row, end)) for end in ("low", "high", "value", "chance"))
    return NotebookLine(metric_line(row), low, high, value, chance, is_ranked=row.spec.metric.scores is not None)


def _place(row: MetricRow, value: float) -> float | None:
    """Where a value lies on the bar, as the script's `placed` says it; None where it is not finite."""
    low, high = row.spec.metric.range
    if not math.isfinite(value):
        return None
    if math.isfinite(low) and math.isfinite(high):
        share = (value - low) / (high - low)
    elif math.isfinite(low):
        share = (value - low) / (1 + value - low)
    else:
        share = 0.5 + value / (2 * (1 + abs(value))) if math.isinf(high) else 1 - (high - value) / (1 + high - value)
    return round(4 + (_WIDE - 8) * min(1.0, max(0.0, share)), 2)


def _matrix(table: Confusion | None) -> list[tuple[str, list[str]]]:
    """The confusion matrix by its true labels, where it is small."""
    if table is None or len(table.labels) > _MOST_CLASSES:
        return []
    rows = zip(table.labels, table.matrix.tolist(), strict=True)
    return [(str(label), [_cell(cell) for cell in row]) for label, row in rows]


def _cell(value: float) -> str:
    return f"{int(value):,}" if float(value).is_integer() else three_digits(value)


# ---------------------------------------------------------------- the slider


def _slider_data(evaluation: Evaluation, rows: Sequence[MetricRow]) -> str:
    """What the slider computes with, as JSON; nothing where there are no scores to threshold, or no table yet."""
    scores, table = getattr(evaluation, "scores", None), getattr(evaluation, "confusion", None)
    if scores is None or table is None or not (scores.positive.n and scores.negative.n):
        return ""
    view, constants = class_view(table, evaluation.positive), interval_constants(evaluation)
    data = {
        "digits": rounding_constants(),
        "wide": _WIDE,
        "level": evaluation.level,
        "view": view_numbers(view),
        "rows": evaluation.rows,
        "weighted": table.weighted,
        "headline": moved_sentences(evaluation),
        "is_live": any(sentence.code == "outcomes" for sentence in evaluation.verdict[:1]),
        "positive": table.index(evaluation.positive),
        "lines": [_row_data(row) for row in rows if not row.spec.reads_scores(scores)],
    }
    return embedded(constants | data | _thresholds(evaluation, scores, table) | _prevalences(evaluation, view))


def _thresholds(evaluation: Evaluation, scores: ScoreTable, table: Confusion) -> dict[str, Any]:
    plain = plain_scores(scores)
    grid, bins = threshold_grid(plain, [], evaluation.threshold, _MOST_THRESHOLDS), score_histogram(plain)
    return {
        "dots": DOTS,
        "axis": {"from": bins.low, "to": bins.high},
        "is_whole": grid.total == len(grid.tp),
        "thresholds": threshold_columns(grid),
        "index": grid.nearest(table.counts(evaluation.positive)) if grid.current is None else grid.current,
    }


def _prevalences(evaluation: Evaluation, view: ClassView) -> dict[str, Any]:
    given = given_prevalence(evaluation)
    start = given or view.share
    stops = prevalence_grid(*(share for share in (start, view.share) if 0 < share < 1))
    return {"share": given, "stops": stops.tolist(), "stop": nearest_place(stops, start)}


def _script(evaluation: Evaluation, rows: Sequence[MetricRow], data: str, key: str) -> str:
    specs = [row.spec for row in rows if not row.spec.reads_scores(evaluation.scores)]
    formulas = metric_facts.formulas(specs, evaluation.positive)
    return f'"use strict";(() => {{\nconst D = {data}, KEY = "{key}";\n{formulas}\n{{{asset("notebook.js")}}}\n}})();'


def _row_data(row: MetricRow) -> dict[str, Any]:
    ends = [finite_or_none(end) for end in row.spec.metric.range]
    return {"name": row.name, "range": ends, "share": row.spec.is_share}
