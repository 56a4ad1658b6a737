"""Finite numbers of frames, recognised by comparisons alone, which every engine has, and counted."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import narwhals as nw


def is_finite(value: nw.Expr) -> nw.Expr:
    """Whether a number is finite; SQLite has no function for it, and NaN is above every number, or none."""
    return value.abs() <= sys.float_info.max


def is_infinite(value: nw.Expr) -> nw.Expr:
    """Whether a number is infinite, of either sign."""
    return value.abs() == math.inf


def is_number(column: nw.Expr) -> nw.Expr:
    """Whether a column of numbers holds one: neither nothing nor NaN."""
    import narwhals as nw

    value = column.cast(nw.Float64)
    return ~column.is_null() & (is_finite(value) | is_infinite(value))


def as_number(condition: nw.Expr) -> nw.Expr:
    """1 where a condition holds and 0 elsewhere; PostgreSQL casts no truth value to a number of 64 bits."""
    import narwhals as nw

    return nw.when(condition).then(nw.lit(1, dtype=nw.Int64)).otherwise(nw.lit(0, dtype=nw.Int64))
