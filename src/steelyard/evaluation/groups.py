"""Groups: the metrics of each group of rows beside those of the whole. Used by evaluate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.analysis.rows import Rows
    from steelyard.evaluation.evaluation import Row
    from steelyard.statistics.confusion import Confusion

_SHOWN = ("recall", "specificity", "precision", "ac_score", "roc_auc")
WORST_BY = ("ac_score", "balanced_accuracy", "roc_auc", "recall")  # the first of these that is there tells the weakest


@dataclass(frozen=True)
class Group:
    """One group of rows: its key, how many rows it has, and its metrics."""

    by: tuple[str, ...]
    key: tuple[Any, ...]
    rows: int
    metrics: Rows[Row]
    confusion: Confusion | None = None

    @property
    def label(self) -> str:
        """The group in words: site = north, year = 2024."""
        return ", ".join(
            f"{name} = {'–' if value is None else value}" for name, value in zip(self.by, self.key, strict=True)
        )

    def __getitem__(self, name: str) -> Row:
        return next(row for row in self.metrics if row.name == name)

    def __contains__(self, name: object) -> bool:
        return any(row.name == name for row in self.metrics)

    def row(self) -> dict[str, Any]:
        """The group as a row of a table."""
        return {"group": self.label, "rows": self.rows, **{row.name: row.value for row in self.metrics}}

    def summary(self) -> dict[str, Any]:
        """The group as a row that fits a terminal."""
        few = [row for row in self.metrics if row.name in _SHOWN] or self.metrics[: len(_SHOWN)]
        return {"group": self.label, "rows": self.rows, **{row.name: row.value for row in few}}

    def to_dict(self) -> dict[str, Any]:
        """The group as strict JSON values."""
        key = dict(zip(self.by, self.key, strict=True))
        return {"group": key, "rows": self.rows, "metrics": self.metrics.to_dicts()}


def worst(groups: Sequence[Group]) -> tuple[Group, Row] | None:
    """The group in which the leading metric is lowest, and that metric; None where no two have one."""
    for name in WORST_BY:
        found = [(group, group[name]) for group in groups if name in group and not math.isnan(group[name].value)]
        if len(found) > 1:
            return min(found, key=lambda pair: pair[1].value)
    return None
