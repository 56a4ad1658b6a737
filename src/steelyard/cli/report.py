"""`steelyard report`: the evaluation of a file of predictions, on the terminal, as a page or as data."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from steelyard.analysis.strict_json import json_text
from steelyard.cli import options
from steelyard.cli.commands import command
from steelyard.cli.inputs import Inputs, evaluate_inputs, print_assumed
from steelyard.cli.option_words import of_shell

if TYPE_CHECKING:
    from steelyard.cli.outputs import Output
    from steelyard.evaluation.evaluation import Evaluation


@command
@options.inputs(*options.PREDICTIONS, "by")
@click.option(
    "--cluster",
    metavar="COL",
    help="Clustered rows: the column that names the cluster, such as the patient; labels only.",
)
@options.shared("level", "metrics", "mute")
@click.option("--all", "everything", is_flag=True, help="Show every metric, not the usual few.")
@click.option(
    "--min-count",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Leave out groups with a cell of 1 to N-1 rows.",
)
@options.output("table", "json", "md", "csv", "html")
def write_report(
    inputs: Inputs,
    cluster: str | None,
    level: float,
    metrics: list[str] | None,
    mute: tuple[str, ...],
    everything: bool,
    min_count: int,
    output: Output,
) -> None:
    """Evaluate the predictions in FILE: the verdict, then the metrics with confidence intervals and no-skill baselines.

    FILE is CSV, TSV, Parquet, Arrow, JSON lines (also packed by gzip or zstd), a pattern, - for the standard input,
    or a saved tally. Columns that are not named are found by their usual names, and the report states them.
    """
    from steelyard.evaluation.sentences import muted_codes

    muted = muted_codes(mute or None)
    evaluation, counted = evaluate_inputs(inputs, level=level, metrics=metrics, min_count=min_count, cluster=cluster)
    if output.kind == "csv":  # which has no place for words
        print_assumed(counted.assumed)
    given = None if inputs.counts is not None else inputs.positive is not None
    output.write(_text(replace(evaluation, muted=muted), output.kind, everything, given))


def in_shell_words(evaluation: Evaluation) -> Evaluation:
    """The evaluation with what it assumed in the words of the shell; a page keeps those of the library."""
    return replace(evaluation, assumed=tuple(map(of_shell, evaluation.assumed)))


def _text(evaluation: Evaluation, kind: str, everything: bool, given: bool | None) -> str:
    from steelyard.report.csv_text import evaluation_csv
    from steelyard.report.terminal_summary import evaluation_summary

    if kind == "html":
        from steelyard.report.page import page

        return page(evaluation)
    evaluation = in_shell_words(evaluation)
    if kind == "json":
        return json_text(evaluation.to_dict(), indent=1)
    if kind == "md":
        from steelyard.report.markdown import evaluation_markdown

        return evaluation_markdown(evaluation, given=given)
    if kind == "csv":
        return evaluation_csv(evaluation)
    return evaluation_summary(evaluation, evaluation.source or "", everything=everything, given=given)
