"""`steelyard explain`: one metric, its formula, meaning and source, or a code of the verdict."""

from __future__ import annotations

import click

from steelyard.cli.commands import command


@command
@click.argument("name")
def explain_metric(name: str) -> None:
    """Explain the metric NAME, such as mcc or f_beta[beta=2], or a code of the verdict, such as read-first."""
    from steelyard.evaluation.verdict.sentences import SEVERITIES, code_explanation
    from steelyard.metrics.registry import get_metric
    from steelyard.report.terminal.explanation import explanation
    from steelyard.report.terminal.layout import paragraph

    click.echo(paragraph(code_explanation(name)) if name in SEVERITIES else explanation(get_metric(name)))
