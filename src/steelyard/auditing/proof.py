"""Proof: a claim, or any law between formulas, shown by algebra for all tables, those with empty cells included."""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING, Any

from steelyard.auditing.algebra import COMPARISONS, derived, is_smooth, never_negative, same
from steelyard.auditing.symbols import LONGEST, Letters, Sum, Unprovable
from steelyard.statistics.counts import CELLS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from steelyard.auditing.audited_metric import Subject
    from steelyard.auditing.exact_values import Formula
    from steelyard.auditing.property_list import Claim

MOST_COMPARISONS = 16  # each halves the cases in which a sign is looked for, and 65,536 of them take more than LONGEST


def on_all_tables(formulas: Sequence[Formula], holds: Callable[..., bool]) -> bool:
    """Whether algebra shows a claim about the values of some formulas for all cells, empty ones included."""
    until = time.thread_time() + LONGEST
    try:
        for face in itertools.product((1, 0), repeat=4):
            cells = _letters(CELLS, face, until)
            values = [derived(each, cells) for each in formulas]
            if None not in values and not holds(*values):
                return False
    except (Unprovable, ImportError):
        return False
    return True


def proved(subject: Subject, claim: Claim) -> str | None:
    """How the claim was proved for all letters, those that are 0 included; None where it was not."""
    start = time.thread_time()
    try:
        return _shown(subject, claim, start + subject.seconds)
    except (Unprovable, ImportError):
        return None
    finally:
        subject.seconds -= time.thread_time() - start


def _shown(subject: Subject, claim: Claim, until: float) -> str | None:
    if claim.relation != "=" and _comparisons(subject) > MOST_COMPARISONS:
        raise Unprovable
    if all(_proved_on(subject, claim, face, until) for face in claim.faces()):
        return "algebra: equal for all cells" if claim.relation == "=" else "algebra: the sign of the difference"
    if claim.grows and all(_slopes(subject, claim, face, until) for face in claim.faces()):
        return "algebra: the sign of the derivative; steps from an empty cell by exact search"
    return None


def _comparisons(subject: Subject) -> int:
    assert subject.formula is not None  # noqa: S101 - proofs are asked of formulas
    return sum(step.sign in COMPARISONS for step in subject.formula.steps)


def _proved_on(subject: Subject, claim: Claim, face: tuple[int, ...], until: float) -> bool:
    assert subject.formula is not None  # noqa: S101 - proofs are asked of formulas
    letters = _letters(claim.letters, face, until)
    over = letters[0].over
    tables = claim.before(*letters), claim.against(*letters)
    if (
        claim.relation == "="
        and isinstance(tables[1], tuple)
        and same(subject.formula, *(_cells(t, over) for t in tables))
    ):
        return True
    before, other = (_over(subject.formula, side, over) for side in tables)
    if before is None or other is None:
        return True
    gap = other - before
    if claim.relation == "=":
        return not gap.terms
    return never_negative(gap if claim.relation_for(subject.metric) == "<=" else -gap)


def _slopes(subject: Subject, claim: Claim, face: tuple[int, ...], until: float) -> bool:
    """Whether the derivative by the cell that grows has the right sign, where that cell is not empty."""
    assert subject.formula is not None and claim.grows is not None  # noqa: S101 - see above
    at = CELLS.index(claim.grows)
    letters = _letters(claim.letters, face, until)
    value = _over(subject.formula, claim.before(*letters), letters[0].over) if face[at] else None
    if value is None:
        return True
    if not is_smooth(value):
        return False
    slope = value.slope(letters[at])
    return never_negative(slope if claim.relation_for(subject.metric) == "<=" else -slope)


def _letters(names: Sequence[str], face: tuple[int, ...], until: float) -> list[Sum]:
    """The letters, or 0 for those that are not there."""
    over = Letters(names, until - time.thread_time())
    return [letter if there else over.number(0) for letter, there in zip(over.letters, face, strict=True)]


def _over(formula: Formula, side: Any, over: Letters) -> Sum | None:
    """The formula's value, or the number itself, over the letters."""
    if isinstance(side, tuple):
        return derived(formula, _cells(side, over))
    return side if isinstance(side, Sum) else over.number(side)


def _cells(side: Any, over: Letters) -> list[Sum]:
    return [cell if isinstance(cell, Sum) else over.number(cell) for cell in side]
