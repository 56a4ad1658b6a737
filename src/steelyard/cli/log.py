"""`steelyard log`: an evaluation kept in a ledger, of a saved report or of predictions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from steelyard.cli import options
from steelyard.cli.commands import command
from steelyard.cli.inputs import Inputs, evaluated, print_assumed
from steelyard.cli.ledger_options import ledger_option, tag_option
from steelyard.cli.option_words import of_shell
from steelyard.cli.outputs import Output
from steelyard.cli.saved_tables import read_evaluation_file
from steelyard.cli.streams import print_message
from steelyard.exceptions import InputError
from steelyard.files.folders import STDIN

if TYPE_CHECKING:
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.ledger.ledger import Ledger
    from steelyard.predictions import Predictions


@command
@options.inputs()
@options.shared("level", "metrics")
@tag_option("A tag of the evaluation, such as model=v3")
@click.option(
    "--keep-rows",
    metavar="COL",
    help="Keep the predictions too, each under a keyed hash of its row's key in this column: diff can then pair them.",
)
@ledger_option()
def log_evaluation(
    inputs: Inputs,
    level: float,
    metrics: list[str] | None,
    tags: dict[str, str],
    keep_rows: str | None,
    ledger: Ledger,
) -> None:
    """Keep the evaluation in FILE, a report that was saved as JSON, or evaluate the predictions in FILE and keep that.

    - is the standard input, of either. The id is printed when the evaluation is on the disk. Any number of programs may
    log into one ledger at once.
    """
    saved = _saved_evaluations(inputs.files)
    if saved:
        if replace(inputs, files=()) != Inputs() or metrics or keep_rows or options.are_given("level"):
            raise InputError(
                f"{inputs.files[0]!r} is a saved evaluation, which is kept as it is; to evaluate otherwise, or to keep "
                "rows, give the predictions. Only --tag and --ledger go with it."
            )
        ids = [ledger.log(evaluation, tags) for evaluation in saved]
    else:
        evaluation, read = evaluated(inputs, level=level, metrics=metrics)
        print_assumed([*map(of_shell, evaluation.assumed)])
        ids = [_logged(ledger, evaluation, tags, inputs, read.rows, keep_rows)]
    print_message(f"Logged in {str(ledger.folder)!r}.")
    Output(None).write("\n".join(ids))


def _saved_evaluations(files: tuple[str, ...]) -> list[Evaluation]:
    """The evaluations that the files hold; none where they hold predictions."""
    saved = [read_evaluation_file(name) for name in files]
    whole = [evaluation for evaluation in saved if evaluation is not None]
    if whole and len(whole) < len(saved):
        raise InputError("Some of the files are saved evaluations and some are not; log them apart.")
    return whole


def _logged(
    ledger: Ledger, evaluation: Evaluation, tags: dict[str, str], inputs: Inputs, rows: Predictions, key: str | None
) -> str:
    if key is None:
        return ledger.log(evaluation, tags)
    if not inputs.files or STDIN in inputs.files:
        raise InputError("--keep-rows reads the predictions twice, which a pipe does not allow; give a file.")
    return ledger.log(evaluation, tags, predictions=rows, keep_rows=key)
