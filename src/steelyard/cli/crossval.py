"""`steelyard crossval`: models fitted on parts of a table and tested on the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from steelyard.analysis.results.strict_json import json_text
from steelyard.cli import options
from steelyard.cli.commands import command
from steelyard.cli.progress import bar

if TYPE_CHECKING:
    from steelyard._types import Label
    from steelyard.cli.outputs import Output
    from steelyard.protocol.cross_evaluation import CrossEvaluation


@command
@click.option("--data", "files", multiple=True, required=True, metavar="FILE", help="The table: one row per case.")
@click.option("--target", required=True, metavar="COL", help="The column to predict; all others are features.")
@click.option(
    "--model",
    "models",
    multiple=True,
    default=("logistic",),
    show_default=True,
    metavar="NAME",
    help="logistic, tree, forest, boosting, naive-bayes, nearest-mean, lda, or MODULE:CLASS; repeatable.",
)
@click.option(
    "--resample",
    multiple=True,
    type=click.Choice(["none", "over", "under", "class_weight"]),
    help="Resample or reweight the training parts to equal classes; repeatable, each one more candidate.",
)
@click.option("--folds", default=5, show_default=True, help="The number of folds, each tested once.")
@click.option("--repeats", default=1, show_default=True, help="How often the folds are drawn anew.")
@click.option("--cost", is_flag=True, help="Repeat short timings and measure the peak memory as well.")
@click.option("--jobs", type=int, metavar="N", help="Runs at the same time.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@options.shared(*options.POSITIVE, "level", "metrics")
@options.output("table", "json", "html")
def cross_validate_models(
    files: tuple[str, ...],
    target: str,
    models: tuple[str, ...],
    resample: tuple[str, ...],
    folds: int,
    repeats: int,
    cost: bool,
    jobs: int | None,
    seed: int,
    positive: Label,
    level: float,
    metrics: list[str] | None,
    output: Output,
) -> None:
    """Cross-validate models: every metric with its spread over the runs, and the cost of each model."""
    from steelyard.ingest.files import load_columns
    from steelyard.ingest.label_tables import match_label
    from steelyard.protocol.named_models import cross_evaluate_columns
    from steelyard.protocol.splits import Folds

    table = load_columns(files)
    if positive is not None and target in table:
        positive = match_label(positive, table[target].drop_nulls().unique().sort().to_list())
    with bar("fitting") as progress:
        result = cross_evaluate_columns(
            table,
            target,
            model=list(models),
            split=Folds(folds, repeats=repeats),
            resample=[None if name == "none" else name for name in resample] or None,
            cost=cost,
            n_jobs=jobs,
            rng=seed,
            pos_label=positive,
            level=level,
            metrics=metrics,
            progress=progress,
        )
    output.write(_text(result, output.kind, target))


def _text(result: CrossEvaluation, kind: str, target: str) -> str:
    if kind == "json":
        return json_text(result.to_dict(), indent=1)
    if kind == "html":
        from steelyard.report.pages.page import page

        return page(result, source=f"cross-evaluation of {target}")
    return repr(result)
