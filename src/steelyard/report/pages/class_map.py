"""Class map: what the script of a page of many classes reads, the confusion matrix without its empty cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.confusions.confused_pairs import confusion_order
from steelyard.arrays.sparse import cell_entries
from steelyard.evaluation.class_views import class_views
from steelyard.evaluation.evaluation import CLASS_METRICS
from steelyard.report.pages.copied_json import LABEL
from steelyard.report.pages.document import clipped
from steelyard.report.pages.page_numbers import finite_or_none, rounded, rounded_ends

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array
    from steelyard.analysis.intervals.interval import Interval
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.tables.confusion import Confusion

_MOST_BYTES = 320_000  # of the cells; what is beyond is left out, the smallest first, and the page says so
_FEW_DIGITS = 5  # of the metrics of more than 1,000 classes
_GAP_BYTES = 4  # that the place of a cell takes about

WORDS = {
    "cell": "{count} of the {total} {units} of {true} were predicted as {predicted}: {share}.",
    "right": "{count} of the {total} {units} of {true} were predicted correctly: recall {share}.",
    "empty": "None of the {total} {units} of {true} were predicted as {predicted}.",
    "small": "At most {least} of the {total} {units} of {true} were predicted as {predicted}.",
    "absent": "{true} has no {units} in the truth.",
    "hint": "Point at a cell or move over the cells with the arrow keys; Enter shows the true class against the rest.",
    "matches": "{found} of {all} classes match.",
    "none": "No class matches.",
    "more": "Show all {all} classes",
    "first": "Show the first {most} of {all} classes",
    "fewer": "Show the first {few} only",
}


def map_data(evaluation: Evaluation, table: Confusion) -> dict[str, Any]:
    """The cells, the order by confusion, and each class against the rest."""
    return {
        "names": _names(table),
        "order": confusion_order(table).tolist(),
        **sparse_cells(table.matrix),
        **_sides(table),
        **_intervals(evaluation, _FEW_DIGITS if table.is_sparse else None),
        "unit": "weight" if table.weighted else "rows",
        "units": "units of weight" if table.weighted else "rows",
        "words": WORDS,
    }


def _names(table: Confusion) -> list[str] | None:
    """The classes as text; None where the labels that the page holds anyway are all text."""
    is_text = all(isinstance(label, str) for label in table.labels)
    return None if is_text else [clipped(label, LABEL) for label in table.labels]


def sparse_cells(matrix: Array, most_bytes: int = _MOST_BYTES) -> dict[str, Any]:
    """The cells that hold anything: how far each is from the one before, row by row, and what it holds.

    The diagonal is always whole. Where the others take too much room `least` is the largest that was left out.
    """
    true, predicted, cells = cell_entries(matrix)
    errors = np.flatnonzero(true != predicted)
    kept = errors[np.argsort(-cells[errors], kind="stable")][: most_bytes // (_GAP_BYTES + 2) + 1]
    sizes = np.cumsum([_GAP_BYTES + len(str(_number(cell))) + 1 for cell in cells[kept].tolist()])
    fitting = int(np.searchsorted(sizes, most_bytes, side="right"))
    shown = np.sort(np.concatenate([np.flatnonzero(true == predicted), kept[:fitting]]))
    least = _number(cells[kept[fitting]].item()) if fitting < len(kept) else None
    counts, places = [_number(cell) for cell in cells[shown].tolist()], true[shown] * matrix.shape[0] + predicted[shown]
    return {"gaps": np.diff(places, prepend=0).tolist(), "counts": counts, "least": least}


def _number(cell: float) -> float | None:
    """A count as it is; a weight by the digits that matter, whole where it is whole."""
    return int(cell) if float(cell).is_integer() else rounded(cell, 12)


def _sides(table: Confusion) -> dict[str, Any]:
    """The errors of each class against the rest, all weight, and the mean weight of a row on either side."""
    counts = table.one_vs_rest()
    fn, fp = ([_number(cell) for cell in np.asarray(column).tolist()] for column in (counts.fn, counts.fp))
    one = [view.row_weights.ravel().tolist() for view in class_views(table)] if table.weighted else None
    apart = table.weighted and not table.is_sparse  # weights whose difference would not be 0 where it should
    tn = [_number(cell) for cell in np.asarray(counts.tn).tolist()] if apart else None
    return {"fn": fn, "fp": fp, "tn": tn, "total": _number(table.matrix.sum().item()), "one": one}


def _intervals(evaluation: Evaluation, digits: int | None) -> dict[str, Any]:
    """The metrics of each class: values, ends and methods as columns, and why one has no value."""
    columns = {name: _column([row.intervals[name] for row in evaluation.per_class], digits) for name in CLASS_METRICS}
    return {"metrics": columns, "rows": [row.rows for row in evaluation.per_class]}


def _column(intervals: Sequence[Interval], digits: int | None) -> dict[str, Any]:
    """A metric of all classes; of very many with the digits that are shown."""
    methods = [*dict.fromkeys(interval.method for interval in intervals)]
    parts = [[finite_or_none(interval.value), *rounded_ends(interval)] for interval in intervals]
    if digits is not None:
        parts = [[None if value is None else rounded(value, digits) for value in part] for part in parts]
    return {
        **dict(zip(("value", "low", "high"), zip(*parts, strict=True), strict=True)),
        "method": methods[0] if len(methods) == 1 else [interval.method for interval in intervals],
        "whys": {place: interval.why for place, interval in enumerate(intervals) if interval.why},
    }
