"""Formulas: the function behind a metric, its parameters and their domains, and its meaning."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from steelyard.exceptions import InputError, InputTypeError
from steelyard.metrics.expression_value import evaluate_expression
from steelyard.tables.counts import CELLS

if TYPE_CHECKING:
    from steelyard.metrics.expression import Expression
    from steelyard.tables.counts import Cells

Formula: TypeAlias = Callable[..., Any]
ARRAY_OF = "array of "  # in a domain: a number for each label, in the interval that follows


@dataclass(frozen=True)
class OfCells:
    """A plain function of the four cells, by their names in any order, as a formula of one table."""

    function: Formula
    order: tuple[str, ...]

    def __call__(self, cells: Cells, **parameters: Any) -> Any:
        return self.function(*(getattr(cells, name) for name in self.order), **parameters)


@dataclass(frozen=True)
class Traced:
    """A formula of which the expression is left, so that a local function can travel to another process."""

    expression: Expression

    def __call__(self, cells: Cells, **_: Any) -> Any:
        return evaluate_expression(self.expression, cells)


def signature_of(function: Formula) -> tuple[Formula, dict[str, Any]]:
    """The formula as a function of one table, and its parameters with their defaults."""
    name = getattr(function, "__name__", "This")
    try:
        arguments = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise InputTypeError(f"{name} has no signature to read; wrap it in a function of tp, fn, fp, tn.") from None
    parameters = {a.name: a.default for a in arguments if a.kind is a.KEYWORD_ONLY}
    if inspect.Parameter.empty in parameters.values():
        raise InputTypeError(f"{name} has a parameter without a default; give every parameter one.")
    positional = [a.name for a in arguments if a.kind in (a.POSITIONAL_ONLY, a.POSITIONAL_OR_KEYWORD)]
    if len(positional) == 1:
        return function, parameters
    if set(positional) == set(CELLS):
        return OfCells(function, tuple(positional)), parameters
    raise InputTypeError(
        f"{name} takes ({', '.join(positional)}); a metric takes one table, or the four cells tp, fn, fp, tn."
    )


def meaning_of(function: Formula) -> str:
    """The first sentence of the docstring."""
    return re.split(r"(?<=\.)\s", inspect.cleandoc(function.__doc__ or ""), maxsplit=1)[0].replace("\n", " ")


def check_parameter(name: str, value: object, default: object, domain: str | None) -> None:
    """Refuse a parameter outside its domain: "[0, 1)", "array of [0, 1)", words as in "ovr|ovo", or "metric"."""
    if domain is None or (value is None and default is None):
        return
    if "|" in domain:
        if value not in domain.split("|"):
            raise InputError(f"{name} is one of {domain.replace('|', ', ')}, not {value!r}.")
        return
    if domain == "metric":
        from steelyard.metrics.registry import get_metric

        get_metric(value)  # type: ignore[arg-type]  # refuses what names no metric
        return
    if domain.startswith(ARRAY_OF):
        value, domain = np.asarray(value), domain.removeprefix(ARRAY_OF)
        value = value if value.dtype.kind in "iuf" else math.nan
    low, high = (float(end) for end in domain[1:-1].split(","))
    numbers = np.asarray(
        value if isinstance(value, (int, float, np.ndarray, np.number)) else math.nan, dtype=np.float64
    )
    above = numbers >= low if domain[0] == "[" else numbers > low
    below = numbers <= high if domain[-1] == "]" else numbers < high
    if not (above & below).all():
        raise InputError(f"{name} must lie in {domain}, not {value!r}.")
    if isinstance(default, int) and not (isinstance(value, int) or np.asarray(value).dtype.kind == "i"):
        raise InputError(f"{name} must be a whole number, not {value!r}.")
