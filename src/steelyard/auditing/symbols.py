"""Letters: positive numbers that are not known, and what is computed from them; the one place that knows sympy.

What is computed is a sum of terms, each a rational function times the root of a polynomial times indicators of where a
polynomial is positive or zero. Sums that are equal as written so are equal everywhere. Used by the audit's algebra.
"""

from __future__ import annotations

import math
import time
from fractions import Fraction
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

_LARGEST = 20_000  # terms of a product beyond which a proof is given up
LONGEST = 20.0  # seconds of the processor for all proofs about a metric; the slowest of the catalogue takes 12
Key = tuple[Any, frozenset[tuple[str, Any]]]  # what stands under the root, and the indicators ("+", p), ("0", p)


class Unprovable(Exception):
    """The algebra here does not reach so far, or not in time; that says nothing about the claim."""


def is_available() -> bool:
    """Whether sympy is installed; without it nothing is proved, and claims are searched alone."""
    return find_spec("sympy") is not None


class Letters:
    """The rational functions of some letters, each a positive number, and a time by which proofs must be done."""

    def __init__(self, names: Sequence[str], seconds: float = LONGEST) -> None:
        self.rational: Any = import_module("sympy").QQ
        self.field, *generators = import_module("sympy.polys.fields").field(list(names), self.rational)
        self.one = self.field.ring.one
        self.until = time.thread_time() + seconds
        self.letters = [self.number(generator) for generator in generators]

    def number(self, value: Any) -> Sum:
        """A constant or a rational function as a sum of one term."""
        value = self.rational(value.numerator, value.denominator) if isinstance(value, Fraction) else value
        return Sum(self, {(self.one, frozenset()): self.field(value)})

    def check(self, *parts: Any) -> None:
        """Give up where time or size run out."""
        size = math.prod(len(part.numer) + len(part.denom) for part in parts)
        if size > _LARGEST or time.thread_time() > self.until:
            raise Unprovable


class Sum:
    """A sum of terms: rational function, root and indicators."""

    __slots__ = ("over", "terms")

    def __init__(self, over: Letters, terms: dict[Key, Any]) -> None:
        self.over = over
        self.terms = {key: part for key, part in terms.items() if not _vanishes(key, part)}

    def __add__(self, other: Sum | Fraction) -> Sum:
        terms = dict(self.terms)
        for key, part in self._lifted(other).terms.items():
            if key in terms:
                self.over.check(terms[key], part)
            terms[key] = terms[key] + part if key in terms else part
        return Sum(self.over, terms)

    def __neg__(self) -> Sum:
        return Sum(self.over, {key: -part for key, part in self.terms.items()})

    def __sub__(self, other: Sum | Fraction) -> Sum:
        return self + -other

    def _lifted(self, other: Sum | Fraction) -> Sum:
        return other if isinstance(other, Sum) else self.over.number(other)

    def __mul__(self, other: Sum | Fraction) -> Sum:
        total, other = Sum(self.over, {}), self._lifted(other)
        for (under, where), part in self.terms.items():
            for (other_under, other_where), other_part in other.terms.items():
                self.over.check(part, other_part)
                shared = under.gcd(other_under)
                rest = under.quo(shared) * other_under.quo(shared)
                term = Sum(self.over, {(rest, where | other_where): part * other_part})
                total += term if shared == self.over.one else term._times_size(shared)
        return total

    def _times_size(self, shared: Any) -> Sum:
        return self * magnitude(self.over.number(self.over.field(shared)))

    def __truediv__(self, other: Sum) -> Sum:
        return self * other.inverse()

    def inverse(self) -> Sum:
        """One over the sum; undefined branches and sums of several roots are not reached."""
        for _, where in self.terms:
            for indicator in where:
                return self._inverse_by_case(indicator)
        roots = {under for under, _ in self.terms}
        if len(roots) == 1:
            ((under, where), part), *_ = self.terms.items()
            return Sum(self.over, {(under, where): 1 / (part * under)})
        if len(roots) == 2 and self.over.one in roots:
            conjugate = Sum(
                self.over, {key: part if key[0] == self.over.one else -part for key, part in self.terms.items()}
            )
            return conjugate * (self * conjugate).inverse()
        raise Unprovable

    def _inverse_by_case(self, indicator: tuple[str, Any]) -> Sum:
        inside, outside = (self.given(indicator, holds) for holds in (True, False))
        if not inside.terms or not outside.terms:
            raise Unprovable
        here = Sum(self.over, {(self.over.one, frozenset([indicator])): self.over.field(1)})
        return here * inside.inverse() + (self.over.number(1) - here) * outside.inverse()

    def given(self, indicator: tuple[str, Any], holds: bool) -> Sum:
        """The sum where the indicator is 1, or where it is 0."""
        total = Sum(self.over, {})
        for (under, where), part in self.terms.items():
            if holds or indicator not in where:
                total += Sum(self.over, {(under, where - {indicator}): part})
        return total

    def constant(self) -> Fraction | None:
        """The number that this is, if it is one."""
        if not self.terms:
            return Fraction(0)
        (key, part), *more = self.terms.items()
        plain = not more and key == (self.over.one, frozenset()) and part.numer.is_ground and part.denom.is_ground
        return Fraction(int(part.numer.LC), 1) / Fraction(int(part.denom.LC), 1) if plain else None

    def slope(self, letter: Sum) -> Sum:
        """The derivative by a letter, where there are no indicators."""
        ((_, generator),) = letter.terms.items()
        terms = {}
        for (under, where), part in self.terms.items():
            if where:
                raise Unprovable
            root = self.over.field(under)
            self.over.check(part, root)
            terms[under, where] = part.diff(generator) + part * root.diff(generator) / (2 * root)
        return Sum(self.over, terms)


def _vanishes(key: Key, part: Any) -> bool:
    where = dict.fromkeys(p for _, p in key[1])
    if not part or len(where) < len(key[1]):  # 0, or a polynomial that would be positive and zero at once
        return True
    return any(sign == "0" and not part.numer.rem(p) for sign, p in key[1])


# ---------------------------------------------------------------- roots and indicators


def root(value: Sum) -> Sum:
    """The square root of a single term without a root of its own."""
    if not value.terms:
        return value
    ((under, where), part), *more = value.terms.items()
    if more or under != value.over.one:
        raise Unprovable
    over = value.over
    constant, parts = factors(over, part)
    whole, rest = _square_part(constant.numerator * constant.denominator)
    outside = over.number(over.field(over.rational(whole, constant.denominator)) / over.field(part.denom))
    inside = over.one * rest
    for factor, times in parts.items():
        inside *= factor ** (times % 2)
        for _ in range(times // 2):
            outside *= magnitude(over.number(over.field(factor)))
    return magnitude(outside) * Sum(over, {(inside, where): over.field(1)})


def _square_part(number: int) -> tuple[int, int]:
    """The largest d with d * d in the number, and what is left."""
    whole, rest = 1, -1 if number < 0 else 1
    for prime, times in import_module("sympy").factorint(abs(number)).items():
        whole, rest = whole * prime ** (times // 2), rest * prime ** (times % 2)
    return whole, rest


def magnitude(value: Sum) -> Sum:
    """The absolute value of a single term."""
    if not value.terms:
        return value
    if len(value.terms) > 1:
        raise Unprovable
    ((_, part),) = value.terms.items()
    sign = indicator(">", value.over.number(part))
    return value * (sign + sign - value.over.number(1))


def indicator(sign: str, gap: Sum) -> Sum:
    """1 where the comparison of a rational function with 0 holds, else 0."""
    over, one, none = gap.over, gap.over.number(1), gap.over.number(0)
    positive, zero = none, one
    if gap.terms:
        ((under, where), part), *more = gap.terms.items()
        if more or where or (under != over.one and not is_positive(under)):
            raise Unprovable
        positive, zero = _signs(over, part)
    by_sign = {"==": zero, "!=": one - zero, ">": positive, ">=": positive + zero}
    return by_sign[sign] if sign in by_sign else one - (positive + zero if sign == "<" else positive)


def _signs(over: Letters, part: Any) -> tuple[Sum, Sum]:
    """Where a rational function is positive, and where it is zero."""
    if is_positive(part.numer) and is_positive(part.denom):
        return over.number(1), over.number(0)
    constant, parts = factors(over, part)
    open_parts = [(factor, times) for factor, times in parts.items() if not is_positive(factor)]
    if not is_positive(part.denom):  # the comparison may be undefined, which is not the same as false
        raise Unprovable
    if not open_parts:
        return over.number(int(constant > 0)), over.number(0)
    poly = over.one
    for factor, times in open_parts:
        poly *= factor**times
    above, at = (Sum(over, {(over.one, frozenset([(sign, poly)])): over.field(1)}) for sign in "+0")
    return above if constant > 0 else over.number(1) - above - at, at


# ---------------------------------------------------------------- factors


def factors(over: Letters, part: Any) -> tuple[Fraction, dict[Any, int]]:
    """A constant and the factors of a rational function's upper times its lower side."""
    over.check(over.field(part.numer), over.field(part.denom))
    (above, parts), (below, more) = irreducible(part.numer), irreducible(part.denom)
    found = dict(parts)
    for factor, times in more:
        found[factor] = found.get(factor, 0) + times
    return above * below, found


@lru_cache(maxsize=4096)
def irreducible(poly: Any) -> tuple[Fraction, list[tuple[Any, int]]]:
    """A constant and the irreducible factors, each with whole coefficients and the first of them positive."""
    constant, found = poly.factor_list()
    total, parts = Fraction(int(constant.numerator), int(constant.denominator)), []
    for part, times in found:
        content, primitive = part.primitive()
        sign = -1 if primitive.LC < 0 else 1
        total *= (sign * Fraction(int(content.numerator), int(content.denominator))) ** times
        parts.append((primitive * sign, times))
    return total, parts


def is_positive(poly: Any) -> bool:
    """Whether no coefficient is negative, so that positive letters make it positive; sufficient, not necessary."""
    return all(coefficient > 0 for coefficient in poly.coeffs())
