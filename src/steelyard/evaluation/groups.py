"""Groups: the metrics of each group of rows beside those of the whole."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from steelyard.analysis.intervals.cluster_tables import has_several_clusters
from steelyard.analysis.results.result import Rows  # noqa: TC001 - saved fields are read back by their types
from steelyard.evaluation.metric_row import MetricRow  # noqa: TC001 - saved fields are read back by their types
from steelyard.evaluation.rows import metric_rows
from steelyard.exceptions import first_ten
from steelyard.statistics.confusion import Confusion  # noqa: TC001 - saved fields are read back by their types
from steelyard.statistics.group_keys import group_label
from steelyard.statistics.score_table import ScoreTable  # noqa: TC001 - saved fields are read back by their types

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Label
    from steelyard.analysis.intervals.inference import Inference
    from steelyard.evaluation.metric_row import ClassRow
    from steelyard.metrics.spec import MetricSpec


_MOST_SHOWN = 5  # metrics of a group that fit a line


@dataclass(frozen=True)
class Group:
    """One group of rows: its key, how many rows it has, its metrics, and what they are of."""

    by: tuple[str, ...]
    key: tuple[Any, ...]
    rows: int
    metrics: Rows[MetricRow]
    confusion: Confusion | None = field(default=None, metadata={"key": None})
    scores: ScoreTable | None = field(default=None, repr=False, compare=False, metadata={"key": None})

    @property
    def label(self) -> str:
        """The group in words: site = north, year = 2024."""
        return group_label(self.by, self.key)

    def __getitem__(self, name: str) -> MetricRow:
        return next(row for row in self.metrics if row.name == name)

    def __contains__(self, name: object) -> bool:
        return any(row.name == name for row in self.metrics)

    def row(self) -> dict[str, Any]:
        """The group as a row of a table."""
        return {"group": self.label, "rows": self.rows, **{row.name: row.value for row in self.metrics}}

    def summary(self, *, named: bool = False) -> dict[str, Any]:
        """The group as a row of a terminal's table: of the metrics that were named, or of the few that fit a line."""
        usual = [row for row in self.metrics if "group" in row.spec.metric.roles and row.spec.is_native]
        rows = self.metrics if named else usual or self.metrics[:_MOST_SHOWN]
        return {"group": self.label, "rows": self.rows, **{row.name: row.text(row.value) for row in rows}}

    def to_dict(self) -> dict[str, Any]:
        """The group as strict JSON values."""
        key = dict(zip(self.by, self.key, strict=True))
        return {"group": key, "rows": self.rows, "metrics": self.metrics.to_dicts()}


def group_rows(
    table: Confusion | None,
    scores: ScoreTable | None,
    positive: Label,
    specs: Sequence[MetricSpec],
    inference: Inference,
) -> list[MetricRow]:
    """The metrics of one group; without an interval where its rows are of one cluster, which shows no variation."""
    if inference.clustered is None or has_several_clusters(inference.clustered):
        return metric_rows(table, scores, positive, specs, inference)
    rows = metric_rows(table, scores, positive, specs, inference.of_independent_rows())
    return [replace(row, low=math.nan, high=math.nan, method="cluster") for row in rows]


def no_interval_sentences(groups: Sequence[Group]) -> tuple[str, ...]:
    """Which groups have no interval since all their rows are of one cluster."""
    defined = ((group, [row for row in group.metrics if not math.isnan(row.value)]) for group in groups)
    lone = [group.label for group, rows in defined if rows and all(map(_has_lone_cluster, rows))]
    sentence = f"A group whose rows are all of one cluster has no interval: {first_ten(lone)}."
    return (sentence,) if lone else ()


def _has_lone_cluster(row: MetricRow) -> bool:
    return row.method == "cluster" and math.isnan(row.low)


def lone_class_sentences(classes: Sequence[ClassRow]) -> tuple[str, ...]:
    """Which classes are in one cluster alone, so that what reads them has no interval."""
    reasons = dict.fromkeys(row.recall.why for row in classes if row.recall.why and not math.isnan(row.recall.value))
    return tuple(f"{why[:1].upper()}{why[1:]}: metrics that read them have no interval." for why in reasons)
