"""`steelyard operating-points`: a menu of thresholds, with what each flags, finds and misses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from steelyard.cli import options
from steelyard.cli.commands import command
from steelyard.cli.inputs import Inputs, predictions
from steelyard.cli.prevalence_option import prevalence_option
from steelyard.cli.result_output import FORMATS, write_result
from steelyard.cli.threshold import cost_options, probability, use_option

if TYPE_CHECKING:
    from steelyard.analysis.prevalence.prevalence import PrevalenceLike
    from steelyard.cli.outputs import Output


@command
@options.inputs()
@use_option()
@cost_options
@click.option("--capacity", metavar="N", help='How many rows can be looked at: 200 of these, or "200 of 10000".')
@click.option("--recall", callback=probability, default="0.9", show_default=True, metavar="R", help="Guarantee it.")
@click.option(
    "--confidence", callback=probability, default="0.95", show_default=True, metavar="C", help="That of the guarantee."
)
@prevalence_option()
@options.shared("level")
@options.output(*FORMATS)
def list_points(
    inputs: Inputs,
    use: str | None,
    cost: dict[str, float | str],
    capacity: str | None,
    recall: float,
    confidence: float,
    prevalence: PrevalenceLike | None,
    level: float,
    output: Output,
) -> None:
    """List thresholds of the scores in FILE to choose from: what each flags, finds, misses and falsely alarms.

    `steelyard threshold` finds the one that is best by a metric, by costs or within limits.
    """
    from steelyard.analysis.thresholds.operating_points import operating_points

    menu = predictions(inputs, scores=True).ask(
        operating_points,
        use=use,
        cost=cost or None,
        capacity=capacity,
        recall=recall,
        confidence=confidence,
        prevalence=prevalence,
        level=level,
    )
    write_result(menu, output, inputs.name)
