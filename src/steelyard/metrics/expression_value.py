"""The value of an expression on other cells: floats, arrays, or exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from steelyard.metrics.expression import Expression, Named, Number, Operation, Ratio, Symbol, angle, ratio, sqrt, where

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard.metrics.expression import Operand
    from steelyard.tables.counts import Cells


def evaluate_expression(node: Expression, cells: Cells) -> Any:
    """The expression on other cells: floats, arrays, or exact fractions."""
    match node:
        case Symbol(name=name):
            return getattr(cells, name)
        case Number(value=value):
            return _constant(value, cells.tp)
        case Named(inner=inner):
            return evaluate_expression(inner, cells)
        case Ratio(above=above, below=below, limit=limit):
            return _ratio(evaluate_expression(above, cells), evaluate_expression(below, cells), limit)
        case Operation(sign="where", args=(condition, then, otherwise)) if isinstance(cells.tp, Fraction):
            return evaluate_expression(then if evaluate_expression(condition, cells) else otherwise, cells)
        case Operation(sign=sign, args=args):
            return _OPERATE[sign](*(evaluate_expression(arg, cells) for arg in args))
    raise TypeError(f"{node!r} is no expression.")


def _constant(value: float, like: object) -> float | Fraction:
    # A decimal such as 0.05 means 1/20 in exact arithmetic, not the nearest binary float.
    return Fraction(repr(value)) if isinstance(like, Fraction) else value


def _ratio(above: Operand, below: Operand, limit: float | None) -> Any:
    if not isinstance(below, Fraction):
        return ratio(above, below, limit=limit)
    if isinstance(above, Fraction) and below:
        return above / below
    return Fraction(repr(float(limit))) if above == 0 and below == 0 and limit is not None else math.nan


_OPERATE: dict[str, Callable[..., Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "**": lambda a, b: a**b,
    "neg": lambda a: -a,
    "abs": abs,
    "sqrt": sqrt,
    "angle": angle,
    "where": where,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
