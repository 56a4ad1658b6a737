"""The registry: measures declared once and found by name, alias or written form. Every floor above may use it."""

from __future__ import annotations

import inspect
import math
import re
from typing import TYPE_CHECKING, Any

from steelyard.errors import InputError, InputTypeError, UnknownNameError, did_you_mean
from steelyard.metrics.metric import Formula, Metric, OfCells, home
from steelyard.metrics.notation import read
from steelyard.statistics.counts import CELLS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_UPPER: Any = object()

_REGISTRY: dict[str, Metric] = {}
_ALIASES: dict[str, str] = {}


def metric(
    title: str,
    *,
    on: str = "counts",
    family: str = "own",
    range: tuple[float, float] = (-math.inf, math.inf),
    best: float | None = _UPPER,
    direction: str | None = None,
    aliases: tuple[str, ...] = (),
    cite: str | None = None,
    sklearn: str | None = None,
    domain: Mapping[str, str] | None = None,
) -> Callable[[Formula], Metric]:
    """Declare a measure: the decorated formula joins the registry under the function's name.

    The formula takes one argument with the cells tp, fn, fp, tn and the margins, or the four
    cells by name, or with on="scores" a ScoreTable; keyword-only arguments are its parameters. Its docstring's first sentence is
    its meaning. `best` is the upper end of the range unless given; None for a description.

    >>> from steelyard import Counts, metric, ratio
    >>> @metric("Share of flags", family="example", range=(0, 1), best=None)
    ... def share_of_flags(c):
    ...     '''Share of the rows that were flagged.'''
    ...     return ratio(c.tp + c.fp, c.total)
    >>> share_of_flags(Counts(1, 2, 3, 4))
    0.4
    """

    def declare(function: Formula) -> Metric:
        best_value = range[1] if best is _UPPER else best
        declared = build(
            function, title, on=on, family=family, range=range, best=best_value, aliases=tuple(aliases), cite=cite,
            direction=direction or _direction(range, best_value), sklearn=sklearn, domain=dict(domain or {}),
        )  # fmt: skip
        # The Metric takes the function's place in its module; this is where pickle finds the function behind it.
        form = "scores" if on == "scores" else "function"
        function.__qualname__ += f".{form}" if getattr(declared, form) is function else f".{form}.function"
        return register(declared)

    return declare


def build(function: Formula, title: str, *, on: str = "counts", **facts: Any) -> Metric:
    """A measure that is not in the registry: its name, meaning and parameters are read off the function."""
    formula, parameters = _signature(function)
    meaning = re.split(r"(?<=\.)\s", inspect.cleandoc(function.__doc__ or ""), maxsplit=1)[0].replace("\n", " ")
    facts = {"family": "own", "range": (-math.inf, math.inf), "best": None, "direction": None, **facts}
    name = function.__name__
    forms = {"scores" if on == "scores" else "function": formula}
    return Metric(name, title, meaning=meaning, parameters=parameters, **forms, **facts)


def part(function: Formula) -> Metric:
    """A named step of other measures' formulas, written by its name where they are; not in the registry."""
    return build(function, function.__name__, family="part")


def _direction(bounds: tuple[float, float], best: float | None) -> str | None:
    return None if best is None else "higher" if best == bounds[1] else "lower"


def _signature(function: Formula) -> tuple[Formula, dict[str, Any]]:
    """The formula as a function of one table, and its parameters with their defaults."""
    arguments = inspect.signature(function).parameters.values()
    parameters = {a.name: a.default for a in arguments if a.kind is a.KEYWORD_ONLY}
    positional = [a for a in arguments if a.kind in (a.POSITIONAL_ONLY, a.POSITIONAL_OR_KEYWORD)]
    if len(positional) not in (1, len(CELLS)):
        taken = f"{function.__name__} takes {len(positional)} arguments"
        raise InputTypeError(f"{taken}; a measure takes one table, or the four cells tp, fn, fp, tn.")
    return (function if len(positional) == 1 else OfCells(function)), parameters


def register(declared: Metric) -> Metric:
    """Put a measure under its name and aliases; a name that is taken is refused."""
    for name in (declared.name, *declared.aliases):
        holder = find(name)
        # The cell of a notebook may be run again.
        if holder and not home(declared)[0] == home(holder)[0] == "__main__":
            msg = f"{name!r} already names the measure {holder.name!r} ({holder.title}); choose another name."
            raise InputError(msg)
    _REGISTRY[declared.name] = declared
    _ALIASES.update(dict.fromkeys(declared.aliases, declared.name))
    return declared


def find(name: str) -> Metric | None:
    """The measure of exactly that name or alias, if there is one."""
    return _REGISTRY.get(_ALIASES.get(name, name))


def is_registered(measure: Metric) -> bool:
    """Whether this very measure stands in the registry."""
    return _REGISTRY.get(measure.name) is measure


def get_metric(name: str | Metric | Formula) -> Metric:
    """The measure of that name or alias, parameters in brackets; a plain function becomes a measure of its own.

    >>> from steelyard import Counts
    >>> get_metric("tpr")
    <metric recall>
    >>> get_metric("f_beta[beta=2]")(Counts(8, 2, 2, 8))
    0.8
    >>> get_metric(lambda tp, fn, fp, tn: tp - fp)(Counts(8, 2, 2, 8))
    6.0
    """
    if isinstance(name, Metric):
        return name
    if callable(name):
        return build(name, name.__name__)
    if not isinstance(name, str):
        msg = f"A measure is named by a string, a Metric or a function, not {name!r}."
        raise InputTypeError(msg)
    stem, parameters = read(name)
    key = stem.strip().lower().replace("-", "_").replace(" ", "_")
    found = find(key)
    if found is None:
        near = did_you_mean(key, [*_REGISTRY, *_ALIASES])
        msg = f"No measure is called {name!r}.{near or ' list_metrics() lists them all.'}"
        raise UnknownNameError(msg)
    return found.fixed(**parameters) if parameters else found


def list_metrics(family: str | None = None) -> list[Metric]:
    """All measures in the order of their declaration, or those of one family."""
    families = dict.fromkeys(m.family for m in _REGISTRY.values())
    if family is not None and family not in families:
        msg = f"No family is called {family!r}; there are {', '.join(families)}."
        raise UnknownNameError(msg)
    return [m for m in _REGISTRY.values() if family in (None, m.family)]
