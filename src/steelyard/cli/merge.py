"""`steelyard merge`: saved tables added up."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from steelyard.cli import options
from steelyard.cli.commands import command
from steelyard.cli.inputs import print_assumed
from steelyard.cli.saved_tables import read_saved, sum_tables
from steelyard.cli.tally import SAVE_HELP
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from steelyard.cli.outputs import Output
    from steelyard.tables.tally import Tally


@command
@click.argument("files", nargs=-1, required=True, metavar="TALLY...")
@options.output(about=SAVE_HELP)
def merge_tallies(files: tuple[str, ...], output: Output) -> None:
    """Merge tables saved by `steelyard tally`."""
    merged, noticed = sum_tables(files, [_saved_tally(name) for name in files])
    print_assumed(noticed)
    output.write(merged.to_json())


def _saved_tally(name: str) -> Tally:
    if name != "-" and not Path(name).exists():
        raise InputError(f"There is no file {name!r}; check the name and the folder.")
    table = read_saved(name)
    if table is None:
        raise InputError(f"{name!r} holds no saved table; give files that `steelyard tally` wrote.")
    return table
