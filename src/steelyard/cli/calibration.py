"""`steelyard calibration`: whether the probabilities in a file agree with the outcomes, and what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from steelyard.analysis.results.result_json import saved_text
from steelyard.cli import options
from steelyard.cli.class_scores import named_class_scores
from steelyard.cli.commands import command
from steelyard.cli.inputs import Inputs, count_inputs, open_files
from steelyard.cli.option_words import of_shell
from steelyard.cli.prevalence_option import prevalence_option
from steelyard.cli.saved_tables import add_saved
from steelyard.cli.usual_columns import guess_columns
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from steelyard.analysis.calibration.calibration import Calibration
    from steelyard.analysis.prevalence.prevalence import PrevalenceLike
    from steelyard.cli.outputs import Output


@command
@options.inputs(
    "files", "true", "score", "class_scores", *options.POSITIVE, "weight", "frequency", "by", "cluster", "exact"
)
@click.option(
    "--strategy",
    type=click.Choice(["isotonic", "uniform", "quantile"]),
    default="isotonic",
    help="The reliability curve: isotonic, or bins of equal width or of equal mass.",
)
@click.option("--bins", type=int, default=10, metavar="N", help="How many bins, where it has any.")
@prevalence_option()
@options.shared("level")
@options.output("table", "json", "md")
def judge_calibration(
    inputs: Inputs,
    strategy: str,
    bins: int,
    prevalence: PrevalenceLike | None,
    level: float,
    output: Output,
) -> None:
    """Judge the probabilities in FILE: slope, intercept, parts of the Brier score, curve, test, and what to do next."""
    asked = {"strategy": strategy, "n_bins": bins, "prevalence": prevalence, "level": level}
    found, assumed = _found(inputs, asked)
    if output.kind == "json":
        output.write(saved_text({**found.to_dict(), "assumed": assumed}, indent=1))
    elif output.kind == "md":
        from steelyard.report.result_view import result_markdown

        output.write(of_shell(result_markdown(found, assumed)))
    else:
        output.write(of_shell("\n".join([repr(found), *assumed])))


def _found(inputs: Inputs, asked: dict[str, Any]) -> tuple[Calibration, list[str]]:
    """The calibration of the rows, or of the tables that they are counted into, and what was assumed."""
    from steelyard.analysis.calibration.calibration import calibration

    if inputs.class_scores is not None:
        return _of_columns(inputs, asked)
    if inputs.cluster is None:
        counted = count_inputs(inputs, scores=True)
        if counted.tally.scores is None:
            raise InputError("Calibration needs probabilities; name their column with --score.")
        return calibration(counted.tally, **asked), list(counted.assumed)
    if add_saved(inputs.files) is not None:
        raise InputError("--cluster names a column of a file of predictions, which a saved table does not keep.")
    with open_files(inputs) as source:
        named, assumed = guess_columns(source, inputs, scores=True)
        columns: dict[str, Any] = named.columns
        return calibration(source, **columns, cluster=inputs.cluster, pos_label=inputs.positive, **asked), assumed


def _of_columns(inputs: Inputs, asked: dict[str, Any]) -> tuple[Calibration, list[str]]:
    """The calibration of a column of probabilities for each class."""
    from steelyard.analysis.calibration.calibration import calibration

    if inputs.by:
        raise InputError("--scores and --by cannot be given together; give the rows of one group, or --score.")
    with open_files(inputs) as source:
        p, _, assumed = named_class_scores(source, inputs)
        return calibration(p.with_options(pos_label=inputs.positive), **asked), assumed
