"""`steelyard explain`: one metric, its formula, meaning and source."""

from __future__ import annotations

import click

from steelyard.cli.commands import command


@command
@click.argument("name")
def explain_metric(name: str) -> None:
    """Explain the metric NAME, such as mcc or f_beta[beta=2]."""
    from steelyard.metrics.registry import get_metric
    from steelyard.report.explanation import explanation

    click.echo(explanation(get_metric(name)))
