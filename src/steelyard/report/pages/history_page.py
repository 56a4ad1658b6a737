"""History page: each metric of a ledger's evaluations as a chart over time, with intervals and no-skill baselines."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from steelyard._names import __version__
from steelyard.analysis.results.formatting import LABEL_WIDTH, listed, printable, unbroken
from steelyard.exceptions import SteelyardError
from steelyard.metrics.spec import MetricSpec
from steelyard.report.pages.document import clipped, label_html, rendered_html
from steelyard.report.pages.frame import Section, framed
from steelyard.report.pages.page_numbers import rounded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.ledger.history import History, HistoryRow

_MOST = 200  # evaluations of a page, the last ones
_MOST_CHARTS = 60
_SHORT = 12  # characters of a tag below an axis
_NAMED = 3  # metrics of the headline's sentence


def history_page(history: History) -> str:
    """The trends as one HTML file.

    >>> from tempfile import mkdtemp
    >>> from steelyard import Counts, Ledger, evaluate
    >>> ledger = Ledger(mkdtemp())
    >>> for version, tp in (("v1", 28), ("v2", 31)):
    ...     id = ledger.log(evaluate(Counts(tp=tp, fn=51 - tp, fp=72, tn=2680)), {"model": version})
    >>> html = history_page(ledger.history(metrics=["recall"]))
    >>> "model=v2" in html, "https:" in html
    (True, False)
    """
    ids = history.ids[-_MOST:]
    evaluations = _evaluations(history, ids)
    charts = [_chart(history, metric, ids) for metric in history.metrics[:_MOST_CHARTS]]
    name = clipped(printable(history.ledger))
    html = rendered_html(
        "history.html",
        headline=printable(history.headline),
        sentences=_sentences(history, ids),
        charts=charts,
        last=len(ids) - 1,
        names=evaluations,
        head=["evaluation", *(chart["title"] for chart in charts)],
        lines=_lines(history, ids, evaluations),
        level=_level(history),
        version=__version__,
    )
    data = {"names": evaluations, "ticks": _ticks(history, ids), "ids": ids, "charts": charts}
    parts = [Section(html, {"history": data} if ids else {})]
    facts = [name, f"{len(history.ids):,} evaluation{'' if len(history.ids) == 1 else 's'}"]
    return framed("history", f"{name} · Steelyard", facts, parts, exports=("CSV",) if ids else ())


def _by_id(history: History) -> dict[str, HistoryRow]:
    """One row of each evaluation, which has its tags and its time."""
    return {row.id: row for row in reversed(history.rows)}


def _evaluations(history: History, ids: Sequence[str]) -> list[str]:
    """What each evaluation is called: its tags, else the end of its id, and when it was."""
    rows = _by_id(history)
    return [f"{_name(rows[each])} · {rows[each].time[:16].replace('T', ' ')}" for each in ids]


def _name(row: HistoryRow) -> str:
    return clipped(printable(row.label) or row.id.rpartition("-")[2])


def _ticks(history: History, ids: Sequence[str]) -> list[str]:
    """What stands below the axis: the value of the tag that differs most, else the day."""
    rows = [_by_id(history)[each] for each in ids]
    values = {key: [row.tags.get(key, "") for row in rows] for row in rows for key in row.tags}
    best = max(values, key=lambda key: len(set(values[key])), default=None)
    if best is None or len(set(values[best])) == 1 < len(ids):
        return [row.time[5:10] for row in rows]
    return [clipped_end(printable(text)) for text in values[best]]


def clipped_end(text: str) -> str:
    """A tag of the length that an axis has room for."""
    return text if len(text) <= _SHORT else f"{text[: _SHORT - 1]}…"


def _chart(history: History, metric: str, ids: Sequence[str]) -> dict[str, Any]:
    """One metric: its numbers in the order of the evaluations, none where it was not evaluated."""
    rows = {row.id: row for row in history.rows if row.metric == metric}
    columns = {
        key: [rounded(getattr(rows[each], key)) if each in rows else None for each in ids]
        for key in ("value", "low", "high", "chance")
    }
    try:
        spec = MetricSpec.of(metric)
        facts = {"title": spec.title, "share": spec.is_share, "range": [_end(end) for end in spec.metric.range]}
    except SteelyardError:  # declared elsewhere
        facts = {"title": metric, "share": False, "range": [None, None]}
    return {"name": metric, **facts, "title": clipped(printable(str(facts["title"])), LABEL_WIDTH), **columns}


def _end(end: float) -> float | None:
    return float(end) if math.isfinite(end) else None


def _sentences(history: History, ids: Sequence[str]) -> list[str]:
    """The last evaluation in words, what an overlap does not show, and what was left out."""
    if not ids:
        return list(map(printable, history.notes))
    last = [row for row in history.rows if row.id == ids[-1]]
    values = [f"{row.metric} {row.number_text()}" for row in last[:_NAMED]]
    left = len(history.ids) - len(ids)
    return [
        unbroken(f"The last one, {_name(last[0])}, has {listed(values)}."),
        "Whether two of them differ by more than chance is tested by steelyard diff; intervals that overlap do not "
        "show that they are equal.",
        *([f"The last {_MOST} are shown; {left:,} earlier ones are not."] if left else []),
        *map(printable, history.notes),
    ]


def _lines(history: History, ids: Sequence[str], names: Sequence[str]) -> list[list[object]]:
    """The table of all numbers, the last evaluation first."""
    cells = {(row.id, row.metric): unbroken(clipped(printable(row.number_text()))) for row in history.rows}
    metrics = history.metrics[:_MOST_CHARTS]
    rows: list[list[object]] = [
        [label_html(name), *(cells.get((each, metric), "–") for metric in metrics)]
        for each, name in zip(ids, names, strict=True)
    ]
    return rows[::-1]


def _level(history: History) -> str:
    levels = sorted({row.level for row in history.rows if row.level is not None})
    return listed([f"{100 * level:g} %" for level in levels]) if levels else ""
