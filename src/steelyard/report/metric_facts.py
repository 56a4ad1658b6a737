"""Facts: what a page says and computes of each metric, read off the registry and the audit. Used by the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.analysis.kinks import kinks
from steelyard.auditing.decision_store import recalled_decisions
from steelyard.auditing.property_list import PROPERTIES
from steelyard.metrics import notation, references
from steelyard.metrics.registry import get_metric
from steelyard.report.document import embedded
from steelyard.report.page_numbers import finite, rounded

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard.evaluation.evaluation import Row
    from steelyard.metrics.metric import Metric

_CELLS = "(tp, fn, fp, tn)"
KEYS = (
    "name",
    "title",
    "family",
    "range",
    "sign",
    "value",
    "low",
    "high",
    "chance",
    "why",
    "method",
    "formula",
    "meaning",
    "parameters",
    "cite",
    "holds",
)
_DRAWN = (
    "precision",
    "recall",
    "specificity",
    "f1",
    "prevalence",
)  # read by pictures and tables, whatever is asked for

_SIGNS = {True: "+", False: "-", None: "?"}  # proved, refuted, neither


def metric_of(row: Row) -> Metric:
    """The metric of a row, whose name may carry the way of averaging."""
    return get_metric(row.name.split("[average=")[0])


def fact(row: Row) -> dict[str, Any]:
    """One metric's row and what is to be known of it, as strict JSON values."""
    metric = metric_of(row)
    known = recalled_decisions(metric)
    parameters = {key: getattr(v, "name", v) for key, v in metric.parameters.items()}
    holds = "".join(_SIGNS[known[name].holds if name in known else None] for name in PROPERTIES) if known else ""
    values = (
        row.name,
        title(row),
        metric.family,
        [finite(end) for end in metric.range],
        {"higher": 1, "lower": -1}.get(str(metric.direction), 0),
        finite(row.value),
        *(rounded(v) for v in (row.low, row.high, row.chance)),
        row.undefined,
        row.method,
        metric.text,
        metric.meaning,
        parameters,
        metric.cite or "",
        holds,
    )
    return dict(zip(KEYS, values, strict=True))


def title(row: Row) -> str:
    """The metric's title, with its way of averaging where it has one."""
    average = row.name.partition("[average=")[2].rstrip("]")
    return f"{metric_of(row).title}{f', {average}' if average else ''}"


def sources(facts: Iterable[dict[str, Any]]) -> dict[str, str]:
    """The references that some metrics cite, each written once."""
    return {fact["cite"]: references.reference(fact["cite"]) for fact in facts if fact["cite"]}


def properties() -> list[str]:
    """The title of every property, in the order of the signs."""
    return [asked.title for asked in PROPERTIES.values()]


def formulas(names: Iterable[str]) -> str:
    """The registry's formulas as one JavaScript object: each with what leaves it undefined at 0, and its kinks."""
    chosen = dict.fromkeys([*_DRAWN, *names])
    entries = [f"{embedded(m.name)}: {_entry(m)}" for m in map(get_metric, chosen) if m.javascript]
    benefit = get_metric("net_benefit")
    net = (
        f"(tp, fn, fp, tn, threshold) => {notation.javascript(benefit.general)}"
        if benefit.general is not None
        else "null"
    )
    return f"{notation.JAVASCRIPT_HELPERS}\nconst NET_BENEFIT = {net};\nconst FORMULAS = {{{','.join(entries)}}};\n"


def _entry(metric: Metric) -> str:
    zeros = ",".join(f"[{embedded(why)},{part}]" for why, part in metric.zeros)
    bends = ",".join(notation.javascript(node.args[0]) for node in kinks(metric.expression))
    kinked = f", kinks: {_CELLS} => [{bends}]" if bends else ""
    return f"{{f: {metric.javascript}, zeros: {_CELLS} => [{zeros}]{kinked}}}"
