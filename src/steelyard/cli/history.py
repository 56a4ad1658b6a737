"""`steelyard history`: the evaluations of a ledger over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from steelyard.cli import options
from steelyard.cli.commands import command
from steelyard.cli.inputs import print_assumed
from steelyard.cli.ledger_options import ledger_option, tag_option

if TYPE_CHECKING:
    from steelyard.cli.outputs import Output
    from steelyard.ledger.history import History
    from steelyard.ledger.ledger import Ledger


@command
@options.shared("metrics")
@tag_option("Only evaluations with this tag, such as model=v3")
@click.option("--last", type=click.IntRange(min=1), metavar="N", help="Only the last N evaluations.")
@click.option("--all", "everything", is_flag=True, help="Every metric, not the usual few.")
@ledger_option()
@options.output("table", "json", "md", "csv", "html")
def list_history(
    metrics: list[str] | None,
    tags: dict[str, str],
    last: int | None,
    everything: bool,
    ledger: Ledger,
    output: Output,
) -> None:
    """List the evaluations of a ledger: when, with which tags, and each metric with its confidence interval.

    -o trend.html writes a page with a chart for each metric. Reading changes nothing in the ledger.
    """
    history = ledger.history(metrics, tags, last=last, all_metrics=everything)
    if output.kind in ("csv", "json"):
        print_assumed(history.notes)
    output.write(_text(history, output.kind))


def _text(history: History, kind: str) -> str:
    from steelyard.report.csv_text import csv_rows
    from steelyard.report.terminal.history_text import history_text

    if kind == "json":
        return history.to_json(indent=1)
    if kind == "csv":
        return csv_rows([_flat(row) for row in history.to_dicts()])
    if kind == "html":
        return history.to_html()
    return history.to_markdown() if kind == "md" else history_text(history)


def _flat(row: dict[str, object]) -> dict[str, object]:
    """A row with a column for each tag."""
    tags = row.pop("tags")
    return {**row, **({f"tag.{name}": text for name, text in tags.items()} if isinstance(tags, dict) else {})}
