"""Ledger folder: one JSON file for each evaluation, created whole or not at all; what killed writers left is removed.

A file is never written again once it has its name, so that readers need no lock: what is listed is whole. It is written
under a hidden name, put on the disk, and then linked to its own name, which fails where that name is taken.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.exceptions import InputError
from steelyard.ingest.replaced_files import replacement_file

if TYPE_CHECKING:
    from pathlib import Path

ENTRY_ENDING, ROWS_ENDING, INDEX = ".json", ".rows.parquet", "index.parquet"
TEMPORARY = ".tmp"
_ABANDONED = 24 * 3600  # seconds: no writer needs that long; one that was stopped for longer is refused, and logs again
_IGNORED = f"# What can be made again from the evaluations beside it.\n{INDEX}\n.*{TEMPORARY}\n"


@dataclass(frozen=True)
class FileState:
    """How a file stands: another size or time is another content."""

    size: int
    mtime: int  # in nanoseconds


def check_ledger(path: Path) -> None:
    """Refuse what is no ledger to read."""
    if not path.is_dir():
        raise InputError(
            f"There is no ledger at {str(path)!r}; log an evaluation first, or name its folder with --ledger or in "
            "STEELYARD_LEDGER."
        )


def make_folder(path: Path) -> None:
    """The folder, which git shall not keep the index of."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"The ledger {str(path)!r} cannot be made: {error.strerror or error}.") from None
    ignored = path / ".gitignore"
    if not ignored.exists():
        with suppress(InputError):  # another writer was first
            create_file(ignored, _IGNORED.encode())


def create_file(path: Path, content: bytes) -> None:
    """A new file, whole and on the disk when this returns; refused where one of that name exists."""
    with replacement_file(path, TEMPORARY, force=False) as temporary:
        _write(temporary, content)
    _sync_folder(path.parent)


def replace_file(path: Path, content: bytes) -> None:
    """A file in the place of the one before: a reader sees the old or the new one."""
    with replacement_file(path, TEMPORARY) as temporary:
        _write(temporary, content)


def _write(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Put the name of a new file on the disk as well, where a system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def entry_files(folder: Path) -> dict[str, FileState]:
    """The files of all entries by name, in the order of their ids; what writers left behind is removed."""
    check_ledger(folder)
    listed: dict[str, FileState] = {}
    others: dict[str, FileState] = {}
    with os.scandir(folder) as files:
        for file in files:
            with suppress(FileNotFoundError):  # gone since it was listed
                stat = file.stat()
                state = FileState(stat.st_size, stat.st_mtime_ns)
                whole = _is_entry(file.name) and state.size  # an empty one holds a place on a disk without links
                (listed if whole else others)[file.name] = state
    _remove_abandoned(folder, listed, others)
    return dict(sorted(listed.items()))


def entry_ids(folder: Path) -> list[str]:
    """The ids of all entries, without looking into the files."""
    check_ledger(folder)
    return sorted(name.removesuffix(ENTRY_ENDING) for name in os.listdir(folder) if _is_entry(name))  # noqa: PTH208 - names alone


def _is_entry(name: str) -> bool:
    return name.endswith(ENTRY_ENDING) and not name.startswith(".")


def _remove_abandoned(folder: Path, entries: dict[str, FileState], others: dict[str, FileState]) -> None:
    """Remove what writers that were killed left: temporary files, empty ones, and rows whose entry never came."""
    oldest = time.time_ns() - _ABANDONED * 10**9
    for name, state in others.items():
        temporary = name.startswith(".") and name.endswith(TEMPORARY)
        orphan = name.endswith(ROWS_ENDING) and name.removesuffix(ROWS_ENDING) + ENTRY_ENDING not in entries
        if state.mtime < oldest and (temporary or orphan or _is_entry(name)):
            with suppress(OSError):  # another reader was first, or may not
                (folder / name).unlink()
