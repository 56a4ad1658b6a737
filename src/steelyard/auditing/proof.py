"""Proof: a law of tables, or an equation between metrics, shown by algebra for all tables, empty cells included."""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING

from steelyard.auditing.sign_proofs import is_positive, is_smooth, never_negative
from steelyard.auditing.symbolic_sums import LONGEST, SymbolicField, SymbolicSum, Unprovable
from steelyard.auditing.symbolic_values import COMPARISONS, same_by_parts, symbolic_value
from steelyard.statistics.counts import CELLS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from steelyard.auditing.audited_metric import AuditedMetric
    from steelyard.auditing.exact_values import ExactFormula
    from steelyard.auditing.laws import Law

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
    start = time.thread_time()
    try:
        for pattern in itertools.product((1, 0), repeat=len(names)):
            variables = _variables(names, pattern, start + audited.seconds)
            values = [_side_value(_formula(audited), tuple(cells), variables[0].field) for cells in tables(*variables)]
            if None not in values and not holds(variables, *values):
                return False
    except (Unprovable, ImportError):
        return False
    finally:
        audited.seconds -= time.thread_time() - start
    return True


def _formula(audited: AuditedMetric) -> ExactFormula:
    if audited.formula is None:
        raise Unprovable
    return audited.formula


def proved(audited: AuditedMetric, law: Law) -> str | None:
    """How the law was proved for all variables, those that are 0 included; None where it was not."""
    start = time.thread_time()
    try:
        return _proof_text(audited, law, start + audited.seconds)
    except (Unprovable, ImportError):
        return None
    finally:
        audited.seconds -= time.thread_time() - start


def _proof_text(audited: AuditedMetric, law: Law, until: float) -> str | None:
    if law.relation != "=" and _comparisons(audited) > MOST_COMPARISONS:
        raise Unprovable
    if all(_holds_on(audited, law, pattern, until) for pattern in law.zero_patterns()):
        return "algebra: equal for all cells" if law.relation == "=" else "algebra: the sign of the difference"
    if law.grows and all(_has_right_slope(audited, law, pattern, until) for pattern in law.zero_patterns()):
        return "algebra: the sign of the derivative; steps from an empty cell by exact search"
    return None


def _comparisons(audited: AuditedMetric) -> int:
    assert audited.formula is not None  # noqa: S101 - proofs are asked of formulas
    return sum(step.sign in COMPARISONS for step in audited.formula.steps)


def _holds_on(audited: AuditedMetric, law: Law, pattern: tuple[int, ...], until: float) -> bool:
    variables = _variables(law.variables, pattern, until)
    field = variables[0].field
    tables = law.before(*variables), law.against(*variables)
    formula = audited.orders_by if isinstance(tables[1], tuple) else audited.formula
    assert formula is not None  # noqa: S101 - proofs are asked of formulas
    if (
        law.relation == "="
        and isinstance(tables[1], tuple)
        and same_by_parts(formula, *(_cells(t, field) for t in tables))
    ):
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
