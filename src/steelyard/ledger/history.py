"""History: metrics of the evaluations of a ledger over time, with their intervals and tags."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steelyard.analysis.results.blocks import Table
from steelyard.analysis.results.formatting import interval_text, value_text
from steelyard.analysis.results.result import Flat, Result, Rows
from steelyard.exceptions import SteelyardError
from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from steelyard.ledger.entries import Entry

ID_SHOWN = 8  # characters at the end of an id, by which one of many thousands is found


@dataclass(frozen=True, eq=False)
class HistoryRow(Flat):
    """One metric of one evaluation: its value, its interval and no-skill baseline, and when and of what it was."""

    time: str
    id: str
    tags: Mapping[str, str]
    metric: str
    value: float
    low: float
    high: float
    chance: float
    rows: int | None = None
    level: float | None = None
    source: str | None = None
    why: str | None = None  # why there is no value, or no interval

    @property
    def label(self) -> str:
        """The tags in one text."""
        return tags_text(self.tags)

    @property
    def is_share(self) -> bool:
        """Whether the metric is a share of rows; of a metric that is not declared here that is not known."""
        try:
            return MetricSpec.of(self.metric).is_share
        except SteelyardError:
            return False

    def number_text(self) -> str:
        """The value with its interval as people read it."""
        if math.isnan(self.value):
            return f"– {self.why}" if self.why else "–"
        if math.isnan(self.low):
            return value_text(self.value, share=self.is_share)
        return interval_text(self.value, self.low, self.high, share=self.is_share)

    def __repr__(self) -> str:
        return f"{self.time} {self.label} {self.metric} {self.number_text()}"


def history_rows(entry: Entry, report: Mapping[str, Any], names: Collection[str] | None) -> list[HistoryRow]:
    """The metrics of an entry, or those of these names; a number that is not there is undefined."""
    count, source, level = report.get("rows"), report.get("source"), report.get("level")
    rows, metrics = [], report.get("metrics")
    for metric in metrics if isinstance(metrics, list) else ():
        name = metric.get("name") if isinstance(metric, dict) else None
        if not isinstance(name, str) or (names is not None and name not in names):
            continue
        why = metric.get("undefined") or metric.get("no_interval")
        value, low, high, chance = (_number(metric.get(key)) for key in ("value", "low", "high", "chance"))
        row = HistoryRow(
            entry.time,
            entry.id,
            entry.tags,
            name,
            value,
            low,
            high,
            chance,
            rows=count if isinstance(count, int) else None,
            level=level if isinstance(level, float) else None,
            source=None if source is None else str(source),
            why=None if why is None else str(why),
        )
        rows.append(row)
    return rows


def _number(value: object) -> float:
    """A number of a file that anybody may have written."""
    try:
        return float(value) if isinstance(value, int | float) else math.nan
    except OverflowError:
        return math.nan


def tags_text(tags: Mapping[str, str]) -> str:
    """Tags as a table shows them."""
    return ", ".join(f"{name}={value}" for name, value in tags.items())


@dataclass(frozen=True, eq=False, repr=False)
class History(Result[HistoryRow]):
    """The metrics of a ledger's evaluations from the first to the last, and in `left_out` why files were left out."""

    ledger: str
    rows: Rows[HistoryRow]
    left_out: tuple[str, ...] = ()  # why files were left out

    def __iter__(self) -> Iterator[HistoryRow]:
        return iter(self.rows)

    @property
    def metrics(self) -> list[str]:
        """The metrics, in the order they were first logged in."""
        return list(dict.fromkeys(row.metric for row in self.rows))

    @property
    def ids(self) -> list[str]:
        """The evaluations, the first one first."""
        return list(dict.fromkeys(row.id for row in self.rows))

    @property
    def headline(self) -> str:
        """How many evaluations there are, and from when to when."""
        count = len(self.ids)
        if not count:
            return f"No evaluation of {self.ledger} is so tagged or has such a metric."
        days = sorted({row.time[:10] for row in self.rows})
        when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
        return f"{count:,} evaluation{'' if count == 1 else 's'} of {self.ledger}, {when}"

    @property
    def notes(self) -> tuple[str, ...]:
        """The files that were left out, and why."""
        return tuple(f"Left out: {reason}" for reason in self.left_out)

    def shown_rows(self) -> list[dict[str, Any]]:
        """One line for each evaluation: the end of its id, when, its tags, and each metric with its interval."""
        lines: dict[str, dict[str, Any]] = {}
        for row in self.rows:
            when = row.time[:16].replace("T", " ")
            line = lines.setdefault(row.id, {"id": row.id[-ID_SHOWN:], "time": when, "tags": row.label})
            line[row.metric] = row.number_text()
        return list(lines.values())

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dictionary per metric of an evaluation; the tags as one of their own."""
        return [row.row() | {"tags": dict(row.tags)} for row in self.rows]

    def shown_tables(self) -> list[Table]:
        """The evaluations; with all digits a line for each metric, and a column for each tag."""
        return [Table(self.shown_rows(), "", self._with_tags)]

    def _with_tags(self) -> list[dict[str, Any]]:
        rows = [{key: cell for key, cell in row.row().items() if key != "tags"} for row in self.rows]
        tags = [{f"tag.{name}": text for name, text in row.tags.items()} for row in self.rows]
        return [row | of_row for row, of_row in zip(rows, tags, strict=True)]
