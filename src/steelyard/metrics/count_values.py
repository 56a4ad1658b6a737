"""Values on counts: a metric's formula on the four cells of one table, or of an array of tables."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.arrays.numbers import is_usual_size, usual_exponents
from steelyard.exceptions import InputTypeError, SteelyardError
from steelyard.metrics import reasons
from steelyard.metrics.metric_value import MetricValue
from steelyard.tables.counts import Cells, Counts, SharedCells

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steelyard._types import Array
    from steelyard.metrics.expression import Expression
    from steelyard.metrics.formula import Formula
    from steelyard.metrics.measure import Metric


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
