"""Plan label columns: the labels that are given beside a plan, matched to its rows by order, by place or by key."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.analysis.planning.label_plan import planned_columns
from steelyard.analysis.planning.plan_csv import guarded_key
from steelyard.exceptions import InputError
from steelyard.ingest import arrays
from steelyard.ingest.score_tables import number_column

if TYPE_CHECKING:
    from steelyard._types import Array, Label
    from steelyard.analysis.intervals.planned_rows import GivenLabels
    from steelyard.analysis.planning.label_plan_result import LabelPlan


class PlanColumns(NamedTuple):
    """The columns as arrays, and the place in them of each row of the plan, -1 where it is not there."""

    true: Array
    pred: Array | None
    score: Array | None
    places: Array

    @property
    def labelled(self) -> Array:
        """The places in the plan of the rows that have a label."""
        there = np.flatnonzero(self.places >= 0)
        return np.asarray(there[~are_missing(self.true[self.places[there]])])

    @property
    def labels(self) -> tuple[Label, ...]:
        """The label of each row of the plan, None where there is none."""
        kept: list[Label] = [None] * len(self.places)
        for row in self.labelled.tolist():
            label = self.true[self.places[row]]
            kept[row] = label.item() if isinstance(label, np.generic) else label
        return tuple(kept)

    def of_plan(self, column: Array, rows: Array) -> Array:
        """A column of some rows of the plan."""
        return np.asarray(column[self.places[rows]])


def given_labels(plan: LabelPlan, given: GivenLabels) -> PlanColumns:
    """The columns that are given, with the labels that the plan carries where there are no others."""
    columns = _of_arrays(plan, given) if given.columns.true is None else _of_frame(plan, given)
    if plan.label is None:
        return columns
    there = columns.places >= 0
    missing = ~there
    missing[there] = are_missing(columns.true[columns.places[there]])
    carried = [row for row in np.flatnonzero(missing & there).tolist() if plan.label[row] is not None]
    if not carried:
        return columns
    true = columns.true.astype(object)
    for row in carried:
        true[columns.places[row]] = _as_given(plan.label[row], columns.true)
    return columns._replace(true=true)


def _as_given(label: Label, true: Array) -> Label:
    """A label that the plan carries, as the labels beside it are written."""
    return str(label) if any(isinstance(each, str) and each for each in true.tolist()) else label


def _of_arrays(plan: LabelPlan, given: GivenLabels) -> PlanColumns:
    """Labels in the order of the plan, those of its last batch, or those of all rows, of which most are missing."""
    true = arrays.column(given.y_true, "y_true")  # type: ignore[arg-type]  # no frame
    pred = None if given.y_pred is None else arrays.column(given.y_pred, "y_pred")
    score = None if given.y_score is None else arrays.finite_scores(given.y_score)
    arrays.check_lengths(y_true=true, y_pred=pred, y_score=score)
    if len(true) == len(plan):
        return PlanColumns(true, pred, score, np.arange(len(plan)))
    if plan.label is not None and len(true) == len(plan.latest) and pred is None and score is None:
        whole = np.array([None] * len(plan), dtype=object)
        whole[plan.batch == plan.batch.max()] = true
        return PlanColumns(whole, None, None, np.arange(len(plan)))
    if len(true) != plan.rows:
        raise InputError(
            f"y_true has {len(true):,} rows, and the plan chose {len(plan):,} of {plan.rows:,}: give the labels of "
            "these in the plan's order, or those of all rows with None where there is none."
        )
    return PlanColumns(true, pred, score, plan.index)


def _of_frame(plan: LabelPlan, given: GivenLabels) -> PlanColumns:
    """The columns of a frame, whose rows are found by their key, or by their order or place where they have none."""
    named = given.columns
    key = [] if plan.key is None else [plan.key]
    names = [name for name in (named.true, named.pred, named.score) if name is not None]
    fetched = planned_columns(given.y_true, [*names, *key], ordered=plan.key is None)  # type: ignore[arg-type]  # a frame
    pred = None if named.pred is None else np.array(fetched[named.pred].to_list(), dtype=object)
    score = None if named.score is None else number_column(fetched[named.score], named.score)
    true = np.array(fetched[str(named.true)].to_list(), dtype=object)
    if plan.key is None:
        by_place = given._replace(y_true=true, y_pred=pred, y_score=score)
        return _of_arrays(plan, by_place)
    places = {str(each): place for place, each in enumerate(fetched[plan.key].to_list())}
    keys = [str(each) for each in plan.keys or ()]
    in_sheet = [guarded_key(key) for key in keys]
    if sum(key in places for key in in_sheet) > sum(key in places for key in keys):
        keys = in_sheet
    return PlanColumns(true, pred, score, np.array([places.get(key, -1) for key in keys]))


def are_missing(values: Array) -> Array:
    """Which values are None, NaN or empty text."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind != "O":
        return np.asarray(values == "") if values.dtype.kind == "U" else np.zeros(len(values), dtype=bool)
    return np.array([each is None or each == "" or each != each for each in values.tolist()], dtype=bool)  # noqa: PLR0124 - NaN
