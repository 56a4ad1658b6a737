"""`steelyard errors`: the rows of a file that are wrong, each with its number and keys."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from steelyard.cli import options
from steelyard.cli.commands import command
from steelyard.cli.inputs import Inputs, open_files, print_assumed
from steelyard.cli.option_words import of_shell
from steelyard.cli.saved_tables import add_saved
from steelyard.cli.usual_columns import guess_columns
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from steelyard.cli.outputs import Output
    from steelyard.evaluation.error_rows import ErrorRows


@command
@options.inputs("files", "true", "pred", "score", "threshold", *options.POSITIVE)
@click.option(
    "--kind", type=click.Choice(["both", "fn", "fp"]), default="both", show_default=True, help="Which errors."
)
@click.option(
    "--first", type=click.IntRange(0, 10**9), default=100, show_default=True, metavar="N", help="How many; 0 for all."
)
@click.option("--near", is_flag=True, help="Those nearest to the threshold first, not the farthest.")
@click.option("--where", metavar="SLICE", help="The rows of a slice alone, such as 'age >= 60 and site = B'.")
@click.option("--keys", metavar="A,B", help="Columns that identify a row, written beside it.")
@options.output("table", "json", "md", "csv", "html")
def list_errors(
    inputs: Inputs, kind: str, first: int, near: bool, where: str | None, keys: str | None, output: Output
) -> None:
    """List the rows of FILE that are wrong: false negatives and false positives, farthest beyond the threshold first.

    A row's number counts from 1, without the header. The output holds values of the file as they are: mind who reads
    it. Of several classes --score is that of the predicted class, and the most certain errors come first.
    """
    errors, assumed = file_errors(inputs, keys, kind=kind, first=first or None, near=near, filter=where)
    if output.kind in ("csv", "json"):
        print_assumed([*assumed, *map(of_shell, errors.notes)] if output.kind == "csv" else assumed)
    if output.kind == "html":
        output.write(replace(errors, assumed=(*errors.assumed, *assumed)).to_html(inputs.name))
    else:
        output.write(_text(errors, assumed, output.kind))


def file_errors(inputs: Inputs, keys: str | None, **asked: Any) -> tuple[ErrorRows, list[str]]:
    """The wrong rows of a file with the columns that identify them, and what was assumed."""
    from steelyard.evaluation.error_rows import errors

    if add_saved(inputs.files) is not None:
        raise InputError("A saved table does not keep its rows; give the file of predictions.")
    named = None if keys is None else [key.strip() for key in keys.split(",") if key.strip()]
    with open_files(inputs) as source:
        found, assumed = guess_columns(source, inputs)
        columns: dict[str, Any] = {use: name for use, name in found.columns.items() if use in ("true", "pred", "score")}
        own: dict[str, Any] = {"threshold": inputs.threshold, "pos_label": inputs.positive, "key": named}
        return errors(source, **columns, **own, **asked), assumed


def _text(errors: ErrorRows, assumed: list[str], kind: str) -> str:
    from steelyard.report.csv_text import csv_rows
    from steelyard.report.result_view import result_markdown
    from steelyard.report.terminal.error_text import errors_text

    if kind == "json":
        return errors.to_json(indent=1)
    if kind == "csv":
        return csv_rows(errors.to_dicts())
    if kind == "md":
        return of_shell(result_markdown(errors, assumed))
    return errors_text(errors, [*map(of_shell, errors.notes), *assumed])
