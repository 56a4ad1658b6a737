"""Plan top-up: more rows to label, by what the labels so far show."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steelyard.analysis.intervals.planned_rows import GivenLabels
from steelyard.analysis.planning.label_plan import PlannedScores, checked_budget, drawn_rows, own_generator
from steelyard.analysis.planning.plan_gain import labelled_moments
from steelyard.analysis.planning.plan_label_columns import given_labels
from steelyard.analysis.planning.score_strata import allocation, in_strata, whole_labels
from steelyard.analysis.planning.useless_scores import may_be_useless
from steelyard.analysis.results.rows import Rows
from steelyard.exceptions import InputError
from steelyard.ingest.frame_columns import FrameColumns

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Array, Frame, Label, Rng
    from steelyard.analysis.intervals.planned_rows import PlannedRows
    from steelyard.analysis.planning.label_plan_result import LabelPlan
    from steelyard.ingest.source import Source


def topped_up(
    plan: LabelPlan,
    y_score: Frame | Source | ArrayLike,
    budget: int,
    y_true: ArrayLike,
    pos_label: Label,
    rng: Rng,
) -> LabelPlan:
    """The plan with more rows, which follow those that it has."""
    given, asked = PlannedScores.of(y_score, plan.score_column, plan.key), checked_budget(budget)
    codes = _checked_strata(plan, given)
    so_far = GivenLabels(y_true, None, None, FrameColumns(), pos_label)
    columns = given_labels(plan, so_far)
    sizes, labelled = (np.array([getattr(each, name) for each in plan.strata]) for name in ("rows", "labels"))
    most = min(asked, int(sizes.sum() - labelled.sum()))
    if len({*columns.labels} - {None}) == 1:
        more = _as_before(plan, sizes, labelled, most, len(columns.labelled))
    else:
        more = _by_labels(plan, plan.labelled(so_far), sizes, labelled, most)
    chosen = drawn_rows(codes, more.labels, plan.index, own_generator(len(plan) if rng is None else rng))
    strata = (replace(each, labels=n) for each, n in zip(plan.strata, (labelled + more.labels).tolist(), strict=True))
    carried = (*columns.labels, *(None,) * len(chosen))
    stated: dict[str, Any] = {"gain": more.gain, "stated": (*plan.stated, *more.stated), "label": carried}
    return replace(plan, strata=Rows(strata), **stated, **_with_rows(plan, given, codes, chosen))


class _More(NamedTuple):
    """The labels that each stratum gets, what they gain, and what is stated of them."""

    labels: Array
    gain: float
    stated: tuple[str, ...]


def _by_labels(plan: LabelPlan, rows: PlannedRows, sizes: Array, labelled: Array, most: int) -> _More:
    """By what the labels so far move the metric by."""
    moments = labelled_moments(plan.spec, rows)
    if len(moments.rows) < len(plan.strata):
        raise InputError("Some strata have no label yet; label the plan's rows before it is topped up.")
    labels = allocation(moments, sizes, most, labelled, careful=may_be_useless(rows))
    return _More(labels, moments.gain(labelled + labels), rows.stated)


def _as_before(plan: LabelPlan, sizes: Array, labelled: Array, most: int, given: int) -> _More:
    """As the plan has them, where labels of one class show nothing else."""
    room = sizes - labelled
    labels = whole_labels(np.minimum(most * labelled / labelled.sum(), room), room, most)
    stated = f"The {given:,} labels so far are of one class: more rows were drawn as those before."
    return _More(labels, plan.gain, (stated,))


def _with_rows(plan: LabelPlan, given: PlannedScores, codes: Array, chosen: Array) -> dict[str, Any]:
    """The columns of the plan with rows of a new batch after its own."""
    more = (chosen, given.scores[chosen], codes[chosen], np.full(len(chosen), plan.batch.max() + 1))
    former = (plan.index, plan.score, plan.stratum, plan.batch)
    index, score, stratum, batch = (np.concatenate(pair) for pair in zip(former, more, strict=True))
    keys = None if plan.keys is None or given.keys is None else (*plan.keys, *given.keys[chosen].tolist())
    return {"index": index, "score": score, "stratum": stratum, "batch": batch, "keys": keys}


def _checked_strata(plan: LabelPlan, given: PlannedScores) -> Array:
    """The stratum of each row; scores that are not the plan's are refused."""
    codes = in_strata(np.array([stratum.lowest_score for stratum in plan.strata[1:]]), given.scores)
    sizes = np.bincount(codes, minlength=len(plan.strata))
    alike = len(codes) == plan.rows and np.array_equal(sizes, [stratum.rows for stratum in plan.strata])
    if not alike or not np.allclose(given.scores[plan.index], plan.score):
        raise InputError("These scores are not those that the plan was made for; give all of the same rows again.")
    return codes
