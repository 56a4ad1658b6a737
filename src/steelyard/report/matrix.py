"""Matrix: the body of an audit's page: one row a measure, one column a property, and what decided each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard import __version__
from steelyard.auditing.claims import PROPERTIES
from steelyard.metrics.registry import get_metric
from steelyard.report.document import text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.auditing.decisions import Decision

WORDS = {True: ("yes", "yes"), False: ("no", "no"), None: ("?", "open-question")}


def body(decisions: Sequence[Decision]) -> str:
    """The page of an audit."""
    found: dict[str, dict[str, Decision]] = {}
    for decision in decisions:
        found.setdefault(decision.metric, {})[decision.property] = decision
    names = [name for name in PROPERTIES if any(name in row for row in found.values())]
    proved, refuted = (sum(decision.holds is sign for decision in decisions) for sign in (True, False))
    return (
        f'<header><p class="name"><span class="mark">Steelyard</span> · audit of {len(found):,} measures</p></header><main>'
        f'<section class="verdict" aria-label="Verdict"><h1>{len(decisions):,} decisions: {proved:,} proved, {refuted:,} refuted by a table</h1>'
        "<p>Yes is proved for all tables, no is refuted by the table given below, ? is open or does not apply.</p></section>"
        f"<section><h2>Measures and properties</h2>{_matrix(found, names)}</section>"
        f"<section><h2>What each property asks</h2>{_asked(names)}</section>"
        f"<section><h2>What decided it</h2>{''.join(_measure(metric, row, names) for metric, row in found.items())}</section>"
        f'<section class="about"><p>Steelyard {text(__version__)}. Claims are tried on small tables in exact arithmetic, then proved by algebra.</p></section></main>'
    )


def _matrix(found: dict[str, dict[str, Decision]], names: Sequence[str]) -> str:
    top = "".join(f'<th scope="col">{text(name)}</th>' for name in names)
    rows = "".join(
        f'<tr data-metric="{text(metric)}"><th scope="row">{text(metric)}</th>{"".join(_cell(row.get(name)) for name in names)}</tr>'
        for metric, row in found.items()
    )
    return (
        '<div class="wide" tabindex="0" role="region" aria-label="Measures and properties"><table class="matrix">'
        f'<thead><tr><th scope="col">measure</th>{top}</tr></thead><tbody>{rows}</tbody></table></div>'
    )


def _cell(decision: Decision | None) -> str:
    if decision is None:
        return "<td></td>"
    word, kind = WORDS[decision.holds]
    return f'<td class="{kind}" data-property="{text(decision.property)}">{word}</td>'


def _asked(names: Sequence[str]) -> str:
    parts = "".join(
        f"<dt>{text(name)}</dt><dd>{text(PROPERTIES[name].meaning)} {text(PROPERTIES[name].wanted)}</dd>"
        for name in names
    )
    return f'<dl class="asked">{parts}</dl>'


def _measure(metric: str, row: dict[str, Decision], names: Sequence[str]) -> str:
    lines = "".join(_line(row[name]) for name in names if name in row)
    formula = get_metric(metric).text
    return f'<details><summary>{text(metric)}</summary><p><code>{text(metric)} = {text(formula)}</code></p><dl class="asked">{lines}</dl></details>'


def _line(decision: Decision) -> str:
    how = decision.counterexample if decision.counterexample is not None else decision.how
    return f"<dt>{text(decision.property)}</dt><dd>{text(decision.verdict)}: {text(how)}</dd>"
