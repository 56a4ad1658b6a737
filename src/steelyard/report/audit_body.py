"""Matrix: the body of an audit's page: one row a metric, one column a property, and what decided each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard import __version__
from steelyard.auditing.property_list import PROPERTIES
from steelyard.metrics.registry import get_metric
from steelyard.report.document import filled, scrolled, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.auditing.decisions import Decision
    from steelyard.auditing.property_list import Property

_WORDS = {True: ("yes", "yes"), False: ("no", "no"), None: ("?", "open-question")}


def body(decisions: Sequence[Decision]) -> str:
    """The page of an audit."""
    found: dict[str, dict[str, Decision]] = {}
    for decision in decisions:
        found.setdefault(decision.metric, {})[decision.property] = decision
    names = [name for name in PROPERTIES if any(name in row for row in found.values())]
    proved, refuted = (sum(decision.holds is sign for decision in decisions) for sign in (True, False))
    return filled(
        "matrix.html",
        metrics=f"{len(found):,}",
        decisions=f"{len(decisions):,}",
        proved=f"{proved:,}",
        refuted=f"{refuted:,}",
        matrix=_matrix(found, names),
        asked=_asked(names),
        version=text(__version__),
        decided="".join(_metric(metric, row, names) for metric, row in found.items()),
    )


def _matrix(found: dict[str, dict[str, Decision]], names: Sequence[str]) -> str:
    heads = "".join(f'<th scope="col" title="{text(p.meaning)}">{text(p.title)}</th>' for p in map(_property, names))
    top = f'<th scope="col">metric</th>{heads}'
    body = "".join(_row(metric, [_cell(row.get(name)) for name in names]) for metric, row in found.items())
    return scrolled(f'<table class="matrix"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>', "Properties")


def _row(metric: str, cells: Sequence[str]) -> str:
    return f'<tr data-metric="{text(metric)}"><th scope="row">{text(_title(metric))}</th>{"".join(cells)}</tr>'


def _cell(decision: Decision | None) -> str:
    if decision is None:
        return "<td></td>"
    word, kind = _WORDS[decision.holds]
    return f'<td class="{kind}" data-property="{text(decision.property)}">{word}</td>'


def _asked(names: Sequence[str]) -> str:
    asked = map(_property, names)
    parts = (
        f"<dt>{text(one.title)}</dt><dd>{text(one.meaning)} {text(one.wanted)} <code>{text(one.name)}</code></dd>"
        for one in asked
    )
    return f'<dl class="asked">{"".join(parts)}</dl>'


def _metric(metric: str, row: dict[str, Decision], names: Sequence[str]) -> str:
    lines = "".join(_line(row[name]) for name in names if name in row)
    formula = f"<p><code>{text(metric)} = {text(get_metric(metric).text)}</code></p>"
    return f'<details><summary>{text(_title(metric))}</summary>{formula}<dl class="asked">{lines}</dl></details>'


def _line(decision: Decision) -> str:
    how = decision.counterexample if decision.counterexample is not None else decision.how
    asked = _property(decision.property)
    return f"<dt>{text(asked.title)}</dt><dd>{text(asked.meaning)} <b>{text(decision.verdict)}</b>: {text(how)}</dd>"


def _property(name: str) -> Property:
    return PROPERTIES[name]


def _title(metric: str) -> str:
    return get_metric(metric).title
