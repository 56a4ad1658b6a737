"""Multilabel tables: rows of several labels each, with their predictions or scores, as a MultilabelTable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.exceptions import InputError, first_ten
from steelyard.ingest import arrays
from steelyard.ingest.array_tables import Weighed
from steelyard.ingest.label_sets import are_matrices, frame_labels, paired_sets
from steelyard.ingest.row_order import check_order
from steelyard.ingest.score_matrix import columns_by_name
from steelyard.statistics.backend import backend_of
from steelyard.statistics.multilabel_table import MultilabelTable

if TYPE_CHECKING:
    from steelyard._types import Array, Labels, LabelSet, Weights


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
