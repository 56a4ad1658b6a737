"""Plan check: whether a label plan is whole, wherever it was read from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from steelyard.analysis.planning.label_plan_result import LabelPlan

_AGAIN = "give the whole plan, as it was written"


def check_whole(plan: LabelPlan) -> None:
    """Refuse a plan that lacks rows or strata, or names a row twice: its probabilities would be wrong."""
    columns = {name: len(getattr(plan, name)) for name in ("index", "score", "stratum", "batch")}
    columns |= {name: len(value) for name in ("keys", "label") if (value := getattr(plan, name)) is not None}
    if len({*columns.values()}) > 1:
        lengths = ", ".join(f"{name} {length:,}" for name, length in columns.items())
        raise InputError(f"The columns of this label plan differ in length ({lengths}); {_AGAIN}.")
    rows, labels = (np.array([getattr(each, name) for each in plan.strata]) for name in ("rows", "labels"))
    if rows.sum() != plan.rows:
        raise InputError(f"The strata of this label plan have {rows.sum():,} of its {plan.rows:,} rows; {_AGAIN}.")
    _check_rows(plan, labels)


def _check_rows(plan: LabelPlan, labels: np.ndarray) -> None:
    index, stratum = np.asarray(plan.index), np.asarray(plan.stratum)
    if len(np.unique(index)) < len(index) or index.min() < 0 or index.max() >= plan.rows:
        raise InputError(f"A row of this label plan is named twice, or is none of its {plan.rows:,} rows; {_AGAIN}.")
    there = np.bincount(stratum, minlength=len(labels))
    for code in np.flatnonzero(there[: len(labels)] != labels)[:1]:
        raise InputError(
            f"This label plan has {there[code]:,} rows in stratum {code}, of which it chose {labels[code]:,}: rows are "
            f"missing or were added; {_AGAIN}."
        )
