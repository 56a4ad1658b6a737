"""Drawing: the command that draws a figure of a file of predictions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from steelyard.cli import declaring, writing
from steelyard.cli.declaring import command
from steelyard.errors import InputError

if TYPE_CHECKING:
    from steelyard.evaluation.evaluation import Evaluation

_FORMATS = ("svg", "pdf", "png")
SEVERAL = ("roc", "pr", "density", "intervals", "runs")  # kinds that show more than one model
ALONE = ("surface", "correlation")  # kinds that need no predictions


@command
@click.argument("kind")
@declaring.files
@declaring.counts
@declaring.true
@declaring.models("repeatable")
@declaring.threshold
@declaring.positive
@declaring.weight
@declaring.frequency
@declaring.by
@declaring.metrics
@declaring.level
@declaring.output
def plot(kind: str, output: str | None, force: bool, metrics: str | None, level: float, **given: Any) -> None:
    """Draw a figure for a paper: confusion, roc, pr, threshold, prevalence, intervals, surface, ranking, correlation,
    runs (one box over the groups of --by) or density, as SVG, PDF or PNG by the ending of -o. The caption is printed.
    """  # noqa: D205 - click fills the paragraph
    from steelyard.cli.weighing import split
    from steelyard.report.figures import display_of, figure

    display_of(kind)  # refuses a kind that there is not, before anything is read
    if output is None:
        raise InputError("A figure needs a file; name it with -o, such as -o figure.pdf.")
    writing.check_free(output, force)
    if (ending := Path(output).suffix.lstrip(".").lower()) not in _FORMATS:
        raise InputError(f"The ending of {output!r} tells no format; end it in .svg, .pdf or .png.")
    options = {} if metrics is None else {"metrics": split(metrics)}
    with writing.temporary(output, f".{ending}") as path:
        drawn = figure(kind, _result(kind, level=level, **given), **options)
        drawn.save(path)
    click.echo(drawn.caption())


def _result(kind: str, files: Any, preds: Any, scores: Any, **given: Any) -> Any:
    """What the figure is drawn from."""
    empty = not files and given["counts"] is None
    if kind in ALONE and empty:
        return None
    if kind == "correlation":
        raise InputError("A correlation figure takes no file or counts: it compares the metrics themselves.")
    if kind == "ranking":
        return _comparison(files, preds, scores, **given)
    columns = [(name, "pred") for name in preds] + [(name, "score") for name in scores]
    if len(columns) > 1 and kind not in SEVERAL:
        raise InputError(f"A {kind} figure shows one model; name one column of labels or scores.")
    found = {name: _evaluation(files, {use: name}, **given) for name, use in columns} or {
        "": _evaluation(files, {}, **given)
    }
    if kind == "runs":
        return _runs(found)
    return found if len(found) > 1 else next(iter(found.values()))


def _evaluation(files: Any, named: dict[str, str], threshold: Any, level: float, **given: Any) -> Evaluation:
    from steelyard.cli.weighing import evaluation

    cut = None if "pred" in named else threshold
    columns: dict[str, Any] = {"pred": None, "score": None, "exact": None, **given, **named}
    found: Evaluation = evaluation(files=files, threshold=cut, level=level, metrics=None, **columns)[0]
    return found


def _comparison(files: Any, preds: Any, scores: Any, true: Any, positive: Any, frequency: Any, **given: Any) -> Any:
    from steelyard.cli.weighing import compared

    return compared(
        files, true, preds, scores, positive, frequency, threshold=given["threshold"], level=given["level"]
    )[0]


def _runs(found: dict[str, Evaluation]) -> Any:
    """The tables of the groups of each model, as its runs."""
    parts = {name: [group.confusion for group in part.groups] for name, part in found.items()}
    if not all(parts.values()):
        raise InputError("Runs are the groups of a column, such as --by fold; name it with --by.")
    return parts if len(parts) > 1 else next(iter(parts.values()))
