"""Temporary files: written under a name that is known before they are there, so that no moment leaves them behind."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.ingest.abandoned_files import locked, remove_abandoned

if TYPE_CHECKING:
    from collections.abc import Iterator

_START = "steelyard-"


def unused_path(folder: Path, start: str, ending: str = "") -> Path:
    """A path that nothing has yet; make it where an interruption removes it, which mkdtemp and mkstemp do not allow."""
    return folder / f"{start}{secrets.token_hex(8)}{ending}"


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder of one's own that is gone afterwards; those of programs that were killed are removed as well."""
    parent = Path(tempfile.gettempdir())
    remove_abandoned(parent, _START)
    folder = unused_path(parent, _START)
    try:
        folder.mkdir(mode=0o700)
        with locked(folder):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def without_umask(mode: int) -> int:
    """The mode less what the user's umask takes away: what a file made under another name has in its final place."""
    mask = os.umask(0)  # there is no way to read it without setting it
    os.umask(mask)
    return mode & ~mask
