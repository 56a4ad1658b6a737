"""Properties of metrics, decided: proved, refuted by a smallest table, or not refuted.

Each law of a property is tried on small tables in exact arithmetic, smallest first, and where none refutes it proved
for all values of its variables.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING

from steelyard.arguments import names_wrong_arguments
from steelyard.auditing import decision_store
from steelyard.auditing.decisions import DOES_NOT_APPLY, Decision
from steelyard.auditing.property_list import CHANGED_CELLS, PROPERTIES, Property, get_property
from steelyard.metrics.registry import get_metric, is_builtin, list_metrics

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard.auditing.audited_metric import AuditedMetric
    from steelyard.auditing.decision_store import Decisions
    from steelyard.metrics.metric import Metric
    from steelyard.metrics.registry import MetricLike

_OF_OTHERS = "it is of {}, and the property of tables of labels"
__all__ = ["PROPERTIES", "Decision", "Property", "audit_properties", "decide", "garcia_row", "get_property"]


@names_wrong_arguments
def decide(metric: MetricLike, property: str | Property) -> Decision:
    """Whether a property holds for a metric, given by name or as a function of the four cells.

    >>> print(decide("balanced_accuracy", "prevalence_invariance").verdict)
    proved
    >>> decision = decide("accuracy", "prevalence_invariance")
    >>> print(decision.verdict, "by", decision.counterexample)
    refuted by 1/2 on tp=0, fn=1, fp=0, tn=1, 1/3 on tp=0, fn=2, fp=0, tn=1
    """
    (decision,) = audit_properties([metric], [property])
    return decision


def audit_properties(
    metrics: Iterable[MetricLike] | None = None, properties: Iterable[str | Property] | None = None
) -> list[Decision]:
    """Every property proved or refuted for every metric of counts in the registry, or for those named."""
    chosen = _metrics_of_counts() if metrics is None else list(map(get_metric, metrics))
    stored = decision_store.stored_decisions()
    before = len(stored)
    rows = _decisions(chosen, list(map(get_property, PROPERTIES if properties is None else properties)), stored)
    if len(stored) > before:
        decision_store.store(stored)
    return rows


def _metrics_of_counts() -> list[Metric]:
    return [metric for metric in list_metrics() if metric.function]


def decided_anew() -> Decisions:
    """Every decision about the catalogue, made now, by its key."""
    decisions: Decisions = {}
    _decisions(_metrics_of_counts(), list(PROPERTIES.values()), decisions)
    return decisions


def garcia_row(metric: MetricLike, *, anew: bool = False) -> str:
    """A metric's column of García's FourCells 2, p1 to p5: "-" invariant, "+" not, "?" undecided.

    With `anew` it is decided now, whatever was decided before.

    >>> garcia_row("f1")
    '+-+++'
    """
    signs, names = {True: "-", False: "+", None: "?"}, ("p1", *CHANGED_CELLS)
    if anew:
        decisions = _decisions([get_metric(metric)], list(map(get_property, names)), {})
    else:
        decisions = audit_properties([metric], names)
    return "".join(signs[decision.holds] for decision in decisions)


def _decisions(metrics: list[Metric], properties: list[Property], stored: Decisions) -> list[Decision]:
    """The decisions that are stored, and those made now, which join them."""
    rows = []
    for metric in metrics:
        if metric.function is None:
            why = _OF_OTHERS.format(metric.basis)
            rows += [Decision(metric.name, property_.name, DOES_NOT_APPLY, why) for property_ in properties]
            continue
        audited = lru_cache(partial(_audited, metric))
        rows += [
            decision_store.recalled_decision(metric, property_, stored) or _anew(stored, audited(), property_)
            for property_ in properties
        ]
    return rows


def _audited(metric: Metric) -> AuditedMetric:
    """The metric as it is tried and proved; what does that is loaded where something is not decided yet."""
    from steelyard.auditing.audited_metric import AuditedMetric

    return AuditedMetric(metric)


def _anew(stored: Decisions, audited: AuditedMetric, property_: Property) -> Decision:
    from steelyard.auditing.symbolic_sums import is_available

    decision, key = _decided(audited, property_), decision_store.decision_key(audited.metric, property_)
    if key and is_available():
        stored[key] = decision
    return decision


def _decided(audited: AuditedMetric, property_: Property) -> Decision:
    from steelyard.auditing.rulings import ruling_on

    reason = "" if property_.name == "bounds_attained" else _why_not_applicable(audited.metric, property_)
    ruling = (DOES_NOT_APPLY, reason, None) if reason else ruling_on(audited, property_.name)
    return Decision(audited.metric.name, property_.name, *ruling)


def _why_not_applicable(metric: Metric, property_: Property) -> str:
    """Why a property is not asked of a metric; empty where it is."""
    if property_.is_equality or (metric.direction == "higher" or (metric.direction and not property_.upward)):
        return ""
    if metric.direction:
        return "0 is no credit only where higher is better"
    if is_builtin(metric):
        return "no value of it is better than another"
    return "no direction was declared; @metric(..., best=...) declares one"
