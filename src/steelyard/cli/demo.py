"""`steelyard demo`: the real commands, run on predictions that it makes."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from steelyard.cli.commands import command, load_command
from steelyard.written_files import check_replaceable

_LOGISTIC = ("--true", "y_true", "--score", "logistic")
_BOTH = (*_LOGISTIC, "--score", "nearest_mean")
_QUESTIONS = (
    ("How good is logistic regression?", "report", _LOGISTIC),
    ("Is it better than the nearest mean?", "compare", _BOTH),
    ("Which threshold is best?", "threshold", _LOGISTIC),
)
_PREDICTIONS = "predictions.parquet"
_PAGES = (("report", "report.html", _LOGISTIC), ("compare", "comparison.html", _BOTH))


@command
@click.option(
    "-o", "--output", "folder", metavar="DIR", help="Where to write the predictions; a new folder by default."
)
@click.option("--force", is_flag=True, help="Replace what it wrote there before.")
@click.pass_context
def run_demo(ctx: click.Context, folder: str | None, force: bool) -> None:
    """Train two classifiers on embedded data, write their predictions, then report, compare and find a threshold."""
    from steelyard.datasets.digits import write_predictions
    from steelyard.report.terminal.paradox import paradox

    place = Path(folder) if folder else Path(tempfile.mkdtemp(prefix="steelyard-demo-"))
    for name in (_PREDICTIONS, *(page for _, page, _ in _PAGES)):  # all of them, before any is written
        check_replaceable(place / name, str(place / name), force=force)
    place.mkdir(parents=True, exist_ok=True)
    path = write_predictions(place / _PREDICTIONS, force=force)
    click.echo("Is it an 8? Two classifiers of coarse pictures of handwritten digits, 899 of them to test.")
    for question, name, words in _QUESTIONS:
        click.echo(f"\n{question}\n$ {' '.join(['steelyard', name, path.name, *words])}\n")
        _run(ctx, name, path, words)
    click.echo(paradox())
    forced = ("--force",) if force else ()
    for name, page, words in _PAGES:
        _run(ctx, name, path, (*words, "-o", str(place / page), *forced))
    click.echo(f"\nThe predictions are in {path}")
    for _, page, _ in _PAGES:
        click.echo(f"A page to open is {(place / page).resolve()}")


def _run(ctx: click.Context, name: str, path: Path, words: tuple[str, ...]) -> None:
    """Run a command as if the user had typed it."""
    run = load_command(name)
    ctx.invoke(run, **run.make_context(name, [str(path), *words], parent=ctx).params)
