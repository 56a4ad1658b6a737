"""Values on a confusion matrix: one class against the rest, an average over the classes, or the metric's own form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.arrays.numbers import is_usual_size, usual_exponents
from steelyard.arrays.sparse import SparseMatrix
from steelyard.exceptions import InputError, InputTypeError
from steelyard.metrics.call_options import SAMPLES
from steelyard.metrics.count_values import count_values, on_counts, run_formula
from steelyard.metrics.metric_value import MetricValue
from steelyard.tables.confusion import one_vs_rest
from steelyard.tables.counts import Cells, Counts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steelyard._types import Array
    from steelyard.metrics.call_options import CallOptions
    from steelyard.metrics.measure import Metric
    from steelyard.tables.confusion import Confusion


NO_MATRIX: Any = SparseMatrix(np.zeros(0, np.int64), np.zeros(0), 0)  # of draws that keep the margins alone


@dataclass(frozen=True, slots=True, eq=False)
class ClassCells(Cells):
    """The one-vs-rest cells of every class on the last axis, and the whole table on the last two of `matrix`."""

    matrix: Array

    @classmethod
    def of(cls, matrix: Array) -> ClassCells:
        """The cells of a table, or of an array of tables: added up as they are, then floats."""
        given = matrix if isinstance(matrix, SparseMatrix) else np.asarray(matrix)
        tp, fn, fp, tn = (np.asarray(cell, dtype=np.float64) for cell in one_vs_rest(given))
        return cls(tp, fn, fp, tn, given.astype(np.float64, copy=False))

    def of_usual_size(self) -> ClassCells:
        """The cells times a power of two, where products of them would leave what floats hold."""
        if self.tp.ndim == 1 and self.tp.size and is_usual_size(self.tp[0] + self.fn[0] + self.fp[0] + self.tn[0]):
            return self
        exponents = usual_exponents(self.total[..., :1])
        if exponents is None:
            return self
        if isinstance(self.matrix, SparseMatrix):
            moved = self.matrix if exponents.size > 1 else self.matrix.scaled_by_two(int(exponents.item()))
        else:
            moved = np.ldexp(self.matrix, exponents[..., None])
        tp, fn, fp, tn = (np.ldexp(cell, exponents) for cell in self)
        return ClassCells(tp, fn, fp, tn, moved)


def on_confusion(
    metric: Metric, table: Confusion, options: CallOptions, parameters: Mapping[str, object]
) -> MetricValue:
    """On a table of classes: one class against the rest, an average over all, or the metric's own form."""
    if metric.function is None:
        raise InputTypeError(f"{metric.name} is a metric of scores, which a table of labels has lost; give scores.")
    if (place := positive_place(metric, table, options)) is not None:
        return on_counts(metric, table.one_vs_rest()[place], parameters)
    if options.average == SAMPLES:
        raise InputError("average='samples' is a mean over rows that have several labels each; these have one each.")
    cells = ClassCells.of(table.matrix)
    value = class_values(metric, cells, options, parameters)
    averaged = options.average not in ("native", "micro")
    return MetricValue(value, lambda: _class_reason(metric, table, cells, options, parameters), averaged=averaged)


def positive_place(metric: Metric, table: Confusion, options: CallOptions) -> int | None:
    """The place of the label that the call is about, against the rest; None where it is about all classes."""
    if options.average != "native":
        return None
    if options.pos_label is not None:
        return table.index(options.pos_label)
    if table.positive is not None or metric.classes is None or _is_plain_pair(table):
        return table.index(table.positive_label())
    return None


def _is_plain_pair(table: Confusion) -> bool:
    try:
        return bool(table.labels) and table.positive_label() is not None
    except InputError:
        return False


def class_values(metric: Metric, cells: ClassCells, options: CallOptions, parameters: Mapping[str, object]) -> Array:
    """The metric over all classes on the last axis of the cells: its own form, one value per class, or their mean."""
    if options.average == "native":
        assert metric.classes is not None  # noqa: S101 - positive_place finds a class for the others
        scaled = cells if metric.is_own else cells.of_usual_size()
        values = run_formula(metric.classes, scaled, parameters)
        if scaled is not cells and np.isnan(values).any():  # as in count_values
            values = np.where(np.isnan(values), run_formula(metric.classes, cells, parameters), values)
        return values
    if options.average == "micro":
        return count_values(metric, Counts.trusted(*(cell.sum(-1) for cell in cells)), parameters)
    values = count_values(metric, Counts.trusted(*cells), parameters)
    values = np.where(np.isnan(values), options.replacement, values)
    if options.average is None:
        return values
    averaged = averaged_classes(cells.positives, options.average)
    share = averaged * (1.0 if options.average == "macro" else cells.positives)
    with np.errstate(invalid="ignore"):
        return np.asarray((np.where(averaged, values, 0) * share).sum(-1) / share.sum(-1))


def averaged_classes(positives: Array, average: str | None) -> Array:
    """Which classes enter the mean: all, but for a weighted one those that occur, if two or more do."""
    occurs = positives > 0
    every = (average == "macro") | (occurs.sum(-1, keepdims=True) < 2)
    return np.where(every, True, occurs)


def _class_reason(
    metric: Metric, table: Confusion, cells: ClassCells, options: CallOptions, parameters: Mapping[str, object]
) -> Any:
    if options.average != "native":
        pooled = options.average == "micro"
        each = on_counts(metric, Counts.trusted(*(cell.sum() if pooled else cell for cell in cells)), parameters)
        if pooled:
            return each.why
        values = np.where(np.isnan(each.value), options.replacement, each.value)
        if options.average is None:
            return each.why
        bad = np.flatnonzero(averaged_classes(cells.positives, options.average) & np.isnan(values))
        return f"class {table.labels[bad[0]]!r}: {each.why[bad[0]]}" if len(bad) else "no rows"
    if not table.matrix.sum():
        return "no rows"
    for label, weight in zip(table.labels, table.matrix.sum(1), strict=True):
        if weight == 0 and not metric.allows_absent_classes:
            return f"class {label!r} has no rows in the truth"
    if (table.matrix.sum(0) > 0).sum() == 1:
        return "one class only is predicted"
    return "the truth holds one class only"
