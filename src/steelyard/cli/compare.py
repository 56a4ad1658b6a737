"""`steelyard compare`: models on the same rows of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from steelyard.cli import options
from steelyard.cli.commands import command
from steelyard.cli.inputs import Inputs, predictions, print_assumed
from steelyard.cli.option_words import with_shell_words
from steelyard.cli.result_output import FORMATS, write_result
from steelyard.cli.saved_tables import read_saved, read_saved_evaluation

if TYPE_CHECKING:
    from steelyard.analysis.comparison.comparison import Comparison
    from steelyard.cli.outputs import Output
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.tables.tally import Tally


@command
@options.inputs(models="give two or more")
@options.shared("use", "capacity", "level", "metrics")
@click.option("--margin", type=float, metavar="M", help="Test that each model is worse than the next by at most M.")
@click.option(
    "--anytime", is_flag=True, help="Two models by --pred: intervals and p-values that hold after every batch of rows."
)
@options.output(*FORMATS)
def compare_models(
    inputs: Inputs,
    level: float,
    metrics: list[str] | None,
    use: str | None,
    capacity: str | None,
    margin: float | None,
    anytime: bool,
    output: Output,
) -> None:
    """Compare models on the same rows of FILE, and say which one to choose.

    What each finds among as many alerts comes first, then the number of the use, then every metric with paired
    confidence intervals and tests.

    Several saved evaluations or tallies are compared as models of different rows. With --anytime give the files of all
    rows so far, or tallies of two models, as often as you like: stop as soon as the answer is clear.
    """
    method = "anytime" if anytime else "auto"
    asked = {"use": use, "capacity": capacity, "margin": margin}
    comparison = compared(inputs, level=level, metrics=metrics, method=method, **asked)
    if anytime:  # a leaderboard would show single intervals
        return write_result(comparison, output, inputs.name)
    return write_comparison(comparison, output, inputs.name)


def write_comparison(comparison: Comparison, output: Output, source: str) -> None:
    """The comparison in one of the formats of a command; `source` is what a page calls the data."""
    if output.kind != "table":
        if output.kind == "html":  # whose page has no place for it
            print_assumed(comparison.assumed)
        return write_result(comparison, output, source)
    from steelyard.report.terminal.comparison_text import comparison_summary

    return output.write(comparison_summary(comparison, comparison.assumed))


def compared(inputs: Inputs, **asked: Any) -> Comparison:
    """The comparison of the models that the command line names, on the same rows, or of several saved files."""
    from steelyard.analysis.comparison.compare import compare

    if not inputs.pred and not inputs.score and len(inputs.files) > 1:
        saved = {name: read_saved_evaluation([name]) or read_saved(name) for name in inputs.files}
        models = {name: model for name, model in saved.items() if model is not None}
        if len(models) == len(saved):
            options: dict[str, Any] = {"pos_label": inputs.pos_label, "threshold": inputs.threshold}
            return with_shell_words(compare(_short(models), **options, **asked))
    found: Comparison = predictions(inputs).ask(compare, **asked)
    return found


def _short(models: dict[str, Evaluation | Tally]) -> dict[str, Evaluation | Tally]:
    """The models by the names of their files, without folders where that keeps them apart."""
    stems = {Path(name).stem: model for name, model in models.items()}
    return stems if len(stems) == len(models) else models
