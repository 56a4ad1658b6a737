"""Metric: a metric with its formula and what is to be known about it. Every floor above may use it."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from steelyard.errors import InputError, InputTypeError, did_you_mean
from steelyard.metrics import application, notation, reasons
from steelyard.metrics.expression import Expression, Named, Symbol, evaluate, lift, trace
from steelyard.metrics.help_text import Manual
from steelyard.metrics.results import Options
from steelyard.statistics.counts import Cells

Formula = Callable[..., Any]
INNER = (Cells, application.ClassCells)  # what a formula hands to the metrics inside it


@dataclass(frozen=True, eq=False, repr=False)
class Metric:
    """A metric: a formula over confusion counts, and what is to be known about it.

    Call it with Counts, a Confusion, a ScoreTable or labels for its value; `why` tells the reason where that is NaN.

    >>> from steelyard import Counts, precision
    >>> precision([0, 0, 1, 1], [0, 1, 1, 1])
    0.6666666666666666
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
    function: Formula | None = None
    classes: Formula | None = None
    scores: Formula | None = None
    aliases: tuple[str, ...] = ()
    cite: str | None = None
    sklearn: str | None = None
    meaning: str = ""
    domain: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    is_fixed: bool = False
    bounds: Callable[..., tuple[tuple[float, float], float | None]] | None = None

    def __call__(
        self,
        data: Any,
        y_other: Any = None,
        *,
        pos_label: Any = None,
        labels: Any = None,
        average: str | None = "native",
        sample_weight: Any = None,
        frequency: Any = None,
        undefined: float | str = math.nan,
        **parameters: Any,
    ) -> Any:
        """The value on counts, a table, or labels (truth first, then predictions or scores).

        With `pos_label` the classes collapse to that one against the rest; `average` is "macro", "weighted", "micro"
        or None for one value a class. An array of tables gives an array. `undefined` replaces NaN, or is "raise".
        """
        if type(data) in INNER:
            return self._inside(data, parameters)
        options = Options(pos_label, labels, average, sample_weight, frequency, undefined)
        return application.answer(self, data, y_other, options, self._checked(parameters)).finished(self, options)

    def why(self, data: Any, y_other: Any = None, **options: Any) -> Any:
        """The reason why the same call would give NaN, None where the value is defined; an array for an array."""
        parameters = {key: options.pop(key) for key in list(options) if key in self.parameters}
        return application.answer(self, data, y_other, Options(**options), self._checked(parameters)).why

    def for_classes(self, form: Formula) -> Formula:
        """Declare the form for any number of classes: a function of the one-vs-rest cells of all of them."""
        object.__setattr__(self, "classes", form)
        return form

    def for_scores(self, form: Formula) -> Formula:
        """Declare the form for scores: a function of a ScoreTable."""
        object.__setattr__(self, "scores", form)
        return form

    def fixed(self, name: str | None = None, **changes: Any) -> Metric:
        """The metric with parameters set; under a name of its own it joins the registry.

        Facts such as title, meaning and range may be given anew as well.

        >>> from steelyard import f_beta
        >>> f_beta.fixed(beta=2)
        <metric f_beta[beta=2]>
        """
        facts: dict[str, Any] = {
            key: changes.pop(key) for key in ("title", "meaning", "range", "aliases", "cite") if key in changes
        }
        parameters = self._checked(changes)
        if self.bounds is not None:
            limits, best = self.bounds(**parameters)
            facts = {"range": limits, "best": best, **facts}
        if name is None:
            return replace(self, name=self._written(changes), aliases=(), parameters=parameters, is_fixed=True, **facts)
        from steelyard.metrics.registry import register

        return register(replace(self, name=name, parameters=parameters, is_fixed=True, **{"aliases": (), **facts}))

    # ---------------------------------------------------------------- the formula written

    def trace(self, **parameters: Any) -> Expression | None:
        """The formula as an expression over tp, fn, fp, tn; None where it cannot be run on symbols."""
        values = {**self.parameters, **parameters}
        usual = all(value is self.parameters[key] for key, value in values.items())
        return self.expression if usual else self._traced(values)

    @cached_property
    def expression(self) -> Expression | None:
        """The formula as an expression at the parameters' defaults."""
        return self._traced(self.parameters)

    @cached_property
    def general(self) -> Expression | None:
        """The formula as an expression with its parameters as letters, for reading."""
        letters = {key: Symbol(key) for key, value in self.parameters.items() if isinstance(value, float)}
        return self.expression if self.is_fixed else self._traced({**self.parameters, **letters})

    @property
    def text(self) -> str:
        """The formula as plain text, other metrics by name."""
        if self.general is not None:
            return notation.text(self.general)
        return "a function of the scores of each class" if self.function is None else "a function of tp, fn, fp, tn"

    @property
    def latex(self) -> str:
        """The formula as LaTeX, other metrics by name."""
        return notation.latex(Symbol(self.name) if self.general is None else self.general)

    @property
    def javascript(self) -> str | None:
        """The formula as a JavaScript function of (tp, fn, fp, tn); None where it cannot be traced."""
        return f"(tp, fn, fp, tn) => {notation.javascript(self.expression)}" if self.expression is not None else None

    @property
    def guards(self) -> list[tuple[str, str]]:
        """What each division by zero means: ("no positives", "undefined"), or a limit in place of "undefined"."""
        return reasons.guards(self.expression) if self.expression is not None else []

    @property
    def zeros(self) -> list[tuple[str, str]]:
        """Each part that leaves the value undefined where it is 0, in words and as JavaScript: "no positives"."""
        found = reasons.zeros(self.expression) if self.expression is not None else []
        return list(dict.fromkeys((why, notation.javascript(part)) for why, part in found))

    # ---------------------------------------------------------------- inside

    def _traced(self, parameters: Mapping[str, Any]) -> Expression | None:
        return None if self.function is None else trace(self.function, dict(parameters))

    def _inside(self, cells: Cells, parameters: Mapping[str, Any]) -> Any:
        """The formula as part of another: raw numbers, or a named part of the expression being traced."""
        if self.function is None:
            raise InputTypeError(f"{self.name} is a metric of scores; it cannot stand in a formula of counts.")
        values = {**self.parameters, **parameters}
        if not isinstance(cells.tp, Expression):
            return self.function(cells, **values)
        # As nodes, so that exact arithmetic meets 0.1 and not what floats make of 2 - 0.1.
        values = {key: lift(value) if isinstance(value, float) else value for key, value in values.items()}
        inner = self.function(cells, **values)
        return Named(notation.write(self.name, parameters), inner, inner if self.general is None else self.general)

    def _checked(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """All parameters, the given ones checked against their names and domains."""
        known = {} if self.is_fixed else self.parameters
        for key, value in parameters.items():
            if key not in known:
                told = ", ".join(known) or "none"
                raise InputTypeError(f"{self.name} has no parameter {key!r} (it has {told}).{did_you_mean(key, known)}")
            check_parameter(f"{key} of {self.name}", value, known[key], self.domain.get(key))
        return {**self.parameters, **parameters}

    def _written(self, parameters: Mapping[str, Any]) -> str:
        return notation.write(
            self.name, {k: v for k, v in parameters.items() if not np.array_equal(v, self.parameters[k])}
        )

    def __repr__(self) -> str:
        return f"<metric {self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        from steelyard.metrics.registry import get_metric, is_builtin, is_registered

        if is_builtin(self):
            return get_metric, (self.name,)
        facts = {f.name: getattr(self, f.name) for f in fields(self)}
        if not self.parameters and self.expression is not None and not _reachable(self):
            facts["function"] = Traced(self.expression)
        return _revive, (facts, is_registered(self))


Metric.__doc__ = Manual(Metric.__doc__)  # type: ignore[assignment]  # so that help(steelyard.f1) is about F1


def _reachable(metric: Metric) -> bool:
    """Whether pickle finds the formula by its address."""
    module, address = home(metric)
    found: Any = sys.modules.get(module)
    for name in address.split("."):
        found = getattr(found, name, None)
    return found is not None and found in (metric.function, getattr(metric.function, "function", None))


def _revive(facts: dict[str, Any], registered: bool) -> Metric:
    """A metric of a user's own in another process, where it may have to join the registry first."""
    from steelyard.metrics.registry import find, register

    revived = Metric(**facts)
    if not registered:
        return revived
    known = find(revived.name)
    if known is not None and (known.function == revived.function or _written_alike(known, revived)):
        return known
    return register(revived, replace=True)


def _written_alike(one: Metric, other: Metric) -> bool:
    return one.expression is not None and one.text == other.text and one.parameters == other.parameters


def home(metric: Metric) -> tuple[str, str]:
    """The module and the address in it of the function that a user wrote."""
    form = metric.function or metric.scores
    inner = getattr(form, "function", form)
    return getattr(inner, "__module__", ""), getattr(inner, "__qualname__", "")


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
        return evaluate(self.expression, cells)


def check_parameter(name: str, value: Any, default: Any, domain: str | None) -> None:
    """Refuse a parameter outside its domain: an interval such as "[0, 1)", words such as "ovr|ovo", or "metric"."""
    if domain is None or (value is None and default is None):
        return
    if "|" in domain:
        if value not in domain.split("|"):
            raise InputError(f"{name} is one of {domain.replace('|', ', ')}, not {value!r}.")
        return
    if domain == "metric":
        from steelyard.metrics.registry import get_metric

        get_metric(value)
        return
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
