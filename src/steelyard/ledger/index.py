"""Index: the metrics of all entries in one Parquet file, a cache that is never trusted beyond the files it lists.

It names every file it was made of with its size and time. Whoever reads it lists the folder: files that it lacks, or
that are others by now, are read, and the index is replaced by a whole new one. So a missing, torn, old or foreign index
costs time and nothing else, two readers that replace it at once leave one of two right ones, and logging never
writes it.
"""

from __future__ import annotations

import io
import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from steelyard.exceptions import InputError
from steelyard.ingest.forked import refuse_polars_after_fork
from steelyard.ledger.entry import read_report
from steelyard.ledger.ledger_folder import INDEX, entry_files, replace_file

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import polars as pl

    from steelyard.ledger.ledger_folder import FileState

_NUMBERS = ("value", "low", "high", "chance")


def _schema() -> dict[str, Any]:
    import polars as pl

    texts = dict.fromkeys(("file", "id", "time", "tags", "metric", "source", "why", "damage"), pl.String)
    numbers = dict.fromkeys((*_NUMBERS, "level"), pl.Float64)
    return texts | numbers | {"size": pl.Int64, "mtime": pl.Int64, "rows": pl.Int64, "shown": pl.Boolean}


def indexed_rows(folder: Path) -> pl.DataFrame:
    """The metrics of all entries, one row each; an entry that cannot be read is one row with its `damage`."""
    import polars as pl

    refuse_polars_after_fork()
    files = entry_files(folder)
    known, path = _read_index(folder), folder / INDEX
    states = [{"file": name, "size": state.size, "mtime": state.mtime} for name, state in files.items()]
    listed = pl.DataFrame(states, schema={"file": pl.String, "size": pl.Int64, "mtime": pl.Int64})
    current = known.join(listed, on=["file", "size", "mtime"], how="semi")
    covered = set(current["file"].unique())
    fresh = [name for name in files if name not in covered]
    if not fresh and current.height == known.height and path.exists():
        return known
    rows = [row for name in fresh for row in _file_rows(folder / name, files[name])]
    table = pl.concat([current, pl.DataFrame(rows, schema=_schema())]).sort("time", "id", maintain_order=True)
    with suppress(InputError):  # of a folder that may only be read
        replace_file(path, _parquet(table))
    return table


def _parquet(table: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    table.write_parquet(buffer)
    return buffer.getvalue()


def _read_index(folder: Path) -> pl.DataFrame:
    """The index that is there; an empty one where there is none that can be read."""
    import polars as pl

    with suppress(OSError, pl.exceptions.PolarsError):
        table = pl.read_parquet(io.BytesIO((folder / INDEX).read_bytes()))
        if dict(table.schema) == _schema():
            return table.select(list(_schema()))
    return pl.DataFrame(schema=_schema())


def _file_rows(path: Path, state: FileState) -> list[dict[str, Any]]:
    """The rows of one file: a metric each, or what is wrong with it."""
    file = {"file": path.name, "size": state.size, "mtime": state.mtime}
    try:
        entry, report = read_report(path)
    except InputError as error:
        return [{**file, "id": path.stem, "time": "", "damage": str(error)}]
    facts: dict[str, Any] = {
        "id": entry.id,
        "time": str(entry.time),
        "tags": json.dumps(dict(entry.tags)),
        "damage": None,
    }
    rows, source = report.get("rows"), report.get("source")
    facts |= {"rows": rows if isinstance(rows, int) else None, "level": _number(report.get("level"))}
    facts |= {"source": None if source is None else str(source)}
    metrics = [row for row in report.get("metrics", ()) if isinstance(row, dict) and "name" in row]
    return [{**file, **facts, **_metric(row, entry.shown)} for row in metrics] or [{**file, **facts}]


def _metric(row: dict[str, Any], shown: Sequence[str]) -> dict[str, Any]:
    numbers = {key: _number(row.get(key)) for key in _NUMBERS}
    why = row.get("undefined") or row.get("no_interval")
    return {
        "metric": str(row["name"]),
        **numbers,
        "why": None if why is None else str(why),
        "shown": row["name"] in shown,
    }


def _number(value: object) -> float | None:
    """A number of a file that anybody may have written."""
    return float(value) if isinstance(value, int | float) else None
