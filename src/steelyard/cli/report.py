"""`steelyard report`: the evaluation of a file of predictions, on the terminal, as a page or as data."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from steelyard.cli import options
from steelyard.cli.commands import command
from steelyard.cli.hierarchy_option import hierarchy_option
from steelyard.cli.inputs import Inputs, evaluated, print_assumed
from steelyard.cli.next_command import next_command
from steelyard.cli.option_words import of_shell
from steelyard.cli.saved_tables import read_saved_evaluation
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from steelyard.analysis.confusions.hierarchy import HierarchyLike
    from steelyard.cli.outputs import Output
    from steelyard.evaluation.evaluation import Evaluation


@command
@options.inputs()
@options.shared("level", "metrics", "mute", "use", "capacity")
@click.option("--all", "everything", is_flag=True, help="Show every metric, not the usual few.")
@click.option(
    "--min-count",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Leave out groups with a cell of 1 to N-1 rows.",
)
@click.option("--errors", metavar="A,B", help="List the first hundred wrong rows on the page, with these key columns.")
@hierarchy_option()
@options.output("table", "json", "md", "csv", "html")
def write_report(
    inputs: Inputs,
    level: float,
    metrics: list[str] | None,
    mute: tuple[str, ...],
    use: str | None,
    capacity: str | None,
    everything: bool,
    min_count: int,
    errors: str | None,
    hierarchy: HierarchyLike | None,
    output: Output,
) -> None:
    """Evaluate the predictions in FILE: the verdict, then the metrics with confidence intervals and no-skill baselines.

    FILE is CSV, TSV, Parquet, Arrow, JSON lines (also packed by gzip or zstd), a pattern, - for the standard input,
    a saved tally, or an evaluation that was saved as JSON. Columns that are not named are found by their usual names,
    and the report states them.
    """
    from steelyard.evaluation.verdict.sentences import muted_codes

    muted, asked_use = muted_codes(mute or None), {"use": use, "capacity": capacity}
    evaluation, given = read_saved_evaluation(inputs.files), None
    if evaluation is not None:
        refused = {"metrics": metrics, "min_count": min_count, "hierarchy": hierarchy, **asked_use}
        _refuse_options(inputs, **refused, given=options.are_given("level"))
    else:
        asked = {"level": level, "metrics": metrics, "hierarchy": hierarchy, **asked_use}
        evaluation, read = evaluated(inputs, min_count=min_count, **asked)
        hidden = None if read.rows.given.is_table else False  # by a saved table
        given = True if inputs.pos_label is not None else hidden
        if output.kind == "csv":  # which has no place for words
            print_assumed(list(map(of_shell, evaluation.assumed)))
    shown = replace(evaluation, muted=muted) if muted else evaluation
    if errors is not None:
        output.write(_page_with_errors(shown, inputs, errors, output.kind))
        return
    output.write(_text(shown, output.kind, everything, given, inputs))


def _page_with_errors(evaluation: Evaluation, inputs: Inputs, keys: str, kind: str) -> str:
    """The page with the first wrong rows of the file, which is read once more."""
    from steelyard.cli.errors import error_rows
    from steelyard.report.pages.error_section import MOST_ERRORS
    from steelyard.report.pages.page import page

    if kind != "html":
        raise InputError("--errors lists rows on a page; write one with -o page.html, or use `steelyard errors`.")
    return page(evaluation, source=inputs.name, errors=error_rows(inputs, keys, first=MOST_ERRORS))


def _refuse_options(inputs: Inputs, **options: object) -> None:
    """Refuse what only predictions can answer where the input is an evaluation."""
    if replace(inputs, files=()) != Inputs() or any(options.values()):
        raise InputError(
            f"{inputs.files[0]!r} is a saved evaluation, which is shown as it is; to evaluate otherwise give the "
            "predictions. Only --all, --mute, --format and -o go with it."
        )


def in_shell_words(evaluation: Evaluation) -> Evaluation:
    """The evaluation with what it assumed in the words of the shell; a page and JSON keep those of the library."""
    shown = copy(evaluation)
    shown.__dict__["assumed"] = tuple(map(of_shell, evaluation.assumed))
    return shown


def _text(evaluation: Evaluation, kind: str, everything: bool, given: bool | None, inputs: Inputs) -> str:
    name = evaluation.source or inputs.name
    if kind == "html":
        return evaluation.to_html(source=name)
    if kind == "json":
        return evaluation.to_json(indent=1)
    evaluation = in_shell_words(evaluation)
    if kind == "md":
        from steelyard.report.markdown import evaluation_markdown

        return evaluation_markdown(evaluation, given=given)
    if kind == "csv":
        from steelyard.report.csv_text import evaluation_csv

        return evaluation_csv(evaluation)
    if evaluation.use is not None and evaluation.use.metrics:
        from steelyard.report.terminal.profile import profile_text

        return profile_text(evaluation, evaluation.use)
    from steelyard.report.terminal.summary import evaluation_summary

    then = next_command(inputs, evaluation)
    return evaluation_summary(evaluation, name, everything=everything, given=given, then=then)
