"""Files and folders that take the place of others: written beside them, and there whole or not at all."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

from steelyard.errors import InputError
from steelyard.ingest.temporary_files import unused_path, without_umask

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def check_replaceable(path: Path, name: str, *, force: bool) -> None:
    """Refuse what exists unless it may be replaced; `name` is what the user calls it."""
    if path.exists() and not force:
        raise InputError(f"{name!r} exists and was kept; give another name, or --force to replace it.")


@contextmanager
def replacement_file(path: Path, ending: str = "") -> Iterator[Path]:
    """An empty file beside the path, which takes its place when it has been written; a failure leaves the old one."""
    temporary = _beside(path, ending)
    try:
        temporary.touch(mode=0o600, exist_ok=False)
        yield temporary
        temporary.chmod(without_umask(0o666))
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def replacement_folder(path: Path) -> Iterator[Path]:
    """An empty folder beside the path, which takes its place when it has been filled; a failure leaves the old one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = _beside(path)
    try:
        temporary.mkdir(mode=0o700)
        yield temporary
        temporary.chmod(without_umask(0o777))
        _put(temporary, path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _beside(path: Path, ending: str = "") -> Path:
    return unused_path(path.parent, f".{path.name[:40]}.", ending)


def _put(folder: Path, path: Path) -> None:
    """The new folder in the place of the old one, which goes only when the new one is there."""
    if not path.exists() or not any(path.iterdir()):
        folder.replace(path)
        return
    old = folder.with_name(f"{folder.name}.old")
    path.rename(old)
    folder.replace(path)
    shutil.rmtree(old)
