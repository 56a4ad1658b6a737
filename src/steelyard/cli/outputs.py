"""Outputs: a result to stdout or to a file, whole or not at all, in a format that the user or the ending names."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from steelyard.cli.streams import check_stdout, print_message
from steelyard.exceptions import InputError
from steelyard.files.folders import STDIN, expand_names, is_there
from steelyard.report.terminal.letters import encodable
from steelyard.written_files import check_replaceable, replacement_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


@dataclass(frozen=True)
class Output:
    """Where a result goes, stdout where there is no path, and in which format."""

    path: str | None
    kind: str = ""
    force: bool = False

    def write(self, text: str | bytes) -> None:
        """The text to stdout, or to the file by way of a temporary one beside it: a kill leaves the old or the new."""
        table = self.kind == "table"  # bold and colour are for it alone, and for the terminal
        if self.path is None:
            check_stdout()
            text = encodable(text, sys.stdout.encoding or "utf-8") if table and isinstance(text, str) else text
            click.echo(text, nl=isinstance(text, str) and not text.endswith("\n"), color=None if table else False)
            return
        text = click.unstyle(text) if table and isinstance(text, str) else text
        if isinstance(text, str):
            text = text.removesuffix("\n").encode(errors="backslashreplace") + b"\n"
        with replacement(self) as temporary, temporary.open("wb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())


def checked_output(form: str | None, path: str | None, force: bool, kinds: Sequence[str]) -> Output:
    """The output that the options name, refused before any work is done where it could not be written."""
    kind = _kind(form, path, kinds) if kinds else ""
    if path is not None:
        _check_writable(path, force)
    return Output(path, kind, force)


def check_no_input(output: Output, names: Iterable[str]) -> None:
    """Refuse an output that would replace one of the files that are read."""
    if output.path is None or not (path := Path(output.path)).exists():
        return
    for name in expand_names([name for name in names if name != STDIN]):
        if path.samefile(name):
            raise InputError(f"{output.path!r} is an input as well, which would be lost; give another name.")


def _kind(form: str | None, path: str | None, kinds: Sequence[str]) -> str:
    """The format that the user names, or the one of the output's ending."""
    if form is not None or path is None:
        return form or kinds[0]
    ending = Path(path).suffix.lstrip(".").lower()
    kind = {"txt": "table", "xml": "junit", "markdown": "md", "htm": "html"}.get(ending, ending)
    if kind not in kinds:
        raise InputError(
            f"The ending of {path!r} gives no format; end it in .{', .'.join(kinds[1:])}, or give --format."
        )
    return kind


def _check_writable(output: str, force: bool) -> None:
    path = _target(output)
    if path.is_dir():
        raise InputError(f"{output!r} is a folder; name a file in it.")
    if is_there(Path(output)) and not Path(output).is_file():
        raise InputError(f"{output!r} is a device or a pipe, not a file; leave out -o to write to the standard output.")
    check_replaceable(path, output, force=force)
    folder = path.parent if Path(output).is_symlink() else Path(output).parent
    if not path.parent.is_dir():
        raise InputError(f"There is no folder {str(folder)!r} to write to; make it first.")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise InputError(f"The folder {str(folder)!r} cannot be written; give another one.")


def _target(output: str) -> Path:
    """Where the output lies: of a link the file it points to, so that the link itself stays."""
    try:
        path = Path(output).resolve()
        is_there(path)  # raises what cannot be, which from 3.14 on nothing else does
        if not path.is_symlink():  # as from 3.13 on a link in a circle is, where others raise
            return path
    except RuntimeError:
        pass
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise InputError(f"{output!r} cannot be written: {error.strerror}; give another name.") from None
    raise InputError(f"{output!r} is a link that points to itself; name a file.")


@contextmanager
def replacement(output: Output, ending: str = "") -> Iterator[Path]:
    """A file beside the output to be written, which takes its place when that has gone well."""
    with replacement_file(_target(output.path or ""), ending, force=output.force) as temporary:
        yield temporary
    print_message(f"Wrote {output.path}.")
