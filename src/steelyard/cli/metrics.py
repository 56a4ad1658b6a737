"""`steelyard metrics`: the list of the metrics."""

from __future__ import annotations

import click

from steelyard.cli import options
from steelyard.cli.commands import command


@command
@click.option("--family", metavar="NAME", help="Only the metrics of this family.")
@options.form("table", "json", "md", default="table")
def print_metrics(family: str | None, form: str) -> None:
    """List the metrics: name, range, best value, meaning."""
    from steelyard.analysis.results.result_json import json_text
    from steelyard.evaluation.explanation import metric_facts
    from steelyard.report.terminal.layout import bold

    metrics = metric_facts(family)
    if form == "json":
        click.echo(json_text(metrics.to_dicts(), indent=1))
    elif form == "md":
        click.echo(metrics.to_markdown())
    else:
        click.echo(metrics.text(bold))
