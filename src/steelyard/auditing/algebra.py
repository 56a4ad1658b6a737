"""Algebra: a formula over letters, and what follows for every table from the signs of its terms.

Used by proofs; what is not found here is not thereby false.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from steelyard.auditing.symbols import Letters, Sum, Unprovable, factors, indicator, is_positive, magnitude, root

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.auditing.exact_values import Formula, Step

COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
Known = dict[Any, int]  # the signs of polynomials in the case at hand


def derived(formula: Formula, cells: Sequence[Sum]) -> Sum | None:
    """The formula over letters; None where it is undefined whatever they stand for."""
    found: Sum | None = formula.run(cells, _Derivation(cells[0].over))
    return found


def same(formula: Formula, cells: Sequence[Sum], other: Sequence[Sum]) -> bool:
    """Whether a formula is the same over two lists of cells because its parts are; False where that is not seen.

    What is made in one way of equal parts is equal, defined or not, so only steps with unequal parts are derived: a
    metric of the two recalls is the same as soon as the recalls are, however long it is.
    """
    pairing = _Pairing(cells[0].over)
    try:
        found = formula.run([pairing.pair(*both) for both in zip(cells, other, strict=True)], pairing)
    except Unprovable:
        return False
    return bool(found.same)


class _Derivation:
    """One formula over letters, step by step, and which results may be undefined where the algebra sees a value.

    (tp - 5) / (tp - 5) is 1 to the algebra and undefined at tp = 5: no harm to a claim about defined values, but a
    limit or a comparison would make a value of it, which the algebra then does not see.
    """

    def __init__(self, over: Letters) -> None:
        self.over = over
        self.partial: list[Sum] = []

    def __call__(self, step: Step, inputs: list[Any]) -> Any:
        unsure = any(value is part for value in inputs for part in self.partial)
        if unsure and step.sign in COMPARISONS:
            raise Unprovable
        found = _derive(self.over, step, inputs)
        if found is not None and (unsure or _may_be_undefined(step, inputs)):
            self.partial.append(found)
        return found


@dataclass(frozen=True)
class _Pair:
    """What a step gives over each list of cells; no values where they are the same and were not derived."""

    same: bool
    values: tuple[Sum | None, ...] = ()


class _Pairing:
    """One formula over two lists of cells, step by step."""

    def __init__(self, over: Letters) -> None:
        self.sides = _Derivation(over), _Derivation(over)

    def __call__(self, step: Step, inputs: list[_Pair]) -> _Pair:
        if inputs and all(pair.same for pair in inputs):
            return _Pair(same=True)
        if not all(pair.values for pair in inputs):
            raise Unprovable
        return self.pair(*(self._derived(side, step, [pair.values[side] for pair in inputs]) for side in (0, 1)))

    def _derived(self, side: int, step: Step, inputs: list[Any]) -> Any:
        spreads = step.sign != "where" and any(value is None for value in inputs)
        return None if spreads else self.sides[side](step, inputs)

    def pair(self, one: Sum | None, other: Sum | None) -> _Pair:
        """Two values, the same where they are equal and defined together whatever the letters stand for."""
        if one is None or other is None:
            return _Pair(one is other, (one, other))
        unsure = any(value is part for side in self.sides for part in side.partial for value in (one, other))
        return _Pair(not unsure and not (one - other).terms, (one, other))


def _may_be_undefined(step: Step, inputs: list[Any]) -> bool:
    """Whether the operation may have no value for some letters; a limit that they may reach is not followed."""
    match step.sign, inputs:
        case (("ratio" | "/"), (_, below)) if below.terms and not _keeps_off_zero(below):
            if step.value is not None:
                raise Unprovable
            return True
        case "sqrt", (a,):
            return bool(a.terms) and not never_negative(a)
        case "**", (base, _):
            return not never_zero(base)
    return False


def _keeps_off_zero(value: Sum) -> bool:
    return never_zero(value) or never_zero(-value)


def _derive(over: Letters, step: Step, inputs: list[Any]) -> Any:
    match step.sign, inputs:
        case "number", _:
            return None if step.value is None else over.number(step.value)
        case "where", (condition, then, otherwise):
            return _branch(condition, then, otherwise)
        case (("ratio" | "/"), (above, below)):
            return above / below if below.terms else _by_limit(over, above, step.value)
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
            return root(a)
        case sign, (a, b):
            return indicator(sign, a - b)
    raise TypeError(f"{step.sign} is no operation of a formula.")


def _by_limit(over: Letters, above: Sum, limit: Fraction | None) -> Sum | None:
    """What stands over a 0: undefined, or the limit where it is 0 as well."""
    if limit is None or not above.terms:
        return None if limit is None else over.number(limit)
    if not _keeps_off_zero(above):
        raise Unprovable
    return None


def _branch(condition: Sum | None, then: Sum | None, otherwise: Sum | None) -> Sum | None:
    told = Fraction(0) if condition is None else condition.constant()
    if condition is None or told is not None:
        return then if told else otherwise
    if then is None and otherwise is None:
        return None
    if then is None or otherwise is None:
        raise Unprovable
    return otherwise + condition * (then - otherwise)


def _raised(base: Sum, power: Fraction | None) -> Sum | None:
    if power is None or power.denominator > 2 or abs(power) > 64:
        raise Unprovable
    if power < 0:
        raised = _raised(base, -power)
        return raised.inverse() if raised is not None and raised.terms else None
    raised = base.over.number(1)
    for _ in range(int(power)):
        raised *= base
    return raised if power.denominator == 1 else raised * root(base)


# ---------------------------------------------------------------- what follows from the signs


def never_negative(value: Sum, known: Known | None = None) -> bool:
    """Whether the sum is at least 0 for all letters, by its factors and by comparing squares; False if not found."""
    known = known or {}
    for _, where in value.terms:
        for sign, poly in where:
            return all(
                never_negative(value.given((sign, poly), holds), known | ({poly: 2 * holds - 1} if sign == "+" else {}))
                for holds in (True, False)
            )
    match list(value.terms.items()):
        case [((under, _), part), ((other_under, _), other)]:
            signs = sign_of(value.over, part, known), sign_of(value.over, other, known)
            if 0 in signs or signs == (-1, -1):
                return False
            gap = part * part * under - other * other * other_under
            return signs == (1, 1) or not gap or sign_of(value.over, gap, known) == signs[0]
    return all(sign_of(value.over, part, known) == 1 for part in value.terms.values())


def sign_of(over: Letters, part: Any, known: Known) -> int:
    """1 where the rational function is never negative, -1 where it is never positive, 0 where that is not seen."""
    if is_positive(part.denom) and (is_positive(part.numer) or is_positive(-part.numer)):
        return 1 if is_positive(part.numer) else -1
    constant, parts = factors(over, part)
    sign = 1 if constant > 0 else -1
    for factor, times in parts.items():
        if times % 2 and not is_positive(factor):
            sign *= known.get(factor, 0)
    return sign


def is_smooth(value: Sum) -> bool:
    """Whether the sum is continuous for all letters: no indicators, and no side of a division or root that may be 0."""
    return all(
        not where and is_positive(under) and is_positive(part.denom) for (under, where), part in value.terms.items()
    )


def never_zero(value: Sum) -> bool:
    """Whether the sum is above 0 for all letters, by the signs of its coefficients."""
    for _, where in value.terms:
        for place in where:
            return all(never_zero(value.given(place, holds)) for holds in (True, False))
    return bool(value.terms) and all(
        is_positive(part.numer) and is_positive(part.denom) and is_positive(under)
        for (under, _), part in value.terms.items()
    )
