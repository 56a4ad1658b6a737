"""Searched intervals: intervals of metrics of the best thresholds, by outcomes drawn around the isotonic curve.

The best of many thresholds is best on these rows in part by luck, so such a value is too high on average. By how much,
draws from the isotonic curve show, whose values lie above the curve's own; that is taken off.
"""

from __future__ import annotations

from functools import partial
from math import log, sqrt
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from steelyard.analysis.distributions import student_reach
from steelyard.analysis.intervals.added_rows import with_added_rows
from steelyard.analysis.intervals.binned_scores import binned
from steelyard.analysis.intervals.information_bins import ScoreBins
from steelyard.analysis.intervals.rate_intervals import score_ends
from steelyard.analysis.prevalence.prevalence import positive_shares, scores_at
from steelyard.metrics import discrimination
from steelyard.metrics.score_values import score_values
from steelyard.statistics.class_scores import ClassScores
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steelyard._types import Array
    from steelyard.analysis.intervals.inference import Inference
    from steelyard.analysis.intervals.influence_spread import StudentSpread
    from steelyard.metrics.metric import Metric

    _Given: TypeAlias = Mapping[str, Any]
    _Clusters: TypeAlias = StudentSpread | None

_DRAWS, _MOST_BINS = 400, 256
_ROUNDED = 1e-9  # what rounding leaves of a curve that is no better than random, or perfect
_OF_ROWS = "no interval: its value depends on how many rows there are"
_BEFORE_ANY = "no interval: recall gain is 0 before the first positive is found; more positives are needed"


def is_searched(metric: Metric) -> bool:
    """Whether the metric is of the best thresholds of these rows."""
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


def searched_ends(
    metric: Metric,
    parameters: _Given,
    table: ScoreTable,
    value: float,
    inference: Inference,
    clusters: _Clusters = None,
) -> tuple[float, float]:
    """The ends of the interval of such a metric on a table of both classes.

    Wilson's interval, with as many trials as the variance is worth, of the table and of it with parts of rows added;
    down to 0 where a random ranking may have as much. Rows in clusters scatter further, by the variance that
    `clusters` has for each of independent rows. At 95 %, with 10 to 100 positives among 100 to 1,000 rows (no skill to
    near-perfect, tied; 150 runs a setting) it covered .91 to .99; draws of the rows by the Bayesian bootstrap cover .76
    to .91, all misses above the true value.
    """
    few = min(side.effective_size for side in table.classes)
    effect, degrees = (1.0, few - 1) if clusters is None else (clusters.variance, clusters.degrees)
    reach, ends, small = student_reach(inference.level, max(degrees, 1.0)), [value], binned(table, _MOST_BINS)
    read = partial(_values, metric, parameters, inference)
    for part in (small, *with_added_rows(small)):
        bins = ScoreBins.of_starts(part, _starts(part))
        at = float(read(bins.weights[None], (bins.weights * bins.share)[None])[0])
        off = sqrt(effect) * (read(*bins.drawn(bins.share, _DRAWS, inference.generator)) - at)
        if _ROUNDED < at < 1 - _ROUNDED and off.any():
            centre, trials = min(max(value - float(np.mean(off)), 0.0), 1.0), at * (1 - at) / float(np.var(off))
            ends += [float(end) for end in score_ends(centre, trials, reach)]
    random = sqrt(effect) * read(*bins.drawn(np.full(len(bins.scores), bins.prevalence), _DRAWS, inference.generator))
    if value > _ROUNDED:
        return min([0.0] if value <= np.quantile(random, inference.tails[1]) else ends), max(ends)
    return 0.0, _most_of_none(table, effect, inference.tails[0])


def _most_of_none(table: ScoreTable, effect: float, error: float) -> float:
    """The upper end where no threshold of these rows is better than a random one, of which draws can say nothing.

    By Smirnov's one-sided limit (1939) recall exceeds the false positive rate by less than sqrt(log(1 / error) / 2
    (1 / n1 + 1 / n2)) at every threshold, and the H-measure is at most that difference.
    """
    each = sum(1 / side.effective_size for side in table.classes)
    return min(sqrt(effect * log(1 / error) / 2 * each), 1.0)


def _values(
    metric: Metric, parameters: Mapping[str, Any], inference: Inference, rows: Array, positives: Array
) -> Array:
    """The metric on draws of the bins, a table of scores in their order, at the deployment prevalence."""
    positives, negatives = 1.0 * positives, 1.0 * (rows - positives)
    both = (positives.sum(-1) > 0) & (negatives.sum(-1) > 0)
    order = np.arange(positives.shape[-1], dtype=np.float64)
    positive, negative = (ClassScores(order, mass[both], mass[both], mass[both]) for mass in (positives, negatives))
    table = ScoreTable(positive, negative)
    if inference.prevalence is not None:
        table = scores_at(table, positive_shares(table, inference.prevalence))
    return np.asarray(score_values(metric, table, parameters))


def _starts(table: ScoreTable) -> Array:
    """The first of adjacent scores that have as much of both classes together."""
    tp, fp = (np.asarray(cell, dtype=np.float64)[:0:-1] for cell in (table.counts.tp, table.counts.fp))
    above = tp / tp[0] + fp / fp[0]  # from the lowest score up
    steps = np.searchsorted(-above, np.linspace(-2.0, 0.0, _MOST_BINS, endpoint=False))
    return np.unique(np.append(0, steps[steps < len(above)]))
