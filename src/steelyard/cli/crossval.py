"""`steelyard crossval`: models fitted on parts of a table and tested on the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from steelyard.cli import options
from steelyard.cli.commands import command
from steelyard.cli.model_splits import (
    class_tables,
    evaluated_splits,
    matched_positive,
    named_splits,
    selected_tree,
)
from steelyard.cli.option_words import of_shell, with_shell_words
from steelyard.cli.result_output import FORMATS, write_result
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from steelyard._types import Label
    from steelyard.cli.outputs import Output


@command
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--target", required=True, metavar="COL", help="The column to predict; all others are features.")
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="NAME",
    help="logistic (the default), tree, forest, boosting, naive-bayes, nearest-mean, lda, or MODULE:CLASS; repeatable.",
)
@click.option(
    "--resample",
    multiple=True,
    metavar="NAME",
    help="Resample or reweight the training parts to equal classes: none, over, under, class_weight, or a sampler of "
    "imbalanced-learn such as SMOTE; repeatable, each one more candidate.",
)
@click.option(
    "--split",
    metavar="K|KxN",
    help="5 folds (the default), 5x10 for those ten times, holdout:3x10 for ten times three parts to train on and one "
    "to test, holdout:2-9 for each size from 2 to 9.",
)
@click.option(
    "--select-tree",
    is_flag=True,
    help="Choose a decision tree: the simplest within a standard error of the best, tested on unseen rows.",
)
@click.option("--resources", is_flag=True, help="Repeat short timings and measure the peak memory as well.")
@click.option("--n-jobs", type=int, metavar="N", help="Runs at the same time.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@options.shared(*options.POSITIVE, "use", "level", "metrics")
@options.output(*FORMATS)
def cross_validate_models(
    files: tuple[str, ...],
    target: str,
    models: tuple[str, ...],
    resample: tuple[str, ...],
    split: str | None,
    select_tree: bool,
    resources: bool,
    n_jobs: int | None,
    seed: int,
    pos_label: Label,
    use: str | None,
    level: float,
    metrics: list[str] | None,
    output: Output,
) -> None:
    """Cross-validate models on the table in FILE, one row per case: which to choose, every metric, and the costs."""
    from steelyard.files.reading import load_columns
    from steelyard.protocol.cross_evaluation import HoldOuts

    splits, table = named_splits(split or "5"), load_columns(files)
    asked: dict[str, Any] = {"model": list(models), "resample": list(resample) or None, "metrics": metrics, "rng": seed}
    asked["pos_label"] = matched_positive(table, target, pos_label)
    if select_tree:
        if resources or n_jobs is not None or use is not None:
            raise InputError("--select-tree gives one tree; leave out --resources, --n-jobs and --use.")
        named = {} if split is None else splits
        chosen = with_shell_words(selected_tree(table, target, named, **asked))
        if output.kind == "table":
            return output.write(of_shell(repr(chosen)))
        return write_result(chosen, output, f"cross-evaluation of {target}")
    asked |= {"model": list(models) or ["logistic"], "resources": resources, "n_jobs": n_jobs, "level": level}
    asked["use"] = use
    results = evaluated_splits(table, target, splits, **asked)
    shown = HoldOuts.of(results, metrics) if len(results) > 1 else next(iter(results.values()))
    classes = [text for text in (class_tables(results),) if text and metrics is None]
    return write_result(with_shell_words(shown), output, f"cross-evaluation of {target}", then=classes)
