"""The catalogue of discrimination: areas, distances and points of curves that fields of application report."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.metrics.calibration import isotonic_curve
from steelyard.metrics.catalogue import f1, mcc
from steelyard.metrics.declaration import metric
from steelyard.metrics.expression import ratio, undefined
from steelyard.metrics.ranking import check_probabilities, missing, once, positive_steps, roc_area, rounding
from steelyard.tables.class_scores import starting_at_zero
from steelyard.tables.counts import Counts

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.tables.score_table import ScoreTable


@metric(
    "Gini coefficient",
    on="scores",
    family="ranking",
    range=(-1, 1),
    aliases=("somers_d", "accuracy_ratio"),
    cite="hand2009",
    has_proper_title=True,
)
def gini(t):
    """Twice the area under the ROC curve less one: 0 for a random ranking, the accuracy ratio of a CAP curve."""
    if why := missing(t):
        return undefined(why)
    return 2 * roc_area(t) - 1


@metric(
    "Kolmogorov-Smirnov statistic",
    on="scores",
    family="ranking",
    range=(0, 1),
    aliases=("kolmogorov_smirnov",),
    cite="hand2009",
    has_proper_title=True,
)
def ks(t):
    """Largest recall less false positive rate at any threshold, which is the largest informedness."""
    if why := missing(t):
        return undefined(why)
    recall, false_alarms = _rates(t)
    return np.maximum((recall - false_alarms).max(-1), 0.0)


@once
def _rates(t: ScoreTable) -> tuple[Array, Array]:
    """Both rates at the scores of the positives: of the thresholds of one recall these have the fewest false alarms."""
    _, tp, fp = t.at_positive_scores
    return tp / tp[..., :1].astype(np.float64), fp / np.asarray(t.negative.total, dtype=np.float64)[..., None]


@metric(
    "Recall at FPR",
    on="scores",
    family="ranking",
    range=(0, 1),
    aliases=("sensitivity_at_fpr",),
    cite="fawcett2006",
    domain={"at": "[0, 1]"},
    is_share=True,
)
def recall_at_fpr(t, *, at=0.1):
    """Highest recall at any threshold whose false positive rate is at most the given one."""
    if why := missing(t):
        return undefined(why)
    recall, false_alarms = _rates(t)
    return np.where(false_alarms <= at + rounding(t), recall, 0.0).max(-1)


@metric(
    "Specificity at recall",
    on="scores",
    family="ranking",
    range=(0, 1),
    aliases=("specificity_at_sensitivity",),
    cite="fawcett2006",
    domain={"at": "(0, 1]"},
    is_share=True,
)
def specificity_at_recall(t, *, at=0.9):
    """Highest specificity at any threshold whose recall is at least the given one."""
    if why := missing(t):
        return undefined(why)
    recall, false_alarms = _rates(t)
    return np.where(recall >= at - rounding(t), 1 - false_alarms, 0.0).max(-1)


@metric(
    "H-measure", on="scores", family="ranking", range=(0, 1), cite="hand2009", domain={"severity_ratio": "(0, inf)"}
)
def h_measure(t, *, severity_ratio=None):
    """Share of the least expected cost without scores that the best threshold for every cost removes.

    Costs follow a beta distribution whose mode is the cost of a false positive over that of both errors together;
    `severity_ratio` is the cost of a false positive over that of a false negative, by default the ratio of positives
    to negatives (Hand and Anagnostopoulos 2014). Scores that rank worse than at random have 0.
    """
    if why := missing(t):
        return undefined(why)
    share = t.positive.total / t.total
    odds = share / (1 - share) if severity_ratio is None else severity_ratio
    shape = np.broadcast_to(1 + 1 / np.asarray(odds, dtype=np.float64), np.shape(share))
    left = isotonic_curve(t).mean_of(lambda shares, draw: _least_cost(shares, shape.ravel()[draw]))
    return np.maximum(1 - left / _least_cost(share, shape), 0.0)


def _least_cost(share: Any, shape: Any) -> Any:
    """The cost of the better decision for rows of that share of positives, expected over costs of Beta(2, shape).

    A false positive costs c and a false negative 1 - c, so rows are flagged where c is below their share. A beta
    distribution whose first shape is a whole number has its distribution function in closed form.
    """
    rest = 1 - share
    false_positives = 1 - rest**shape * (1 + shape * share + shape * (shape + 1) / 2 * share**2)
    false_negatives = rest ** (shape + 1) * (1 + (shape + 1) * share)
    return (2 * rest * false_positives + shape * share * false_negatives) / (shape + 2)


@metric(
    "Area under the precision-recall-gain curve",
    on="scores",
    family="ranking",
    range=(-inf, 1),
    aliases=("precision_recall_gain_auc",),
    cite="flach2015",
)
def auprg(t):
    """Area under precision gain over recall gain: 0 is what flagging all rows has, 1 a perfect ranking."""
    if why := missing(t):
        return undefined(why)
    found, at, above = (np.asarray(column, dtype=np.float64) for column in positive_steps(t))
    positives, negatives = found[..., -1:], np.asarray(t.negative.total, dtype=np.float64)[..., None]
    before, start = starting_at_zero(found)[..., :-1], positives**2 / (positives + negatives)  # where recall gain is 0
    gained = np.where(found > before, found - before, 1.0)
    into = np.clip((start - before) / gained, 0, 1)
    low, high = np.maximum(before, start), np.maximum(found, start)
    false_alarms = (above + into * (at - above)) / low + at / high  # lines of counts are straight on these scales
    width, height = positives * (1 / low - 1 / high), 1 - positives / negatives * false_alarms / 2
    return (positives / negatives * width * height).sum(-1)


@metric("MCC-F1 metric", on="scores", family="ranking", range=(0, 1), cite="cao2020", domain={"bins": "[1, inf)"})
def mcc_f1(t, *, bins=100):
    """Nearness of the curve of MCC over F1 to the point where both are 1, averaged over ranges of MCC.

    The thresholds above and below that of the highest MCC are averaged apart, in as many ranges of MCC as `bins`. All
    thresholds count, so that on few rows a perfect ranking does not reach 1, as in the authors' package: .838 on four.
    """
    if why := missing(t):
        return undefined(why)
    cells = Counts.trusted(*(np.asarray(cell)[..., 1:-1] for cell in t.counts))
    if not cells.tp.shape[-1]:
        return undefined("all scores equal")
    height = (mcc(cells) + 1) / 2
    distance = np.hypot(1 - height, 1 - f1(cells)) / 2**0.5
    return 1 - _mean_of_ranges(height, distance, bins)


def _mean_of_ranges(height: Array, distance: Array, bins: int) -> Any:
    """The mean over ranges of the height, on either side of its highest point, of the mean distance in each."""
    highest = np.where(np.isnan(height), -inf, height)
    top, low = highest.argmax(-1)[..., None], np.where(np.isnan(height), inf, height).min(-1)[..., None]
    place = ratio(bins * (height - low), highest.max(-1)[..., None] - low, limit=0)
    side = np.arange(height.shape[-1]) > top
    draw = np.arange(height[..., 0].size).reshape(*height.shape[:-1], 1)
    group = 2 * bins * draw + bins * side + np.clip(np.nan_to_num(place), 0, bins - 1).astype(np.int64)
    known, size = ~np.isnan(distance), 2 * bins * draw.size
    rows = np.bincount(group[known], minlength=size).reshape(-1, 2 * bins)
    sums = np.bincount(group[known], distance[known], minlength=size).reshape(-1, 2 * bins)
    means = ratio(np.where(rows > 0, sums / np.maximum(rows, 1), 0).sum(-1), (rows > 0).sum(-1))
    return means.reshape(height.shape[:-1])[()]


@metric(
    "Discrimination slope",
    on="probabilities",
    family="calibration",
    range=(-1, 1),
    aliases=("tjur_r2", "coefficient_of_discrimination"),
    cite="tjur2009",
)
def discrimination_slope(t):
    """Mean probability of the positives less that of the negatives."""
    check_probabilities("discrimination_slope", t)
    if why := missing(t):
        return undefined(why)
    means = [(weights * scores).sum(-1) / weights.sum(-1) for scores, weights in (side.distinct for side in t.classes)]
    return means[0] - means[1]
