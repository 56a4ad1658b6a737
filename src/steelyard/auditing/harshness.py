"""Harshness: whether one metric is nowhere kinder than another, on any table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.arguments import names_wrong_arguments
from steelyard.auditing.audited_metric import AuditedMetric
from steelyard.auditing.decisions import PROVED, REFUTED, Counterexample, Decision, Ruling, four_cells, unrefuted
from steelyard.auditing.laws import CLASS_SWAP
from steelyard.auditing.proof import on_all_tables
from steelyard.auditing.sign_proofs import never_negative
from steelyard.exceptions import InputError
from steelyard.metrics.registry import get_metric

if TYPE_CHECKING:
    from steelyard.auditing.symbolic_sums import SymbolicSum
    from steelyard.metrics.registry import MetricLike


@names_wrong_arguments
def harsher(a: MetricLike, b: MetricLike) -> Decision:
    """Whether one metric is nowhere kinder than another: at most its value, or at least where lower is better.

    >>> harsher("g_mean", "balanced_accuracy").verdict
    'proved'
    """
    first, second = AuditedMetric(get_metric(a)), AuditedMetric(get_metric(b))
    directions = {first.metric.direction, second.metric.direction}
    if len(directions) > 1 or None in directions:
        raise InputError(
            f"{first.metric.name} and {second.metric.name} are not both better when higher, or both when lower; "
            "which is harsher is asked of two that are."
        )
    name, signed = f"harsher than {second.metric.name}", 1 if directions == {"higher"} else -1
    return Decision(first.metric.name, name, *_compared(first, second, signed))


def _compared(first: AuditedMetric, second: AuditedMetric, signed: int) -> Ruling:
    def below(low: SymbolicSum, high: SymbolicSum) -> bool:
        return never_negative(high - low if signed > 0 else low - high)

    examined, counterexample = _kinder(first, second, signed)
    if counterexample:
        return REFUTED, "a table, in exact arithmetic", counterexample
    if first.formula and second.formula and on_all_tables([first.formula, second.formula], below):
        return PROVED, "algebra: the sign of the difference, roots by their squares", None
    return unrefuted(examined), first.by_search, None


def _kinder(first: AuditedMetric, second: AuditedMetric, signed: int) -> tuple[int, Counterexample | None]:
    """How many tables were examined, and one on which the first metric is kinder than the second."""
    examined = 0
    for table in [*CLASS_SWAP.small_cases, *CLASS_SWAP.random_cases()]:
        value, other = first.value(table), second.value(table)
        if value is not None and other is not None:
            examined += 1
            if all(audited.gap(value, other) * signed > 0 for audited in (first, second)):
                return examined, Counterexample(four_cells(table), None, str(value), str(other))
    return examined, None
