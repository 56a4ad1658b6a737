"""Explanation: one metric in words, and the accuracy paradox worked through."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.results.formatting import percent_text
from steelyard.auditing.properties import metric_uses
from steelyard.metrics import notation, references, registry
from steelyard.metrics.expression import Expression, Named
from steelyard.metrics.expression_walk import walk
from steelyard.metrics.spec_text import parse_form
from steelyard.report.terminal.layout import bold, paragraph, print_table
from steelyard.report.terminal.metric_list import number_text, range_text
from steelyard.tables.class_scores import ClassScores
from steelyard.tables.counts import Counts
from steelyard.tables.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard.metrics.measure import Metric

# Finley's tornado forecasts of 1884: rare positives, and a forecaster who was right 96.6 % of the time.
_EXAMPLE = Counts(tp=28, fn=23, fp=72, tn=2680)
_NONE, _SOME = ClassScores(np.zeros(0)), ClassScores(np.array([0.25, 0.75]))
_LACKING = (ScoreTable(_NONE, _SOME), ScoreTable(_SOME, _NONE))  # a class without rows


def explanation(metric: Metric) -> str:
    """Everything the registry holds about one metric, as paragraphs."""
    sections = [
        f"{bold(metric.title)}  ({metric.name})",
        paragraph(metric.meaning, "  "),
        paragraph(_details(metric), "  ") if _details(metric) else "",
        _section("also called", ", ".join(metric.aliases)),
        _section("scikit-learn", metric.sklearn or "none"),
        _section("formula", "\n".join(_formulas(metric))),
        _section("range", f"{range_text(metric)}, {_best(metric)}"),
        _section("undefined", _undefined(metric)),
        _section("limits", _limits(metric)),
        _section("parameters", ", ".join(f"{k} = {_parameter(v)}" for k, v in metric.parameters.items())),
        _section("use it where", "\n".join(metric_uses(metric).fits)),
        _section("not where", "\n".join(metric_uses(metric).fails)),
        _section("source", "\n".join(dict.fromkeys(_sources(metric)))),
        _section("example", _example(metric)),
    ]
    return "\n\n".join(section for section in sections if section)


def _section(title: str, body: str) -> str:
    lines = [paragraph(line, "    ") for line in body.split("\n")]
    return "\n".join([f"  {bold(title)}", *lines]) if body else ""


def _details(metric: Metric) -> str:
    """What the metric's definition says after its first sentence."""
    further = (inspect.getdoc(metric.function or metric.scores) or "").partition("\n\n")[2]
    return " ".join(further.partition(">>>")[0].replace("`", "").split())


def _sources(metric: Metric) -> Iterator[str]:
    yield references.reference(metric.cite or "")
    yield from references.references_in(_details(metric))


def _formulas(metric: Metric) -> Iterator[str]:
    """The formula, and below it those of the metrics it names."""
    yield f"{metric.name} = {metric.text}"
    if metric.general is not None:
        yield from dict.fromkeys(_parts(metric.general))


def _parts(expression: Expression) -> Iterator[str]:
    for node in walk(expression):
        if isinstance(node, Named):
            yield f"  where {parse_form(node.name)[0]} = {notation.text(node.general)}"


def _best(metric: Metric) -> str:
    if metric.best is not None:
        return f"best {number_text(metric.best)}"
    return f"{metric.direction} is better" if metric.direction else "a description: no value is best"


def _undefined(metric: Metric) -> str:
    if metric.is_of_label_sets:
        return "wherever no row has any weight"
    if metric.general is None:
        reasons = dict.fromkeys(filter(None, map(metric.why, _LACKING))) if metric.function is None else ()
        return "\n".join(map(_where, reasons)) or "wherever the function returns NaN"
    return "\n".join(_where(why) for why, value in metric.guards if value == "undefined")


def _limits(metric: Metric) -> str:
    return "\n".join(f"{value} {_where(why)}" for why, value in metric.guards if value != "undefined")


def _where(why: str) -> str:
    return f"where there are {why}" if why.startswith("no ") else f"where {why}"


def _parameter(value: object) -> str:
    return "from the table" if value is None else getattr(value, "name", str(value))


def _example(metric: Metric) -> str:
    if metric.function is None:
        return ""  # it needs scores, and the forecasts were yes or no
    cells = ", ".join(f"{name} {cell}" for name, cell in _EXAMPLE.to_dict().items())
    return f"Finley's tornado forecasts ({cells}): {metric.name} = {metric(_EXAMPLE):.3g}"


def paradox() -> str:
    """Nguyen's always-TRUE classifier on a test set of nine positives to one negative, worked."""
    counts = Counts(tp=90, fn=0, fp=10, tn=0)
    pairs = [(registry.get_metric(m.corrects), m) for m in registry.list_metrics() if m.corrects is not None]
    rows = [[percent_text(plain(counts)), percent_text(corrected(counts)), plain.name] for plain, corrected in pairs]
    alpha = registry.get_metric("unbalanced_factor")(counts)
    lesson = paragraph(
        'A classifier that always predicts "positive", tested on 90 positives and 10 negatives, knows nothing. '
        "Its accuracy suggests otherwise. Giving each negative the unbalanced factor of the test set as its weight, "
        f"alpha = 90/10 = {alpha:g} (Nguyen), shows what it is: no better than a random predictor."
    )
    return "\n".join(["", lesson, "", print_table(["as usual", "with alpha", "metric"], rows)])
