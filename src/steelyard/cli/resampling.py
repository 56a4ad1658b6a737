"""`steelyard resampling`: whether resampling gains anything that a moved threshold does not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from steelyard.cli import options
from steelyard.cli.commands import command
from steelyard.cli.option_words import with_shell_words
from steelyard.cli.progress import bar
from steelyard.cli.result_output import FORMATS, write_result

if TYPE_CHECKING:
    from steelyard._types import Label
    from steelyard.cli.outputs import Output


@command
@click.option("--data", "files", multiple=True, required=True, metavar="FILE", help="The table: one row per case.")
@click.option("--target", required=True, metavar="COL", help="The column to predict; all others are features.")
@click.option("--model", default="logistic", show_default=True, metavar="NAME", help="A model, as in crossval.")
@click.option(
    "--samplers",
    metavar="NAME,NAME",
    help="over, under, class_weight, or samplers of imbalanced-learn such as SMOTE; by default the first three.",
)
@click.option(
    "--metrics",
    metavar="A,B",
    callback=lambda ctx, parameter, value: options.metric_names(value),  # noqa: ARG005 - click's own
    help="The metric that decides, by default the AC-score, and those shown beside it.",
)
@click.option("--margin", type=float, default=0.02, show_default=True, help="A gain of less than this counts as none.")
@click.option("--folds", default=5, show_default=True, help="The number of folds, each tested once.")
@click.option("--repeats", default=2, show_default=True, help="How often the folds are drawn anew.")
@click.option("--inner", default=3, show_default=True, help="The folds of a training part that choose thresholds.")
@click.option("--n-jobs", type=int, metavar="N", help="Runs at the same time.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@options.shared(*options.POSITIVE, "level")
@options.output(*FORMATS)
def study_resampling(
    files: tuple[str, ...],
    target: str,
    model: str,
    samplers: str | None,
    margin: float,
    folds: int,
    repeats: int,
    inner: int,
    n_jobs: int | None,
    seed: int,
    pos_label: Label,
    level: float,
    metrics: list[str] | None,
    output: Output,
) -> None:
    """Was resampling worth it: samplers against the plain model with a moved threshold, on the same folds."""
    from steelyard.files.reading import load_columns
    from steelyard.protocol.resampling_study import resampling_study
    from steelyard.protocol.splits import Folds
    from steelyard.studies.own_table import own_table

    table = own_table(load_columns(files), target, model=[model], pos_label=pos_label)
    table.check_two_classes()
    with bar("fitting") as progress:
        study = resampling_study(
            table.models[model],
            table.X,
            table.y,
            options.metric_names(samplers),
            metric=metrics[0] if metrics else None,
            metrics=metrics[1:] or None if metrics else None,
            split=Folds(folds, repeats=repeats),
            inner=inner,
            margin=margin,
            n_jobs=n_jobs,
            rng=seed,
            pos_label=table.positive,
            level=level,
            progress=progress,
        )
    study = with_shell_words(replace(study, remarks=(*table.notes, *study.remarks)))
    write_result(study, output, f"resampling for {target}")
