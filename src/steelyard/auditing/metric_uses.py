"""Metric uses: where a metric fits and where it does not, by what is proved or refuted of it and by what it reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.auditing.decision_store import recalled_decisions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.metrics.metric import Metric

# Of a property: where a metric that has it fits, and where one that lacks it does not.
_BY_PROPERTY = {
    "prevalence_invariance": (
        "test sets of different prevalence are compared",
        "test sets of different prevalence are compared",
    ),
    "class_symmetry": ("which class is called positive is a convention", ""),
    "no_credit_when_a_class_fails": (
        "no class may have zero recall",
        "a class with zero recall must not be rewarded",
    ),
    "approximate_constant_baseline": (
        "a value is read beside a random predictor's",
        "a value is read without its no-skill baseline",
    ),
    "corrections_improve": ("every error should count", "every error should count: some are free"),
}
_ORDERED = (
    "the classes have an order, and a near miss is a smaller error than a far one",
    "the classes have no order: to mistake one for another is then as bad as for any",
)
_IGNORES_TN = "true negatives matter: it does not change with them"
_BY_READING = {
    "order": ("no threshold is fixed yet, and the order of the rows matters", "one threshold is in use already"),
    "probabilities": ("scores are used as probabilities", "only the order of the scores matters"),
}


@dataclass(frozen=True)
class MetricUses:
    """Where a metric fits and where it does not, as ends of the sentences "Use it where" and "Not where"."""

    fits: Sequence[str]
    fails: Sequence[str]


def metric_uses(metric: Metric) -> MetricUses:
    """Where a metric fits and where it does not; nothing where nothing is proved or refuted of it.

    >>> from steelyard import get_metric
    >>> metric_uses(get_metric("ac_score")).fits[0]
    'test sets of different prevalence are compared'
    >>> metric_uses(get_metric("f1")).fails[-1]
    'true negatives matter: it does not change with them'
    """
    if "ordinal" in metric.roles:
        return MetricUses([_ORDERED[0]], [_ORDERED[1]])
    if metric.scores is not None:
        fit, fail = _BY_READING["probabilities" if metric.of_probabilities else "order"]
        return MetricUses([fit], [fail])
    decided = {name: decision.holds for name, decision in recalled_decisions(metric).items()}
    fits = [words for name, (words, _) in _BY_PROPERTY.items() if decided.get(name) is True]
    fails = [words for name, (_, words) in _BY_PROPERTY.items() if words and decided.get(name) is False]
    return MetricUses(fits, [*fails, _IGNORES_TN] if decided.get("p2") is True else fails)
