"""The options that commands share: those about inputs arrive as one Inputs, those about the result as one Output."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from typing import TypeAlias

import click
from click.core import ParameterSource

from steelyard.cli.inputs import Inputs
from steelyard.cli.outputs import check_no_input, checked_output
from steelyard.statistics.positive_class import RARER

_Function: TypeAlias = Callable[..., None]
_Decorator: TypeAlias = Callable[[_Function], _Function]


def metric_names(text: str | None) -> list[str] | None:
    """The metrics of a list such as mcc,f_beta[beta=2]: commas inside brackets belong to a name."""
    if text is None:
        return None
    from steelyard.metrics.spec_text import split_outside_brackets

    return [name.strip() for name in split_outside_brackets(text) if name.strip()]


def are_given(*options: str) -> bool:
    """Whether the command line names one of some options that have a default."""
    return ParameterSource.COMMANDLINE in map(click.get_current_context().get_parameter_source, options)


_SHARED: dict[str, _Decorator] = {
    "files": click.argument("files", nargs=-1, metavar="[FILE...]"),
    "counts": click.option(
        "--counts", metavar="TP,FN,FP,TN", help="Four counts, such as those of a paper, instead of a file."
    ),
    "true": click.option(
        "--true", "true", metavar="COL", help="The column of true labels; 'y_*' where each label has one."
    ),
    "pred": click.option("--pred", metavar="COL", help="The column of predicted labels."),
    "score": click.option("--score", metavar="COL", help="The column of scores of the positive class."),
    "class_scores": click.option(
        "--scores",
        "class_scores",
        metavar="P_*",
        help="The columns of scores of every class: a pattern in which * is the class, such as 'p_*'.",
    ),
    "label_sep": click.option(
        "--label-sep",
        metavar="SIGN",
        help="What divides the labels of a row in the columns of truth and prediction, such as ';'.",
    ),
    "row": click.option(
        "--row", metavar="COL", help="Of a file with a line for each row and label: the column that names the row."
    ),
    "label": click.option("--label", metavar="COL", help="The column that names the label of a line, beside --row."),
    "threshold": click.option(
        "--threshold", type=float, metavar="T", help="The threshold: scores of at least T are predicted positive."
    ),
    "positive": click.option(
        "--positive", type=click.UNPROCESSED, metavar="LABEL", help="The positive class; of yes/no and the like, yes."
    ),
    "rarer": click.option(
        "--rarer-positive", "positive", type=click.UNPROCESSED, flag_value=RARER, help="The rarer of two is positive."
    ),
    "weight": click.option("--weight", metavar="COL", help="The column of sample weights."),
    "frequency": click.option(
        "--frequency", metavar="COL", help="The column of frequency weights: how many rows each row counts for."
    ),
    "cluster": click.option(
        "--cluster", metavar="COL", help="Clustered rows: the column that names the cluster, such as the patient."
    ),
    "by": click.option(
        "--by",
        multiple=True,
        metavar="COL",
        help="Evaluate each group of this column as well, age:4 in four bins of numbers; repeatable.",
    ),
    "exact": click.option(
        "--exact/--binned", "exact", default=None, help="Keep every score, or 65,536 bins with bounds on the areas."
    ),
    "labels": click.option(
        "--labels", metavar="A,B", help="All classes in their order, where some have no rows or the order matters."
    ),
    "level": click.option(
        "--level", type=float, default=0.95, show_default=True, help="The confidence level of the intervals."
    ),
    "design": click.option(
        "--design",
        type=click.Choice(["random", "stratified"]),
        default="random",
        help="How the test set was drawn: stratified where so many rows of each class were chosen.",
    ),
    "metrics": click.option(
        "--metrics",
        metavar="A,B",
        callback=lambda ctx, parameter, value: metric_names(value),  # noqa: ARG005 - click's own
        help="Only these metrics, such as mcc,f_beta[beta=2].",
    ),
    "mute": click.option(
        "--mute",
        multiple=True,
        metavar="CODE",
        help="Leave sentences of this code out of the verdict; repeatable. Codes stand in --format json and "
        "docs/verdict.md; TAB completes them.",
    ),
}
POSITIVE = ("positive", "rarer")
PREDICTIONS = ("files", "counts", "true", "pred", "score", "threshold", *POSITIVE, "weight", "frequency", "exact")


def shared(*names: str) -> _Decorator:
    """The shared options of these names."""
    return _stacked(*(_SHARED[name] for name in names))


def inputs(*parts: str | _Decorator) -> _Decorator:
    """The options about what is read, by name or as such, which the function takes as `inputs`."""
    names = {field.name for field in fields(Inputs)}

    def gather(function: _Function) -> _Function:
        @wraps(function)
        def call(*arguments: object, **options: object) -> None:
            own = {name: options.pop(name) for name in names & options.keys()}
            function(*arguments, inputs=Inputs(**own), **options)  # type: ignore[arg-type]  # click has checked them

        return call

    options = _stacked(*(_SHARED[part] if isinstance(part, str) else part for part in parts))
    return lambda function: options(gather(function))


def _uncoloured(context: click.Context, _option: click.Parameter, given: bool) -> None:
    if given:
        context.color = False


_NO_COLOUR = click.option(
    "--no-color",
    is_flag=True,
    expose_value=False,
    callback=_uncoloured,
    help="Neither bold nor colour, also on a terminal.",
)


def output(*kinds: str, about: str = "Write to this file; its ending gives the format.") -> _Decorator:
    """The options about where the result goes and in which format, which the function takes as `output`."""

    def gather(function: _Function) -> _Function:
        @wraps(function)
        def call(*arguments: object, path: str | None, force: bool, form: str | None = None, **options: object) -> None:
            output = checked_output(form, path, force, kinds)
            check_no_input(output, _files_read(options))
            function(*arguments, output=output, **options)

        return call

    options = _stacked(
        *([form(*kinds)] if kinds else []),
        click.option("-o", "--output", "path", metavar="OUT", help=about),
        click.option("--force", is_flag=True, help="Replace an output that exists."),
        *([_NO_COLOUR] if "table" in kinds else []),
    )
    return lambda function: options(gather(function))


def _files_read(options: dict[str, object]) -> list[str]:
    """The files that a command line names to be read, whatever option names them."""
    inputs, files, against = (options.get(name) for name in ("inputs", "files", "against"))
    named = [*(inputs.files if isinstance(inputs, Inputs) else ()), *(files if isinstance(files, tuple) else ())]
    return [*named, *([against] if isinstance(against, str) else [])]


def form(*kinds: str, default: str | None = None) -> _Decorator:
    """The choice of a format."""
    if default is not None:
        return click.option("--format", "form", type=click.Choice(kinds), default=default, show_default=True)
    return click.option("--format", "form", type=click.Choice(kinds), help="How to write the result.")


def models(how_many: str) -> _Decorator:
    """The columns of several models."""
    kinds = {"pred": "labels", "score": "scores"}
    return _stacked(
        *(
            click.option(
                f"--{name}", f"{name}s", multiple=True, metavar="COL", help=f"A model's column of {kind}; {how_many}."
            )
            for name, kind in kinds.items()
        )
    )


def class_models(how_many: str) -> _Decorator:
    """The columns of every class of several models."""
    return click.option(
        "--scores",
        "class_models",
        multiple=True,
        metavar="P_*",
        help=f"A model's columns of scores of every class, in which * is the class, such as 'p_*'; {how_many}.",
    )


def _stacked(*options: _Decorator) -> _Decorator:
    """Several options as one decorator, in the order given."""

    def decorate(function: _Function) -> _Function:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate
