"""Files of predictions, on disk or on stdin, read lazily by Polars in bounded memory."""

from __future__ import annotations

import codecs
import csv
import errno
import os
import shutil
import sys
import tempfile
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.exceptions import InputError
from steelyard.files import folders
from steelyard.files.folders import STDIN, file_title
from steelyard.frames.source import Source, recorded_index, refuse_polars_after_fork
from steelyard.written_files import temporary_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from io import BufferedIOBase

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
_FIRST_LINE = 1 << 20  # bytes within which a header ends
# What a packed file may grow to: this many times its size, or a gibibyte, whichever is more. Tables of predictions
# are seldom packed 100 to 1; a file made to fill the disk is packed 1,000 to 1.
MOST_TIMES, ALWAYS_FINE = 200, 2**30
BLOCK = 2**20
_SMALL = 2**12  # bytes of zstd at a time: one block of a few bytes may hold 128 KiB


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
    with temporary_folder() as folder, reworded_errors(names):
        given = folders.named_paths(names)
        files = [_unpacked(name, folder, i) for i, name in enumerate(folders.open_folders(given))]
        kinds = {file.kind for file in files}
        if len(kinds) > 1:
            raise InputError(f"The files are of different kinds ({', '.join(sorted(kinds))}); give those of one kind.")
        folders.refuse_repeated(files)
        columns = folders.partition_columns([file.name for file in files], textual=kinds == {"csv"})
        parts = [
            part
            for file, named in zip(files, columns, strict=True)
            for part in folders.with_columns(_parts(file), named, file.name, check=file.name not in given)
        ]
        done = iter(range(1, sys.maxsize))
        step = (lambda: progress(next(done), len(parts))) if progress else (lambda: None)
        yield Source(
            tuple(_narwhals(part) for part in parts),
            textual=kinds == {"csv"},
            step=step,
            digests=lambda: folders.digests(files),
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

    from steelyard.frames.decoding import MISSING_CELLS

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

    separator, header = csv_header(file.path, SEPARATORS, file_title(file.name))
    rows = pl.scan_csv(file.path, separator=separator, infer_schema=False, glob=False)
    if len(names := rows.collect_schema().names()) == len(header):
        rows = rows.rename({name: cell for name, cell in zip(names, header, strict=True) if name != cell})
    # Polars fills a short row with nulls, so nulls in the last column are what one would leave; and it sees a long row
    # only where all columns are read.
    try:
        suspect = rows.select(pl.all().null_count()).collect(engine="streaming").row(0)[-1] > 0
    except pl.exceptions.ComputeError:
        has_blank_lines(file.path, separator, file_title(file.name))
        raise
    if suspect and has_blank_lines(file.path, separator, file_title(file.name)):
        return rows.filter(pl.any_horizontal(pl.all().is_not_null()))
    return rows


def csv_header(path: Path, separators: str, name: str) -> tuple[str, list[str]]:
    """The separator of a CSV file, which makes most cells of its header and divides no quotes, and those cells."""
    with path.open("rb") as file:
        start = file.read(_FIRST_LINE)
    if b"\r" in start and b"\n" not in start:
        raise InputError(f"{name} ends its lines by a carriage return alone; save it with line feeds.")
    headers = [_header(path, separator, strict) for strict in (True, False) for separator in separators]
    cells = max(headers[: len(separators)], key=len)
    if len(cells) < 2:  # quotes may be followed by blanks, which only a lenient reader takes
        cells = max(headers[len(separators) :], key=len)
    twice = next((cell for cell, times in Counter(cells).items() if cell and times > 1), None)
    if twice is not None:
        raise InputError(f"{name} has two columns called {twice!r}; give each column its own name.")
    return separators[headers.index(cells) % len(separators)], cells


def _header(path: Path, separator: str, strict: bool) -> list[str]:
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        lines = csv.reader(file, delimiter=separator, skipinitialspace=True, strict=strict)
        try:
            return [cell.strip() for cell in next(lines, [])]
        except csv.Error:
            return []


def has_blank_lines(path: Path, separator: str, name: str) -> bool:
    """Whether a CSV file holds blank lines; a row of more or fewer cells than the header is refused by its number."""
    row, blank = 0, False
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        lines: Iterator[Sequence[str]] = csv.reader(file, delimiter=separator)
        try:
            width = len(next(lines))
            for cells in lines:
                blank, row = blank or not cells, row + bool(cells)
                if cells and len(cells) != width:
                    raise InputError(
                        f"{name} has {len(cells):,} cells in row {row:,} and {width:,} in its header; give every row "
                        f"as many, and quote cells that hold {separator!r}."
                    )
        except csv.Error as error:
            raise InputError(f"{name} cannot be read at row {row + 1:,}: {error}.") from None
    return blank


# ---------------------------------------------------------------- unpacking block by block


def unpack(packed: Path, kind: str, path: Path, name: str) -> Path:
    """The file unpacked to the path; refused where it is truncated, damaged, or grows beyond what is fair."""
    limit = max(ALWAYS_FINE, MOST_TIMES * packed.stat().st_size)
    blocks = _gzip(packed) if kind == "gzip" else _zstd(packed, name)
    try:
        with path.open("wb") as plain:
            for block in blocks:
                plain.write(block)
                if plain.tell() > limit:
                    raise InputError(
                        f"{name} unpacks to more than {limit / 2**30:,.3g} GiB, over {MOST_TIMES} times its size; "
                        "unpack it yourself if that is right."
                    )
    except (OSError, EOFError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # of the system, not of what the file holds
            raise
        raise InputError(f"{name} is a {kind} file that cannot be unpacked: it is truncated or damaged.") from None
    return path


def _gzip(path: Path) -> Iterator[bytes]:
    import gzip
    import zlib

    with gzip.open(path, "rb") as file:
        yield from _blocks(file, zlib.error)


def _blocks(file: BufferedIOBase, fault: type[Exception]) -> Iterator[bytes]:
    """The unpacked file block by block; what is no longer this kind of file is an error without a number."""
    try:
        while block := file.read(BLOCK):
            yield block
    except fault as error:
        raise OSError from error


def _zstd(path: Path, name: str) -> Iterator[bytes]:
    if sys.version_info >= (3, 14):
        yield from _standard_zstd(path)
        return
    try:
        import zstandard
    except ImportError:
        raise InputError(f"{name} is packed with zstd; pip install zstandard to read it.") from None
    frame, whole = zstandard.ZstdDecompressor().decompressobj(), True
    with path.open("rb") as file:
        while data := file.read(_SMALL):
            while data:
                try:
                    yield frame.decompress(data)
                except zstandard.ZstdError as error:
                    raise OSError from error
                data, whole = frame.unused_data, frame.eof
                if whole:  # another frame may follow
                    frame = zstandard.ZstdDecompressor().decompressobj()
    if not whole:
        raise EOFError


if sys.version_info >= (3, 14):

    def _standard_zstd(path: Path) -> Iterator[bytes]:
        """By the standard library, which has zstd since 3.14."""
        from compression import zstd

        with zstd.open(path, "rb") as file:
            yield from _blocks(file, zstd.ZstdError)


# ---------------------------------------------------------------- errors of an engine or the system


@contextmanager
def reworded_errors(names: Sequence[str]) -> Iterator[None]:
    """The errors of Polars on a file it cannot read, in one sentence."""
    import polars as pl
    from narwhals.exceptions import NarwhalsError

    try:
        yield
    except (pl.exceptions.PolarsError, NarwhalsError, OSError) as error:
        shown = ", ".join(map(file_title, names[:3]))
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            room = f"There is no room in {tempfile.gettempdir()!r} for a copy of {shown}: {error.strerror}"
            raise InputError(f"{room}; set TMPDIR to a folder with more.") from None
        if isinstance(error, OSError) and error.strerror:
            raise InputError(f"{shown} cannot be read: {error.strerror}.") from None
        raise InputError(f"{shown} cannot be read: {_sentence(str(error))}") from None


def _sentence(text: str) -> str:
    first = " ".join(text.split("\n\n", maxsplit=1)[0].split())
    return f"{first[:200].rstrip('.')}."
