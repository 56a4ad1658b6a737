"""Explanation: one measure in words, and a paradox worked through. Used by the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.metrics import notation, references, registry
from steelyard.metrics.expression import Expression, Named, walk
from steelyard.report.metric_list import bounds, number
from steelyard.report.terminal import paragraph, print_table
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard.metrics.metric import Metric

# Finley's tornado forecasts of 1884: rare positives, and a forecaster who was right 96.6 % of the time.
EXAMPLE = Counts(tp=28, fn=23, fp=72, tn=2680)


def explanation(measure: Metric) -> str:
    """Everything the registry knows about one measure, as paragraphs."""
    sections = [
        f"{measure.title}  ({measure.name})",
        paragraph(measure.meaning, "  "),
        _section("formula", "\n".join(_formulas(measure))),
        _section("range", f"{bounds(measure)}, {_best(measure)}"),
        _section("undefined", _undefined(measure)),
        _section("limits", _limits(measure)),
        _section("parameters", ", ".join(f"{k} = {_parameter(v)}" for k, v in measure.parameters.items())),
        _section("also called", ", ".join(measure.aliases)),
        _section("source", references.reference(measure.cite or "")),
        _section("example", _example(measure)),
    ]
    return "\n\n".join(section for section in sections if section)


def _section(title: str, body: str) -> str:
    lines = [paragraph(line, "    ") for line in body.split("\n")]
    return "\n".join([f"  {title}", *lines]) if body else ""


def _formulas(measure: Metric) -> Iterator[str]:
    """The formula, and below it those of the measures it names."""
    yield f"{measure.name} = {measure.text}"
    if measure.general is not None:
        yield from dict.fromkeys(_parts(measure.general))


def _parts(expression: Expression) -> Iterator[str]:
    for node in walk(expression):
        if isinstance(node, Named):
            yield f"  where {node.name.split('[')[0]} = {notation.text(node.general)}"


def _best(measure: Metric) -> str:
    if measure.best is not None:
        return f"best {number(measure.best)}"
    return f"{measure.direction} is better" if measure.direction else "a description: no value is best"


def _undefined(measure: Metric) -> str:
    if measure.general is None:
        return "wherever the function returns NaN"
    return "\n".join(_where(why) for why, value in measure.guards if value == "undefined")


def _limits(measure: Metric) -> str:
    return "\n".join(f"{value} {_where(why)}" for why, value in measure.guards if value != "undefined")


def _where(why: str) -> str:
    return f"where there are {why}" if why.startswith("no ") else f"where {why}"


def _parameter(value: object) -> str:
    return "from the table" if value is None else getattr(value, "name", str(value))


def _example(measure: Metric) -> str:
    cells = ", ".join(f"{name} {cell}" for name, cell in EXAMPLE.to_dict().items())
    return f"Finley's tornado forecasts ({cells}): {measure.name} = {measure(EXAMPLE):.3g}"


def paradox() -> str:
    """Nguyen's always-TRUE classifier on a test set of nine positives to one negative, worked."""
    counts = Counts(tp=90, fn=0, fp=10, tn=0)
    rows = [
        [f"{registry.get_metric(plain)(counts):.1%}", f"{registry.get_metric(corrected)(counts):.1%}", plain]
        for plain, corrected in (
            ("accuracy", "alpha_accuracy"),
            ("precision", "alpha_precision"),
            ("recall", "alpha_recall"),
            ("f1", "alpha_f1"),
        )
    ]
    alpha = registry.get_metric("unbalanced_factor")(counts)
    told = paragraph(
        'A classifier that says "positive" to everything, tested on 90 positives and 10 negatives, knows nothing. '
        f"Its accuracy says otherwise. Weighing each negative by the unbalanced factor of the test set, alpha = "
        f"90/10 = {alpha:g} (Nguyen), shows what it is: a guess."
    )
    return "\n".join(["", told, "", print_table(["as usual", "with alpha", "measure"], rows)])
