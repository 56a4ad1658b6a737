"""The options that commands share: those about inputs arrive as one Inputs, those about the result as one Output."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from typing import Any, TypeAlias

import click
from click.core import ParameterSource

from steelyard.arrays.labels import RARER
from steelyard.cli.commands import RowOption, row_options
from steelyard.cli.inputs import Inputs
from steelyard.cli.outputs import check_no_input, checked_output
from steelyard.exceptions import InputError

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


def _bins(_context: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> dict[str, Any] | None:
    """The bins of each column: how many, or the edges between them."""
    found: dict[str, Any] = {}
    for text in texts:
        name, sign, given = text.rpartition("=")
        try:
            edges = [float(edge) for edge in given.split(",")] if sign else []
        except ValueError:
            edges = []
        if not edges:
            raise InputError(
                f"--bins is COL=4 for four bins, or COL=40,60 for edges, not {text!r}; the bins of a curve or of "
                "features are --n-bins."
            )
        is_number = len(edges) == 1 and given.strip().isdigit()
        found[name] = int(given) if is_number else [int(edge) if edge.is_integer() else edge for edge in edges]
    return found or None


def _long(_context: click.Context, _option: click.Parameter, text: str | None) -> tuple[str, str] | None:
    """The columns of the row and of the label of a line."""
    if text is None:
        return None
    row, sign, label = (part.strip() for part in text.partition(","))
    if not (row and sign and label):
        raise InputError(f"--long names two columns, that of the row and that of the label, not {text!r}.")
    return row, label


def _row_option(*declarations: str, **settings: Any) -> _Decorator:
    return click.option(*declarations, cls=RowOption, **settings)


def _help_rows(context: click.Context, _option: click.Parameter, asked: bool) -> None:
    """Print how rows are named and read, and end."""
    if not asked or context.resilient_parsing:
        return
    formatter = context.make_formatter()
    formatter.write_usage(context.command_path, "[OPTIONS] [FILE...]")
    with formatter.section("Which rows are read, and how"):
        formatter.write_dl(
            [record for each in row_options(context.command) if (record := each.get_help_record(context))]
        )
    click.echo(formatter.getvalue().rstrip("\n"), color=context.color)
    context.exit()


_HELP_ROWS = click.option(
    "--help-rows", is_flag=True, is_eager=True, expose_value=False, callback=_help_rows, hidden=True
)


_ROWS: dict[str, _Decorator] = {
    "files": click.argument("files", nargs=-1, metavar="[FILE...]"),
    "counts": _row_option(
        "--counts", metavar="TP,FN,FP,TN", help="Four counts, such as those of a paper, instead of a file."
    ),
    "true": _row_option(
        "--true", "true", metavar="COL", help="The column of true labels; 'y_*' where each label has one."
    ),
    "pred": _row_option("--pred", metavar="COL", help="The column of predicted labels."),
    "score": _row_option(
        "--score",
        metavar="COL",
        help="The column of scores of the positive class; 'p_*' where each class has one, in which * is the class.",
    ),
    "weight": _row_option("--weight", metavar="COL", help="The column of sample weights."),
    "frequency": _row_option(
        "--frequency", metavar="COL", help="The column of frequency weights: how many rows each row counts for."
    ),
    "cluster": _row_option(
        "--cluster", metavar="COL", help="Clustered rows: the column that names the cluster, such as the patient."
    ),
    "by": _row_option("--by", multiple=True, metavar="COL", help="The column of groups of rows; repeatable."),
    "bins": _row_option(
        "--bins",
        multiple=True,
        callback=_bins,
        metavar="COL=N",
        help="A column of --by in N bins of its numbers, or at edges: age=40,60; repeatable.",
    ),
    "pos_label": _row_option(
        "--pos-label",
        "pos_label",
        type=click.UNPROCESSED,
        metavar="LABEL",
        help="The positive class; of yes/no and the like, yes.",
    ),
    "rarer": _row_option(
        "--rarer-positive", "pos_label", type=click.UNPROCESSED, flag_value=RARER, help="The rarer of two is positive."
    ),
    "labels": _row_option(
        "--labels", metavar="A,B", help="All classes in their order, where some have no rows or the order matters."
    ),
    "threshold": _row_option(
        "--threshold", type=float, metavar="T", help="The threshold: scores of at least T are predicted positive."
    ),
    "design": _row_option(
        "--design",
        default="random",
        metavar="PLAN",
        help="How the test set was drawn: random, stratified where so many rows of each class were chosen, or the plan "
        "by which rows were labelled, as `steelyard plan` wrote it.",
    ),
    "filter": _row_option("--filter", metavar="SLICE", help="These rows alone, such as 'age >= 60 and site = B'."),
    "label_sep": _row_option(
        "--label-sep",
        metavar="SIGN",
        help="What divides the labels of a row in the columns of truth and prediction, such as ';'.",
    ),
    "long": _row_option(
        "--long",
        callback=_long,
        metavar="ROW,LABEL",
        help="Of a file with a line for each row and label: the columns that name the two.",
    ),
    "exact": _row_option(
        "--exact/--binned", "exact", default=None, help="Keep every score, or 65,536 bins with bounds on the areas."
    ),
}
_SHARED: dict[str, _Decorator] = {
    "level": click.option(
        "--level", type=float, default=0.95, show_default=True, help="The confidence level of the intervals."
    ),
    "metrics": click.option(
        "--metrics",
        metavar="A,B",
        callback=lambda ctx, parameter, value: metric_names(value),  # noqa: ARG005 - click's own
        help="Only these metrics, such as mcc,f_beta[beta=2].",
    ),
    "use": click.option(
        "--use",
        metavar="NAME",
        help="What the predictions are for, whose number leads: alerts, balance, ranking, probabilities; or the core "
        "set of a field: clinical, fraud, retrieval, or a TOML file of your own.",
    ),
    "capacity": click.option(
        "--capacity", metavar="N", help='So many alerts can be looked at: 200 of these rows, or "200 of 10000".'
    ),
    "mute": click.option(
        "--mute",
        multiple=True,
        metavar="CODE",
        help="Leave sentences of this code out of the verdict; repeatable. Codes stand in --format json and "
        "docs/verdict.md; TAB completes them.",
    ),
}
POSITIVE = ("pos_label", "rarer")


def shared(*names: str) -> _Decorator:
    """The shared options of these names."""
    return _stacked(*((_SHARED | _ROWS)[name] for name in names))


def inputs(*names: str, models: str | None = None) -> _Decorator:
    """The options about rows, which the function takes as `inputs`: all of them, or those that are named.

    `models` says how many models there are where there may be more than one.
    """
    chosen = {name: _ROWS[name] for name in names or _ROWS}
    if models is not None:
        chosen |= _of_models(models)
    own = {field.name for field in fields(Inputs)}

    def gather(function: _Function) -> _Function:
        @wraps(function)
        def call(*arguments: object, **options: Any) -> None:
            given = {name: options.pop(name) for name in own & options.keys()}
            for use in ("pred", "score"):
                if not isinstance(named := given.get(use, ()), tuple):
                    given[use] = () if named is None else (named,)
            function(*arguments, inputs=Inputs(**given), **options)

        return call

    options = _stacked(*chosen.values(), _HELP_ROWS)
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
    return _stacked(*_of_models(how_many).values())


def _of_models(how_many: str) -> dict[str, _Decorator]:
    kinds = {"pred": "labels", "score": "scores, 'p_*' where each class has one"}
    return {
        name: _row_option(f"--{name}", multiple=True, metavar="COL", help=f"A model's column of {kind}; {how_many}.")
        for name, kind in kinds.items()
    }


def _stacked(*options: _Decorator) -> _Decorator:
    """Several options as one decorator, in the order given."""

    def decorate(function: _Function) -> _Function:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate
