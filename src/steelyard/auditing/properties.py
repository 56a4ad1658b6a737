"""Properties: whether what is asked of a metric holds: proved, refuted by a smallest table, or not refuted.

Each claim of a property is tried on small tables in exact arithmetic, smallest first, and where none refutes it proved
over letters. Used by advice and reports.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.auditing import decision_store
from steelyard.auditing.algebra import never_negative, never_zero
from steelyard.auditing.audited_metric import Subject
from steelyard.auditing.counterexamples import SUSPICIOUS, breaks, checked, quickest, searched
from steelyard.auditing.decisions import (
    DOES_NOT_APPLY,
    PROVED,
    REFUTED,
    UNDEFINED,
    Counterexample,
    Decision,
    Table,
    in_words,
    unrefuted,
    whole,
)
from steelyard.auditing.proof import on_all_tables, proved
from steelyard.auditing.property_list import PROPERTIES, SWAP, Claim, Property, get_property
from steelyard.auditing.symbols import Sum, is_available
from steelyard.errors import InputError
from steelyard.metrics.registry import get_metric, is_builtin, list_metrics

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from steelyard.metrics.metric import Metric

__all__ = ["PROPERTIES", "Decision", "Property", "audit_properties", "decide", "garcia_row", "get_property", "harsher"]
_Verdict = tuple[str, str, Counterexample | None]  # the verdict, how it was reached, and what refutes it


def decide(metric: Any, property: str | Property) -> Decision:
    """Whether a property holds for a metric, given by name or as a function of the four cells.

    >>> print(decide("balanced_accuracy", "prevalence_invariance").verdict)
    proved
    >>> decision = decide("accuracy", "prevalence_invariance")
    >>> print(decision.verdict, "by", decision.counterexample)
    refuted by 1/2 on tp=0, fn=1, fp=0, tn=1, 1/3 on tp=0, fn=2, fp=0, tn=1
    """
    (decision,) = audit_properties([metric], [property])
    return decision


def audit_properties(metrics: Iterable[Any] | None = None, properties: Iterable[Any] | None = None) -> list[Decision]:
    """Every property decided for every metric of counts in the registry, or for those named."""
    metrics = [m for m in list_metrics() if m.function] if metrics is None else list(map(get_metric, metrics))
    kept = decision_store.kept()
    before = len(kept)
    rows = _decisions(metrics, list(map(get_property, PROPERTIES if properties is None else properties)), kept)
    if len(kept) > before:
        decision_store.keep(kept)
    return rows


def decided_anew() -> dict[str, Decision]:
    """Every decision about the catalogue, made now, by what it depends on."""
    kept: dict[str, Decision] = {}
    _decisions([m for m in list_metrics() if m.function], list(map(get_property, PROPERTIES)), kept)
    return kept


def garcia_row(metric: Any, *, anew: bool = False) -> str:
    """A metric's column of García's Table 2, p1 to p5: "-" invariant, "+" not, "?" undecided.

    With `anew` it is decided now, whatever was decided before.

    >>> garcia_row("f1")
    '+-+++'
    """
    signs, asked = {True: "-", False: "+", None: "?"}, ["p1", "p2", "p3", "p4", "p5"]
    found = (
        _decisions([get_metric(metric)], list(map(get_property, asked)), {})
        if anew
        else audit_properties([metric], asked)
    )
    return "".join(signs[d.holds] for d in found)


def _decisions(metrics: list[Metric], properties: list[Property], kept: dict[str, Decision]) -> list[Decision]:
    rows = []
    for metric in metrics:
        subject = lru_cache(partial(Subject, metric))
        rows += [_recalled(kept, metric, asked) or _anew(kept, subject(), asked) for asked in properties]
    return rows


def _recalled(kept: dict[str, Decision], metric: Metric, asked: Property) -> Decision | None:
    found = kept.get(decision_store.key_of(metric, asked) or "")
    return found and replace(found, metric=metric.name)


def _anew(kept: dict[str, Decision], subject: Subject, asked: Property) -> Decision:
    decision, key = _decided(subject, asked), decision_store.key_of(subject.metric, asked)
    if key and is_available():
        kept[key] = decision
    return decision


def _decided(subject: Subject, asked: Property) -> Decision:
    if asked.name == "bounds_attained":
        return Decision(subject.metric.name, asked.name, *_bounds(subject))
    reason = _no_question(subject.metric, asked)
    if reason:
        return Decision(subject.metric.name, asked.name, DOES_NOT_APPLY, reason)
    return Decision(subject.metric.name, asked.name, *_judged(subject, asked.claims))


def _no_question(metric: Metric, asked: Property) -> str:
    """Why a property is not asked of a metric; empty where it is."""
    if asked.is_equality or (metric.direction == "higher" or (metric.direction and not asked.upward)):
        return ""
    if metric.direction:
        return "0 is no credit only where higher is better"
    if is_builtin(metric):
        return "no value of it is better than another"
    return "no direction was declared; @metric(..., best=...) declares one"


def _judged(subject: Subject, claims: Sequence[Claim]) -> _Verdict:
    """The verdict on some claims together, how it was reached, and the smallest counterexample."""
    broken = [found for claim in claims if (found := quickest(subject, claim))]
    if broken:
        return _refuted(subject, broken)
    broken = [found for claim in claims if subject.formula and (found := checked(subject, claim))]
    if broken:
        return _refuted(subject, broken, drawn=True)
    proofs = [proved(subject, claim) if subject.formula else None for claim in claims]
    if all(proofs) and not any("search" in str(proof) for proof in proofs):
        return _proof_verdict(subject, claims), str(proofs[0]), None
    return _examined(subject, claims, proofs)


def _examined(subject: Subject, claims: Sequence[Claim], proofs: list[str | None]) -> _Verdict:
    """The verdict by exact search, of claims that algebra proves in part or not at all."""
    tries = [searched(subject, claim) for claim in claims]
    examined, broken = sum(count for count, _ in tries), [found for _, found in tries if found]
    if broken:
        return _refuted(subject, broken, drawn=True)
    if not examined:
        return UNDEFINED, "undefined on every table of the claim", None
    return (PROVED, str(proofs[0]), None) if all(proofs) else (unrefuted(examined), subject.by_search, None)


def _refuted(subject: Subject, broken: list[Counterexample], *, drawn: bool = False) -> _Verdict:
    how = f"{subject.by_table}; a smaller table may exist" if drawn else subject.by_table
    return REFUTED, how, min(broken, key=lambda found: sum(found.before))


def _proof_verdict(subject: Subject, claims: Sequence[Claim]) -> str:
    """A claim that no table can break because the metric is undefined on all of them is not proved."""
    some = any(breaks(subject, claim, case) is not None for claim in claims for case in claim.small)
    return PROVED if some else UNDEFINED


# ---------------------------------------------------------------- the ends of the range


def _bounds(subject: Subject) -> _Verdict:
    """Whether each finite end of the range is the value of some table."""
    ends = [Fraction(repr(float(end))) for end in subject.metric.range if np.isfinite(end)]
    if not ends:
        return DOES_NOT_APPLY, "its range has no finite end", None
    reached = {end: _reached(subject, end) for end in ends}
    missed = [end for end, table in reached.items() if table is None]
    if not missed:
        told = "; ".join(f"{end} on {in_words(table)}" for end, table in reached.items() if table)
        return PROVED, f"reached: {told}", None
    if all(_never_reached(subject, end) for end in missed):
        return REFUTED, f"algebra: no table reaches {' or '.join(map(str, missed))}", None
    return f"no table that reaches {missed[0]} among {len(SWAP.small):,} exact tables", subject.by_search, None


def _reached(subject: Subject, end: Fraction) -> Table | None:
    """The smallest table with this value."""
    with np.errstate(invalid="ignore"):
        off = np.abs(subject.floats(np.array(SWAP.small)) - float(end))
        near = np.flatnonzero(off <= SUSPICIOUS * max(1, abs(float(end))))
    found = ((SWAP.small[i], subject.value(SWAP.small[i])) for i in near)
    return next((whole(table) for table, value in found if value is not None and subject.gap(value, end) == 0), None)


def _never_reached(subject: Subject, end: Fraction) -> bool:
    """Whether algebra shows that the value lies on one side of this number for all cells."""

    def beside(value: Sum) -> bool:
        gap = value - value.over.number(end)
        return never_zero(gap) or never_zero(-gap)

    return subject.formula is not None and on_all_tables([subject.formula], beside)


# ---------------------------------------------------------------- one metric against another


def harsher(a: Any, b: Any) -> Decision:
    """Whether one metric is nowhere kinder than another: at most its value, or at least where lower is better.

    >>> harsher("g_mean", "balanced_accuracy").verdict
    'proved'
    """
    first, second = Subject(get_metric(a)), Subject(get_metric(b))
    directions = {first.metric.direction, second.metric.direction}
    if len(directions) > 1 or None in directions:
        raise InputError(
            f"{first.metric.name} and {second.metric.name} are not both better when higher, or both when lower; "
            "which is harsher is asked of two that are."
        )
    name, signed = f"harsher than {second.metric.name}", 1 if directions == {"higher"} else -1
    return Decision(first.metric.name, name, *_compared(first, second, signed))


def _compared(first: Subject, second: Subject, signed: int) -> _Verdict:
    examined, broken = _kinder(first, second, signed)
    if broken:
        return REFUTED, "a table, in exact arithmetic", broken
    below = lambda low, high: never_negative(high - low if signed > 0 else low - high)  # noqa: E731
    if first.formula and second.formula and on_all_tables([first.formula, second.formula], below):
        return PROVED, "algebra: the sign of the difference, roots by their squares", None
    return unrefuted(examined), first.by_search, None


def _kinder(first: Subject, second: Subject, signed: int) -> tuple[int, Counterexample | None]:
    """How many tables were examined, and one on which the first metric is kinder than the second."""
    examined = 0
    for table in [*SWAP.small, *SWAP.drawn()]:
        value, other = first.value(table), second.value(table)
        if value is not None and other is not None:
            examined += 1
            if all(subject.gap(value, other) * signed > 0 for subject in (first, second)):
                return examined, Counterexample(whole(table), None, str(value), str(other))
    return examined, None
