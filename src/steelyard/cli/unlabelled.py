"""`steelyard unlabelled`: the prevalence and the metrics of rows without labels, by their scores and a reference."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from steelyard.cli import options
from steelyard.cli.commands import command
from steelyard.cli.inputs import Inputs, Read, predictions
from steelyard.cli.result_output import FORMATS, write_result
from steelyard.cli.saved_tables import looks_saved, read_saved_evaluation
from steelyard.cli.streams import print_message
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from steelyard.cli.outputs import Output
    from steelyard.predictions import Predictions


@command
@options.inputs()
@click.option(
    "--reference",
    metavar="REF",
    required=True,
    help="The labelled rows: a saved tally with scores, a report as JSON, or a file of rows with --true.",
)
@options.shared("level", "metrics")
@options.output(*FORMATS)
def read_unlabelled(inputs: Inputs, reference: str, level: float, metrics: list[str] | None, output: Output) -> None:
    """Estimate the prevalence in FILE, whose rows have scores and no labels, and every metric there.

    Label shift is assumed and tested: each class has the scores that it has in the reference, and only the shares of
    the classes have changed. Beside each metric stands its value under covariate shift. Where the test refuses label
    shift, the first sentence and the standard error say so, and the exit code is 0 all the same. Of predicted labels
    (--pred) and a confusion matrix as reference the prevalence follows from recall and specificity.
    """
    from steelyard.evaluation.unlabelled import unlabelled

    rows, stated = predictions(inputs, truth=False, scores=True)
    known = _reference(inputs, reference, rows)
    found = Read(rows, stated).ask(unlabelled, reference=known.rows, level=level, metrics=metrics)
    found = replace(found, assumed=(*known.stated, *found.assumed))
    if found.fits is False:
        print_message(f"Label shift is refused. {found.headline}")
    write_result(found, output, inputs.name)


def _reference(inputs: Inputs, reference: str, rows: Predictions) -> Read:
    """The labelled rows: a saved table or evaluation by its content, or the rows of a file with the same columns."""
    from steelyard.predictions import Predictions

    if (saved := read_saved_evaluation([reference])) is not None:
        return Read(Predictions.of(saved))
    if looks_saved(reference):
        return predictions(Inputs((reference,), pos_label=inputs.pos_label, threshold=inputs.threshold))
    if not Path(reference).exists():
        raise InputError(f"There is no file {reference!r}; --reference names what `steelyard tally` saved.")
    if inputs.true is None:
        raise InputError(f"{reference!r} holds no saved table; of rows name the column of the truth with --true.")
    score = inputs.score or tuple(name for name in (rows.given.model.score,) if isinstance(name, str))
    own = replace(inputs, files=(reference,), score=score, frequency=None, filter=None)
    return predictions(own, scores=not inputs.pred)
