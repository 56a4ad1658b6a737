"""Planned labels: the labelled rows of a plan, each in its stratum, with what they state."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.intervals.planned_rows import PlannedRows
from steelyard.analysis.planning.plan_gain import gain_sentences
from steelyard.analysis.planning.plan_label_columns import are_missing, given_labels
from steelyard.analysis.planning.score_strata import in_strata
from steelyard.analysis.planning.useless_scores import useless_sentences
from steelyard.exceptions import InputError, first_ten
from steelyard.ingest.class_checks import rows_of_both_classes
from steelyard.ingest.label_tables import match_label
from steelyard.statistics.positive_class import CONVENTION
from steelyard.statistics.precision import as_read

if TYPE_CHECKING:
    from steelyard._types import Array, Label
    from steelyard.analysis.intervals.planned_rows import GivenLabels
    from steelyard.analysis.planning.label_plan_result import LabelPlan
    from steelyard.analysis.planning.plan_label_columns import PlanColumns

_CLOSE = 1e-6  # scores that were saved as text or in single precision


def planned_labels(plan: LabelPlan, given: GivenLabels) -> PlannedRows:
    """The labelled rows of a plan; one that has no label is left out, and strata without any join the next."""
    columns = given_labels(plan, given)
    labelled = columns.labelled
    if not len(labelled):
        raise InputError(f"None of the {len(plan):,} rows of the plan has a label; give theirs, in the plan's order.")
    _check_scores(plan, columns)
    positive, labels = _classes(columns.of_plan(columns.true, labelled), given.pos_label)
    threshold = plan.threshold if given.threshold is None else given.threshold
    joined = _joined_strata(plan, labelled)
    sizes, expected = (np.bincount(joined, part) for part in _stratum_rows(plan))
    planned = PlannedRows(
        positive,
        joined[plan.stratum[labelled]],
        sizes,
        expected / sizes,
        plan.score[labelled],
        _flagged(plan, columns, labelled, threshold, labels[1]),
        _flagged_sizes(plan, columns, threshold, labels[1], joined),
        labels,
        plan.precision,
        threshold,
    )
    about = (*_sentences(plan, columns, joined), *_other_labels(columns.of_plan(columns.true, labelled), labels))
    stated = (*gain_sentences(plan.spec, planned), *about, *useless_sentences(planned))
    return replace(planned, stated=stated)


def _stratum_rows(plan: LabelPlan) -> tuple[Array, Array]:
    """The rows of each stratum, and the positives that the scores expect among them."""
    rows = np.array([stratum.rows for stratum in plan.strata], dtype=np.float64)
    return rows, rows * np.array([stratum.expected for stratum in plan.strata])


def _check_scores(plan: LabelPlan, columns: PlanColumns) -> None:
    """Refuse scores that are not those of the plan's rows: it was made for others."""
    if columns.score is None:
        return
    there = np.flatnonzero(columns.places >= 0)
    off = ~np.isclose(columns.of_plan(columns.score, there), plan.score[there], rtol=_CLOSE, atol=_CLOSE)
    if off.any():
        raise InputError(
            f"The scores of {off.sum():,} of the plan's {len(there):,} rows are not those that it was made for; give "
            "the rows in the plan's order, or the plan of these rows."
        )


def _classes(true: Array, pos_label: Label) -> tuple[Array, tuple[Label, Label]]:
    """Which labels are positive, and the labels of both classes."""
    present = list(dict.fromkeys(true.tolist()))
    if len(present) == 1:
        raise InputError(
            f"All {len(true):,} labels are {present[0]!r}, and a metric needs rows of both classes; label more rows, "
            "which plan.top_up chooses."
        )
    if len(present) > 2 and pos_label is None:
        raise InputError(
            f"A label plan is of two classes, and the labels are {first_ten(present)}; mend those that are of neither, "
            "or name the positive class with pos_label=, and all others are negative."
        )
    named = CONVENTION if pos_label is None else match_label(pos_label, present)
    positive, label = rows_of_both_classes(true, named)
    others = [each for each in present if each != label]
    return positive, (others[0] if len(others) == 1 else f"not {label}", label)


# ---------------------------------------------------------------- thresholds and strata


def _flags(plan: LabelPlan, columns: PlanColumns, threshold: float | None, positive: Label) -> Array | None:
    """What is predicted of the rows as they are given; None where neither labels nor a threshold are."""
    if columns.pred is not None:
        return np.array([str(each) == str(positive) for each in columns.pred.tolist()])
    if columns.score is None or threshold is None:
        return None
    return np.asarray(columns.score >= as_read(float(threshold), plan.precision))


def _flagged(
    plan: LabelPlan, columns: PlanColumns, rows: Array, threshold: float | None, positive: Label
) -> Array | None:
    """What is predicted of some rows of the plan; by its own scores where no others are given."""
    flags = _flags(plan, columns, threshold, positive)
    if flags is not None:
        return columns.of_plan(flags, rows)
    return None if threshold is None else np.asarray(plan.score[rows] >= as_read(float(threshold), plan.precision))


def _flagged_sizes(
    plan: LabelPlan, columns: PlanColumns, threshold: float | None, positive: Label, joined: Array
) -> Array | None:
    """The rows of each stratum that are not predicted positive and that are, where they are known.

    They are where all rows are given, and where the threshold is the plan's, between whose strata it lies.
    """
    rows, _ = _stratum_rows(plan)
    lowest = np.array([stratum.lowest_score for stratum in plan.strata])
    if columns.score is not None and len(columns.score) == plan.rows:
        flags, codes = _flags(plan, columns, threshold, positive), in_strata(lowest[1:], columns.score)
        if not np.array_equal(np.bincount(codes, minlength=len(rows)), rows):
            raise InputError("The scores are not those of the rows that the plan was made for; give that plan's rows.")
        if flags is None:
            return None
        return np.bincount(2 * joined[codes] + flags, minlength=2 * (joined.max() + 1)).reshape(-1, 2)
    if columns.pred is not None or threshold is None or threshold != plan.threshold:
        return None
    sides = (lowest >= as_read(float(threshold), plan.precision)).astype(np.int64)
    return np.bincount(2 * joined + sides, rows, minlength=2 * (joined.max() + 1)).reshape(-1, 2)


def _joined_strata(plan: LabelPlan, labelled: Array) -> Array:
    """The number of each stratum, where one without labels is taken together with the next above, or below."""
    there = np.bincount(plan.stratum[labelled], minlength=len(plan.strata)) > 0
    numbers: Array = np.cumsum(there) - there
    return np.asarray(np.minimum(numbers, there.sum() - 1))


def _other_labels(true: Array, labels: tuple[Label, Label]) -> tuple[str, ...]:
    """What the result states where labels of several kinds are negative together."""
    others = [each for each in dict.fromkeys(true.tolist()) if each != labels[1]]
    return (f"All labels but {labels[1]!r} count as negative: {first_ten(others)}.",) if len(others) > 1 else ()


def _sentences(plan: LabelPlan, columns: PlanColumns, joined: Array) -> tuple[str, ...]:
    """What the result states of labels that are missing, and of those that were not planned."""
    labels, sentences = len(columns.labelled), []
    if labels < len(plan):
        sentences.append(
            f"{len(plan) - labels:,} of the plan's {len(plan):,} rows have no label; in each stratum those with one "
            "are taken as a random part of them."
        )
    if joined.max() + 1 < len(plan.strata):
        sentences.append(f"{len(plan.strata) - joined.max() - 1} strata have no label and were joined with the next.")
    others = int((~are_missing(columns.true)).sum()) - labels
    if others > 0:
        sentences.append(f"{others:,} labels are of rows that the plan did not choose, and were left out.")
    return tuple(sentences)
