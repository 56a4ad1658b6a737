"""Polynomials: what is used of sympy's polynomials and rational functions, their factors, and a test of their sign."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable


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
