"""Decided: what the audit proves and refutes of a metric, and the laws that tie it to others, as Markdown."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

from steelyard import list_metrics
from steelyard.auditing.decisions import PROVED, REFUTED, cells_text, recalled_decisions
from steelyard.auditing.identities import combinations, identities
from steelyard.auditing.laws import PROPERTIES
from steelyard.metrics import references

if TYPE_CHECKING:
    from steelyard.auditing.decisions import Decision
    from steelyard.metrics.measure import Metric


def proved(metric: Metric, name: str) -> bool:
    decision = recalled_decisions(metric).get(name)
    return decision is not None and decision.verdict == PROVED


def refuted(metric: Metric, name: str) -> bool:
    decision = recalled_decisions(metric).get(name)
    return decision is not None and decision.verdict == REFUTED


def properties(metric: Metric) -> str:
    decisions = recalled_decisions(metric)
    if not decisions:
        return ""
    lines = ["| property | verdict | how it is known, or the tables that refute it |", "|---|---|---|"]
    for name, property_ in PROPERTIES.items():
        if name in decisions:
            lines.append(
                f"| [{cell(property_.title)}](asked.md#{name}) | {_verdict(decisions[name])} | {cell(_how(decisions[name]))} |"
            )
    return "\n".join(
        [
            *lines,
            "",
            f"What each property says, and who wants it: [what is asked of a metric](asked.md). `steelyard audit {metric.name}` prints the same.",
        ]
    )


def asked() -> str:
    """The page of the properties: what each says, who wants it, and which metrics have it."""
    parts = [
        "# What is asked of a metric",
        "The audit decides each of these properties for each metric: proved by algebra, refuted by the smallest table, or "
        "left open. Whether a property is a virtue is for you to say; the papers do not agree. "
        "[All decisions in one table](../properties.md).",
    ]
    for name, property_ in PROPERTIES.items():
        having = [metric for metric in list_metrics() if proved(metric, name)]
        names = ", ".join(f"[{metric.title}]({metric.name}.md)" for metric in having)
        sources = "; ".join(references.reference(key) for key in property_.cite)
        parts += [
            f"## {property_.title} {{ #{name} }}",
            property_.meaning,
            f"*Who wants it.* {property_.wanted}",
            f"*Proved of* {names}." if names else "*Proved of* none.",
            f"*Sources.* {sources}" if sources else "",
        ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _verdict(decision: Decision) -> str:
    return {True: "**yes**, proved", False: "**no**, refuted"}.get(decision.holds, decision.verdict)


def _how(decision: Decision) -> str:
    counterexample = decision.counterexample
    if counterexample is None:
        return decision.how
    to = "" if counterexample.after is None else f" on {cells_text(counterexample.after)}"
    return f"{_exact(counterexample.value)} on {cells_text(counterexample.before)}; {_exact(counterexample.other)}{to}"


def _exact(value: str) -> str:
    """An exact value, rounded where it is long."""
    return value if len(value) <= 9 else f"{float(Fraction(value)):.4g}"


@cache
def laws() -> tuple[Any, ...]:
    """Every law between metrics that is proved."""
    return tuple(law for law in (*identities(), *combinations()) if law.verdict == PROVED)


def related(metric: Metric) -> str:
    own = [law for law in laws() if metric.name in law.metrics]
    lines = [f"- `{law.law}` ({', '.join(_link(name) for name in law.metrics if name != metric.name)})" for law in own]
    return "\n".join([*lines, "", "Each is proved by algebra, where all its metrics are defined."]) if lines else ""


def _link(name: str) -> str:
    return f"[{name}]({name}.md)"


def cell(text: str) -> str:
    """The text with the sign that would end a cell of a table escaped."""
    return text.replace("|", r"\|")
