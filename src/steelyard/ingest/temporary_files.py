"""Temporary: what is written for a while, under a name known before it is there, so that no moment leaves it behind."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def unused(folder: Path, start: str, ending: str = "") -> Path:
    """A path that nothing has yet; make it where an interruption removes it, which mkdtemp and mkstemp do not allow."""
    return folder / f"{start}{secrets.token_hex(8)}{ending}"


@contextmanager
def folder() -> Iterator[Path]:
    """A folder of one's own that is gone afterwards."""
    made = unused(Path(tempfile.gettempdir()), "steelyard-")
    try:
        made.mkdir(mode=0o700)
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def permitted(mode: int) -> int:
    """The mode less what the user's umask takes away: what a file made under another name has in its final place."""
    mask = os.umask(0)  # there is no way to read it without setting it
    os.umask(mask)
    return mode & ~mask
