"""The audit's table: every decision about every metric, for the command line and the documentation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.analysis.results.rows import Rows
from steelyard.arguments import names_wrong_arguments
from steelyard.auditing.properties import PROPERTIES, Decision, audit_properties
from steelyard.exceptions import InputTypeError
from steelyard.metrics.registry import get_metric

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard.metrics.registry import MetricLike

_MARKS = {True: "yes", False: "no", None: "?"}


@names_wrong_arguments
def audit(*metrics: MetricLike, properties: Iterable[str] | None = None) -> Rows[Decision]:
    """The proven properties of the metrics named, or of all: proved, refuted by a table, or left open.

    >>> audit("g_mean", properties=["class_symmetry"])[0].verdict
    'proved'
    """
    if isinstance(properties, str):
        raise InputTypeError(f"Properties are given as a list of names, not as the text {properties!r}.")
    chosen = [get_metric(metric) for metric in metrics] or None
    return Rows(audit_properties(chosen, None if properties is None else list(properties)))


def markdown(decisions: Iterable[Decision]) -> str:
    """One row per metric, one column per property: yes proved, no refuted, ? open or inapplicable; then the legend."""
    rows: dict[str, dict[str, Decision]] = {}
    for decision in decisions:
        rows.setdefault(decision.metric, {})[decision.property] = decision
    names = [name for name in PROPERTIES if any(name in row for row in rows.values())]
    lines = [f"| metric | {' | '.join(names)} |", "|" + "---|" * (len(names) + 1)]
    for metric, row in rows.items():
        cells = [_MARKS[row[name].holds] if name in row else "" for name in names]
        lines.append(f"| {metric} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", *(f"- `{name}`: {words}" for name, words in legend(names).items())])


def legend(names: Iterable[str]) -> dict[str, str]:
    """What each property says and who wants it, both readings where papers disagree."""
    wanted = set(names)
    return {name: f"{p.meaning} {p.wanted}" for name, p in PROPERTIES.items() if name in wanted}
