"""`steelyard diff`: what changed from one evaluation to another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from steelyard.cli import options
from steelyard.cli.commands import command
from steelyard.cli.compare import write_comparison
from steelyard.cli.ledger_options import ledger_option
from steelyard.cli.option_words import with_shell_words
from steelyard.cli.result_output import FORMATS
from steelyard.cli.saved_tables import read_evaluation_file
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from steelyard.cli.outputs import Output
    from steelyard.ledger.diff import DiffSide
    from steelyard.ledger.ledger import Ledger


@command
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@options.shared("level", "metrics")
@click.option(
    "--prevalence",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="P",
    help="Read both at this prevalence, where that of their data differs.",
)
@ledger_option()
@options.output(*FORMATS)
def diff_evaluations(
    a: str, b: str, level: float, metrics: list[str] | None, prevalence: float | None, ledger: Ledger, output: Output
) -> None:
    """Compare two evaluations, B less A, by every metric with confidence intervals and Holm's p-values.

    A and B are reports that were saved as JSON, ids of the ledger (their last signs will do), or tags such as model=v3
    for the last evaluation that has it. They are taken as of different rows, unless both were logged with --keep-rows:
    then the rows are paired. What differs in the data is stated.
    """
    from steelyard.ledger.diff import evaluation_diff

    sides = [_side(ledger, word) for word in (a, b)]
    comparison = with_shell_words(evaluation_diff(*sides, metrics=metrics, level=level, prevalence=prevalence))
    write_comparison(comparison, output, " and ".join(comparison.models))


def _side(ledger: Ledger, word: str) -> DiffSide:
    """The evaluation of a file, with its rows where it is an entry of a ledger, or that of an id or a tag."""
    from steelyard.exceptions import SteelyardError
    from steelyard.ledger.diff import DiffSide, entry_side

    if word != "-" and not Path(word).is_file():
        if not ledger.folder.is_dir():
            raise InputError(
                f"{word!r} is no file, and there is no ledger at {str(ledger.folder)!r} to look for it; name a file "
                "that `report --format json` wrote, or a ledger with --ledger."
            )
        return ledger.side(word, word)
    try:
        return entry_side(Path(word))
    except SteelyardError:
        evaluation = read_evaluation_file(word)
    if evaluation is None:
        raise InputError(f"{word!r} holds no saved evaluation; write one by `steelyard report --format json`.")
    return DiffSide(Path(word).stem if word != "-" else "standard input", evaluation)
