"""Given files: those that names, patterns and folders stand for, the columns in the names of folders, and repeats."""

from __future__ import annotations

import errno
import hashlib
from collections import defaultdict
from datetime import datetime
from glob import glob, has_magic
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from steelyard.arrays.labels import naturally_sorted
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl

    from steelyard.files.reading import UnpackedFile


STDIN = "-"
HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"  # what Hive and Spark call the folder of the rows without a value
_ISO = "%Y-%m-%dT%H:%M:%S%.f"
_LETTERS = 32  # of a digest: 128 bits, which no two files share by chance


def file_title(name: str) -> str:
    """What a sentence calls a file."""
    return "The standard input" if name == STDIN else repr(name)


def is_there(path: Path) -> bool:
    """Whether a file or folder is there; unlike `Path.exists` of late, raises what the operating system refuses."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        return False
    return True


def expand_names(names: Sequence[str]) -> list[str]:
    """The files that the names, patterns and folders stand for."""
    return open_folders(named_paths(names))


def named_paths(names: Sequence[str]) -> list[str]:
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


# ---------------------------------------------------------------- folders and the columns in their names


def open_folders(paths: Sequence[str]) -> list[str]:
    """The files among the paths, and in place of each folder the files in it."""
    return [file for path in paths for file in (_folder_files(path) if Path(path).is_dir() else [path])]


def _folder_files(name: str) -> list[str]:
    """The files of a folder and of those in it, without names that begin with . or _, such as _SUCCESS of Spark."""
    folder = Path(name)
    found = (path for path in folder.rglob("*") if path.is_file() and not _hidden(path.relative_to(folder)))
    files: list[str] = naturally_sorted(str(path) for path in found)
    if not files:
        raise InputError(f"The folder {name!r} holds no files; give one with files of predictions.")
    return files


def _hidden(path: Path) -> bool:
    return any(part.startswith((".", "_")) and "=" not in part for part in path.parts)


def partition_columns(names: Sequence[str], *, textual: bool) -> list[dict[str, pl.Expr]]:
    """The columns of each file by the names of the folders it is in: whole numbers where all of them are, else text."""
    import polars as pl

    values = [partition_values(name) for name in names]
    texts = {key for named in values for key, value in named.items() if textual or not _is_whole(value)}
    kinds = {key: pl.String if key in texts else pl.Int64 for named in values for key in named}
    return [{key: pl.lit(value).cast(kinds[key]).alias(key) for key, value in named.items()} for named in values]


def with_columns(
    parts: list[pl.LazyFrame], columns: dict[str, pl.Expr], name: str, *, check: bool
) -> list[pl.LazyFrame]:
    """The parts of a file, with the columns that the names of its folders hold and the file does not.

    With `check` a column of the file's own that contradicts its folder is refused.
    """
    if not columns:
        return parts
    own = parts[0].collect_schema()
    for key in (key for key in columns if check and key in own):
        _refuse_other_values(parts, key, own[key], name)
    return [part.with_columns(value for key, value in columns.items() if key not in own) for part in parts]


def _refuse_other_values(parts: list[pl.LazyFrame], key: str, kind: pl.DataType, name: str) -> None:
    """Refuse a file whose own column contradicts its folder, of which one would be lost."""
    import polars as pl

    value = partition_values(name)[key]
    same = pl.col(key).is_null() if value is None else _holds(pl.col(key), kind, value).fill_null(value=False)
    for part in parts:
        other = part.select(key).filter(~same).head(1).select(pl.col(key).cast(pl.String)).collect(engine="streaming")
        if len(other):
            says = f"{key}={HIVE_NULL if value is None else value}"
            raise InputError(
                f"{name!r} lies in a folder whose name says {says}, and its own column {key!r} holds {other.item()!r}; "
                "rename one of the two, or make them agree."
            )


def _holds(own: pl.Expr, kind: pl.DataType, value: str) -> pl.Expr:
    """Whether a column holds what the name of a folder says, read as the column's own type."""
    import polars as pl

    if kind == pl.Boolean:
        return own == pl.lit({"true": True, "false": False}.get(value.lower()), dtype=pl.Boolean)
    if kind.is_numeric():
        text = value.removesuffix(".0") if kind.is_integer() else value
        return own == pl.lit(text).cast(kind, strict=False)
    if kind in (pl.Date, pl.Datetime):
        return _wall_time(own, kind) == pl.lit(_moment(value), dtype=pl.Datetime("us"))
    return _holds_text(own.cast(pl.String).str.strip_chars(), value)


def _holds_text(own: pl.Expr, value: str) -> pl.Expr:
    """Whether text holds a value; in a CSV it stands for any type, so 2024.0 is 2024, and True is true."""
    import polars as pl

    same = own == value
    if moment := _moment(value):
        same |= own.str.replace(" ", "T").str.to_datetime(_ISO, strict=False) == pl.lit(moment)
    if value.lower() in ("true", "false"):
        same |= own.str.to_lowercase() == value.lower()
    if _is_whole(value.removesuffix(".0")):
        same |= own.cast(pl.Float64, strict=False) == float(value)
    return same


def _wall_time(own: pl.Expr, kind: pl.DataType) -> pl.Expr:
    """A day as its midnight, and a time as the clock of its own zone shows it."""
    import polars as pl

    return own.cast(pl.Datetime("us")) if kind == pl.Date else own.dt.replace_time_zone(None).dt.cast_time_unit("us")


def _moment(value: str) -> datetime | None:
    """The time that a text names, a day by its midnight; None where it names none."""
    try:
        return datetime.fromisoformat(value).replace(tzinfo=None)
    except ValueError:
        return None


def partition_values(name: str) -> dict[str, str | None]:
    """What the folders of a path hold: of `a/site=north/year=2024/part.parquet` site and year."""
    pairs = (part.partition("=") for part in Path(name).parts[:-1] if "=" in part)
    return {unquote(key): None if value == HIVE_NULL else unquote(value) for key, _, value in pairs if key}


def _is_whole(value: str | None) -> bool:
    """Whether a number stands there as it is printed, so that 007 stays text."""
    return value is None or (value.lstrip("-").isdecimal() and value.isascii() and str(int(value)) == value)


# ---------------------------------------------------------------- files that are given twice


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
    from steelyard.tables.tally import twice_sentence

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
