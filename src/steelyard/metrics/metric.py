"""Metric: a measure with its formula and what is to be known about it. Every floor above may use it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from steelyard.errors import InputError, InputTypeError, UndefinedError, did_you_mean
from steelyard.metrics import notation, reasons
from steelyard.metrics.expression import Expression, Named, Symbol, evaluate, lift, trace
from steelyard.statistics.counts import Cells, Counts

Formula = Callable[..., Any]


@dataclass(frozen=True, eq=False, repr=False)
class Metric:
    """A measure: a formula over confusion counts, and what is to be known about it.

    Call it with Counts for its value; `why` tells the reason where that value is NaN.

    >>> from steelyard import precision
    >>> nobody_flagged = Counts(tp=0, fn=10, fp=0, tn=990)
    >>> precision(nobody_flagged), precision.why(nobody_flagged)
    (nan, 'no predicted positives')
    """

    name: str
    title: str
    family: str
    range: tuple[float, float]
    best: float | None
    direction: str | None
    function: Formula
    aliases: tuple[str, ...] = ()
    cite: str | None = None
    sklearn: str | None = None
    meaning: str = ""
    domain: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    is_fixed: bool = False

    def __call__(self, data: Any, *, undefined: float | str = math.nan, **parameters: Any) -> Any:
        """The value on these counts: a float for one table, an array for an array of tables."""
        if type(data) is Cells:
            return self._inside(data, parameters)
        counts = self._counts(data)
        values = self._replaced(self._values(counts, parameters), counts, undefined, parameters)
        return float(values) if values.ndim == 0 else values

    def why(self, data: Any, **parameters: Any) -> Any:
        """The reason why the value is undefined on these counts, None where it is defined; an array for an array."""
        counts = self._counts(data)
        undefined = np.isnan(self._values(counts, parameters))
        expression = self.trace(**parameters)
        found = np.full(undefined.shape, None, dtype=object)
        for index in map(tuple, np.argwhere(undefined)):
            table = Cells(*(float(np.asarray(cell)[index]) for cell in counts))
            why = None if expression is None else reasons.reason(expression, table)
            found[index] = why or "the function returned NaN"
        return found[()]

    def fixed(self, name: str | None = None, **changes: Any) -> Metric:
        """The measure with parameters set; under a name of its own it joins the registry.

        Facts such as title, meaning and range may be given anew as well.

        >>> from steelyard import f_beta
        >>> f_beta.fixed(beta=2)
        <metric f_beta[beta=2]>
        """
        facts = {key: changes.pop(key) for key in ("title", "meaning", "range", "aliases", "cite") if key in changes}
        parameters = self._checked(changes)
        if name is None:
            return replace(self, name=self._written(changes), aliases=(), parameters=parameters, is_fixed=True, **facts)
        from steelyard.metrics.registry import register

        return register(replace(self, name=name, parameters=parameters, is_fixed=True, **{"aliases": (), **facts}))

    # ---------------------------------------------------------------- the formula written

    def trace(self, **parameters: Any) -> Expression | None:
        """The formula as an expression over tp, fn, fp, tn; None where it cannot be run on symbols."""
        return trace(self.function, self._checked(parameters)) if parameters else self.expression

    @cached_property
    def expression(self) -> Expression | None:
        """The formula as an expression at the parameters' defaults."""
        return trace(self.function, dict(self.parameters))

    @cached_property
    def general(self) -> Expression | None:
        """The formula as an expression with its parameters as letters, for reading."""
        letters = {key: Symbol(key) for key, value in self.parameters.items() if isinstance(value, float)}
        return self.expression if self.is_fixed else trace(self.function, {**self.parameters, **letters})

    @property
    def text(self) -> str:
        """The formula as plain text, other measures by name."""
        return "a function of tp, fn, fp, tn" if self.general is None else notation.text(self.general)

    @property
    def latex(self) -> str:
        """The formula as LaTeX, other measures by name."""
        return rf"\mathrm{{{self.name}}}" if self.general is None else notation.latex(self.general)

    @property
    def javascript(self) -> str | None:
        """The formula as a JavaScript function of (tp, fn, fp, tn); None where it cannot be traced."""
        return f"(tp, fn, fp, tn) => {notation.javascript(self.expression)}" if self.expression is not None else None

    @property
    def guards(self) -> list[tuple[str, str]]:
        """What each division by zero means: ("no positives", "undefined"), or a limit in place of "undefined"."""
        return reasons.guards(self.expression) if self.expression is not None else []

    # ---------------------------------------------------------------- inside

    def _inside(self, cells: Cells, parameters: Mapping[str, Any]) -> Any:
        """The formula as part of another: raw numbers, or a named part of the expression being traced."""
        values = {**self.parameters, **parameters}
        if not isinstance(cells.tp, Expression):
            return self.function(cells, **values)
        # As nodes, so that exact arithmetic meets 0.1 and not what floats make of 2 - 0.1.
        values = {key: lift(value) if isinstance(value, float) else value for key, value in values.items()}
        inner = self.function(cells, **values)
        return Named(notation.write(self.name, parameters), inner, inner if self.general is None else self.general)

    def _values(self, counts: Counts, parameters: Mapping[str, Any]) -> np.ndarray[Any, Any]:
        cells = Cells(*(np.asarray(cell, dtype=np.float64)[()] for cell in counts))
        with np.errstate(all="ignore"):
            value = self.function(cells, **self._checked(parameters))
        return np.asarray(value, dtype=np.float64) + np.zeros(counts.shape)

    def _counts(self, data: Any) -> Counts:
        if isinstance(data, Counts):
            return data
        msg = f"{self.name} takes Counts(tp, fn, fp, tn), not {type(data).__name__}."
        raise InputTypeError(msg)

    def _replaced(self, values: Any, counts: Counts, undefined: Any, parameters: Mapping[str, Any]) -> Any:
        """The values with the undefined ones replaced, or an error where the caller asked for one."""
        if undefined == "raise":
            why = np.asarray(self.why(counts, **parameters), dtype=object)
            for reason in filter(None, why.flat):
                msg = f"{self.name} is undefined: {reason}."
                raise UndefinedError(msg)
            return values
        if isinstance(undefined, str):
            msg = f"undefined= takes a number or 'raise', not {undefined!r}."
            raise InputError(msg)
        return values if math.isnan(undefined) else np.where(np.isnan(values), undefined, values)

    def _checked(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """All parameters, the given ones checked against their names and domains."""
        for key, value in parameters.items():
            if key not in self.parameters:
                known = ", ".join(self.parameters) or "none"
                msg = f"{self.name} has no parameter {key!r} (it has {known}).{did_you_mean(key, self.parameters)}"
                raise InputTypeError(msg)
            if key in self.domain:
                _check_domain(f"{key} of {self.name}", value, self.domain[key])
        return {**self.parameters, **parameters}

    def _written(self, parameters: Mapping[str, Any]) -> str:
        return notation.write(self.name, {k: v for k, v in parameters.items() if v != self.parameters[k]})

    def __repr__(self) -> str:
        return f"<metric {self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        from steelyard.metrics.registry import get_metric, is_registered

        registered = is_registered(self)
        module, address = home(self.function)
        if registered and module.startswith("steelyard."):
            return get_metric, (self.name,)
        facts = {f.name: getattr(self, f.name) for f in fields(self)}
        if "<locals>" in address and self.expression is not None:
            facts["function"] = Traced(self.expression)
        return _revive, (facts, registered)


def _revive(facts: dict[str, Any], registered: bool) -> Metric:
    """A measure of a user's own in another process, where it may have to join the registry first."""
    from steelyard.metrics.registry import find, register

    revived = Metric(**facts)
    return (find(revived.name) or register(revived)) if registered else revived


def home(function: Formula) -> tuple[str, str]:
    """The module and the address in it of the function that a user wrote."""
    inner = getattr(function, "function", function)
    return getattr(inner, "__module__", ""), getattr(inner, "__qualname__", "")


@dataclass(frozen=True)
class OfCells:
    """A plain function of (tp, fn, fp, tn) as a formula of one table."""

    function: Formula

    def __call__(self, cells: Cells, **parameters: Any) -> Any:
        return self.function(*cells, **parameters)


@dataclass(frozen=True)
class Traced:
    """A formula of which the expression is left, so that a local function can travel to another process."""

    expression: Expression

    def __call__(self, cells: Cells, **_: Any) -> Any:
        return evaluate(self.expression, cells)


def _check_domain(name: str, value: Any, domain: str) -> None:
    """Refuse a parameter outside its domain, written as an interval such as "[0, 1)"."""
    if value is None:
        return
    low, high = (float(end) for end in domain[1:-1].split(","))
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.asarray(math.nan)
    above = numbers >= low if domain[0] == "[" else numbers > low
    below = numbers <= high if domain[-1] == "]" else numbers < high
    if not (above & below).all():
        msg = f"{name} must lie in {domain}, not {value!r}."
        raise InputError(msg)
