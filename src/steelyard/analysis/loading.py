"""Loading: what was saved to a file, as what it is: a result, a table, a monitor or a label plan."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from steelyard.analysis.results.result import Result
from steelyard.analysis.results.result_json import parsed
from steelyard.exceptions import InputError, InputTypeError, did_you_mean
from steelyard.tables.confusion import Confusion
from steelyard.tables.counts import Counts
from steelyard.tables.paired_table import Paired
from steelyard.tables.score_table import ScoreTable
from steelyard.tables.tally import Tally

if TYPE_CHECKING:
    from steelyard.analysis.monitoring.monitor import Monitor

    Loaded: TypeAlias = "Result[Any] | Counts | Confusion | ScoreTable | Paired | Tally | Monitor"

_TABLES: dict[str, Any] = {
    "counts": Counts,
    "confusion": Confusion,
    "scores": ScoreTable,
    "paired": Paired,
    "tally": Tally,
}


def load(path: str | PathLike[str]) -> Loaded:
    """What was saved to a file by `save`, `to_json` or `to_csv`, known by what the file holds.

    A result of any question, a table, a monitor, or a label plan, of its JSON or of its sheet with the labels that were
    filled in.

    >>> from tempfile import NamedTemporaryFile
    >>> from steelyard import Counts
    >>> with NamedTemporaryFile("w+", suffix=".json") as file:
    ...     print(Counts(1, 2, 3, 4).to_json(), file=file, flush=True)
    ...     load(file.name)
    Counts(tp=1, fn=2, fp=3, tn=4)
    """
    if not isinstance(path, (str, PathLike)):
        raise InputTypeError(f"load takes the path of a file, not {type(path).__name__}; from_json reads a text.")
    file = Path(fspath(path))
    if not file.is_file():
        there = [each.name for each in file.parent.iterdir()] if file.parent.is_dir() else []
        raise InputError(
            f"There is no file {str(path)!r}; check the name and the folder.{did_you_mean(file.name, there)}"
        )
    if _is_sheet(file):
        from steelyard.analysis.planning.label_plan import LabelPlan

        return LabelPlan.from_csv(file)
    data = parsed(file)
    kind = data.get("kind")
    if isinstance(kind, str) and kind in _TABLES:
        table: Loaded = _TABLES[kind].from_json(data)
        return table
    if kind == "monitor":
        from steelyard.analysis.monitoring.monitor import Monitor

        return Monitor.from_json(data)
    return Result.from_json(data)


def _is_sheet(file: Path) -> bool:
    """Whether a file begins as the sheet of a label plan does."""
    with file.open("rb") as opened:
        return opened.read(9).removeprefix(b"\xef\xbb\xbf").startswith(b"index,")
