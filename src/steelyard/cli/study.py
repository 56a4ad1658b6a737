"""`steelyard study`: the experiment of a paper, run again, or on a table of the user's own."""

from __future__ import annotations

from pathlib import Path

import click

from steelyard.analysis.results.formatting import listed
from steelyard.cli.commands import command
from steelyard.cli.option_words import with_shell_words
from steelyard.cli.own_data import OwnData, own_data
from steelyard.cli.progress import step_line
from steelyard.exceptions import InputError
from steelyard.studies import study_names


@command
@click.argument("name", required=False)
@click.option("--list", "listed", is_flag=True, help="List the studies.")
@own_data
@click.option("--quick", is_flag=True, help="In seconds, on a part of the data or with fewer repetitions.")
@click.option("--data-dir", metavar="DIR", help="The folder of the papers' data sets, in place of STEELYARD_DATA.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--overlap", is_flag=True, help="Of nguyen: draw test texts as the paper did, training texts among them.")
@click.option(
    "--n-jobs", type=click.IntRange(min=1), metavar="N", help="Of selection: so many processes, not all cores."
)
@click.option("-o", "--output", metavar="DIR", help="Write the page, the tables and the figures to this new folder.")
@click.option("--force", is_flag=True, help="Replace a folder that exists.")
def run_study(
    name: str | None,
    listed: bool,
    own: OwnData,
    quick: bool,
    data_dir: str | None,
    seed: int,
    overlap: bool,
    n_jobs: int | None,
    output: str | None,
    force: bool,
) -> None:
    """Reproduce a paper's experiment, or run it on your own data: NAME is {names}.

    Without NAME the studies are listed. With --data FILE and --target COL the experiment is done on a table of your
    own. The papers' data sets are looked for in --data-dir, or without it where STEELYARD_DATA points, and in the
    cache folder, then asked for at OpenML.
    """
    from steelyard.report.terminal.layout import print_table
    from steelyard.studies import registry, study_files

    if listed or name is None:
        click.echo(print_table(["study", "what it is"], [list(row) for row in registry.descriptions().items()]))
        return
    if output is not None:
        study_files.check_folder(output, force=force)
    if data_dir is not None and not Path(data_dir).is_dir():
        raise InputError(f"--data-dir {data_dir!r} is no folder; name the one that holds the papers' data sets.")
    if own.given and (overlap or n_jobs is not None or data_dir is not None):
        raise InputError(
            "--overlap and --data-dir are about the papers' data, --n-jobs about the selection study, and --data is "
            "your own; leave them out."
        )
    with step_line(name) as progress:
        if own.given:
            study = own.run(name, quick=quick, seed=seed, progress=progress)
        else:
            options = ({"overlap": True} if overlap else {}) | ({} if n_jobs is None else {"jobs": n_jobs})
            study = registry.run(name, quick=quick, data_dir=data_dir, seed=seed, progress=progress, **options)
    study = with_shell_words(study)
    click.echo(repr(study))
    if output is not None:
        click.echo(f"The page is {study_files.write_study(study, output, force=force) / 'page.html'}", err=True)


run_study.help = str(run_study.help).format(names=listed(list(study_names()), "or"))
