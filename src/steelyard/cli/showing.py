"""Showing: the demo, which runs the real commands on predictions it makes."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from steelyard.cli.declaring import command


@command
@click.option(
    "-o", "--output", "folder", metavar="DIR", help="Where to write the predictions; a new folder by default."
)
@click.pass_context
def demo(ctx: click.Context, folder: str | None) -> None:
    """Train two classifiers on embedded data, write their predictions to Parquet, then report, compare and cut."""
    from steelyard.cli.weighing import compare, report, threshold
    from steelyard.datasets.digits import write_predictions
    from steelyard.report.explanation import paradox

    place = Path(folder) if folder else Path(tempfile.mkdtemp(prefix="steelyard-demo-"))
    place.mkdir(parents=True, exist_ok=True)
    path = write_predictions(place / "predictions.parquet")
    click.echo("Is it an 8? Two classifiers of coarse pictures of handwritten digits, 899 of them to test.")
    for told, run, words in (
        ("How well does logistic regression do?", report, [str(path), "--true", "y_true", "--score", "logistic"]),
        (
            "Is it better than the nearest mean?",
            compare,
            [str(path), "--true", "y_true", "--score", "logistic", "--score", "nearest_mean"],
        ),
        (
            "Where should it be cut?",
            threshold,
            [str(path), "--true", "y_true", "--score", "logistic", "--metric", "ac_score"],
        ),
    ):
        shown = " ".join(["steelyard", str(run.name), path.name, *words[1:]])
        click.echo(f"\n{told}\n$ {shown}\n")
        ctx.invoke(run, **run.make_context(str(run.name), words, parent=ctx).params)
    click.echo(paradox())
    pages = _pages(ctx, path)
    click.echo(f"\nThe predictions are in {path}")
    for page in pages:
        click.echo(f"A page to open is {page.resolve()}")


def _pages(ctx: click.Context, path: Path) -> list[Path]:
    """The pages of the report and of the comparison, by the same commands."""
    from steelyard.cli.weighing import compare, report

    pages = [path.with_name("report.html"), path.with_name("comparison.html")]
    for run, page, scores in ((report, pages[0], ["logistic"]), (compare, pages[1], ["logistic", "nearest_mean"])):
        named = [word for name in scores for word in ("--score", name)]
        words = [str(path), "--true", "y_true", *named, "-o", str(page), "--force"]
        ctx.invoke(run, **run.make_context(str(run.name), words, parent=ctx).params)
    return pages
