"""The catalogue for any number of classes: the form that a metric takes there where it has one of its own.

Each is a function of the one-vs-rest cells of all classes on the last axis, so that recall(c) is one recall a class.
With two classes it gives what the formula over the four counts gives; a law holds that. Of probabilities, a column for
each class, it is the loss of each row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.metrics.calibration import brier_skill_score
from steelyard.metrics.catalogue import (
    ac_score,
    accuracy,
    balanced_accuracy,
    correlation_distance,
    error_rate,
    g_mean,
    informedness,
    kappa,
    mcc,
    precision,
    recall,
    symmetric_balanced_accuracy,
    tpnr,
)
from steelyard.metrics.expression import angle, ratio, sqrt
from steelyard.metrics.ranking import brier, d2_log_loss, log_loss, top_k_accuracy

if TYPE_CHECKING:
    from steelyard._types import Array

_ROUNDING = 1e-15  # what is left of 1 where all rows are right


@accuracy.for_classes(pooled=True)
def accuracy_of_classes(c):
    """Share of all rows on the diagonal."""
    return ratio(c.tp.sum(-1), c.tp.sum(-1) + c.fn.sum(-1))


@error_rate.for_classes(pooled=True)
def error_rate_of_classes(c):
    """Share of all rows off the diagonal."""
    return ratio(c.fn.sum(-1), c.tp.sum(-1) + c.fn.sum(-1))


@balanced_accuracy.for_classes
def balanced_accuracy_of_classes(c):
    """Mean of the class recalls."""
    return recall(c).mean(-1)


@informedness.for_classes
def informedness_of_classes(c):
    """Mean of the class recalls, scaled to 0 for a random predictor: scikit-learn's adjusted balanced accuracy."""
    k = c.tp.shape[-1]
    return ratio(k * recall(c).mean(-1) - 1, k - 1)


@tpnr.for_classes
def tpnr_of_classes(c):
    """Product of the class recalls (Asawa); it shrinks with the number of classes, so read the G-mean beside it."""
    return recall(c).prod(-1)


@g_mean.for_classes
def g_mean_of_classes(c):
    """The K-th root of the product of the K class recalls."""
    return (recall(c) ** (1 / c.tp.shape[-1])).prod(-1)  # rooted first: a product of 1,000 recalls would underflow


@ac_score.for_classes
def ac_score_of_classes(c):
    """Harmonic mean of the class recalls, 0 where one of them is: an extension of Wu and Cannistraci's two classes."""
    r = recall(c)
    mean = r.shape[-1] / (1 / np.where(r == 0, 1, r)).sum(-1)
    return np.where((r == 0).any(-1) & ~np.isnan(r).any(-1), 0.0, mean)


@mcc.for_classes(absent=True)
def mcc_of_classes(c):
    """Gorodkin's R_K, written by the determinants of the one-vs-rest tables, which do not cancel."""
    truth = (c.positives * c.negatives).sum(-1)
    spread = ratio(truth, (c.predicted_positives * c.predicted_negatives).sum(-1))  # a ratio: a product would overflow
    return ratio((c.tp * c.tn - c.fn * c.fp).sum(-1), truth) * sqrt(spread)


@correlation_distance.for_classes(absent=True)
def correlation_distance_of_classes(c):
    """The angle whose cosine is Gorodkin's R_K."""
    cosine = np.clip(mcc_of_classes(c), -1, 1)
    cosine = np.where(1 - np.abs(cosine) < _ROUNDING, np.sign(cosine), cosine)
    return angle(cosine, np.sqrt((1 - cosine) * (1 + cosine)))


@symmetric_balanced_accuracy.for_classes
def symmetric_balanced_accuracy_of_classes(c):
    """Mean of recall and precision over the classes."""
    return (recall(c) + precision(c)).mean(-1) / 2


@kappa.for_classes(absent=True)
def kappa_of_classes(c, *, weights=None):
    """Cohen's kappa; with linear or quadratic weights a near miss counts less than a far one, labels in order."""
    if weights is None:
        return ratio((c.tp * c.tn - c.fn * c.fp).sum(-1), (c.predicted_positives * c.negatives).sum(-1))
    matrix, place = np.asarray(c.matrix), np.arange(c.tp.shape[-1])
    apart = np.abs(place[:, None] - place) ** (1 if weights == "linear" else 2)
    expected = c.positives[..., :, None] * c.predicted_positives[..., None, :] / c.total[..., :1, None]
    agree = ratio((apart * matrix).sum((-2, -1)), (apart * expected).sum((-2, -1)))
    return 1 - agree


# ---------------------------------------------------------------- one column of probabilities for each class


def own_column(scores: Array, codes: Array) -> Array:
    """The score that each row was given for its class."""
    return np.take_along_axis(scores, codes.reshape(-1, 1), 1).ravel()


@log_loss.for_columns
def log_loss_of_rows(probabilities, codes):
    """Negative log-likelihood of each row's class; infinite where it had probability 0."""
    with np.errstate(divide="ignore"):
        return -np.log(own_column(probabilities, codes))


d2_log_loss.for_columns(log_loss_of_rows, skill=True)


@brier.for_columns(range=(0, 2))
def brier_of_rows(probabilities, codes):
    """Squared distance of each row's probabilities from its class: 0 to 2, as Brier wrote it; of two classes half."""
    distance = probabilities - (np.arange(probabilities.shape[1]) == codes.reshape(-1, 1))
    return (distance**2).sum(1) / (2 if probabilities.shape[1] == 2 else 1)


brier_skill_score.for_columns(brier_of_rows, skill=True)


@top_k_accuracy.for_columns(least_classes=3)
def top_k_of_rows(scores, codes, *, k=2):
    """Whether each row's class is among its k highest scores; of equal scores the later class goes first."""
    own = own_column(scores, codes).reshape(-1, 1)
    before = (scores > own) | ((scores == own) & (np.arange(scores.shape[1]) > codes.reshape(-1, 1)))
    return (before.sum(1) < k).astype(np.float64)
