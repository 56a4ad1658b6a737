"""`steelyard history`: the evaluations of a ledger over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from steelyard.cli import options
from steelyard.cli.commands import command
from steelyard.cli.ledger_options import ledger_option, tag_option
from steelyard.cli.result_output import FORMATS, write_result

if TYPE_CHECKING:
    from steelyard.cli.outputs import Output
    from steelyard.ledger.ledger import Ledger


@command
@options.shared("metrics")
@tag_option("Only evaluations with this tag, such as model=v3")
@click.option("--last", type=click.IntRange(min=1), metavar="N", help="Only the last N evaluations.")
@click.option("--all", "everything", is_flag=True, help="Every metric, not the usual few.")
@ledger_option()
@options.output(*FORMATS)
def list_history(
    metrics: list[str] | None,
    tags: dict[str, str],
    last: int | None,
    everything: bool,
    ledger: Ledger,
    output: Output,
) -> None:
    """List the evaluations of a ledger: when, with which tags, and each metric with its confidence interval.

    -o trend.html writes a page with a chart for each metric. Reading changes nothing in the ledger.
    """
    history = ledger.history(metrics, tags, last=last, all_metrics=everything)
    from steelyard.ledger.history import ID_SHOWN

    two = [each[-ID_SHOWN:] for each in history.ids[-2:]]
    then = (
        (
            "",
            f"Next: steelyard diff {' '.join(two)} compares the last two.",
        )
        if len(two) > 1
        else ()
    )
    write_result(history, output, then=then, beside=history.notes)
