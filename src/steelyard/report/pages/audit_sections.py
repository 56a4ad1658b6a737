"""Audit sections: one row per metric, one column per property, and the proof or counterexample of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard._names import __version__
from steelyard.auditing.laws import PROPERTIES
from steelyard.auditing.properties import decided_text
from steelyard.metrics.registry import get_metric
from steelyard.report.pages.document import rendered_html
from steelyard.report.pages.frame import Section

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard.auditing.decisions import Decision, FourCells

_WORDS = {True: ("yes", "yes"), False: ("no", "no"), None: ("?", "open-question")}
_MOST_PRINTED = 3  # metrics whose proofs are printed


@dataclass(frozen=True)
class MatrixMark:
    """A cell of the matrix: its word, its kind, and the property it is about."""

    word: str
    kind: str
    property: str


@dataclass(frozen=True)
class Proof:
    """How a property of a metric was decided, and the tables that refute it, each with the metric's value there."""

    property: str
    title: str
    meaning: str
    verdict: str
    how: str
    tables: Sequence[tuple[str, FourCells]]
    asked: str


@dataclass(frozen=True)
class AuditedLine:
    """A metric, its formula, its row of the matrix, and how each of its properties was decided."""

    name: str
    title: str
    formula: str
    marks: Sequence[MatrixMark | None]
    proofs: Sequence[Proof]


def audit_facts(decisions: Sequence[Decision]) -> list[str]:
    """The line at the top: how many metrics and properties."""
    metrics, asked = len({row.metric for row in decisions}), len({row.property for row in decisions})
    return ["audit", _counted(metrics, "metric"), _counted(asked, "property")]


def audit_section(decisions: Sequence[Decision]) -> Section:
    """The whole of an audit's page: the headline, the matrix, what it asks, and the proofs."""
    by_metric: dict[str, dict[str, Decision]] = {}
    for decision in decisions:
        by_metric.setdefault(decision.metric, {})[decision.property] = decision
    names = [name for name in PROPERTIES if any(name in row for row in by_metric.values())]
    html = rendered_html(
        "audit.html",
        headline=audit_sentence(decisions),
        properties=[PROPERTIES[name] for name in names],
        metrics=[_line(metric, row, names) for metric, row in by_metric.items()],
        most_printed=_MOST_PRINTED,
        version=__version__,
    )
    return Section(html)


def audit_sentence(decisions: Sequence[Decision]) -> str:
    """How many properties are proved, how many refuted, and how many neither."""
    proved, refuted = (sum(decision.holds is sign for decision in decisions) for sign in (True, False))
    metrics, others = {decision.metric for decision in decisions}, len(decisions) - proved - refuted
    rest = f"; {others:,} {'is' if others == 1 else 'are'} open or not applicable" if others else ""
    if len(metrics) == 1:
        name = get_metric(metrics.pop()).title
        return f"{name} has {proved} of {_counted(len(decisions), 'property')}; {refuted} fail on a table below{rest}."
    return (
        f"{decided_text(decisions)} are decided: {proved:,} are proved for all tables, and {refuted:,} are refuted by "
        f"one{rest}."
    )


def _counted(number: int, word: str) -> str:
    plural = f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"
    return f"{number:,} {word if number == 1 else plural}"


def _line(metric: str, decisions: Mapping[str, Decision], names: Sequence[str]) -> AuditedLine:
    spec = get_metric(metric)
    proofs = [_proof(decisions[name]) for name in names if name in decisions]
    return AuditedLine(metric, spec.title, str(spec.text), [_mark(decisions.get(name)) for name in names], proofs)


def _mark(decision: Decision | None) -> MatrixMark | None:
    return None if decision is None else MatrixMark(*_WORDS[decision.holds], decision.property)


def _proof(decision: Decision) -> Proof:
    claim, example = PROPERTIES[decision.property], decision.counterexample
    how = decision.how if example is None else str(example)
    tables, asked = ((), "") if example is None else (example.tables, example.asked)
    return Proof(decision.property, claim.title, claim.meaning, decision.verdict, how, tables, asked)
