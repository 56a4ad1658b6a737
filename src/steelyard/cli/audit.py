"""`steelyard audit`: the properties of metrics proved or refuted, or watched on the predictions in a file."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from steelyard.analysis.results.result_json import json_text, strict
from steelyard.cli import options
from steelyard.cli.commands import command
from steelyard.cli.inputs import Inputs, evaluated
from steelyard.cli.option_words import of_shell
from steelyard.cli.streams import print_message
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard.auditing.discrimination import Discrimination
    from steelyard.auditing.robustness import Robustness
    from steelyard.cli.outputs import Output
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.tables.counts import Counts
    from steelyard.tables.score_table import ScoreTable

    MetricOrFunction = str | Callable[[Counts], Any]


@command
@click.argument("names", nargs=-1)
@click.option(
    "--against",
    metavar="PREDICTIONS",
    help="On the predictions in this file: how far balancing and label swapping move each metric.",
)
@options.inputs("true", "threshold", *options.POSITIVE, models="repeatable")
@click.option("--tolerance", type=float, help="The change that counts as none: 0.02 unless given.")
@options.output("table", "json", "md", "html")
def audit_metrics(
    names: tuple[str, ...], against: str | None, inputs: Inputs, tolerance: float | None, output: Output
) -> None:
    """Prove or refute the properties of the metrics NAMES (all where none is named), or of MODULE:FUNCTION.

    With --against, show on the predictions in a file how far each metric moves when the test set is balanced and when
    the labels are swapped (Asawa), and of two models which metrics change their order with the prevalence (Wu).
    """
    if against is None:
        _refuse_unread(inputs, tolerance)
    metrics = [_metric(name) for name in names]
    if against is None:
        output.write(_decisions(metrics, output.kind))
    else:
        output.write(_changes(metrics, output.kind, replace(inputs, files=(against,)), tolerance))


def _refuse_unread(inputs: Inputs, tolerance: float | None) -> None:
    """Options about predictions are refused where there are none."""
    if unread := [*inputs.options(), *(["--tolerance"] if tolerance is not None else [])]:
        raise InputError(f"{unread[0]} is about predictions; name their file with --against, or leave it out.")


def _decisions(metrics: list[MetricOrFunction], kind: str) -> str:
    from steelyard.auditing import properties
    from steelyard.report.terminal.layout import paragraph, print_table

    decisions = properties.audit(*metrics)
    if kind == "html":
        from steelyard.report.pages.page import audit_page

        return audit_page(decisions)
    if kind == "md":
        return properties.markdown(decisions)
    legend = properties.legend(decision.property for decision in decisions)
    if kind == "json":
        return json_text([row | {"meaning": legend[row["property"]]} for row in decisions.to_dicts()], indent=1)
    rows: list[list[str] | str] = []
    for metric, own in groupby(decisions, lambda decision: decision.metric):
        rows += [
            metric,
            *([properties.PROPERTIES[d.property].title, d.verdict, str(d.counterexample or d.how)] for d in own),
        ]
    table = print_table(["property", "verdict", "how, or the smallest table against it"], rows, wrap=(0, 2))
    meanings = (f"{_called(name)}: {meaning}" for name, meaning in legend.items())
    return "\n".join([table, "", *(paragraph(meaning, "") for meaning in meanings)])


def _called(name: str) -> str:
    """A property by its title, and by its name where that does not stand in it."""
    from steelyard.auditing.laws import PROPERTIES

    title = PROPERTIES[name].title
    return title if name in title else f"{title} ({name})"


def _changes(metrics: list[MetricOrFunction], kind: str, inputs: Inputs, tolerance: float | None) -> str:
    """How the metrics behave on the predictions in a file."""
    from steelyard.auditing.robustness import TOLERANCE, robustness
    from steelyard.report.terminal.layout import clean_label, paragraph

    tables, scores = _tables(inputs, metrics)
    tolerance = TOLERANCE if tolerance is None else tolerance
    beside: Any = scores if tables and scores else None
    changes = robustness(tables or scores, y_score=beside, metrics=metrics or None, tolerance=tolerance)
    order = _order(metrics, tables)
    if kind == "json":
        return _json(changes, order, tables)
    if kind == "html":
        raise InputError("The audit's page is about the metrics alone; leave --against out, or ask for --format json.")
    names = " and ".join(f"{letter} is {clean_label(name)}" for letter, name in zip("AB", tables, strict=False))
    where = paragraph(f"At each prevalence, where {names}:")
    text = repr(changes) if order is None else f"{changes!r}\n\n{where}\n{order!r}"
    return f"```\n{text}\n```" if kind == "md" else text


def _order(metrics: list[MetricOrFunction], tables: dict[str, Counts]) -> Discrimination | None:
    """How far each metric separates two models at each prevalence; None of one model or three."""
    from steelyard.auditing.discrimination import discrimination
    from steelyard.metrics.registry import get_metric

    directed = [
        m for m in map(get_metric, metrics) if m.direction and m.function
    ]  # a plain function says of no value that it is better
    if len(tables) != 2 or (metrics and not directed):
        return None
    return discrimination(*tables.values(), metrics=directed or None)


def _json(changes: Robustness, order: Discrimination | None, tables: dict[str, Counts]) -> str:
    parts: dict[str, Any] = {"verdicts": changes.verdicts.to_dicts(), "changes": changes.rows().to_dicts()}
    if order is not None:
        parts |= {"models": dict(zip("AB", tables, strict=True)), "discrimination": order.separations.to_dicts()}
    return json_text(strict(parts), indent=1)


def _tables(inputs: Inputs, metrics: list[MetricOrFunction]) -> tuple[dict[str, Counts], dict[str, ScoreTable]]:
    """The two-class table of each model, where a metric reads labels, and the scores where all models have them."""
    from steelyard.metrics.registry import get_metric

    columns = [*inputs.pred, *inputs.score]
    twice = next((name for name in columns if columns.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"The column {twice!r} is named twice; each model is a column of its own.")
    models = inputs.by_model() or {"": inputs}
    evaluations = {name or model.name: _evaluated(name, model) for name, model in models.items()}
    scores = {name: evaluation.scores for name, evaluation in evaluations.items() if evaluation.scores is not None}
    scores = scores if len(scores) == len(evaluations) else {}
    if scores and metrics and all(get_metric(metric).function is None for metric in metrics):
        return {}, scores
    return {name: _counts(name, evaluation) for name, evaluation in evaluations.items()}, scores


def _evaluated(name: str, model: Inputs) -> Evaluation:
    """A model's evaluation; what was taken for granted goes to stderr."""
    shown = "recall" if model.pred else "roc_auc"
    evaluation = evaluated(model, metrics=None if not model.pred and not model.score else [shown])[0]
    for sentence in evaluation.assumed:
        print_message(of_shell(f"{name}: {sentence}" if name else sentence))
    return evaluation


def _counts(name: str, evaluation: Evaluation) -> Counts:
    if evaluation.counts is None:
        raise InputError(
            f"{name!r} is no table of one positive class; name the class with --pos-label, "
            "or threshold the scores by --threshold."
        )
    return evaluation.counts


def _metric(name: str) -> MetricOrFunction:
    """A metric by name, or a user's function as module:function, looked for in the current folder as well."""
    if ":" not in name:
        return name
    from steelyard.protocol.named_models import imported_object

    function: Callable[[Counts], Any] = imported_object(name, "FUNCTION")
    return function
