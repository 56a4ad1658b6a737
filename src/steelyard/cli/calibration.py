"""`steelyard calibration`: whether the probabilities in a file agree with the outcomes, and what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from steelyard.cli import options
from steelyard.cli.commands import command
from steelyard.cli.inputs import Inputs, predictions
from steelyard.cli.prevalence_option import prevalence_option
from steelyard.cli.result_output import FORMATS, write_result

if TYPE_CHECKING:
    from steelyard.analysis.prevalence.prevalence import PrevalenceLike
    from steelyard.cli.outputs import Output


@command
@options.inputs()
@click.option(
    "--strategy",
    type=click.Choice(["isotonic", "uniform", "quantile"]),
    default="isotonic",
    help="The reliability curve: isotonic, or bins of equal width or of equal mass.",
)
@click.option("--n-bins", type=int, default=10, metavar="N", help="How many bins, where it has any.")
@prevalence_option()
@options.shared("level")
@options.output(*FORMATS)
def judge_calibration(
    inputs: Inputs,
    strategy: str,
    n_bins: int,
    prevalence: PrevalenceLike | None,
    level: float,
    output: Output,
) -> None:
    """Judge the probabilities in FILE: slope, intercept, parts of the Brier score, curve, test, and what to do next."""
    from steelyard.analysis.calibration.calibration import calibration

    asked = {"strategy": strategy, "n_bins": n_bins, "prevalence": prevalence, "level": level}
    found = predictions(inputs, scores=True).ask(calibration, **asked)
    write_result(found, output, inputs.name)
