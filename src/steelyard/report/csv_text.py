"""CSV: results as rows with all their digits, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import json
import math
import re
from io import StringIO
from typing import TYPE_CHECKING, Any

from steelyard.analysis.results.blocks import Table
from steelyard.analysis.results.formatting import FORMULA_SIGNS, printable
from steelyard.analysis.results.result_json import strict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from steelyard.analysis.results.blocks import Block
    from steelyard.evaluation.evaluation import Evaluation

_BREAK = re.compile(r"(\r?\n)")  # quoted, so that a key that holds one is found again


def evaluation_csv(evaluation: Evaluation) -> str:
    """The metrics as CSV; those of each group below, named in the first column."""
    if not evaluation.groups:
        return csv_rows(evaluation.metrics.to_dicts())
    parts = [("", evaluation.metrics), *((group.label, group.metrics) for group in evaluation.groups)]
    return csv_rows([{"group": label, **row} for label, metrics in parts for row in metrics.to_dicts()])


def blocks_csv(blocks: Iterable[Block], kind: str) -> str:
    """The rows of all tables that have them with all their digits; of several the first column names the table."""
    tables = [block for block in blocks if isinstance(block, Table)]
    exported = [table for table in tables if table.data is not None] or tables
    shown = [(table.title or kind, rows) for table in exported if (rows := table.exact())]
    if len(shown) <= 1:
        return csv_rows([row for _, rows in shown for row in rows])
    return csv_rows([{"table": name, **row} for name, rows in shown for row in rows])


def csv_rows(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as CSV; text that a spreadsheet would run as a formula is quoted by an apostrophe, in the head as well.

    Line breaks stay in their cell, other control codes do not. What only some rows have is a column as well, empty in
    the others.
    """
    names = list(dict.fromkeys(name for row in rows for name in row))
    file = StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(map(_guarded, names))
    writer.writerows([_guarded(row.get(name)) for name in names] for row in rows)
    return file.getvalue()


def _guarded(value: object) -> object:
    if isinstance(value, str):
        text = "".join(part if _BREAK.fullmatch(part) else printable(part) for part in _BREAK.split(value))
        return f"'{text}" if value.startswith(FORMULA_SIGNS) else text
    if isinstance(value, (dict, list, tuple)):
        return json.dumps(strict(value), ensure_ascii=False, default=str)
    return "" if value is None or (isinstance(value, float) and not math.isfinite(value)) else value
