"""Explanation: one metric in words, and the accuracy paradox worked through."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.analysis.results.formatting import percent_text
from steelyard.metrics import notation, references, registry
from steelyard.metrics.expression import Expression, Named, walk
from steelyard.metrics.spec_text import parse_form
from steelyard.report.metric_list import number_text, range_text
from steelyard.report.terminal import bold, paragraph, print_table
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard.metrics.metric import Metric

# Finley's tornado forecasts of 1884: rare positives, and a forecaster who was right 96.6 % of the time.
_EXAMPLE = Counts(tp=28, fn=23, fp=72, tn=2680)


def explanation(metric: Metric) -> str:
    """Everything the registry holds about one metric, as paragraphs."""
    sections = [
        f"{bold(metric.title)}  ({metric.name})",
        paragraph(metric.meaning, "  "),
        _section("also called", ", ".join(metric.aliases)),
        _section("scikit-learn", metric.sklearn or "none"),
        _section("formula", "\n".join(_formulas(metric))),
        _section("range", f"{range_text(metric)}, {_best(metric)}"),
        _section("undefined", _undefined(metric)),
        _section("limits", _limits(metric)),
        _section("parameters", ", ".join(f"{k} = {_parameter(v)}" for k, v in metric.parameters.items())),
        _section("source", references.reference(metric.cite or "")),
        _section("example", _example(metric)),
    ]
    return "\n\n".join(section for section in sections if section)


def _section(title: str, body: str) -> str:
    lines = [paragraph(line, "    ") for line in body.split("\n")]
    return "\n".join([f"  {bold(title)}", *lines]) if body else ""


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
    if metric.general is None:
        return "wherever the function returns NaN"
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
