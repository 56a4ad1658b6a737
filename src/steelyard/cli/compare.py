"""`steelyard compare`: models on the same rows of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from steelyard.analysis.results.result_json import saved_text
from steelyard.cli import options
from steelyard.cli.commands import command
from steelyard.cli.inputs import Inputs, predictions, print_assumed
from steelyard.cli.option_words import with_shell_words
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
@options.output("table", "json", "md", "csv", "html")
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
    assumed = [*comparison.assumed]
    if output.kind in ("csv", "html"):
        print_assumed(assumed)
    is_look = anytime and output.kind == "table"  # of which a leaderboard would show single intervals
    output.write(repr(comparison) if is_look else written_comparison(comparison, assumed, output.kind, inputs.name))


def written_comparison(comparison: Comparison, assumed: list[str], kind: str, source: str) -> str:
    """The comparison in one of the formats of a command; `source` is what a page calls the data."""
    from steelyard.report.csv_text import csv_rows
    from steelyard.report.terminal.comparison_text import comparison_summary

    if kind == "json":
        return saved_text({**comparison.to_dict(), "assumed": assumed}, indent=1)
    if kind == "md":
        from steelyard.report.result_view import result_markdown

        return result_markdown(comparison, assumed)
    if kind == "csv":
        return csv_rows(comparison.rows.to_dicts())
    if kind == "html":
        from steelyard.report.pages.page import comparison_page

        return comparison_page(comparison, source=source)
    return comparison_summary(comparison, assumed)


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
