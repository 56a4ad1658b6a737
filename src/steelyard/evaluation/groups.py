"""Groups: the metrics of each group of rows beside those of the whole."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steelyard.metrics.registry import default_metric, metrics_with_role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.analysis.rows import Rows
    from steelyard.evaluation.metric_row import MetricRow
    from steelyard.statistics.confusion import Confusion


_MOST_SHOWN = 5  # metrics of a group that fit a line


@dataclass(frozen=True)
class Group:
    """One group of rows: its key, how many rows it has, and its metrics."""

    by: tuple[str, ...]
    key: tuple[Any, ...]
    rows: int
    metrics: Rows[MetricRow]
    confusion: Confusion | None = None

    @property
    def label(self) -> str:
        """The group in words: site = north, year = 2024."""
        return ", ".join(
            f"{name} = {'–' if value is None else value}" for name, value in zip(self.by, self.key, strict=True)
        )

    def __getitem__(self, name: str) -> MetricRow:
        return next(row for row in self.metrics if row.name == name)

    def __contains__(self, name: object) -> bool:
        return any(row.name == name for row in self.metrics)

    def row(self) -> dict[str, Any]:
        """The group as a row of a table."""
        return {"group": self.label, "rows": self.rows, **{row.name: row.value for row in self.metrics}}

    def summary(self) -> dict[str, Any]:
        """The group as a row that fits a terminal."""
        usual = [row for row in self.metrics if "group" in row.spec.metric.roles and row.spec.is_native]
        rows = usual or self.metrics[:_MOST_SHOWN]
        return {"group": self.label, "rows": self.rows, **{row.name: row.text(row.value) for row in rows}}

    def to_dict(self) -> dict[str, Any]:
        """The group as strict JSON values."""
        key = dict(zip(self.by, self.key, strict=True))
        return {"group": key, "rows": self.rows, "metrics": self.metrics.to_dicts()}


def weakest_group(groups: Sequence[Group]) -> tuple[Group, MetricRow] | None:
    """The group in which the leading metric is lowest, and that metric; None where no two groups have one."""
    for name in dict.fromkeys([default_metric().name, *(m.name for m in metrics_with_role("headline"))]):
        rows = [(group, group[name]) for group in groups if name in group and not math.isnan(group[name].value)]
        if len(rows) > 1:
            return min(rows, key=lambda pair: pair[1].value)
    return None
