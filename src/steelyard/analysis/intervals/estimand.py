"""Estimand: one metric on one table, which is what a value, an interval or a test is about."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.intervals.draws import as_counts
from steelyard.exceptions import InputError, InputTypeError
from steelyard.metrics.application import on_table
from steelyard.metrics.range_check import check_value
from steelyard.metrics.score_values import score_values
from steelyard.metrics.spec import MetricSpec
from steelyard.metrics.values import NO_MATRIX, ClassCells, class_values, count_values, positive_place
from steelyard.tables.confusion import Confusion
from steelyard.tables.counts import Counts
from steelyard.tables.probability_table import ProbabilityTable
from steelyard.tables.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steelyard._types import Array
    from steelyard.metrics.call_options import CallOptions
    from steelyard.metrics.measure import Metric
    from steelyard.metrics.values import MetricValue
    from steelyard.tables.counts import SharedCells
    from steelyard.tables.statistic import AnyTable


@dataclass(frozen=True, eq=False)
class Estimand:
    """A metric with its parameters, the table it is taken of, and how the classes of the table enter."""

    spec: MetricSpec
    table: AnyTable
    parameters: Mapping[str, Any]
    options: CallOptions

    @property
    def metric(self) -> Metric:
        """The metric itself."""
        return self.spec.metric

    @cached_property
    def named(self) -> MetricSpec:
        """The metric as the result calls it: with the average of the options, and the parameters given."""
        changed = {k: v for k, v in self.parameters.items() if not np.array_equal(v, self.metric.parameters[k])}
        metric = self.metric.fixed(**changed) if changed else self.metric
        if isinstance(self.table, ProbabilityTable) and len(self.table.labels) > 2:
            metric = metric.of_many_columns
        average = self.options.average if self.spec.is_native and self.options.average is not None else None
        return MetricSpec(metric, average or self.spec.average, self.spec.label)

    @cached_property
    def positive_place(self) -> int | None:
        """The index of the label that it is about, against the rest; None where it is about all classes."""
        table = self.label_table
        return None if isinstance(table, Counts) else positive_place(self.metric, table, self.options)

    @property
    def is_pooled(self) -> bool:
        """Whether it is about all classes, and the numbers of rows that are right and wrong determine it."""
        if not isinstance(self.table, Confusion) or self.positive_place is not None:
            return False
        return self.options.average == "micro" or (self.options.average == "native" and self.metric.pools_classes)

    @property
    def unknown_class(self) -> str | None:
        """Why an average over classes has no interval: one has no rows, and the positives of each class enter."""
        if not isinstance(self.table, Confusion) or self.options.average != "macro":
            return None
        empty = np.flatnonzero(self.table.matrix.sum(1) == 0)
        values = self.on_counts(Counts(*np.array([[0, 1, 0], [0, 0, 1], [3, 3, 3], [5, 5, 5]])))
        if not len(empty) or (values == values[0]).all():
            return None
        return f"class {self.table.labels[empty[0]]!r} has no rows in the truth"

    @property
    def positive_counts(self) -> Counts:
        """The counts of the class that it is about."""
        table = self.label_table
        return table if isinstance(table, Counts) else table.one_vs_rest()[self.positive_place]

    @property
    def label_table(self) -> Counts | Confusion:
        """The table, which must be one of labels."""
        if not isinstance(self.table, (Counts, Confusion)):
            raise InputTypeError(f"{self.spec.name} was given a table of scores; this is asked of labels.")
        return self.table

    @property
    def class_table(self) -> Confusion:
        """The table, which must be one of the labels of all classes."""
        if not isinstance(self.table, Confusion):
            raise InputTypeError(
                f"{self.spec.name} was given another table; this is asked of the labels of all classes."
            )
        return self.table

    @property
    def score_table(self) -> ScoreTable:
        """The table, which must be one of scores."""
        if not isinstance(self.table, ScoreTable):
            raise InputTypeError(f"{self.spec.name} was given a table of labels; this is asked of scores.")
        return self.table

    @property
    def column_table(self) -> ProbabilityTable:
        """The table, which must have a column of scores for each class."""
        if not isinstance(self.table, ProbabilityTable):
            raise InputTypeError(f"{self.spec.name} was given one column; this is asked of those of all classes.")
        return self.table

    def on(self, table: AnyTable) -> MetricValue:
        """The value on a table of the same kind, and the reason where it is undefined; one out of range is refused."""
        value = on_table(self.metric, table, self.options, self.parameters)
        check_value(self.named.metric, value.value)
        return value

    def on_cells(self, cells: Array) -> Array:
        """The values on draws of the table's cells, draws first on the way in and last on the way out."""
        if isinstance(self.table, Counts) or self.positive_place is not None:
            if cells.shape == (1, 2, 2):  # one table, such as the centre: plain numbers are far quicker
                counts = Counts.trusted(*cells.ravel().tolist())
                return count_values(self.metric, counts, self.parameters).reshape(1)
            return np.asarray(count_values(self.metric, as_counts(cells), self.parameters))
        values = class_values(self.metric, ClassCells.of(cells), self.options, self.parameters)
        return np.moveaxis(values, 0, -1)

    def on_margins(self, cells: tuple[Array, Array, Array, Array]) -> Array:
        """The values on draws of the cells of each class against the rest, draws first; last on the way out."""
        margins = ClassCells(*cells, NO_MATRIX)
        return np.moveaxis(class_values(self.metric, margins, self.options, self.parameters), 0, -1)

    @property
    def reads_margins(self) -> bool:
        """Whether the cells of each class against the rest determine it, as they do all but a weighted kappa."""
        probe = np.array([[3.0, 2.0, 1.0]])
        try:
            self.on_margins((probe, probe, probe, probe * 3))
        except InputError:
            return False
        return True

    def on_pooled(self, right_and_wrong: Array) -> Array:
        """The values where so many rows, on the last axis, are right and wrong, whatever their classes."""
        k, (right, wrong) = len(self.class_table.labels), np.moveaxis(right_and_wrong, -1, 0)[..., None]
        cells = ClassCells(right, wrong, wrong, (k - 2) * (right + wrong) + right, right_and_wrong)
        return class_values(self.metric, cells, self.options, self.parameters)

    def on_counts(self, counts: Counts[Any] | SharedCells) -> Array:
        """The values on counts of the class that it is about."""
        return np.asarray(count_values(self.metric, counts, self.parameters))

    def on_scores(self, table: ScoreTable) -> Array:
        """The values on draws of the scores."""
        return np.atleast_1d(score_values(self.metric, table, self.parameters))
