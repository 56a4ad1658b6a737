"""Search: a claim tried on tables in exact arithmetic, the small ones first; floats tell where to look."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.auditing.decisions import Counterexample, whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from steelyard._types import Array
    from steelyard.auditing.audited_metric import Subject
    from steelyard.auditing.exact_values import Value
    from steelyard.auditing.property_list import Claim

SUSPICIOUS = 1e-10  # floats that differ by more are looked at in exact arithmetic


def quickest(subject: Subject, claim: Claim) -> Counterexample | None:
    """The smallest counterexample among the small tables."""
    likely = _suspects(subject, claim, claim.small, claim.small_tables) if subject.formula else iter(claim.small)
    return _first(subject, claim, likely)


def checked(subject: Subject, claim: Claim) -> Counterexample | None:
    """What speaks against a claim among tables of moderate size and large, where the formula can be read."""
    return _first(subject, claim, _suspects(subject, claim, claim.checks, claim.tables(claim.checks)))


def _first(subject: Subject, claim: Claim, cases: Iterable[tuple[int, ...]]) -> Counterexample | None:
    found = ((case, breaks(subject, claim, case)) for case in cases)
    broken = next(((case, broken) for case, broken in found if isinstance(broken, Counterexample)), None)
    return broken and _shrunk(subject, claim, *broken)


def _shrunk(subject: Subject, claim: Claim, case: tuple[int, ...], broken: Counterexample) -> Counterexample:
    """The counterexample with its letters made smaller one at a time, as far as that goes."""
    for smaller in _smaller(claim, case):
        found = breaks(subject, claim, smaller)
        if isinstance(found, Counterexample):
            return _shrunk(subject, claim, smaller, found)
    return broken


def _smaller(claim: Claim, case: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The cases with one letter less: none of it, half or one less."""
    for at, (letter, name) in enumerate(zip(case, claim.letters, strict=True)):
        least = int(name in claim.positive.split())
        for less in sorted({least, letter // 2, letter - 1}):
            tried = (*case[:at], less, *case[at + 1 :])
            if least <= less < letter and claim.valid(*tried):
                yield tried


def searched(subject: Subject, claim: Claim) -> tuple[int, Counterexample | None]:
    """How many tables, small and large, were examined in exact arithmetic, and one that breaks the claim."""
    examined = 0
    for case in itertools.chain(claim.small, claim.drawn()):
        broken = breaks(subject, claim, case)
        if isinstance(broken, Counterexample):
            return examined, _shrunk(subject, claim, case, broken)
        examined += broken is not None
    return examined, None


def breaks(subject: Subject, claim: Claim, letters: Sequence[int]) -> Counterexample | bool | None:
    """The counterexample that these letters are; False where the claim holds; None where a side is undefined."""
    before, against, value, other = _sides(subject, claim, letters)
    if value is None or other is None:
        return None
    gap = subject.gap(value, other)
    if gap == 0 or (claim.relation != "=" and (gap < 0) == (claim.relation_for(subject.metric) == "<=")):
        return False
    after = whole(against) if isinstance(against, tuple) else None
    return Counterexample(whole(before), after, str(value), str(other))


def _sides(subject: Subject, claim: Claim, letters: Sequence[int]) -> tuple[Any, Any, Value | None, Value | None]:
    """The table and what it is held against, and the values of both."""
    exact = [Fraction(letter) for letter in letters]
    before, against = claim.before(*exact), claim.against(*exact)
    other = subject.value(against) if isinstance(against, tuple) else Fraction(against)
    return before, against, subject.value(before), other


def _suspects(
    subject: Subject, claim: Claim, cases: list[tuple[int, ...]], tables: tuple[Array, Array]
) -> Iterator[tuple[int, ...]]:
    """The cases where by floats the two sides do not relate as claimed, in order."""
    before, against = tables
    value = subject.floats(before)
    other = subject.floats(against) if against.ndim == 2 else against
    with np.errstate(all="ignore"):
        gap = {"=": np.abs, "<=": np.positive, ">=": np.negative}[claim.relation_for(subject.metric)](value - other)
        apart = gap > SUSPICIOUS * np.maximum(1, np.abs(value))
    yield from (cases[i] for i in np.flatnonzero(apart))
