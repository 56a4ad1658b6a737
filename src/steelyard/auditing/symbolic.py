"""Polynomials: what is used of sympy's polynomials and rational functions, their factors, and a test of their sign."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from steelyard.auditing.exact_values import ExactFormula, Step


class Coefficient(Protocol):
    """A rational number as sympy has it."""

    numerator: int
    denominator: int

    def __int__(self) -> int: ...
    def __lt__(self, other: int, /) -> bool: ...
    def __gt__(self, other: int, /) -> bool: ...


class Polynomial(Protocol):
    """A polynomial of sympy over the rational numbers."""

    LC: Coefficient
    is_ground: bool

    def __hash__(self) -> int: ...

    def coeffs(self) -> Iterable[Coefficient]:
        """The coefficients that are not 0."""

    def factor_list(self) -> tuple[Coefficient, list[tuple[Polynomial, int]]]:
        """A constant and the irreducible factors with their powers."""

    def primitive(self) -> tuple[Coefficient, Polynomial]:
        """The content and what is left without it."""

    def gcd(self, other: Polynomial, /) -> Polynomial:
        """The greatest common divisor."""

    def quo(self, other: Polynomial, /) -> Polynomial:
        """The quotient without its remainder."""

    def rem(self, other: Polynomial, /) -> Polynomial:
        """What a division leaves."""

    def __mul__(self, other: Polynomial | int, /) -> Polynomial: ...
    def __pow__(self, power: int, /) -> Polynomial: ...
    def __neg__(self) -> Polynomial: ...
    def __len__(self) -> int: ...


class RationalFunction(Protocol):
    """A quotient of two polynomials."""

    numer: Polynomial
    denom: Polynomial

    def diff(self, variable: RationalFunction, /) -> RationalFunction:
        """The derivative."""

    def __add__(self, other: RationalFunction, /) -> RationalFunction: ...
    def __sub__(self, other: RationalFunction, /) -> RationalFunction: ...
    def __mul__(self, other: RationalFunction | Polynomial, /) -> RationalFunction: ...
    def __rmul__(self, other: int, /) -> RationalFunction: ...
    def __truediv__(self, other: RationalFunction, /) -> RationalFunction: ...
    def __rtruediv__(self, other: int, /) -> RationalFunction: ...
    def __neg__(self) -> RationalFunction: ...


def factors(quotient: RationalFunction) -> tuple[Fraction, dict[Polynomial, int]]:
    """A constant and the factors of a rational function's numerator times its denominator."""
    (above, upper), (below, lower) = irreducible_factors(quotient.numer), irreducible_factors(quotient.denom)
    powers = dict(upper)
    for factor, power in lower:
        powers[factor] = powers.get(factor, 0) + power
    return above * below, powers


@lru_cache(maxsize=4096)
def irreducible_factors(polynomial: Polynomial) -> tuple[Fraction, list[tuple[Polynomial, int]]]:
    """A constant and the irreducible factors, each with whole coefficients and the first of them positive."""
    constant, powers = polynomial.factor_list()
    product, parts = _fraction(constant), []
    for factor, power in powers:
        content, primitive = factor.primitive()
        sign = -1 if primitive.LC < 0 else 1
        product *= (sign * _fraction(content)) ** power
        parts.append((primitive * sign, power))
    return product, parts


def _fraction(coefficient: Coefficient) -> Fraction:
    return Fraction(int(coefficient.numerator), int(coefficient.denominator))


def has_positive_coefficients(polynomial: Polynomial) -> bool:
    """Whether no coefficient is negative, so that it is positive where its variables are; sufficient, not necessary."""
    return all(coefficient > 0 for coefficient in polynomial.coeffs())


# ---------------------------------------------------------------- sign proofs
# What follows for all tables from the signs of a symbolic sum's terms; what is not seen is not false.


Signs = dict["Polynomial", int]  # of polynomials in the case at hand


def never_negative(value: SymbolicSum, signs: Signs | None = None) -> bool:
    """Whether the sum is at least 0 for all variables, by its factors and by comparing squares; False if not seen."""
    signs = signs or {}
    for _, where in value.terms:
        for sign, polynomial in where:
            return all(
                never_negative(
                    value.given((sign, polynomial), holds),
                    signs | ({polynomial: 2 * holds - 1} if sign == "+" else {}),
                )
                for holds in (True, False)
            )
    match list(value.terms.items()):
        case [((under, _), factor), ((other_under, _), other)]:
            both = _sign(value.field, factor, signs), _sign(value.field, other, signs)
            if 0 in both or both == (-1, -1):
                return False
            gap = factor * factor * under - other * other * other_under
            return both == (1, 1) or not gap or _sign(value.field, gap, signs) == both[0]
    return all(_sign(value.field, factor, signs) == 1 for factor in value.terms.values())


def _sign(field: SymbolicField, quotient: RationalFunction, signs: Signs) -> int:
    """1 where the rational function is never negative, -1 where it is never positive, 0 where that is not seen."""
    above = quotient.numer
    if has_positive_coefficients(quotient.denom):
        if has_positive_coefficients(above):
            return 1
        if has_positive_coefficients(-above):
            return -1
    constant, powers = field.factors(quotient)
    sign = 1 if constant > 0 else -1
    for factor, power in powers.items():
        if power % 2 and not has_positive_coefficients(factor):
            sign *= signs.get(factor, 0)
    return sign


def never_zero(value: SymbolicSum) -> bool:
    """Whether the sum is above 0 for all variables, by the signs of its coefficients."""
    for _, where in value.terms:
        for indicator in where:
            return all(never_zero(value.given(indicator, holds)) for holds in (True, False))
    return bool(value.terms) and all(
        all(map(has_positive_coefficients, (factor.numer, factor.denom, under)))
        for (under, _), factor in value.terms.items()
    )


def is_positive(value: SymbolicSum) -> bool:
    """Whether the sum is above 0 for all variables, by signs or as the larger of two roots is of the positive one."""
    if never_zero(value):
        return True
    match list(value.terms.items()):
        case [((under, where), factor), ((other_under, other_where), other)] if not (where or other_where):
            larger = factor * factor * under - other * other * other_under
            return any(
                _sign(value.field, part, {}) == 1 and _is_above_zero(gap)
                for part, gap in ((factor, larger), (other, -larger))
            )
    return False


def _is_above_zero(quotient: RationalFunction) -> bool:
    return bool(quotient) and has_positive_coefficients(quotient.numer) and has_positive_coefficients(quotient.denom)


def keeps_off_zero(value: SymbolicSum) -> bool:
    """Whether the sum is above 0 for all variables, or below for all."""
    return never_zero(value) or never_zero(-value)


def is_smooth(value: SymbolicSum) -> bool:
    """Whether the sum is continuous for all variables: no indicators, no denominator and no root that may be 0."""
    return all(
        not where and has_positive_coefficients(under) and has_positive_coefficients(factor.denom)
        for (under, where), factor in value.terms.items()
    )


# ---------------------------------------------------------------- symbolic sums
# What is computed from positive numbers that are not known, so that a law can be proved for all.
#
# A sum is of terms, each a rational function times the root of a polynomial times indicators of where a polynomial is
# positive or zero. Sums that are equal as written so are equal everywhere.


_LARGEST = 20_000  # terms of a product beyond which a proof is given up
LONGEST = 20.0  # seconds of the processor for all proofs about a metric; the slowest of the catalogue takes 12
Indicator = tuple[str, Polynomial]  # ("+", p) is 1 where p is positive, ("0", p) where it is zero
TermKey = tuple[Polynomial, frozenset[Indicator]]  # what stands under the root, and the indicators


class Unprovable(Exception):
    """The algebra here does not reach so far, or not in time; that says nothing about the law."""


def is_available() -> bool:
    """Whether sympy is installed; without it nothing is proved, and laws are searched alone."""
    return find_spec("sympy") is not None


class SymbolicField:
    """The rational functions of some variables, each a positive number, and a time by which proofs must be done."""

    def __init__(self, names: Sequence[str], seconds: float = LONGEST) -> None:
        self.rational: Any = import_module("sympy").QQ
        self.sympy_field, *generators = import_module("sympy.polys.fields").field(list(names), self.rational)
        self.one: Polynomial = self.sympy_field.ring.one
        self.until = time.thread_time() + seconds
        self.variables = [self.number(generator) for generator in generators]

    def number(self, value: float | Fraction | Polynomial | RationalFunction) -> SymbolicSum:
        """A constant or a rational function as a sum of one term."""
        return SymbolicSum(self, {(self.one, frozenset()): self.function(value)})

    def function(self, value: float | Fraction | Polynomial | RationalFunction) -> RationalFunction:
        """A constant or a polynomial as a rational function."""
        value = self.rational(value.numerator, value.denominator) if isinstance(value, Fraction) else value
        function: RationalFunction = self.sympy_field(value)
        return function

    def check(self, *functions: RationalFunction) -> None:
        """Give up where time or size run out."""
        size = math.prod(len(function.numer) + len(function.denom) for function in functions)
        if size > _LARGEST or time.thread_time() > self.until:
            raise Unprovable

    def factors(self, function: RationalFunction) -> tuple[Fraction, dict[Polynomial, int]]:
        """The factors of a rational function, where there is time for them."""
        self.check(self.function(function.numer), self.function(function.denom))
        return factors(function)


class SymbolicSum:
    """A sum of terms: rational function, root and indicators."""

    __slots__ = ("field", "terms")

    def __init__(self, field: SymbolicField, terms: dict[TermKey, RationalFunction]) -> None:
        self.field = field
        self.terms = {key: factor for key, factor in terms.items() if not _vanishes(key, factor)}

    def __add__(self, other: SymbolicSum | Fraction) -> SymbolicSum:
        terms = dict(self.terms)
        for key, factor in self._lifted(other).terms.items():
            if key in terms:
                self.field.check(terms[key], factor)
            terms[key] = terms[key] + factor if key in terms else factor
        return SymbolicSum(self.field, terms)

    def __neg__(self) -> SymbolicSum:
        return SymbolicSum(self.field, {key: -factor for key, factor in self.terms.items()})

    def __sub__(self, other: SymbolicSum | Fraction) -> SymbolicSum:
        return self + -other

    def _lifted(self, other: SymbolicSum | Fraction) -> SymbolicSum:
        return other if isinstance(other, SymbolicSum) else self.field.number(other)

    def __mul__(self, other: SymbolicSum | Fraction) -> SymbolicSum:
        product, other = SymbolicSum(self.field, {}), self._lifted(other)
        for (under, where), factor in self.terms.items():
            for (other_under, other_where), other_factor in other.terms.items():
                self.field.check(factor, other_factor)
                shared = under.gcd(other_under)
                rest = under.quo(shared) * other_under.quo(shared)
                term = SymbolicSum(self.field, {(rest, where | other_where): factor * other_factor})
                product += term if shared == self.field.one else term * magnitude(self.field.number(shared))
        return product

    def __truediv__(self, other: SymbolicSum) -> SymbolicSum:
        return self * other.inverse()

    def inverse(self) -> SymbolicSum:
        """One over the sum; undefined branches and sums of several roots are not reached."""
        for _, where in self.terms:
            for indicator in where:
                return self._inverse_by_case(indicator)
        roots = {under for under, _ in self.terms}
        if len(roots) == 1:
            ((under, where), factor), *_ = self.terms.items()
            return SymbolicSum(self.field, {(under, where): 1 / (factor * under)})
        if len(roots) == 2 and self.field.one in roots:
            signs = {key: 1 if key[0] == self.field.one else -1 for key in self.terms}
            conjugate = SymbolicSum(self.field, {key: signs[key] * factor for key, factor in self.terms.items()})
            return conjugate * (self * conjugate).inverse()
        raise Unprovable

    def _inverse_by_case(self, indicator: Indicator) -> SymbolicSum:
        inside, outside = (self.given(indicator, holds) for holds in (True, False))
        if not inside.terms or not outside.terms:
            raise Unprovable
        here = indicator_sum(self.field, indicator)
        return here * inside.inverse() + (self.field.number(1) - here) * outside.inverse()

    def given(self, indicator: Indicator, holds: bool) -> SymbolicSum:
        """The sum where the indicator is 1, or where it is 0."""
        remaining = SymbolicSum(self.field, {})
        for (under, where), factor in self.terms.items():
            if holds or indicator not in where:
                remaining += SymbolicSum(self.field, {(under, where - {indicator}): factor})
        return remaining

    def constant(self) -> Fraction | None:
        """The number that this is, if it is one."""
        if not self.terms:
            return Fraction(0)
        (key, factor), *more = self.terms.items()
        plain = not more and key == (self.field.one, frozenset()) and factor.numer.is_ground and factor.denom.is_ground
        return Fraction(int(factor.numer.LC), 1) / Fraction(int(factor.denom.LC), 1) if plain else None

    def derivative(self, variable: SymbolicSum) -> SymbolicSum:
        """The derivative by a variable, where there are no indicators."""
        ((_, generator),) = variable.terms.items()
        terms = {}
        for (under, where), factor in self.terms.items():
            if where:
                raise Unprovable
            root = self.field.function(under)
            self.field.check(factor, root)
            terms[under, where] = factor.diff(generator) + factor * root.diff(generator) / (2 * root)
        return SymbolicSum(self.field, terms)


def _vanishes(key: TermKey, factor: RationalFunction) -> bool:
    where = dict.fromkeys(polynomial for _, polynomial in key[1])
    if not factor or len(where) < len(key[1]):  # 0, or a polynomial that would be positive and zero at once
        return True
    return any(sign == "0" and not factor.numer.rem(polynomial) for sign, polynomial in key[1])


# ---------------------------------------------------------------- roots and indicators


def square_root(value: SymbolicSum) -> SymbolicSum:
    """The square root of a single term without a root of its own."""
    if not value.terms:
        return value
    field = value.field
    ((under, where), quotient), *more = value.terms.items()
    if more or under != field.one:
        raise Unprovable
    constant, powers = field.factors(quotient)
    whole, rest = _square_part(constant.numerator * constant.denominator)
    outside = field.number(field.function(Fraction(whole, constant.denominator)) / field.function(quotient.denom))
    inside = field.one * rest
    for factor, power in powers.items():
        inside *= factor ** (power % 2)
        for _ in range(power // 2):
            outside *= magnitude(field.number(factor))
    return magnitude(outside) * SymbolicSum(field, {(inside, where): field.function(1)})


def _square_part(number: int) -> tuple[int, int]:
    """The largest d with d * d in the number, and what is left."""
    whole, rest = 1, -1 if number < 0 else 1
    for prime, power in import_module("sympy").factorint(abs(number)).items():
        whole, rest = whole * prime ** (power // 2), rest * prime ** (power % 2)
    return whole, rest


def magnitude(value: SymbolicSum) -> SymbolicSum:
    """The absolute value of a single term."""
    if not value.terms:
        return value
    if len(value.terms) > 1:
        raise Unprovable
    ((_, factor),) = value.terms.items()
    positive = comparison_indicator(">", value.field.number(factor))
    return value * (positive + positive - value.field.number(1))


def comparison_indicator(sign: str, gap: SymbolicSum) -> SymbolicSum:
    """1 where the comparison of a rational function with 0 holds, else 0."""
    one = gap.field.number(1)
    positive, zero = gap.field.number(0), one
    if gap.terms:
        ((under, where), quotient), *more = gap.terms.items()
        if more or where or (under != gap.field.one and not has_positive_coefficients(under)):
            raise Unprovable
        positive, zero = _signs(gap.field, quotient)
    by_sign = {"==": zero, "!=": one - zero, ">": positive, ">=": positive + zero}
    return by_sign[sign] if sign in by_sign else one - (positive + zero if sign == "<" else positive)


def _signs(field: SymbolicField, quotient: RationalFunction) -> tuple[SymbolicSum, SymbolicSum]:
    """Where a rational function is positive, and where it is zero."""
    if has_positive_coefficients(quotient.numer) and has_positive_coefficients(quotient.denom):
        return field.number(1), field.number(0)
    constant, powers = field.factors(quotient)
    undecided = {factor: power for factor, power in powers.items() if not has_positive_coefficients(factor)}
    if not has_positive_coefficients(quotient.denom):  # the comparison may be undefined, which is not the same as false
        raise Unprovable
    if not undecided:
        return field.number(int(constant > 0)), field.number(0)
    product = field.one
    for factor, power in undecided.items():
        product *= factor**power
    above, at = (indicator_sum(field, (sign, product)) for sign in "+0")
    return above if constant > 0 else field.number(1) - above - at, at


def indicator_sum(field: SymbolicField, indicator: Indicator) -> SymbolicSum:
    """The indicator alone, as a sum."""
    return SymbolicSum(field, {(field.one, frozenset([indicator])): field.function(1)})


# ---------------------------------------------------------------- symbolic values
# A formula over variables, for all tables at once.


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
