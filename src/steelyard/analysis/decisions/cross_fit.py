"""Cross-fitting: decisions for each row by a rule that was chosen without it.

The rows are dealt into folds, class by class and cluster by cluster, in an order that the generator draws.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.decisions.decided_rows import DecidedRows
    from steelyard.analysis.decisions.decision_rule import DecisionRule


class RuleChoice(Protocol):
    """How a rule is chosen on some of the rows."""

    def __call__(self, rows: DecidedRows, among: Array | None = None) -> DecisionRule | None:
        """The rule; None where the metric is undefined on those rows."""


@dataclass(frozen=True, eq=False)
class CrossFit:
    """The decision of each row by a rule chosen on the other folds, its risk, and whether it is sent to a person."""

    decisions: Array
    risks: Array
    sent: Array
    rules: tuple[DecisionRule, ...] = ()

    @classmethod
    def of_rule(cls, rule: DecisionRule, probabilities: Array) -> CrossFit:
        """The decisions of one rule for all rows."""
        return cls(rule.decisions(probabilities), rule.risks(probabilities), rule.sent(probabilities))


def cross_fitted(rows: DecidedRows, choose: RuleChoice, folds: Array) -> CrossFit | None:
    """Every row decided without it; None where a rule cannot be chosen on the rest."""
    n = len(folds)
    decisions, risks, sent = np.zeros(n, dtype=np.int64), np.zeros(n), np.zeros(n, dtype=bool)
    rules: list[DecisionRule] = []
    for fold in range(int(folds.max()) + 1):
        out = folds == fold
        rule = choose(rows, np.flatnonzero(~out))
        if rule is None:
            return None
        rules.append(rule)
        part = CrossFit.of_rule(rule, rows.table.probabilities[out])
        decisions[out], risks[out], sent[out] = part.decisions, part.risks, part.sent
    return CrossFit(decisions, risks, sent, tuple(rules))


def dealt_folds(codes: Array, clusters: Array | None, folds: int, rng: np.random.Generator) -> Array:
    """The fold of each row: rows of a class are dealt in turn, those of one cluster together."""
    if clusters is not None:
        _, first, cluster = np.unique(clusters, return_index=True, return_inverse=True)
        return dealt_folds(codes[first], None, folds, rng)[cluster]
    order = rng.permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    dealt = np.empty(len(codes), dtype=np.int64)
    dealt[order] = np.arange(len(codes)) % folds
    return dealt
