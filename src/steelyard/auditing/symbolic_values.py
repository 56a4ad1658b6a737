"""Symbolic values: a formula over variables, for all tables at once."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from steelyard.auditing.sign_proofs import keeps_off_zero, never_negative, never_zero
from steelyard.auditing.symbolic_sums import (
    SymbolicField,
    SymbolicSum,
    Unprovable,
    comparison_indicator,
    magnitude,
    square_root,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.auditing.exact_values import ExactFormula, Step

COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


def symbolic_value(formula: ExactFormula, cells: Sequence[SymbolicSum]) -> SymbolicSum | None:
    """The formula over variables; None where it is undefined whatever they stand for."""
    return formula.run(cells, _Derivation(cells[0].field))


def same_by_parts(formula: ExactFormula, cells: Sequence[SymbolicSum], other: Sequence[SymbolicSum]) -> bool:
    """Whether a formula is the same over two lists of cells because its parts are; False where that is not seen.

    What is made in one way of equal parts is equal, defined or not, so only steps with unequal parts are derived: a
    metric of the two recalls is the same as soon as the recalls are, however long it is.
    """
    pairing = _Pairing(cells[0].field)
    try:
        both = formula.run([pairing.pair(*pair) for pair in zip(cells, other, strict=True)], pairing)
    except Unprovable:
        return False
    return both is not None and both.same


class _Derivation:
    """One formula over variables, step by step, and which results may be undefined where the algebra sees a value.

    (tp - 5) / (tp - 5) is 1 to the algebra and undefined at tp = 5: no harm to a law about defined values, but a
    limit or a comparison would make a value of it, which the algebra then does not see.
    """

    def __init__(self, field: SymbolicField) -> None:
        self.field = field
        self.partial: list[SymbolicSum] = []

    def __call__(self, step: Step, inputs: list[Any]) -> SymbolicSum | None:
        unsure = any(value is part for value in inputs for part in self.partial)
        if unsure and step.sign in COMPARISONS:
            raise Unprovable
        value = _derive(self.field, step, inputs)
        if value is not None and (unsure or _may_be_undefined(step, inputs)):
            self.partial.append(value)
        return value


@dataclass(frozen=True)
class _Pair:
    """What a step gives over each list of cells; no values where they are the same and were not derived."""

    same: bool
    values: tuple[SymbolicSum | None, ...] = ()


class _Pairing:
    """One formula over two lists of cells, step by step."""

    def __init__(self, field: SymbolicField) -> None:
        self.sides = _Derivation(field), _Derivation(field)

    def __call__(self, step: Step, inputs: list[_Pair]) -> _Pair:
        if inputs and all(pair.same for pair in inputs):
            return _Pair(same=True)
        if not all(pair.values for pair in inputs):
            raise Unprovable
        return self.pair(*(self._derived(side, step, [pair.values[side] for pair in inputs]) for side in (0, 1)))

    def _derived(self, side: int, step: Step, inputs: list[SymbolicSum | None]) -> SymbolicSum | None:
        spreads = step.sign != "where" and any(value is None for value in inputs)
        return None if spreads else self.sides[side](step, inputs)

    def pair(self, first: SymbolicSum | None, second: SymbolicSum | None) -> _Pair:
        """Two values, the same where they are equal and defined together whatever the variables stand for."""
        if first is None or second is None:
            return _Pair(first is second, (first, second))
        unsure = any(value is part for side in self.sides for part in side.partial for value in (first, second))
        return _Pair(not unsure and not (first - second).terms, (first, second))


def _may_be_undefined(step: Step, inputs: list[SymbolicSum]) -> bool:
    """Whether the operation may be undefined for some variables; a limit that they may reach is not followed."""
    match step.sign, inputs:
        case (("ratio" | "/"), (_, below)) if below.terms and not keeps_off_zero(below):
            if step.constant is not None:
                raise Unprovable
            return True
        case "sqrt", (a,):
            return bool(a.terms) and not never_negative(a)
        case "**", (base, _):
            return not never_zero(base)
    return False


def _derive(field: SymbolicField, step: Step, inputs: list[SymbolicSum]) -> SymbolicSum | None:
    match step.sign, inputs:
        case "number", _:
            return None if step.constant is None else field.number(step.constant)
        case "where", (condition, then, otherwise):
            return _branch(condition, then, otherwise)
        case (("ratio" | "/"), (above, below)):
            return above / below if below.terms else _by_limit(field, above, step.constant)
        case "+", (a, b):
            return a + b
        case "-", (a, b):
            return a - b
        case "*", (a, b):
            return a * b
        case "**", (base, power):
            return _raised(base, power.constant())
        case "neg", (a,):
            return -a
        case "abs", (a,):
            return magnitude(a)
        case "sqrt", (a,):
            return square_root(a)
        case sign, (a, b) if sign in COMPARISONS:
            return comparison_indicator(sign, a - b)
    raise Unprovable


def _by_limit(field: SymbolicField, above: SymbolicSum, limit: Fraction | None) -> SymbolicSum | None:
    """What stands over a 0: undefined, or the limit where it is 0 as well."""
    if limit is None or not above.terms:
        return None if limit is None else field.number(limit)
    if not keeps_off_zero(above):
        raise Unprovable
    return None


def _branch(
    condition: SymbolicSum | None, then: SymbolicSum | None, otherwise: SymbolicSum | None
) -> SymbolicSum | None:
    truth = Fraction(0) if condition is None else condition.constant()
    if condition is None or truth is not None:
        return then if truth else otherwise
    if then is None and otherwise is None:
        return None
    if then is None or otherwise is None:
        raise Unprovable
    return otherwise + condition * (then - otherwise)


def _raised(base: SymbolicSum, power: Fraction | None) -> SymbolicSum | None:
    if power is None or power.denominator > 2 or abs(power) > 64:
        raise Unprovable
    if power < 0:
        raised = _raised(base, -power)
        return raised.inverse() if raised is not None and raised.terms else None
    raised = base.field.number(1)
    for _ in range(int(power)):
        raised *= base
    return raised if power.denominator == 1 else raised * square_root(base)
