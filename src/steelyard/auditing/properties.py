"""Properties of metrics, decided: proved, refuted by a smallest table, or not refuted.

Each law of a property is tried on small tables in exact arithmetic, smallest first, and where none refutes it proved
for all values of its variables.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING

from steelyard.auditing import decision_store
from steelyard.auditing.audited_metric import AuditedMetric
from steelyard.auditing.counterexamples import case_outcome, drawn_counterexample, exact_search, smallest_counterexample
from steelyard.auditing.decisions import (
    DOES_NOT_APPLY,
    PROVED,
    REFUTED,
    UNDEFINED,
    Counterexample,
    Decision,
    Ruling,
    unrefuted,
)
from steelyard.auditing.proof import proved
from steelyard.auditing.property_list import CHANGED_CELLS, PROPERTIES, Property, get_property
from steelyard.auditing.random_predictions import constant_baseline
from steelyard.auditing.range_bounds import bounds_attained
from steelyard.auditing.symbolic_sums import is_available
from steelyard.auditing.triangles import distance
from steelyard.auditing.true_probabilities import fixed_threshold
from steelyard.metrics.registry import get_metric, is_builtin, list_metrics

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from steelyard.auditing.decision_store import Decisions
    from steelyard.auditing.laws import Law
    from steelyard.metrics.metric import Metric
    from steelyard.metrics.registry import MetricLike

_OF_OTHERS = "it is of {}, and the property of tables of labels"
__all__ = ["PROPERTIES", "Decision", "Property", "audit_properties", "decide", "garcia_row", "get_property"]


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
        audited = lru_cache(partial(AuditedMetric, metric))
        rows += [
            decision_store.recalled_decision(metric, property_, stored) or _anew(stored, audited(), property_)
            for property_ in properties
        ]
    return rows


def _anew(stored: Decisions, audited: AuditedMetric, property_: Property) -> Decision:
    decision, key = _decided(audited, property_), decision_store.decision_key(audited.metric, property_)
    if key and is_available():
        stored[key] = decision
    return decision


def _decided(audited: AuditedMetric, property_: Property) -> Decision:
    reason = "" if property_.name == "bounds_attained" else _why_not_applicable(audited.metric, property_)
    ruling = (DOES_NOT_APPLY, reason, None) if reason else _ruling(audited, property_.name)
    return Decision(audited.metric.name, property_.name, *ruling)


def _ruling(audited: AuditedMetric, name: str) -> Ruling:
    """The verdict on a property by what decides it: its laws, or a search of its own."""
    match name:
        case "bounds_attained":
            return bounds_attained(audited)
        case "constant_baseline":
            return constant_baseline(audited)
        case "fixed_threshold":
            return fixed_threshold(audited)
        case "distance":
            return distance(audited, partial(_ruling, audited))
    ruling = _judged(audited, PROPERTIES[name].laws)
    if name != "corrections_improve" or ruling[0] in (PROVED, REFUTED):
        return ruling
    # A correction is a hit more, beside the error, and then an error less, beside the hit.
    follows = _ruling(audited, "strictly_monotone")[0] == PROVED
    return (PROVED, "algebra: it is strictly monotone", None) if follows else ruling


def _why_not_applicable(metric: Metric, property_: Property) -> str:
    """Why a property is not asked of a metric; empty where it is."""
    if property_.is_equality or (metric.direction == "higher" or (metric.direction and not property_.upward)):
        return ""
    if metric.direction:
        return "0 is no credit only where higher is better"
    if is_builtin(metric):
        return "no value of it is better than another"
    return "no direction was declared; @metric(..., best=...) declares one"


def _judged(audited: AuditedMetric, laws: Sequence[Law]) -> Ruling:
    """The verdict on some laws together, how it was reached, and the smallest counterexample."""
    small = [table for law in laws if (table := smallest_counterexample(audited, law))]
    if small:
        return _refuted(audited, small)
    drawn = [table for law in laws if audited.formula and (table := drawn_counterexample(audited, law))]
    if drawn:
        return _refuted(audited, drawn, drawn=True)
    proofs = [proved(audited, law) if audited.formula else None for law in laws]
    if all(proofs) and not any("search" in str(proof) for proof in proofs):
        return _proof_verdict(audited, laws), str(proofs[0]), None
    return _examined(audited, laws, proofs)


def _examined(audited: AuditedMetric, laws: Sequence[Law], proofs: list[str | None]) -> Ruling:
    """The verdict by exact search, of laws that algebra proves in part or not at all."""
    searches = [exact_search(audited, law) for law in laws]
    examined, counterexamples = sum(count for count, _ in searches), [table for _, table in searches if table]
    if counterexamples:
        return _refuted(audited, counterexamples, drawn=True)
    if not examined:
        return UNDEFINED, "undefined on every table of the claim", None
    return (PROVED, str(proofs[0]), None) if all(proofs) else (unrefuted(examined), audited.by_search, None)


def _refuted(audited: AuditedMetric, counterexamples: list[Counterexample], *, drawn: bool = False) -> Ruling:
    how = f"{audited.by_table}; a smaller table may exist" if drawn else audited.by_table
    return REFUTED, how, min(counterexamples, key=lambda counterexample: sum(counterexample.before))


def _proof_verdict(audited: AuditedMetric, laws: Sequence[Law]) -> str:
    """A law that no table can break because the metric is undefined on all of them is not proved."""
    defined = any(case_outcome(audited, law, case) is not None for law in laws for case in law.small_cases)
    return PROVED if defined else UNDEFINED
