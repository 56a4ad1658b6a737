"""Writing: a result to stdout or to a file, whole or not at all."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from steelyard.errors import InputError
from steelyard.ingest.temporary_files import permitted, unused

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def chosen(form: str | None, output: str | None, kinds: Sequence[str]) -> str:
    """The format that was asked for, or that the ending of the output tells."""
    if form is not None or output is None:
        return form or kinds[0]
    ending = Path(output).suffix.lstrip(".").lower()
    found = {"txt": "table", "markdown": "md", "htm": "html"}.get(ending, ending)
    if found not in kinds:
        raise InputError(
            f"The ending of {output!r} tells no format; end it in .{', .'.join(kinds[1:])}, or say --format."
        )
    return found


def check_free(output: str | None, force: bool) -> None:
    """Refuse an output that exists, before any work is done for it."""
    if output is None:
        return
    path = _target(output)
    if path.is_dir():
        raise InputError(f"{output!r} is a folder; name a file in it.")
    if path.exists() and not path.is_file():
        raise InputError(f"{output!r} is a device or a pipe, not a file; leave out -o to write to the standard output.")
    if path.exists() and not force:
        raise InputError(f"{output!r} exists and was kept; give another name, or --force to replace it.")
    if not path.parent.is_dir():
        raise InputError(f"There is no folder {str(_shown(output, path))!r} to write to; make it first.")


def _shown(output: str, path: Path) -> Path:
    return path.parent if Path(output).is_symlink() else Path(output).parent


def _target(output: str) -> Path:
    """Where the output lies: of a link the file it points to, so that the link itself stays."""
    try:
        return Path(output).resolve()
    except (OSError, RuntimeError):
        raise InputError(f"{output!r} is a link that points to itself; name a file.") from None


@contextmanager
def temporary(output: str, ending: str) -> Iterator[Path]:
    """A file beside the output to be written, which takes its place when that has gone well."""
    path = _target(output)
    made = unused(path.parent, f".{path.name[:40]}.", ending)
    try:
        made.touch(mode=0o600, exist_ok=False)
        yield made
        made.chmod(permitted(0o666))
        made.replace(path)
    except BaseException:
        made.unlink(missing_ok=True)
        raise
    click.echo(f"Wrote {output}.", err=True)


def deliver(text: str | bytes, output: str | None) -> None:
    """The text to stdout, or to the file by way of a temporary one beside it: a kill leaves the old or the new."""
    if output is None:
        click.echo(text, nl=isinstance(text, str) and not text.endswith("\n"))
        return
    data = text if isinstance(text, bytes) else (text if text.endswith("\n") else f"{text}\n").encode()
    with temporary(output, "") as made, made.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
