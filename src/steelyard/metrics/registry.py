"""The registry: metrics declared once and found by name, alias or written form. Every floor above may use it."""

from __future__ import annotations

import inspect
import math
import re
from typing import TYPE_CHECKING, Any, TypeAlias

from steelyard import _HOME as HOME
from steelyard.errors import InputError, InputTypeError, UnknownNameError, did_you_mean
from steelyard.metrics.metric import Formula, Metric, OfCells, home
from steelyard.metrics.notation import read
from steelyard.statistics.counts import CELLS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MetricLike: TypeAlias = str | Metric | Formula  # a name, a metric, or a function of the four cells
_UPPER: Any = object()

_REGISTRY: dict[str, Metric] = {}
_ALIASES: dict[str, str] = {}
_BUILTIN: dict[str, Metric] = {}
RESERVED = frozenset(HOME)


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
    bounds: Callable[..., Any] | None = None,
) -> Callable[[Formula], Metric]:
    """Declare a metric: the decorated formula joins the registry under the function's name.

    The formula takes one argument with the cells tp, fn, fp, tn and the margins, or the four cells by name, or with
    on="scores" a ScoreTable; keyword-only arguments are its parameters. Its docstring's first sentence is its meaning.
    `best` is the upper end of the range unless given; None for a description. Where range and best depend on the
    parameters, `bounds` computes both from them.

    >>> from steelyard import Counts, metric, ratio
    >>> @metric("Share of flags", family="example", range=(0, 1), best=None)
    ... def share_of_flags(c):
    ...     '''Share of the rows that were flagged.'''
    ...     return ratio(c.tp + c.fp, c.total)
    >>> share_of_flags(Counts(1, 2, 3, 4))
    0.4
    """
    if not isinstance(title, str):
        raise InputTypeError("@metric takes a title first: write @metric('My metric') above the function.")

    def declare(function: Formula) -> Metric:
        limits, best_value = bounds(**_signature(function)[1]) if bounds else (range, best)
        if best_value is _UPPER:
            best_value = limits[1] if math.isfinite(limits[1]) else None
        if not limits[0] < limits[1] or not (best_value is None or limits[0] <= best_value <= limits[1]):
            raise InputError(f"The range {limits} of {title!r} must rise, and hold its best value {best_value}.")
        declared = build(
            function,
            title,
            on=on,
            family=family,
            range=limits,
            best=best_value,
            aliases=tuple(aliases),
            cite=cite,
            direction=direction or _direction(limits, best_value),
            sklearn=sklearn,
            domain=dict(domain or {}),
            bounds=bounds,
        )
        # The Metric takes the function's place in its module; this is where pickle finds the function behind it.
        form = "scores" if on == "scores" else "function"
        function.__qualname__ += f".{form}" if getattr(declared, form) is function else f".{form}.function"
        return register(declared)

    return declare


def build(function: Formula, title: str, *, on: str = "counts", **facts: Any) -> Metric:
    """A metric that is not in the registry: its name, meaning and parameters are read off the function."""
    formula, parameters = _signature(function)
    meaning = re.split(r"(?<=\.)\s", inspect.cleandoc(function.__doc__ or ""), maxsplit=1)[0].replace("\n", " ")
    name = getattr(function, "__name__", title)
    known: dict[str, Any] = {"family": "own", "range": (-math.inf, math.inf), "best": None, "direction": None}
    known |= {"meaning": meaning, "parameters": parameters, "scores" if on == "scores" else "function": formula}
    return Metric(name, title, **{**known, **facts})


def part(function: Formula) -> Metric:
    """A named step of other metrics' formulas, written by its name where they are; not in the registry."""
    return build(function, function.__name__, family="part")


def _direction(bounds: tuple[float, float], best: float | None) -> str | None:
    """Where better lies: toward the end of the range that is best; nowhere where the best lies inside."""
    return {bounds[0]: "lower", bounds[1]: "higher"}.get(best) if best is not None else None


def _signature(function: Formula) -> tuple[Formula, dict[str, Any]]:
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


def register(declared: Metric, *, replace: bool = False) -> Metric:
    """Put a metric under its name and aliases; a name that is taken is refused."""
    again = _REGISTRY.get(declared.name)
    # A notebook's cell may be run again: what `__main__` declared it may declare anew.
    replace |= again is not None and home(again)[0] == home(declared)[0] == "__main__"
    for name in (declared.name, *declared.aliases):
        holder = find(name)
        if holder is not None and not (replace and holder is again):
            raise InputError(
                f"{name!r} already names the metric {holder.name!r} ({holder.title}); choose another name."
            )
        if not name.isidentifier() or name in RESERVED:
            raise InputError(f"{name!r} cannot name a metric: it must be an identifier, and free in steelyard itself.")
    for alias in again.aliases if again else ():
        del _ALIASES[alias]
    _REGISTRY[declared.name] = declared
    _ALIASES.update(dict.fromkeys(declared.aliases, declared.name))
    return declared


def find(name: str) -> Metric | None:
    """The metric of that name or alias, if there is one; case, hyphens and blanks do not matter."""
    exact = _REGISTRY.get(_ALIASES.get(name, name))
    return exact or next(
        (_REGISTRY[_ALIASES.get(n, n)] for n in (*_REGISTRY, *_ALIASES) if _key(n) == _key(name)), None
    )


def _key(name: str) -> str:
    return name.strip().lower().replace("-", "_").replace(" ", "_")


def close_catalogue() -> None:
    """Remember which metrics are Steelyard's own, once all are declared."""
    _BUILTIN.update(_REGISTRY)


def is_builtin(metric: Metric) -> bool:
    """Whether this is one of Steelyard's own metrics, which every process has."""
    return _BUILTIN.get(metric.name) is metric


def is_registered(metric: Metric) -> bool:
    """Whether this very metric stands in the registry."""
    return _REGISTRY.get(metric.name) is metric


def get_metric(name: MetricLike) -> Metric:
    """The metric of that name or alias, parameters in brackets; a plain function becomes a metric of its own.

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
        return build(name, getattr(name, "__name__", type(name).__name__))
    if not isinstance(name, str):
        msg = f"A metric is named by a string, a Metric or a function, not {name!r}."
        raise InputTypeError(msg)
    stem, parameters = read(name)
    found = find(stem)
    if found is None:
        near = did_you_mean(_key(stem), [*_REGISTRY, *_ALIASES])
        msg = f"No metric is called {name!r}.{near or ' list_metrics() lists them all.'}"
        raise UnknownNameError(msg)
    return found.fixed(**parameters) if parameters else found


def list_metrics(family: str | None = None) -> list[Metric]:
    """All metrics in the order of their declaration, or those of one family.

    >>> [metric.name for metric in list_metrics("decision")]
    ['net_benefit', 'expected_cost']
    """
    families = dict.fromkeys(m.family for m in _REGISTRY.values())
    if family is not None and family not in families:
        msg = f"No family is called {family!r}; there are {', '.join(families)}."
        raise UnknownNameError(msg)
    return [m for m in _REGISTRY.values() if family in (None, m.family)]
