"""Declaring: how a function becomes a command, and the options that commands share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from steelyard.cli import COMMANDS


def command(function: Any) -> Any:
    """A command under the function's name, described by the table of all commands."""
    name = function.__name__
    settings = {"help_option_names": ["-h", "--help"], "token_normalize_func": _spelled}
    return click.command(
        name, help=function.__doc__ or COMMANDS[name], short_help=COMMANDS[name], context_settings=settings
    )(function)


def _spelled(word: str) -> str:
    """An option under the one name it is looked up by: --metric is --metrics wherever either is an option."""
    return "metrics" if word == "metric" else word


if TYPE_CHECKING:
    from collections.abc import Callable

    Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def stacked(*options: Any) -> Decorator:
    """Several options as one decorator, in the order given."""

    def decorate(function: Any) -> Any:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def form(*kinds: str) -> Decorator:
    """The choice of a format."""
    return click.option("--format", "form", type=click.Choice(kinds), help="How to write the result.")


def models(how_many: str) -> Decorator:
    """The columns of several models."""
    kinds = {"pred": "labels", "score": "scores"}
    return stacked(
        *(
            click.option(
                f"--{name}", f"{name}s", multiple=True, metavar="COL", help=f"A model's column of {held}; {how_many}."
            )
            for name, held in kinds.items()
        )
    )


output = stacked(
    click.option("-o", "--output", metavar="OUT", help="Write to this file; its ending tells the format."),
    click.option("--force", is_flag=True, help="Replace an output that exists."),
)
saving = stacked(
    click.option("-o", "--output", metavar="OUT", help="Write the table, which is JSON, to this file."),
    click.option("--force", is_flag=True, help="Replace an output that exists."),
)
files = click.argument("files", nargs=-1, metavar="[FILE...]")
true = click.option("--true", "true", metavar="COL", help="The column of true labels.")
pred = click.option("--pred", metavar="COL", help="The column of predicted labels.")
score = click.option("--score", metavar="COL", help="The column of scores of the positive class.")
positive = click.option("--positive", metavar="LABEL", help="The positive class.")
threshold = click.option("--threshold", type=float, metavar="T", help="Scores of at least T count as positive.")
weight = click.option("--weight", metavar="COL", help="The column of the rows' importance.")
frequency = click.option("--frequency", metavar="COL", help="The column of how many rows a row stands for.")
by = click.option("--by", multiple=True, metavar="COL", help="Weigh each group of this column as well; repeatable.")
cluster = click.option("--cluster", metavar="COL", help="What rows belong to, such as the patient; labels only.")
exact = click.option(
    "--exact/--binned", "exact", default=None, help="Keep every score, or 65,536 bins with bounds on the areas."
)
level = click.option("--level", type=float, default=0.95, show_default=True, help="The level of the intervals.")
metrics = click.option("--metrics", metavar="A,B", help="Only these metrics, such as mcc,f_beta[beta=2].")
counts = click.option("--counts", metavar="TP,FN,FP,TN", help="Four counts, say from a paper, instead of a file.")
judged = stacked(files, counts, true, pred, score, threshold, positive, weight, frequency, exact)
weighed = stacked(judged, by)
