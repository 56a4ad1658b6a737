"""Partitions: a folder as the files in it, and the columns in the names of folders, such as site=north of Hive."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from steelyard.exceptions import InputError
from steelyard.statistics.natural_order import naturally_sorted

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"  # what Hive and Spark call the folder of the rows without a value
_ISO = "%Y-%m-%dT%H:%M:%S%.f"


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
