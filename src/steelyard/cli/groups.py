"""`steelyard groups`: the groups of a file compared by each metric, with gaps of their rates."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from steelyard.cli import options
from steelyard.cli.binned_by import bins_note, with_bins
from steelyard.cli.commands import command
from steelyard.cli.inputs import Inputs, count_inputs, labels_of, open_files, print_assumed
from steelyard.cli.option_words import of_shell
from steelyard.cli.usual_columns import guess_columns
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from steelyard.cli.outputs import Output
    from steelyard.evaluation.compare_groups import GroupComparison


@command
@options.inputs(
    *("files", "true", "pred", "score", "threshold", *options.POSITIVE, "weight", "frequency"),
    *("by", "cluster", "labels", "exact"),
)
@click.option(
    "--versus",
    default="rest",
    metavar="GROUP",
    show_default=True,
    help="What each group is compared with: rest, pairs, or the name of one group.",
)
@click.option("--thresholds", is_flag=True, help="Compare thresholds: the same, for equal recall, for equal flags.")
@click.option("--cost-fn", type=float, metavar="N", help="With --thresholds: what a miss costs, 1 by default.")
@click.option("--cost-fp", type=float, metavar="N", help="With --thresholds: what a false alarm costs, 1 by default.")
@options.shared("level", "design", "metrics")
@options.output("table", "json", "md", "csv", "html")
def compare_file(
    inputs: Inputs,
    versus: str,
    thresholds: bool,
    cost_fn: float | None,
    cost_fp: float | None,
    level: float,
    design: str,
    metrics: list[str] | None,
    output: Output,
) -> None:
    """Compare groups of the rows in FILE: a test that each metric is the same in all of them, and their differences.

    --by names the column of groups. One test per metric asks whether all groups are equal; the intervals of all
    differences of a metric hold together. The gaps are those of demographic parity, equal opportunity, equalized odds
    and predictive parity. --thresholds compares one threshold for all groups with one each, and what they cost.
    """
    cost = {key: value for key, value in (("cost_fn", cost_fn), ("cost_fp", cost_fp)) if value is not None}
    if cost and not thresholds:
        raise InputError("--cost-fn and --cost-fp are about thresholds of groups; add --thresholds.")
    if thresholds:
        _write_thresholds(inputs, cost, level, output)
        return
    asked: dict[str, Any] = {"versus": versus, "level": level, "design": design, "metrics": metrics}
    comparison, assumed = _compared(inputs, asked)
    if output.kind in ("json", "csv"):
        print_assumed(assumed)
    if output.kind == "html":
        output.write(replace(comparison, assumed=(*comparison.assumed, *assumed)).to_html(inputs.name))
    else:
        output.write(_text(comparison, assumed, output.kind))


def _write_thresholds(inputs: Inputs, cost: dict[str, float], level: float, output: Output) -> None:
    from steelyard.evaluation.group_thresholds import group_thresholds
    from steelyard.report.csv_text import csv_rows
    from steelyard.report.result_view import result_markdown
    from steelyard.report.terminal.group_text import thresholds_text

    if inputs.cluster is not None:
        raise InputError("--thresholds takes rows as independent; leave out --cluster.")
    counted = count_inputs(inputs, scores=True)
    found = group_thresholds(counted.tally, threshold=inputs.threshold, cost=cost, level=level)
    notes = [*map(of_shell, found.notes), *counted.assumed]
    if output.kind == "json":
        output.write(found.to_json(indent=1))
    elif output.kind == "csv":
        print_assumed(notes)
        output.write(csv_rows(found.to_dicts()))
    elif output.kind == "html":
        output.write(replace(found, assumed=(*found.assumed, *counted.assumed)).to_html(inputs.name))
    elif output.kind == "md":
        output.write(of_shell(result_markdown(found, counted.assumed)))
    else:
        output.write(thresholds_text(found, notes))


def _compared(inputs: Inputs, asked: dict[str, Any]) -> tuple[GroupComparison, list[str]]:
    from steelyard.evaluation.compare_groups import compare_groups

    if inputs.cluster is None:
        counted = count_inputs(inputs)
        if not counted.tally.groups:
            raise InputError("Groups are compared; name the column of groups with --by.")
        note = bins_note(counted.tally.by, counted.tally.groups)
        return compare_groups(counted.tally, threshold=inputs.threshold, **asked), [*counted.assumed, *note]
    if not inputs.by:
        raise InputError("Groups are compared; name the column of groups with --by.")
    with open_files(inputs) as given:
        source, inputs = with_bins(given, inputs)
        named, assumed = guess_columns(source, inputs)
        columns: dict[str, Any] = named.columns
        rows: dict[str, Any] = {
            "cluster": inputs.cluster,
            "pos_label": inputs.positive,
            "labels": labels_of(source, inputs),
        }
        return compare_groups(source, **columns, **rows, threshold=inputs.threshold, **asked), assumed


def _text(comparison: GroupComparison, assumed: list[str], kind: str) -> str:
    from steelyard.report.csv_text import csv_rows
    from steelyard.report.result_view import result_markdown
    from steelyard.report.terminal.group_text import groups_text

    if kind == "json":
        return comparison.to_json(indent=1)
    if kind == "csv":
        return csv_rows(comparison.to_dicts())
    if kind == "md":
        return of_shell(result_markdown(comparison, assumed))
    return groups_text(comparison, [*map(of_shell, comparison.basis), *assumed])
