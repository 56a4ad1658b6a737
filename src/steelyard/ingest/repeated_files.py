"""Repeated files: the digest of a file's bytes, by which one that is given twice is noticed."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from typing import TYPE_CHECKING

from steelyard.exceptions import InputError
from steelyard.ingest.partitions import partition_values
from steelyard.statistics.tally import twice_sentence

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_LETTERS = 32  # of a digest: 128 bits, which no two files share by chance


def file_digest(path: Path, name: str = "") -> str:
    """The digest of a file's bytes, and of the columns that stand in the names of its folders."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
    if columns := partition_values(name):
        digest.update(repr(columns).encode())
    return digest.hexdigest()[:_LETTERS]


def refuse_repeated(files: Iterable[tuple[str, Path]]) -> None:
    """Refuse files of the same bytes and columns, by the name that the user gave; only those of one size are read."""
    by_size: dict[int, list[tuple[str, Path]]] = defaultdict(list)
    for name, path in files:
        by_size[path.stat().st_size].append((name, path))
    for alike in (alike for alike in by_size.values() if len(alike) > 1):
        names: dict[str, str] = {}
        for name, path in alike:
            if (same := file_digest(path, name)) in names:
                raise InputError(twice_sentence(names[same], name))
            names[same] = name
