"""Ledger folder: one JSON file for each evaluation, created whole or not at all, in a folder that a marker file names.

A file is never written again once it has its name, so that readers need no lock: what is listed is whole. It is written
under a hidden name, put on the disk, and then linked to its own name, which fails where that name is taken. Reading
writes and removes nothing; unfinished files of killed writers are removed by a later log, and nothing else.
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
from steelyard.ledger.entry import ENTRY_START, read_report
from steelyard.ledger.kept_rows import ROWS_START

if TYPE_CHECKING:
    from datetime import datetime

MARKER = ".steelyard-ledger"  # the folder that holds it is a ledger, whatever it says
ENTRY_ENDING, ROWS_ENDING = ".json", ".rows.parquet"
_TEMPORARY, _IGNORE = ".tmp", ".gitignore"
_MARK = "This folder is a ledger of Steelyard: each JSON file is an evaluation; `steelyard history` lists them.\n"
_IGNORED = f"# What a program that was killed left behind; it is removed a day later.\n.*{_TEMPORARY}\n"
_ABANDONED = 24 * 3600  # seconds: no writer needs that long; one that was stopped for longer is refused, and logs again

_ID = r"[0-9]{8}T[0-9]{6}-[0-9a-f]{12}"
_ENTRY, _ROWS = re.compile(rf"{_ID}\.json"), re.compile(rf"{_ID}\.rows\.parquet")
_UNFINISHED_MARK = re.compile(rf"\.{re.escape(MARKER)}\.[0-9a-f]{{16}}\.tmp")
_UNFINISHED = {  # the names of unfinished files, of a long one the first 40 signs, and how their content begins
    re.compile(rf"\.{name}\.[0-9a-f]{{16}}\.tmp"): start
    for name, start in (
        (re.escape(MARKER), _MARK.encode()),
        (re.escape(_IGNORE), _IGNORED.encode()),
        (rf"{_ID}\.json", ENTRY_START),
        (rf"{_ID}\.rows\.parque", ROWS_START),
    )
}
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
    """Remove the unfinished files that killed writers left a day ago or more, known by their names and their beginning.

    All else stays: an entry or rows that are alone may have the other half in another place, such as a branch of git.
    """
    if not _is_marked(folder):
        return
    oldest = time.time() - _ABANDONED
    with suppress(OSError), os.scandir(folder) as listed:
        for file in listed:
            start = next((start for name, start in _UNFINISHED.items() if name.fullmatch(file.name)), None)
            if start is None or not file.is_file(follow_symlinks=False):
                continue
            with suppress(OSError):  # another program was first, or this one may not
                path = Path(file.path)
                if file.stat(follow_symlinks=False).st_mtime < oldest and _begins(path, start):
                    path.unlink()


def _begins(path: Path, start: bytes) -> bool:
    with path.open("rb") as file:
        return file.read(len(start)) == start
