"""Partitions: a folder as the files in it, and the columns in the names of folders, such as site=north of Hive."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from steelyard.exceptions import InputError
from steelyard.statistics.natural_order import naturally_sorted

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"  # what Hive and Spark call the folder of the rows without a value


def folder_files(name: str) -> list[str]:
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


def with_columns(parts: list[pl.LazyFrame], columns: dict[str, pl.Expr], name: str) -> list[pl.LazyFrame]:
    """The parts of a file, with the columns that the names of its folders hold and the file does not."""
    if not columns:
        return parts
    own = parts[0].collect_schema()
    for key in (key for key in columns if key in own):
        _refuse_other_values(parts, key, name)
    return [part.with_columns(value for key, value in columns.items() if key not in own) for part in parts]


def _refuse_other_values(parts: list[pl.LazyFrame], key: str, name: str) -> None:
    """Refuse a file whose own column says another thing than its folder, of which one would be lost."""
    import polars as pl

    value = partition_values(name)[key]
    own = pl.col(key).cast(pl.String).str.strip_chars()
    same = own.eq_missing(pl.lit(value, dtype=pl.String))
    if value is not None and _is_whole(value):  # 2024 as a float is 2024.0
        same |= (own.cast(pl.Float64, strict=False) == float(value)).fill_null(value=False)
    for part in parts:
        other = part.select(own.alias(key)).filter(~same).head(1).collect(engine="streaming")
        if len(other):
            says = f"{key}={HIVE_NULL if value is None else value}"
            raise InputError(
                f"{name!r} lies in a folder whose name says {says}, and its own column {key!r} holds {other.item()!r}; "
                "rename one of the two, or make them agree."
            )


def partition_values(name: str) -> dict[str, str | None]:
    """What the folders of a path hold: of `a/site=north/year=2024/part.parquet` site and year."""
    pairs = (part.partition("=") for part in Path(name).parts[:-1] if "=" in part)
    return {unquote(key): None if value == HIVE_NULL else unquote(value) for key, _, value in pairs if key}


def _is_whole(value: str | None) -> bool:
    """Whether a number stands there as it is printed, so that 007 stays text."""
    return value is None or (value.lstrip("-").isdecimal() and value.isascii() and str(int(value)) == value)
