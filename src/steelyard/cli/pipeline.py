"""Pipeline: gates for continuous integration, and tables saved and added up."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from steelyard.cli import declaring, reading, writing
from steelyard.cli.declaring import command
from steelyard.errors import InputError

if TYPE_CHECKING:
    from steelyard.statistics.tally import Tally

_LARGE = 10_000_000  # letters of a saved tally from which it is called large


@command
@declaring.judged
@click.option(
    "--require",
    "requirements",
    multiple=True,
    metavar="RULE",
    help='Such as "ac_score>=0.8", "low(mcc)>=0.5" for the end of the interval, or "mcc>=baseline-0.02".',
)
@click.option("--baseline", metavar="OLD.JSON", help="A report to compare with, written by `report --format json`.")
@declaring.level
@click.pass_context
def gate(
    ctx: click.Context, /, requirements: tuple[str, ...], baseline: str | None, level: float, **options: Any
) -> None:
    """Pass or fail the predictions in FILE by rules on their metrics: exit 0, 1, or 3 where a metric is undefined.

    With --baseline and no rule, no usual metric may be shown to be below the baseline: high(metric) >= baseline.
    """
    from steelyard.cli import rules
    from steelyard.cli.weighing import evaluation

    old = rules.baseline(baseline)
    read = [rules.read(text) for text in requirements] or rules.against(old)
    for rule in read:
        rules.limit(rule, old)
    found, source = evaluation(level=level, metrics=",".join(rule.metric for rule in read), **options)
    results = [rules.judged(rule, found, old) for rule in read]
    reading.tell(source.assumed)
    click.echo("\n".join(result.told for result in results))
    code = 3 if any(result.passed is None for result in results) else int(not all(r.passed for r in results))
    if code:
        ctx.exit(code)


@command
@declaring.stacked(
    declaring.files,
    declaring.true,
    click.option("--pred", "preds", multiple=True, metavar="COL", help="The column of labels; two for two models."),
    declaring.score,
    declaring.threshold,
    declaring.positive,
    declaring.weight,
    declaring.frequency,
    declaring.by,
    declaring.exact,
    declaring.saving,
)
def tally(
    preds: tuple[str, ...],
    output: str | None,
    force: bool,
    files: Any,
    positive: str | None,
    threshold: float | None,
    **columns: Any,
) -> None:
    """Weigh FILE into a small table and save it, so that parts add up later by `steelyard merge`."""
    writing.check_free(output, force)
    pred = None if not preds else preds[0] if len(preds) == 1 else preds
    found = reading.weighed(files, None, positive, threshold, pred=pred, **columns)
    text = found.tally.to_json()
    reading.tell([*found.assumed, *_large(found.tally, len(text))])
    writing.deliver(text, output)


def _large(table: Tally, size: int) -> list[str]:
    """What to do about a tally of very many scores."""
    if table.scores is None or len(table.scores.bins) or size < _LARGE:
        return []
    return [f"This tally keeps every score, {size / 1e6:,.0f} MB; --binned keeps bins, and bounds on the areas."]


@command
@click.argument("files", nargs=-1, required=True, metavar="TALLY...")
@declaring.saving
def merge(files: tuple[str, ...], output: str | None, force: bool) -> None:
    """Add up tallies saved by `steelyard tally`."""
    writing.check_free(output, force)
    tables = [_saved(name) for name in files]
    writing.deliver(sum(tables[1:], tables[0]).to_json(), output)


def _saved(name: str) -> Tally:
    if name != "-" and not Path(name).exists():
        raise InputError(f"There is no file {name!r}; check the name and the folder.")
    table = reading.saved(name)
    if table is None:
        raise InputError(f"{name!r} holds no saved table; give files that `steelyard tally` wrote.")
    return table
