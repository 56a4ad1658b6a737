"""Labels of a plan: the labelled rows, each in its stratum, and the sheet that they come in."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.analysis.intervals.plan_draws import PlannedRows
from steelyard.analysis.planning.label_plan import (
    PlannedScores,
    checked_budget,
    drawn_rows,
    guarded_key,
    plan_generator,
    planned_source,
)
from steelyard.analysis.planning.strata import (
    allocation,
    gain_sentences,
    in_strata,
    labelled_moments,
    may_be_useless,
    useless_sentences,
    whole_labels,
)
from steelyard.analysis.results.result import Rows
from steelyard.arrays import checks
from steelyard.arrays.backend import as_read
from steelyard.arrays.labels import CONVENTION
from steelyard.exceptions import InputError, InputTypeError, first_ten
from steelyard.frames.decoding import match_label
from steelyard.frames.rows import fetch_rows
from steelyard.predictions import Predictions
from steelyard.tables.array_tables import rows_of_both_classes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Array, Label, Rng
    from steelyard.analysis.planning.label_plan import LabelPlan


# ---------------------------------------------------------------- plan label columns
# The labels that are given beside a plan, matched to its rows by order, by index or by key.


class PlanColumns(NamedTuple):
    """The columns as arrays, and the index in them of each row of the plan, -1 where it is not there."""

    true: Array
    pred: Array | None
    score: Array | None
    indices: Array

    @property
    def labelled(self) -> Array:
        """The indices in the plan of the rows that have a label."""
        present = np.flatnonzero(self.indices >= 0)
        return np.asarray(present[~are_missing(self.true[self.indices[present]])])

    @property
    def labels(self) -> tuple[Label, ...]:
        """The label of each row of the plan, None where there is none."""
        labels: list[Label] = [None] * len(self.indices)
        for row in self.labelled.tolist():
            label = self.true[self.indices[row]]
            labels[row] = label.item() if isinstance(label, np.generic) else label
        return tuple(labels)

    def of_plan(self, column: Array, rows: Array) -> Array:
        """A column of some rows of the plan."""
        return np.asarray(column[self.indices[rows]])


def given_labels(plan: LabelPlan, p: Predictions) -> PlanColumns:
    """The columns that are given, with the labels that the plan carries where there are no others."""
    columns = _of_frame(plan, p) if p.given.is_frame else _of_arrays(plan, p)
    if plan.label is None:
        return columns
    present = np.flatnonzero(columns.indices >= 0)
    missing = present[are_missing(columns.true[columns.indices[present]])]
    carried = [row for row in missing.tolist() if plan.label[row] is not None]
    if not carried:
        return columns
    are_texts = any(isinstance(each, str) and each for each in columns.true.tolist())
    true = columns.true.astype(object)
    for row in carried:  # written as the labels beside it
        true[columns.indices[row]] = str(plan.label[row]) if are_texts else plan.label[row]
    return columns._replace(true=true)


def _of_arrays(plan: LabelPlan, p: Predictions) -> PlanColumns:
    """Labels in the order of the plan, labels of its last batch, or a column of all rows with most labels missing."""
    given = p.given
    true = checks.column(given.data, "y_true")
    pred = None if given.y_pred is None else checks.column(given.y_pred, "y_pred")
    score = None if given.y_score is None else checks.finite_scores(given.y_score)
    checks.check_lengths(y_true=true, y_pred=pred, y_score=score)
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


def _of_frame(plan: LabelPlan, p: Predictions) -> PlanColumns:
    """The columns of a frame, whose rows are found by their key, or by their order or index where they have none."""
    named = p.given.names
    key, pred, score = ([] if name is None else [name] for name in (plan.key, named.pred, named.score))
    with p.frame() as given:
        source = planned_source(given, ordered=plan.key is None)
        rows = fetch_rows(source, true=None, numbers=score, others=[str(named.true), *pred, *key])
    column = {name: values.astype(object) for name, values in rows.others.items()}
    true, predicted = column[str(named.true)], column.get(str(named.pred))
    scores = rows.numbers.get(str(named.score))
    if plan.key is None:
        return _of_arrays(plan, Predictions(true, predicted, y_score=scores))
    index_of = {str(each): i for i, each in enumerate(column[plan.key].tolist())}
    keys = [str(each) for each in plan.keys or ()]
    in_sheet = [guarded_key(key) for key in keys]
    if sum(key in index_of for key in in_sheet) > sum(key in index_of for key in keys):
        keys = in_sheet
    return PlanColumns(true, predicted, scores, np.array([index_of.get(key, -1) for key in keys]))


def are_missing(values: Array) -> Array:
    """Which values are None, NaN or empty text."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind != "O":
        return np.asarray(values == "") if values.dtype.kind == "U" else np.zeros(len(values), dtype=bool)
    return np.array([each is None or each == "" or each != each for each in values.tolist()], dtype=bool)  # noqa: PLR0124 - NaN


# ---------------------------------------------------------------- planned labels


_CLOSE = 1e-6  # scores that were saved as text or in single precision


def planned_labels(plan: LabelPlan, p: Predictions) -> PlannedRows:
    """The labelled rows of a plan; rows without a label are left out, and strata without any join the next."""
    columns = given_labels(plan, p)
    labelled = columns.labelled
    if not len(labelled):
        raise InputError(f"None of the {len(plan):,} rows of the plan has a label; give theirs, in the plan's order.")
    _check_scores(plan, columns)
    positive, labels = _classes(columns.of_plan(columns.true, labelled), p.given.pos_label)
    threshold = plan.threshold if p.threshold is None else p.threshold
    has_labels = np.bincount(plan.stratum[labelled], minlength=len(plan.strata)) > 0
    numbers: Array = np.cumsum(has_labels) - has_labels
    joined = np.minimum(numbers, has_labels.sum() - 1)  # strata without labels with the next above, the last ones below
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
    sentences = _sentences(plan, columns, joined, labels)
    return replace(planned, stated=(*gain_sentences(plan.spec, planned), *sentences, *useless_sentences(planned)))


def _stratum_rows(plan: LabelPlan) -> tuple[Array, Array]:
    """The rows of each stratum, and the positives that the scores expect among them."""
    rows = np.array([stratum.rows for stratum in plan.strata], dtype=np.float64)
    return rows, rows * np.array([stratum.expected for stratum in plan.strata])


def _check_scores(plan: LabelPlan, columns: PlanColumns) -> None:
    """Refuse scores that are not those of the plan's rows: it was made for others."""
    if columns.score is None:
        return
    present = np.flatnonzero(columns.indices >= 0)
    differ = ~np.isclose(columns.of_plan(columns.score, present), plan.score[present], rtol=_CLOSE, atol=_CLOSE)
    if differ.any():
        raise InputError(
            f"The scores of {differ.sum():,} of the plan's {len(present):,} rows are not those that it was made for; "
            "give the rows in the plan's order, or the plan of these rows."
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
    """The predictions of the rows as they are given; None where neither labels nor a threshold are."""
    if columns.pred is not None:
        return np.array([str(each) == str(positive) for each in columns.pred.tolist()])
    if columns.score is None or threshold is None:
        return None
    return np.asarray(columns.score >= as_read(float(threshold), plan.precision))


def _flagged(
    plan: LabelPlan, columns: PlanColumns, rows: Array, threshold: float | None, positive: Label
) -> Array | None:
    """The predictions of some rows of the plan; by the scores of the plan where no others are given."""
    flags = _flags(plan, columns, threshold, positive)
    if flags is not None:
        return columns.of_plan(flags, rows)
    return None if threshold is None else np.asarray(plan.score[rows] >= as_read(float(threshold), plan.precision))


def _flagged_sizes(
    plan: LabelPlan, columns: PlanColumns, threshold: float | None, positive: Label, joined: Array
) -> Array | None:
    """The rows of each stratum that are not predicted positive and that are, where they are known.

    They are known where all rows are given, and where the threshold is that of the plan, which divides no stratum.
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


def _sentences(plan: LabelPlan, columns: PlanColumns, joined: Array, labels: tuple[Label, Label]) -> list[str]:
    """What the result states of labels that are missing, were not planned, or are negative together."""
    labelled, sentences = columns.labelled, []
    if len(labelled) < len(plan):
        sentences.append(
            f"{len(plan) - len(labelled):,} of the plan's {len(plan):,} rows have no label; in each stratum those with "
            "one are taken as a random part of them."
        )
    if joined.max() + 1 < len(plan.strata):
        sentences.append(f"{len(plan.strata) - joined.max() - 1} strata have no label and were joined with the next.")
    unplanned = int((~are_missing(columns.true)).sum()) - len(labelled)
    if unplanned > 0:
        sentences.append(f"{unplanned:,} labels are of rows that the plan did not choose, and were left out.")
    present = dict.fromkeys(columns.of_plan(columns.true, labelled).tolist())
    negative = [each for each in present if each != labels[1]]
    if len(negative) > 1:
        sentences.append(f"All labels but {labels[1]!r} count as negative: {first_ten(negative)}.")
    return sentences


# ---------------------------------------------------------------- plan top-up
# More rows to label, by what the labels so far show.


def topped_up(plan: LabelPlan, p: Predictions, budget: int, y_true: ArrayLike | None, rng: Rng) -> LabelPlan:
    """The plan with more rows, which follow those that it has."""
    if y_true is None and plan.label is None:
        raise InputTypeError("A plan is topped up by what its labels show; give those so far as y_true.")
    (scores, _, row_keys), budget = PlannedScores.of(p, plan.key), checked_budget(budget)
    codes = in_strata(np.array([stratum.lowest_score for stratum in plan.strata[1:]]), scores)
    sizes, labelled = (np.array([getattr(each, name) for each in plan.strata]) for name in ("rows", "labels"))
    alike = len(codes) == plan.rows and np.array_equal(np.bincount(codes, minlength=len(sizes)), sizes)
    if not alike or not np.allclose(scores[plan.index], plan.score):
        raise InputError("These scores are not those that the plan was made for; give all of the same rows again.")
    so_far = Predictions(plan.label if y_true is None else y_true, pos_label=p.given.pos_label)
    columns = given_labels(plan, so_far)
    unlabelled = sizes - labelled
    most = min(budget, int(unlabelled.sum()))
    if len({*columns.labels} - {None}) == 1:  # labels of one class show nothing: rows are drawn as before
        more = whole_labels(np.minimum(most * labelled / labelled.sum(), unlabelled), unlabelled, most)
        gain = plan.gain
        stated: tuple[str, ...] = (
            f"The {len(columns.labelled):,} labels so far are of one class: more rows were drawn as those before.",
        )
    else:
        rows = plan.labelled(so_far)
        moments = labelled_moments(plan.spec, rows)
        if len(moments.rows) < len(plan.strata):
            raise InputError("Some strata have no label yet; label the plan's rows before it is topped up.")
        more = allocation(moments, sizes, most, labelled, careful=may_be_useless(rows))
        gain, stated = moments.gain(labelled + more), rows.stated
    chosen = drawn_rows(codes, more, plan.index, plan_generator(len(plan) if rng is None else rng))
    strata = (replace(each, labels=n) for each, n in zip(plan.strata, (labelled + more).tolist(), strict=True))
    return replace(
        plan,
        strata=Rows(strata),
        gain=gain,
        stated=(*plan.stated, *stated),
        label=(*columns.labels, *(None,) * len(chosen)),
        index=np.concatenate([plan.index, chosen]),
        score=np.concatenate([plan.score, scores[chosen]]),
        stratum=np.concatenate([plan.stratum, codes[chosen]]),
        batch=np.concatenate([plan.batch, np.full(len(chosen), plan.batch.max() + 1)]),
        keys=None if plan.keys is None or row_keys is None else (*plan.keys, *row_keys[chosen].tolist()),
    )
