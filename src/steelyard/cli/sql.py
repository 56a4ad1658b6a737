"""`steelyard sql`: the query that counts predictions where they are stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from steelyard.cli import options
from steelyard.cli.commands import command
from steelyard.cli.next_command import counts_command
from steelyard.cli.streams import print_message
from steelyard.exceptions import InputError
from steelyard.frames.source import ColumnNames
from steelyard.frames.sql import DIALECTS, sql

if TYPE_CHECKING:
    from steelyard.cli.outputs import Output


@command
@click.option(
    "--table",
    required=True,
    metavar="TABLE",
    help='The table as it is stored: preds, lab.preds or lab."a name.with dots".',
)
@click.option("--true", "true", required=True, metavar="COL", help="The column of true labels.")
@click.option("--pred", "preds", multiple=True, metavar="COL", help="The column of labels; two for two models.")
@click.option("--score", metavar="COL", help="The column of scores, which are counted in 65,536 bins.")
@click.option("--weight", metavar="COL", help="The column of sample weights.")
@click.option("--by", multiple=True, metavar="COL", help="Count each group of this column as well; repeatable.")
@click.option("--threshold", type=float, metavar="T", help="A threshold that the bins of scores must keep.")
@click.option("--score-range", default="0,1", metavar="LOW,HIGH", help="The scores to expect; 0,1 if not given.")
@click.option("--dialect", type=click.Choice(DIALECTS), default="postgres", help="The SQL of which database.")
@options.output(about="Write the query to this file.")
def print_query(
    table: str,
    true: str,
    preds: tuple[str, ...],
    score: str | None,
    weight: str | None,
    by: tuple[str, ...],
    threshold: float | None,
    score_range: str,
    dialect: str,
    output: Output,
) -> None:
    """Print the one query that counts a table in its database; save what it gives, and count that with `tally`."""
    query = sql(
        table,
        true=true,
        pred=preds,
        score=score,
        weight=weight,
        by=by,
        dialect=dialect,
        threshold=threshold,
        score_range=_ends(score_range),
    )
    output.write(query + ";")
    read = counts_command(ColumnNames(true, preds, score, weight, by=by), threshold)
    print_message(f"Save what the query gives as counts.csv, then: {read}")


def _ends(text: str) -> tuple[float, float]:
    """The lowest and the highest score of a text such as -5,5."""
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        raise InputError(f"--score-range takes the lowest and the highest score, such as -5,5, not {text!r}.") from None
    return low, high
