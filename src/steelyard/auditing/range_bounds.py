"""Range bounds: whether a metric keeps to its range, and whether each finite end of it is the value of some table."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from steelyard.auditing.counterexamples import SUSPICIOUS
from steelyard.auditing.decisions import (
    DOES_NOT_APPLY,
    PROVED,
    REFUTED,
    Counterexample,
    FourCells,
    Ruling,
    cells_text,
    four_cells,
)
from steelyard.auditing.laws import CLASS_SWAP
from steelyard.auditing.proof import on_all_tables
from steelyard.auditing.sign_proofs import keeps_off_zero

if TYPE_CHECKING:
    from steelyard.auditing.audited_metric import AuditedMetric
    from steelyard.auditing.symbolic_sums import SymbolicSum


def bounds_attained(audited: AuditedMetric) -> Ruling:
    """Whether no value lies outside the range, and each finite end of it is the value of some table."""
    ends = [Fraction(repr(float(end))) for end in audited.metric.range if np.isfinite(end)]
    if not ends:
        return DOES_NOT_APPLY, "its range has no finite end", None
    if outside := _outside(audited):
        low, high = audited.metric.range
        return REFUTED, f"{audited.by_table}, whose value lies outside the range, {low:g} to {high:g}", outside
    reached = {end: _reached(audited, end) for end in ends}
    missed = [end for end, table in reached.items() if table is None]
    if not missed:
        tables = "; ".join(f"{end} on {cells_text(table)}" for end, table in reached.items() if table)
        return PROVED, f"reached: {tables}", None
    if all(_never_reached(audited, end) for end in missed):
        return REFUTED, f"algebra: no table reaches {' or '.join(map(str, missed))}", None
    return (
        f"no table that reaches {missed[0]} among {len(CLASS_SWAP.small_cases):,} exact tables",
        audited.by_search,
        None,
    )


def _outside(audited: AuditedMetric) -> Counterexample | None:
    """The smallest table whose value lies outside the range, and the end that it passes."""
    tables = [*CLASS_SWAP.small_cases, *(CLASS_SWAP.check_cases if audited.formula else ())]
    values = audited.floats(np.array(tables))
    for end, sign in zip(audited.metric.range, (-1, 1), strict=True):
        if not np.isfinite(end):
            continue
        bound = Fraction(repr(float(end)))
        with np.errstate(invalid="ignore"):
            beyond = np.flatnonzero(sign * (values - float(end)) > SUSPICIOUS * max(1, abs(float(end))))
        for table in (tables[i] for i in beyond):
            value = audited.value(table)
            if value is not None and sign * audited.gap(value, bound) > 0:
                return Counterexample(four_cells(table), None, str(value), str(bound))
    return None


def _reached(audited: AuditedMetric, end: Fraction) -> FourCells | None:
    """The smallest table with this value."""
    small_tables = CLASS_SWAP.small_cases
    with np.errstate(invalid="ignore"):
        off = np.abs(audited.floats(np.array(small_tables)) - float(end))
        near = np.flatnonzero(off <= SUSPICIOUS * max(1, abs(float(end))))
    for table in (small_tables[i] for i in near):
        value = audited.value(table)
        if value is not None and audited.gap(value, end) == 0:
            return four_cells(table)
    return None


def _never_reached(audited: AuditedMetric, end: Fraction) -> bool:
    """Whether algebra shows that the value lies on one side of this number for all cells."""

    def beside(value: SymbolicSum) -> bool:
        return keeps_off_zero(value - value.field.number(end))

    return audited.formula is not None and on_all_tables([audited.formula], beside)
