"""Values: a metric on the cells of one table or of many, and on a confusion matrix, with the reason where it is NaN."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.arrays.numbers import is_usual_size, usual_exponents
from steelyard.arrays.sparse import SparseMatrix
from steelyard.exceptions import InputError, InputTypeError, SteelyardError, UndefinedError
from steelyard.metrics import reasons
from steelyard.metrics.call_options import SAMPLES
from steelyard.tables.confusion import one_vs_rest
from steelyard.tables.counts import Cells, Counts, SharedCells

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from steelyard._types import Array
    from steelyard.metrics.call_options import CallOptions
    from steelyard.metrics.expression import Expression
    from steelyard.metrics.formula import Formula
    from steelyard.metrics.measure import Metric
    from steelyard.tables.confusion import Confusion


@dataclass(frozen=True)
class MetricValue:
    """A value, or an array of them, and where it is NaN the reason, worked out when asked for."""

    value: Any
    explain: Callable[[], Any]
    averaged: bool = False

    @property
    def why(self) -> Any:
        """The reasons in the shape of the values; None where a value is defined."""
        if np.ndim(self.value) == 0 and math.isfinite(self.value):
            return None
        return self.explain() if np.isnan(self.value).any() or np.isinf(self.value).any() else self._none()

    def _none(self) -> Any:
        return np.full(np.shape(self.value), None, dtype=object)[()]

    def finished(self, metric: Metric, options: CallOptions) -> float | Array:
        """The value as the caller wants it: a float or an array, NaN replaced or an error; never out of its range."""
        if metric.is_own:
            from steelyard.metrics.range_check import check_value

            check_value(metric, self.value)
        if isinstance(options.undefined, str):  # "raise"
            for reason in filter(None, np.asarray(self.why, dtype=object).flat):
                raise UndefinedError(f"{metric.name} is undefined: {reason}.")
        elif not self.averaged and not math.isnan(options.undefined):
            return plain(np.where(np.isnan(self.value), options.undefined, self.value))
        return plain(self.value)


def plain(value: float | Array) -> float | Array:
    """A number as a float, an array as one."""
    return float(value) if np.ndim(value) == 0 else np.asarray(value)


# ---------------------------------------------------------------- counts


def on_counts(metric: Metric, counts: Counts[Any], parameters: Mapping[str, object]) -> MetricValue:
    """On the four cells: an array of tables gives an array of values."""
    values = count_values(metric, counts, parameters)
    return MetricValue(values, lambda: _count_reasons(metric, counts, values, parameters))


def single_value(metric: Metric, counts: Cells[Any], parameters: Mapping[str, object]) -> float | None:
    """The value of one table by plain numbers, without arrays; None where only arrays know it.

    The operations and their order are the same, so the last bit is too.
    """
    if metric.function is None or metric.is_own or type(counts.tp) is np.ndarray:
        return None
    cells = Cells(float(counts.tp), float(counts.fn), float(counts.fp), float(counts.tn))
    if not is_usual_size(cells.tp + cells.fn + cells.fp + cells.tn):
        return None
    try:
        value = metric.function(cells, **parameters)
    except (ArithmeticError, ValueError, TypeError):  # a plain division by zero, or a parameter that is an array
        return None
    return (math.nan if math.isinf(value) else float(value)) if isinstance(value, float) else None


def count_values(metric: Metric, counts: Counts[Any] | SharedCells, parameters: Mapping[str, object]) -> Array:
    """The values alone, in the shape of the counts."""
    if (value := single_value(metric, counts, parameters)) is not None:
        return np.asarray(value)
    if metric.function is None:
        raise InputTypeError(f"{metric.name} is a metric of scores; give (y_true, y_score) or a ScoreTable.")
    shared = (
        isinstance(counts, SharedCells) and not metric.is_own
    )  # a function of a user's may write into what it reads
    cells = counts if shared else Cells(*map(_floats, counts))
    # Ours do not change with the scale, so weights of 1e-100 may be scaled.
    scaled = cells if metric.is_own else _of_usual_size(cells)
    try:
        values = run_formula(metric.function, scaled, parameters)
        if scaled is not cells and np.isnan(values).any():  # weights of 1e-311 beside 1e300, whose ratios are right
            values = np.where(np.isnan(values), run_formula(metric.function, cells, parameters), values)
    except (ValueError, TypeError, ZeroDivisionError) as error:
        if not metric.is_own or isinstance(error, SteelyardError):
            raise
        problem = f"{metric.name} raised {type(error).__name__} ({error})"
        raise InputTypeError(
            f"{problem}; a metric is handed arrays of cells, so use where() and ratio() in it."
        ) from None
    values = values + (0.0 if values.shape == counts.shape else np.zeros(counts.shape))
    infinite = np.isinf(values)  # x/0 in a plain division is as undefined as 0/0
    return np.where(infinite, math.nan, values) if infinite.any() else values


def _of_usual_size(cells: Cells) -> Cells:
    """The cells times a power of two, which loses no digit, where products of them would leave what floats hold."""
    if (
        isinstance(cells, SharedCells)
        and is_usual_size(cells.least_and_most[0])
        and is_usual_size(cells.least_and_most[1])
    ):
        return cells
    exponents = usual_exponents(cells.total)
    return cells if exponents is None else Cells(*(np.ldexp(cell, exponents) for cell in cells))


def _floats(cell: float | Array) -> Array:
    return np.asarray(cell, dtype=np.float64)[()]


def run_formula(form: Formula, cells: Cells, parameters: Mapping[str, object]) -> Array:
    """The formula on arrays of cells; what divides by zero is no warning."""
    with np.errstate(all="ignore"):
        return np.asarray(form(cells, **parameters), dtype=np.float64)


def _count_reasons(metric: Metric, counts: Counts[Any], values: Array, parameters: Mapping[str, object]) -> Array:
    undefined = np.isnan(values)
    cells = np.stack([np.broadcast_to(_floats(cell), undefined.shape)[undefined] for cell in counts], axis=-1)
    tables, which = np.unique(cells, axis=0, return_inverse=True)
    expression = metric.trace(**parameters)
    whys = np.array([_count_reason(expression, Cells(*table)) for table in tables.tolist()], dtype=object)
    every = np.full(undefined.shape, None, dtype=object)
    every[undefined] = whys[which.ravel()] if len(whys) else None
    return every[()]


def _count_reason(expression: Expression | None, table: Cells) -> str:
    if table.total == 0:
        return "no rows"
    why = None if expression is None else reasons.reason(expression, table)
    return why or "the function returned NaN"


# ---------------------------------------------------------------- classes


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
        return table.labels.index(table.positive_label())
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
