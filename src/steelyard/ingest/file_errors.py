"""File errors: what an engine or the operating system says about a file, in one sentence."""

from __future__ import annotations

import errno
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING

from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

STDIN = "-"


def file_title(name: str) -> str:
    """What a sentence calls a file."""
    return "The standard input" if name == STDIN else repr(name)


def is_there(path: Path) -> bool:
    """Whether a file or folder is there; unlike `Path.exists` of late, raises what the operating system refuses."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        return False
    return True


@contextmanager
def reworded_errors(names: Sequence[str]) -> Iterator[None]:
    """The errors of Polars on a file it cannot read, in one sentence."""
    import polars as pl
    from narwhals.exceptions import NarwhalsError

    try:
        yield
    except (pl.exceptions.PolarsError, NarwhalsError, OSError) as error:
        shown = ", ".join(map(file_title, names[:3]))
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            room = f"There is no room in {tempfile.gettempdir()!r} for a copy of {shown}: {error.strerror}"
            raise InputError(f"{room}; set TMPDIR to a folder with more.") from None
        if isinstance(error, OSError) and error.strerror:
            raise InputError(f"{shown} cannot be read: {error.strerror}.") from None
        raise InputError(f"{shown} cannot be read: {_sentence(str(error))}") from None


def _sentence(text: str) -> str:
    first = " ".join(text.split("\n\n", maxsplit=1)[0].split())
    return f"{first[:200].rstrip('.')}."
