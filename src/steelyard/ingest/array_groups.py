"""Groups of arrays: labels or scores counted into the table of all rows and that of each group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from steelyard.exceptions import InputTypeError
from steelyard.ingest import array_tables, arrays, label_codes
from steelyard.ingest.frame_columns import refuse_name
from steelyard.ingest.label_tables import rows_of_groups, sorted_groups
from steelyard.ingest.row_order import check_order
from steelyard.statistics.positive_class import CONVENTION
from steelyard.statistics.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Label, Labels, LabelSet, Weights
    from steelyard.statistics.confusion import Confusion
    from steelyard.statistics.score_table import ScoreTable

    By: TypeAlias = str | Sequence[str] | ArrayLike | Mapping[str, ArrayLike]


def grouped_tally(
    y_true: ArrayLike,
    y_pred: ArrayLike | None,
    y_score: ArrayLike | None,
    by: By,
    *,
    pos_label: Label,
    labels: LabelSet | None,
    sample_weight: Weights,
    frequency: Weights,
) -> Tally:
    """The tables of all rows and of each group: `by` is one value per row, or several such columns by name."""
    columns = group_columns(by)
    weights = {"sample_weight": sample_weight, "frequency": frequency}
    check_order(y_true=y_true, y_pred=y_pred, y_score=y_score, **weights, **_named_groups(by))
    true = arrays.column(y_true, "y_true")
    parts = {
        "y_pred": None if y_pred is None else arrays.column(y_pred, "y_pred"),
        "y_score": None if y_score is None else arrays.column(y_score, "y_score"),
        "sample_weight": arrays.weights(sample_weight, "sample_weight"),
        "frequency": arrays.weights(frequency, "frequency", whole=True),
    }
    arrays.check_lengths(y_true=true, **parts, **columns)
    whole = _tables(true, parts, pos_label, labels)
    places = group_places(columns)
    label = pos_label if whole.scores is None else whole.scores.label
    groups = {
        key: replace(
            _tables(true[rows], {name: _at(part, rows) for name, part in parts.items()}, label, whole.labels), labels=()
        )
        for key in sorted_groups(key for key in places if key)
        for rows in [places[key]]
    }
    return Tally(whole.confusion, whole.scores, labels=whole.labels, by=tuple(columns), groups=groups)


def group_places(columns: Mapping[str, Array]) -> dict[Labels, Array]:
    """The places of the rows of each group; all of them under no key."""
    listed = list(columns.values())
    return rows_of_groups(listed, len(listed[0]) if listed else 0)


def group_columns(by: By) -> dict[str, Array]:
    """The columns of groups by name: a series is called as it is, and a plain array "group"."""
    refuse_name("by", by)
    if isinstance(by, Mapping):
        return {str(name): arrays.column(values, f"by[{name!r}]") for name, values in by.items()}
    if np.ndim(by) > 1 or hasattr(by, "columns"):
        raise InputTypeError(
            'by= is one value per row; several columns are given by name: by={"site": ..., "year": ...}.'
        )
    name = getattr(by, "name", None)
    return {str(name or "group"): arrays.column(by, "by")}


def _named_groups(by: By) -> dict[str, object]:
    """The columns of groups as given, by what to call them in a refusal."""
    return {f"by[{name!r}]": values for name, values in by.items()} if isinstance(by, Mapping) else {"by": by}


def _at(column: Array | None, rows: Array) -> Array | None:
    return None if column is None else column[rows]


def _tables(true: Array, parts: Mapping[str, Array | None], pos_label: Label, labels: LabelSet | None) -> Tally:
    """The tables of some rows, in which rows without weight are left out."""
    weights = {name: parts[name] for name in ("sample_weight", "frequency")}
    table: Confusion | None = None
    scores: ScoreTable | None = None
    if (pred := parts["y_pred"]) is not None:
        table = array_tables.confusion(true, pred, pos_label=pos_label, labels=labels, **weights)
    if (score := parts["y_score"]) is not None:
        chosen = CONVENTION if pos_label is None else pos_label
        scores = array_tables.score_table(true, score, pos_label=chosen, labels=labels, **weights)
    present: Labels = tuple(table.labels) if table is not None else array_tables.declared_labels(labels) or ()
    if not present:
        present = label_codes.encode(true)[1]
    return Tally(table, scores, labels=present)
