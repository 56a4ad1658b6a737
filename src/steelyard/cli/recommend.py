"""`steelyard recommend`: metrics for a problem, with the properties behind the choice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from steelyard.analysis.results.result_json import saved_text
from steelyard.cli import options
from steelyard.cli.commands import command
from steelyard.cli.inputs import Inputs, evaluated
from steelyard.cli.option_words import of_shell

if TYPE_CHECKING:
    from steelyard.evaluation.evaluation import Evaluation


@command
@options.inputs()
@click.option(
    "--equal-class-weight/--unequal-class-weight",
    "equal_class_weight",
    default=True,
    show_default=True,
    help="Give errors on both classes equal weight, or those on the positives more.",
)
@click.option(
    "--allow-zero-recall/--no-zero-recall",
    "allow_zero_recall",
    default=False,
    show_default=True,
    help="A class with zero recall may still score one half.",
)
@click.option("--stable-prevalence", is_flag=True, help="The test set has the deployment prevalence, and it is stable.")
@click.option("--ranking", is_flag=True, default=None, help="Scores are used as a ranking, without a threshold.")
@click.option("--costs", is_flag=True, help="The cost of each kind of error is known.")
@click.option("--positives", type=int, help="How many positives there are to test on.")
@click.option("--calibration", is_flag=True, help="Scores are read as probabilities.")
@click.option("--capacity", type=int, metavar="N", help="How many rows can be looked at.")
@click.option(
    "--ordered", is_flag=True, help="The classes have an order: a near miss is a smaller error than a far one."
)
@options.form("table", "json", default="table")
def recommend_metrics(
    inputs: Inputs,
    equal_class_weight: bool,
    allow_zero_recall: bool,
    stable_prevalence: bool,
    ranking: bool | None,
    costs: bool,
    positives: int | None,
    calibration: bool,
    capacity: int | None,
    ordered: bool,
    form: str,
) -> None:
    """Recommend metrics for a problem, with the properties behind the choice.

    How many positives FILE holds, and whether its scores are thresholded, is read from it.
    """
    from steelyard.auditing.recommend import recommend

    data: Evaluation | None = evaluated(inputs)[0] if inputs.given else None
    recommendation = recommend(
        data,
        equal_class_weight=equal_class_weight,
        ranking=ranking,
        calibration=calibration,
        capacity=capacity,
        cost={} if costs else None,
        ordered=ordered,
        allow_zero_recall=allow_zero_recall,
        stable_prevalence=stable_prevalence,
        positives=positives,
        threshold=inputs.threshold if data is None else None,
        cluster=inputs.cluster if data is None else None,
    )
    if form == "json":
        click.echo(saved_text(recommendation.to_dict(), indent=1))
    else:
        click.echo(_text(repr(recommendation), data))


def _text(recommendation: str, data: Evaluation | None) -> str:
    """The recommendation filled to the terminal, and what was taken for granted about the data."""
    from steelyard.report.terminal.layout import bold, paragraph

    lines = [*recommendation.splitlines(), *map(of_shell, data.assumed if data is not None else ())]
    filled = [paragraph(line.strip(), "  " * line.startswith(" ")) for line in lines]
    return "\n".join(bold(text) if text.endswith(":") else text for text in filled)
