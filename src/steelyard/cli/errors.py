"""`steelyard errors`: the rows of a file that are wrong, each with its number and keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from steelyard.cli import options
from steelyard.cli.commands import command
from steelyard.cli.inputs import Inputs, predictions, print_assumed
from steelyard.cli.option_words import of_shell

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
@options.output("table", "json", "md", "csv", "html")
def list_errors(inputs: Inputs, kind: str, first: int, near: bool, key: str | None, output: Output) -> None:
    """List the rows of FILE that are wrong: false negatives and false positives, farthest beyond the threshold first.

    A row's number counts from 1, without the header. The output holds values of the file as they are: mind who reads
    it. Of several classes --score is that of the predicted class, and the most certain errors come first.
    """
    found = error_rows(inputs, key, kind=kind, first=first or None, near=near)
    if output.kind == "csv":
        print_assumed(found.notes)
    output.write(found.to_html(inputs.name) if output.kind == "html" else _text(found, output.kind))


def error_rows(inputs: Inputs, key: str | None, **asked: Any) -> ErrorRows:
    """The wrong rows of a file with the columns that identify them."""
    from steelyard.evaluation.error_rows import errors

    keys = None if key is None else [name.strip() for name in key.split(",") if name.strip()]
    found: ErrorRows = predictions(inputs).ask(errors, key=keys, **asked)
    return found


def _text(errors: ErrorRows, kind: str) -> str:
    from steelyard.report.csv_text import csv_rows
    from steelyard.report.result_view import result_markdown
    from steelyard.report.terminal.error_text import errors_text

    if kind == "json":
        return errors.to_json(indent=1)
    if kind == "csv":
        return csv_rows(errors.to_dicts())
    if kind == "md":
        return of_shell(result_markdown(errors, []))
    return errors_text(errors, [*map(of_shell, errors.notes)])
