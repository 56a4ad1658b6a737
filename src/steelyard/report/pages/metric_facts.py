"""Metric facts: what a page says and computes of each metric, read off the registry and the audit."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from steelyard.analysis.intervals.draw_ends import kinks
from steelyard.auditing.decisions import recalled_decisions
from steelyard.auditing.laws import PROPERTIES
from steelyard.auditing.properties import metric_uses
from steelyard.metrics import notation, reasons, references
from steelyard.metrics.registry import get_metric, get_metrics
from steelyard.metrics.spec import MetricSpec
from steelyard.report.pages.document import embedded
from steelyard.report.pages.page_numbers import finite_or_none, rounded, rounded_ends

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard._types import Label
    from steelyard.evaluation.evaluation import MetricRow
    from steelyard.metrics.expression import Expression
    from steelyard.metrics.measure import Metric

# Read by the page's pictures and tables, whatever was asked for.
_OF_PAGE = ("recall", "specificity", "precision", "accuracy", "prevalence", "f1")
_CELLS = "(tp, fn, fp, tn)"
KEYS = (
    "name",
    "title",
    "family",
    "range",
    "sign",
    "share",
    "value",
    "low",
    "high",
    "chance",
    "why",
    "method",
)
_SIGNS = {True: "+", False: "-", None: "?"}  # proved, refuted, neither


def fact(row: MetricRow) -> dict[str, Any]:
    """One metric's row and what is to be known of it, as strict JSON values."""
    metric = row.spec.metric
    values = (
        row.name,
        row.spec.title,
        metric.family,
        [finite_or_none(end) for end in metric.range],
        metric.sign,
        metric.is_share,
        finite_or_none(row.value),
        *rounded_ends(row),
        rounded(row.chance),
        row.interval_or_reason() if math.isfinite(row.chance_high) else row.undefined or row.no_interval,
        row.method,
    )
    rare: dict[str, Any] = {"undefined_share": row.undefined_share or None, "no_interval": row.no_interval}
    rare["chance_high"] = finite_or_none(row.chance_high)
    return dict(zip(KEYS, values, strict=True)) | {key: value for key, value in rare.items() if value is not None}


def _holds(metric: Metric) -> str:
    """One sign for each property; none where nothing is decided of the formula."""
    decisions = recalled_decisions(metric)
    signs = (_SIGNS[decisions[name].holds if name in decisions else None] for name in PROPERTIES)
    return "".join(signs) if decisions else ""


def explained(rows: Iterable[MetricRow]) -> dict[str, Any]:
    """What each metric's name opens; the references once."""
    metrics = {row.name: row.spec.metric for row in rows}
    facts = {name: _explanation(metric) for name, metric in metrics.items()}
    cited = {metric.cite: references.reference(metric.cite) for metric in metrics.values() if metric.cite}
    return {"metrics": facts, "sources": cited, "properties": property_sentences()}


def _explanation(metric: Metric) -> dict[str, Any]:
    uses = metric_uses(metric)
    words: dict[str, Any] = {
        "meaning": metric.meaning,
        "formula": metric.text,
        "names": [*metric.aliases, *([f"{metric.sklearn} (scikit-learn)"] if metric.sklearn else [])],
        "parameters": {key: getattr(v, "name", v) for key, v in metric.parameters.items()},
        "fits": uses.fits,
        "fails": uses.fails,
        "cite": metric.cite or "",
        "holds": _holds(metric),
    }
    return {key: value for key, value in words.items() if value}


def property_sentences() -> list[str]:
    """What every property says, in the order of the signs."""
    return [claim.meaning for claim in PROPERTIES.values()]


def formulas(specs: Iterable[MetricSpec], positive: Label) -> str:
    """The registry's formulas as one JavaScript object: each with what leaves it undefined at 0, and its kinks."""
    chosen = dict.fromkeys([*map(MetricSpec, get_metrics(_OF_PAGE)), *specs])
    traced = {spec.name: spec.two_class_expression(positive) for spec in chosen}
    entries = [f"{embedded(name)}: {_entry(node)}" for name, node in traced.items() if node is not None]
    benefit = get_metric("net_benefit").general
    net = "null" if benefit is None else f"(tp, fn, fp, tn, threshold) => {notation.javascript(benefit)}"
    parts = f"NET_BENEFIT: {net},\nFORMULAS: {{{','.join(entries)}}}"
    # Their helpers keep to themselves: the names in a bundle are short ones.
    return f"const {{ NET_BENEFIT, FORMULAS }} = (() => {{\n{notation.JAVASCRIPT_HELPERS}\nreturn {{{parts}}};}})();\n"


def _entry(node: Expression) -> str:
    zeros = dict.fromkeys((why, notation.javascript(part)) for why, part in reasons.zeros(node))
    undefined = ",".join(f"[{embedded(why)},{part}]" for why, part in zeros)
    bends = ",".join(notation.javascript(kink.args[0]) for kink in kinks(node))
    kinked = f", kinks: {_CELLS} => [{bends}]" if bends else ""
    return f"{{f: {_CELLS} => {notation.javascript(node)}, zeros: {_CELLS} => [{undefined}]{kinked}}}"
