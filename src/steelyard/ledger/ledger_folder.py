"""Ledger folder: one JSON file for each evaluation, created whole or not at all, in a folder that a marker file names.

A file is never written again once it has its name, so that readers need no lock: what is listed is whole. It is written
under a hidden name, put on the disk, and then linked to its own name, which fails where that name is taken. Reading
writes and removes nothing; what killed writers left is removed by a later log.
"""

from __future__ import annotations

import os
import re
import secrets
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.exceptions import InputError
from steelyard.ingest.replaced_files import replacement_file
from steelyard.ledger.entry import read_report

if TYPE_CHECKING:
    from datetime import datetime

MARKER = ".steelyard-ledger"  # the folder that holds it is a ledger, whatever it says
ENTRY_ENDING, ROWS_ENDING = ".json", ".rows.parquet"
_TEMPORARY, _IGNORE = ".tmp", ".gitignore"
_MARK = "This folder is a ledger of Steelyard: each JSON file is an evaluation; `steelyard history` lists them.\n"
_IGNORED = f"# What a program that was killed left behind; it is removed a day later.\n.*{_TEMPORARY}\n"
_ABANDONED = 24 * 3600  # seconds: no writer needs that long; one that was stopped for longer is refused, and logs again

_ID = r"[0-9]{8}T[0-9]{6}-[0-9a-f]{12}"
_ENTRY, _ROWS = re.compile(rf"{_ID}\.json"), re.compile(rf"({_ID})\.rows\.parquet")
_UNFINISHED_MARK = re.compile(rf"\.{re.escape(MARKER)}\.[0-9a-f]{{16}}\.tmp")
_UNFINISHED = re.compile(  # of a long name the first 40 signs
    rf"\.({re.escape(MARKER)}|\.gitignore|{_ID}\.json|{_ID}\.rows\.parque)\.[0-9a-f]{{16}}\.tmp"
)
_EARLIER = (_IGNORE, "index.parquet")  # what else ledgers held that had no marker


def new_id(folder: Path, now: datetime) -> str:
    """An id that no entry has: the second, so that files lie in order, and 48 random bits."""
    while True:
        new = f"{now:%Y%m%dT%H%M%S}-{secrets.token_hex(6)}"
        if not entry_file(folder, new).exists():
            return new


def entry_file(folder: Path, id: str) -> Path:
    """The file of the entry of that id."""
    return folder / f"{id}{ENTRY_ENDING}"


def make_folder(folder: Path) -> None:
    """The folder, marked as a ledger; one that holds anything else is refused and left as it is."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"The ledger {str(folder)!r} cannot be made: {error.strerror or error}.") from None
    _check_own(folder)
    for name, text in ((MARKER, _MARK), (_IGNORE, _IGNORED)):
        path = folder / name
        if not os.path.lexists(path):
            try:
                create_file(path, text.encode())
            except InputError:
                if not path.is_file():  # else another writer was first
                    raise


def _check_own(folder: Path) -> None:
    """Refuse a folder that is no ledger and could not become one, since others have files there."""
    if _is_marked(folder):
        return
    names = [name for name in _names(folder) if not _UNFINISHED_MARK.fullmatch(name)]
    if not names or _is_marked(folder):  # by now: its first writer marks it before all else
        return
    if _holds_only_entries(folder, names):
        raise InputError(
            f"{str(folder)!r} holds entries of a ledger but no file {MARKER!r}, which names it as one; to use it, make "
            f"that file: touch {str(folder / MARKER)!r}."
        )
    raise InputError(
        f"{str(folder)!r} is no ledger: it holds other files and no {MARKER!r}, so nothing there is read or changed; "
        "name a new or empty folder, or one that `steelyard log` made."
    )


def _is_marked(folder: Path) -> bool:
    marker = folder / MARKER
    return marker.is_file() and not marker.is_symlink()


def _holds_only_entries(folder: Path, names: list[str]) -> bool:
    """Whether all files are whole entries, their rows, or what ledgers without a marker had beside them."""
    entries = [name for name in names if _ENTRY.fullmatch(name)]
    if not entries or any(not (name in _EARLIER or _ROWS.fullmatch(name)) for name in set(names) - set(entries)):
        return False
    try:
        return all((folder / name).is_file() and bool(read_report(folder / name)) for name in entries)
    except InputError:
        return False


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - names alone
    except OSError as error:
        raise InputError(f"The ledger {str(folder)!r} cannot be read: {error.strerror or error}.") from None


def entry_ids(folder: Path) -> list[str]:
    """The ids of all entries in their order; a folder that is no ledger is refused, an empty one has none."""
    if not folder.is_dir():
        raise InputError(
            f"There is no ledger at {str(folder)!r}; log an evaluation first, or name its folder with --ledger or in "
            "STEELYARD_LEDGER."
        )
    _check_own(folder)
    return sorted(name.removesuffix(ENTRY_ENDING) for name in _names(folder) if _ENTRY.fullmatch(name))


def create_file(path: Path, content: bytes) -> None:
    """A new file, whole and on the disk when this returns; refused where one of that name exists."""
    with replacement_file(path, _TEMPORARY, force=False) as temporary, temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Put the name of a new file on the disk as well, where a system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def remove_abandoned_files(folder: Path) -> None:
    """Remove what writers that were killed left in a ledger a day ago, and nothing that others may have put there.

    That is files under the names of the ledger's own temporary ones, empty entries, which hold a place on a disk
    without links, and rows whose entry never came.
    """
    if not _is_marked(folder):
        return
    oldest = time.time() - _ABANDONED
    with suppress(OSError), os.scandir(folder) as listed:
        files = {file.name: file for file in listed}
        for name, file in files.items():
            entry, rows = _ENTRY.fullmatch(name), _ROWS.fullmatch(name)
            orphan = rows is not None and f"{rows[1]}{ENTRY_ENDING}" not in files
            if not (entry or orphan or _UNFINISHED.fullmatch(name)) or not file.is_file(follow_symlinks=False):
                continue
            with suppress(OSError):  # another program was first, or this one may not
                facts = file.stat(follow_symlinks=False)
                if facts.st_mtime < oldest and not (entry and facts.st_size):
                    Path(file.path).unlink()
