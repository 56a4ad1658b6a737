"""`steelyard tally`: a file counted into a small table, saved for `steelyard merge`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from steelyard.cli import options
from steelyard.cli.commands import command
from steelyard.cli.inputs import Inputs, predictions, print_assumed
from steelyard.cli.option_words import of_shell

if TYPE_CHECKING:
    from steelyard.cli.outputs import Output
    from steelyard.tables.tally import Tally

_LARGE = 10_000_000  # letters of a saved tally from which it is called large
_HIGHEST = (
    "The class of the highest column was counted. As a reference of `steelyard unlabelled` such a tally has no test of "
    "label shift; a file of rows has one."
)
SAVE_HELP = "Write the table, which is JSON, to this file."


@command
@options.inputs(models="two for two models")
@click.option(
    "--cost",
    multiple=True,
    metavar="COL",
    help="A column of what errors cost, kept for `steelyard threshold --cost-fn COL`; repeatable.",
)
@options.output(about=SAVE_HELP)
def save_tally(inputs: Inputs, cost: tuple[str, ...], output: Output) -> None:
    """Count FILE into a confusion matrix or score table and save it, so that `steelyard merge` can add parts later."""
    from steelyard.arrays.labels import choice_sentences
    from steelyard.counting import tally

    read = predictions(inputs)
    given, table = read.rows.given, read.call(tally, cost=list(dict.fromkeys(cost)) or None)
    if given.is_frame:
        with read.rows.frame() as source:
            table = replace(table, sources=source.digests())
    stated = [*read.stated, *([_HIGHEST] if given.is_frame and read.rows.kind == "class scores" else [])]
    if table.scores is not None:
        stated += map(of_shell, choice_sentences(given.pos_label, table.scores.label, table.labels))
    text = table.to_json()
    print_assumed([*stated, *_advice(table, len(text))])
    output.write(text)


def _advice(table: Tally, size: int) -> list[str]:
    """What to do about a tally of very many scores."""
    if table.scores is None or len(table.scores.bins) or size < _LARGE:
        return []
    return [f"This tally keeps every score, {size / 1e6:,.0f} MB; --binned keeps bins, and bounds on the areas."]
