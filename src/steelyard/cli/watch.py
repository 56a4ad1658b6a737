"""`steelyard watch`: a model followed batch by batch, with alarms that may be looked at daily."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from steelyard.cli import options
from steelyard.cli.commands import command
from steelyard.cli.option_words import of_shell
from steelyard.cli.streams import print_message, print_verdict
from steelyard.exceptions import InputError
from steelyard.files.reading import reworded_errors

if TYPE_CHECKING:
    from steelyard.analysis.monitoring.monitor import Monitor
    from steelyard.cli.inputs import Inputs
    from steelyard.cli.watched_batches import WatchedFiles
    from steelyard.cli.watched_monitor import WatchedMonitor, WatchOutputs
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.tables.tally import Tally


def _seconds(_context: click.Context, _option: click.Parameter, given: float | None) -> float | None:
    if given is not None and math.isnan(given):  # which no range refuses
        raise click.BadParameter("give a number of seconds, such as 60.")
    return given


@command
@options.inputs("files", "true", "pred", "score", "threshold", "pos_label", "by")
@click.option(
    "--require",
    "rules",
    multiple=True,
    required=True,
    metavar="RULE",
    help='Such as "recall >= 0.8", "mcc >= reference - 0.05" or "cost <= 12"; repeatable.',
)
@click.option("--reference", metavar="OLD.JSON", help="A report or a tally whose own noise the limits allow for.")
@click.option("--key", metavar="COL", help="Labels come later: the column that names each row in both files.")
@click.option("--mature", type=int, metavar="N", help="Use labels of cohorts of predictions that are N files old.")
@click.option("--cost", metavar="COL", help='The column of what each row costs, for a rule such as "cost <= 12".')
@click.option("--cost-between", metavar="LOW,HIGH", help="The ends that no cost can leave, such as 0,500.")
@click.option("--state", metavar="STATE.JSON", help="Go on from this file, and write it after each batch.")
@click.option("--page", metavar="OUT.HTML", help="Write the page after each batch.")
@click.option("--json", "json_path", metavar="OUT.JSON", help="Write the result after each batch.")
@click.option(
    "--follow",
    type=click.FloatRange(0.01, 86_400),
    callback=_seconds,
    metavar="SECONDS",
    help="Look for new files, ever so often.",
)
@click.option(
    "--batch-rows", type=click.IntRange(min=1), default=1000, show_default=True, help="Of - : the rows of a batch."
)
@click.option("--stop", is_flag=True, help="End at the first alarm.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 while an alarm stands, where alarms are read elsewhere.")
@click.option("--force", is_flag=True, help="Replace a page or a result that was not written for this state.")
@options.shared("level")
@click.pass_context
def watch_batches(
    ctx: click.Context,
    /,
    inputs: Inputs,
    rules: tuple[str, ...],
    reference: str | None,
    key: str | None,
    mature: int | None,
    cost: str | None,
    cost_between: str | None,
    state: str | None,
    page: str | None,
    json_path: str | None,
    follow: float | None,
    batch_rows: int,
    stop: bool,
    exit_zero: bool,
    force: bool,
    level: float,
) -> None:
    """Follow a model batch by batch: each FILE, or so many rows of - , is a batch, in the order of the names.

    While no limit is broken an alarm is ever raised with probability 1 - level at most, over all rules, groups and
    batches, so that one may look after each. With --state a later run goes on with the files that are new. Where labels
    come later, files with --key and predictions, and files with --key and the truth, may come in any order.
    A file with the rows of an earlier one, under whatever name, is refused. The exit code is 1 while an alarm stands,
    also one of an earlier run; --exit-zero makes it 0.
    """
    from steelyard.cli.watched_batches import WatchedFiles
    from steelyard.cli.watched_monitor import WatchedMonitor, WatchOutputs

    if not inputs.files:
        raise InputError("No input was named; give files, a pattern, or - for the standard input.")
    by_rows = ctx.get_parameter_source("batch_rows") is click.core.ParameterSource.COMMANDLINE
    if by_rows and "-" not in inputs.files:
        raise InputError("--batch-rows divides the standard input, and each file is a batch; leave it out, or name - .")
    if mature is not None and mature > 0 and key is None:
        raise InputError("--mature waits for labels that come later by a key; name its column with --key.")
    files = WatchedFiles(inputs.files, follow, batch_rows)
    outputs = WatchOutputs(state, page, json_path, inputs.name, force)
    outputs.check_names([*files.there(), *([] if reference is None else [reference])])
    given = {
        "level": level,
        "cost_between": _ends(cost_between),
        "mature": mature,
        "reference": _read_reference(reference),
    }
    watched = WatchedMonitor(_monitor(inputs, rules, given), inputs, key, cost)
    watched.resume(state)
    outputs.check_kept(watched)
    if not watched.seen:
        from steelyard.analysis.monitoring.delay import started

        for sentence in started(watched.monitor):
            print_message(sentence)
    if _followed(watched, files, outputs, stop=stop) and not exit_zero:
        ctx.exit(1)


def _followed(watched: WatchedMonitor, files: WatchedFiles, outputs: WatchOutputs, *, stop: bool) -> bool:
    """Read the batches that are new, and write after each; whether an alarm stands."""
    from steelyard.cli.watched_monitor import batch_line

    alarmed, before = bool(watched.monitor.alarms), len(watched.seen)
    for name in watched.changed(files.there()):
        print_message(f"{name} was read before and has changed since; it is not read again, give new rows a new file.")
    batches = files.batches(watched.seen)
    while not (stop and alarmed) and (batch := next(batches, None)) is not None:
        with reworded_errors([batch[0]]):
            notes = watched.add(*batch)
        for note in notes:
            print_message(f"{Path(batch[0]).name}: {of_shell(note)}")
        result = outputs.write(watched)
        print_verdict(batch_line(batch[0], result))
        alarmed = bool(result.alarms)
    for sentence in watched.monitor.pending.late_sentences:
        print_message(of_shell(sentence.replace("give batches", "give files")))
    if len(watched.seen) == before:
        print_verdict(f"No batch was read. {watched.monitor.result().headline}")
    return alarmed


def _monitor(inputs: Inputs, rules: tuple[str, ...], given: dict[str, Any]) -> Monitor:
    from steelyard.analysis.monitoring.monitor import Monitor

    if len(inputs.by) > 1:
        raise InputError("Groups are followed by one column; give --by once.")
    by = inputs.by[0] if inputs.by else None
    return Monitor(rules, pos_label=inputs.pos_label, threshold=inputs.threshold, by=by, **given)


def _ends(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        raise InputError(f"--cost-between takes two numbers, such as 0,500, not {text!r}.") from None
    return low, high


def _read_reference(name: str | None) -> Evaluation | Tally | None:
    """A saved report, or a tally; with its scores, where it has them."""
    from steelyard.cli.saved_tables import read_saved, read_saved_evaluation

    if name is None:
        return None
    if not Path(name).is_file():
        raise InputError(f"There is no file {name!r}; check the name and the folder.")
    saved = read_saved_evaluation([name]) or read_saved(name)
    if saved is None or (saved.confusion is None and saved.scores is None):
        raise InputError(
            f"{name!r} is neither a report nor a tally of labels or scores; write one with `steelyard report`."
        )
    return saved
