"""Drop-ins for scikit-learn's functions of rows with several labels: the same options, values, types and warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.interop.sklearn_inputs import columns_of, delegate, label_sets, label_table, row_cells, scored_sets
from steelyard.interop.sklearn_rates import table_counts
from steelyard.interop.sklearn_tables import accuracy_score, agreeing_rows
from steelyard.metrics.label_ranking import coverage_error as coverage
from steelyard.metrics.label_ranking import hamming_loss as hamming
from steelyard.metrics.label_ranking import label_ranking_average_precision, ndcg
from steelyard.metrics.label_ranking import label_ranking_loss as ranking_loss
from steelyard.tables.multilabel_table import is_sparse

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Array, Weights
    from steelyard.tables.counts import Counts


def sklearn_hamming_loss(y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: Weights = None) -> Any:
    """Share of the labels of all rows that are wrong; of rows of one class each, share of the wrong rows."""
    table = label_sets(y_true, y_pred, sample_weight)
    if table is not None:
        loss = float(hamming(table))
        return loss if sample_weight is None else np.float64(loss)  # as scikit-learn's own is
    sums = agreeing_rows(y_true, y_pred, sample_weight)
    if sums is None:
        return delegate("hamming_loss", y_true, y_pred, sample_weight=sample_weight)
    return float((sums[1] - sums[0]) / sums[1])


def zero_one_loss(
    y_true: ArrayLike, y_pred: ArrayLike, *, normalize: bool = True, sample_weight: Weights = None
) -> Any:
    """Share, or number, of the rows that are predicted wrongly, a row of several labels where any of them is wrong."""
    if isinstance(normalize, bool) and (sums := agreeing_rows(y_true, y_pred, sample_weight)) is not None:
        score = accuracy_score(y_true, y_pred, normalize=normalize, sample_weight=sample_weight)
        if normalize:
            return 1 - score
        return (sums[1] if sample_weight is None else np.sum(np.asarray(sample_weight))) - score
    return delegate("zero_one_loss", y_true, y_pred, normalize=normalize, sample_weight=sample_weight)


def multilabel_confusion_matrix(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sample_weight: Weights = None,
    labels: ArrayLike | None = None,
    samplewise: bool = False,
) -> Any:
    """The two-by-two table of each class or label against the rest, or of each row over its labels."""
    counts = _each(y_true, y_pred, sample_weight, labels, samplewise) if isinstance(samplewise, bool) else None
    if counts is None:
        options = {"sample_weight": sample_weight, "labels": labels, "samplewise": samplewise}
        return delegate("multilabel_confusion_matrix", y_true, y_pred, **options)
    cells = np.stack([counts.tn, counts.fp, counts.fn, counts.tp])
    if sample_weight is not None:  # of rows scikit-learn keeps the kind of whole weights, of classes it does not
        whole = samplewise and np.asarray(sample_weight).dtype.kind in "iu"
        cells = cells.astype(np.int64 if whole else np.float64, copy=False)
    return cells.T.reshape(-1, 2, 2)


def _each(
    y_true: ArrayLike, y_pred: ArrayLike, sample_weight: Weights, labels: ArrayLike | None, samplewise: bool
) -> Counts[Array] | None:
    """The counts of each class, label or row."""
    if (sets := label_sets(y_true, y_pred, sample_weight)) is not None:
        chosen = columns_of(sets, labels)
        if chosen is None or not samplewise:
            return None if chosen is None else chosen.by_label
        return row_cells(chosen)
    table = None if samplewise else label_table(y_true, y_pred, sample_weight)
    positions = None if table is None or labels is None else table.positions(labels)
    if table is None or (positions is None and labels is not None):
        return None
    return table_counts(table, positions)


# ---------------------------------------------------------------- the order of the labels


def sklearn_coverage_error(y_true: ArrayLike, y_score: ArrayLike, *, sample_weight: Weights = None) -> Any:
    """How many labels have to be taken, the highest scores first, until all true ones are there."""
    table = scored_sets(y_true, y_score, sample_weight)
    if table is None or is_sparse(table.true):
        return delegate("coverage_error", y_true, y_score, sample_weight=sample_weight)
    return float(coverage(table))


def sklearn_label_ranking_loss(y_true: ArrayLike, y_score: ArrayLike, *, sample_weight: Weights = None) -> Any:
    """Share of the pairs of a true and another label that are ordered wrongly."""
    table = scored_sets(y_true, y_score, sample_weight)
    if table is None:
        return delegate("label_ranking_loss", y_true, y_score, sample_weight=sample_weight)
    return float(ranking_loss(table))


def label_ranking_average_precision_score(
    y_true: ArrayLike, y_score: ArrayLike, *, sample_weight: Weights = None
) -> Any:
    """Mean over the true labels of the share of true ones among those that score as high."""
    table = scored_sets(y_true, y_score, sample_weight)
    if table is None:
        return delegate("label_ranking_average_precision_score", y_true, y_score, sample_weight=sample_weight)
    return float(label_ranking_average_precision(table))


def ndcg_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    k: int | None = None,
    sample_weight: Weights = None,
    ignore_ties: bool = False,
) -> Any:
    """Normalized discounted cumulative gain of each row's labels; graded relevance is left to scikit-learn."""
    usual = ignore_ties is False and (k is None or (type(k) is int and k > 0))
    table = scored_sets(y_true, y_score, sample_weight) if usual else None
    if table is None or is_sparse(table.true):
        options = {"k": k, "sample_weight": sample_weight, "ignore_ties": ignore_ties}
        return delegate("ndcg_score", y_true, y_score, **options)
    return float(ndcg(table, k=k))
