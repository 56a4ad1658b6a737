"""The catalogue for label sets: metrics of rows that may have several labels each, as the value of each row.

Each is the weighted mean of these values. Rows without labels, rows with all of them and ties are counted as in
scikit-learn; where k labels are taken and scores tie, the labels are taken in random order, and the value is its mean.
"""

from __future__ import annotations

from math import inf

import numpy as np

from steelyard.arrays.backend import taken
from steelyard.metrics.catalogue import accuracy, error_rate
from steelyard.metrics.declaration import metric
from steelyard.metrics.expression import undefined
from steelyard.metrics.ranking import precision_at_k

# ---------------------------------------------------------------- the labels predicted


@accuracy.for_label_sets
def accuracy_of_label_sets(t):
    """Whether all labels of a row are right, those that it has and those that it has not: subset accuracy."""
    return (t.by_row.fn + t.by_row.fp == 0).astype(np.float64)


@error_rate.for_label_sets
def error_rate_of_label_sets(t):
    """Whether any label of a row is wrong: the subset 0/1 loss."""
    return (t.by_row.fn + t.by_row.fp > 0).astype(np.float64)


@metric(
    "Hamming loss",
    on="label sets",
    family="label sets",
    range=(0, 1),
    best=0,
    cite="schapire2000",
    sklearn="hamming_loss",
    has_proper_title=True,
)
def hamming_loss(t):
    """Mean share of the labels of a row that are predicted wrongly: the error rate over all labels of all rows."""
    return (t.by_row.fn + t.by_row.fp) / len(t.labels)


# ---------------------------------------------------------------- the order of the labels


@metric(
    "Label ranking loss",
    on="label scores",
    family="label sets",
    range=(0, 1),
    best=0,
    aliases=("ranking_loss",),
    cite="tsoumakas2010",
    sklearn="label_ranking_loss",
)
def label_ranking_loss(t):
    """Mean share of a row's pairs of a true and another label in which the other one scores as high or higher."""
    true = t.ranks.true_labels
    pairs = true * (len(t.labels) - true)
    return t.ranks.row_sums(t.ranks.false_up_to) / np.maximum(pairs, 1)


@metric(
    "Coverage error",
    on="label scores",
    family="label sets",
    range=(0, inf),
    best=None,
    direction="lower",
    cite="tsoumakas2010",
    sklearn="coverage_error",
)
def coverage_error(t):
    """Mean number of labels that have to be taken, the highest scores first, until all true ones of a row are there."""
    return t.ranks.row_maxima(t.ranks.up_to)


@metric(
    "Label ranking average precision",
    on="label scores",
    family="label sets",
    range=(0, 1),
    aliases=("lrap",),
    cite="tsoumakas2010",
    sklearn="label_ranking_average_precision_score",
)
def label_ranking_average_precision(t):
    """Mean over a row's true labels of the share of true ones among those that score as high or higher."""
    true = t.ranks.true_labels
    mean = t.ranks.row_sums(t.ranks.true_up_to / t.ranks.up_to) / np.maximum(true, 1)
    return np.where((true == 0) | (true == len(t.labels)), 1.0, mean)


@metric(
    "NDCG",
    on="label scores",
    family="label sets",
    range=(0, 1),
    aliases=("normalized_discounted_cumulative_gain",),
    cite="jarvelin2002",
    sklearn="ndcg_score",
    domain={"k": "[1, inf)"},
)
def ndcg(t, *, k=None):
    """Sum over a row's true labels of a discount, 1 / log2(1 + rank), over its largest; of the k highest, or all.

    A row without labels has 0, as in scikit-learn.
    """
    ranks, size = t.ranks, len(t.labels)
    discount = 1 / np.log2(np.arange(2, size + 2))
    discount[np.arange(size) >= (size if k is None else k)] = 0
    gained = np.append(0, discount.cumsum())
    above, up_to = taken(gained, ranks.above), taken(gained, ranks.up_to)
    mean = (up_to - above) / (ranks.up_to - ranks.above)  # over the order of ties
    largest = taken(gained, ranks.true_labels)
    return np.minimum(ranks.row_sums(mean) / np.where(largest > 0, largest, 1), 1)


@precision_at_k.for_label_sets
def precision_at_k_of_label_sets(t, *, k=100):
    """Share of the true ones among the k labels of a row that score highest; ties count in part."""
    if k > len(t.labels):
        return undefined(f"fewer than {k:g} labels")
    return t.ranks.row_sums(t.ranks.share_within(k)) / k


@metric(
    "Propensity-scored precision at k",
    on="label scores",
    family="label sets",
    range=(0, inf),
    best=None,
    direction="higher",
    aliases=("psp_at_k",),
    cite="jain2016",
    domain={"k": "[1, inf)", "propensities": "array of (0, 1]"},
)
def propensity_scored_precision_at_k(t, *, k=5, propensities=None):
    """Precision among a row's k highest labels, a true one counted by 1 / its propensity: rare labels count more.

    The propensities are those of the training labels, from `label_propensities`, or an array with one for each label.
    """
    if propensities is None:
        return undefined("no propensities given")
    if k > len(t.labels):
        return undefined(f"fewer than {k:g} labels")
    worth = 1 / np.broadcast_to(np.asarray(propensities, dtype=np.float64), len(t.labels))
    return t.ranks.row_sums(t.ranks.share_within(k) * taken(worth, t.ranks.column)) / k
