"""GroupThresholds: each group's threshold under three policies, what it does, and what to expect of new rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steelyard.analysis.results.formatting import filled, percent_text, three_digits
from steelyard.analysis.results.result import Result, table_text

if TYPE_CHECKING:
    from collections.abc import Iterator

ALL_GROUPS = "all groups"
ROW_KEYS = 2  # columns that name a row: the policy and the group


@dataclass(frozen=True)
class GroupThreshold:
    """One group under one policy: its threshold, what it does to these rows, and what to expect of as many new rows.

    The row of all groups has no threshold of its own where each group has one. `new_` values are of rows that chose no
    threshold: resamples choose, and the rows that they leave out judge.
    """

    policy: str
    group: str
    threshold: float | None
    low: float | None
    high: float | None
    recall: float
    flag_rate: float
    flagged: float
    misses: float
    false_alarms: float
    cost: float
    new_recall: float | None = None
    new_flag_rate: float | None = None
    new_flagged: float | None = None
    new_misses: float | None = None
    new_false_alarms: float | None = None
    new_cost: float | None = None

    def row(self) -> dict[str, Any]:
        """The group as a row of a table."""
        return dict(vars(self))


@dataclass(frozen=True, eq=False, repr=False)
class GroupThresholds(Result[GroupThreshold]):
    """Thresholds for groups by three policies, the same one, equal recall and equal flag rates, and what each costs."""

    each: tuple[GroupThreshold, ...]
    by: tuple[str, ...]
    threshold: float
    costs: tuple[float, float, float, float]
    resamples: int
    level: float = 0.95
    assumed: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[GroupThreshold]:
        return iter(self.each)

    @property
    def totals(self) -> tuple[GroupThreshold, ...]:
        """Each policy over all groups."""
        return tuple(row for row in self.each if row.group == ALL_GROUPS)

    @property
    def headline(self) -> str:
        """What each policy costs."""
        costs = ((row.policy, row.cost if row.new_cost is None else row.new_cost) for row in self.totals)
        parts = [f"{three_digits(cost)} by {policy}" for policy, cost in costs]
        rows = "these rows" if not self.resamples else "as many new rows"
        return f"Errors of {rows} cost {', '.join(parts)}."

    @property
    def notes(self) -> tuple[str, ...]:
        """What the numbers rest on."""
        misses, false_alarms = self.costs[1], self.costs[2]
        costs = f"A miss costs {misses:g}, a false alarm {false_alarms:g}; other costs and rights are no part of this."
        new = f"New rows: thresholds chosen on {self.resamples:,} resamples, judged on the rows that each leaves out."
        return (costs, *((new,) if self.resamples else ()), *self.assumed)

    def shown_rows(self) -> list[dict[str, Any]]:
        """The rows as people see them: of new rows where they are known."""
        return [_shown(row) for row in self.each]

    def __repr__(self) -> str:
        table = table_text(self.shown_rows(), keys=ROW_KEYS)
        return "\n\n".join([filled(self.headline), table, "\n".join(map(filled, self.notes))])


def _shown(row: GroupThreshold) -> dict[str, Any]:
    def now_and_new(name: str, text: Any) -> str:
        own, new = getattr(row, name), getattr(row, f"new_{name}")
        return text(own) if new is None else f"{text(own)} ({text(new)})"

    counts = {name: now_and_new(name, lambda value: f"{value:,.0f}") for name in ("flagged", "misses", "false_alarms")}
    return {
        "policy": row.policy,
        "group": row.group,
        "threshold": row.threshold,
        "recall (new rows)": now_and_new("recall", percent_text),
        **{f"{name.replace('_', ' ')} (new)": cell for name, cell in counts.items()},
        "cost (new)": now_and_new("cost", three_digits),
    }
