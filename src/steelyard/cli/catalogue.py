"""Catalogue: the commands about metrics themselves: list, explain, audit, recommend."""

from __future__ import annotations

from typing import Any

import click

from steelyard.analysis.rows import json_text, strict
from steelyard.cli import declaring, reading, writing
from steelyard.cli.declaring import command
from steelyard.errors import InputError


@command
@click.option("--family", metavar="NAME", help="Only the metrics of this family.")
@click.option("--format", "form", type=click.Choice(["table", "json", "md"]), default="table", show_default=True)
def metrics(family: str | None, form: str) -> None:
    """List the metrics: name, range, best value, meaning."""
    from steelyard.metrics.registry import list_metrics
    from steelyard.report import metric_list

    click.echo(getattr(metric_list, form)(list_metrics(family)))


@command
@click.argument("name")
def explain(name: str) -> None:
    """Explain the metric NAME, such as mcc or f_beta[beta=2]."""
    from steelyard.metrics.registry import get_metric
    from steelyard.report.explanation import explanation

    click.echo(explanation(get_metric(name)))


@command
@click.argument("names", nargs=-1)
@click.option(
    "--against", metavar="PREDICTIONS", help="On the predictions in this file: what balancing and swapping move."
)
@declaring.true
@declaring.models("repeatable")
@declaring.threshold
@declaring.positive
@click.option("--tolerance", type=float, help="The change that counts as none: 0.02 unless given.")
@declaring.form("table", "json", "md", "html")
@declaring.output
def audit(
    names: tuple[str, ...], against: str | None, form: str | None, output: str | None, force: bool, **options: Any
) -> None:
    """Prove or refute the properties of the metrics NAMES (all where none is named), or of MODULE:FUNCTION.

    With --against, tell by the predictions in a file how far each metric moves when the test set is balanced and when
    the labels are swapped (Asawa), and of two models which metrics change their order with the prevalence (Wu).
    """
    kind = writing.chosen(form, output, ("table", "json", "md", "html"))
    writing.check_free(output, force)
    if against is None:
        _refuse_unread(options)
    metrics = [_metric(name) for name in names]
    made = _decided(metrics, kind) if against is None else _moved(metrics, kind, against, **options)
    writing.deliver(made, output)


def _refuse_unread(options: dict[str, Any]) -> None:
    """Options about predictions say nothing where there are none."""
    given = next((name for name, value in options.items() if value not in (None, ())), None)
    if given is not None:
        flag = {"preds": "pred", "scores": "score"}.get(given, given)
        raise InputError(f"--{flag} is about predictions; name their file with --against, or leave it out.")


def _decided(metrics: list[Any], kind: str) -> str:
    from steelyard.auditing import audit_table
    from steelyard.report.terminal import paragraph, print_table

    found = audit_table.audit(*metrics)
    if kind == "html":
        from steelyard.report.page import audit_page

        return audit_page(found)
    legend = audit_table.legend(decision.property for decision in found)
    if kind == "json":
        told = [row | {"meaning": legend[row["property"]]} for row in found.to_dicts()]
        return json_text(told, indent=1)
    if kind == "md":
        return audit_table.markdown(found)
    rows = [[d.metric, d.property, d.verdict, str(d.counterexample or d.how)] for d in found]
    shown = print_table(["metric", "property", "verdict", "how, or the smallest table against it"], rows)
    return "\n".join([shown, "", *(paragraph(f"{name}: {words}", "") for name, words in legend.items())])


def _moved(
    metrics: list[Any],
    kind: str,
    against: str,
    true: str | None,
    preds: tuple[str, ...],
    scores: tuple[str, ...],
    threshold: float | None,
    positive: str | None,
    tolerance: float | None,
) -> str:
    """What the predictions in a file say of the metrics."""
    from steelyard.auditing.discrimination import discrimination
    from steelyard.auditing.robustness import TOLERANCE, robustness
    from steelyard.metrics.registry import get_metric
    from steelyard.report.terminal_summary import plain

    tables = _tables(against, true, preds, scores, threshold, positive)
    found = robustness(tables, metrics=metrics or None, tolerance=TOLERANCE if tolerance is None else tolerance)
    leading = [
        m for m in map(get_metric, metrics) if m.direction
    ]  # a plain function says of no value that it is better
    ordered = len(tables) == 2 and bool(leading or not metrics)
    order = discrimination(*tables.values(), metrics=leading or None) if ordered else None
    if kind == "json":
        parts: dict[str, Any] = {"verdicts": found.verdicts.to_dicts(), "changes": found.rows().to_dicts()}
        if order is not None:
            parts |= {"models": dict(zip("AB", tables, strict=True)), "discrimination": order.separations.to_dicts()}
        return json_text(strict(parts), indent=1)
    named = " and ".join(f"{letter} is {plain(name)}" for letter, name in zip("AB", tables, strict=False))
    if kind == "html":
        raise InputError("The audit's page is about the metrics alone; leave --against out, or ask for --format json.")
    shown = repr(found) if order is None else f"{found!r}\n\nAt each prevalence, where {named}:\n{order!r}"
    return f"```\n{shown}\n```" if kind == "md" else shown


def _tables(
    against: str,
    true: str | None,
    preds: tuple[str, ...],
    scores: tuple[str, ...],
    threshold: float | None,
    positive: str | None,
) -> dict[str, Any]:
    """The two-class table of each model."""
    from steelyard.evaluation.evaluate import evaluate

    columns = [(name, "pred") for name in preds] + [(name, "score") for name in scores] or [("", "")]
    twice = next((name for name, _ in columns if sum(name == other for other, _ in columns) > 1), None)
    if twice is not None:
        raise InputError(f"The column {twice!r} is named twice; each model is a column of its own.")
    tables = {}
    for name, use in columns:
        named: dict[str, Any] = {"pred": None, "score": None} | ({use: name} if use else {})
        cut = threshold if use != "pred" else None
        seen = reading.weighed(
            [against], None, positive, cut, true=true, weight=None, frequency=None, by=(), exact=None, **named
        )
        found = evaluate(seen.tally, threshold=cut, metrics=["recall"])
        for said in dict.fromkeys([*seen.assumed, *found.assumed]):
            click.echo(f"{name}: {said}" if name else said, err=True)
        if found.counts is None:
            told = f"{name or against!r} is no table of one positive class"
            raise InputError(f"{told}; name the class with --positive, or cut the scores by --threshold.")
        tables[name or seen.name] = found.counts
    return tables


def _metric(name: str) -> Any:
    """A metric by name, or a user's function as module:function, looked for in the current folder as well."""
    if ":" not in name:
        return name
    import sys
    from importlib import import_module

    module, _, function = name.partition(":")
    sys.path.insert(0, "")
    try:
        return getattr(import_module(module), function)
    except (ImportError, AttributeError, TypeError, ValueError) as error:  # the last two: no or a relative module name
        if module and not module.startswith("."):
            raise _unread(name, error) from None
        raise InputError(f"{name!r} names no module that can be imported; write MODULE:FUNCTION.") from None
    except Exception as error:  # noqa: BLE001 - a user's module may raise anything
        raise _unread(name, error) from None


def _unread(name: str, error: Exception) -> InputError:
    said = f"{type(error).__name__}: {error}".rstrip(": ")
    return InputError(f"{name!r} was not found ({said}); write MODULE:FUNCTION as for an import.")


@command
@declaring.weighed
@click.option(
    "--both-classes-alike/--not-alike",
    "--alike",
    "both_classes_alike",
    default=True,
    show_default=True,
    help="Errors on either class matter the same, or those on the positives more.",
)
@click.option(
    "--a-class-may-fail/--no-class-may-fail",
    "--may-fail",
    "a_class_may_fail",
    default=False,
    show_default=True,
    help="Half credit for giving one class up is fine.",
)
@click.option(
    "--prevalence-in-use", is_flag=True, help="The test set has the class shares of the use, and they are stable."
)
@click.option("--ranking", is_flag=True, default=None, help="Scores are used as an order, not cut.")
@click.option("--costs", is_flag=True, help="What each error costs is known.")
@click.option("--positives", type=int, help="How many positives there are to test on.")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def recommend(
    both_classes_alike: bool,
    a_class_may_fail: bool,
    prevalence_in_use: bool,
    ranking: bool | None,
    costs: bool,
    positives: int | None,
    form: str,
    **options: Any,
) -> None:
    """Recommend metrics for a problem, with the properties that decided.

    What the predictions in FILE can tell, how many positives there are and whether scores are cut, is read from them.
    """
    from steelyard.auditing import recommend as advice
    from steelyard.report.terminal import paragraph

    data, assumed = None, []
    if options["files"] or options["counts"]:
        from steelyard.cli.weighing import evaluation
        from steelyard.cli.wording import of_shell

        data, _ = evaluation(level=0.95, metrics=None, **options)
        assumed = list(map(of_shell, data.assumed))
    found = advice.recommend(
        data,
        both_classes_alike=both_classes_alike,
        a_class_may_fail=a_class_may_fail,
        prevalence_in_use=prevalence_in_use,
        ranking=ranking,
        costs=costs,
        positives=positives,
    )
    if form == "json":
        click.echo(json_text(found.to_dict(), indent=1))
    else:
        lines = [*repr(found).splitlines(), *assumed]
        click.echo("\n".join(paragraph(line.strip(), "  " * line.startswith(" ")) for line in lines))
