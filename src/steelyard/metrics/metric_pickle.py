"""Pickling of metrics: ours by their name, a user's own with its facts, and its formula where the function is local."""

from __future__ import annotations

import sys
from dataclasses import fields
from typing import Any

from steelyard.metrics.formula import Traced
from steelyard.metrics.measure import Metric
from steelyard.metrics.registry import find, get_metric, home, is_builtin, is_registered, register


def pickled(metric: Metric) -> tuple[Any, ...]:
    """What pickle writes for a metric."""
    if is_builtin(metric):
        return get_metric, (metric.name,)
    facts = {field.name: getattr(metric, field.name) for field in fields(metric)}
    if not metric.parameters and metric.expression is not None and not _reachable(metric):
        facts["function"] = Traced(metric.expression)
    return revived, (facts, is_registered(metric))


def _reachable(metric: Metric) -> bool:
    """Whether pickle finds the formula by its address."""
    module, address = home(metric)
    target: Any = sys.modules.get(module)
    for name in address.split("."):
        target = getattr(target, name, None)
    return target is not None and target in (metric.function, getattr(metric.function, "function", None))


def revived(facts: dict[str, Any], registered: bool) -> Metric:
    """A metric of a user's own in another process, where it may have to join the registry first."""
    metric = Metric(**facts)
    if not registered:
        return metric
    namesake = find(metric.name)
    if namesake is not None and (namesake.function == metric.function or _written_alike(namesake, metric)):
        return namesake
    return register(metric, replace=True)


def _written_alike(a: Metric, b: Metric) -> bool:
    return a.expression is not None and a.text == b.text and a.parameters == b.parameters
