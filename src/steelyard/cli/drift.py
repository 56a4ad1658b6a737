"""`steelyard drift`: what changed between periods of a file, by the prevalence and by the classifier."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from steelyard.cli import options
from steelyard.cli.commands import command
from steelyard.cli.counted_input import CountedInput
from steelyard.cli.inputs import Inputs, count_inputs, open_files
from steelyard.cli.option_words import of_shell
from steelyard.cli.result_output import write_result
from steelyard.cli.saved_tables import read_saved
from steelyard.cli.usual_columns import guess_score
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array, Label
    from steelyard.cli.outputs import Output
    from steelyard.evaluation.drift import Drift
    from steelyard.statistics.tally import Tally

_FILE = "file"


@command
@options.inputs("files", "true", "pred", "score", "threshold", *options.POSITIVE, "weight", "frequency", "exact")
@click.option(
    "--period",
    metavar="COL",
    help="The column of the period, such as the month; without it each file is a period, or each group of tallies.",
)
@click.option(
    "--reference", metavar="PERIOD", help="The period that the others are read against; the first by default."
)
@click.option(
    "--unlabelled",
    multiple=True,
    metavar="FILE",
    help="A period without labels: a file of rows with the column of --score, called as the file; repeatable.",
)
@options.shared("level", "metrics")
@options.output("table", "json", "md", "csv", "html")
def split_drift(
    inputs: Inputs,
    period: str | None,
    reference: str | None,
    unlabelled: tuple[str, ...],
    level: float,
    metrics: list[str] | None,
    output: Output,
) -> None:
    """Split what changed between the periods of FILE into a part by the prevalence and one by the classifier."""
    asked = {"reference": reference, "level": level, "metrics": metrics}
    write_result(_found(inputs, period, unlabelled, asked), output, inputs.name)


def _found(inputs: Inputs, period: str | None, unlabelled: Sequence[str], asked: dict[str, Any]) -> Drift:
    """The drift of the files, and of those without labels beside them."""
    from steelyard.evaluation.drift import drift
    from steelyard.ingest.given_files import expand_names

    counted = _counted(inputs, period, others=bool(unlabelled))
    column = inputs.score or counted.columns.get("score")
    new: dict[Label, Any] = {_title(name): _scores(inputs, name, column) for name in expand_names(unlabelled)}
    options = {"threshold": inputs.threshold, "pos_label": inputs.positive, **asked}
    found = drift(counted.tally, unlabelled=new, **options)
    return replace(found, assumed=tuple(map(of_shell, (*counted.assumed, *found.assumed))))


def _counted(inputs: Inputs, period: str | None, *, others: bool) -> CountedInput:
    """The rows by the column of their period; without one by the groups of saved tallies, or by file."""
    from steelyard.ingest.given_files import expand_names

    if period is not None:
        return count_inputs(replace(inputs, by=(period,)))
    names = expand_names(inputs.files)
    parts = [count_inputs(replace(inputs, files=(name,))) for name in names]
    if parts and all(part.tally.by for part in parts):
        return count_inputs(inputs)
    if len(parts) < 2 and not (parts and others):
        raise InputError(
            "The period of each row is needed; name its column with --period, or give a file for each period."
        )
    titles = [_title(name) for name in names]
    if len(set(titles)) < len(titles):
        titles = names
    tallies = [
        replace(part.tally, by=(_FILE,), groups={(title,): part.tally})
        for part, title in zip(parts, titles, strict=True)
    ]
    assumed = list(dict.fromkeys(sentence for part in parts for sentence in part.assumed))
    return CountedInput(sum(tallies[1:], tallies[0]), assumed, inputs.name, parts[0].columns)


def _title(name: str) -> str:
    """What a period of one file is called: the file's name without its endings."""
    return Path(name).name.partition(".")[0] or name


def _scores(inputs: Inputs, name: str, column: object) -> Array | Tally:
    """The scores of a file without labels, or of a saved tally, whose labels are not read."""
    import numpy as np

    from steelyard.predictions import Predictions

    if (saved := read_saved(name)) is not None:
        return saved
    with open_files(replace(inputs, files=(name,))) as source:
        rows = Predictions.read(source, score=str(column) if column else guess_score(source)[0]).collect()
        return np.asarray(rows.given.y_score)
