"""Watched batches: files one by one as they come, and the rows of the standard input by so many."""

from __future__ import annotations

import io
import os
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from glob import glob, has_magic
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.exceptions import InputError
from steelyard.files.folders import STDIN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steelyard.frames.source import Source


@dataclass(frozen=True)
class WatchedFiles:
    """Names and patterns of files, and how many seconds pass until they are looked for again, if ever."""

    names: tuple[str, ...]
    follow: float | None = None
    batch_rows: int = 1000

    def batches(self, seen: Sequence[str]) -> Iterator[tuple[str, Source]]:
        """Each batch that was not seen: a file by its name, in order; rows of the standard input by their number."""
        if STDIN in self.names:
            if len(self.names) > 1:
                raise InputError("The standard input and files are two inputs; give one of them.")
            yield from _stdin_batches(self.batch_rows, 1 + sum(name.startswith("rows to ") for name in seen))
            return
        done = {*map(os.path.realpath, seen)}
        while True:
            paths: dict[str, str] = {}
            for name in self.there():
                paths.setdefault(os.path.realpath(name), name)
            fresh = [name for path, name in paths.items() if path not in done]
            for name in fresh:
                with _opened(name) as source:
                    yield name, source
                done.add(os.path.realpath(name))
            if self.follow is None:
                return
            time.sleep(0 if fresh else self.follow)

    def there(self) -> list[str]:
        """The files that are there now: a pattern may have none yet, where new ones are waited for."""
        from steelyard.files.folders import expand_names

        if self.follow is None:
            return expand_names(self.names)
        patterns = [name for name in self.names if has_magic(name)]
        waiting = {name for name in patterns if not glob(name, recursive=True)}  # noqa: PTH207 - as expand_names does
        ready = [name for name in self.names if name not in waiting and (name in patterns or Path(name).exists())]
        return expand_names(ready) if ready else []


@contextmanager
def _opened(name: str) -> Iterator[Source]:
    from steelyard.files.reading import scan_files

    with scan_files([name]) as source:
        yield source


def _stdin_batches(size: int, first: int) -> Iterator[tuple[str, Source]]:
    """The rows of CSV or JSON lines on the standard input, so many at a time."""
    lines = iter(sys.stdin)
    head = next(lines, "")
    is_json = head.lstrip().startswith("{")
    header, start = ("", [head]) if is_json else (head, [])
    if not head.strip():
        return
    number = first
    while part := [*start, *islice(lines, size - len(start))]:
        start = []
        yield f"rows to {number * size:,}", _rows(header + "".join(part), is_json)
        number += 1


def _rows(text: str, is_json: bool) -> Source:
    import narwhals as nw
    import polars as pl

    from steelyard.frames.source import Source

    try:
        if is_json:
            frame: Any = pl.read_ndjson(io.BytesIO(text.encode()), infer_schema_length=None)
        else:
            frame = pl.read_csv(io.StringIO(text), infer_schema=False)
    except pl.exceptions.PolarsError as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        raise InputError(f"The standard input cannot be read as CSV or JSON lines: {reason}; check its rows.") from None
    return Source((nw.from_native(frame.lazy()),), textual=not is_json)
