"""The commands: stdout is data, stderr is messages. Each imports what it needs when it runs."""

from __future__ import annotations

from typing import Any

import click

from steelyard.cli import ABOUT, COMMANDS
from steelyard.errors import SteelyardError


class Commands(click.Group):
    """All commands; a refusal becomes one sentence on stderr and exit code 2."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            ctx.exit(130)
        except SteelyardError as error:
            click.echo(f"steelyard: {error}", err=True)
            ctx.exit(2)


def command(function: Any) -> Any:
    """A command under the function's name, described by the table of all commands."""
    name = function.__name__
    return commands.command(name, help=function.__doc__ or COMMANDS[name], short_help=COMMANDS[name])(function)


@click.group(cls=Commands, help=ABOUT, context_settings={"help_option_names": ["-h", "--help"]})
def commands() -> None:
    """All commands."""


@command
@click.option("--family", metavar="NAME", help="Only the measures of this family.")
@click.option("--format", "form", type=click.Choice(["table", "json", "md"]), default="table", show_default=True)
def metrics(family: str | None, form: str) -> None:
    """List the measures: name, range, best value, meaning."""
    from steelyard.metrics.registry import list_metrics
    from steelyard.report import listing

    click.echo(getattr(listing, form)(list_metrics(family)))


@command
@click.argument("name")
def explain(name: str) -> None:
    """Explain the measure NAME, such as mcc or f_beta[beta=2]."""
    from steelyard.metrics.registry import get_metric
    from steelyard.report.explanation import explanation

    click.echo(explanation(get_metric(name)))


@command
def demo() -> None:
    """Evaluate a classifier of handwritten digits, and work a paradox of accuracy."""
    from steelyard.datasets.digits import digit_predictions
    from steelyard.evaluation.evaluate import evaluate
    from steelyard.report.explanation import paradox

    predictions = digit_predictions()
    click.echo("Is it an 8? Logistic regression on coarse pictures of handwritten digits, 899 of them to test.\n")
    click.echo(repr(evaluate(predictions.y_true, y_score=predictions.logistic)))
    click.echo(paradox())
    click.echo("\nNext: `steelyard metrics` lists every measure, `steelyard explain ac_score` explains one.")
