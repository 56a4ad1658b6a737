"""Tables of arrays: labels counted into a Confusion, scores into a ScoreTable, in one pass."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from steelyard.exceptions import InputError
from steelyard.ingest import arrays, code_counts, device_tables, label_codes
from steelyard.ingest.category_order import category_order
from steelyard.ingest.device_columns import device_of
from steelyard.ingest.device_tables import DeviceRows
from steelyard.ingest.label_number import check_label_number
from steelyard.ingest.row_order import check_order
from steelyard.statistics.class_scores import ClassScores
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.labelled_scores import LabelledClass, LabelledScores
from steelyard.statistics.positive_class import CONVENTION, chosen_label
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Array, Label, Labels, LabelSet, Weights

_FEW = 1_024  # rows of which copying both classes takes less time than what would put the copies off


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
    if (library := device_of(y_true, y_pred)) is not None:
        rows_there = DeviceRows.of(library, y_true, sample_weight, frequency, y_pred=y_pred)
        there = device_tables.device_confusion(rows_there, declared_labels(labels))
        return there if pos_label is None else there.with_positive(pos_label)
    true, pred = arrays.column(y_true, "y_true"), arrays.column(y_pred, "y_pred")
    weight = arrays.weights(sample_weight, "sample_weight")
    rows = arrays.weights(frequency, "frequency", whole=True)
    arrays.check_lengths(y_true=true, y_pred=pred, sample_weight=weight, frequency=rows)
    declared = declared_labels(labels) if labels is not None else category_order(y_true, true, pred)
    if not len(true) and declared is None:
        raise InputError("y_true and y_pred are empty; give at least one row, or declare the labels with labels=.")
    if (counted := _positive_weight(weight, rows)) is not None:
        true, pred, weight, rows = true[counted], pred[counted], _at(weight, counted), _at(rows, counted)
    table = None if weight is not None or rows is not None or declared else _small_integers(true, pred)
    table = _coded(true, pred, weight, rows, declared) if table is None else table
    return table if pos_label is None else table.with_positive(pos_label)


def _positive_weight(*columns: Array | None) -> Array | None:
    """Which rows have weight; one of none is as good as absent. None where all have."""
    masks = [column > 0 for column in columns if column is not None]
    return None if all(mask.all() for mask in masks) else np.logical_and.reduce(masks)


def _at(column: Array | None, rows: Array) -> Array | None:
    return None if column is None else column[rows]


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


def _coded(true: Array, pred: Array, weight: Array | None, rows: Array | None, declared: Labels | None) -> Confusion:
    """The table of labels of any kind, by their codes."""
    true_codes, pred_codes, labels = label_codes.encode_pair(true, pred, declared)
    check_label_number(len(labels), len(true) if rows is None else int(rows.sum()), declared=declared is not None)
    return Confusion(labels, *code_counts.pair_counts(true_codes, pred_codes, len(labels), weight, rows))


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
    if (library := device_of(y_true)) is not None:
        return device_tables.labels_on_device(library, y_true)
    return label_codes.distinct(arrays.column(y_true, "y_true"), "y_true")[1]


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
    if (library := device_of(y_true, y_score)) is not None:
        rows_there = DeviceRows.of(library, y_true, sample_weight, frequency, y_score=y_score)
        return device_tables.device_score_table(rows_there, pos_label, declared_labels(labels))
    true, given = arrays.column(y_true, "y_true"), arrays.column(y_score, "y_score")
    score, precision = arrays.finite_scores(given), arrays.precision_of(given)
    weight = arrays.weights(sample_weight, "sample_weight")
    rows = arrays.weights(frequency, "frequency", whole=True)
    arrays.check_lengths(y_true=true, y_score=score, sample_weight=weight, frequency=rows)
    declared = declared_labels(labels)
    if not len(true) and declared is None:
        raise InputError("y_true and y_score are empty; give at least one row, or declare the labels with labels=.")
    positive, label = positive_rows(true, pos_label, declared, rows)
    if weight is None and rows is None:
        return ScoreTable(*_unweighted_classes(score, positive), label, precision=precision)
    masks = ((positive != 0) == which for which in (True, False))
    positives, negatives = (ClassScores.of_rows(score[mask], _at(weight, mask), _at(rows, mask)) for mask in masks)
    return ScoreTable(positives, negatives, label, precision=precision)


def positive_rows(
    true: Array, pos_label: Label, declared: Labels | None, frequency: Array | None = None
) -> tuple[Array, Label]:
    """Which rows are positive, as booleans or as 0 and 1, and the positive label."""
    if (pos_label is None or pos_label is CONVENTION) and declared is None and code_counts.is_zero_one(true):
        return true, 1 if true.dtype.kind != "b" else True
    codes, labels = label_codes.encode(true, declared)
    label = chosen_label(pos_label, labels, lambda: label_codes.counts(codes, len(labels), frequency))
    return codes == (labels.index(label) if label in labels else -1), label


def _unweighted_classes(score: Array, positive: Array) -> tuple[ClassScores, ClassScores]:
    """The scores of both classes, where they are until the order of one is asked for."""
    if len(score) < _FEW:
        mask = positive != 0
        positives, negatives = (ClassScores(score[rows], ascending=False, single_use=True) for rows in (mask, ~mask))
        return positives, negatives
    both = LabelledScores(score, positive, code_counts.count_ones(positive))
    which = 2 * both.n_positive <= len(score)
    rare = ClassScores(LabelledClass(both, which), ascending=False, single_use=True)
    common = ClassScores(LabelledClass(both, not which), ascending=False, among=(score, rare), single_use=True)
    return (rare, common) if which else (common, rare)
