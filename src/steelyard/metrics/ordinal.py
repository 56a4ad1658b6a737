"""The catalogue of ordered classes: metrics to which a near miss is a smaller error than a far one.

The classes are in the order of the labels: that of `labels=`, of an ordered categorical, else their own.
"""

from __future__ import annotations

import numpy as np

from steelyard.metrics.declaration import metric
from steelyard.metrics.expression import ratio
from steelyard.metrics.ranking import check_probabilities, mean_over_rows


@metric(
    "Mean absolute class error",
    family="ordinal",
    range=(0, float("inf")),
    best=0,
    aliases=("ordinal_mae",),
    cite="baccianella2009",
)
def mean_absolute_class_error(c):
    """Mean number of classes between the predicted and the true one, the classes in order; of two the error rate."""
    return ratio(c.fn + c.fp, c.total)


@mean_absolute_class_error.for_classes(absent=True)
def mean_absolute_class_error_of_classes(c):
    """Mean distance of the predicted from the true class, in places of the labels' order."""
    return ratio((_apart(c) * c.matrix).sum((-2, -1)), c.matrix.sum((-2, -1)))


@metric(
    "Macro mean absolute class error",
    family="ordinal",
    range=(0, float("inf")),
    best=0,
    aliases=("macro_averaged_mean_absolute_error", "macro_mae"),
    cite="baccianella2009",
)
def macro_mean_absolute_class_error(c):
    """Mean absolute class error of each true class, averaged over the classes, so that rare ones count alike."""
    return (ratio(c.fn, c.positives) + ratio(c.fp, c.negatives)) / 2


@macro_mean_absolute_class_error.for_classes
def macro_mean_absolute_class_error_of_classes(c):
    """Mean over the true classes of the mean distance of the predicted class from it."""
    return ratio((_apart(c) * c.matrix).sum(-1), c.positives).mean(-1)


def _apart(c):
    """How many places each pair of classes is apart."""
    place = np.arange(c.tp.shape[-1])
    return np.abs(place[:, None] - place)


@metric(
    "Ranked probability score",
    on="probabilities",
    family="ordinal",
    range=(0, 1),
    best=0,
    aliases=("rps",),
    cite="epstein1969",
)
def ranked_probability_score(t):
    """Mean squared distance of cumulated probabilities from the outcome, over the classes in order but the last.

    It is 0 to 1 for any number of classes; of two it is the Brier score. Others leave it as the sum over the classes,
    which is one less than their number times this.
    """
    positive, negative = check_probabilities("ranked_probability_score", t)
    return mean_over_rows(t, (1 - positive.scores) ** 2, negative.scores**2)


@ranked_probability_score.for_columns
def ranked_probability_score_of_rows(probabilities, codes):
    """Squared distance of each row's cumulated probabilities from its outcome, per step between two classes."""
    steps = probabilities.shape[1] - 1
    reached = np.arange(steps) >= codes.reshape(-1, 1)
    return ((np.cumsum(probabilities[:, :steps], axis=1) - reached) ** 2).sum(1) / steps
