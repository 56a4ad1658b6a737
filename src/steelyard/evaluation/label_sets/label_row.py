"""Rows of labels: what each label of label sets is worth, which labels stand in for which, and whole rows."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - saved fields are read back by their types
from dataclasses import dataclass
from typing import Any

from steelyard.analysis.intervals.interval import Interval  # noqa: TC001 - saved fields are read back by their types


@dataclass(frozen=True)
class LabelRow:
    """One label: the rows that have it and those predicted to, how rare it is, and its metrics with their intervals.

    `imbalance` is how many times as many rows the commonest label has (IRLbl; Charte and others 2015).
    """

    label: Any
    rows: int
    predicted: int | None
    share: float
    imbalance: float
    metrics: Mapping[str, Interval]

    def row(self) -> dict[str, Any]:
        """The label as a row of a table."""
        ends = {
            name if end == "value" else f"{name}_{end}": getattr(interval, end)
            for name, interval in self.metrics.items()
            for end in ("value", "low", "high")
        }
        numbers = {"rows": self.rows, "predicted": self.predicted, "share": self.share, "imbalance": self.imbalance}
        return {"label": self.label, **numbers, **ends}

    def __repr__(self) -> str:
        parts = (f"{name} {interval.text()}" for name, interval in self.metrics.items())
        return f"{self.label!r} ({self.rows:,} rows): {', '.join(parts)}"


@dataclass(frozen=True)
class LabelPair:
    """A label that is missed in rows in which another is predicted that they have not.

    `expected` is how many rows that would be if misses and false labels fell together by chance alone; `p_value` is
    adjusted for all pairs.
    """

    missed: Any
    predicted: Any
    rows: int
    expected: float
    p_value: float

    def row(self) -> dict[str, Any]:
        """The pair as a row of a table."""
        return dict(vars(self))


@dataclass(frozen=True)
class RowOutcomes:
    """The share of the rows with all labels right, with a label missed, and with a false one; the labels of a row."""

    all_right: float
    missed: float
    false: float
    labels_true: float
    labels_predicted: float
