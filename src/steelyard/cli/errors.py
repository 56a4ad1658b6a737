"""`steelyard errors`: the rows of a file that are wrong, each with its number and keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from steelyard.cli import options
from steelyard.cli.commands import command
from steelyard.cli.inputs import Inputs, predictions
from steelyard.cli.result_output import FORMATS, write_result

if TYPE_CHECKING:
    from steelyard.cli.outputs import Output
    from steelyard.evaluation.error_rows import ErrorRows


@command
@options.inputs()
@click.option(
    "--kind", type=click.Choice(["both", "fn", "fp"]), default="both", show_default=True, help="Which errors."
)
@click.option(
    "--first", type=click.IntRange(0, 10**9), default=100, show_default=True, metavar="N", help="How many; 0 for all."
)
@click.option("--near", is_flag=True, help="Those nearest to the threshold first, not the farthest.")
@click.option("--key", metavar="A,B", help="Columns that identify a row, written beside it.")
@options.output(*FORMATS)
def list_errors(inputs: Inputs, kind: str, first: int, near: bool, key: str | None, output: Output) -> None:
    """List the rows of FILE that are wrong: false negatives and false positives, farthest beyond the threshold first.

    A row's number counts from 1, without the header. The output holds values of the file as they are: mind who reads
    it. Of several classes --score is that of the predicted class, and the most certain errors come first.
    """
    found = error_rows(inputs, key, kind=kind, first=first or None, near=near)
    write_result(found, output, inputs.name, beside=found.notes, everything=True)


def error_rows(inputs: Inputs, key: str | None, **asked: Any) -> ErrorRows:
    """The wrong rows of a file with the columns that identify them."""
    from steelyard.evaluation.error_rows import errors

    keys = None if key is None else [name.strip() for name in key.split(",") if name.strip()]
    found: ErrorRows = predictions(inputs).ask(errors, key=keys, **asked)
    return found
