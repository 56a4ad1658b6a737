"""`steelyard unlabelled`: the prevalence and the metrics of rows without labels, by their scores and a reference."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from steelyard.cli import options
from steelyard.cli.commands import command
from steelyard.cli.inputs import Inputs, count_inputs, open_files
from steelyard.cli.option_words import of_shell
from steelyard.cli.result_output import write_result
from steelyard.cli.saved_tables import add_saved, looks_saved
from steelyard.cli.streams import print_message
from steelyard.cli.usual_columns import guess_score
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from steelyard.cli.outputs import Output
    from steelyard.evaluation.unlabelled import Unlabelled


@command
@options.inputs("files", "true", "pred", "score", "class_scores", "threshold", *options.POSITIVE, "frequency")
@click.option(
    "--reference",
    metavar="REF",
    required=True,
    help="The labelled rows: a saved tally with scores, a report as JSON, or a file of rows with --true.",
)
@options.shared("level", "metrics")
@options.output("table", "json", "md", "csv", "html")
def read_unlabelled(inputs: Inputs, reference: str, level: float, metrics: list[str] | None, output: Output) -> None:
    """Estimate the prevalence in FILE, whose rows have scores and no labels, and every metric there.

    Label shift is assumed and tested: each class has the scores that it has in the reference, and only the shares of
    the classes have changed. Beside each metric stands its value under covariate shift. Where the test refuses label
    shift, the first sentence and the standard error say so, and the exit code is 0 all the same. Of predicted labels
    (--pred) and a confusion matrix as reference the prevalence follows from recall and specificity.
    """
    found, assumed = _found(inputs, reference, {"level": level, "metrics": metrics})
    found = replace(found, assumed=(*assumed, *map(of_shell, found.assumed)))
    if found.fits is False:
        print_message(f"Label shift is refused. {found.headline}")
    write_result(found, output, inputs.name)


def _found(inputs: Inputs, reference: str, asked: dict[str, Any]) -> tuple[Unlabelled, list[str]]:
    """What is found of the files, and what was taken for granted on the way."""
    from steelyard.evaluation.unlabelled import unlabelled

    saved = add_saved(inputs.files) if inputs.files else None
    if saved is not None:
        known, assumed = _reference(replace(inputs, files=(reference,)), reference)
        return unlabelled(saved[0], reference=known, threshold=inputs.threshold, **asked), assumed
    with open_files(inputs) as source:
        score, assumed = inputs.class_scores or inputs.score, list[str]()
        if score is None and inputs.pred is None:
            score, assumed = guess_score(source)
        known, stated = _reference(replace(inputs, files=(reference,), score=score), reference)
        columns: dict[str, Any] = {"threshold": inputs.threshold, "frequency": inputs.frequency, "score": score}
        columns |= {"pred": inputs.pred}
        columns |= {"pos_label": inputs.positive} if isinstance(known, tuple) else {}
        return unlabelled(source, reference=known, **columns, **asked), [*assumed, *stated]


def _reference(inputs: Inputs, reference: str) -> tuple[Any, list[str]]:
    """The reference as a saved table or evaluation, or counted from rows, and what was taken for granted."""
    if looks_saved(reference):
        return reference, []
    if not Path(reference).exists():
        raise InputError(f"There is no file {reference!r}; --reference names what `steelyard tally` saved.")
    if inputs.true is None:
        raise InputError(f"{reference!r} holds no saved table; of rows name the column of the truth with --true.")
    if inputs.class_scores is not None:
        from steelyard.cli.class_scores import named_class_scores

        with open_files(inputs) as source:
            p, _, assumed = named_class_scores(source, replace(inputs, score=None))
            rows = p.collect().given
        return (rows.data, rows.y_score), assumed
    counted = count_inputs(replace(inputs, frequency=None, threshold=None), scores=inputs.pred is None)
    return counted.tally, list(counted.assumed)
