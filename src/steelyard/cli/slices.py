"""`steelyard slices`: the slices of a file in which a metric is worse than elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from steelyard.cli import options
from steelyard.cli.commands import command
from steelyard.cli.inputs import Inputs, predictions
from steelyard.cli.result_output import FORMATS, write_result

if TYPE_CHECKING:
    from steelyard.cli.outputs import Output


@command
@options.inputs()
@click.option(
    "--features",
    metavar="A,B",
    multiple=True,
    help="The columns to make slices of, all others by default; given more than once, one column each.",
)
@click.option("--metric", default="recall", show_default=True, metavar="NAME", help="The metric that is worse.")
@click.option("--conditions", type=int, default=2, show_default=True, help="The most conditions of a slice, up to 3.")
@click.option("--n-bins", type=int, default=5, show_default=True, help="How many bins a column of numbers has.")
@click.option("--min-rows", type=int, default=20, show_default=True, help="The fewest rows of a slice.")
@click.option("--fdr", type=float, default=0.05, show_default=True, help="The false discovery rate.")
@click.option(
    "--method",
    type=click.Choice(["bh", "by"]),
    default="bh",
    help="Benjamini and Hochberg, or Benjamini and Yekutieli, which holds under any dependence.",
)
@click.option("--first", type=int, default=10, show_default=True, help="The most statements that are shown.")
@options.output(*FORMATS)
def find_slices(
    inputs: Inputs,
    features: tuple[str, ...],
    output: Output,
    **asked: Any,
) -> None:
    """Find the slices of FILE in which a metric is worse than elsewhere."""
    from steelyard.analysis.slices.slices import slices

    write_result(predictions(inputs).ask(slices, features=_names(features), **asked), output, inputs.name)


def _names(features: tuple[str, ...]) -> list[str]:
    """The columns that are named: in one option between commas, in several as they stand."""
    parts = features[0].split(",") if len(features) == 1 else features
    return [name.strip() for name in parts if name.strip()]
