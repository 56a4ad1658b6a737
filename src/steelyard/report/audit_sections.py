"""Audit sections: one row per metric, one column per property, and the proof or counterexample of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard._names import __version__
from steelyard.auditing.property_list import PROPERTIES
from steelyard.metrics.registry import get_metric
from steelyard.report.document import rendered_html

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from markupsafe import Markup

    from steelyard.auditing.decisions import Decision

_WORDS = {True: ("yes", "yes"), False: ("no", "no"), None: ("?", "open-question")}


def audit_html(decisions: Sequence[Decision]) -> Markup:
    """The body of an audit's page."""
    by_metric: dict[str, dict[str, Decision]] = {}
    for decision in decisions:
        by_metric.setdefault(decision.metric, {})[decision.property] = decision
    names = [name for name in PROPERTIES if any(name in row for row in by_metric.values())]
    proved, refuted = (sum(decision.holds is sign for decision in decisions) for sign in (True, False))
    return rendered_html(
        "audit.html",
        decisions=len(decisions),
        proved=proved,
        refuted=refuted,
        properties=[PROPERTIES[name] for name in names],
        metrics=[_metric(metric, row, names) for metric, row in by_metric.items()],
        version=__version__,
    )


def _metric(metric: str, decisions: Mapping[str, Decision], names: Sequence[str]) -> dict[str, object]:
    return {
        "name": metric,
        "title": get_metric(metric).title,
        "formula": get_metric(metric).text,
        "cells": [_cell(decisions.get(name)) for name in names],
        "decided": [_decided(decisions[name]) for name in names if name in decisions],
    }


def _cell(decision: Decision | None) -> dict[str, str] | None:
    if decision is None:
        return None
    word, kind = _WORDS[decision.holds]
    return {"word": word, "kind": kind, "property": decision.property}


def _decided(decision: Decision) -> dict[str, object]:
    how = decision.counterexample if decision.counterexample is not None else decision.how
    claim = PROPERTIES[decision.property]
    return {"title": claim.title, "meaning": claim.meaning, "verdict": decision.verdict, "how": how}
