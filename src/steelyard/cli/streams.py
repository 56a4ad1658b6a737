"""Streams: stdout and stderr, which may be closed, full, without a reader, or unable to encode a letter."""

from __future__ import annotations

import errno
import io
import os
import sys
import traceback
import warnings
from pathlib import Path
from typing import TextIO

from steelyard.exceptions import InputError

_OF_WRITING = (errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


def prepare_streams() -> None:
    """A letter that the encoding of a stream lacks is written as its code, and a warning is one line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if sys.stdin is None:  # closed from the start: as good as empty
        sys.stdin = Path(os.devnull).open(encoding="utf-8")  # noqa: SIM115 - for the life of the program
    if sys.stderr is None:  # closed from the start: no one reads the messages
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - for the life of the program
    warnings.showwarning = _warn


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    from steelyard.cli.option_words import of_shell

    print_message(f"steelyard: {of_shell(str(message))}")


def print_message(text: str) -> None:
    """A line on stderr, whatever names and labels it quotes; that no one can read it is no error."""
    import click

    from steelyard.report.terminal.layout import without_controls

    try:
        click.echo(without_controls(text), err=True)
    except OSError:
        _discard(sys.stderr)


def print_verdict(text: str) -> None:
    """What the exit code says as well: that stdout is lost changes nothing."""
    import click

    try:
        click.echo(text, color=False)
    except OSError as error:
        if sentence := lost_sentence(error):
            print_message(f"steelyard: {sentence}")


def check_stdout() -> None:
    """Refuse a stdout that was closed from the start, which click would pass over in silence."""
    if sys.stdout is None:
        raise InputError("The standard output is closed; open it, or name a file with -o.")


def is_of_stdout(error: BaseException) -> bool:
    """Whether it was stdout that could not be written: errors of files name them, or arise where they are read."""
    if not isinstance(error, OSError) or error.errno not in _OF_WRITING or error.filename is not None:
        return False
    frames = [frame.f_code.co_name for frame, _ in traceback.walk_tb(error.__traceback__)]
    return error.errno == errno.EPIPE or frames[-1] in ("echo", "main") or "write" in frames[-1]


def lost_sentence(error: OSError) -> str | None:
    """Why stdout could not be written, once for all; None where its reader has gone, which is no error."""
    _discard(sys.stdout)
    if error.errno == errno.EPIPE:
        return None
    return f"The standard output cannot be written: {error.strerror}."


def _discard(stream: TextIO | None) -> None:
    """Throw away what a stream still holds, which would fail again at the exit."""
    if stream is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
