"""The denominator: of how many rows a result speaks, chosen once and the same in all its sentences and pictures."""

from __future__ import annotations

import math

FEW_ROWS = 1_000  # up to so many a result speaks of the rows themselves
_EXPECTED = 10  # rows of the rarer class
_HALF = 1e-9  # by which a half may be off and is rounded upwards


def denominator(share: float, rows: int | None = None) -> int:
    """All rows where there are 1,000 or fewer, else the first power of ten from 1,000 that has ten of the rarer class.

    `rows` are the rows that were evaluated, None where they are read at another prevalence or by weight; `share` is
    the share that is positive where the result is read.

    >>> denominator(0.3, 640), denominator(0.018, 2_803), denominator(0.0017, 284_807), denominator(0.0017)
    (640, 1000, 10000, 10000)
    """
    if rows is not None and rows <= FEW_ROWS:
        return rows
    rarer = min(share, 1 - share)
    base = FEW_ROWS
    while rarer > 0 and rarer * base < _EXPECTED * (1 - 1e-9) and base < 10**9:  # 0.0001 of 100,000 are ten
        base *= 10
    return base


def whole_rows(number: float) -> int:
    """The nearest whole number of rows, halves upwards whatever their rounding, as all sentences and tables have it.

    >>> whole_rows(68.5), whole_rows(0.3), whole_rows(2.4999999999999)
    (69, 0, 3)
    """
    return math.floor(number + 0.5 + _HALF)
