"""Files and folders that take the place of others: written beside them, and there whole or not at all."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from steelyard.exceptions import InputError
from steelyard.ingest.abandoned_files import locked, remove_abandoned
from steelyard.ingest.temporary_files import unused_path, without_umask

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def check_replaceable(path: Path, name: str, *, force: bool) -> None:
    """Refuse what exists unless it may be replaced; `name` is what the user calls it."""
    if path.exists() and not force:
        raise _kept(name)


def _kept(name: str) -> InputError:
    return InputError(f"{name!r} exists and was kept; give another name, or force=True to replace it.")


@contextmanager
def replacement_file(path: Path, ending: str = "", *, force: bool = True) -> Iterator[Path]:
    """An empty file beside the path, which takes its place when it has been written; a failure leaves the old one.

    Without `force` what came there in the meantime is kept; else the new file has the owner and mode of the old one.
    """
    temporary = _beside(path, ending)
    try:
        temporary.touch(mode=0o600, exist_ok=False)
        with locked(temporary):
            yield temporary
        _copy_mode(path, temporary)
        if force:
            temporary.replace(path)
        else:
            _put_if_absent(temporary, path)
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be written: {error.strerror or error}.") from None
    finally:
        temporary.unlink(missing_ok=True)


def _copy_mode(path: Path, temporary: Path) -> None:
    """Give a new file the owner and mode of the one it replaces, or those of any new file."""
    if not path.exists():
        temporary.chmod(without_umask(0o666))
        return
    old = path.stat()
    if hasattr(os, "chown") and (old.st_uid, old.st_gid) != (temporary.stat().st_uid, temporary.stat().st_gid):
        with suppress(OSError):  # only the administrator may
            os.chown(temporary, old.st_uid, old.st_gid)
    temporary.chmod(old.st_mode & 0o777)


def _put_if_absent(temporary: Path, path: Path) -> None:
    """The file in its place, where nothing may be: one call that another program cannot come between."""
    try:
        try:
            os.link(temporary, path)
        except FileExistsError:
            raise
        except OSError:  # a disk without links: hold the place first
            path.touch(mode=0o600, exist_ok=False)
            temporary.replace(path)
    except FileExistsError:
        raise _kept(str(path)) from None


@contextmanager
def replacement_folder(path: Path) -> Iterator[Path]:
    """An empty folder beside the path, which takes its place when it has been filled; a failure leaves the old one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = _beside(path)
    try:
        temporary.mkdir(mode=0o700)
        with locked(temporary):
            yield temporary
        temporary.chmod(without_umask(0o777))
        _put(temporary, path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _beside(path: Path, ending: str = "") -> Path:
    """A path beside another that nothing has yet; what a killed program left there is removed."""
    start = f".{path.name[:40]}."
    remove_abandoned(path.parent, start, ending)
    return unused_path(path.parent, start, ending)


def _put(folder: Path, path: Path) -> None:
    """The new folder in the place of the old one, which goes only when the new one is there."""
    if not path.exists() or not any(path.iterdir()):
        folder.replace(path)
        return
    old = folder.with_name(f"{folder.name}.old")
    path.rename(old)
    folder.replace(path)
    shutil.rmtree(old)
