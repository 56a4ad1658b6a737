"""Counterexamples: a law tried on tables in exact arithmetic, the small ones first; floats show where to look."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from steelyard.auditing.decisions import Counterexample, four_cells

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from steelyard._types import Array
    from steelyard.auditing.audited_metric import AuditedMetric
    from steelyard.auditing.exact_values import Value
    from steelyard.auditing.laws import Law

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
    """How many tables, small and large, were examined in exact arithmetic, and one that case_outcome the law."""
    examined = 0
    for case in itertools.chain(law.small_cases, law.random_cases()):
        outcome = case_outcome(audited, law, case)
        if isinstance(outcome, Counterexample):
            return examined, _shrunk(audited, law, case, outcome)
        examined += outcome is not None
    return examined, None


def case_outcome(audited: AuditedMetric, law: Law, case: Sequence[int]) -> Counterexample | bool | None:
    """The counterexample that this case is; False where the law holds; None where a side is undefined."""
    before, against, value, other = _sides(audited, law, case)
    if value is None or other is None:
        return None
    gap = audited.gap(value, other)
    relation = law.relation_for(audited.metric)
    if (gap == 0 and "=" in relation) or (gap != 0 and relation[0] == ("<" if gap < 0 else ">")):
        return False
    after = four_cells(against) if isinstance(against, tuple) else None
    return Counterexample(four_cells(before), after, str(value), str(other))


def _sides(
    audited: AuditedMetric, law: Law, case: Sequence[int]
) -> tuple[_Table, _Table | Fraction, Value | None, Value | None]:
    """The table and what it is held against, and the values of both."""
    exact = list(map(Fraction, case))
    before, against = law.before(*exact), law.against(*exact)
    other = audited.value(against) if isinstance(against, tuple) else Fraction(against)
    return before, against, audited.value(before), other


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
