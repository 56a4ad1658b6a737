"""Multilabel tables: rows of several labels each, with their predictions or scores, as a MultilabelTable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.exceptions import InputError, first_ten
from steelyard.ingest import arrays
from steelyard.ingest.device_columns import device_weights
from steelyard.ingest.device_label_sets import device_label_scores, matrices_there
from steelyard.ingest.label_sets import are_matrices, frame_labels, paired_sets
from steelyard.ingest.row_order import check_order
from steelyard.ingest.score_matrix import columns_by_name
from steelyard.statistics.device_array import DeviceArray
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
    weight, times = _weights(y_true, sample_weight=sample_weight, frequency=frequency)
    lengths = {name: np.empty(matrix.shape[0], bool) for (_, name), matrix in zip(given, matrices, strict=True)}
    arrays.check_lengths(**lengths, y_score=scores, sample_weight=weight, frequency=times)
    if not matrices[0].shape[0]:
        raise InputError("y_true is empty; give at least one row.")
    return MultilabelTable(names, matrices[0], matrices[1] if y_pred is not None else None, scores, weight, times)


def label_sets_where_they_are(y_true: Any, y_pred: Any = None, *, y_score: Any = None, **rest: Any) -> MultilabelTable:
    """The same, of which matrices on a device stay there."""
    return label_set_table(**matrices_there(y_true=y_true, y_pred=y_pred, y_score=y_score), **rest)


def _weights(y_true: Any, **given: Weights) -> list[Array | None]:
    """Columns of weights, on the device where the rows are there; a frequency is a whole number."""
    if not isinstance(y_true, DeviceArray):
        return [arrays.weights(values, name, whole=name == "frequency") for name, values in given.items()]
    there = (device_weights(y_true.library, values, name, whole=name == "frequency") for name, values in given.items())
    return [*there]  # type: ignore[list-item]  # which compute as NumPy's arrays do


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
    matrix = y_score if isinstance(y_score, DeviceArray) else arrays.matrix(y_score, "y_score")
    if matrix.ndim != 2 or matrix.shape[1] != len(labels):
        raise InputError(
            f"y_score has shape {matrix.shape}; with {len(labels):,} labels it needs a column for each, in their order."
        )
    if isinstance(matrix, DeviceArray):
        return device_label_scores(matrix)  # type: ignore[return-value]  # which computes as an array of NumPy's
    matrix = columns_by_name(matrix, y_score, labels)
    scores = arrays.numbers(matrix.reshape(-1), "y_score").reshape(matrix.shape)
    if not np.isfinite(scores).all():
        arrays.finite_scores(scores[:, np.argmin(np.isfinite(scores).all(0))])  # refuses it by its row
    return scores
