"""The metrics of the selection study: each as what a model is chosen by, and as what is wanted of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.metrics.registry import get_metric

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.statistics.counts import Counts
    from steelyard.statistics.score_table import ScoreTable

NET_BENEFIT = "net_benefit"
# Of one table at one threshold, and of both classes. Some order models as another of them does at any one threshold:
# TPNR as the G-mean, alpha-accuracy and informedness as the balanced accuracy. Those are left out.
TWO_CLASS = (
    "accuracy",
    "balanced_accuracy",
    "f1",
    "f2",
    "mean_f1",
    "mcc",
    "kappa",
    "g_mean",
    "ac_score",
    "operating_point_score",
    "alpha_f1",
    "optimized_precision",
    "adjusted_g_mean",
    "iba",
    "class_weighted_accuracy",
)
ONE_CLASS = ("precision", "recall", "specificity")
THRESHOLDED = (*TWO_CLASS, *ONE_CLASS)
RANKED = ("roc_auc", "average_precision", "weighted_auc", "h_measure", "log_loss", "brier")
SCORED = (*RANKED, NET_BENEFIT)  # of the scores, whatever the threshold; net benefit at the training prevalence
METRICS = (*THRESHOLDED, *SCORED)
# What the mean over goals is taken of: one metric of each kind that users ask for.
GOALS = (
    "accuracy",
    "balanced_accuracy",
    "f1",
    "mcc",
    "g_mean",
    NET_BENEFIT,
    "roc_auc",
    "average_precision",
    "log_loss",
)
AT_THRESHOLD = tuple(name for name in GOALS if name in THRESHOLDED)
REGIMES = ("default", "tuned", "promised")  # the thresholds


def titles() -> dict[str, str]:
    """The metrics' names on paper."""
    return {name: get_metric(name).title for name in METRICS}


def oriented(values: Array, names: tuple[str, ...] = METRICS, axis: int = -2) -> Array:
    """Values of which more is better, undefined ones lowest; the metrics lie along `axis`.

    >>> oriented(np.array([[0.5, np.nan], [0.2, 0.1]]), ("mcc", "log_loss")).tolist()
    [[0.5, -inf], [-0.2, -0.1]]
    """
    sign = np.array([-1.0 if get_metric(name).best == 0 else 1.0 for name in names])
    shape = [1] * values.ndim
    shape[axis] = len(names)
    turned = values * sign.reshape(shape)
    return np.where(np.isnan(turned), -np.inf, turned)


def threshold_values(counts: Counts[Array]) -> Array:
    """Every metric of one threshold for each of the tables."""
    return np.array([get_metric(name)(counts) for name in THRESHOLDED])


def scored(table: ScoreTable, prevalence: float) -> Array:
    """Every metric of the scores; net benefit flags what is at least as probable as a training row is positive."""
    ranked = [float(get_metric(name)(table)) for name in RANKED]
    return np.array([*ranked, float(get_metric(NET_BENEFIT)(table.at(prevalence), threshold=prevalence))])
