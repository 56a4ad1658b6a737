"""Group metrics: what evaluate reports of each group of rows, of its tables and of its columns of scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.analysis.results.result import Rows
from steelyard.evaluation.groups import Group, group_rows
from steelyard.evaluation.inputs import negative_label, thresholded

if TYPE_CHECKING:
    from steelyard._types import Label
    from steelyard.analysis.intervals.inference import Inference
    from steelyard.evaluation.class_columns import GroupedColumns
    from steelyard.metrics.spec import MetricSpec
    from steelyard.statistics.tally import Tally


def evaluated_groups(
    data: Tally | None,
    threshold: float | None,
    positive: Label,
    specs: list[MetricSpec],
    inference: Inference,
    columns: GroupedColumns | None = None,
) -> Rows[Group]:
    """The metrics of each group that was counted; those of a column of scores for each class follow."""
    groups = Rows[Group]()
    if data is None:
        return groups
    for key, part in data.groups.items():
        table = part.confusion
        if table is None and threshold is not None and part.scores is not None:
            table = thresholded(part.scores, threshold, negative_label(data.labels, part.scores)).table
        rows = group_rows(table, part.scores, positive, specs, inference.of_group(key))
        if columns is not None:
            rows += columns.group_rows(key, specs, inference.of_group(key))
        groups.append(Group(data.by, key, part.rows, Rows(rows), table, part.scores))
    return groups
