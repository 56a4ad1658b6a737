"""`steelyard threshold`: the threshold of the scores at which a metric is best."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from steelyard.analysis.strict_json import json_text, strict
from steelyard.cli import options
from steelyard.cli.commands import command
from steelyard.cli.inputs import Inputs, count_inputs
from steelyard.errors import InputError

if TYPE_CHECKING:
    from steelyard.cli.outputs import Output


@command
@options.inputs("files", "true", "score")
@click.option("--metric", metavar="NAME", help="The metric to maximise (or minimise); the AC-score by default.")
@click.option(
    "--where", multiple=True, metavar="LIMIT", help='A constraint on the threshold, such as "specificity>=0.99".'
)
@options.shared(*options.POSITIVE, "weight", "frequency", "exact", "level")
@options.output("table", "json", "md")
def find_threshold(inputs: Inputs, metric: str | None, where: tuple[str, ...], level: float, output: Output) -> None:
    """Find the threshold of the scores in FILE at which a metric is best, with its expected value on new rows."""
    from steelyard.analysis.best_threshold import best_threshold
    from steelyard.report.terminal_summary import all_digits, threshold_summary

    counted = count_inputs(inputs, scores=True)
    if counted.tally.scores is None:
        raise InputError("A threshold needs scores; name their column with --score.")
    assumed = list(counted.assumed)
    if len(counted.tally.scores.bins):
        assumed.append("Scores were counted in bins: only thresholds between bins were searched.")
    best = best_threshold(counted.tally.scores, metric=metric, where=list(where) or None, level=level)
    if output.kind == "json":
        output.write(json_text({**best.to_dict(), **strict(best.row()), "assumed": assumed}, indent=1))
    elif output.kind == "md":
        from steelyard.report.result_view import result_markdown

        output.write(result_markdown(best, [all_digits(best), *assumed]))
    else:
        output.write(threshold_summary(best, assumed))
