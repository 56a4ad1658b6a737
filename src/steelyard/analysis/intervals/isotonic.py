"""Isotonic intervals: intervals of what is read from the isotonic reliability curve, by outcomes drawn around it.

The curve follows the noise of its rows, so that the mean gap and the miscalibration of a calibrated model are measured
above 0. That bias is estimated by draws from the curve itself and, for the lower bound, also by draws as if the
probabilities were right; the larger one counts. The upper half-width is that on the scale of the square root. Where the
prevalence is itself an estimate, the half-widths by the rows and by the prevalence are added in squares.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from math import log, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steelyard.analysis.distributions import normal_reach, student_reach
from steelyard.analysis.intervals.interval import Interval
from steelyard.analysis.intervals.rate_intervals import possible_shares, score_ends
from steelyard.analysis.intervals.score_draws import ScoreBins, binned, with_added_rows
from steelyard.analysis.prevalence.prevalence import positive_shares, scores_at
from steelyard.arrays.numbers import weight_per_row
from steelyard.metrics import calibration, discrimination, ranking
from steelyard.metrics.isotonic_curve import IsotonicCurve
from steelyard.metrics.score_values import score_values
from steelyard.tables.class_scores import ClassScores
from steelyard.tables.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steelyard._types import Array
    from steelyard.analysis.intervals.design import StudentSpread
    from steelyard.analysis.intervals.estimand import Estimand
    from steelyard.analysis.intervals.inference import Inference
    from steelyard.metrics.measure import Metric
    from steelyard.metrics.values import MetricValue

# With 20 to 2,000 positives (3 to 34 % of the rows) the intervals hold the miscalibration in .92 to 1.00, the
# discrimination in .93 to 1.00 and the mean gap in .96 to 1.00 of the test sets; a basic bootstrap in .00 to 1.00.
_DRAWS = 400
_METRICS = {
    calibration.brier_miscalibration.scores: 0,
    calibration.brier_discrimination.scores: 1,
    calibration.integrated_calibration_index.scores: 2,
}


def is_isotonic(metric: Metric) -> bool:
    """Whether the metric is read from the isotonic curve, or is the uncertainty beside it."""
    return metric.scores in _METRICS or metric.scores is calibration.brier_uncertainty.scores


@dataclass
class IsotonicIntervals:
    """The draws around the isotonic curve of each table, which all metrics of one call share."""

    inference: Inference
    _bounds: dict[int, tuple[ScoreTable, Array]] = field(default_factory=dict)

    def bounds(self, metric: Metric, table: ScoreTable) -> tuple[float, float]:
        """The bounds of the interval of one metric on a table of both classes."""
        if metric.scores is calibration.brier_uncertainty.scores:
            return self._uncertainty_bounds(table)
        if id(table) not in self._bounds:
            self._bounds[id(table)] = table, self._all_bounds(table)
        low, high = self._bounds[id(table)][1][:, _METRICS[metric.scores]]
        return float(low), float(high)

    def _all_bounds(self, table: ScoreTable) -> Array:
        """The lower and the upper bounds of the metrics in the order of their numbers."""
        bins, rng, prevalence = ScoreBins.of(table), self.inference.generator, self._prevalence(table)
        value, share = _values(bins.positives[None], bins.weights[None], bins.scores, prevalence)[:, 0], bins.share
        bias, error = [], []
        for truth in (share, bins.scores):
            rows, positives = bins.drawn(truth, _DRAWS, rng)
            errors = _values(positives, rows, bins.scores, prevalence) - _true(bins, truth, prevalence)[:, None]
            errors = errors[:, np.isfinite(errors).all(axis=0)]  # draws of one class have no other prevalence
            bias.append(errors.mean(axis=1) if errors.size else np.zeros(len(errors)))
            error.append(errors.std(axis=1) if errors.size else np.zeros(len(errors)))
        fewest = min(side.effective_size for side in table.classes)
        half_width = student_reach(self.inference.level, max(fewest - 1, 1.0)) * error[0]
        most_bias = np.where([True, False, True], np.maximum(*bias), bias[0])  # discrimination: that of the curve
        centre = np.maximum(value - bias[0], 0)
        on_square_root = half_width / (4 * np.maximum(np.maximum(centre, error[0]), 1e-300))
        low, high = np.maximum(value - most_bias - half_width, 0), centre + half_width * (1 + on_square_root)
        if (possible := possible_shares(table, self.inference)) is None:
            return np.stack([low, high])
        changes = np.array([_true(bins, share, pi) for pi in possible]) - _true(bins, share, prevalence)
        down, up = np.maximum(-changes.min(axis=0), 0), np.maximum(changes.max(axis=0), 0)
        return np.stack([np.maximum(value - np.hypot(value - low, down), 0), value + np.hypot(high - value, up)])

    def _prevalence(self, table: ScoreTable) -> float | None:
        if self.inference.prevalence is not None:
            return float(positive_shares(table, self.inference.prevalence))
        return float(table.positive.total / table.total) if self.inference.keeps_class_sizes() else None

    def _uncertainty_bounds(self, table: ScoreTable) -> tuple[float, float]:
        """The bounds of p (1 - p) over Wilson's interval of the prevalence p."""
        share = table.positive.total / table.total
        if (prevalence := self._prevalence(table)) is not None:
            possible = possible_shares(table, self.inference)
            shares = np.array([prevalence]) if possible is None else possible
            return float((shares * (1 - shares)).min()), float((shares * (1 - shares)).max())
        rows = float(table.total) ** 2 / sum(float(side.squares.sum()) for side in table.classes)
        low, high = (float(end) for end in score_ends(share, rows, normal_reach(self.inference.level)))
        most = 0.25 if low <= 0.5 <= high else max(low * (1 - low), high * (1 - high))
        return min(low * (1 - low), high * (1 - high)), most


def _values(positives: Array, rows: Array, scores: Array, prevalence: float | None) -> Array:
    """The miscalibration, the discrimination and the mean gap of draws, at a prevalence where one is given."""
    positives, negatives = positives.astype(np.float64), rows - positives.astype(np.float64)
    if prevalence is not None:
        with np.errstate(invalid="ignore", divide="ignore"):
            positives = positives * (prevalence / positives.sum(-1, keepdims=True))
            negatives = negatives * ((1 - prevalence) / negatives.sum(-1, keepdims=True))
    total = (positives + negatives).sum(-1)
    sums = [np.cumsum(part, axis=-1) for part in (positives, positives + negatives)]
    start = np.zeros((len(positives), 1))
    curve = IsotonicCurve.of_sums(scores, *(np.concatenate([start, part], -1) for part in sums))
    brier = (positives * (1 - scores) ** 2 + negatives * scores**2).sum(-1) / total
    return np.stack([brier - curve.brier, curve.variance, curve.mean_gap])


def _true(bins: ScoreBins, share: Array, prevalence: float | None) -> Array:
    """The same three where the curve is that share."""
    positives, negatives = bins.weights * share, bins.weights * (1 - share)
    if prevalence is not None:
        positives = positives * (prevalence / max(positives.sum(), 1e-300))
        negatives = negatives * ((1 - prevalence) / max(negatives.sum(), 1e-300))
    weights = (positives + negatives) / (positives + negatives).sum()
    curve = positives / np.maximum(positives + negatives, 1e-300)
    gap = curve - bins.scores
    return np.array([weights @ gap**2, weights @ (curve - weights @ curve) ** 2, weights @ np.abs(gap)])


# ---------------------------------------------------------------- searched intervals
# Intervals of metrics of the best thresholds, by outcomes drawn around the isotonic curve.
#
# The best of many thresholds is best on these rows in part by luck, so such a value is too high on average. Draws from
# the isotonic curve show by how much, as their values lie above that of the curve; the difference is subtracted.


_SEARCHED_DRAWS, _MOST_BINS = 400, 256
_ROUNDED = 1e-9  # what rounding leaves of a curve that is no better than random, or perfect
_OF_ROWS = "no interval: its value depends on how many rows there are"
_BEFORE_ANY = "no interval: recall gain is 0 before the first positive is found; more positives are needed"


def is_searched(metric: Metric) -> bool:
    """Whether the metric is read at the best thresholds of these rows."""
    return metric.scores in (discrimination.ks.scores, discrimination.h_measure.scores)


def why_no_interval(metric: Metric, table: ScoreTable) -> str | None:
    """Why a metric of scores has no interval.

    The mean distance of a curve's points is another with more of them. And where recall gain is 0 before the first
    positive is found, the order of a few rows decides: with 10 to 40 positives of 1 to 5 % draws cover .70 to .79.
    """
    if metric.scores is discrimination.mcc_f1.scores:
        return _OF_ROWS
    start = table.positive.effective_size * float(table.positive.total / table.total)
    return _BEFORE_ANY if metric.scores is discrimination.auprg.scores and start < 1 else None


def searched_bounds(
    metric: Metric,
    parameters: Mapping[str, Any],
    table: ScoreTable,
    value: float,
    inference: Inference,
    clusters: StudentSpread | None = None,
) -> tuple[float, float]:
    """The bounds of the interval of such a metric on a table of both classes.

    Wilson's interval, with as many trials as give the variance, of the table and of it with parts of rows added; down
    to 0 where a random ranking may have as much. Rows in clusters vary more, by the design effect that is the variance
    of `clusters`. At 95 %, with 10 to 100 positives among 100 to 1,000 rows, it covers in .86 to .99 of test sets, the
    least where the classes overlap most without being alike (`make coverage`, "Best thresholds").
    """
    fewest = min(side.effective_size for side in table.classes)
    effect, degrees = (1.0, fewest - 1) if clusters is None else (clusters.variance, clusters.degrees)
    quantile, bounds, small = student_reach(inference.level, max(degrees, 1.0)), [value], binned(table, _MOST_BINS)
    read = partial(_searched_values, metric, parameters, inference)
    for part in (small, *with_added_rows(small)):
        bins = ScoreBins.of_starts(part, _starts(part))
        of_curve = float(read(bins.weights[None], (bins.weights * bins.share)[None])[0])
        errors = sqrt(effect) * (read(*bins.drawn(bins.share, _SEARCHED_DRAWS, inference.generator)) - of_curve)
        if _ROUNDED < of_curve < 1 - _ROUNDED and errors.any():
            centre = min(max(value - float(np.mean(errors)), 0.0), 1.0)
            trials = of_curve * (1 - of_curve) / float(np.var(errors))
            bounds += [float(bound) for bound in score_ends(centre, trials, quantile)]
    if value <= _ROUNDED:
        return 0.0, _smirnov_limit(table, effect, inference.tails[0])
    no_skill = np.full(len(bins.scores), bins.prevalence)
    random = sqrt(effect) * read(*bins.drawn(no_skill, _SEARCHED_DRAWS, inference.generator))
    return 0.0 if value <= np.quantile(random, inference.tails[1]) else min(bounds), max(bounds)


def _smirnov_limit(table: ScoreTable, effect: float, error: float) -> float:
    """The upper bound where no threshold of these rows is better than a random one, as draws can say nothing there.

    By Smirnov's one-sided limit (1939) recall exceeds the false positive rate by less than sqrt(log(1 / error) / 2
    (1 / n1 + 1 / n2)) at every threshold, and the H-measure is at most that difference.
    """
    each = sum(1 / side.effective_size for side in table.classes)
    return min(sqrt(effect * log(1 / error) / 2 * each), 1.0)


def _searched_values(
    metric: Metric, parameters: Mapping[str, Any], inference: Inference, rows: Array, positives: Array
) -> Array:
    """The metric on draws of the bins, a table of scores in their order, at the deployment prevalence."""
    positives, negatives = 1.0 * positives, 1.0 * (rows - positives)
    has_both = (positives.sum(-1) > 0) & (negatives.sum(-1) > 0)
    order = np.arange(positives.shape[-1], dtype=np.float64)
    sides = (weights[has_both] for weights in (positives, negatives))
    positive, negative = (ClassScores(order, weights, weights, weights) for weights in sides)
    table = ScoreTable(positive, negative)
    if inference.prevalence is not None:
        table = scores_at(table, positive_shares(table, inference.prevalence))
    return np.asarray(score_values(metric, table, parameters))


def _starts(table: ScoreTable) -> Array:
    """The starts of bins of adjacent scores that have the same share of both classes together."""
    tp, fp = (np.asarray(cell, dtype=np.float64)[:0:-1] for cell in (table.counts.tp, table.counts.fp))
    above = tp / tp[0] + fp / fp[0]  # from the lowest score up
    steps = np.searchsorted(-above, np.linspace(-2.0, 0.0, _MOST_BINS, endpoint=False))
    return np.unique(np.append(0, steps[steps < len(above)]))


# ---------------------------------------------------------------- calibrated reference
# The expected calibration error that a calibrated model with these scores would show.
#
# The error of a calibrated model is 0, yet with finitely many rows it is never measured as 0, so an interval around the
# measured value cannot hold the true one. What is known is how large it would be if every probability were right.


_REFERENCE_DRAWS = 4_000
_MANY = 100  # the variance of a binomial from which on normal draws miss the mean gap by 0.1 % or less


class CalibratedReference(NamedTuple):
    """What a calibrated model would show on average, and at most with the given probability."""

    mean: float
    high: float

    def text(self, level: float) -> str:
        """The reference in words."""
        return (
            f"no interval: a calibrated model with these scores would show {self.mean:.3g} on average and at most "
            f"{self.high:.3g} in {100 * level:g} % of test sets"
        )


def is_calibration_error(metric: Metric) -> bool:
    """Whether the metric is a binned calibration error, which is read beside this reference."""
    return metric.scores is ranking.expected_calibration_error.scores


def calibrated_reference(
    table: ScoreTable, bins: int, level: float, rng: np.random.Generator
) -> CalibratedReference | None:
    """The mean and the upper limit of the error over outcomes drawn by the probabilities; None without rows.

    In each bin the positives are binomial with the effective rows and the mean probability. As a test at 95 % it
    rejected 4.9 % of calibrated models (60 to 20,000 rows; skewed, tied, near 0, weighted; 5,200 runs).

    >>> from steelyard import score_table
    >>> from steelyard.analysis.intervals.draws import generator
    >>> table = score_table([0, 0, 1, 1] * 25, [0.1, 0.4, 0.35, 0.8] * 25)
    >>> [round(part, 2) for part in calibrated_reference(table, 10, 0.95, generator(None))]
    [0.07, 0.1...]
    """
    columns = np.zeros((3, bins))
    for side in table.classes:
        in_bin = np.minimum((side.scores * bins).astype(np.int64), bins - 1)
        for i, values in enumerate((side.weights, side.squares, side.weights * side.scores)):
            columns[i] += np.bincount(in_bin, values, minlength=bins)
    weights, squares, sums = columns[:, columns[0] > 0]
    if not len(weights):
        return None
    per_row, share = weight_per_row(weights, squares), np.clip(sums / weights, 0, 1)
    rows = np.maximum(np.round(weights / per_row), 1).astype(np.int64)
    errors = np.abs(_drawn_gaps(rows, share, rng)) @ (weights / weights.sum())
    return CalibratedReference(float(errors.mean()), float(np.quantile(errors, level)))


def _drawn_gaps(rows: Array, share: Array, rng: np.random.Generator) -> Array:
    """The share of positives drawn in each bin minus the probability; normal draws for many rows, as they are quick."""
    variance = rows * share * (1 - share)
    many = variance > _MANY
    gaps = np.empty((_REFERENCE_DRAWS, len(rows)))
    gaps[:, many] = rng.standard_normal((_REFERENCE_DRAWS, int(many.sum()))) * (np.sqrt(variance) / rows)[many]
    few_rows, few_share = rows[~many], share[~many]
    gaps[:, ~many] = rng.binomial(few_rows, few_share, size=(_REFERENCE_DRAWS, len(few_rows))) / few_rows - few_share
    return gaps


def beside_reference(
    estimand: Estimand, table: ScoreTable, computed: MetricValue, level: float, rng: np.random.Generator
) -> Interval:
    """A calibration error without an interval, beside what a calibrated model with the same scores would show."""
    without = Interval(estimand.named, float(computed.value), np.nan, np.nan, level, "calibrated", why=computed.why)
    reference = calibrated_reference(table, estimand.parameters["bins"], level, rng)
    if reference is None:
        return without
    return replace(without, why=reference.text(level), calibrated=reference.mean, calibrated_high=reference.high)
