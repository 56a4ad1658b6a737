"""Multilabel tables: rows of several labels each, with their predictions or scores, as a MultilabelTable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.arguments import names_wrong_arguments
from steelyard.exceptions import InputError, first_ten
from steelyard.ingest import arrays
from steelyard.ingest.array_tables import Weighed
from steelyard.ingest.frame_columns import FrameColumns, column_name, refuse_name
from steelyard.ingest.label_sets import are_matrices, frame_labels, paired_sets
from steelyard.ingest.row_order import check_order
from steelyard.ingest.score_matrix import columns_by_name
from steelyard.statistics.backend import backend_of
from steelyard.statistics.multilabel_table import MultilabelTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Labels, LabelSet, Weights


@names_wrong_arguments
def multilabel(
    y_true: ArrayLike,
    y_pred: ArrayLike | None = None,
    *,
    y_score: ArrayLike | None = None,
    labels: LabelSet | None = None,
    sample_weight: Weights = None,
    frequency: Weights | str = None,
    true: str | Sequence[str] | None = None,
    pred: str | Sequence[str] | None = None,
    score: str | Sequence[str] | None = None,
    weight: str | None = None,
    row: str | None = None,
    label: str | None = None,
    label_sep: str | None = None,
) -> MultilabelTable:
    """Rows that may have several labels each, or none: with the labels predicted, their scores, or both.

    Labels are a matrix of 0 and 1 with a column for each, dense, sparse or a frame, or a list or set of labels for each
    row. `y_score` is dense, with a column for each label. Tensors on a device stay there. Of a frame name the columns:
    patterns in which * is the label (`true="y_*"`, with `pred=` or `score=`), lists of columns, or a column of lists,
    or of text that `label_sep` divides. A long frame has a line for each `row` and `label`: with `true=` and `pred=` or
    `score=`, or two frames that list what is true and what is predicted.

    >>> multilabel([{"war", "trade"}, set()], [{"war"}, {"trade"}])
    <MultilabelTable of 2 rows, 2 labels>
    """
    columns = FrameColumns(true, pred, score, weight)  # type: ignore[arg-type]  # patterns, or lists of columns
    if row is not None or label is not None:
        return _of_long_frames(y_true, y_pred, columns, row, label)
    if true is not None or label_sep is not None:
        return _of_frame(y_true, columns, frequency, label_sep)
    refuse_name("frequency", frequency)
    weights: dict[str, Any] = {"sample_weight": sample_weight, "frequency": frequency}
    return label_sets_where_they_are(y_true, y_pred, y_score=y_score, labels=labels, **weights)


def label_set_table(
    y_true: Any,
    y_pred: Any = None,
    *,
    y_score: Any = None,
    labels: LabelSet | None = None,
    sample_weight: Weights = None,
    frequency: Weights = None,
) -> MultilabelTable:
    """The table of rows that are given as arrays, matrices or lists of labels."""
    check_order(y_true=y_true, y_pred=y_pred, y_score=y_score, sample_weight=sample_weight, frequency=frequency)
    if y_pred is None and y_score is None:
        raise InputError("y_true alone says nothing of a classifier; give y_pred, y_score or both.")
    given = [(y_true, "y_true")] + ([] if y_pred is None else [(y_pred, "y_pred")])
    matrices, names = paired_sets(given, labels, frame_labels(y_score))
    if y_score is not None and labels is None and not are_matrices(y_true) and frame_labels(y_score) is None:
        _check_counted(names)
    scores = None if y_score is None else _scores(y_score, names)
    there = backend_of(matrices[0])
    lengths = {name: np.empty(matrix.shape[0], bool) for (_, name), matrix in zip(given, matrices, strict=True)}
    lengths |= {} if scores is None else {"y_score": scores}
    weighed = Weighed.of(there, sample_weight, frequency, **lengths)
    if not matrices[0].shape[0]:
        raise InputError("y_true is empty; give at least one row.")
    return MultilabelTable(names, matrices[0], matrices[1] if y_pred is not None else None, scores, *weighed)


def label_sets_where_they_are(y_true: Any, y_pred: Any = None, *, y_score: Any = None, **rest: Any) -> MultilabelTable:
    """The same, of which matrices on a device stay there."""
    return label_set_table(**arrays.matrices_there(y_true=y_true, y_pred=y_pred, y_score=y_score), **rest)


def _of_long_frames(
    truth: Any, predicted: Any, columns: FrameColumns, row: str | None, label: str | None
) -> MultilabelTable:
    from steelyard.ingest.label_frames import long_table

    if row is None or label is None:
        raise InputError("A long frame has a column of rows and one of labels; name both, with row= and label=.")
    return long_table(truth, predicted, columns, row, label)


def _of_frame(frame: Any, columns: FrameColumns, frequency: Any, label_sep: str | None) -> MultilabelTable:
    from steelyard.ingest.label_frames import label_frame

    if columns.true is None or (columns.pred is None and columns.score is None):
        raise InputError("Of a frame name the columns of the truth and of predictions or scores: true=, pred=, score=.")
    return label_frame(frame, columns, column_name("frequency", frequency), label_sep=label_sep)[0]


def _check_counted(labels: Labels) -> None:
    """Refuse columns of scores without names beside lists of labels: nothing says which column is of which label."""
    if labels != tuple(range(len(labels))):
        raise InputError(
            f"y_score has no names, and the labels of the lists are {first_ten(labels)}; declare them with labels= in "
            "the order of its columns, or give a frame."
        )


def _scores(y_score: Any, labels: Labels) -> Array:
    """A column of finite scores for each label; the columns of a frame by their names."""
    if hasattr(y_score, "toarray"):
        raise InputError("y_score is sparse; scores are dense, a column for each label. Give y_score.toarray().")
    matrix = arrays.matrix(y_score, "y_score", backend_of(y_score))
    if matrix.ndim != 2 or matrix.shape[1] != len(labels):
        raise InputError(
            f"y_score has shape {matrix.shape}; with {len(labels):,} labels it needs a column for each, in their order."
        )
    return arrays.finite_columns(columns_by_name(matrix, y_score, labels))
