"""Terminal summaries: an evaluation, a comparison, a threshold or a shift as a terminal shows it."""

from __future__ import annotations

import math
from itertools import groupby
from typing import TYPE_CHECKING, Any

from steelyard.analysis.formatting import cell_text, interval_text, terminal_width, three_digits
from steelyard.report.terminal import clean_label, paragraph, print_table, safe_paragraph
from steelyard.report.text import verdict_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.analysis.best_threshold import BestThreshold
    from steelyard.analysis.comparison import Comparison
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.evaluation.metric_row import MetricRow
    from steelyard.statistics.confusion import Confusion

_BAR_CELLS, _LEAST_BAR_CELLS = 20, 6
_MOST_SHOWN_LABELS = 12


# ---------------------------------------------------------------- an evaluation


def evaluation_summary(evaluation: Evaluation, name: str, *, everything: bool = False) -> str:
    """The verdict, the metrics as bars, the table, and what was assumed."""
    rows = list(evaluation.metrics) if everything else evaluation.shown()
    table = getattr(evaluation, "confusion", None)  # which schema 1 may not have saved
    parts = [
        _title(evaluation, name),
        verdict_text(evaluation, safe_paragraph),
        _metrics(rows, evaluation.level),
        _classes(evaluation),
        _groups(evaluation),
        _table(table) if table is not None else "",
        _last(evaluation, everything),
    ]
    return "\n\n".join(part for part in parts if part)


def _title(evaluation: Evaluation, name: str) -> str:
    positive = "" if evaluation.positive is None else f", positive {clean_label(repr(evaluation.positive))}"
    threshold = "" if evaluation.threshold is None else f", threshold {three_digits(evaluation.threshold)}"
    return f"{clean_label(name)}: {evaluation.rows:,} rows{positive}{threshold}"


def _metrics(rows: Sequence[MetricRow], level: float) -> str:
    """One line per metric, families apart; the bars take what is left of the width."""
    names, intervals = (max((len(text) for text in texts), default=0) for texts in _columns(rows))
    cells = min(max(terminal_width() - names - intervals - len("  value    chance") - 6, 0), _BAR_CELLS)
    shown: list[list[str] | str] = []
    families = [row.spec.metric.family for row in rows]
    by_family = len(list(groupby(families))) == len(set(families))  # else a heading would stand above others' rows
    for row, family in zip(rows, families, strict=True):
        if by_family and family not in shown:
            shown.append(family)
        drawn = _bar(row, cells) if cells >= _LEAST_BAR_CELLS else ""
        shown.append([row.name, three_digits(row.value), drawn, _interval(row), three_digits(row.chance)])
    head = ["metric", "value", "", f"{100 * level:g} % interval", "chance"]
    return print_table(head, shown, right=(1, 4), wrap=(3,))


def _columns(rows: Sequence[MetricRow]) -> tuple[list[str], list[str]]:
    """The names and the intervals, which leave the rest to the bars; reasons are words and wrap."""
    return [row.name for row in rows], [_interval(row) for row in rows if not math.isnan(row.value)]


def _interval(row: MetricRow) -> str:
    if math.isnan(row.value):
        return row.undefined or ""
    return f"{three_digits(row.low)} to {three_digits(row.high)}"


def _bar(row: MetricRow, size: int = _BAR_CELLS) -> str:
    """Cells over the range of the metric: the interval drawn, the value in it, chance as a stroke."""
    low, high = row.spec.metric.range
    if not (math.isfinite(low) and math.isfinite(high)) or math.isnan(row.value):
        return ""
    cells = ["·"] * size

    def place(value: float) -> int:
        return min(max(int((value - low) / (high - low) * size), 0), size - 1)

    if math.isfinite(row.low) and math.isfinite(row.high):
        for i in range(place(row.low), place(row.high) + 1):
            cells[i] = "━"
    if math.isfinite(row.chance):
        cells[place(row.chance)] = "┃" if cells[place(row.chance)] == "━" else "|"
    cells[place(row.value)] = "●"
    return "".join(cells)


def _classes(evaluation: Evaluation) -> str:
    if evaluation.positive is not None or not getattr(evaluation, "per_class", ()):
        return ""
    rows = [
        [
            clean_label(row.label),
            f"{row.rows:,}",
            *(interval_text(i.value, i.low, i.high) for i in row.intervals.values()),
        ]
        for row in evaluation.per_class
    ]
    names = list(evaluation.per_class[0].intervals)
    return print_table(["class", "rows", *names], rows, right=(1,))


def _groups(evaluation: Evaluation) -> str:
    if not evaluation.groups:
        return ""
    return _fitted([{**group.summary(), "group": clean_label(group.label)} for group in evaluation.groups])


def _fitted(rows: Sequence[dict[str, Any]]) -> str:
    """Rows as a table no wider than the terminal: words wrap, numbers do not; columns without a value are left out."""
    columns = dict.fromkeys(name for row in rows for name in row)
    names = [name for name in columns if any(row.get(name) is not None for row in rows)]
    words = [i for i, name in enumerate(names) if any(isinstance(row.get(name), str) for row in rows)]
    cells = [["" if row.get(name) is None else cell_text(name, row[name]) for name in names] for row in rows]
    return print_table(names, cells, right=[i for i in range(len(names)) if i not in words], wrap=words)


def _table(table: Confusion) -> str:
    """The table with its margins; of many classes it would not fit."""
    if len(table.labels) > _MOST_SHOWN_LABELS:
        return f"{len(table.labels)} classes: the table is in --format json."
    labels = [clean_label(label) for label in table.labels]
    cells = table.matrix
    rows: list[list[str] | str] = [
        [label, *map(_cell, row), _cell(row.sum())] for label, row in zip(labels, cells, strict=True)
    ]
    rows.append(["all", *map(_cell, cells.sum(0)), _cell(cells.sum())])
    return print_table(["true \\ predicted", *labels, "all"], rows, right=tuple(range(1, len(labels) + 2)))


def _cell(value: float) -> str:
    return f"{int(value):,}" if float(value).is_integer() else f"{value:,.4g}"


def _last(evaluation: Evaluation, everything: bool) -> str:
    assumed = map(safe_paragraph, evaluation.assumed)
    hidden = 0 if everything else len(evaluation.metrics) - len(evaluation.shown())
    more = f"--all shows {hidden} more metrics" if hidden else "steelyard explain NAME shows a metric's formula"
    then = (
        "steelyard threshold finds the best threshold"
        if getattr(evaluation, "scores", None) is not None
        else "--format json gives every number"
    )
    return "\n".join([*assumed, paragraph(f"Next: {more}; {then}.")])


# ---------------------------------------------------------------- the other answers


def comparison_summary(comparison: Comparison, assumed: Sequence[str]) -> str:
    """The differences, and the metrics by how much they favour the first model."""
    head, tests = comparison.words()
    return "\n".join([safe_paragraph(head), *_differences(comparison), *map(safe_paragraph, (*tests, *assumed))])


def _differences(comparison: Comparison) -> list[str]:
    """The differences as tables, one for each pair of models."""
    pairs: dict[str, list[dict[str, Any]]] = {}
    for row in comparison.shown_rows():
        pair = " - ".join(clean_label(row.pop(name)) for name in ("a", "b") if name in row)
        named = {"value_a": "a", "value_b": "b", "difference": "a - b"} if pair else {}
        cells = {
            named.get(key, clean_label(key)): clean_label(cell) if isinstance(cell, str) else cell
            for key, cell in row.items()
        }
        pairs.setdefault(pair, []).append(cells)
    return [text for pair, rows in pairs.items() for text in ([f"── {pair}"] if pair else []) + [_fitted(rows)]]


def threshold_summary(best: BestThreshold, assumed: Sequence[str]) -> str:
    """The best threshold in a sentence, the table at it, and what was assumed."""
    cells = ", ".join(f"{name} {_cell(value)}" for name, value in best.counts.to_dict().items())
    digits = f"The threshold with all its digits: {best.threshold!r}."
    return "\n".join([paragraph(f"{best!r}."), f"There: {cells}.", digits, *map(paragraph, assumed)])


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
    return "\n".join(
        [verdict_text(there, safe_paragraph), "", _fitted(rows), *by_group, "", *map(paragraph, there.assumed)]
    ).rstrip()
