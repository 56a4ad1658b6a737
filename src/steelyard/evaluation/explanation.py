"""Explanation: what is known of one metric, or of a sentence of the verdict, and the list of all metrics."""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from steelyard.analysis.results.blocks import Block, Sentence, Table
from steelyard.analysis.results.formatting import text_table
from steelyard.analysis.results.result import Flat, Result
from steelyard.analysis.results.result_json import strict
from steelyard.arguments import names_wrong_arguments
from steelyard.auditing.properties import decided_sentences, metric_uses
from steelyard.evaluation.verdict.sentences import SEVERITIES, code_explanation
from steelyard.metrics import notation, references, registry
from steelyard.metrics.call_options import NATIVE
from steelyard.metrics.expression import Expression, Named
from steelyard.metrics.expression_walk import walk
from steelyard.metrics.peers import peer_names
from steelyard.metrics.spec import MetricSpec
from steelyard.metrics.spec_text import parse_form
from steelyard.tables.class_scores import ClassScores
from steelyard.tables.counts import Counts
from steelyard.tables.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from steelyard.metrics.measure import Metric
    from steelyard.metrics.spec import SpecLike

# Finley's tornado forecasts of 1884: rare positives, and a forecaster who was right 96.6 % of the time.
_EXAMPLE = Counts(tp=28, fn=23, fp=72, tn=2680)
_NONE, _SOME = ClassScores(np.zeros(0)), ClassScores(np.array([0.25, 0.75]))
_LACKING = (ScoreTable(_NONE, _SOME), ScoreTable(_SOME, _NONE))  # a class without rows
_AVERAGES = {
    "macro": "the mean of the classes' values",
    "weighted": "the mean of the classes' values, each weighted by its rows",
    "micro": "the value of the classes' tables added up",
    "samples": "the mean of the rows' values, where each row has a set of labels",
    None: "a value for each class",
}


# ---------------------------------------------------------------- one metric


@dataclass(frozen=True, eq=False)
class ExplanationPart(Flat):
    """One part of an explanation, such as the formula, in lines."""

    part: str
    lines: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Result[ExplanationPart]):
    """What is known of a metric, part by part; `name` is its written form."""

    name: str
    title: str
    meaning: str
    parts: tuple[ExplanationPart, ...] = ()

    def __iter__(self) -> Iterator[ExplanationPart]:
        return iter(self.parts)

    @property
    def headline(self) -> str:
        """The metric and what it means."""
        return f"{self.title} ({self.name}): {self.meaning}" if self.title else self.meaning

    def blocks(self) -> list[Block]:
        """The metric, what it means, and each part under its heading."""
        if not self.title:
            return [Sentence(self.meaning, "lead")]
        blocks: list[Block] = [Sentence(f"{self.title} ({self.name})", "headline"), Sentence(self.meaning, "lead")]
        for part in self.parts:
            blocks += [Sentence(part.part or "Definition", "heading"), *(Sentence(line, "lead") for line in part.lines)]
        return [*blocks, Table((), data=self.to_dicts)]


# ---------------------------------------------------------------- all metrics


@dataclass(frozen=True, eq=False)
class MetricFacts(Flat):
    """What the catalogue holds of one metric."""

    name: str
    title: str
    family: str
    aliases: tuple[str, ...]
    meaning: str
    range: tuple[float, float]
    best: float | None
    direction: str | None
    parameters: dict[str, Any]
    formula: str
    latex: str | None
    javascript: str | None
    undefined: tuple[str, ...]
    cite: str | None

    @classmethod
    def of(cls, metric: Metric) -> MetricFacts:
        """The facts of a metric."""
        return cls(
            metric.name,
            metric.title,
            metric.family,
            tuple(metric.aliases),
            metric.meaning,
            (float(metric.range[0]), float(metric.range[1])),
            metric.best,
            metric.direction,
            {key: getattr(value, "name", value) for key, value in metric.parameters.items()},
            metric.text,
            metric.latex,
            metric.javascript,
            tuple(why for why, value in metric.guards if value == "undefined"),
            metric.cite,
        )

    def row(self) -> dict[str, Any]:
        """The facts as strict JSON values; an unbounded end is null."""
        return {key: strict(list(value) if isinstance(value, tuple) else value) for key, value in vars(self).items()}

    def shown_row(self) -> dict[str, Any]:
        """What a table has room for."""
        names = " ".join([self.name, *(f"[{alias}]" for alias in self.aliases)])
        return {
            "metric": names,
            "family": self.family,
            "range": range_text(self.range),
            "best": number_text(self.best),
            "formula": f"`{self.formula}`",
            "meaning": self.meaning,
            "source": self.cite or "–",
        }


@dataclass(frozen=True, eq=False, repr=False)
class MetricList(Result[MetricFacts]):
    """The metrics of the catalogue, or those of one family."""

    metrics: tuple[MetricFacts, ...]

    def __iter__(self) -> Iterator[MetricFacts]:
        return iter(self.metrics)

    @property
    def headline(self) -> str:
        """How many metrics there are."""
        return f"{len(self.metrics):,} metric{'s' * (len(self.metrics) != 1)}"

    def shown_rows(self) -> list[dict[str, Any]]:
        """The rows as people see them."""
        return [facts.shown_row() for facts in self]

    def text(self, emphasis: Callable[[str], str] = str) -> str:
        """The metrics by family, as a terminal shows them."""
        rows: list[list[str] | str] = []
        for facts in self:
            if facts.family not in rows:
                rows.append(facts.family)
            rows.append([facts.name, range_text(facts.range), number_text(facts.best), facts.meaning])
        return text_table(["metric", "range", "best", "meaning"], rows, wrap=(3,), emphasis=emphasis)

    def __repr__(self) -> str:
        return self.text()


def metric_facts(family: str | None = None) -> MetricList:
    """What the catalogue holds of all metrics, or of those of one family."""
    return MetricList(tuple(map(MetricFacts.of, registry.list_metrics(family))))


def range_text(limits: tuple[float, float]) -> str:
    """A range as an interval.

    >>> range_text((0, 1)), range_text((0, math.inf))
    ('[0, 1]', '[0, ∞)')
    """
    low, high = limits
    opening, closing = "[" if math.isfinite(low) else "(", "]" if math.isfinite(high) else ")"
    return f"{opening}{number_text(low)}, {number_text(high)}{closing}"


def number_text(value: float | None) -> str:
    """A fact of the catalogue as a person writes it: 1, -1, ∞, a dash for none."""
    if value is None:
        return "–"
    return f"{'-' if value < 0 else ''}∞" if math.isinf(value) else f"{value:g}"


# ---------------------------------------------------------------- the question


@overload
def explain(name: None = None) -> MetricList: ...
@overload
def explain(name: SpecLike) -> Explanation: ...
@names_wrong_arguments
def explain(name: SpecLike | None = None) -> Explanation | MetricList:
    """What is known of a metric: formula, other names, range, where it fits, what is proved of it, and its source.

    `name` is a metric by any name, in its written form or itself, or the code of a sentence of the verdict, such as
    "for-alerts". Without it all metrics are listed.

    >>> from steelyard import explain
    >>> explain("sensitivity").headline
    'Recall (recall): Share of the positives that are predicted positive (found).'
    >>> next(part.lines for part in explain("f_beta[beta=2]") if part.part == "formula")
    ('f_beta[beta=2] = 5 * tp / (5 * tp + 4 * fn + fp)',)
    >>> explain().headline
    '86 metrics'
    """
    if name is None:
        return metric_facts()
    if isinstance(name, str) and name in SEVERITIES:
        return Explanation(name, "", code_explanation(name))
    spec = MetricSpec.of(name)
    parts = ((part, tuple(filter(None, lines))) for part, lines in _parts(spec))
    return Explanation(
        spec.name,
        spec.title,
        spec.metric.meaning,
        tuple(ExplanationPart(part, lines) for part, lines in parts if lines),
    )


def _parts(spec: MetricSpec) -> Iterator[tuple[str, list[str]]]:
    """Everything that is known of a metric, under its heads; what has no lines is left out."""
    metric = spec.metric
    uses = metric_uses(metric)
    parameters = ", ".join(f"{key} = {_parameter(value)}" for key, value in metric.parameters.items())
    yield "", [_details(metric)]
    yield "average" if spec.label is None else "class", [_average(spec)]
    yield "also called", [", ".join(metric.aliases)]
    yield "scikit-learn", [metric.sklearn or "none"]
    yield "other libraries", [_other_libraries(metric)]
    yield "formula", list(_formulas(metric))
    yield "range", [f"{range_text(metric.range)}, {_best(metric)}"]
    yield "undefined", _undefined(metric)
    yield "limits", [f"{value} {_where(why)}" for why, value in metric.guards if value != "undefined"]
    yield "parameters", [parameters]
    if spec.average == NATIVE:
        yield "use it where", list(uses.fits)
        yield "not where", list(uses.fails)
        yield from decided_sentences(metric)
    else:
        of_one = f"What is proved of {metric.name} is proved of two classes, not of an average"
        yield "properties", [f"{of_one}: explain {metric.name} lists it."]
    yield "source", list(dict.fromkeys(_sources(metric)))
    yield "example", [_example(metric)]


def _details(metric: Metric) -> str:
    """What the metric's definition says after its first sentence."""
    further = (inspect.getdoc(metric.function or metric.scores) or "").partition("\n\n")[2]
    return " ".join(further.partition(">>>")[0].replace("`", "").split())


def _average(spec: MetricSpec) -> str:
    if spec.label is not None:
        return f"the value with {spec.label} as the positive class"
    return "" if spec.average == NATIVE else f"{spec.average}: {_AVERAGES[spec.average]}"


def _other_libraries(metric: Metric) -> str:
    """What each library calls the metric with these parameters."""
    names: dict[str, list[str]] = {}
    for peer in peer_names():
        if peer.library and peer.form == metric.name and peer.name != metric.sklearn:
            names.setdefault(peer.library, []).append(peer.name)
    return "; ".join(f"{library}: {', '.join(theirs)}" for library, theirs in names.items())


def _sources(metric: Metric) -> Iterator[str]:
    yield references.reference(metric.cite or "")
    yield from references.references_in(_details(metric))


def _formulas(metric: Metric) -> Iterator[str]:
    """The formula, and below it those of the metrics it names."""
    yield f"{metric.name} = {metric.text}"
    if metric.general is not None:
        yield from dict.fromkeys(_named_formulas(metric.general))


def _named_formulas(expression: Expression) -> Iterator[str]:
    for node in walk(expression):
        if isinstance(node, Named):
            yield f"  where {parse_form(node.name)[0]} = {notation.text(node.general)}"


def _best(metric: Metric) -> str:
    if metric.best is not None:
        return f"best {number_text(metric.best)}"
    return f"{metric.direction} is better" if metric.direction else "a description: no value is best"


def _undefined(metric: Metric) -> list[str]:
    if metric.is_of_label_sets:
        return ["wherever no row has any weight"]
    if metric.general is None:
        reasons = dict.fromkeys(filter(None, map(metric.why, _LACKING))) if metric.function is None else ()
        return list(map(_where, reasons)) or ["wherever the function returns NaN"]
    return [_where(why) for why, value in metric.guards if value == "undefined"]


def _where(why: str) -> str:
    return f"where there are {why}" if why.startswith("no ") else f"where {why}"


def _parameter(value: object) -> str:
    return "from the table" if value is None else getattr(value, "name", str(value))


def _example(metric: Metric) -> str:
    if metric.function is None:
        return ""  # it needs scores, and the forecasts were yes or no
    cells = ", ".join(f"{name} {cell}" for name, cell in _EXAMPLE.to_dict().items())
    return f"Finley's tornado forecasts ({cells}): {metric.name} = {metric(_EXAMPLE):.3g}"
