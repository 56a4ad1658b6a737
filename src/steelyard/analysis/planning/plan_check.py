"""Plan check: whether a label plan is whole, wherever it was read from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.planning.label_influence import reads_labels
from steelyard.analysis.planning.score_strata import in_strata
from steelyard.exceptions import InputError
from steelyard.statistics.precision import as_read

if TYPE_CHECKING:
    from steelyard.analysis.planning.label_plan_result import LabelPlan

AGAIN = "give the whole plan, as it was written"


def check_whole(plan: LabelPlan) -> None:
    """Refuse a plan that lacks rows or strata, or names a row twice: its probabilities would be wrong."""
    columns = {name: len(getattr(plan, name)) for name in ("index", "score", "stratum", "batch")}
    columns |= {name: len(value) for name in ("keys", "label") if (value := getattr(plan, name)) is not None}
    if len({*columns.values()}) > 1:
        lengths = ", ".join(f"{name} {length:,}" for name, length in columns.items())
        raise InputError(f"The columns of this label plan differ in length ({lengths}); {AGAIN}.")
    strata = [(each.lowest_score, each.rows, each.labels, each.expected) for each in plan.strata]
    lowest, rows, labels, expected = (np.array(column) for column in zip(*strata or [(0, 0, 0, 0)], strict=True))
    if (rows < 1).any() or (labels > rows).any() or not _are_ranges(lowest, expected):
        raise InputError(
            "The strata of this label plan cannot be: the lowest score of each is above that of the one before, and it "
            f"has rows, no more labels than these, and a share of positives between 0 and 1; {AGAIN}."
        )
    if rows.sum() != plan.rows:
        raise InputError(f"The strata of this label plan have {rows.sum():,} of its {plan.rows:,} rows; {AGAIN}.")
    _check_rows(plan, labels)
    _check_scores(plan, lowest)
    if not plan.gain >= 0 and not np.isnan(plan.gain):
        raise InputError(f"The gain of this label plan is {plan.gain:g}, and none is below 0; {AGAIN}.")
    if (plan.key is None) != (plan.keys is None) or len({*(plan.keys or ())}) < len(plan.keys or ()):
        raise InputError(f"The keys of this label plan are of no column, are not there, or name a row twice; {AGAIN}.")


def _are_ranges(lowest: np.ndarray, expected: np.ndarray) -> bool:
    """Whether strata of scores follow each other, each with a share of positives."""
    shares = (expected > 0) & (expected < 1)  # no score is certain
    return bool(np.isfinite(lowest).all() and (np.diff(lowest) > 0).all() and shares.all())


def _check_rows(plan: LabelPlan, labels: np.ndarray) -> None:
    index, stratum = np.asarray(plan.index), np.asarray(plan.stratum)
    batches = np.unique(plan.batch)
    if not len(index) or not np.array_equal(batches, np.arange(1, len(batches) + 1)):
        raise InputError(f"This label plan has no rows, or lacks those of a batch; {AGAIN}.")
    if stratum.min() < 0 or stratum.max() >= len(labels):
        raise InputError(f"A row of this label plan is of none of its {len(labels)} strata; {AGAIN}.")
    if len(np.unique(index)) < len(index) or index.min() < 0 or index.max() >= plan.rows:
        raise InputError(f"A row of this label plan is named twice, or is none of its {plan.rows:,} rows; {AGAIN}.")
    there = np.bincount(stratum, minlength=len(labels))
    for code in np.flatnonzero(there[: len(labels)] != labels)[:1]:
        raise InputError(
            f"This label plan has {there[code]:,} rows in stratum {code}, of which it chose {labels[code]:,}: rows are "
            f"missing or were added; {AGAIN}."
        )


def _check_scores(plan: LabelPlan, lowest: np.ndarray) -> None:
    """Refuse scores outside their strata, and a threshold that does not divide these."""
    score, stratum = np.asarray(plan.score), np.asarray(plan.stratum)
    inside = (score >= lowest[0]) & (in_strata(lowest[1:], score) == stratum) & np.isfinite(score)
    if not inside.all():
        row = int(np.flatnonzero(~inside)[0])
        raise InputError(
            f"The score {score[row]:.6g} of row {plan.index[row]:,} of this label plan is not in its stratum "
            f"{stratum[row]}; {AGAIN}."
        )
    if plan.threshold is None:
        if reads_labels(plan.spec) and plan.spec.metric.scores is None:
            raise InputError(f"This label plan has no threshold, which {plan.metric} needs; {AGAIN}.")
        return
    at = as_read(plan.threshold, plan.precision)
    above = lowest >= at
    one_side = reads_labels(plan.spec) and (above.all() or not above.any())
    if not np.isfinite(at) or one_side or ((score >= at) != above[stratum]).any():
        raise InputError(
            f"The threshold {plan.threshold:g} of this label plan is not one that its strata lie on either side of; "
            f"{AGAIN}."
        )
