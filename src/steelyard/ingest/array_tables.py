"""Tables of arrays and tensors: labels counted into a Confusion, scores into a ScoreTable, where they lie."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.exceptions import InputError
from steelyard.ingest import arrays, code_counts, label_codes
from steelyard.ingest.category_order import category_order
from steelyard.ingest.label_number import check_label_number
from steelyard.ingest.row_order import check_order
from steelyard.statistics.backend import backend_of
from steelyard.statistics.class_scores import ClassScores
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.labelled_scores import LabelledClass, LabelledScores
from steelyard.statistics.positive_class import CONVENTION, chosen_label
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Array, Label, Labels, LabelSet, Weights
    from steelyard.statistics.backend import Backend

_FEW = 1_024  # rows of which copying both classes takes less time than what would put the copies off


class Weighed(NamedTuple):
    """The sample weight of each row, and how many rows it counts for; None where every row has the weight 1."""

    weight: Array | None
    rows: Array | None

    @classmethod
    def of(cls, there: Backend, sample_weight: Weights, frequency: Weights, **columns: Array) -> Weighed:
        """Those of columns of the same length, which are on the same backend."""
        if sample_weight is None and frequency is None:
            arrays.check_lengths(**columns)
            return cls(None, None)
        weight = arrays.weights(sample_weight, "sample_weight", there=there)
        rows = arrays.weights(frequency, "frequency", whole=True, there=there)
        arrays.check_lengths(**columns, sample_weight=weight, frequency=rows)
        return cls(weight, rows)

    @property
    def is_none(self) -> bool:
        """Whether every row has the weight 1."""
        return self.weight is None and self.rows is None

    def at(self, places: Array) -> Weighed:
        """Those of some rows."""
        return Weighed(*(None if column is None else column[places] for column in self))

    @property
    def above_zero(self) -> Array | None:
        """Which rows have weight; one of none is as good as absent. None where all have."""
        if self.is_none:
            return None
        masks = [column > 0 for column in self if column is not None]
        return None if all(mask.all() for mask in masks) else masks[0] & masks[-1]


def confusion(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: LabelSet | None = None,
    pos_label: Label = None,
    sample_weight: Weights = None,
    frequency: Weights = None,
) -> Confusion:
    r"""Count true and predicted labels into a table.

    `labels` declares the whole label set and its order; `pos_label` the class that metrics take as positive.
    `sample_weight` is the sample weight; `frequency` the frequency weight, how many rows a row counts for.

    >>> confusion([0, 0, 1, 1], [0, 1, 1, 1])
    Confusion of 4 rows
    true \ predicted  0  1
    0                 1  1
    1                 0  2
    """
    check_order(y_true=y_true, y_pred=y_pred, sample_weight=sample_weight, frequency=frequency)
    there = arrays.backend_for(y_true, y_pred)
    true, pred = arrays.column(y_true, "y_true", there), arrays.column(y_pred, "y_pred", there)
    weighed = Weighed.of(there, sample_weight, frequency, y_true=true, y_pred=pred)
    declared = declared_labels(labels) if labels is not None else category_order(y_true, true, pred)
    if not len(true) and declared is None:
        raise InputError("y_true and y_pred are empty; give at least one row, or declare the labels with labels=.")
    if (counted := weighed.above_zero) is not None:
        true, pred, weighed = true[counted], pred[counted], weighed.at(counted)
    table = None if declared or not weighed.is_none else _small_integers(true, pred)
    table = _coded(true, pred, weighed, declared) if table is None else table
    return table if pos_label is None else table.with_positive(pos_label)


def _small_integers(true: Array, pred: Array) -> Confusion | None:
    """The table of small whole labels, counted before anyone asks which there are; None where others occur."""
    if true.dtype.kind not in "biu" or pred.dtype.kind not in "biu":
        return None
    counts = code_counts.binary_counts(true, pred)
    if counts is None and (counts := code_counts.small_counts(true, pred)) is None:
        return None
    present = np.flatnonzero(counts.sum(0) + counts.sum(1))
    kind = bool if true.dtype.kind == pred.dtype.kind == "b" else int
    return Confusion.of_rows(tuple(map(kind, present)), counts[np.ix_(present, present)])


def _coded(true: Array, pred: Array, weighed: Weighed, declared: Labels | None) -> Confusion:
    """The table of labels of any kind, by their codes."""
    rows = weighed.rows
    true_codes, pred_codes, labels = label_codes.encode_pair(true, pred, declared)
    check_label_number(len(labels), len(true) if rows is None else int(rows.sum()), declared=declared is not None)
    return Confusion(labels, *code_counts.pair_counts(true_codes, pred_codes, len(labels), *weighed))


def declared_labels(labels: LabelSet | None) -> Labels | None:
    """The labels that a user declares, as plain Python values."""
    if labels is None:
        return None
    column = arrays.column(labels, "labels")
    label_codes.distinct(column, "labels")  # refuses what cannot be a label
    declared = tuple(label_codes.python_labels(column))
    if len(set(declared)) != len(declared) or len(declared) < 2:
        shown = ", ".join(map(repr, declared[:5]))
        raise InputError(f"labels= lists two or more labels, each once; this lists {shown}.")
    return declared


def occurring_labels(y_true: ArrayLike) -> Labels:
    """The labels that occur in a column, in order."""
    return label_codes.distinct(arrays.column(y_true, "y_true", arrays.backend_for(y_true)), "y_true")[1]


# ---------------------------------------------------------------- scores


def score_table(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: Label = None,
    labels: LabelSet | None = None,
    sample_weight: Weights = None,
    frequency: Weights = None,
) -> ScoreTable:
    """Count true labels and scores of the positive class into the ordered scores of each class.

    Other labels than `pos_label` are negative. Scores are ranked as they are given; higher means more positive.

    >>> score_table([0, 1, 1], [0.2, 0.9, 0.4])
    <ScoreTable of 3 rows, 2 of them 1>
    """
    table = single_use_table(
        y_true, y_score, pos_label=pos_label, labels=labels, sample_weight=sample_weight, frequency=frequency
    )
    return replace(table, positive=table.positive.detached(), negative=table.negative.detached())


def single_use_table(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: Label,
    labels: LabelSet | None,
    sample_weight: Weights,
    frequency: Weights,
) -> ScoreTable:
    """The table for a single question: the scores of a common class are read where they are."""
    check_order(y_true=y_true, y_score=y_score, sample_weight=sample_weight, frequency=frequency)
    there = arrays.backend_for(y_true, y_score)
    true, given = arrays.column(y_true, "y_true", there), arrays.column(y_score, "y_score", there)
    score, precision = arrays.finite_scores(given, there), arrays.precision_of(given)
    weighed = Weighed.of(there, sample_weight, frequency, y_true=true, y_score=score)
    declared = declared_labels(labels)
    if not len(true) and declared is None:
        raise InputError("y_true and y_score are empty; give at least one row, or declare the labels with labels=.")
    positive, label = positive_rows(true, pos_label, declared, weighed.rows)
    if weighed.is_none:
        return ScoreTable(*_unweighted_classes(score, positive), label, precision=precision)
    mask = there.column(there.booleans(there.native(positive)))
    positives, negatives = (ClassScores.of_rows(score[rows], *weighed.at(rows)) for rows in (mask, ~mask))
    return ScoreTable(positives, negatives, label, precision=precision)


def positive_rows(
    true: Array, pos_label: Label, declared: Labels | None, frequency: Array | None = None
) -> tuple[Array, Label]:
    """Which rows are positive, as booleans or as 0 and 1, and the positive label."""
    there = backend_of(true)
    if (pos_label is None or pos_label is CONVENTION) and declared is None and there.is_zero_one(there.native(true)):
        return true, 1 if true.dtype.kind != "b" else True
    codes, labels = label_codes.encode(true, declared)
    label = chosen_label(pos_label, labels, lambda: label_codes.counts(codes, len(labels), frequency))
    return codes == (labels.index(label) if label in labels else -1), label


def _unweighted_classes(score: Array, positive: Array) -> tuple[ClassScores, ClassScores]:
    """The scores of both classes, where they are until the order of one is asked for."""
    there = backend_of(score)
    if len(score) < _FEW:
        mask = positive != 0
        positives, negatives = (ClassScores(score[rows], ascending=False, single_use=True) for rows in (mask, ~mask))
        return positives, negatives
    marks = there.marks(positive)
    both = LabelledScores(score, marks, there.count_ones(there.native(marks)))
    which = 2 * both.n_positive <= len(score)
    rare = ClassScores(LabelledClass(both, which), ascending=False, single_use=True)
    common = ClassScores(LabelledClass(both, not which), ascending=False, among=(score, rare), single_use=True)
    return (rare, common) if which else (common, rare)
