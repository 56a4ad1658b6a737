"""`steelyard tally`: a file counted into a small table, saved for `steelyard merge`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from steelyard.cli import options
from steelyard.cli.commands import command
from steelyard.cli.counted_input import CountedInput
from steelyard.cli.inputs import Inputs, count_inputs, labels_of, open_files, print_assumed
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from steelyard.cli.outputs import Output
    from steelyard.statistics.tally import Tally

_LARGE = 10_000_000  # letters of a saved tally from which it is called large
_HIGHEST = (
    "The class of the highest column was counted. As a reference of `steelyard unlabelled` such a tally has no test of "
    "label shift; a file of rows has one."
)
SAVE_HELP = "Write the table, which is JSON, to this file."


@command
@options.inputs(
    "files",
    "true",
    click.option("--pred", "preds", multiple=True, metavar="COL", help="The column of labels; two for two models."),
    "score",
    "class_scores",
    "threshold",
    *options.POSITIVE,
    click.option("--labels", metavar="A,B", help="All labels that any part may hold; this one need not hold them all."),
    "weight",
    "frequency",
    "by",
    "exact",
    click.option(
        "--cost",
        "cost_columns",
        multiple=True,
        metavar="COL",
        help="A column of what errors cost, kept for `steelyard threshold --cost-fn COL`; repeatable.",
    ),
)
@options.output(about=SAVE_HELP)
def save_tally(inputs: Inputs, output: Output) -> None:
    """Count FILE into a confusion matrix or score table and save it, so that `steelyard merge` can add parts later."""
    pred = inputs.preds[0] if len(inputs.preds) == 1 else inputs.preds or None
    counted = _of_classes(inputs) if inputs.class_scores else count_inputs(replace(inputs, pred=pred), shard=True)
    text = counted.tally.to_json()
    print_assumed([*counted.assumed, *_advice(counted.tally, len(text))])
    output.write(text)


def _of_classes(inputs: Inputs) -> CountedInput:
    """The confusion matrix of the class of the highest column, which is what of all columns adds up."""
    from steelyard.cli.class_scores import named_class_scores
    from steelyard.evaluation.class_columns import given_columns
    from steelyard.statistics.tally import Tally

    if inputs.preds or inputs.by or inputs.cost_columns:
        raise InputError("--scores counts the class of the highest column; --pred, --by and --cost have no place here.")
    with open_files(inputs) as source:
        p, named, assumed = named_class_scores(source, inputs)
        rows = p.with_options(labels=labels_of(source, inputs)).collect()
        digests = source.digests()
    table = rows.of_model(given_columns(rows).y_pred, None).confusion()
    tally = Tally(table, labels=table.labels, columns={"true": str(named.true)}, sources=digests)
    return CountedInput(tally, [*assumed, _HIGHEST], inputs.name)


def _advice(table: Tally, size: int) -> list[str]:
    """What to do about a tally of very many scores."""
    if table.scores is None or len(table.scores.bins) or size < _LARGE:
        return []
    return [f"This tally keeps every score, {size / 1e6:,.0f} MB; --binned keeps bins, and bounds on the areas."]
