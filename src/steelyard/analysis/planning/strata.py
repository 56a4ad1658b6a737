"""Score strata: ranges of scores in which labels are drawn at random, and how many are drawn in each.

Neyman's allocation: a stratum gets labels by its rows times the standard deviation of what their labels move the metric
by (Neyman 1934, Journal of the Royal Statistical Society 97, 558-625). The scores may be wrong, so four ninths of the
labels are drawn from all rows alike: whatever the labels are, the variance is then at most 9/4 times that of labels
drawn at random, and the error 1.5 times. Where the scores promise little, as of the area under the ROC curve, two
thirds are, since scores that are wrong would cost more than right ones gain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.analysis.distributions import normal_quantile
from steelyard.analysis.intervals.draws import generator
from steelyard.analysis.intervals.influence import has_influence, score_influence
from steelyard.analysis.prevalence.prevalence import checked_prevalence
from steelyard.exceptions import InputError
from steelyard.metrics.values import count_values
from steelyard.tables.class_scores import ClassScores
from steelyard.tables.counts import Counts
from steelyard.tables.score_table import ScoreTable

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.intervals.plan_draws import PlannedRows
    from steelyard.metrics.spec import MetricSpec


EVEN_SHARE, MORE_EVEN = 4 / 9, 2 / 3  # of the labels, drawn from all rows alike
_LITTLE = 1.5  # a gain below which more labels are drawn from all rows alike
_LABELS_PER_STRATUM, _MOST_PER_SIDE, LEAST_LABELS = 40, 4, 2


class StratumMoments(NamedTuple):
    """Of each stratum its rows, and the mean and the variance of what their labels move the metric by."""

    rows: Array
    means: Array
    variances: Array

    @classmethod
    def of(cls, codes: Array, strata: int, mean: Array, square: Array, rows: Array) -> StratumMoments:
        """By the moments of each row, or of what stands for some rows."""
        totals = np.maximum(np.bincount(codes, rows, minlength=strata), 1e-300)
        means, squares = (np.bincount(codes, rows * each, minlength=strata) / totals for each in (mean, square))
        return cls(totals, means, np.maximum(squares - means**2, 0))

    def gain(self, labels: Array, *, infinite: bool = False) -> float:
        """How many labels at random are worth one of these: the ratio of the variances of the metric.

        All rows are a sample of their population, which matters little to few labels, and not if rows are infinite.
        """
        shares, total = self.rows / self.rows.sum(), np.inf if infinite else self.rows.sum()
        between = float(shares @ (self.means - shares @ self.means) ** 2)
        at_random = (float(shares @ self.variances) + between) / labels.sum()
        chosen = float(np.sum(shares**2 * self.variances / np.maximum(labels, 1e-9))) + between / float(total)
        return float(at_random / chosen) if chosen > 0 else 1.0


def stratum_edges(scores: Array, deviations: Array, flagged: Array | None, budget: int) -> Array:
    """The lowest score of each stratum but the first: ranges that would get as many labels each, on both sides.

    `deviations` are the standard deviations of what the label of each row moves the metric by.
    """
    sides = [np.ones(len(scores), dtype=bool)] if flagged is None else [~flagged, flagged]
    most = _MOST_PER_SIDE * (2 if flagged is None else 1)
    strata = int(np.clip(budget // (_LABELS_PER_STRATUM * len(sides)), 1, most))
    edges = [_equal_parts(scores[side], deviations[side], strata) for side in sides]
    return np.unique(np.concatenate([*edges, [] if flagged is None else [scores[flagged].min()]]))


def _equal_parts(scores: Array, deviations: Array, parts: int) -> Array:
    """The scores that divide the rows into parts whose deviations have equal sums, as far as ties allow."""
    order = np.argsort(scores, kind="stable")
    running = np.cumsum(deviations[order])
    if not len(order) or not running[-1] > 0:
        return np.zeros(0)
    indices = np.searchsorted(running, running[-1] * np.arange(1, parts) / parts)
    edges = np.unique(scores[order[indices]])
    return np.asarray(edges[edges > scores.min()])


def in_strata(edges: Array, scores: Array) -> Array:
    """The stratum of each score."""
    return np.asarray(np.searchsorted(edges, scores, side="right"))


def allocation(moments: StratumMoments, rows: Array, budget: int, labelled: Array, *, careful: bool = False) -> Array:
    """How many more labels each stratum gets: what it lacks of its share of all, those there are and those to come.

    A careful one draws more of them from all rows alike.
    """
    total = labelled.sum() + budget
    even, weights = rows / rows.sum(), rows * np.sqrt(moments.variances)
    neyman = weights / weights.sum() if weights.sum() > 0 else even
    shares = (1 - EVEN_SHARE) * neyman + EVEN_SHARE * even
    if careful or not moments.gain(shares * rows.sum(), infinite=True) >= _LITTLE:
        shares = (1 - MORE_EVEN) * neyman + MORE_EVEN * even
    wanted = np.maximum(shares * total, np.minimum(LEAST_LABELS, rows))
    unlabelled = rows - labelled
    lacking = np.minimum(np.maximum(wanted - labelled, 0), unlabelled)
    for _ in range(len(rows) + 1):  # what a full stratum leaves goes to the others
        open_rows = (lacking < unlabelled) & (wanted > 0)
        short = budget - lacking.sum()
        if abs(short) < 1e-9 or (short > 0 and not open_rows.any()):
            break
        scale = wanted * open_rows if short > 0 else lacking
        lacking = np.clip(lacking + short * scale / scale.sum(), 0, unlabelled)
    return whole_labels(lacking, unlabelled, budget)


def whole_labels(wanted: Array, unlabelled: Array, budget: int) -> Array:
    """Whole labels near the wanted ones that sum to the budget, those that lack most rounded up."""
    labels = np.floor(wanted + 1e-9).astype(np.int64)
    most = min(budget, int(unlabelled.sum()))
    while labels.sum() < most:
        lack = np.where(labels < unlabelled, wanted - labels, -np.inf)
        labels[np.argmax(lack)] += 1
    return labels


# ---------------------------------------------------------------- label influence
# How far the label of a row moves a metric, positive or negative, where others have their shares.


_STEP = 1e-5  # of all rows, by which a cell is moved to see how the metric moves


class LabelInfluence(NamedTuple):
    """What a unit of weight moves the metric by: of a positive at each row's score, and of a negative."""

    positive: Array
    negative: Array

    def moments(self, shares: Array) -> tuple[Array, Array]:
        """The mean and the mean square of the influence of rows that are positive with these shares."""
        mean = shares * self.positive + (1 - shares) * self.negative
        return mean, shares * self.positive**2 + (1 - shares) * self.negative**2


def label_influence(
    spec: MetricSpec, scores: Array, flagged: Array | None, shares: Array, rows: Array | float = 1.0
) -> LabelInfluence:
    """The influence of each row's label, where the rows at each score are positive with those shares."""
    if spec.metric.function is not None and flagged is not None:
        return _of_counts(spec, flagged, shares, rows)
    return _of_scores(spec, scores, shares, rows)


def reads_labels(spec: MetricSpec) -> bool:
    """Whether a metric is planned by the counts at a threshold, and not by the ranks of all scores."""
    return spec.metric.function is not None


def check_planned(spec: MetricSpec) -> None:
    """Refuse a metric whose labels cannot be planned."""
    if not spec.is_native or spec.label is not None:
        raise InputError(f"{spec.name} is of many classes; labels are planned for metrics of one positive class.")
    tiny = np.array([0.25, 0.75])
    table = _working_table(tiny, tiny, np.ones(2))
    if not reads_labels(spec) and not has_influence(spec.metric, table):
        raise InputError(
            f"Labels cannot be planned for {spec.name}, since what a label moves it by is not known; plan for roc_auc, "
            "average_precision, brier, or a metric of labels such as f1."
        )


def _of_counts(spec: MetricSpec, flagged: Array, shares: Array, rows: Array | float) -> LabelInfluence:
    """By the derivatives of the metric in its four cells, less their mean."""
    positives, total = shares * rows, float(np.sum(np.ones_like(shares) * rows))
    sums = [float(part[side].sum()) for part in (positives, (1 - shares) * rows) for side in (flagged, ~flagged)]
    cells = np.array(sums) / total  # tp, fn, fp, tn
    step = np.minimum(_STEP, cells / 2)
    moved = cells + np.concatenate([np.diag(step), -np.diag(step)])
    values = np.asarray(count_values(spec.metric, Counts.trusted(*moved.T), spec.metric.parameters))
    slopes = (values[:4] - values[4:]) / np.where(step > 0, 2 * step, 1.0)
    slopes = np.where(np.isfinite(slopes), slopes, 0.0) - float(np.nan_to_num(slopes) @ cells)
    return LabelInfluence(np.where(flagged, slopes[0], slopes[1]), np.where(flagged, slopes[2], slopes[3]))


def _of_scores(spec: MetricSpec, scores: Array, shares: Array, rows: Array | float) -> LabelInfluence:
    """By the influence of a row at its score."""
    distinct, indices = np.unique(scores, return_inverse=True)
    weights = np.ones_like(shares) * rows
    table = _working_table(distinct, np.bincount(indices, shares * weights), np.bincount(indices, weights))
    influence = score_influence(spec.metric, table, spec.metric.parameters)
    if influence is None:
        raise InputError(f"{spec.name} has no value where all rows are of one class; more labels are needed.")
    total = float(weights.sum())
    return LabelInfluence(*(each[indices] * total for each in influence))


def _working_table(distinct: Array, positives: Array, rows: Array) -> ScoreTable:
    """The scores of rows that are positive in part; a little of each class everywhere, where it has an influence."""
    least, ones = 1e-12 * rows.sum(), np.ones(len(distinct), np.int64)
    of_class = (np.maximum(positives, least), np.maximum(rows - positives, least))
    positive, negative = (ClassScores(distinct, ones, side, side) for side in of_class)
    return ScoreTable(positive, negative)


# ---------------------------------------------------------------- working probabilities
# How likely each row is positive, as far as scores alone show it, to plan labels by.


_LEAST = 1e-6  # a score of 0 or 1 is not certain
_USUAL_SHARE, _USUAL_SLOPE = 0.05, 2.0  # where scores are no probabilities: of positives, and of the logit by rank
_HALVINGS, _FURTHEST = 60, 40.0


def are_probabilities(scores: Array) -> bool:
    """Whether all scores lie between 0 and 1."""
    return bool(scores.min() >= 0 and scores.max() <= 1)


def working_probabilities(scores: Array, prevalence: float | None = None) -> Array:
    """The scores themselves where they lie between 0 and 1, else a logistic curve of their ranks.

    With a prevalence the logits are moved so that this share of the rows is positive.

    >>> working_probabilities(np.array([0.1, 0.2, 0.6]), prevalence=0.1).round(3).tolist()
    [0.022, 0.048, 0.231]
    """
    from scipy.special import logit

    if are_probabilities(scores):
        likely = np.clip(scores, _LEAST, 1 - _LEAST)
        return likely if prevalence is None else _moved(logit(likely), float(checked_prevalence(prevalence)))
    _, indices, times = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = np.cumsum(times) - times / 2  # the mean rank where scores tie
    logits = _USUAL_SLOPE * normal_quantile(ranks / len(scores))[indices]
    return _moved(logits, float(checked_prevalence(_USUAL_SHARE if prevalence is None else prevalence)))


def _moved(logits: Array, share: float) -> Array:
    """The probabilities whose logits are moved by one number so that they have that mean."""
    from scipy.special import expit

    low, high = -_FURTHEST - float(logits.max()), _FURTHEST - float(logits.min())
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if expit(logits + middle).mean() < share else (low, middle)
    return np.clip(expit(logits + (low + high) / 2), _LEAST, 1 - _LEAST)


# ---------------------------------------------------------------- useless scores
# Whether the labels of a plan show that more positives are found where scores are higher.


_LEVEL, _DRAWS = 0.05, 2_000


def trend_p_value(rows: PlannedRows) -> float:
    """The one-sided test of a trend: how likely such a rise of the share of positives is where scores are useless.

    Armitage (1955), Biometrics 11, 375-386, on the logits that the scores expect of the strata. Labels are drawn at
    random in each stratum, so that without a trend every one of them is as likely to be positive: the positives are
    drawn anew from all labels, since with two or three of them the normal distribution would see trends everywhere.
    """
    from scipy.special import logit

    labels, positives = _counted(rows)
    logits = logit(rows.expected)
    drawn = generator(None).multivariate_hypergeometric(labels, int(positives.sum()), _DRAWS) @ logits
    reached = drawn >= logits @ positives - 1e-9 * np.abs(logits).max()
    return float((1 + reached.sum()) / (1 + _DRAWS))


def are_too_few(rows: PlannedRows) -> bool:
    """Whether so few positives could show no trend, even if all of them had the highest scores."""
    labels, positives = _counted(rows)
    found, top, n = int(positives.sum()), int(labels[np.argmax(rows.expected)]), int(labels.sum())
    ratios = [(top - i) / (n - i) for i in range(min(found, top + 1))]
    return bool(np.prod(ratios) > _LEVEL)


def may_be_useless(rows: PlannedRows) -> bool:
    """Whether the labels do not show that the scores order the rows."""
    return len(rows.sizes) > 1 and trend_p_value(rows) > _LEVEL


def useless_sentences(rows: PlannedRows) -> tuple[str, ...]:
    """A warning where the labels do not show that the scores order the rows."""
    if not may_be_useless(rows):
        return ()
    found = int(rows.positive.sum())
    words = f"{found:,} positives found do" if found > 1 else "one positive found does"
    why = (
        "so few could not, whatever their scores"
        if are_too_few(rows)
        else f"test of a trend over the strata, p = {trend_p_value(rows):.2g}"
    )
    return (
        f"The {words} not show that the scores find them ({why}): the plan may gain nothing, and a top-up draws more "
        "evenly.",
    )


def _counted(rows: PlannedRows) -> tuple[Array, Array]:
    """The labels of each stratum, and the positives among them."""
    labels = np.bincount(rows.strata, minlength=len(rows.sizes))
    return labels, np.bincount(rows.strata, rows.positive, minlength=len(rows.sizes))


# ---------------------------------------------------------------- plan gain
# How many labels at random would show a metric as well as those that were chosen.


def labelled_moments(spec: MetricSpec, rows: PlannedRows) -> StratumMoments:
    """What labels of each stratum move the metric by, as the labels so far show it."""
    entries, flagged = rows.entries, None if rows.flagged is None else rows.parts.flagged[rows.entries.part]
    influence = label_influence(spec, entries.score, flagged, entries.positive.astype(np.float64), entries.weight)
    moved = np.where(entries.positive, influence.positive, influence.negative)
    return StratumMoments.of(rows.parts.stratum[entries.part], len(rows.sizes), moved, moved**2, entries.weight)


def gain_sentences(spec: MetricSpec, rows: PlannedRows) -> tuple[str, ...]:
    """How many labels at random these ones equal for the metric of the plan; nothing where that is not known."""
    labels = np.bincount(rows.strata, minlength=len(rows.sizes))
    try:
        gain = labelled_moments(spec, rows).gain(labels)
    except InputError:
        return ()
    return (
        f"The {labels.sum():,} labels show {spec.name} as well as about {gain * labels.sum():,.0f} labels at random "
        f"would; all values are of the population that the {int(rows.sizes.sum()):,} rows came from.",
    )
