"""Plan top-up: more rows to label, by what the labels so far show."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.intervals.planned_rows import GivenLabels
from steelyard.analysis.planning.label_plan import PlannedScores, checked_budget, drawn_rows, own_generator
from steelyard.analysis.planning.plan_gain import labelled_moments
from steelyard.analysis.planning.score_strata import allocation, in_strata
from steelyard.analysis.planning.useless_scores import may_be_useless
from steelyard.analysis.results.rows import Rows
from steelyard.exceptions import InputError
from steelyard.ingest.frame_columns import FrameColumns

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Array, Frame, Label, Rng
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
    rows = plan.labelled(GivenLabels(y_true, None, None, FrameColumns(), pos_label))
    moments = labelled_moments(plan.spec, rows)
    if len(moments.rows) < len(plan.strata):
        raise InputError("Some strata have no label yet; label the plan's rows before it is topped up.")
    sizes, labelled = (np.array([getattr(each, name) for each in plan.strata]) for name in ("rows", "labels"))
    most = min(asked, int(sizes.sum() - labelled.sum()))
    labels = allocation(moments, sizes, most, labelled, careful=may_be_useless(rows))
    chosen = drawn_rows(codes, labels, plan.index, own_generator(len(plan) if rng is None else rng))
    more = _with_rows(plan, given, codes, chosen)
    strata = (replace(each, labels=n) for each, n in zip(plan.strata, (labelled + labels).tolist(), strict=True))
    gain, stated = moments.gain(labelled + labels), (*plan.stated, *rows.stated)
    return replace(more, strata=Rows(strata), gain=gain, stated=stated)


def _with_rows(plan: LabelPlan, given: PlannedScores, codes: Array, chosen: Array) -> LabelPlan:
    """The plan with rows of a new batch after its own."""
    more = (chosen, given.scores[chosen], codes[chosen], np.full(len(chosen), plan.batch.max() + 1))
    former = (plan.index, plan.score, plan.stratum, plan.batch)
    index, score, stratum, batch = (np.concatenate(pair) for pair in zip(former, more, strict=True))
    keys = None if plan.keys is None or given.keys is None else (*plan.keys, *given.keys[chosen].tolist())
    return replace(plan, index=index, score=score, stratum=stratum, batch=batch, keys=keys)


def _checked_strata(plan: LabelPlan, given: PlannedScores) -> Array:
    """The stratum of each row; scores that are not the plan's are refused."""
    codes = in_strata(np.array([stratum.lowest_score for stratum in plan.strata[1:]]), given.scores)
    sizes = np.bincount(codes, minlength=len(plan.strata))
    alike = len(codes) == plan.rows and np.array_equal(sizes, [stratum.rows for stratum in plan.strata])
    if not alike or not np.allclose(given.scores[plan.index], plan.score):
        raise InputError("These scores are not those that the plan was made for; give all of the same rows again.")
    return codes
