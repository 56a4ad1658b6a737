"""`steelyard shift`: the metrics of a file at another prevalence."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from steelyard.analysis.results.result_json import saved_text
from steelyard.cli import options
from steelyard.cli.commands import command
from steelyard.cli.inputs import Inputs, evaluated, print_assumed
from steelyard.cli.prevalence_option import prevalence_option
from steelyard.cli.report import in_shell_words

if TYPE_CHECKING:
    from steelyard.analysis.prevalence.prevalence import PrevalenceLike
    from steelyard.cli.outputs import Output


@command
@options.inputs()
@prevalence_option(required=True)
@options.shared("level", "metrics", "mute")
@options.output("table", "json", "md", "csv")
def shift_prevalence(
    inputs: Inputs,
    prevalence: PrevalenceLike,
    level: float,
    metrics: list[str] | None,
    mute: tuple[str, ...],
    output: Output,
) -> None:
    """Re-estimate the metrics of FILE at another prevalence: recall and specificity stay, the mix of rows changes."""
    from steelyard.evaluation.evaluate import evaluate
    from steelyard.evaluation.verdict.sentences import muted_codes
    from steelyard.report.csv_text import csv_rows
    from steelyard.report.markdown import shift_markdown
    from steelyard.report.terminal.summary import shift_summary, shifted_rows

    muted = muted_codes(mute or None)
    shifted, read = evaluated(inputs, level=level, metrics=metrics, prevalence=prevalence)
    shifted = replace(in_shell_words(shifted), muted=muted)
    sample = evaluate(read.rows, metrics=metrics, level=level)
    if output.kind == "json":
        output.write(saved_text({**shifted.to_dict(), "sample": sample.metrics.to_dicts()}, indent=1))
    elif output.kind == "csv":
        print_assumed(shifted.assumed)
        output.write(csv_rows(shifted_rows(sample, shifted)))
    elif output.kind == "md":
        output.write(shift_markdown(shifted, shifted_rows(sample, shifted)))
    else:
        output.write(shift_summary(sample, shifted))
