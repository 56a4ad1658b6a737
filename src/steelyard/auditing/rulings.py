"""Rulings: whether a metric has a property, decided now by tables against it, by proof and by search."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from steelyard.auditing.counterexamples import case_outcome, drawn_counterexample, exact_search, smallest_counterexample
from steelyard.auditing.decisions import PROVED, REFUTED, UNDEFINED, Counterexample, Ruling, unrefuted
from steelyard.auditing.proof import proved
from steelyard.auditing.property_list import PROPERTIES
from steelyard.auditing.random_predictions import constant_baseline
from steelyard.auditing.range_bounds import bounds_attained
from steelyard.auditing.triangles import distance
from steelyard.auditing.true_probabilities import fixed_threshold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.auditing.audited_metric import AuditedMetric
    from steelyard.auditing.laws import Law


def ruling_on(audited: AuditedMetric, name: str) -> Ruling:
    """The verdict on a property by what decides it: its laws, or a search of its own."""
    match name:
        case "bounds_attained":
            return bounds_attained(audited)
        case "constant_baseline":
            return constant_baseline(audited)
        case "fixed_threshold":
            return fixed_threshold(audited)
        case "distance":
            return distance(audited, partial(ruling_on, audited))
    ruling = _judged(audited, PROPERTIES[name].laws)
    if name != "corrections_improve" or ruling[0] in (PROVED, REFUTED):
        return ruling
    # A correction is a hit more, beside the error, and then an error less, beside the hit.
    follows = ruling_on(audited, "strictly_monotone")[0] == PROVED
    return (PROVED, "algebra: it is strictly monotone", None) if follows else ruling


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
