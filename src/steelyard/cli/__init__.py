"""The command line: help and version at once, click and the commands when one is called."""

from __future__ import annotations

import gc
import os
import sys

from steelyard._names import __version__
from steelyard.cli import streams
from steelyard.cli.overview import overview

_OBJECTS_BETWEEN_LOOKS = 100_000


def main(arguments: list[str] | None = None) -> None:
    """Run the command line."""
    words = sys.argv[1:] if arguments is None else arguments
    streams.prepare_streams()
    try:
        if words in ([], ["-h"], ["--help"]) and "_STEELYARD_COMPLETE" not in os.environ:
            print(overview(), flush=True)  # noqa: T201 - the one print of the project: click is not loaded here
        elif words == ["--version"]:
            print(f"steelyard {__version__}", flush=True)  # noqa: T201 - as above
        else:
            _run(words)
    except OSError as error:  # of a help: commands answer for what they print
        if not streams.is_of_stdout(error):
            raise
        if sentence := streams.lost_sentence(error):
            streams.print_message(f"steelyard: {sentence}")
            sys.exit(2)


def _run(words: list[str]) -> None:
    """Run a command; a signal at any moment ends it in order, and decides the exit code."""
    from steelyard.cli import interruptions

    # A command ends before cycles matter; looking for them among what imports make takes time.
    gc.set_threshold(_OBJECTS_BETWEEN_LOOKS)
    interruptions.heed_signals()
    try:
        from steelyard.cli.commands import commands

        commands.main(words, prog_name="steelyard")
    finally:
        interruptions.ignore_signals()
        if code := interruptions.interrupted_code():
            sys.exit(code)
