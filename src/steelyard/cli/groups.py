"""`steelyard groups`: the groups of a file compared by each metric, with gaps of their rates."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from steelyard.cli import options
from steelyard.cli.commands import command
from steelyard.cli.inputs import Inputs, predictions
from steelyard.cli.result_output import FORMATS, write_result
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from steelyard.cli.outputs import Output
    from steelyard.evaluation.compare_groups import GroupComparison

_MANY = 20  # groups of numbers, for which bins are better


@command
@options.inputs()
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
@options.shared("level", "metrics")
@options.output(*FORMATS)
def compare_file(
    inputs: Inputs,
    versus: str,
    thresholds: bool,
    cost_fn: float | None,
    cost_fp: float | None,
    level: float,
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
        from steelyard.evaluation.group_thresholds import group_thresholds

        found = predictions(inputs, scores=True).ask(group_thresholds, cost=cost, level=level)
        write_result(found, output, inputs.name)
        return
    comparison = _compared(inputs, {"versus": versus, "level": level, "metrics": metrics})
    write_result(comparison, output, inputs.name)


def _compared(inputs: Inputs, asked: dict[str, Any]) -> GroupComparison:
    from steelyard.evaluation.compare_groups import compare_groups

    comparison: GroupComparison = predictions(inputs).ask(compare_groups, **asked)
    numbers = all(label.rpartition(" = ")[2].lstrip("-").replace(".", "", 1).isdigit() for label in comparison.groups)
    if len(comparison.by) > 1 or len(comparison.groups) <= _MANY or not numbers:
        return comparison
    (name,) = comparison.by
    note = f"Each number of {name} is a group of its own; --bins {name}=4 makes four groups of them."
    return replace(comparison, assumed=(*comparison.assumed, note))
