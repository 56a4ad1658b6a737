"""How sure an AUC is: DeLong's variance and paired test, and Newcombe's score interval. Used by uncertainty.

DeLong, DeLong and Clarke-Pearson (1988), Biometrics 44, 837-845; Sun and Xu (2014), IEEE Signal Processing Letters
21, 1389-1393; Newcombe (2006), Statistics in Medicine 25, 559-573.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import atanh, copysign, erfc, inf, isinf, isnan, sqrt, tanh
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.ingest import arrays
from steelyard.ingest.class_checks import rows_of_both_classes
from steelyard.metrics.ranking import roc_auc
from steelyard.statistics.class_scores import starting_at_zero

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.statistics.class_scores import ClassScores
    from steelyard.statistics.score_table import ScoreTable

HALVINGS = 60  # of an interval within [0, 1]: below the spacing of floats near 1
NEGLIGIBLE = 1e-12  # an AUC this near to 0 or 1, or a standard error this small, is one but for rounding


# ---------------------------------------------------------------- DeLong's variance


@dataclass(frozen=True, eq=False)
class Components:
    """The structural components of one class: its rows' shares of the other class ranked rightly, ties half."""

    values: Array
    weights: Array

    @property
    def mean(self) -> float:
        """The AUC, from either class."""
        return float(self.weights @ self.values / self.weights.sum())

    def variance_of_mean(self, size: float) -> float:
        """What the class adds to the variance of the AUC; infinite where a single row shows no spread."""
        if size <= 1:
            return inf
        return float(self.weights @ (self.values - self.mean) ** 2 / self.weights.sum() / (size - 1))


def components(table: ScoreTable) -> tuple[Components, Components]:
    """DeLong's structural components of the positives and of the negatives, with the weight of each; both must occur.

    One class is placed among the other, never every pair: rows of the larger class that lie between the same two
    scores of the smaller one, or tie with the same one, share a component.

    >>> from steelyard import score_table
    >>> positives, negatives = components(score_table([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]))
    >>> positives.values
    array([0.5, 1. ])
    """
    few, many = sorted((table.positive, table.negative), key=lambda side: side.size)
    scores, weights = few.distinct
    below, up_to = large = many.around_each(scores)
    total = _total(many)
    first = Components(np.add(below, up_to, dtype=np.float64) / (2.0 * total), weights.astype(np.float64))
    second = _between(weights, large, total)
    return (first, _above(second)) if few is table.positive else (second, _above(first))


def _total(side: ClassScores) -> float:
    """The weight of a class; that of fractions as their running sum ends, so that rounding leaves nothing over."""
    return float(side.total if side.given_weights is None else side.below(np.array(np.inf)))


def _between(weights: Array, around: tuple[Array, Array], total: float) -> Components:
    """The share of the few below the many that lie before each of them, tie with it, or lie above them all."""
    reached = starting_at_zero(np.cumsum(weights, dtype=np.float64))
    shares = np.append(np.stack([reached[:-1], (reached[:-1] + reached[1:]) / 2], -1), reached[-1]) / reached[-1]
    ends = np.append(np.stack(around, -1).astype(np.float64), total)
    return Components(shares, np.diff(ends, prepend=0.0))


def _above(shares: Components) -> Components:
    """The negatives are ranked rightly by the positives above them."""
    return Components(1 - shares.values, shares.weights)


def delong_variance(table: ScoreTable) -> float:
    """DeLong's variance of the AUC; infinite where a class has fewer than two rows.

    >>> from steelyard import score_table
    >>> delong_variance(score_table([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]))
    0.125
    """
    sizes = table.positive.effective_size, table.negative.effective_size
    if min(sizes) <= 1:
        return inf
    return sum(part.variance_of_mean(size) for part, size in zip(components(table), sizes, strict=True))


# ---------------------------------------------------------------- intervals


def delong(table: ScoreTable, level: float = 0.95) -> tuple[float, float]:
    """The AUC give or take its DeLong error, cut at 0 and 1: too narrow near them and with few positives."""
    auc = _auc(table)
    if isnan(auc):
        return auc, auc
    reach = _z(level) * sqrt(delong_variance(table))
    return max(auc - reach, 0.0), min(auc + reach, 1.0)


def logit_delong(table: ScoreTable, level: float = 0.95) -> tuple[float, float]:
    """DeLong's interval on the scale of the logit; the score interval where the AUC is 0 or 1 or shows no spread."""
    auc, error = _auc(table), sqrt(delong_variance(table))
    if isnan(auc):
        return auc, auc
    if isinf(error):
        return 0.0, 1.0
    spread = auc * (1 - auc)
    if min(spread, error) < NEGLIGIBLE:
        return score_interval(table, level)
    return _from_logit(auc, _z(level) * error / spread)


def _from_logit(auc: float, reach: float) -> tuple[float, float]:
    """The AUCs whose logits lie so far below and above."""
    half = atanh(2 * auc - 1)  # half the logit, and tanh its way back, which no reach overflows
    return min((1 + tanh(half - reach / 2)) / 2, auc), max((1 + tanh(half + reach / 2)) / 2, auc)


def score_interval(table: ScoreTable, level: float = 0.95) -> tuple[float, float]:
    """Every AUC from which the one seen is no further than its own error allows (Newcombe's method 5).

    >>> from steelyard import score_table
    >>> low, high = score_interval(score_table([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]))
    >>> print(f"{low:.4f} {high:.4f}")
    0.2272 0.9668
    """
    auc = _auc(table)
    if isnan(auc):
        return auc, auc
    return _score_ends(table, auc, _z(level))


def widened_score_interval(table: ScoreTable, level: float = 0.95) -> tuple[float, float]:
    """The score interval, widened where DeLong's variance exceeds the one it assumes; never narrower.

    Hanley and McNeil's variance holds for classes that spread alike. Where 30 positives spread twice or three times
    as wide as 300 negatives (AUC 0.7 to 0.96, 4,000 repeats), Newcombe's 95 % interval covers 84 to 92 %, DeLong's
    76 to 94 % and this one 93 to 97 %.
    """
    auc, found = _auc(table), delong_variance(table)
    if isnan(auc):
        return auc, auc
    assumed = score_variance(auc, table.positive.effective_size, table.negative.effective_size)
    wider = found / assumed if assumed and not isinf(found) else 1.0
    return _score_ends(table, auc, _z(level) * sqrt(max(wider, 1.0)))


METHODS = {"score": widened_score_interval, "delong": delong, "logit-delong": logit_delong}


def _score_ends(table: ScoreTable, auc: float, z: float) -> tuple[float, float]:
    sizes = table.positive.effective_size, table.negative.effective_size
    return _furthest(auc, 0.0, z, *sizes), _furthest(auc, 1.0, z, *sizes)


def score_variance(auc: float, positives: float, negatives: float) -> float:
    """Hanley and McNeil's variance of an AUC with both sizes of its bracket at their mean, as Newcombe proposes.

    >>> score_variance(0.5, 1, 1)
    0.25
    """
    rest = (positives + negatives) / 2 - 1
    bracket = 1 + rest * ((1 - auc) / (2 - auc) + auc / (1 + auc))
    return auc * (1 - auc) * bracket / (positives * negatives)


def _furthest(auc: float, end: float, z: float, positives: float, negatives: float) -> float:
    """The furthest AUC towards 0 or 1 that the score interval holds, by bisection: at 0 and 1 a root hides another."""
    inside, outside = auc, end
    for _ in range(HALVINGS):
        middle = (inside + outside) / 2
        held = abs(auc - middle) <= z * sqrt(score_variance(middle, positives, negatives))
        inside, outside = (middle, outside) if held else (inside, middle)
    return inside


def _auc(table: ScoreTable) -> float:
    """The AUC, never outside its range by rounding; NaN with its reason where a class is missing."""
    auc: float = roc_auc(table)
    return auc if isnan(auc) else min(max(float(auc), 0.0), 1.0)


def _z(level: float) -> float:
    """The normal quantile that leaves half of the rest above it."""
    return -NormalDist().inv_cdf((1 - level) / 2)


# ---------------------------------------------------------------- two models on the same rows


@dataclass(frozen=True)
class PairedAuc:
    """The AUCs of two models on the same rows, and the test that they are equal."""

    auc_a: float
    auc_b: float
    difference: float
    variance: float
    z: float
    p_value: float


def paired_delong(y_true: Any, score_a: Any, score_b: Any, pos_label: Any = None) -> PairedAuc:
    """DeLong's paired test that two models have the same AUC, two-sided.

    Models that rank alike differ by 0 with p = 1. Where the models differ and every row differs alike, the variance
    is 0 and z infinite; where a class has one row, the variance is infinite and p = 1.

    >>> paired_delong([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], [0.1, 0.2, 0.3, 0.4])
    PairedAuc(auc_a=0.75, auc_b=1.0, difference=-0.25, variance=0.125, z=-0.707..., p_value=0.4795...)
    """
    positive, models = _paired_rows(y_true, score_a, score_b, pos_label)
    m, n = int(positive.sum()), int((~positive).sum())
    (up_a, down_a), (up_b, down_b) = (_twice_beaten(model[positive], model[~positive]) for model in models)
    sums, pairs = (int(up_a.sum()), int(up_b.sum())), 2 * m * n
    # The variance of a difference of means is that of the rows' differences: no covariance is needed.
    variance = _of_rows((up_a - up_b) / (2 * n)) + _of_rows((down_a - down_b) / (2 * m))
    return _tested(sums[0] / pairs, sums[1] / pairs, (sums[0] - sums[1]) / pairs, variance)


def _paired_rows(y_true: Any, score_a: Any, score_b: Any, pos_label: Any) -> tuple[Array, tuple[Array, Array]]:
    true = arrays.column(y_true, "y_true")
    models = arrays.finite_scores(score_a), arrays.finite_scores(score_b)
    arrays.check_lengths(y_true=true, score_a=models[0], score_b=models[1])
    return rows_of_both_classes(true, pos_label), models


def _twice_beaten(positives: Array, negatives: Array) -> tuple[Array, Array]:
    """Twice the negatives below each positive and twice the positives above each negative, ties once: midranks."""
    up, down = _twice_below(positives, negatives), _twice_below(negatives, positives)
    return up, 2 * len(positives) - down


def _twice_below(rows: Array, others: Array) -> Array:
    """Twice how many others are below each row, ties once, in the order of the rows."""
    order, ordered = np.argsort(rows), np.sort(others)
    ascending = rows[order]  # searched in order, the places stay in the cache
    twice = np.empty(len(rows), dtype=np.int64)
    twice[order] = np.searchsorted(ordered, ascending) + np.searchsorted(ordered, ascending, side="right")
    return twice


def _of_rows(differences: Array) -> float:
    return Components(differences, np.ones(len(differences))).variance_of_mean(len(differences))


def _tested(auc_a: float, auc_b: float, difference: float, variance: float) -> PairedAuc:
    error = sqrt(variance)
    z = difference / error if error else (copysign(inf, difference) if difference else 0.0)
    return PairedAuc(auc_a, auc_b, difference, variance, z, erfc(abs(z) / sqrt(2)))
