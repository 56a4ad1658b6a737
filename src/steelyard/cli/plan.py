"""`steelyard plan`: which rows of a file to label, so that a metric is known best by so many labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from steelyard.analysis.planning.label_plan import LABEL_COLUMN
from steelyard.cli import options
from steelyard.cli.commands import command
from steelyard.cli.inputs import Inputs, plan_of, predictions
from steelyard.cli.option_words import of_shell
from steelyard.cli.result_output import FORMATS, write_result
from steelyard.cli.streams import print_message
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from steelyard.analysis.planning.label_plan import LabelPlan
    from steelyard.cli.outputs import Output


@command
@options.inputs()
@click.option("--budget", type=int, required=True, metavar="N", help="How many rows can be labelled.")
@click.option("--metric", metavar="NAME", help="The metric that the labels are for, such as f1, recall or roc_auc.")
@click.option("--key", metavar="COL", help="The column by which rows are found again; without it their index, from 0.")
@click.option("--prevalence", type=float, metavar="P", help="The expected share of positives, if not the mean score.")
@click.option(
    "--top-up",
    metavar="PLAN",
    help="Add so many rows to this plan, a CSV file with the labels so far, which the new plan keeps.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed chooses other rows.")
@options.output("csv", *(kind for kind in FORMATS if kind != "csv"))
def write_plan(
    inputs: Inputs,
    budget: int,
    metric: str | None,
    key: str | None,
    prevalence: float | None,
    top_up: str | None,
    seed: int,
    output: Output,
) -> None:
    """Choose which rows of FILE to label, so that a metric is known best by so many labels.

    FILE has a column of scores for rows without labels. The plan, as CSV, is a sheet with one line for each row to be
    labelled: fill its column label, and `steelyard report SHEET --design SHEET` evaluates. More rows are
    drawn where a label is expected to move the metric more, and the intervals account for that.
    """
    if not inputs.score:
        raise InputError("The scores are needed; name their column with --score.")
    if top_up is None and metric is None:
        raise InputError("Name the metric that the labels are for with --metric, such as f1, recall or roc_auc.")
    if top_up is None and inputs.true is not None:
        raise InputError("--true is of a plan that is topped up, with --top-up; a new plan has no labels yet.")
    if top_up is not None and metric is not None:
        raise InputError("A plan that is topped up has its metric; leave out --metric.")
    read = predictions(inputs, truth=False, scores=True)
    if top_up is None:
        from steelyard.analysis.planning.label_plan import label_plan

        plan = read.call(label_plan, budget, metric or "", prevalence=prevalence, key=key, rng=seed)
    else:
        from steelyard.analysis.planning.plan_labels import topped_up

        former, labels = _former(top_up, inputs)
        plan = topped_up(former, read.rows, budget, labels, seed or None)
    write_result(plan, output, inputs.name)
    if output.path is not None or output.kind in ("csv", "json"):  # print and Markdown begin with it
        print_message(of_shell(plan.headline))


def _former(name: str, inputs: Inputs) -> tuple[LabelPlan, list[str]]:
    """The plan that is topped up, and the labels in its sheet."""
    import csv
    from dataclasses import replace
    from pathlib import Path

    column = inputs.true or LABEL_COLUMN
    plan = replace(plan_of(name), score_column=inputs.score[0], label=None, label_column=column)
    with Path(name).open(encoding="utf-8-sig", newline="") as file:
        lines = list(csv.DictReader(file))
    if not lines or column not in lines[0]:
        raise InputError(f"{name!r} has no column {column!r}; name that of the labels in the plan's CSV with --true.")
    return plan, [line[column] for line in lines]
