"""Angles: the angle of a cosine as a share of a half turn, exact where it is known to be a fraction."""

from __future__ import annotations

from decimal import Context, Decimal, localcontext
from fractions import Fraction

_HALVINGS = 60  # after so many an angle is so small that two terms of its series leave nothing of 100 digits
_EXACT = {1: Fraction(0), 0: Fraction(1, 2), -1: Fraction(1)}


def angle_share(cosine: Decimal, digits: Context, noise: Decimal) -> Fraction | Decimal | None:
    """The arc cosine over pi.

    >>> angle_share(Decimal("0.5"), Context(prec=20), Decimal("1e-18")).quantize(Decimal("1e-15"))
    Decimal('0.333333333333333')
    """
    for known, share in _EXACT.items():
        if abs(cosine - known) <= noise:
            return share
    if abs(cosine) > 1:
        return None
    with localcontext(digits) as more:
        more.prec += 10
        turned = _arc_tangent(((1 - cosine) / (1 + cosine)).sqrt()) / (2 * _arc_tangent(Decimal(1)))
    return digits.plus(turned)


def _arc_tangent(tangent: Decimal) -> Decimal:
    for _ in range(_HALVINGS):
        tangent /= 1 + (1 + tangent**2).sqrt()
    return Decimal(2**_HALVINGS) * (tangent - tangent**3 / 3 + tangent**5 / 5)
