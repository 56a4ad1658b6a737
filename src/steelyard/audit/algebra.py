"""Algebra: a formula in exact numbers, and over letters, where sympy proves what holds for every table.

Used by the audit alone; the one place that knows sympy. Letters stand for positive numbers. A formula over them is a
sum of terms, each a rational function times the root of a polynomial times indicators of where a polynomial is positive
or zero: `sqrt` adds roots, `where` and `abs` add indicators. Sums that are equal as written so are equal everywhere.
"""

from __future__ import annotations

import itertools
import math
import time
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from steelyard.metrics.expression import Expression, Named, Number, Operation, Ratio, Symbol, lift, trace
from steelyard.statistics.counts import CELLS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from steelyard.metrics.metric import Metric

Value = Fraction | Decimal
DIGITS = Context(prec=60)
NOISE = Decimal("1e-50")  # roots carry 60 digits; what differs by less is equal
LARGEST = 20_000  # terms of a product beyond which a proof is given up
LONGEST = 20.0  # seconds a proof may take; the slowest of the catalogue takes 2


class Unprovable(Exception):
    """The algebra here does not reach so far, or not in time; that says nothing about the claim."""


# ---------------------------------------------------------------- a formula as a list of steps


@dataclass(frozen=True)
class Step:
    """One operation on the results of earlier steps; `value` is a cell's name, a constant or a ratio's limit."""

    sign: str
    inputs: tuple[int, ...] = ()
    value: Any = None


def program(node: Expression) -> list[Step]:
    """The expression as steps, what occurs twice computed once."""
    steps: dict[Step, int] = {}

    def place(node: Expression) -> int:
        match node:
            case Named(inner=inner):
                return place(inner)
            case Symbol(name=name):
                step = Step("cell", value=name)
            case Number(value=value):
                step = Step("number", value=_fraction(value))
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
def exact_expression(measure: Metric) -> Expression | None:
    """The formula with its parameters as nodes, lest rho ** 3 be rounded before it is a fraction; None if opaque."""
    if measure.function is None:
        return None
    nodes = {key: lift(value) if isinstance(value, float) else value for key, value in measure.parameters.items()}
    try:
        found, usual = trace(measure.function, nodes), measure.expression
    except Exception:  # noqa: BLE001 - a user's function may raise anything; on tables it will be told
        return None
    return usual if found is None else found


def run(steps: Sequence[Step], cells: Sequence[Any], operate: Callable[[Step, list[Any]], Any]) -> Any:
    """The value of the last step; None is undefined and spreads, but not from the branch that is not taken."""
    by_name = dict(zip(CELLS, cells, strict=True))
    done: list[Any] = []
    for step in steps:
        inputs = [done[i] for i in step.inputs]
        if step.sign == "cell":
            done.append(by_name[step.value])
        elif step.sign != "where" and any(value is None for value in inputs):
            done.append(None)
        else:
            done.append(operate(step, inputs))
    return done[-1]


# ---------------------------------------------------------------- in numbers


def exact_value(steps: Sequence[Step], table: Sequence[Any]) -> Value | None:
    """The formula on one table: a fraction, or 60 digits where a root is none; None where undefined."""
    found: Value | None = run(steps, [Fraction(cell) for cell in table], _compute)
    return found


def difference(a: Value, b: Value) -> Value:
    """The first less the second; 0 where only the noise of roots is left."""
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a - b
    x, y = _decimal(a), _decimal(b)
    gap = DIGITS.subtract(x, y)
    return Fraction(0) if abs(gap) <= NOISE * max(Decimal(1), abs(x), abs(y)) else gap


def _compute(step: Step, inputs: list[Any]) -> Any:
    match step.sign, inputs:
        case "number", _:
            return step.value
        case "where", (condition, then, otherwise):
            return then if condition else otherwise
        case (("ratio" | "/"), (above, below)):
            if _is_zero(below):
                return step.value if _is_zero(above) else None
            return _mixed(above, below, Fraction.__truediv__, DIGITS.divide)
        case "+", (a, b):
            return _mixed(a, b, Fraction.__add__, DIGITS.add)
        case "-", (a, b):
            return difference(a, b)
        case "*", (a, b):
            return _mixed(a, b, Fraction.__mul__, DIGITS.multiply)
        case "**", (base, power):
            return _power(base, power)
        case "neg", (a,):  # -a would round a decimal to the 28 digits of Python's own context
            return -a if isinstance(a, Fraction) else a.copy_negate()
        case "abs", (a,):
            return abs(a) if isinstance(a, Fraction) else a.copy_abs()
        case "sqrt", (a,):
            return _root(a)
        case sign, (a, b):
            return _HOLDS[sign](difference(a, b))
    raise TypeError(f"{step.sign} is no operation of a formula.")


_HOLDS: dict[str, Callable[[Any], bool]] = {
    "==": lambda gap: gap == 0,
    "!=": lambda gap: gap != 0,
    "<": lambda gap: gap < 0,
    "<=": lambda gap: gap <= 0,
    ">": lambda gap: gap > 0,
    ">=": lambda gap: gap >= 0,
}


def _mixed(a: Any, b: Any, of_fractions: Callable[..., Any], of_decimals: Callable[..., Any]) -> Any:
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return of_fractions(a, b)
    return of_decimals(_decimal(a), _decimal(b))


def _decimal(value: Value) -> Decimal:
    if isinstance(value, Decimal):
        return value
    return DIGITS.divide(Decimal(value.numerator), Decimal(value.denominator))


def _is_zero(value: Value) -> bool:
    return value == 0 if isinstance(value, Fraction) else abs(value) <= NOISE


def _root(value: Value) -> Value | None:
    if _is_zero(value) or value < 0:
        return Fraction(0) if _is_zero(value) else None
    if isinstance(value, Fraction):
        above, below = math.isqrt(value.numerator), math.isqrt(value.denominator)
        if above**2 == value.numerator and below**2 == value.denominator:
            return Fraction(above, below)
    return DIGITS.sqrt(_decimal(value))


def _power(base: Value, power: Value) -> Value | None:
    if power == Fraction(1, 2):
        return _root(base)
    if isinstance(power, Fraction) and power.denominator == 1 and isinstance(base, Fraction):
        return None if base == 0 and power < 0 else base**power.numerator
    if base <= 0:
        return Fraction(0) if base == 0 < power else None
    return DIGITS.power(_decimal(base), _decimal(power))


# ---------------------------------------------------------------- over letters


def is_available() -> bool:
    """Whether sympy is installed; without it nothing is proved, and claims are searched alone."""
    return find_spec("sympy") is not None


class Letters:
    """The rational functions of some letters, each a positive number, and a time by which proofs must be done."""

    def __init__(self, names: Sequence[str], seconds: float = LONGEST) -> None:
        self.rational: Any = import_module("sympy").QQ
        self.field, *generators = import_module("sympy.polys.fields").field(list(names), self.rational)
        self.one = self.field.ring.one
        self.until = time.monotonic() + seconds
        self.letters = [self.number(generator) for generator in generators]

    def number(self, value: Any) -> Sum:
        """A constant or a rational function as a sum of one term."""
        value = self.rational(value.numerator, value.denominator) if isinstance(value, Fraction) else value
        return Sum(self, {(self.one, frozenset()): self.field(value)})

    def check(self, *parts: Any) -> None:
        """Give up where time or size run out."""
        size = math.prod(len(part.numer) + len(part.denom) for part in parts)
        if size > LARGEST or time.monotonic() > self.until:
            raise Unprovable


Key = tuple[Any, frozenset[tuple[str, Any]]]  # what stands under the root, and the indicators ("+", p), ("0", p)


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


def formula(steps: Sequence[Step], cells: Sequence[Sum]) -> Sum | None:
    """The formula over letters; None where it is undefined whatever they stand for."""
    found: Sum | None = run(steps, cells, lambda step, inputs: _derive(cells[0].over, step, inputs))
    return found


def _derive(over: Letters, step: Step, inputs: list[Any]) -> Any:
    match step.sign, inputs:
        case "number", _:
            return None if step.value is None else over.number(step.value)
        case "where", (condition, then, otherwise):
            return _branch(condition, then, otherwise)
        case (("ratio" | "/"), (above, below)):
            return above / below if below.terms else _by_limit(over, above, step.value)
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
            return root(a)
        case sign, (a, b):
            return _indicator(sign, a - b)
    raise TypeError(f"{step.sign} is no operation of a formula.")


def _by_limit(over: Letters, above: Sum, limit: Fraction | None) -> Sum | None:
    """What stands over a 0: undefined, or the limit where it is 0 as well."""
    if limit is None or not above.terms:
        return None if limit is None else over.number(limit)
    if not never_zero(above) and not never_zero(-above):
        raise Unprovable
    return None


def _branch(condition: Sum | None, then: Sum | None, otherwise: Sum | None) -> Sum | None:
    told = Fraction(0) if condition is None else condition.constant()
    if condition is None or told is not None:
        return then if told else otherwise
    if then is None and otherwise is None:
        return None
    if then is None or otherwise is None:
        raise Unprovable
    return otherwise + condition * (then - otherwise)


def _raised(base: Sum, power: Fraction | None) -> Sum | None:
    if power is None or power.denominator > 2 or abs(power) > 64:
        raise Unprovable
    if power < 0:
        raised = _raised(base, -power)
        return raised.inverse() if raised is not None and raised.terms else None
    raised = base.over.number(1)
    for _ in range(int(power)):
        raised *= base
    return raised if power.denominator == 1 else raised * root(base)


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
    sign = _indicator(">", value.over.number(part))
    return value * (sign + sign - value.over.number(1))


def _indicator(sign: str, gap: Sum) -> Sum:
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


# ---------------------------------------------------------------- what follows from the signs


Known = dict[Any, int]  # the signs of polynomials in the case at hand


def never_negative(value: Sum, known: Known | None = None) -> bool:
    """Whether the sum is at least 0 for all letters, by its factors and by comparing squares; False if not found."""
    known = known or {}
    for _, where in value.terms:
        for sign, poly in where:
            return all(
                never_negative(value.given((sign, poly), holds), known | ({poly: 2 * holds - 1} if sign == "+" else {}))
                for holds in (True, False)
            )
    match list(value.terms.items()):
        case [((under, _), part), ((other_under, _), other)]:
            signs = sign_of(value.over, part, known), sign_of(value.over, other, known)
            if 0 in signs or signs == (-1, -1):
                return False
            gap = part * part * under - other * other * other_under
            return signs == (1, 1) or not gap or sign_of(value.over, gap, known) == signs[0]
    return all(sign_of(value.over, part, known) == 1 for part in value.terms.values())


def sign_of(over: Letters, part: Any, known: Known) -> int:
    """1 where the rational function is never negative, -1 where it is never positive, 0 where that is not seen."""
    if is_positive(part.denom) and (is_positive(part.numer) or is_positive(-part.numer)):
        return 1 if is_positive(part.numer) else -1
    constant, parts = factors(over, part)
    sign = 1 if constant > 0 else -1
    for factor, times in parts.items():
        if times % 2 and not is_positive(factor):
            sign *= known.get(factor, 0)
    return sign


def is_smooth(value: Sum) -> bool:
    """Whether the sum is continuous for all letters: no indicators, and no side of a division or root that may be 0."""
    return all(
        not where and is_positive(under) and is_positive(part.denom) for (under, where), part in value.terms.items()
    )


def never_zero(value: Sum) -> bool:
    """Whether the sum is above 0 for all letters, by the signs of its coefficients."""
    for _, where in value.terms:
        for indicator in where:
            return all(never_zero(value.given(indicator, holds)) for holds in (True, False))
    return bool(value.terms) and all(
        is_positive(part.numer) and is_positive(part.denom) and is_positive(under)
        for (under, _), part in value.terms.items()
    )


class Formula:
    """A measure's formula: exact on tables, provable over letters."""

    def __init__(self, node: Expression) -> None:
        self.node = node

    @cached_property
    def steps(self) -> list[Step]:
        """The formula's operations in order."""
        return program(self.node)

    def value(self, table: Sequence[Any]) -> Value | None:
        """The value on one table; None where undefined."""
        return exact_value(self.steps, table)

    def over(self, cells: Sequence[Sum]) -> Sum | None:
        """The formula over letters; None where undefined."""
        return formula(self.steps, cells)


def on_all_tables(formulas: Sequence[Formula], holds: Callable[..., bool]) -> bool:
    """Whether algebra shows a claim about the values of some formulas for all cells, empty ones included."""
    until = time.monotonic() + LONGEST
    try:
        for face in itertools.product((1, 0), repeat=4):
            over = Letters(CELLS, until - time.monotonic())
            cells = [cell if there else over.number(0) for cell, there in zip(over.letters, face, strict=True)]
            values = [each.over(cells) for each in formulas]
            if None not in values and not holds(*values):
                return False
    except (Unprovable, ImportError):
        return False
    return True
