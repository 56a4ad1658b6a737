"""Files of predictions, on disk or on stdin, read lazily by Polars in bounded memory."""

from __future__ import annotations

import codecs
import os
import shutil
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from glob import escape, glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.exceptions import InputError
from steelyard.ingest import bad_rows, repeated_files, temporary_files
from steelyard.ingest.compressed_files import BLOCK, unpack
from steelyard.ingest.csv_values import MISSING_CELLS
from steelyard.ingest.file_errors import STDIN, file_title, is_there, reworded_errors
from steelyard.ingest.forked import refuse_polars_after_fork
from steelyard.ingest.partitions import open_folders, partition_columns, with_columns
from steelyard.ingest.source import Source, recorded_index
from steelyard.statistics.natural_order import naturally_sorted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import narwhals as nw
    import polars as pl

PART_ROWS = 25_000_000  # rows of a Parquet file counted at once; parts are what a progress bar can show
MAGIC = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "stream",
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    **dict.fromkeys((b"x\x01", b"x\x9c", b"x\xda"), "zlib"),
}
PACKED = ("gzip", "zstd", "zlib")
JSON_ENDINGS = (".jsonl", ".ndjson", ".json")
_KINDS = "CSV, TSV, Parquet, Arrow or JSON lines"
SEPARATORS = ",\t;|"


@dataclass(frozen=True)
class UnpackedFile:
    """One file to read: what the user called it, where it lies unpacked, and what it holds."""

    name: str
    path: Path
    kind: str


@contextmanager
def scan_files(names: Sequence[str], progress: Callable[[int, int], object] | None = None) -> Iterator[Source]:
    """The rows of the files as a source to be counted; what had to be unpacked is removed afterwards."""
    refuse_polars_after_fork()
    with temporary_files.temporary_folder() as folder, reworded_errors(names):
        given = _named_paths(names)
        files = [_unpacked(name, folder, i) for i, name in enumerate(open_folders(given))]
        kinds = {file.kind for file in files}
        if len(kinds) > 1:
            raise InputError(f"The files are of different kinds ({', '.join(sorted(kinds))}); give those of one kind.")
        repeated_files.refuse_repeated(files)
        columns = partition_columns([file.name for file in files], textual=kinds == {"csv"})
        parts = [
            part
            for file, named in zip(files, columns, strict=True)
            for part in with_columns(_parts(file), named, file.name, check=file.name not in given)
        ]
        done = iter(range(1, sys.maxsize))
        step = (lambda: progress(next(done), len(parts))) if progress else (lambda: None)
        yield Source(
            tuple(_narwhals(part) for part in parts),
            textual=kinds == {"csv"},
            step=step,
            digests=lambda: repeated_files.digests(files),
            index=frozenset(name for file in files for name in _index(file)),
        )


class LoadedColumns(dict[str, "pl.Series"]):
    """Columns by name; `index` are those that pandas recorded as the index of its frame."""

    index: frozenset[str] = frozenset()


def load_columns(names: Sequence[str]) -> LoadedColumns:
    """All columns of the files as series in memory; cells of a text file that are empty, NA, null or ? are missing."""
    import polars as pl

    with scan_files(names) as scanned:
        source = Source.of(scanned)
        table = pl.concat([part.to_native().collect() for part in source.parts])
        columns = LoadedColumns(
            {name: _read_cells(table[name]) if source.textual else table[name] for name in table.columns}
        )
        columns.index = source.index
        return columns


def _index(file: UnpackedFile) -> frozenset[str]:
    """The columns of a Parquet file that pandas wrote as the index of its frame."""
    import polars as pl

    return recorded_index(pl.read_parquet_metadata(file.path)) if file.kind == "parquet" else frozenset()


def _read_cells(column: pl.Series) -> pl.Series:
    """The column without what is missing, however that is spelled; as numbers where all others are."""
    import polars as pl

    cells = column.str.strip_chars()
    missing = cells.str.to_lowercase().is_in(list(MISSING_CELLS)).fill_null(value=True)
    for kind in (pl.Int64, pl.Float64):
        numbers = cells.cast(kind, strict=False)
        if not missing.all() and (numbers.is_not_null() | missing).all():
            return numbers.set(missing, None)
    return column.set(missing, None)


def _narwhals(part: pl.LazyFrame) -> nw.LazyFrame[pl.LazyFrame]:
    import narwhals as nw

    return nw.from_native(part)


def expand_names(names: Sequence[str]) -> list[str]:
    """The files that the names, patterns and folders stand for."""
    return open_folders(_named_paths(names))


def _named_paths(names: Sequence[str]) -> list[str]:
    """The files and folders that the names and patterns stand for, all of which are there."""
    files: list[str] = []
    for name in names:
        if not name:
            raise InputError("A file is named by an empty text; name a file, a folder such as '.', or - for stdin.")
        pattern = has_magic(name) and not Path(name).exists()
        matches = naturally_sorted(glob(name, recursive=True)) if pattern else [name]  # noqa: PTH207 - Path.glob wants a folder
        if not matches:
            raise InputError(f"No file fits {name!r}; check the pattern and the folder.")
        files += matches
    for name in files:
        path = Path(name)
        if name != STDIN and not is_there(path):
            raise InputError(f"There is no file {name!r}; {_away(name) or 'check the name and the folder'}.")
    return files


def _away(name: str) -> str:
    """What to do with an address, which is not opened by name."""
    return "read the address by an engine, such as polars.scan_parquet, and give its frame" if "://" in name else ""


# ---------------------------------------------------------------- unpacking


def _unpacked(name: str, folder: Path, number: int) -> UnpackedFile:
    """The file as Polars can read it: stdin saved, gzip and zstd unpacked."""
    path = Path(name)
    if name == STDIN or path.is_fifo():
        path = _copied(name, folder / f"piped-{number}")
    if not path.stat().st_size:
        raise InputError(f"{file_title(name)} is empty; give a file with a header and rows.")
    packed, plain = _magic(path), Path(name)
    if os.fsencode(name).decode(errors="replace") != name:  # no UTF-8, which Polars takes alone
        path = folder / f"named-{number}"
        path.symlink_to(Path(name).resolve())
    if packed in ("gzip", "zstd"):
        path, plain = unpack(path, packed, folder / f"unpacked-{number}", file_title(name)), plain.with_suffix("")
    kind = _magic(path)
    if kind in PACKED:  # which Polars would unpack by itself, to whatever size
        raise InputError(f"{file_title(name)} is packed twice, or by zlib; unpack it first.")
    return UnpackedFile(name, path, kind or _text_kind(name, path, plain.suffix.lower()))


def _copied(name: str, path: Path) -> Path:
    """What comes through a pipe, which can be read but once, as a file."""
    with path.open("wb") as saved:
        if name == STDIN:
            shutil.copyfileobj(sys.stdin.buffer, saved, BLOCK)
        else:
            with Path(name).open("rb") as pipe:
                shutil.copyfileobj(pipe, saved, BLOCK)
    return path


def _magic(path: Path) -> str | None:
    with path.open("rb") as file:
        start = file.read(8)
    return next((kind for magic, kind in MAGIC.items() if start.startswith(magic)), None)


def _text_kind(name: str, path: Path, ending: str) -> str:
    """CSV or JSON lines, by the ending, or by the first letter where the ending does not show it."""
    with path.open("rb") as file:
        start = file.read(4096)
    try:
        text = start.decode("utf-8", errors="strict" if len(start) < 4096 else "ignore")
    except UnicodeDecodeError:
        text = "\0"
    if _other_encoding(start):
        raise InputError(f"{file_title(name)} is text, but not in UTF-8; save it as UTF-8 first.")
    if "\0" in text or (len(start) == 4096 and len(text.encode()) < 4090):
        raise InputError(f"{file_title(name)} is not a file of predictions; give {_KINDS}.")
    if not text.strip():
        raise InputError(f"{file_title(name)} holds nothing but blanks; give a file with a header and rows.")
    if ending in JSON_ENDINGS and text.lstrip().startswith("["):
        raise InputError(f"{file_title(name)} holds a list; give JSON lines, one object on each line.")
    return "json" if text.lstrip().startswith("{") or ending in JSON_ENDINGS else "csv"


def _other_encoding(start: bytes) -> bool:
    """Whether bytes that are no UTF-8 read as the text of Windows or of Latin-1."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        text = start.decode("cp1252", errors="replace")
        return all((sign.isprintable() and sign != "\ufffd") or sign in "\r\n\t" for sign in text)
    return False


# ---------------------------------------------------------------- reading


def _parts(file: UnpackedFile) -> list[pl.LazyFrame]:
    """The file as lazy frames; a long Parquet file in parts."""
    import polars as pl

    match file.kind:
        case "parquet":
            whole = pl.scan_parquet(file.path, glob=False)
            rows = whole.select(pl.len()).collect().item()
            return [whole.slice(start, PART_ROWS) for start in range(0, max(rows, 1), PART_ROWS)]
        case "arrow":
            return [pl.scan_ipc(_unmagic(file.path))]
        case "stream":
            return [pl.read_ipc_stream(file.path).lazy()]  # whole: a stream has no index, and Polars no scan of it
        case "json":
            # A key may first appear, or turn from whole numbers to others, on the last line.
            return [pl.scan_ndjson(_unmagic(file.path), infer_schema_length=None)]
        case _:
            return [_csv(file)]


def _unmagic(path: Path) -> Path:
    """The path as a pattern that fits nothing but itself, for a reader that takes patterns alone."""
    return Path(escape(str(path)))


def _csv(file: UnpackedFile) -> pl.LazyFrame:
    """Every value as text: numbers are read where numbers are needed, and labels stay what they are."""
    import polars as pl

    separator, header = bad_rows.csv_header(file.path, SEPARATORS, file_title(file.name))
    rows = pl.scan_csv(file.path, separator=separator, infer_schema=False, glob=False)
    if len(names := rows.collect_schema().names()) == len(header):
        rows = rows.rename({name: cell for name, cell in zip(names, header, strict=True) if name != cell})
    # Polars fills a short row with nulls, so nulls in the last column are what one would leave; and it sees a long row
    # only where all columns are read.
    try:
        suspect = rows.select(pl.all().null_count()).collect(engine="streaming").row(0)[-1] > 0
    except pl.exceptions.ComputeError:
        bad_rows.has_blank_lines(file.path, separator, file_title(file.name))
        raise
    if suspect and bad_rows.has_blank_lines(file.path, separator, file_title(file.name)):
        return rows.filter(pl.any_horizontal(pl.all().is_not_null()))
    return rows
