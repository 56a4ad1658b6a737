"""`steelyard drift`: what changed between periods of a file, by the prevalence and by the classifier."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from steelyard.analysis.results.strict_json import json_text
from steelyard.cli import options
from steelyard.cli.commands import command
from steelyard.cli.inputs import Inputs, count_inputs
from steelyard.cli.option_words import of_shell
from steelyard.cli.saved_tables import add_saved
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from steelyard.cli.outputs import Output
    from steelyard.evaluation.drift.drift_result import Drift


@command
@options.inputs("files", "true", "pred", "score", "threshold", *options.POSITIVE, "weight", "frequency", "exact")
@click.option(
    "--period", metavar="COL", help="The column of the period, such as the month; of saved tallies their groups."
)
@click.option(
    "--reference", metavar="PERIOD", help="The period that the others are read against; the first by default."
)
@options.shared("level", "metrics")
@options.output("table", "json", "md", "csv", "html")
def split_drift(
    inputs: Inputs,
    period: str | None,
    reference: str | None,
    level: float,
    metrics: list[str] | None,
    output: Output,
) -> None:
    """Split what changed between the periods of FILE into a part by the prevalence and one by the classifier."""
    found = _found(inputs, period, {"reference": reference, "level": level, "metrics": metrics})
    if output.kind == "json":
        output.write(json_text(found.to_dict(), indent=1))
    elif output.kind == "csv":
        from steelyard.report.csv_text import csv_rows

        output.write(csv_rows(found.to_dicts()))
    elif output.kind == "html":
        output.write(found.to_html())
    else:
        output.write(found.to_markdown() if output.kind == "md" else repr(found))


def _found(inputs: Inputs, period: str | None, asked: dict[str, Any]) -> Drift:
    """The drift of the files, or of saved tallies that were counted by period."""
    from steelyard.evaluation.drift.drift import drift

    if period is None and (not inputs.files or add_saved(inputs.files) is None):
        raise InputError("The period of each row is needed; name its column with --period.")
    counted = count_inputs(replace(inputs, by=() if period is None else (period,)))
    found = drift(counted.tally, threshold=inputs.threshold, pos_label=inputs.positive, **asked)
    return replace(found, assumed=tuple(map(of_shell, (*counted.assumed, *found.assumed))))
