"""`steelyard explain`: one metric, its formula, meaning and source, or a code of the verdict."""

from __future__ import annotations

import click

from steelyard.cli.commands import command


@command
@click.argument("name")
def explain_metric(name: str) -> None:
    """Explain the metric NAME, such as mcc or f_beta[beta=2], or a code of the verdict, such as read-first."""
    from steelyard.evaluation.explanation import explain
    from steelyard.report.terminal.blocks import blocks_text

    click.echo(blocks_text(explain(name).blocks()))
