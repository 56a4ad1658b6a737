"""The command line: help and version at once, click and the commands when one is called."""

from __future__ import annotations

import os
import sys

from steelyard._names import __version__
from steelyard.cli.overview import overview


def main(arguments: list[str] | None = None) -> None:
    """Run the command line."""
    words = sys.argv[1:] if arguments is None else arguments
    if words in ([], ["-h"], ["--help"]) and "_STEELYARD_COMPLETE" not in os.environ:
        print(overview())  # noqa: T201 - the one print of the project: click is not loaded here
    elif words == ["--version"]:
        print(f"steelyard {__version__}")  # noqa: T201 - as above
    else:
        _run(words)


def _run(words: list[str]) -> None:
    """Run a command; an interruption at any moment ends it in order, so that temporary files are removed."""
    import signal

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    try:
        from steelyard.cli.commands import commands

        commands.main(words, prog_name="steelyard")
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
