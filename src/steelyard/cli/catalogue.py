"""Catalogue: the commands about measures themselves: list, explain, audit, recommend."""

from __future__ import annotations

from typing import Any

import click

from steelyard.cli.declaring import command
from steelyard.errors import InputError


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
@click.argument("names", nargs=-1)
@click.option("--format", "form", type=click.Choice(["table", "json", "md"]), default="table", show_default=True)
def audit(names: tuple[str, ...], form: str) -> None:
    """Prove or refute the properties of the measures NAMES (all where none is named), or of MODULE:FUNCTION."""
    import json

    from steelyard.auditing import table
    from steelyard.report.terminal import print_table

    found = table.audit(*(_measure(name) for name in names))
    if form == "json":
        click.echo(json.dumps(found.to_dicts(), indent=1, allow_nan=False, default=str))
    elif form == "md":
        click.echo(table.markdown(found))
    else:
        rows = [[d.metric, d.property, d.verdict, str(d.counterexample or d.how)] for d in found]
        click.echo(print_table(["measure", "property", "verdict", "how, or the smallest table against it"], rows))


def _measure(name: str) -> Any:
    """A measure by name, or a user's function as module:function, looked for in the current folder as well."""
    if ":" not in name:
        return name
    import sys
    from importlib import import_module

    module, _, function = name.partition(":")
    sys.path.insert(0, "")
    try:
        return getattr(import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise InputError(f"{name!r} was not found ({error}); write MODULE:FUNCTION as for an import.") from None


@command
@click.option("--alike/--not-alike", default=True, help="Errors on either class matter the same.", show_default=True)
@click.option(
    "--may-fail/--no-class-may-fail",
    default=True,
    help="Half credit for giving one class up is fine.",
    show_default=True,
)
@click.option(
    "--prevalence-in-use", is_flag=True, help="The test set has the class shares of the use, and they are stable."
)
@click.option("--ranking", is_flag=True, help="Scores are used as an order, not cut.")
@click.option("--costs", is_flag=True, help="What each error costs is known.")
@click.option("--positives", type=int, help="How many positives there are to test on.")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def recommend(
    alike: bool, may_fail: bool, prevalence_in_use: bool, ranking: bool, costs: bool, positives: int | None, form: str
) -> None:
    """Recommend measures for a problem, with the properties that decided."""
    import json

    from steelyard.auditing import recommend as advice
    from steelyard.report.terminal import paragraph

    found = advice.recommend(
        both_classes_alike=alike, a_class_may_fail=may_fail, prevalence_in_use=prevalence_in_use,
        ranking=ranking, costs=costs, positives=positives,
    )  # fmt: skip
    if form == "json":
        click.echo(json.dumps(found.to_dict(), indent=1))
    else:
        click.echo("\n".join(paragraph(line.strip(), "  " * line.startswith(" ")) for line in repr(found).splitlines()))
