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
from steelyard.metrics.spec_text import parse_form, write_form
from steelyard.metrics.usual import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard.metrics.spec_text import Setting

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
    """The metric of that name, alias or a name that others have for it, parameters in brackets.

    A function of the four cells becomes a metric. Names are those of scikit-learn and its scorers, imbalanced-learn,
    torchmetrics, yardstick and PyCM; one whose value has another sign or no counterpart is answered by a sentence.

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
    metric, parameters = named_metric(name)
    if {"average", "class"} & set(parameters):
        raise InputError(f"{name!r} asks for an average or a class, which is not taken here; name {metric.name} alone.")
    return metric.fixed(None, **parameters) if parameters else metric


def named_metric(form: str) -> tuple[Metric, dict[str, Setting]]:
    """The metric of a written form and its settings, where the name may be one that others have for it.

    >>> named_metric("f1_macro"), named_metric("kap[weights=linear]")
    ((<metric f1>, {'average': 'macro'}), (<metric kappa>, {'weights': 'linear'}))
    """
    stem, settings = parse_form(form)
    metric = find(stem) or find_by_sklearn(stem)
    if metric is not None:
        return metric, settings
    metric, implied = _named_by_others(stem, form)
    if twice := implied.keys() & settings.keys():
        raise InputError(
            f"{form!r} gives {', '.join(sorted(twice))} twice: {stem} is {write_form(metric.name, implied)}."
        )
    return metric, {**implied, **settings}


def _named_by_others(stem: str, form: str) -> tuple[Metric, dict[str, Setting]]:
    """The metric that others call so, and the settings that this implies; a sentence where there is none."""
    from steelyard.metrics import peers

    key = peers.peer_key(stem)
    if spelled := next((n for n in (*_REGISTRY, *_ALIASES) if key and peers.peer_key(n) == key), None):
        return _REGISTRY[_ALIASES.get(spelled, spelled)], {}
    if ours := peers.written_form(stem):
        name, implied = parse_form(ours)
        return _REGISTRY[name], implied
    if answer := peers.peer_answer(stem):
        raise UnknownNameError(f"No metric is called {stem!r} here. {answer}")
    if averaged := _averaged(stem):
        return averaged
    typed = [
        name for peer in peers.peer_names() if len(name := peer.name) > 4 and name.islower() and name.isidentifier()
    ]
    known = [*_REGISTRY, *_ALIASES, *typed]
    near = did_you_mean(_key(stem), dict.fromkeys(known))
    raise UnknownNameError(f"No metric is called {form!r}.{near or ' list_metrics() lists them all.'}")


def _averaged(name: str) -> tuple[Metric, dict[str, Setting]] | None:
    """The metric of one class in a name such as macro_f1, with the average."""
    from steelyard.metrics.peers import split_average, written_form

    if (parts := split_average(name)) is None:
        return None
    stem, average = parts
    metric = find(stem) or find_by_sklearn(stem) or find(written_form(stem) or "")
    if metric is None or not (metric.kind.is_summary or metric.kind.is_rate):
        return None
    means_other = average == "weighted" and metric.classes is not None  # weighted_accuracy is no mean over classes
    return None if means_other else (metric, {"average": average})


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
