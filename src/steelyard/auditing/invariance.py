"""Invariance: what each metric does on one table when the classes are exchanged or one cell changes, and in general.

García, Sánchez and Mollineda, 2012, section 3.2, on the user's own table, beside what the audit proves or refutes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.results.rows import Flat, Rows
from steelyard.auditing.metric_values import metric_values, value_change
from steelyard.auditing.properties import audit_properties
from steelyard.auditing.property_list import CHANGED_CELLS
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.metrics.metric import Metric

MORE = 0.1  # the share of a cell by which it grows, and at least a row
_GENERAL = {True: "stays", False: "changes", None: "undecided"}


@dataclass(frozen=True, eq=False)
class Invariance(Flat):
    """One metric under one change of the table: by how much it changes here, and whether it does in general.

    `change` is NaN where the metric is undefined before or after.
    """

    metric: str
    transformation: str
    change: float
    in_general: str

    @property
    def words(self) -> str:
        """What is to be known of it: what holds in general, and the change here; where they differ, both in words."""
        if np.isnan(self.change):
            return f"{self.in_general}; undefined here"
        if self.change == 0:
            return self.in_general if self.in_general == "stays" else "stays here, changes in general"
        small = abs(self.change) < 0.0005
        return "changes by < 0.001" if small else f"{self.change:+.3f}".replace("-", "−")


def invariance(metrics: Sequence[Metric], counts: Counts) -> Rows[Invariance]:
    """Every metric of counts under García's five changes of a table: p1 exchanges the classes, p2 to p5 grow a cell.

    >>> from steelyard import Counts, get_metric
    >>> rows = invariance([get_metric("recall")], Counts(tp=28, fn=23, fp=72, tn=2680))
    >>> [(row.transformation, row.words) for row in rows][:4]
    [('p1', '+0.425'), ('p2', 'stays'), ('p3', 'stays'), ('p4', '+0.025')]
    """
    tables = [counts, counts.swapped(), *(_grown(counts, cell) for cell in CHANGED_CELLS.values())]
    names = ["p1", *CHANGED_CELLS]
    before, *after = metric_values(metrics, Counts.stack(tables))
    changes = [-value_change(before, values) for values in after]
    decisions = iter(audit_properties(metrics, names))
    return Rows(
        Invariance(metric.name, name, float(changes[j][i]) + 0.0, _GENERAL[next(decisions).holds])
        for i, metric in enumerate(metrics)
        for j, name in enumerate(names)
    )


def _grown(counts: Counts, cell: str) -> Counts:
    """The table with one cell larger by a tenth, and by a row at least."""
    rows: Any = getattr(counts, cell)
    return replace(counts, **{cell: rows + max(1, round(MORE * float(rows)))})
