"""The confidence band of a curve: bounds that hold at all thresholds together, not at one of them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, NamedTuple, Unpack

import numpy as np
from numpy.polynomial.polynomial import polyval2d

from steelyard.analysis.distributions import beta_quantile
from steelyard.analysis.intervals.inference import check_design
from steelyard.analysis.levels import check_level
from steelyard.analysis.prevalence.prevalence import Prevalence, at_prevalence, checked_prevalence, of_positives
from steelyard.analysis.results.result import Flat, Rows
from steelyard.arrays.numbers import weight_per_row
from steelyard.exceptions import InputError
from steelyard.metrics.curves import roc_points
from steelyard.metrics.registry import get_metric
from steelyard.predictions import Predictions, question, refuse_unused
from steelyard.tables.class_scores import starting_at_zero
from steelyard.tables.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike

    from steelyard._types import Array
    from steelyard.analysis.intervals.rate_intervals import Ends
    from steelyard.analysis.prevalence.prevalence import PrevalenceLike
    from steelyard.metrics.measure import Metric
    from steelyard.metrics.registry import MetricLike
    from steelyard.predictions import RowOptions, RowsLike
    from steelyard.tables.class_scores import ClassScores
    from steelyard.tables.score_table import ScoreTable


# ---------------------------------------------------------------- class curves
# The share of a class that each of some thresholds flags, and as how many rows it is known.
#
# Kish's effective rows take weights as unrelated to scores. Where hard rows have large weights a share p of the weight
# varies by sum w^2 (flagged - p)^2 / (sum w)^2 (Taylor's linearised variance), so its rows differ by threshold. The row
# next to a threshold counts on both sides of it: of the rows that lie just beyond nothing else is seen.


@dataclass(frozen=True, eq=False)
class ClassCurve:
    """The weight and the squared weights that some thresholds flag out of a class, both in its effective rows.

    `beside` is the weight of a row next to each threshold, at least 1, the weight of an effective row. `trivial` says
    which thresholds flag nobody, or everybody, whatever the rows will be.
    """

    rows: float
    flagged: Array
    squares: Array
    beside: Array
    trivial: Array | None = None

    @classmethod
    def of_equal(cls, rates: Array, rows: float) -> ClassCurve:
        """The curve of a class whose rows count alike."""
        flagged = np.asarray(rates * rows, dtype=np.float64)
        return cls(rows, flagged, flagged, np.ones_like(flagged))

    @property
    def known(self) -> Array:
        """As how many rows of equal weight the share is known at each threshold: Kish's, or the linearised if fewer."""
        if self.squares is self.flagged:
            return np.full_like(self.flagged, self.rows)
        share = np.clip(self.flagged / self.rows, 0.0, 1.0)
        left, left_squares = np.maximum(self.rows - self.flagged, 0), np.maximum(self.rows - self.squares, 0)
        flagged_mean = (np.maximum(self.squares, 0) + self.beside**2) / (np.maximum(self.flagged, 0) + self.beside)
        left_mean = (left_squares + self.beside**2) / (left + self.beside)
        return np.asarray(self.rows / np.maximum((1 - share) * flagged_mean + share * left_mean, 1.0))

    def drawn(self, draws: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Draws of the share at all thresholds together: the least and the largest that the order statistics allow.

        The share of the population above the h-th of n scores is a sum of h exponentials out of n + 1, so one draw is a
        whole curve, and neighbouring thresholds break a limit in the same draws. Drawn one by one, the luck of hundreds
        of them ended a run of good thresholds early. The exponentials of weighted rows are weighted.
        """
        flagged, first, indices = np.unique(self.flagged, return_index=True, return_inverse=True)
        steps = np.diff(flagged, prepend=0.0, append=max(self.rows, float(flagged[-1])))
        squares = np.diff(self.squares[first], prepend=0.0, append=max(self.rows, float(self.squares[first[-1]])))
        each = np.where((steps > 0) & (squares > 0), squares / np.where(steps > 0, steps, 1.0), 1.0)
        sums = np.cumsum(each * rng.standard_gamma(steps / each, size=(draws, len(steps))), axis=1)
        one_more = rng.standard_exponential((draws, 1)) * self.beside
        least, total = sums[:, indices], sums[:, -1:] + one_more
        drawn = least / total, (least + one_more) / total
        if self.trivial is None:
            return drawn
        low, high = (np.where(self.trivial, np.round(self.flagged / self.rows), some) for some in drawn)
        return low, high


@dataclass(frozen=True, eq=False)
class ClassWeights:
    """The distinct scores of a class, the share of the squared weights below each, and the weight of a row there.

    Without weights there are None. A weight of 1 is that of an effective row.
    """

    scores: Array
    squares: Array | None = None
    weights: Array | None = None

    @classmethod
    def of(cls, side: ClassScores) -> ClassWeights:
        """Those of the scores of a class."""
        if side.given_squares is None:
            return cls(side.scores)
        entries = side.compact()
        running = starting_at_zero(np.cumsum(entries.squares))
        each = weight_per_row(entries.weights, entries.squares) / weight_per_row(side.total, running[-1])
        return cls(entries.scores, running / max(float(running[-1]), 1e-300), each)

    def curve(self, observed: Array, rates: Array, rows: float) -> ClassCurve:
        """The curve at the lowest score that each threshold flags."""
        if self.squares is None or self.weights is None:
            return ClassCurve.of_equal(rates, rows)
        indices = np.searchsorted(self.scores, observed, side="left")
        last = len(self.weights) - 1
        beside = np.maximum(self.weights[np.maximum(indices - 1, 0)], self.weights[np.minimum(indices, last)])
        squares = rows * (1 - self.squares[indices])
        return ClassCurve(rows, np.asarray(rates * rows, dtype=np.float64), squares, np.maximum(beside, 1.0))


class Rates(NamedTuple):
    """Recall and false positive rate at some thresholds."""

    recall: ClassCurve
    fpr: ClassCurve

    def drawn(self, draws: int, rng: np.random.Generator) -> Iterator[tuple[Array, Array]]:
        """Draws of both rates, as low as the rows allow and as high, in four pairs: Clopper and Pearson's tails."""
        recalls, fprs = (curve.drawn(draws, rng) for curve in self)
        yield from ((recall, fpr) for recall in recalls for fpr in fprs)

    def tables(self, share: Array, total: float, draws: int, rng: np.random.Generator) -> Iterator[Counts[Array]]:
        """Draws of the counts of `total` rows, of which the share is positive, with both rates drawn."""
        p, n = share * total, (1 - share) * total
        for recall, fpr in self.drawn(draws, rng):
            yield Counts.trusted(p * recall, p * (1 - recall), n * fpr, n * (1 - fpr))


# ---------------------------------------------------------------- band prevalences
# At which prevalences the band of a metric is read, so that it holds where these may lie.


_SHARES = 5  # between the ends of an uncertain prevalence
_TABLE = Counts(70, 30, 20, 80)  # on which a metric is seen to be another at another prevalence


class BandPrevalences(NamedTuple):
    """The level of the bounds of both rates, and the prevalences at which they are read, that of the curve first."""

    level: float
    shares: tuple[float, ...]


def band_prevalences(
    metric: Metric, table: ScoreTable, level: float, prevalence: PrevalenceLike | None, *, stratified: bool = False
) -> BandPrevalences:
    """The prevalences of a metric's band: the one given, all where an uncertain one may lie, or the sample's own.

    Of rows that were drawn from all, the sample's prevalence is itself uncertain. Rates and prevalence are independent:
    both hold together with the level where each does with its root. With 15, 20, 24 and 200 positives expected, bands
    of precision, F1 and MCC miss the curve in 0 to 2 % of test sets; taken as known, 24 of 800 missed it in 60 %.
    """
    positives, total = float(table.positive.total), float(table.total)
    uncertain = of_positives(table, prevalence)
    share = positives / total if uncertain is None else float(checked_prevalence(uncertain))
    if prevalence is None and not stratified and 0 < positives < total:
        rows = effective_share_rows(table)
        uncertain = Prevalence(positives=share * rows, rows=rows)
    if not isinstance(uncertain, Prevalence):
        return BandPrevalences(level, (share,))
    shares = (share, *np.linspace(*uncertain.interval(level**0.5), _SHARES).tolist())
    values = [float(metric(_TABLE.scaled(positives=each, negatives=1 - each))) for each in shares]
    steady = np.allclose(values, values[0], equal_nan=True)
    return BandPrevalences(level, (share,)) if steady else BandPrevalences(level**0.5, shares)


def effective_share_rows(table: ScoreTable) -> float:
    """As how many rows of equal weight the share of the positives is known: Kish's, or Taylor's linearised if fewer."""
    positive, negative = table.classes
    if not table.weighted:
        return float(table.n)
    squares = [max(float(side.squares.sum()), 1e-300) for side in (positive, negative)]
    total, share = float(table.total), float(positive.total) / float(table.total)
    linearised = share * (1 - share) / ((1 - share) ** 2 * squares[0] + share**2 * squares[1])
    return total**2 * min(linearised, 1 / sum(squares))


# ---------------------------------------------------------------- rate bands
# Bounds of the recall and of the false positive rate that hold at all thresholds together.
#
# Of each class the scores in order are, by the share of the population at or above them, uniform order statistics, so
# the j-th of n has a Beta(j, n - j + 1) distribution, ties or not. All n lie between the quantiles of one local level
# with a probability that depends on n alone (equal local levels: Berk and Jones 1979; Gontscharuk and Finner 2015): the
# bounds at a threshold are those of Clopper and Pearson at that local level. The classes are independent: each holds
# with the root of the level, both together with the level.


# The logarithm of how many independent one-sided bounds all n equal, as a polynomial in log(n + 0.5) over itself plus 9
# and in the logarithm of what each class may miss. Fitted to the exact probability (by a recursion over the Poisson
# process) at 1 to 300,000 rows and levels of 0.79 to 0.99996: 95 % is 95.00 to 95.13 %.
_INDEPENDENT_BOUNDS = np.array(
    [
        [0.261472, 0.0462005, 0.00310962],
        [12.5203, -0.519411, -0.0436892],
        [-12.0853, -1.3855, 0.0497188],
        [8.09845, 4.19012, -0.0175685],
        [-0.929838, -2.70281, 0.0],
    ]
)
_SAFE, _MISSED = 0.987, (2e-5, 0.12)
_STEPS = np.linspace(0, 1, 9)  # along each side of a rectangle; a monotone metric needs only 0 and 1
_NEAR = 1e-9  # how near to a rate of 0 or 1 a metric is read that is undefined there
_ENDLESS = 1e6


@dataclass(frozen=True, eq=False)
class RateBand:
    """The lowest and the highest recall and false positive rate at each of some thresholds, the highest first."""

    recall_low: Array
    recall_high: Array
    fpr_low: Array
    fpr_high: Array

    def at_fpr(self, fpr: Array) -> RateBand:
        """The recalls that the ROC curve may have at false positive rates."""
        first = np.searchsorted(self.fpr_high, fpr)
        last = np.searchsorted(self.fpr_low, fpr, side="right") - 1
        # Through tied scores the curve runs straight, between the lines through the corners of the rectangles.
        low = np.minimum(self.recall_low[first], np.interp(fpr, self.fpr_high, self.recall_low))
        high = np.maximum(self.recall_high[last], np.interp(fpr, self.fpr_low, self.recall_high))
        return RateBand(low, high, fpr, fpr)

    def at_recall(self, recall: Array) -> RateBand:
        """The false positive rates that the ROC curve may have at recalls."""
        first = np.searchsorted(self.recall_high, recall)
        last = np.searchsorted(self.recall_low, recall, side="right") - 1
        return RateBand(recall, recall, self.fpr_low[first], self.fpr_high[last])

    def bounds(self, metric: Metric, total: float, *shares: float) -> tuple[Array, Array]:
        """The lowest and the highest value of a metric of so many rows in each rectangle, at some prevalences."""
        recall = self.recall_low + (self.recall_high - self.recall_low) * _STEPS[:, None, None]
        fpr = self.fpr_low + (self.fpr_high - self.fpr_low) * _STEPS[:, None]
        lows, highs = [], []
        for share in shares:
            positives, negatives = share * total, (1 - share) * total
            values = _values(metric, recall, fpr, positives, negatives)
            low, high = np.fmin.reduce(values, axis=(0, 1)), np.fmax.reduce(values, axis=(0, 1))
            open_ended = ~np.isfinite(values).all(axis=(0, 1))
            if open_ended.any():
                near = _near_undefined(metric, recall[..., open_ended], fpr[..., open_ended], positives, negatives)
                low[open_ended] = np.fmin(low[open_ended], np.fmin.reduce(near))
                high[open_ended] = np.fmax(high[open_ended], np.fmax.reduce(near))
            lows.append(low)
            highs.append(high)
        return np.fmin.reduce(lows), np.fmax.reduce(highs)


def rate_band(table: ScoreTable, level: float, indices: Array | None = None) -> RateBand:
    """The band at each threshold of a table; with indices, at those thresholds and from each on to the next."""
    first = np.arange(len(table.thresholds)) if indices is None else indices
    recall = _bounds(table.positive, table.counts.tp, table.thresholds, first, level)
    fpr = _bounds(table.negative, table.counts.fp, table.thresholds, first, level)
    return RateBand(*recall, *fpr)


def _bounds(scores: ClassScores, cells: Array, thresholds: Array, first: Array, level: float) -> tuple[Array, Array]:
    """The least share at or above a threshold by the rows at it, and the largest by those right before the next."""
    last = np.append(first[1:] - 1, len(cells) - 1)
    rows = scores.effective_size
    local, share = local_level(rows, level), cells / max(cells[-1], 1e-300)
    known = ClassWeights.of(scores).curve(thresholds, share, rows).known
    flagged, left = (known * share)[first], (known * (1 - share))[last]
    low = np.where(flagged > 0, beta_quantile(local, np.maximum(flagged, 1e-9), known[first] - flagged + 1), 0.0)
    above = np.where(left > 0, beta_quantile(local, np.maximum(left, 1e-9), known[last] - left + 1), 0.0)
    # No share falls from a threshold to a lower one, though single bounds of weighted rows may.
    return np.maximum.accumulate(low), np.minimum.accumulate((1 - above)[::-1])[::-1]


def local_level(rows: float, level: float) -> float:
    """The level of each one-sided bound at which the bounds of all rows hold together with the root of the level."""
    missed = min(-np.log(level) / 2, _MISSED[1])  # a lower level has the band of 0.79
    if missed < _MISSED[0]:
        return float(missed / (2 * max(rows, 1.0)))  # Bonferroni's, where the fit ends
    log_rows = np.log(max(rows, 1.0) + 0.5)
    return float(_SAFE * missed / np.exp(polyval2d(log_rows / (log_rows + 9), np.log(missed), _INDEPENDENT_BOUNDS)))


def _values(metric: Metric, recall: Array, fpr: Array, p: float, n: float) -> Array:
    recall, fpr = np.broadcast_arrays(recall, fpr)
    return np.asarray(metric(Counts.trusted(recall * p, (1 - recall) * p, fpr * n, (1 - fpr) * n)), dtype=np.float64)


def _near_undefined(metric: Metric, recall: Array, fpr: Array, p: float, n: float) -> Array:
    """The values next to rates of 0 and 1, from all sides, where a metric may be undefined at them or endless."""
    distances = (0.0, _NEAR, _NEAR**2)
    values = []
    for of_recall, of_fpr in list(product(distances, distances))[1:]:  # the first is the rates themselves
        nearby = np.clip(recall, of_recall, 1 - of_recall), np.clip(fpr, of_fpr, 1 - of_fpr)
        values.append(_values(metric, *nearby, p, n).reshape(-1, recall.shape[-1]))
    near = np.concatenate(values)
    return np.where(np.abs(near) > _ENDLESS, np.copysign(np.inf, near), near)


# ---------------------------------------------------------------- the confidence band of a curve


_MOST_POINTS = 1_000
_AXES = ("threshold", "false_positive_rate", "recall")


@dataclass(frozen=True, eq=False)
class BandPoint(Flat):
    """A threshold with both rates there, and a metric with the bounds of its band."""

    threshold: float
    false_positive_rate: float
    recall: float
    value: float
    low: float
    high: float


@question
def confidence_band(
    data: RowsLike = None,
    scored: ArrayLike | None = None,
    /,
    *,
    metric: MetricLike = "recall",
    over: str = "threshold",
    prevalence: PrevalenceLike | None = None,
    level: float = 0.95,
    **rows: Unpack[RowOptions],
) -> Rows[BandPoint]:
    """The simultaneous confidence band of a metric of counts: the whole true curve lies in it with the level.

    Over "threshold" the curve is the metric at each threshold; recall over "false_positive_rate" is the ROC curve and
    precision over "recall" the precision-recall curve. The band holds for any scores, ties included, of independent
    rows, wherever the prevalence may lie that the sample, or an estimated one, shows; with a number as prevalence=, or
    design="stratified" (so many rows of each class were chosen), it holds at that prevalence. Weighted rows count by
    their effective number at each threshold. Of more than 1,000 thresholds so many are given, and the band of each
    holds on to the next.

    >>> y_true, y_score = [0] * 30 + [1] * 30, [*range(30), *range(15, 45)]
    >>> point = confidence_band(y_true, y_score)[25]
    >>> f"{point.threshold:g}: {point.value:.2f} ({point.low:.2f} to {point.high:.2f})"
    '20: 0.83 (0.54 to 0.97)'
    """
    check_level(level)
    of = get_metric(metric)
    if of.function is None:
        raise InputError(f"{of.name} is a metric of all scores at once; a band is of a metric at a threshold.")
    if over not in _AXES:
        raise InputError(f"A band is over one of {', '.join(_AXES)}, not {over!r}.")
    p = Predictions.of(data, scored, second_is="y_score", **rows)
    refuse_unused(p, "confidence_band", "cluster", "by", "threshold", "columns")
    if not isinstance(p.design, str):
        refuse_unused(p, "confidence_band", "design")
    check_design(p.design)
    table = p.scores_of_both()
    known = band_prevalences(of, table, level, prevalence, stratified=p.design == "stratified")
    # At several prevalences, the one that was seen first, the band holds at each of them.
    curve = roc_points(table)
    indices = thinned(curve.fpr, curve.tpr)
    fpr, recall = curve.fpr[indices], curve.tpr[indices]
    band = rate_band(table, known.level, indices)
    if over == "false_positive_rate":
        band = band.at_fpr(fpr)
    elif over == "recall":
        band = band.at_recall(recall)
    shifted = table if prevalence is None else at_prevalence(table, known.shares[0])
    value = np.asarray(of(shifted.counts[indices]), dtype=np.float64)
    low, high = band.bounds(of, float(table.total), *known.shares)
    columns = (curve.thresholds[indices], fpr, recall, value, np.fmin(low, value), np.fmax(high, value))
    return Rows((BandPoint(*map(float, cells)) for cells in zip(*columns, strict=True)), p.assumed)


def thinned(*columns: Array, points: int = _MOST_POINTS) -> Array:
    """The indices of at most so many points that follow the columns evenly along their path, from first to last."""
    n = len(columns[0])
    if n <= points:
        return np.arange(n)
    steps = sum(np.abs(np.diff(np.nan_to_num(column))) / (np.ptp(np.nan_to_num(column)) or 1) for column in columns)
    path = np.concatenate([[0.0], np.cumsum(steps)])
    return np.unique(np.append(np.searchsorted(path, np.linspace(0, path[-1], points)), n - 1))


# ---------------------------------------------------------------- gain curve
# The recall over the share of the rows that is flagged, with bounds that hold for the whole curve.
#
# At one prevalence it is the ROC curve sheared: the share flagged is prevalence x recall + (1 - prevalence) x false
# positive rate. A curve that lies within a band of ROC curves so lies, sheared, within the sheared band.


class GainCurve(NamedTuple):
    """The recall against the share of the rows flagged, at every threshold, highest threshold first."""

    flagged: Array
    recall: Array
    thresholds: Array


def gain_points(table: ScoreTable, share: float) -> GainCurve:
    """The curve of a table at a prevalence."""
    fpr, recall, thresholds = roc_points(table)
    return GainCurve(share * recall + (1 - share) * fpr, recall, thresholds)


def gain_bounds(band: RateBand, shares: tuple[float, ...], flagged: Array) -> Ends:
    """The least and the greatest recall at shares of flagged rows, of the ROC curves in a band, at some prevalences.

    A curve that passes through the rectangles of all thresholds lies between the lines through their corners, also
    where tied scores let it run straight from one to the next.
    """
    low = [_sheared(band.fpr_high, band.recall_low, share, flagged) for share in shares]
    high = [_sheared(band.fpr_low, band.recall_high, share, flagged) for share in shares]
    return np.minimum.reduce(low), np.maximum.reduce(high)


def _sheared(fpr: Array, recall: Array, share: float, flagged: Array) -> Array:
    """The recall at shares of flagged rows on lines between points of ROC curves, from none to all of both classes."""
    fpr, recall = (np.concatenate([[0.0], column, [1.0]]) for column in (fpr, recall))
    return np.asarray(np.interp(flagged, share * recall + (1 - share) * fpr, recall))
