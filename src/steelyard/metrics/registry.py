"""The registry: metrics found by name, alias or written form, and by family."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, TypeAlias

from steelyard._names import HOME, SHELVES, SUBMODULES
from steelyard.arguments import names_wrong_arguments
from steelyard.exceptions import InputError, InputTypeError, UnknownNameError, did_you_mean
from steelyard.metrics.formula import Formula
from steelyard.metrics.measure import Metric
from steelyard.metrics.range_check import check_range
from steelyard.metrics.spec_text import parse_form
from steelyard.metrics.usual import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Iterable

MetricLike: TypeAlias = str | Metric | Formula  # a name, a metric, or a function of the four cells
_REGISTRY: dict[str, Metric] = {}
_ALIASES: dict[str, str] = {}
_BUILTIN: dict[str, Metric] = {}
RESERVED = frozenset((*HOME, *SUBMODULES, *SHELVES["metrics"]))


def register(declared: Metric, *, replace: bool = False) -> Metric:
    """Put a metric under its name and aliases; a name that is taken is refused, and so is a range it does not keep."""
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
    if _BUILTIN:
        check_range(declared)
    for alias in again.aliases if again else ():
        del _ALIASES[alias]
    _REGISTRY[declared.name] = declared
    _ALIASES.update(dict.fromkeys(declared.aliases, declared.name))
    return declared


def find(name: str) -> Metric | None:
    """The metric of that name or alias, if there is one; case, hyphens and blanks do not matter."""
    key, exact = _key(name), _REGISTRY.get(_ALIASES.get(name, name))
    return exact or next((_REGISTRY[_ALIASES.get(n, n)] for n in (*_REGISTRY, *_ALIASES) if _key(n) == key), None)


def find_by_sklearn(name: str) -> Metric | None:
    """The first metric that scikit-learn has as a function of this name, if there is one."""
    return next((metric for metric in _REGISTRY.values() if metric.sklearn and metric.sklearn == _key(name)), None)


@lru_cache(4_096)  # every name is compared with all others when the catalogue is loaded
def _key(name: str) -> str:
    return name.strip().lower().replace("-", "_").replace(" ", "_")


def home(metric: Metric) -> tuple[str, str]:
    """The module and the address in it of the function that a user wrote."""
    form = metric.function or metric.scores or metric.label_sets
    inner = getattr(form, "function", form)
    return getattr(inner, "__module__", ""), getattr(inner, "__qualname__", "")


def close_catalogue() -> None:
    """Remember which metrics are Steelyard's own, once all are declared."""
    _BUILTIN.update(_REGISTRY)
    for metric in _BUILTIN.values():
        object.__setattr__(metric, "is_own", False)


def is_builtin(metric: Metric) -> bool:
    """Whether this is one of Steelyard's own metrics, which every process has."""
    return _BUILTIN.get(metric.name) is metric


def is_registered(metric: Metric) -> bool:
    """Whether this very metric stands in the registry."""
    return _REGISTRY.get(metric.name) is metric


@names_wrong_arguments
def get_metric(name: MetricLike) -> Metric:
    """The metric of that name, alias or scikit-learn's name, parameters in brackets; a function becomes a metric.

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
        return Metric.from_function(name, getattr(name, "__name__", type(name).__name__))
    if not isinstance(name, str):
        msg = f"A metric is named by a string, a Metric or a function, not {name!r}."
        raise InputTypeError(msg)
    stem, parameters = parse_form(name)
    metric = find(stem) or find_by_sklearn(stem)
    if metric is None:
        near = did_you_mean(_key(stem), [*_REGISTRY, *_ALIASES])
        msg = f"No metric is called {name!r}.{near or ' list_metrics() lists them all.'}"
        raise UnknownNameError(msg)
    if {"average", "class"} & set(parameters):
        raise InputError(f"{name!r} asks for an average or a class, which is not taken here; name {stem} alone.")
    return metric.fixed(None, **parameters) if parameters else metric


@names_wrong_arguments
def list_metrics(family: str | None = None) -> list[Metric]:
    """All metrics in the order of their declaration, or those of one family.

    >>> [metric.name for metric in list_metrics("decision")]
    ['net_benefit', 'standardized_net_benefit', 'expected_cost', 'normalized_expected_cost']
    """
    families = dict.fromkeys(m.family for m in _REGISTRY.values())
    if family is not None and family not in families:
        msg = f"No family is called {family!r}; there are {', '.join(families)}."
        raise UnknownNameError(msg)
    return [m for m in _REGISTRY.values() if family in (None, m.family)]


def get_metrics(names: Iterable[str]) -> list[Metric]:
    """The metrics of a list of names.

    >>> get_metrics(["recall", "f1"])
    [<metric recall>, <metric f1>]
    """
    return [_REGISTRY[name] for name in names]


@cache
def default_metric() -> Metric:
    """The metric that is optimised and ranked by where none is named."""
    return _REGISTRY[DEFAULT]
