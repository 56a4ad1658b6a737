"""`steelyard compare`: models on the same rows of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from steelyard.analysis.results.result_json import saved_text
from steelyard.cli import options
from steelyard.cli.anytime_option import write_anytime
from steelyard.cli.commands import command
from steelyard.cli.inputs import Inputs, labels_of, open_files, print_assumed
from steelyard.cli.option_words import of_shell
from steelyard.cli.saved_tables import read_saved, read_saved_evaluation
from steelyard.cli.usual_columns import guess_columns
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.analysis.comparison.comparison import Comparison
    from steelyard.cli.outputs import Output
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.statistics.tally import Tally

_MODELS = (options.models("give two or more"), options.class_models("give two or more"))
_ROWS = ("weight", "frequency", "cluster")  # what each row counts for


@command
@options.inputs("files", "true", *_MODELS, "threshold", *options.POSITIVE, "labels", "label_sep", *_ROWS)
@options.shared("level", "metrics")
@click.option("--margin", type=float, metavar="M", help="Test that each model is worse than the next by at most M.")
@click.option(
    "--anytime", is_flag=True, help="Two models by --pred: intervals and p-values that hold after every batch of rows."
)
@options.output("table", "json", "md", "csv", "html")
def compare_models(
    inputs: Inputs, level: float, metrics: list[str] | None, margin: float | None, anytime: bool, output: Output
) -> None:
    """Compare models on the same rows of FILE, by every metric, with paired confidence intervals and tests.

    Several saved evaluations or tallies are compared as models of different rows. With --anytime give the files of all
    rows so far, or tallies of two models, as often as you like: stop as soon as the answer is clear.
    """
    if anytime:
        if margin is not None:
            raise InputError(
                "--anytime gives the interval of each difference, and --margin is of a single test; leave it out."
            )
        write_anytime(inputs, level, metrics, output)
        return
    comparison, assumed = compare_inputs(inputs, level, metrics, margin)
    if output.kind in ("csv", "html"):
        print_assumed(assumed)
    output.write(written_comparison(comparison, assumed, output.kind, inputs.name))


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


def compare_inputs(
    inputs: Inputs, level: float, metrics: Sequence[str] | None = None, margin: float | None = None
) -> tuple[Comparison, list[str]]:
    """The comparison of the models that the command line names, and what was assumed."""
    asked: dict[str, Any] = {"level": level, "metrics": metrics, "margin": margin, "threshold": inputs.threshold}
    models = [names for names in (inputs.preds, inputs.scores, inputs.class_models) if names]
    if not models and (comparison := _compare_saved(inputs, asked)) is not None:
        return comparison, list(map(of_shell, comparison.assumed))
    if len(models) != 1:
        raise InputError("Name two or more models, all by --pred (labels), all by --score or all by --scores (scores).")
    if not inputs.preds and inputs.frequency is not None:
        raise InputError("--frequency is for labels: scores are compared row by row, each row once; leave it out.")
    return _compare_columns(inputs, list(models[0]), asked)


def _compare_columns(inputs: Inputs, names: list[str], asked: dict[str, Any]) -> tuple[Comparison, list[str]]:
    """The comparison of the models whose columns of a file are named, and what was assumed."""
    from dataclasses import replace

    from steelyard.analysis.comparison.compare import compare

    with open_files(inputs) as source:
        named, assumed = guess_columns(source, replace(inputs, pred=names[0]))
        comparison = compare(
            source,
            true=named.true,
            **{"pred" if inputs.preds else "score": names},
            pos_label=inputs.positive,
            labels=labels_of(source, named),
            label_sep=inputs.label_sep,
            **{use: getattr(inputs, use) for use in _ROWS},
            **asked,
        )
    return comparison, [*assumed, *map(of_shell, comparison.assumed)]


def _compare_saved(inputs: Inputs, asked: dict[str, Any]) -> Comparison | None:
    """The comparison of a saved table of two models, or of several saved evaluations, where the files are that."""
    from steelyard.analysis.comparison.compare import compare

    if inputs.labels is not None:
        raise InputError("--labels is of columns of labels, and saved tables have their own; leave it out.")
    if len(inputs.files) > 1:
        saved = {name: read_saved_evaluation([name]) or read_saved(name) for name in inputs.files}
        models = {name: model for name, model in saved.items() if model is not None}
        return compare(_short(models), pos_label=inputs.positive, **asked) if len(models) == len(saved) else None
    table = read_saved(inputs.files[0]) if inputs.files else None
    if table is None or table.paired is None:
        return None
    return compare(table.paired, table.models or None, pos_label=inputs.positive, **asked)


def _short(models: dict[str, Evaluation | Tally]) -> dict[str, Evaluation | Tally]:
    """The models by the names of their files, without folders where that keeps them apart."""
    stems = {Path(name).stem: model for name, model in models.items()}
    return stems if len(stems) == len(models) else models
