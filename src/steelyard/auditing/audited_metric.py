"""Audited metric: its exact values, and its formula where that can be read, else what its function gives."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.auditing.decisions import cells_text
from steelyard.auditing.exact_values import ExactFormula, Value, difference, exact_expression
from steelyard.auditing.symbolic_sums import LONGEST, is_available
from steelyard.exceptions import InputError, InputTypeError, SteelyardError
from steelyard.metrics.expression import Operation
from steelyard.metrics.expression_value import evaluate_expression
from steelyard.statistics.counts import Cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array
    from steelyard.metrics.metric import Metric

READABLE = "steelyard.sqrt and steelyard.where can be read, math, numpy and if cannot"
UNTYPED: np.dtype[Any] = np.dtype(object)
OPAQUE = 1e-9  # values of an opaque function that gives floats are equal up to here


class AuditedMetric:
    """A metric under examination: its exact values, kept, and its formula where it can be read."""

    def __init__(self, metric: Metric) -> None:
        if metric.function is None:
            raise InputTypeError(
                f"{metric.name} is a metric of {metric.basis}; the audit is of metrics of tp, fn, fp, tn."
            )
        self.metric = metric
        node = exact_expression(metric)
        self.formula = None if node is None else ExactFormula(node)
        self._values: dict[tuple[int | Fraction, ...], Value | None] = {}
        self.tolerance = OPAQUE
        self.seconds = LONGEST  # left for proofs
        tables = [*itertools.product(range(3), repeat=4), (5, 3, 2, 7), (13, 8, 21, 34), (100, 7, 55, 900)]
        if all(self.value(table) is None for table in tables):
            raise InputError(
                f"{metric.name} is undefined on all {len(tables)} tables tried; a metric has a finite value on some."
            )

    def value(self, table: Sequence[int | Fraction]) -> Value | None:
        """The value on one table, exact or to 60 digits; a float of an opaque function as it is; None if undefined."""
        table = tuple(table)
        if table not in self._values:
            self._values[table] = self.formula.value(table) if self.formula else self._called(table)
        return self._values[table]

    def gap(self, a: Value, b: Value) -> Value:
        """The first value less the second, 0 where they are equal as far as they are known."""
        gap = difference(a, b)
        inexact = self.formula is None and isinstance(gap, Decimal)
        near = inexact and math.isclose(a, b, rel_tol=self.tolerance, abs_tol=self.tolerance)
        return Fraction(0) if near else gap

    def _called(self, table: tuple[int | Fraction, ...]) -> Value | None:
        value, kind = _called(self.metric, table)
        if kind.kind == "f":  # some thirty roundings in what it computes with: 4e-6 for 32 bits
            self.tolerance = max(self.tolerance, 32 * float(np.finfo(kind).eps))
        return value

    def floats(self, tables: Array) -> Array:
        """The values on many tables in floats, to see where to look."""
        if self.formula is None:
            return np.array([np.nan if (v := self.value(t)) is None else float(v) for t in tables.tolist()])
        with np.errstate(all="ignore"):
            values = evaluate_expression(self.formula.node, Cells(*tables.T.astype(np.float64)))
        return np.broadcast_to(np.asarray(values, dtype=np.float64), len(tables))

    @property
    def orders_by(self) -> ExactFormula | None:
        """A formula of which the value is a rising function: an angle falls where its cosine rises."""
        match self.formula and self.formula.node:
            case Operation(sign="angle", args=(cosine, _)):
                return ExactFormula(-cosine)
        return self.formula

    @property
    def by_search(self) -> str:
        """How a law that nothing refutes was examined."""
        if self.formula is None:
            return self._opaque
        return "exact search; no proof found" if is_available() else "exact search; sympy, which proves, is missing"

    @property
    def by_table(self) -> str:
        """How a law that a table refutes was examined."""
        return "a table, in exact arithmetic" if self.formula else self._opaque

    @property
    def _opaque(self) -> str:
        inexact = any(isinstance(value, Decimal) for value in self._values.values())
        floats = f", its values floats that are equal up to {_small(self.tolerance)}" if inexact else ""
        return f"an opaque function, no formula to prove ({READABLE}): exact search{floats}"


def _small(number: float) -> str:
    return f"{number:.0e}".replace("e-0", "e-")


def _called(metric: Metric, table: tuple[int | Fraction, ...]) -> tuple[Value | None, np.dtype[Any]]:
    """The value of a function that cannot be read, on fractions where it takes them, else on floats, and its dtype."""
    assert metric.function is not None  # noqa: S101 - an AuditedMetric has a function
    problem: Exception | None = None
    for kind in (Fraction, float):
        try:
            with np.errstate(all="ignore"):
                value = metric.function(Cells(*map(kind, table)), **metric.parameters)
                return _number(metric.name, value), getattr(value, "dtype", UNTYPED)
        except SteelyardError:
            raise
        except ArithmeticError:
            return None, UNTYPED
        except Exception as error:  # noqa: BLE001 - a user's function may raise anything
            problem = error
    reason = f"{type(problem).__name__}: {problem}".rstrip(": ")
    raise InputError(f"{metric.name} fails on the table {cells_text(table)} ({reason}); it must take any table.")


def _number(name: str, value: Any) -> Value | None:
    if np.shape(value) != ():
        raise InputError(
            f"{name} returns an array of shape {np.shape(value)} for one table; one number per table was expected."
        )
    value = value.item() if isinstance(value, (np.ndarray, np.generic)) else value
    if isinstance(value, (int, Fraction)):
        return Fraction(value)
    if not isinstance(value, float):
        raise InputTypeError(f"{name} returns {value!r} for a table; a number was expected.")
    return Decimal(repr(value)) if np.isfinite(value) else None
