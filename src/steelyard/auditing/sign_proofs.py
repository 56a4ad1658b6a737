"""Sign proofs: what follows for all tables from the signs of a symbolic sum's terms; what is not seen is not false."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.auditing.polynomials import has_positive_coefficients

if TYPE_CHECKING:
    from steelyard.auditing.polynomials import Polynomial, RationalFunction
    from steelyard.auditing.symbolic_sums import SymbolicField, SymbolicSum

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
