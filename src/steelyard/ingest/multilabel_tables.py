"""Multilabel tables: rows of several labels each, with their predictions or scores, as a MultilabelTable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.errors import InputError
from steelyard.ingest import arrays
from steelyard.ingest.label_sets import paired_sets
from steelyard.ingest.refused_keywords import refuses_other_keywords
from steelyard.ingest.row_order import check_order
from steelyard.statistics.multilabel_table import MultilabelTable

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Array, Labels, LabelSet, Weights


@refuses_other_keywords
def multilabel(
    y_true: ArrayLike,
    y_pred: ArrayLike | None = None,
    *,
    y_score: ArrayLike | None = None,
    labels: LabelSet | None = None,
    sample_weight: Weights = None,
    frequency: Weights = None,
) -> MultilabelTable:
    """Rows that may have several labels each, or none: with the labels predicted, their scores, or both.

    Labels are a matrix of 0 and 1 with a column for each, dense, sparse or a frame, or a list or set of labels for
    each row. `y_score` is dense, with a column for each label.

    >>> multilabel([{"war", "trade"}, set()], [{"war"}, {"trade"}])
    <MultilabelTable of 2 rows, 2 labels>
    """
    check_order(y_true=y_true, y_pred=y_pred, y_score=y_score, sample_weight=sample_weight, frequency=frequency)
    if y_pred is None and y_score is None:
        raise InputError("y_true alone says nothing of a classifier; give y_pred, y_score or both.")
    given = [(y_true, "y_true")] + ([] if y_pred is None else [(y_pred, "y_pred")])
    columns = getattr(y_score, "columns", None)
    matrices, names = paired_sets(given, tuple(columns) if labels is None and columns is not None else labels)
    scores = None if y_score is None else _scores(y_score, names)
    weight, times = arrays.weights(sample_weight, "sample_weight"), arrays.weights(frequency, "frequency", whole=True)
    lengths = {name: np.empty(matrix.shape[0], bool) for (_, name), matrix in zip(given, matrices, strict=True)}
    arrays.check_lengths(**lengths, y_score=scores, sample_weight=weight, frequency=times)
    if not matrices[0].shape[0]:
        raise InputError("y_true is empty; give at least one row.")
    return MultilabelTable(names, matrices[0], matrices[1] if y_pred is not None else None, scores, weight, times)


def _scores(y_score: Any, labels: Labels) -> Array:
    """A column of finite scores for each label; the columns of a frame by their names."""
    if hasattr(y_score, "toarray"):
        raise InputError("y_score is sparse; scores are dense, a column for each label. Give y_score.toarray().")
    columns = getattr(y_score, "columns", None)
    matrix = np.asarray(y_score)
    if matrix.ndim != 2 or matrix.shape[1] != len(labels):
        raise InputError(
            f"y_score has shape {matrix.shape}; with {len(labels):,} labels it needs a column for each, in their order."
        )
    if columns is not None and {*columns} == {*labels}:
        matrix = matrix[:, [list(columns).index(label) for label in labels]]
    scores = arrays.numbers(matrix.reshape(-1), "y_score").reshape(matrix.shape)
    if not np.isfinite(scores).all():
        arrays.finite_scores(scores[:, np.argmin(np.isfinite(scores).all(0))])  # refuses it by its row
    return scores
