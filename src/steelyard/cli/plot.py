"""`steelyard plot`: a figure of a file of predictions, for a paper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from steelyard.cli import options
from steelyard.cli.commands import command
from steelyard.cli.compare import compared
from steelyard.cli.inputs import Inputs, evaluated, print_assumed
from steelyard.cli.option_words import of_shell
from steelyard.cli.outputs import replacement
from steelyard.cli.prevalence_option import prevalence_option
from steelyard.cli.streams import print_message
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steelyard.analysis.comparison.comparison import Comparison
    from steelyard.analysis.prevalence.prevalence import PrevalenceLike
    from steelyard.cli.outputs import Output
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.tables.confusion import Confusion

_FORMATS = ("svg", "pdf", "png")
# Kinds that show the groups of --by.
_CURVES = ("roc", "reliability", "decision", "murphy", "gain", "cost", "triptych")
_BY_GROUP = (*_CURVES, "density", "dots", "intervals", "runs")
_SEVERAL = ("pr", *_BY_GROUP)  # kinds that show more than one model
_COMPARED = ("ranking", "leaderboard", "wins", "leaders")
_NOT_SHIFTED = ("confusion", "prevalence", "density", *_COMPARED, "runs", "correlation", "risk")  # as the rows are
_ALONE = ("surface", "correlation")  # kinds that need no predictions


@command
@click.argument("kind")
@options.inputs(models="repeatable")
@options.shared("metrics", "level")
@prevalence_option()
@click.option("--standardized", is_flag=True, help="Of a decision curve: 1 is a perfect model.")
@options.output()
def draw_figure(
    kind: str,
    inputs: Inputs,
    metrics: list[str] | None,
    level: float,
    prevalence: PrevalenceLike | None,
    standardized: bool,
    output: Output,
) -> None:
    """Draw a figure for a paper: confusion, roc, pr, threshold, prevalence, intervals, surface, ranking (two models
    by every metric), leaderboard, wins (of each pair), leaders (over the prevalence), correlation, runs (one box over
    the groups of --by), density, dots (a thousand rows by score), decision, reliability, murphy, gain, lift, cost,
    brier, triptych (reliability, roc and murphy) or risk (errors over coverage, by --score 'p_*'), as SVG, PDF or PNG
    by the ending of -o. The caption is printed.
    """  # noqa: D205 - click fills the paragraph
    from steelyard.report.figures import VIEWS, display_of, plot
    from steelyard.report.terminal.layout import without_controls

    display_of(kind)  # refuses a kind that there is not, before anything is read
    if output.path is None:
        raise InputError("A figure needs a file; name it with -o, such as -o figure.pdf.")
    if (ending := Path(output.path).suffix.lstrip(".").lower()) not in _FORMATS:
        raise InputError(f"The ending of {output.path!r} gives no format; end it in .svg, .pdf or .png.")
    if prevalence is not None and kind in _NOT_SHIFTED:
        raise InputError(f"A {kind} figure shows the rows as they are; leave out --prevalence.")
    if standardized and kind != "decision":
        raise InputError(f"A {kind} figure has no net benefit; leave out --standardized, or draw decision.")
    chosen: dict[str, Any] = {} if metrics is None or kind in _COMPARED else {"metrics": metrics}
    chosen |= {"standardized": True} if standardized else {}
    reading = {"level": level, "prevalence": prevalence}
    drawing = plot(kind, _result(VIEWS.get(kind, kind), inputs, reading, metrics), **chosen)
    with replacement(output, f".{ending}") as path:
        drawing.save(path)
    click.echo(without_controls(drawing.caption()))


def _result(
    kind: str, inputs: Inputs, reading: dict[str, Any], metrics: list[str] | None
) -> Evaluation | dict[str, Evaluation] | Comparison | list[Confusion] | dict[str, list[Confusion]] | None:
    """What the figure is drawn from."""
    if kind in _ALONE and not inputs.given:
        if reading["prevalence"] is not None:
            raise InputError("--prevalence is that of a file or of counts; give one of them, or leave it out.")
        return None
    if kind == "correlation":
        raise InputError("A correlation figure takes no file or counts: it compares the metrics themselves.")
    if kind in _COMPARED:
        comparison = compared(inputs, level=reading["level"], metrics=metrics)
        print_assumed(comparison.assumed)
        return comparison
    models = inputs.by_model() or {"": inputs}
    if len(models) > 1 and kind not in _SEVERAL:
        raise InputError(f"A {kind} figure shows one model; name one column of labels or scores.")
    if inputs.by and kind != "runs":
        return _of_groups(kind, models, reading)
    read = {name: evaluated(model, **reading) for name, model in models.items()}
    print_assumed(list(dict.fromkeys(line for _, rows in read.values() for line in rows.assumed)))
    evaluations = {name: evaluation for name, (evaluation, _) in read.items()}
    if kind == "runs":
        return _runs(evaluations)
    return evaluations if len(evaluations) > 1 else next(iter(evaluations.values()))


def _of_groups(kind: str, models: Mapping[str, Inputs], reading: dict[str, Any]) -> dict[str, Evaluation]:
    """The evaluation of each group of one model; a group of one class, which has no curve, is left out with a note."""
    from steelyard.evaluation.evaluate import evaluate

    if kind not in _BY_GROUP:
        shown = f"{', '.join(_BY_GROUP[:-1])} or {_BY_GROUP[-1]}"
        raise InputError(f"A {kind} figure shows all rows together; leave out --by, or draw {shown}.")
    if len(models) > 1:
        raise InputError("Groups and several models are too much for one figure; leave out --by, or name one model.")
    (inputs,) = models.values()
    evaluation, read = evaluated(inputs, **reading)
    print_assumed(read.assumed)
    groups = {}
    for group, tally in zip(evaluation.groups, evaluation.counted_rows().groups.values(), strict=True):
        try:
            groups[group.label] = evaluate(tally, threshold=inputs.threshold, **reading)
        except InputError as error:
            print_message(f"{group.label} is left out: {of_shell(str(error))}")
    if not groups:
        raise InputError("No group has rows of two classes; draw them together, without --by.")
    return groups


def _runs(evaluations: Mapping[str, Evaluation]) -> list[Confusion] | dict[str, list[Confusion]]:
    """The tables of the groups of each model, as its runs."""
    runs = {
        name: [group.confusion for group in evaluation.groups if group.confusion is not None]
        for name, evaluation in evaluations.items()
    }
    if not all(runs.values()):
        raise InputError("Runs are the groups of a column, such as --by fold; name it with --by.")
    return runs if len(runs) > 1 else next(iter(runs.values()))
