"""Saved tables: those that files hold, and the one that four counts make."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.tables.tally import Tally

_START = 4096  # bytes that tell a saved table from rows


def add_saved(files: Sequence[str]) -> tuple[Tally, list[str]] | None:
    """The saved tables that the files hold, added up, and what was noticed; None where they hold rows."""
    tables = {i: table for i, name in enumerate(files) if (table := read_saved(name)) is not None}
    if not tables:
        return None
    if len(tables) < len(files):
        raise InputError("Some of the files are saved tables and some are rows; give those of one kind.")
    return sum_tables(files, [*tables.values()])


def sum_tables(files: Sequence[str], tables: Sequence[Tally]) -> tuple[Tally, list[str]]:
    """Saved tables added up, none twice; and those of other files that are equal, as copies would be, in words."""
    from steelyard.tables.tally import twice_sentence

    paths: set[Path] = set()
    texts: dict[str, str] = {}
    noticed = []
    for name, table in zip(files, tables, strict=True):
        if (path := Path(name).resolve()) in paths:
            raise InputError(twice_sentence(name, name))
        first = texts.setdefault(table.to_json(), name)
        if first != name:
            noticed.append(f"{first!r} and {name!r} hold the same counts; is one a copy of the other?")
        paths.add(path)
    return sum(tables[1:], tables[0]), noticed


def read_saved(name: str) -> Tally | None:
    """A saved table of any kind as a tally; None where the file is something else."""
    from steelyard.tables.tally import TALLY_TABLES

    if not looks_saved(name):
        return None
    data = _json(name)
    kind = data.get("kind") if isinstance(data, dict) else None
    if kind not in ("tally", "counts", *TALLY_TABLES):
        _refuse_result(name, data)
        return None
    try:
        return _tally_of(str(kind), data)
    except InputError as error:
        raise InputError(f"{name!r}: {error}") from None


def read_saved_evaluation(files: Sequence[str]) -> Evaluation | None:
    """The evaluation that the one file holds; None where it holds something else, or there are more."""
    if len(files) != 1 or files[0] == "-":
        return None
    return read_evaluation_file(files[0])


def read_evaluation_file(name: str) -> Evaluation | None:
    """The evaluation that a file or, where it is -, the standard input holds; None where that begins otherwise."""
    if not looks_saved(name):
        return None
    data = _json(name)
    if data is None:
        raise InputError(f"{name!r} begins as saved JSON does and is no JSON: it was changed or truncated.")
    if not _holds_evaluation(data):
        if name == "-":  # which is gone now
            raise InputError("The standard input holds saved JSON that is no evaluation; give it as a file.")
        return None
    from steelyard.evaluation.evaluation import Evaluation

    try:
        return Evaluation.from_json(data)
    except InputError as error:
        raise InputError(f"{name!r}: {error}") from None


def _json(name: str) -> Any:
    """What the file holds; None where it is no JSON."""
    from steelyard.tables.saved import read_json

    try:
        return read_json(sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes())
    except InputError as error:
        raise InputError(f"{name!r}: {error}") from None
    except (ValueError, RecursionError):
        return None


def _holds_evaluation(data: dict[str, Any]) -> bool:
    """Whether it was saved as an evaluation."""
    return data.get("kind") in ("evaluation", "multilabel_evaluation") and "metrics" in data and "verdict" in data


def _refuse_result(name: str, data: dict[str, Any]) -> None:
    """Refuse a saved result where predictions or tables are to be counted."""
    if isinstance(data, dict) and ("kind" in data or _holds_evaluation(data)):
        kind = str(data.get("kind", "evaluation")).replace("_", " ")
        shown = ", which `steelyard report` shows" if _holds_evaluation(data) else ""
        raise InputError(f"{name!r} holds a saved {kind}{shown}; give predictions, or tables that `tally` saved.")


def looks_saved(name: str) -> bool:
    """Whether a file starts as saved tables do; a long file of rows must not be read whole to find out."""
    if name == "-":
        start = sys.stdin.buffer.peek(_START) if hasattr(sys.stdin.buffer, "peek") else b""
    elif not Path(name).is_file():  # what a pipe holds can be read but once
        return False
    else:
        with Path(name).open("rb") as file:
            start = file.read(_START)
    return start.lstrip().startswith(b"{") and b'"schema"' in start and (b'"kind"' in start or b'"version"' in start)


def _tally_of(kind: str, data: dict[str, Any]) -> Tally:
    from steelyard.tables.counts import Counts
    from steelyard.tables.tally import TALLY_TABLES, Tally

    if kind == "tally":
        return Tally.from_json(data)
    if kind == "counts":
        cells = Counts.from_json(data).to_dict()
        return tally_of_counts(",".join(str(cells[cell]) for cell in ("tp", "fn", "fp", "tn")))
    table: Any = TALLY_TABLES[kind].from_json(data)
    return Tally(**{kind: table}, labels=tuple(getattr(table, "labels", ())))


def tally_of_counts(text: str) -> Tally:
    """The table of four counts TP,FN,FP,TN, weights where they are not whole."""
    from steelyard.tables.confusion import Confusion
    from steelyard.tables.counts import Counts
    from steelyard.tables.tally import Tally

    try:
        tp, fn, fp, tn = (_number(cell) for cell in text.split(","))
    except ValueError:
        raise InputError(f"--counts takes four numbers TP,FN,FP,TN, such as 28,23,72,2680, not {text!r}.") from None
    matrix = Counts(tp, fn, fp, tn).matrix()
    if not matrix.any():
        raise InputError(f"--counts {text} are no rows; give four numbers TP,FN,FP,TN, such as 28,23,72,2680.")
    if ((matrix > 0) & (matrix < 1)).any():
        raise InputError(f"--counts takes numbers of rows, and {text} are shares; multiply them by the rows.")
    if matrix.dtype.kind != "i":
        return Tally(Confusion((0, 1), matrix.round().astype(int), matrix, matrix, 1), labels=(0, 1))
    return Tally(Confusion.of_rows((0, 1), matrix, 1), labels=(0, 1))


def _number(cell: str) -> float:
    """A number, whole where it is one: whole counts beyond 2**53 stay exact."""
    if cell.strip().lstrip("+-").isdigit():
        return int(cell)
    value = float(cell)
    return int(value) if value.is_integer() else value
