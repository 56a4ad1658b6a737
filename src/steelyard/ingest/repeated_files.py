"""Repeated files: the digest of a file's bytes, by which one that is given twice is noticed."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.exceptions import InputError
from steelyard.ingest.partitions import partition_values
from steelyard.statistics.tally import twice_sentence

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard.ingest.files import UnpackedFile

_LETTERS = 32  # of a digest: 128 bits, which no two files share by chance


def file_digest(path: Path, name: str = "") -> str:
    """The digest of a file's bytes, and of the columns that stand in the names of its folders."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
    if columns := partition_values(name):
        digest.update(repr(columns).encode())
    return digest.hexdigest()[:_LETTERS]


def content_digest(content: bytes) -> str:
    """The digest that a file of these bytes has."""
    return hashlib.sha256(content).hexdigest()[:_LETTERS]


def digests(files: Iterable[UnpackedFile]) -> dict[str, str]:
    """The names of the files that hold rows, by their digests."""
    return {file_digest(file.path, file.name): Path(file.name).name for file in files if _holds_rows(file)}


def refuse_repeated(files: Iterable[UnpackedFile]) -> None:
    """Refuse files of the same bytes and columns, by the name that the user gave; only those of one size are read."""
    by_size: dict[int, list[UnpackedFile]] = defaultdict(list)
    for file in files:
        by_size[file.path.stat().st_size].append(file)
    for alike in (alike for alike in by_size.values() if len(alike) > 1):
        names: dict[str, str] = {}
        for file in alike:
            if (same := file_digest(file.path, file.name)) in names and _holds_rows(file):
                raise InputError(twice_sentence(names[same], file.name))
            names[same] = file.name


def _holds_rows(file: UnpackedFile) -> bool:
    """Whether a file holds more than a header: that of a day without events counts nothing, however often."""
    import polars as pl

    with file.path.open("rb") as opened:
        if file.kind in ("csv", "json"):
            lines = (line for line in opened if line.strip())
            return len(list(islice(lines, 2))) == 2 or file.kind == "json"
        reads = {"parquet": pl.read_parquet, "arrow": pl.read_ipc, "stream": pl.read_ipc_stream}
        return bool(len(reads[file.kind](opened, n_rows=1)))
