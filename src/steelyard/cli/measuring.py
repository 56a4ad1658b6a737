"""Measuring: the commands that fit models: cross-evaluation of a table, and the studies of the papers."""

from __future__ import annotations

from typing import Any

import click

from steelyard.analysis.rows import json_text
from steelyard.cli import declaring, writing
from steelyard.cli.declaring import command
from steelyard.cli.progress import bar, steps

_FORMATS = ("table", "json", "html")


@command
@click.option("--data", "files", multiple=True, required=True, metavar="FILE", help="The table: one row a case.")
@click.option("--target", required=True, metavar="COL", help="The column to predict; all others are predicted from.")
@click.option(
    "--model",
    "models",
    multiple=True,
    default=("logistic",),
    show_default=True,
    metavar="NAME",
    help="logistic, tree, forest, nearest-mean or lda; repeatable.",
)
@click.option(
    "--resample",
    "resample",
    multiple=True,
    type=click.Choice(["none", "over", "under", "class_weight"]),
    help="Make the classes of the training parts alike; repeatable, each one more candidate.",
)
@click.option("--folds", default=5, show_default=True, help="The parts of the rows, each tested once.")
@click.option("--repeats", default=1, show_default=True, help="How often the rows are divided anew.")
@click.option("--cost", is_flag=True, help="Repeat short timings and measure the peak memory as well.")
@click.option("--jobs", type=int, metavar="N", help="Runs at the same time.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@declaring.positive
@declaring.level
@declaring.metrics
@declaring.form(*_FORMATS)
@declaring.output
def crossval(
    files: tuple[str, ...],
    target: str,
    models: tuple[str, ...],
    resample: tuple[str, ...],
    folds: int,
    repeats: int,
    cost: bool,
    jobs: int | None,
    seed: int,
    positive: str | None,
    level: float,
    metrics: str | None,
    form: str | None,
    output: str | None,
    force: bool,
) -> None:
    """Fit models on parts of a table and test them on the rest: every metric with its spread, and the cost."""
    from steelyard.cli.weighing import split
    from steelyard.ingest.files import columns
    from steelyard.ingest.label_tables import resolved
    from steelyard.protocol.named_models import cross_evaluate_columns
    from steelyard.protocol.splits import Folds

    kind = writing.chosen(form, output, _FORMATS)
    writing.check_free(output, force)
    table = columns(files)
    if positive is not None and target in table:
        positive = resolved(positive, table[target].drop_nulls().unique().sort().to_list())
    ways = [None if way == "none" else way for way in resample] or None
    with bar("fitting") as progress:
        found = cross_evaluate_columns(
            table,
            target,
            model=list(models),
            split=Folds(folds, repeats=repeats),
            resample=ways,
            cost=cost,
            n_jobs=jobs,
            rng=seed,
            pos_label=positive,
            level=level,
            metrics=split(metrics),
            progress=progress,
        )
    writing.deliver(_told(found, kind, target), output)


def _told(found: Any, kind: str, target: str) -> str:
    if kind == "json":
        return json_text(found.to_dict(), indent=1)
    if kind == "html":
        from steelyard.report.page import page

        return page(found, source=f"cross-evaluation of {target}")
    return repr(found)


@command
@click.argument("name", required=False)
@click.option("--list", "listed", is_flag=True, help="List the studies.")
@click.option("--quick", is_flag=True, help="In seconds, on a part of the data.")
@click.option("--data", metavar="DIR", help="The folder of the data sets, in place of STEELYARD_DATA.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--overlap", is_flag=True, help="Of nguyen: draw test texts as the paper did, training texts among them.")
@click.option("-o", "--output", metavar="DIR", help="Write the page, the tables and the figures to this new folder.")
@click.option("--force", is_flag=True, help="Replace a folder that exists.")
def study(
    name: str | None,
    listed: bool,
    quick: bool,
    data: str | None,
    seed: int,
    overlap: bool,
    output: str | None,
    force: bool,
) -> None:
    """Run a paper's experiment again: NAME is nguyen, asawa, kalita, wu or garcia.

    Without NAME the studies are listed. The data sets are looked for in DIR, or without it where STEELYARD_DATA
    points, and in the cache folder, then asked for at OpenML.
    """
    from steelyard.report.terminal import print_table
    from steelyard.studies import registry, study_files

    if listed or name is None:
        click.echo(print_table(["study", "what it is"], [list(row) for row in registry.descriptions().items()]))
        return
    if output is not None:
        study_files.check_free(output, force=force)
    with steps(name) as progress:
        own = {"overlap": True} if overlap else {}
        found = registry.run(name, quick=quick, data=data, seed=seed, progress=progress, **own)
    click.echo(repr(found))
    if output is not None:
        click.echo(f"The page is {study_files.write(found, output, force=force) / 'page.html'}", err=True)
