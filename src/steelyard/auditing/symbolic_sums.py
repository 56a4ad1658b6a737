"""Symbolic sums: what is computed from positive numbers that are not known, so that a law can be proved for all.

A sum is of terms, each a rational function times the root of a polynomial times indicators of where a polynomial is
positive or zero. Sums that are equal as written so are equal everywhere.
"""

from __future__ import annotations

import math
import time
from fractions import Fraction
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from steelyard.auditing.polynomials import Polynomial, RationalFunction, factors, has_positive_coefficients

if TYPE_CHECKING:
    from collections.abc import Sequence

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
