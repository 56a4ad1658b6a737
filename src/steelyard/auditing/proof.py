"""Proof: a law of tables, or an equation between metrics, shown by algebra for all tables, empty cells included."""

from __future__ import annotations

import itertools
import math
import time
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.auditing.decisions import Counterexample, cells_text, four_cells
from steelyard.auditing.exact_values import ExactFormula, Value, difference, exact_expression
from steelyard.auditing.symbolic import (
    COMPARISONS,
    LONGEST,
    SymbolicField,
    SymbolicSum,
    Unprovable,
    is_available,
    is_positive,
    is_smooth,
    never_negative,
    same_by_parts,
    symbolic_value,
)
from steelyard.exceptions import InputError, InputTypeError, SteelyardError
from steelyard.metrics.expression import Operation
from steelyard.metrics.expression_value import evaluate_expression
from steelyard.tables.counts import CELLS, Cells

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from steelyard._types import Array
    from steelyard.auditing.laws import Law
    from steelyard.metrics.measure import Metric


# ---------------------------------------------------------------- audited metric
# Its exact values, and its formula where that can be read, else what its function gives.


READABLE = "steelyard.metrics.sqrt and steelyard.metrics.where can be read, math, numpy and if cannot"
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
        opaque = f"an opaque function, no formula to prove ({READABLE}): exact search"
        if not any(isinstance(value, Decimal) for value in self._values.values()):
            return opaque
        tolerance = f"{self.tolerance:.0e}".replace("e-0", "e-")
        return f"{opaque}, its values floats that are equal up to {tolerance}"


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


# ---------------------------------------------------------------- counterexamples
# A law tried on tables in exact arithmetic, the small ones first; floats show where to look.


_Table = tuple[Fraction, ...]
SUSPICIOUS = 1e-10  # floats that differ by more are looked at in exact arithmetic


def smallest_counterexample(audited: AuditedMetric, law: Law) -> Counterexample | None:
    """The smallest counterexample among the small tables."""
    cases = _suspects(audited, law, law.small_cases, law.small_tables) if audited.formula else iter(law.small_cases)
    return _first(audited, law, cases)


def drawn_counterexample(audited: AuditedMetric, law: Law) -> Counterexample | None:
    """What speaks against a law among tables of moderate size and large, where the formula can be read."""
    return _first(audited, law, _suspects(audited, law, law.check_cases, law.tables(law.check_cases)))


def _first(audited: AuditedMetric, law: Law, cases: Iterable[tuple[int, ...]]) -> Counterexample | None:
    for case in cases:
        outcome = case_outcome(audited, law, case)
        if isinstance(outcome, Counterexample):
            return _shrunk(audited, law, case, outcome)
    return None


def _shrunk(audited: AuditedMetric, law: Law, case: tuple[int, ...], counterexample: Counterexample) -> Counterexample:
    """The counterexample with its variables made smaller one at a time, as far as that goes."""
    for smaller in _smaller(law, case):
        outcome = case_outcome(audited, law, smaller)
        if isinstance(outcome, Counterexample):
            return _shrunk(audited, law, smaller, outcome)
    return counterexample


def _smaller(law: Law, case: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The cases with one variable less: none of it, half or one less."""
    for at, (value, name) in enumerate(zip(case, law.variables, strict=True)):
        least = int(name in law.positive.split())
        for less in sorted({least, value // 2, value - 1}):
            smaller = (*case[:at], less, *case[at + 1 :])
            if least <= less < value and law.valid(*smaller):
                yield smaller


def exact_search(audited: AuditedMetric, law: Law) -> tuple[int, Counterexample | None]:
    """How many tables, small and large, were examined in exact arithmetic, and one that breaks the law."""
    examined = 0
    for case in itertools.chain(law.small_cases, law.random_cases()):
        outcome = case_outcome(audited, law, case)
        if isinstance(outcome, Counterexample):
            return examined, _shrunk(audited, law, case, outcome)
        examined += outcome is not None
    return examined, None


def case_outcome(audited: AuditedMetric, law: Law, case: Sequence[int]) -> Counterexample | bool | None:
    """The counterexample that this case is; False where the law holds; None where a side is undefined."""
    exact = list(map(Fraction, case))
    before, against = law.before(*exact), law.against(*exact)  # a table, and the one or the number it is held against
    other = audited.value(against) if isinstance(against, tuple) else Fraction(against)
    value = audited.value(before)
    if value is None or other is None:
        return None
    gap, relation = audited.gap(value, other), law.relation_for(audited.metric)
    holds = "=" in relation if gap == 0 else relation[0] == ("<" if gap < 0 else ">")
    if holds:
        return False
    after = four_cells(against) if isinstance(against, tuple) else None
    return Counterexample(four_cells(before), after, str(value), str(other))


def _suspects(
    audited: AuditedMetric, law: Law, cases: list[tuple[int, ...]], tables: tuple[Array, Array]
) -> Iterator[tuple[int, ...]]:
    """The cases where by floats the two sides do not relate as claimed, in order."""
    before, against = tables
    value = audited.floats(before)
    other = audited.floats(against) if against.ndim == 2 else against
    with np.errstate(all="ignore"):
        relation = law.relation_for(audited.metric)
        gap = {"=": np.abs, "<": np.positive, ">": np.negative}[relation[0]](value - other)
        apart = gap > (1 if "=" in relation else -1) * SUSPICIOUS * np.maximum(1, np.abs(value))
    yield from (cases[i] for i in np.flatnonzero(apart))


# ---------------------------------------------------------------- proof


MOST_COMPARISONS = 16  # each halves the cases in which a sign is looked for, and 65,536 of them take more than LONGEST


def on_all_tables(formulas: Sequence[ExactFormula], holds: Callable[..., bool]) -> bool:
    """Whether algebra shows a statement about the values of some formulas for all cells, empty ones included."""
    until = time.thread_time() + LONGEST
    try:
        for pattern in itertools.product((1, 0), repeat=4):
            cells = _variables(CELLS, pattern, until)
            values = [symbolic_value(each, cells) for each in formulas]
            if None not in values and not holds(*values):
                return False
    except (Unprovable, ImportError):
        return False
    return True


def on_related_tables(
    audited: AuditedMetric,
    names: Sequence[str],
    tables: Callable[..., Sequence[Sequence[SymbolicSum]]],
    holds: Callable[..., bool],
) -> bool:
    """Whether algebra shows a statement about the values on several tables of some variables, be they 0 or not.

    Where one of the values is undefined, nothing is stated.
    """
    if audited.formula is None:
        return False
    start = time.thread_time()
    try:
        for pattern in itertools.product((1, 0), repeat=len(names)):
            variables = _variables(names, pattern, start + audited.seconds)
            values = [_side_value(audited.formula, tuple(cells), variables[0].field) for cells in tables(*variables)]
            if None not in values and not holds(variables, *values):
                return False
    except (Unprovable, ImportError):
        return False
    finally:
        audited.seconds -= time.thread_time() - start
    return True


def proved(audited: AuditedMetric, law: Law) -> str | None:
    """How the law was proved for all variables, those that are 0 included; None where it was not."""
    assert audited.formula is not None  # noqa: S101 - proofs are asked of formulas
    if law.relation != "=" and sum(step.sign in COMPARISONS for step in audited.formula.steps) > MOST_COMPARISONS:
        return None
    start = time.thread_time()
    until = start + audited.seconds
    try:
        if all(_holds_on(audited, law, pattern, until) for pattern in law.zero_patterns()):
            return "algebra: equal for all cells" if law.relation == "=" else "algebra: the sign of the difference"
        if law.grows and all(_has_right_slope(audited, law, pattern, until) for pattern in law.zero_patterns()):
            return "algebra: the sign of the derivative; steps from an empty cell by exact search"
    except (Unprovable, ImportError):
        return None
    finally:
        audited.seconds -= time.thread_time() - start
    return None


def _holds_on(audited: AuditedMetric, law: Law, pattern: tuple[int, ...], until: float) -> bool:
    variables = _variables(law.variables, pattern, until)
    field = variables[0].field
    tables = law.before(*variables), law.against(*variables)
    formula = audited.orders_by if isinstance(tables[1], tuple) else audited.formula
    assert formula is not None  # noqa: S101 - proofs are asked of formulas
    if law.relation == "=" and isinstance(tables[1], tuple):
        before_cells, after_cells = (_cells(table, field) for table in tables)
        if same_by_parts(formula, before_cells, after_cells):
            return True
    before, other = (_side_value(formula, side, field) for side in tables)
    if before is None or other is None:
        return True
    gap = other - before
    return not gap.terms if law.relation == "=" else _has_sign(gap, law.relation_for(audited.metric))


def _has_sign(gap: SymbolicSum, relation: str) -> bool:
    """Whether what is added to come to the other side has the sign of the relation."""
    signed = gap if relation[0] == "<" else -gap
    return never_negative(signed) if "=" in relation else is_positive(signed)


def _has_right_slope(audited: AuditedMetric, law: Law, pattern: tuple[int, ...], until: float) -> bool:
    """Whether the derivative by the cell that grows has the right sign, where that cell is not empty."""
    assert audited.orders_by is not None and law.grows is not None  # noqa: S101 - see above
    at = CELLS.index(law.grows)
    variables = _variables(law.variables, pattern, until)
    value = _side_value(audited.orders_by, law.before(*variables), variables[0].field) if pattern[at] else None
    if value is None:
        return True
    if not is_smooth(value):
        return False
    slope = value.derivative(variables[at])
    return _has_sign(slope, law.relation_for(audited.metric))


def _variables(names: Sequence[str], pattern: tuple[int, ...], until: float) -> list[SymbolicSum]:
    """The variables, or 0 for those that are not there."""
    field = SymbolicField(names, until - time.thread_time())
    return [variable if there else field.number(0) for variable, there in zip(field.variables, pattern, strict=True)]


def _side_value(
    formula: ExactFormula, side: tuple[SymbolicSum | int, ...] | SymbolicSum | int, field: SymbolicField
) -> SymbolicSum | None:
    """The formula's value, or the number itself, over the variables."""
    if isinstance(side, tuple):
        return symbolic_value(formula, _cells(side, field))
    return side if isinstance(side, SymbolicSum) else field.number(side)


def _cells(table: Iterable[SymbolicSum | int], field: SymbolicField) -> list[SymbolicSum]:
    return [cell if isinstance(cell, SymbolicSum) else field.number(cell) for cell in table]
