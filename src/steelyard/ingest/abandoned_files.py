"""Abandoned files: what a killed program left behind, which the next one removes.

A program locks its temporary files while it runs, and the operating system gives the locks back however it ends.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_YOUNG = 60.0  # seconds in which a program may have made a file and not yet locked it


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock a file or folder, so that no other program takes it for abandoned; where there are no locks, none does."""
    opened = _open_locked(path)
    try:
        yield
    finally:
        if opened is not None:
            os.close(opened)


def remove_abandoned(folder: Path, start: str, ending: str = "") -> None:
    """Remove one's own temporary files and folders of this start and ending whose program is gone."""
    name = re.compile(f"{re.escape(start)}[0-9a-f]{{16}}{re.escape(ending)}")
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if name.fullmatch(entry.name) and _is_old_and_own(entry):
                _remove_unlocked(Path(entry.path))


def _is_old_and_own(entry: os.DirEntry[str]) -> bool:
    facts = entry.stat(follow_symlinks=False)
    mine = hasattr(os, "getuid") and facts.st_uid == os.getuid()
    return mine and not entry.is_symlink() and time.time() - facts.st_mtime > _YOUNG


def _remove_unlocked(path: Path) -> None:
    opened = _open_locked(path)
    if opened is None:
        return
    with suppress(OSError):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    os.close(opened)


def _open_locked(path: Path) -> int | None:
    """The file, opened and locked; nothing where another program has locked it, or the system has no such locks."""
    try:
        import fcntl

        opened = os.open(path, os.O_RDONLY)
    except (ImportError, OSError):
        return None
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(opened)
        return None
    return opened
