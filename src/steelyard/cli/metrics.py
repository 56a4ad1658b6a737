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
    from steelyard.metrics.registry import list_metrics
    from steelyard.report.terminal.metric_list import FORMS

    click.echo(FORMS[form](list_metrics(family)))
