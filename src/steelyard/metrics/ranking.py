"""The catalogue of ranking: every metric of scores, declared once, as a view of the ScoreTable."""

from __future__ import annotations

from functools import wraps
from math import inf
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from steelyard.arrays.backend import backend_of
from steelyard.arrays.sorting import PART, in_threads
from steelyard.exceptions import InputError
from steelyard.metrics.catalogue import weighted_auc
from steelyard.metrics.curves import roc_points
from steelyard.metrics.declaration import metric
from steelyard.metrics.expression import ratio, undefined
from steelyard.tables.class_scores import LabelledClass, MergedClasses, starting_at_zero

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard._types import Array
    from steelyard.tables.class_scores import ClassScores, LabelledScores
    from steelyard.tables.score_table import ScoreTable


T = TypeVar("T")

# Every formula works along the last axis of the weights, so that the draws of a bootstrap are an axis before it.


def once(part: Callable[[ScoreTable], T]) -> Callable[[ScoreTable], T]:
    """What several metrics share of a table, computed once for each."""

    @wraps(part)
    def remembered(t: ScoreTable) -> T:
        if part not in t.remembered:
            t.remembered[part] = part(t)
        kept: T = t.remembered[part]
        return kept

    return remembered


def missing(t: ScoreTable) -> str | None:
    """Which class has no weight, if one has not."""
    if np.all(t.positive.total == 0):
        return "no positives"
    return "no negatives" if np.all(t.negative.total == 0) else None


def no_positives(t: ScoreTable) -> bool:
    """Whether the positives have no weight."""
    return bool(np.all(t.positive.total == 0))


def rounding(t: ScoreTable) -> float:
    """What sums of weights may be off by, as a share of all; counts of rows are exact."""
    weighted = [side for side in t.classes if side.given_weights is not None]
    return float(np.finfo(np.float64).eps) * sum(side.size for side in weighted)


def unsorted_rows(t: ScoreTable) -> LabelledScores | None:
    """The rows of both classes, where neither class is sorted yet and sorting both at once answers a question."""
    given = t.positive.given_scores
    if not isinstance(given, LabelledClass) or not given.both.is_sorted_at_once:
        return None
    return None if any("scores" in side.__dict__ for side in t.classes) else given.both


# ---------------------------------------------------------------- areas under curves


@metric(
    "ROC AUC",
    on="scores",
    is_rank_probability=True,
    family="ranking",
    range=(0, 1),
    aliases=("auc", "auroc"),
    cite="hanley1982",
    domain={"max_fpr": "(0, 1]", "multi_class": "ovr|ovo"},
    sklearn="roc_auc_score",
)
def roc_auc(t, *, max_fpr=None, multi_class="ovr"):
    """Area under the ROC curve: the probability that a random positive scores above a random negative."""
    if why := missing(t):
        return undefined(why)
    if max_fpr is not None and max_fpr < 1:
        return _partial_auc(t, max_fpr)
    return roc_area(t)


@once
def roc_area(t: ScoreTable) -> Any:
    """The area under the whole ROC curve, of a table of both classes."""
    if (rows := unsorted_rows(t)) is not None and (twice := rows.twice_outranked()) is not None:
        return twice / (2 * t.positive.total * t.negative.total)
    small, large = sorted((t.positive, t.negative), key=lambda side: side.size)
    scores, weights = small.distinct
    # Twice the pairs in which the smaller class scores higher, ties once: whole numbers stay exact.
    twice = large.summed_around(scores, lambda part, below, up_to: _twice(below, up_to, weights[..., part]))
    pairs = small.total * large.total
    return (twice if small is t.positive else 2 * pairs - twice) / (2 * pairs)


def _twice(below: Array, up_to: Array, mass: Array) -> Any:
    """The products with both, summed; of whole numbers in one pass, which no order rounds."""
    if below.dtype.kind == up_to.dtype.kind == "i":
        return _dot(below + up_to, mass)
    return _dot(below, mass) + _dot(up_to, mass)


def _dot(a: Array, b: Array) -> Any:
    """The sum of products, in whole numbers while 64 bits hold them."""
    if a.dtype.kind == b.dtype.kind == "i":
        if float(a.max(initial=0)) * float(b.sum()) < 2**62:
            return int(np.dot(a, b))
        a = a.astype(np.float64)
    return (a * b).sum(-1)


def _between(x: Array, y: Array, at: float) -> Any:
    """The y at a point of x, which rises along the last axis, by straight lines."""
    i = np.clip((x < np.asarray(at)[..., None]).sum(-1, keepdims=True), 1, x.shape[-1] - 1)
    (x0, x1), (y0, y1) = ([np.take_along_axis(v, i - 1 + j, -1)[..., 0] for j in (0, 1)] for v in (x, y))
    return y0 + (y1 - y0) * ratio(at - x0, x1 - x0, limit=0)


def _partial_auc(t: ScoreTable, max_fpr: float) -> Any:
    """The area up to a false positive rate, scaled so that a random ranking is 1/2 and a perfect one 1 (McClish)."""
    fpr, tpr = _roc_rates(t)
    # The last of several points at one rate is the highest: a step to the right starts there.
    inside = np.minimum(fpr, max_fpr)
    edge = np.where(fpr <= max_fpr, tpr, _between(fpr, tpr, max_fpr)[..., None])
    area = np.trapezoid(edge, inside)
    least = max_fpr**2 / 2
    return 0.5 * (1 + (area - least) / (max_fpr - least))


def _roc_rates(t: ScoreTable) -> tuple[Array, Array]:
    """The points of the ROC curve; of scores on a device they stay there."""
    if not backend_of(*(side.scores for side in t.classes)).is_device:
        return roc_points(t)[:2]
    tp, fp = (starting_at_zero(np.cumsum(weights)) for weights in MergedClasses.of(t).weights)
    return fp / fp[-1], tp / tp[-1]


@weighted_auc.for_scores
def weighted_auc_of_scores(t, *, rho=0.1, bands=10):
    """The same bands of recall under the whole ROC curve."""
    if why := missing(t):
        return undefined(why)
    tp, at, above = positive_steps(t)
    tpr = starting_at_zero(tp / tp[..., -1:].astype(np.float64))
    negatives = np.asarray(t.negative.total, dtype=np.float64)[..., None]
    fpr = (above / negatives, at / negatives)
    lost = starting_at_zero(np.cumsum(np.diff(tpr) * (fpr[0] + fpr[1]) / 2, -1))
    areas = 1 / bands - np.diff(_lost_until(np.arange(bands + 1) / bands, fpr, tpr, lost))
    weights = rho ** np.arange(1, bands)
    return areas.sum(-1) - (areas[..., :-1] - areas[..., -1:]) @ weights


@once
def positive_steps(t: ScoreTable) -> tuple[Array, Array, Array]:
    """At each distinct score of the positives, descending: the positives found, the false alarms there and above it.

    The curves of both classes rise at these scores alone, so that the many of the other class need not be kept.
    """
    _, tp, fp = t.at_positive_scores
    up_to = t.negative.around_each(t.positive.distinct[0])[1]
    above = np.maximum(np.asarray(t.negative.total)[..., None] - up_to, 0)
    return tp[..., ::-1], fp[..., ::-1], above[..., ::-1]


def _lost_until(recalls: Array, fpr: tuple[Array, Array], tpr: Array, lost: Array) -> Any:
    """The area left of the curve up to each recall, by that at its steps and the false positive rates around them."""
    i = np.clip(_counted_below(tpr, recalls), 1, tpr.shape[-1] - 1)
    low, high, left, right = (
        np.take_along_axis(rate, at, -1) for rate, at in ((tpr, i - 1), (tpr, i), (fpr[0], i - 1), (fpr[1], i - 1))
    )
    into = recalls - low
    within = into * (left + (right - left) * ratio(into, 2 * (high - low), limit=0))
    return np.take_along_axis(lost, i - 1, -1) + within


def _counted_below(ordered: Array, values: Array) -> Array:
    """How many of the ordered numbers are below each value, of every draw where they have an axis of draws."""
    if ordered.ndim == 1:
        return np.searchsorted(ordered, values)
    return np.stack([(ordered < value).sum(-1) for value in values], -1)


@metric(
    "Average precision",
    on="scores",
    family="ranking",
    range=(0, 1),
    aliases=("ap",),
    cite="manning2008",
    sklearn="average_precision_score",
)
def average_precision(t):
    """Area under the precision-recall curve as a step function: mean precision at each positive's threshold."""
    if no_positives(t):
        return undefined("no positives")
    return _average_precision(t)


@once
def _average_precision(t: ScoreTable) -> Any:
    if (rows := unsorted_rows(t)) is not None and (precisions := rows.precision_sum()) is not None:
        return precisions / t.positive.total
    return _summed_precisions(*t.at_positive_scores) / t.positive.total


@once
def _negative_average_precision(t: ScoreTable) -> Any:
    """The same of the negatives, of which the lowest score is the surest."""
    scores, weights = t.negative.distinct
    return _summed_precisions(weights, np.cumsum(weights, -1), t.positive.around_each(scores)[1]) / t.negative.total


def _summed_precisions(*columns: Array) -> Any:
    parts = backend_of(columns[0]).chunks(columns[0].shape[-1], PART)
    return sum(in_threads(lambda part: _precisions(*(each[..., part] for each in columns)), parts))


def _precisions(weights: Array, tp: Array, fp: Array) -> Any:
    """The precision at each step times what is found there, summed."""
    with np.errstate(invalid="ignore"):
        # A draw may leave nothing at or above a score; what has no weight adds nothing.
        return np.where(weights > 0, weights * (tp / (tp + fp)), 0).sum(-1)


@metric("Negative average precision", on="scores", family="ranking", range=(0, 1), cite="wu2025")
def negative_average_precision(t):
    """Average precision with the negative class called positive and the scores negated."""
    if np.all(t.negative.total == 0):
        return undefined("no negatives")
    return _negative_average_precision(t)


@metric("Mean average precision", on="scores", family="ranking", range=(0, 1), cite="wu2025")
def mean_average_precision(t):
    """Mean of the average precisions of the two classes."""
    if why := missing(t):
        return undefined(why)
    of_negatives = _negative_average_precision(t)  # first: it sorts each class, which serves both
    return (_average_precision(t) + of_negatives) / 2


@metric("PR AUC, trapezoid", on="scores", family="ranking", range=(0, 1), cite="davis2006")
def pr_auc(t):
    """Area under the precision-recall curve joined by straight lines, which flatters; prefer average precision."""
    if no_positives(t):
        return undefined("no positives")
    tp, at, above = positive_steps(t)
    before = starting_at_zero(tp)[..., :-1]
    with np.errstate(invalid="ignore"):
        precision = tp / (tp + at)
        left = np.where(before + above > 0, before / (before + above), precision)  # the curve starts level
        rise = (tp - before) * (precision + left) / 2
    return np.where(tp > before, rise, 0).sum(-1) / tp[..., -1]


# ---------------------------------------------------------------- at a point of the curve


@once
def _precision_and_recall(t: ScoreTable) -> tuple[Array, Array, Array | float]:
    """Both at the scores of the positives: of the thresholds of one recall these have the highest precision.

    And by how much rounding may move each precision: the more, the less is flagged.
    """
    _, tp, fp = t.at_positive_scores
    flagged, share = tp + fp, rounding(t)
    with np.errstate(invalid="ignore", divide="ignore"):
        slack = share * np.asarray(t.total, dtype=np.float64)[..., None] / flagged if share else 0.0
        return tp / flagged, tp / tp[..., :1].astype(np.float64), slack


@metric(
    "Recall at precision",
    on="scores",
    family="ranking",
    range=(0, 1),
    cite="davis2006",
    domain={"at": "(0, 1]"},
    is_share=True,
)
def recall_at_precision(t, *, at=0.9):
    """Highest recall at any threshold whose precision is at least the given one."""
    if no_positives(t):
        return undefined("no positives")
    precision, recall, slack = _precision_and_recall(t)
    reached = np.where(precision >= at - slack, recall, -1).max(-1)
    none = f"no threshold reaches a precision of {at:g}"
    return (
        (undefined(none) if reached < 0 else reached) if reached.ndim == 0 else np.where(reached < 0, np.nan, reached)
    )


@metric(
    "Precision at recall",
    on="scores",
    family="ranking",
    range=(0, 1),
    cite="davis2006",
    domain={"at": "(0, 1]"},
    is_share=True,
)
def precision_at_recall(t, *, at=0.9):
    """Highest precision at any threshold whose recall is at least the given one."""
    if no_positives(t):
        return undefined("no positives")
    precision, recall, _ = _precision_and_recall(t)
    return np.where(recall >= at - rounding(t), precision, 0).max(-1)


def _found(t: ScoreTable, flagged: float) -> Any:
    """The positives among the highest scores of that much weight; tied rows count in part."""
    if not t.positive.size:
        return 0.0
    tp, at, above = positive_steps(t)
    before, wanted = starting_at_zero(tp)[..., :-1], np.asarray(flagged, dtype=np.float64)[..., None]
    i = np.clip((tp + at < wanted).sum(-1, keepdims=True), 0, tp.shape[-1] - 1)
    start, end, over, under = (np.take_along_axis(column, i, -1) for column in (before, tp, above, at))
    into = np.clip(ratio(wanted - (start + over), end + under - (start + over), limit=0), 0, 1)
    return (start + (end - start) * into)[..., 0]


@metric(
    "Precision at k",
    on="scores",
    family="ranking",
    range=(0, 1),
    cite="manning2008",
    domain={"k": "(0, inf)"},
    least_rows="k",
    is_share=True,
)
def precision_at_k(t, *, k=100):
    """Precision among the k highest-scored rows, or of weighted rows that share of the weight; ties count in part."""
    if not np.all(k <= t.sizes * (1 + 1e-9)):
        return undefined(f"fewer than {k:g} rows")
    flagged = k * t.total / t.sizes
    return _found(t, flagged) / flagged


@metric(
    "Lift",
    on="scores",
    family="ranking",
    range=(0, inf),
    best=None,
    direction="higher",
    cite="manning2008",
    domain={"share": "(0, 1]"},
)
def lift(t, *, share=0.1):
    """Precision among the highest-scored share of the rows over the prevalence."""
    if no_positives(t):
        return undefined("no positives")
    flagged = share * t.total
    return _found(t, flagged) / (share * t.positive.total)


@metric(
    "Top-k accuracy",
    on="scores",
    family="ranking",
    range=(0, 1),
    cite="russakovsky2015",
    sklearn="top_k_accuracy_score",
    domain={"k": "[1, inf)"},
    is_share=True,
)
def top_k_accuracy(t, *, k=2):
    """Share of the rows whose class is among the k classes of the highest scores, a column of scores for each class.

    Of two classes it is the accuracy at the threshold 0.5 (0 of scores that are no probabilities), or for k=2 one.
    """
    half = 0.5 if t.has_probabilities else 0.0
    hits = (t.positive.scores >= half, t.negative.scores < half)
    return mean_over_rows(t, *((hit | (k > 1)).astype(np.float64) for hit in hits))


# ---------------------------------------------------------------- calibration: scores as probabilities


def check_probabilities(name: str, t: ScoreTable) -> tuple[ClassScores, ClassScores]:
    """The scores of both classes, which are refused where they are no probabilities."""
    for side in () if t.has_probabilities else t.classes:
        if len(side.scores) and (side.scores[0] < 0 or side.scores[-1] > 1):
            worst = side.scores[0] if side.scores[0] < 0 else side.scores[-1]
            raise InputError(f"{name} needs probabilities from 0 to 1, not a score of {worst:g}; calibrate them first.")
    return t.positive, t.negative


def mean_over_rows(t: ScoreTable, positive: Array, negative: Array) -> Any:
    """The mean over all rows of what each positive's and each negative's score is worth."""
    total = t.total
    if not np.any(total):
        return undefined("no rows")
    return (_sum(positive, t.positive.entry_weights) + _sum(negative, t.negative.entry_weights)) / total


def _sum(values: Array, mass: Array | None) -> Any:
    """The weighted sum of values; what has weight 0 adds nothing, were it infinite."""
    if mass is None:
        return values.sum()
    with np.errstate(invalid="ignore"):
        total = (values * mass).sum(-1)
        return total if np.isfinite(total).all() else np.where(mass == 0, 0.0, values * mass).sum(-1)


@metric(
    "Brier score",
    on="probabilities",
    family="calibration",
    range=(0, 1),
    best=0,
    cite="brier1950",
    sklearn="brier_score_loss",
    has_proper_title=True,
)
def brier(t):
    """Mean squared difference between predicted probability and outcome (0 or 1).

    Of a column of probabilities for each of K > 2 classes it is summed over them, from 0 to 2, as in scikit-learn.
    """
    positive, negative = check_probabilities("brier", t)
    return mean_over_rows(t, (1 - positive.scores) ** 2, negative.scores**2)


@metric(
    "Log loss",
    aliases=("cross_entropy",),
    on="probabilities",
    family="calibration",
    range=(0, inf),
    best=0,
    cite="good1952",
    sklearn="log_loss",
)
def log_loss(t):
    """Mean negative log-likelihood (cross-entropy) in nats; infinite where an outcome had probability 0.

    A column of probabilities for each class is taken as well: the loss of a row is that of its class.
    """
    check_probabilities("log_loss", t)
    return _log_loss(t)


@once
def _log_loss(t: ScoreTable) -> Any:
    with np.errstate(divide="ignore"):
        return mean_over_rows(t, -np.log(t.positive.scores), -np.log1p(-t.negative.scores))


@metric(
    "D2 log loss",
    on="probabilities",
    family="calibration",
    range=(-inf, 1),
    aliases=("mcfadden_r2",),
    cite="mcfadden1974",
    sklearn="d2_log_loss_score",
)
def d2_log_loss(t):
    """Share of the log loss of predicting the prevalence for every row that the probabilities remove (D squared)."""
    check_probabilities("d2_log_loss", t)
    if why := missing(t):
        return undefined(why)
    share = t.positive.total / t.total
    prior = -share * np.log(share) - (1 - share) * np.log1p(-share)
    return 1 - _log_loss(t) / prior


@metric(
    "Expected calibration error",
    on="probabilities",
    family="calibration",
    range=(0, 1),
    best=0,
    aliases=("ece",),
    cite="naeini2015",
    domain={"bins": "[1, inf)"},
)
def expected_calibration_error(t, *, bins=10):
    """Mean absolute gap between mean predicted probability and share of positives, in bins of equal width."""
    positive, negative = check_probabilities("expected_calibration_error", t)
    total = np.asarray(positive.total + negative.total)
    if not total.any():
        return undefined("no rows")
    gap = np.zeros((*total.shape, bins))
    for side, truth in ((positive, 1), (negative, 0)):
        off = (truth - side.scores) * (1 if side.entry_weights is None else side.entry_weights)
        there = backend_of(side.scores)
        gap += there.bin_sums(off, [0, *there.bin_starts(side.scores, bins), side.size])
    return np.abs(gap).sum(-1) / total
