"""Property sentences: what a proven or refuted property means for the choice of a metric, and who calls it a fault."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.auditing.property_list import get_property

if TYPE_CHECKING:
    from steelyard.auditing.decisions import Decision

_HOLDS = {
    "class_symmetry": "gives both classes equal weight, whichever is called positive",
    "prevalence_invariance": "stays the same at any prevalence",
    "leans_to_positives": "never counts a true positive for less than a true negative",
    "no_credit_when_a_class_fails": "gives no credit where one class has zero recall",
    "zero_when_a_class_fails": "is 0 where one class has zero recall",
    "equal_recalls_kept": "reads like a rate: x where both recalls are x",
    "approximate_constant_baseline": "has one no-skill baseline, whatever the margins",
    "monotone_tp": "is never worse for one more true positive",
    "monotone_fn": "is never better for one more false negative",
    "monotone_fp": "is never better for one more false positive",
}
_DOES_NOT_HOLD = {
    "class_symmetry": "gives the two classes different weights",
    "prevalence_invariance": "is of the deployment prevalence, with which it moves",
}
_MISSED = {
    "class_symmetry": "changes with which class is called positive",
    "prevalence_invariance": "moves with the prevalence though the classifier stays the same",
    "leans_to_positives": "may count a true positive for less than a true negative",
    "no_credit_when_a_class_fails": "may look good while one class has zero recall",
}
_UNWANTED = {"class_symmetry": "counts errors on either class alike"}


def reason_text(decision: Decision, wanted: bool) -> str:
    """Why a metric is recommended: what is wanted holds, or what is not to hold does not."""
    if wanted:
        return f"{_HOLDS[decision.property]} ({decision.verdict})"
    return f"{_DOES_NOT_HOLD[decision.property]} ({decision.counterexample})"


def fault_text(decision: Decision, wanted: bool) -> str:
    """What speaks against a metric: what is wanted fails, or what is not wanted holds; empty where nothing does."""
    if wanted and decision.holds is False:
        shown = f": {decision.counterexample}" if decision.counterexample else ""
        return f"{_MISSED[decision.property]}{shown}"
    unwanted = not wanted and decision.holds and decision.property in _UNWANTED
    return f"{_UNWANTED[decision.property]} ({decision.verdict})" if unwanted else ""


def critic(decision: Decision) -> str:
    """Who calls it a fault: the first to want the property, or the last named, who wants the contrary."""
    return get_property(decision.property).cite[-1 if decision.holds else 0]
