"""Expression: what a formula leaves when it runs on symbols instead of numbers, and the helpers formulas are made of.

A formula may use + - * / **, abs, comparisons inside `where`, and the helpers here. On arrays they
compute; on symbols they record, guards included, so that what is printed is what runs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np

from steelyard.arguments import names_wrong_arguments
from steelyard.tables.counts import CELLS, Cells

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Scalar


Operand: TypeAlias = "Expression | ArrayLike"  # a node, a number, or an array of them


class Expression:
    """A node of a traced formula."""

    __slots__ = ()
    __array_ufunc__ = None  # so that numpy scalars leave arithmetic with us to the methods below
    __hash__ = object.__hash__

    def __add__(self, other: Operand) -> Expression:
        return Operation("+", (self, as_expression(other)))

    def __radd__(self, other: Operand) -> Expression:
        return Operation("+", (as_expression(other), self))

    def __sub__(self, other: Operand) -> Expression:
        return Operation("-", (self, as_expression(other)))

    def __rsub__(self, other: Operand) -> Expression:
        return Operation("-", (as_expression(other), self))

    def __mul__(self, other: Operand) -> Expression:
        return Operation("*", (self, as_expression(other)))

    def __rmul__(self, other: Operand) -> Expression:
        return Operation("*", (as_expression(other), self))

    def __truediv__(self, other: Operand) -> Expression:
        return Operation("/", (self, as_expression(other)))

    def __rtruediv__(self, other: Operand) -> Expression:
        return Operation("/", (as_expression(other), self))

    def __pow__(self, other: Operand) -> Expression:
        return Operation("**", (self, as_expression(other)))

    def __neg__(self) -> Expression:
        return Operation("neg", (self,))

    def __abs__(self) -> Expression:
        return Operation("abs", (self,))

    def __eq__(self, other: object) -> Expression:  # type: ignore[override]  # a formula, as NumPy's is an array
        return Operation("==", (self, as_expression(other)))

    def __ne__(self, other: object) -> Expression:  # type: ignore[override]  # a formula, as NumPy's is an array
        return Operation("!=", (self, as_expression(other)))

    def __lt__(self, other: Operand) -> Expression:
        return Operation("<", (self, as_expression(other)))

    def __le__(self, other: Operand) -> Expression:
        return Operation("<=", (self, as_expression(other)))

    def __gt__(self, other: Operand) -> Expression:
        return Operation(">", (self, as_expression(other)))

    def __ge__(self, other: Operand) -> Expression:
        return Operation(">=", (self, as_expression(other)))

    def __bool__(self) -> bool:
        raise TypeError("A formula cannot branch on a cell; use where(condition, then, otherwise).")


@dataclass(frozen=True, slots=True, eq=False)
class Symbol(Expression):
    """One of the four cells."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Number(Expression):
    """A constant."""

    value: float


@dataclass(frozen=True, slots=True, eq=False)
class Operation(Expression):
    """An operator, or one of the helpers `sqrt`, `angle` and `where`, and what it works on."""

    sign: str
    args: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Ratio(Expression):
    """A guarded division: `limit` where both parts are 0, undefined where only the lower one is."""

    above: Expression
    below: Expression
    limit: float | None
    why: str | None


@dataclass(frozen=True, slots=True, eq=False)
class Named(Expression):
    """Another metric, by its written name: what it stands for here, and with its parameters as letters."""

    name: str
    inner: Expression
    general: Expression


def as_expression(value: object) -> Expression:
    """The value as a node."""
    return value if isinstance(value, Expression) else Number(float(value))  # type: ignore[arg-type]  # float refuses what is no number


@overload
def ratio(above: Scalar, below: Scalar, *, limit: float | None = None, why: str | None = None) -> float: ...
@overload
def ratio(above: ArrayLike, below: ArrayLike, *, limit: float | None = None, why: str | None = None) -> Array: ...
@overload
def ratio(above: Expression, below: Operand, *, limit: float | None = None, why: str | None = None) -> Expression: ...
@overload
def ratio(above: ArrayLike, below: Expression, *, limit: float | None = None, why: str | None = None) -> Expression: ...
@names_wrong_arguments
def ratio(above: Operand, below: Operand, *, limit: float | None = None, why: str | None = None) -> Any:
    """`above / below`, the one place that decides what a division by zero is: NaN, or `limit` for 0/0.

    `why` words the reason where the denominator itself does not show it.

    >>> [float(ratio(*pair)) for pair in ((1, 4), (0, 0), (1, 0))], float(ratio(0, 0, limit=1))
    ([0.25, nan, nan], 1.0)
    """
    if type(below) is float and type(above) is float:  # one table: without arrays it is twenty times as quick
        return above / below if below else math.nan if limit is None or above else float(limit)
    if isinstance(above, Expression) or isinstance(below, Expression):
        return Ratio(as_expression(above), as_expression(below), limit, why)
    above, below = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    if below.all():
        return (above / below)[()]
    empty = below == 0
    value = above / np.where(empty, np.nan, below)
    if limit is not None:
        value = np.where(empty & (above == 0), limit, value)
    return value[()]


class Undefined(float):
    """NaN that knows why."""

    why: str


def undefined(why: str) -> Undefined:
    """NaN with its reason, for a formula that is no ratio."""
    value = Undefined("nan")
    value.why = why
    return value


@overload
def sqrt(value: Scalar) -> float: ...
@overload
def sqrt(value: ArrayLike) -> Array: ...
@overload
def sqrt(value: Expression) -> Expression: ...
@names_wrong_arguments
def sqrt(value: Operand) -> Any:
    """The square root, of numbers, arrays and formulas alike.

    >>> sqrt([4.0, 9.0])
    array([2., 3.])
    """
    if type(value) is float:
        return math.sqrt(value) if value >= 0 else math.nan
    if isinstance(value, int):  # of any size
        return sqrt(float(value))
    return Operation("sqrt", (value,)) if isinstance(value, Expression) else np.sqrt(value)


@overload
def angle(cosine: Scalar, sine: Scalar) -> float: ...
@overload
def angle(cosine: ArrayLike, sine: ArrayLike) -> Array: ...
@overload
def angle(cosine: Expression, sine: Expression) -> Expression: ...
def angle(cosine: Operand, sine: Operand) -> Any:
    """The angle of that cosine as a share of a half turn; its sine keeps the digits that the cosine loses near 1.

    >>> angle([1.0, 0.0, -1.0], [0.0, 1.0, 0.0])
    array([0. , 0.5, 1. ])
    """
    if isinstance(cosine, Expression):
        return Operation("angle", (cosine, as_expression(sine)))
    return np.arctan2(sine, cosine) / np.pi  # type: ignore[arg-type]  # no node


@overload
def where(condition: bool | np.bool_, then: Scalar, otherwise: Scalar) -> float: ...
@overload
def where(condition: ArrayLike, then: ArrayLike, otherwise: ArrayLike) -> Array: ...
@overload
def where(condition: Expression, then: Operand, otherwise: Operand) -> Expression: ...
@names_wrong_arguments
def where(condition: Operand, then: Operand, otherwise: Operand) -> Any:
    """`then` where the condition holds, else `otherwise`; undefined where `otherwise` or the condition is.

    >>> where(np.array([True, False]), 1, 0)
    array([1, 0])
    """
    if type(condition) is bool:
        return then if condition else otherwise
    if isinstance(condition, Expression):
        return Operation("where", (condition, as_expression(then), as_expression(otherwise)))
    return np.where(condition, then, otherwise)[()]  # type: ignore[arg-type]  # no node, since the condition is none


SYMBOLS = Cells(*map(Symbol, CELLS))


def trace(formula: Callable[..., Any], parameters: dict[str, object]) -> Expression | None:
    """The formula run on symbols; None where it does what symbols cannot."""
    try:
        return as_expression(formula(SYMBOLS, **parameters))
    except Exception:  # noqa: BLE001 - a user's function may raise anything on symbols; it is opaque then
        return None
