"""Exact values: a metric's formula as steps, and its value on a table as a fraction, or to 60 digits past a root."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from steelyard.metrics.expression import Expression, Named, Number, Operation, Ratio, Symbol, as_expression, trace
from steelyard.tables.counts import CELLS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from steelyard.metrics.measure import Metric


# ---------------------------------------------------------------- angles
# The angle of a cosine as a share of a half turn, exact where it is known to be a fraction.


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


# ---------------------------------------------------------------- exact values


Value = Fraction | Decimal
StepResult = Fraction | Decimal | bool | None  # of one step: comparisons are true or false, None is undefined
_Operand = TypeVar("_Operand")
_DIGITS = Context(prec=60)
NOISE = Decimal("1e-50")  # roots carry 60 digits; what differs by less is equal


@dataclass(frozen=True)
class Step:
    """One operation on the results of earlier steps; `constant` is a number, or the limit of a ratio."""

    sign: str
    inputs: tuple[int, ...] = ()
    constant: Fraction | None = None
    cell: str = ""


class ExactFormula:
    """A metric's formula in steps, what occurs twice computed once."""

    def __init__(self, node: Expression) -> None:
        self.node = node

    @cached_property
    def steps(self) -> list[Step]:
        """The formula's operations in order."""
        return _program(self.node)

    @cached_property
    def constants(self) -> dict[int, StepResult]:
        """What the steps give that hold no cell."""
        results: dict[int, StepResult] = {}
        for at, step in enumerate(self.steps):
            if step.sign != "cell" and all(i in results for i in step.inputs):
                results[at] = _result(step, [results[i] for i in _needed(step, results)])
        return results

    def value(self, table: Sequence[int | Fraction]) -> Value | None:
        """The value on one table: a fraction, or 60 digits where a root is none; None where undefined."""
        value = self._last_result(dict(zip(CELLS, map(Fraction, table), strict=True)))
        return Fraction(value) if isinstance(value, bool) else value

    def _last_result(self, cells: dict[str, Fraction]) -> StepResult:
        """The value of the last step, computed without the branches that are not taken."""
        done = dict(self.constants)
        pending = [len(self.steps) - 1]
        while pending:
            step = self.steps[pending[-1]]
            needed = _needed(step, done)
            missing = [i for i in needed if i not in done]
            if missing:
                pending += missing
            else:
                done[pending.pop()] = (
                    cells[step.cell] if step.sign == "cell" else _result(step, [done[i] for i in needed])
                )
        return done[len(self.steps) - 1]

    def run(self, cells: Sequence[_Operand], operate: Callable[[Step, list[Any]], _Operand | None]) -> _Operand | None:
        """The value of the last step; None is undefined and spreads, but not from the branch that is not taken."""
        by_name = dict(zip(CELLS, cells, strict=True))
        done: list[_Operand | None] = []
        for step in self.steps:
            inputs = [done[i] for i in step.inputs]
            if step.sign == "cell":
                done.append(by_name[step.cell])
            elif step.sign != "where" and any(value is None for value in inputs):
                done.append(None)
            else:
                done.append(operate(step, inputs))
        return done[-1]


def _needed(step: Step, done: dict[int, StepResult]) -> tuple[int, ...]:
    """The steps that this one needs; of a choice the condition, and once that is known the branch that is taken."""
    if step.sign != "where":
        return step.inputs
    condition, then, otherwise = step.inputs
    return (condition, then if done[condition] else otherwise) if condition in done else (condition,)


def _result(step: Step, inputs: list[StepResult]) -> StepResult:
    """What a step gives; None is undefined and spreads, but as a condition it is one that does not hold."""
    if step.sign == "where":
        return inputs[-1]
    return None if any(value is None for value in inputs) else _compute(step, inputs)


def _program(node: Expression) -> list[Step]:
    """The expression as steps, what occurs twice computed once."""
    steps: dict[Step, int] = {}

    def place(node: Expression) -> int:
        match node:
            case Named(inner=inner):
                return place(inner)
            case Symbol(name=name):
                step = Step("cell", cell=name)
            case Number(value=value):
                step = Step("number", constant=_fraction(value))
            case Ratio(above=above, below=below, limit=limit):
                step = Step("ratio", (place(above), place(below)), None if limit is None else _fraction(limit))
            case Operation(sign=sign, args=args):
                step = Step(sign, tuple(map(place, args)))
            case _:
                raise TypeError(f"{node!r} is no expression.")
        return steps.setdefault(step, len(steps))

    place(node)
    return list(steps)


def _fraction(value: float) -> Fraction | None:
    # A decimal such as 0.05 means 1/20, not the nearest binary float.
    return Fraction(repr(float(value))) if math.isfinite(value) else None


@lru_cache(maxsize=512)
def exact_expression(metric: Metric) -> Expression | None:
    """The formula with its parameters as nodes, lest rho ** 3 be rounded before it is a fraction; None if opaque."""
    if metric.function is None:
        return None
    nodes = {
        key: as_expression(value) if isinstance(value, float) else value for key, value in metric.parameters.items()
    }
    try:
        with_nodes, usual = trace(metric.function, nodes), metric.expression
    except Exception:  # noqa: BLE001 - a user's function may raise anything; on tables it will be reported
        return None
    return usual if with_nodes is None else with_nodes


# ---------------------------------------------------------------- arithmetic


def difference(a: Value, b: Value) -> Value:
    """The first less the second; 0 where only the noise of roots is left."""
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a - b
    x, y = _decimal(a), _decimal(b)
    gap = _DIGITS.subtract(x, y)
    return Fraction(0) if abs(gap) <= NOISE * max(Decimal(1), abs(x), abs(y)) else gap


def _compute(step: Step, inputs: list[Any]) -> StepResult:
    match step.sign, inputs:
        case "number", _:
            return step.constant
        case (("ratio" | "/"), (above, below)):
            return _quotient(above, below, step.constant)
        case "+", (a, b):
            return _mixed(a, b, Fraction.__add__, _DIGITS.add)
        case "-", (a, b):
            return difference(a, b)
        case "*", (a, b):
            return _mixed(a, b, Fraction.__mul__, _DIGITS.multiply)
        case "**", (base, power):
            return _power(base, power)
        case "neg", (a,):  # -a would round a decimal to the 28 digits of Python's own context
            return -a if isinstance(a, Fraction) else a.copy_negate()
        case "abs", (a,):
            return abs(a) if isinstance(a, Fraction) else a.copy_abs()
        case "sqrt", (a,):
            return _root(a)
        case "angle", (a, _):
            return angle_share(_decimal(a), _DIGITS, NOISE)
        case sign, (a, b):
            return _HOLDS[sign](difference(a, b))
    raise TypeError(f"{step.sign} is no operation of a formula.")


def _quotient(above: Value, below: Value, limit: Fraction | None) -> Value | None:
    if _is_zero(below):
        return limit if _is_zero(above) else None
    return _mixed(above, below, Fraction.__truediv__, _DIGITS.divide)


_HOLDS: dict[str, Callable[[Value], bool]] = {
    "==": lambda gap: gap == 0,
    "!=": lambda gap: gap != 0,
    "<": lambda gap: gap < 0,
    "<=": lambda gap: gap <= 0,
    ">": lambda gap: gap > 0,
    ">=": lambda gap: gap >= 0,
}


def _mixed(
    a: Value,
    b: Value,
    of_fractions: Callable[[Fraction, Fraction], Fraction],
    of_decimals: Callable[[Decimal, Decimal], Decimal],
) -> Value:
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return of_fractions(a, b)
    return of_decimals(_decimal(a), _decimal(b))


def _decimal(value: Value) -> Decimal:
    if isinstance(value, Decimal):
        return value
    return _DIGITS.divide(Decimal(value.numerator), Decimal(value.denominator))


def _is_zero(value: Value) -> bool:
    return value == 0 if isinstance(value, Fraction) else abs(value) <= NOISE


def _root(value: Value) -> Value | None:
    if _is_zero(value) or value < 0:
        return Fraction(0) if _is_zero(value) else None
    if isinstance(value, Fraction):
        above, below = math.isqrt(value.numerator), math.isqrt(value.denominator)
        if above**2 == value.numerator and below**2 == value.denominator:
            return Fraction(above, below)
    return _DIGITS.sqrt(_decimal(value))


def _power(base: Value, power: Value) -> Value | None:
    if power == Fraction(1, 2):
        return _root(base)
    if isinstance(power, Fraction) and power.denominator == 1 and isinstance(base, Fraction):
        return None if base == 0 and power < 0 else base**power.numerator
    if base <= 0:
        return Fraction(0) if base == 0 < power else None
    return _DIGITS.power(_decimal(base), _decimal(power))
