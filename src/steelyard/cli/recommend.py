"""`steelyard recommend`: the number that fits what predictions are for, with its reason and its sources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from steelyard.cli import options
from steelyard.cli.commands import command
from steelyard.cli.inputs import Inputs, predictions
from steelyard.cli.option_words import with_shell_words
from steelyard.cli.result_output import FORMATS, write_result
from steelyard.cli.threshold import cost_options

if TYPE_CHECKING:
    from steelyard.cli.outputs import Output


@command
@options.inputs()
@options.shared("use", "capacity")
@cost_options
@click.option(
    "--ordered", is_flag=True, help="The classes have an order: a near miss is a smaller error than a far one."
)
@click.option("--allow-zero-recall", is_flag=True, help="A class with zero recall may still score one half.")
@click.option("--stable-prevalence", is_flag=True, help="The test set has the deployment prevalence, and it is stable.")
@click.option("--positives", type=int, metavar="N", help="How many positives there are to test on.")
@options.output(*FORMATS)
def recommend_metrics(
    inputs: Inputs,
    cost: dict[str, float | str],
    output: Output,
    **answers: Any,
) -> None:
    """Recommend the number to read for what predictions are for, with its reason and its sources.

    Without --use there is one number for each use, and the rest is asked. Which numbers there are, and how many
    positives FILE holds, is read from it.
    """
    from steelyard.auditing.recommend import recommend

    answers |= {"cost": cost or None}
    if inputs.given:
        found = predictions(inputs).ask(recommend, **answers)
    else:
        found = with_shell_words(recommend(threshold=inputs.threshold, cluster=inputs.cluster, **answers))
    write_result(found, output, inputs.name if inputs.given else "no rows")
