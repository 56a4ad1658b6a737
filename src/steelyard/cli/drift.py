"""`steelyard drift`: what changed between periods of a file, by the prevalence and by the classifier."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from steelyard.cli import options
from steelyard.cli.commands import command
from steelyard.cli.inputs import Inputs, predictions
from steelyard.cli.result_output import FORMATS, write_result

if TYPE_CHECKING:
    from steelyard.cli.outputs import Output
    from steelyard.predictions import Predictions


@command
@options.inputs()
@click.option(
    "--period",
    metavar="COL",
    help="The column of the period, such as the month; without it each file is a period, or each group of tallies.",
)
@click.option(
    "--reference", metavar="PERIOD", help="The period that the others are read against; the first by default."
)
@click.option(
    "--unlabelled",
    multiple=True,
    metavar="FILE",
    help="A period without labels: a file of rows with the column of --score, called as the file; repeatable.",
)
@options.shared("level", "metrics")
@options.output(*FORMATS)
def split_drift(
    inputs: Inputs,
    period: str | None,
    reference: str | None,
    unlabelled: tuple[str, ...],
    level: float,
    metrics: list[str] | None,
    output: Output,
) -> None:
    """Split what changed between the periods of FILE into a part by the prevalence and one by the classifier."""
    from steelyard.evaluation.drift import drift
    from steelyard.files.folders import expand_names

    read = predictions(inputs)
    new = {_title(name): _unlabelled(inputs, name, read.rows) for name in expand_names(unlabelled)}
    asked = {"period": period, "reference": reference, "level": level, "metrics": metrics}
    write_result(read.ask(drift, unlabelled=new, **asked), output, inputs.name)


def _title(name: str) -> str:
    """What a period of one file is called: the file's name without its endings."""
    return Path(name).name.partition(".")[0] or name


def _unlabelled(inputs: Inputs, name: str, labelled: Predictions) -> Predictions:
    """The rows of a file without labels, or of a saved tally, whose labels are not read."""
    score = inputs.score or tuple(each for each in (labelled.given.model.score,) if isinstance(each, str))
    return predictions(Inputs((name,), score=score), truth=False, scores=True).rows
