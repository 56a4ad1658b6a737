"""Summary: an evaluation, a comparison, a cut or a shift as a terminal shows it, and as CSV."""

from __future__ import annotations

import csv as csv_text
import math
from io import StringIO
from typing import TYPE_CHECKING, Any

from steelyard.analysis.rows import cell_text, terminal_width, three_digits
from steelyard.metrics.registry import get_metric
from steelyard.report.terminal import CONTROL, paragraph, print_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.analysis.best_threshold import BestThreshold
    from steelyard.analysis.comparison import Comparison
    from steelyard.evaluation.evaluation import Evaluation, Row
    from steelyard.statistics.confusion import Confusion

_CELLS, LEAST_CELLS = 20, 6
MOST_SHOWN_LABELS = 12


def plain(text: object) -> str:
    """Text of a user's data without what could steer a terminal; a very long one is cut."""
    clean = CONTROL.sub("·", str(text))
    return clean if len(clean) <= 60 else f"{clean[:57]}..."


# ---------------------------------------------------------------- an evaluation


def terminal(found: Evaluation, name: str, *, everything: bool = False) -> str:
    """The verdict, the metrics as bars, the table, and what was assumed."""
    rows = list(found.metrics) if everything else found.shown()
    parts = [
        _title(found, name),
        "\n".join(paragraph(CONTROL.sub("·", sentence)) for sentence in found.verdict),
        metrics(rows, found.level),
        _classes(found),
        _groups(found),
        _table(found.confusion) if found.confusion is not None else "",
        _last(found, everything),
    ]
    return "\n\n".join(part for part in parts if part)


def _title(found: Evaluation, name: str) -> str:
    positive = "" if found.positive is None else f", positive {plain(repr(found.positive))}"
    cut = "" if found.threshold is None else f", cut at {three_digits(found.threshold)}"
    return f"{plain(name)}: {found.rows:,} rows{positive}{cut}"


def metrics(rows: Sequence[Row], level: float) -> str:
    """One line a metric, families apart; the bars take what is left of the width."""
    names, intervals = (max((len(text) for text in texts), default=0) for texts in _columns(rows))
    cells = min(max(terminal_width() - names - intervals - len("  value    chance") - 6, 0), _CELLS)
    shown: list[list[str] | str] = []
    for row in rows:
        family = get_metric(row.name.split("[average=")[0]).family
        if family not in shown:
            shown.append(family)
        drawn = _bar(row, cells) if cells >= LEAST_CELLS else ""
        shown.append([row.name, three_digits(row.value), drawn, _interval(row), three_digits(row.chance)])
    head = ["metric", "value", "", f"{100 * level:g} % interval", "chance"]
    return print_table(head, shown, right=(1, 4), wrap=(3,))


def _columns(rows: Sequence[Row]) -> tuple[list[str], list[str]]:
    """The names and the intervals, by which the bars are cut; reasons are words and wrap."""
    return [row.name for row in rows], [_interval(row) for row in rows if not math.isnan(row.value)]


def _interval(row: Row) -> str:
    if math.isnan(row.value):
        return row.undefined or ""
    return f"{three_digits(row.low)} to {three_digits(row.high)}"


def _bar(row: Row, size: int = _CELLS) -> str:
    """Cells over the range of the metric: the interval drawn, the value in it, chance as a stroke."""
    low, high = get_metric(row.name.split("[average=")[0]).range
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


def _classes(found: Evaluation) -> str:
    if found.positive is not None or not found.per_class:
        return ""
    rows: list[list[str] | str] = []
    for part in found.per_class:
        ends = [part.precision, part.recall, part.f1]
        texts = [
            f"{three_digits(end.value)} ({three_digits(end.low)} to {three_digits(end.high)})"
            if not math.isnan(end.value)
            else "–"
            for end in ends
        ]
        rows.append([plain(part.label), f"{part.rows:,}", *texts])
    return print_table(["class", "rows", "precision", "recall", "f1"], rows, right=(1,))


def _groups(found: Evaluation) -> str:
    if not found.groups:
        return ""
    return _fitted([{**group.summary(), "group": plain(group.label)} for group in found.groups])


def _fitted(rows: Sequence[dict[str, Any]]) -> str:
    """Rows as a table no wider than the terminal: words wrap, numbers do not; columns without a value are left out."""
    known = dict.fromkeys(name for row in rows for name in row)
    names = [name for name in known if any(row.get(name) is not None for row in rows)]
    words = [i for i, name in enumerate(names) if any(isinstance(row.get(name), str) for row in rows)]
    cells = [["" if row.get(name) is None else cell_text(name, row[name]) for name in names] for row in rows]
    return print_table(names, cells, right=[i for i in range(len(names)) if i not in words], wrap=words)


def _table(table: Confusion) -> str:
    """The table with its margins; of many classes it would not fit."""
    if len(table.labels) > MOST_SHOWN_LABELS:
        return f"{len(table.labels)} classes: the table is in --format json."
    labels = [plain(label) for label in table.labels]
    cells = table.matrix
    rows: list[list[str] | str] = [
        [label, *map(_cell, row), _cell(row.sum())] for label, row in zip(labels, cells, strict=True)
    ]
    rows.append(["all", *map(_cell, cells.sum(0)), _cell(cells.sum())])
    return print_table(["true \\ predicted", *labels, "all"], rows, right=tuple(range(1, len(labels) + 2)))


def _cell(value: Any) -> str:
    return f"{int(value):,}" if float(value).is_integer() else f"{value:,.4g}"


def _last(found: Evaluation, everything: bool) -> str:
    said = [paragraph(CONTROL.sub("·", line)) for line in found.assumed]
    hidden = 0 if everything else len(found.metrics) - len(found.shown())
    more = f"--all shows {hidden} more metrics" if hidden else "steelyard explain NAME tells a metric's formula"
    then = "steelyard threshold finds the best cut" if found.scores is not None else "--format json gives every number"
    return "\n".join([*said, paragraph(f"Next: {more}; {then}.")])


# ---------------------------------------------------------------- the other answers


def comparison(found: Comparison, assumed: Sequence[str]) -> str:
    """The differences, and the metrics by how much they favour the first model."""
    head, tests = found.words()
    said = [paragraph(CONTROL.sub("·", line)) for line in (*tests, *assumed)]
    return "\n".join([paragraph(CONTROL.sub("·", head)), *_differences(found), *said])


def _differences(found: Comparison) -> list[str]:
    """The differences as tables, one for each pair of models."""
    pairs: dict[str, list[dict[str, Any]]] = {}
    for row in found.shown_rows():
        pair = " - ".join(plain(row.pop(name)) for name in ("a", "b") if name in row)
        named = {"value_a": "a", "value_b": "b", "difference": "a - b"} if pair else {}
        cells = {
            named.get(key, plain(key)): plain(cell) if isinstance(cell, str) else cell for key, cell in row.items()
        }
        pairs.setdefault(pair, []).append(cells)
    return [text for pair, rows in pairs.items() for text in ([f"── {pair}"] if pair else []) + [_fitted(rows)]]


def cut(best: BestThreshold, assumed: Sequence[str]) -> str:
    """The best cut in a sentence, the table at it, and what was assumed."""
    cells = ", ".join(f"{name} {_cell(value)}" for name, value in best.counts.to_dict().items())
    told = [paragraph(f"{best!r}."), f"There: {cells}.", f"The cut with all its digits: {best.threshold!r}."]
    return "\n".join([*told, *map(paragraph, assumed)])


def shifted_rows(here: Evaluation, there: Evaluation) -> list[dict[str, Any]]:
    """Each metric in the sample and at the other prevalence."""
    known = {row.name: row for row in here.metrics}
    return [
        {
            "metric": row.name,
            "sample": known[row.name].value,
            "there": row.value,
            "low": row.low,
            "high": row.high,
            "chance": row.chance,
        }
        for row in there.metrics
    ]


def shifted(here: Evaluation, there: Evaluation) -> str:
    """The verdict at the other prevalence, and each metric here and there."""
    shown = {row.name for row in there.shown()}
    rows = [row for row in shifted_rows(here, there) if row["metric"] in shown]
    said = [paragraph(CONTROL.sub("·", sentence)) for sentence in there.verdict]
    by_group = ["", _groups(there)] if there.groups else []
    return "\n".join([*said, "", _fitted(rows), *by_group, "", *map(paragraph, there.assumed)]).rstrip()


# ---------------------------------------------------------------- CSV


def csv(found: Evaluation) -> str:
    """The metrics as CSV, all digits; those of each group below, named in the first column."""
    rows = [{"group": "", **row} for row in found.metrics.to_dicts()]
    rows += [{"group": group.label, **row} for group in found.groups for row in group.metrics.to_dicts()]
    if not found.groups:
        rows = [{key: value for key, value in row.items() if key != "group"} for row in rows]
    return csv_rows(rows)


def csv_rows(rows: Sequence[dict[str, Any]]) -> str:
    """Rows as CSV; text that a spreadsheet would run as a formula is quoted by an apostrophe."""
    text = StringIO()
    writer = csv_text.writer(text, lineterminator="\n")
    writer.writerow(rows[0] if rows else [])
    for row in rows:
        writer.writerow([_guarded(value) for value in row.values()])
    return text.getvalue()


def _guarded(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return f"'{value}"
    return "" if value is None or (isinstance(value, float) and not math.isfinite(value)) else value
