"""Rate intervals: a metric that is hits out of trials, and the textbook intervals for one."""

from __future__ import annotations

import math
from math import exp, nan
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from steelyard.analysis.distributions import beta_quantile, normal_reach
from steelyard.analysis.prevalence.prevalence import positive_share_draws, scores_at
from steelyard.metrics.expression import Expression, Operation, Ratio, Symbol
from steelyard.metrics.expression_value import evaluate_expression
from steelyard.metrics.metric_value import plain
from steelyard.metrics.score_values import score_values
from steelyard.statistics.counts import Cells, Counts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steelyard._types import Array
    from steelyard.analysis.intervals.design import WeightedRows
    from steelyard.analysis.intervals.inference import Inference
    from steelyard.metrics.metric import Metric
    from steelyard.statistics.score_table import ScoreTable


Ends: TypeAlias = "tuple[Array, Array]"  # the low and the high ends, in the shape of the values


def is_rate(metric: Metric) -> bool:
    """Whether the formula is some cells over those and others, so that hits out of trials say all."""
    return rate_cells(metric) is not None


def rate_cells(metric: Metric) -> tuple[frozenset[str], frozenset[str]] | None:
    """The cells that are the hits of a rate, and those that are its trials; None where it is no rate.

    >>> from steelyard import recall
    >>> hits, trials = rate_cells(recall)
    >>> sorted(hits), sorted(trials)
    (['tp'], ['fn', 'tp'])
    """
    formula = metric.expression
    if not isinstance(formula, Ratio):
        return None
    hits, trials = _cells(formula.above), _cells(formula.below)
    return (hits, trials) if hits is not None and trials is not None and hits < trials else None


def _cells(node: Expression) -> frozenset[str] | None:
    """The cells of a plain sum; None where it is anything else."""
    match node:
        case Symbol(name=name):
            return frozenset([name])
        case Operation(sign="+", args=(left, right)):
            a, b = _cells(left), _cells(right)
            return a | b if a is not None and b is not None and not a & b else None
    return None


def rate_interval(metric: Metric, counts: Counts, method: str, level: float) -> Ends:
    """The ends by Wilson's score, Jeffreys' prior or Clopper and Pearson's exact tails."""
    return RATE_INTERVALS[method](*hits_and_trials(metric, counts), level)


def hits_and_trials(metric: Metric, counts: Counts[Any]) -> tuple[Array, Array]:
    """The rows that a rate counts, and those it counts them among."""
    formula = metric.expression
    assert isinstance(formula, Ratio)  # noqa: S101 - is_rate was asked before
    cells = Cells(*(np.asarray(cell, dtype=np.float64) for cell in counts))
    hits, trials = (np.asarray(evaluate_expression(part, cells)) for part in (formula.above, formula.below))
    return hits, trials


def wilson(hits: Array, trials: Array, level: float) -> Ends:
    """All rates that a score test at this level does not reject (Wilson 1927)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share = hits / trials
    return score_ends(share, trials, normal_reach(level))


def score_ends(share: Array | float, trials: Array | float, reach: Array | float) -> Ends:
    """The shares from which the one seen is no further than so many of their own standard errors."""
    z2 = reach**2
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = (share + z2 / (2 * trials)) / (1 + z2 / trials)
        half = np.sqrt(z2 * (share * (1 - share) / trials + z2 / (4 * trials**2))) / (1 + z2 / trials)
    return np.maximum(middle - half, 0), np.minimum(middle + half, 1)


def jeffreys(hits: Array, trials: Array, level: float) -> Ends:
    """The equal tails of the posterior with half a row added to each side (Brown, Cai and DasGupta 2001)."""
    a, b = hits + 0.5, trials - hits + 0.5
    low, high = beta_quantile((1 - level) / 2, a, b), beta_quantile((1 + level) / 2, a, b)
    return np.where(hits == 0, 0.0, low), np.where(hits == trials, 1.0, high)


def exact(hits: Array, trials: Array, level: float) -> Ends:
    """The rates that neither binomial tail rejects (Clopper and Pearson 1934): never too short."""
    with np.errstate(invalid="ignore"):
        low = np.where(hits == 0, 0.0, beta_quantile((1 - level) / 2, hits, trials - hits + 1))
        high = np.where(hits == trials, 1.0, beta_quantile((1 + level) / 2, hits + 1, trials - hits))
    return low, high


RATE_INTERVALS = {"wilson": wilson, "jeffreys": jeffreys, "exact": exact}


# ---------------------------------------------------------------- bounds
# The two ends of an interval before the value is put between them.


class Bounds(NamedTuple):
    """The ends, the share of draws that are undefined and, where scores were binned, the error of that."""

    low: Any
    high: Any
    undefined_share: float = 0.0
    bin_error: float | None = None
    why: Any = None  # the reason where a value has no interval

    def around(self, value: Array | float, limits: tuple[float, float]) -> tuple[Any, Any]:
        """The ends within the range of the metric, and so that the value belongs to its interval.

        All draws may lie on one side of it, as at a recall of 1.

        >>> Bounds(0.7, 0.99).around(1.0, (0, 1)), Bounds(0.7, math.nan).around(0.8, (0, 1))
        ((0.7, 1.0), (nan, nan))
        """
        if np.ndim(value) == np.ndim(self.low) == np.ndim(self.high) == 0:  # plain numbers are far quicker
            return _around_one(float(value), float(self.low), float(self.high), limits)
        undefined = np.isnan(value) | np.isnan(self.low) | np.isnan(self.high)
        ends = (np.fmin(np.clip(self.low, *limits), value), np.fmax(np.clip(self.high, *limits), value))
        return plain(np.where(undefined, np.nan, ends[0])), plain(np.where(undefined, np.nan, ends[1]))


def _around_one(value: float, low: float, high: float, limits: tuple[float, float]) -> tuple[float, float]:
    if math.isnan(value) or math.isnan(low) or math.isnan(high):
        return math.nan, math.nan
    low, high = (min(max(end, limits[0]), limits[1]) for end in (low, high))
    return min(low, value), max(high, value)


# ---------------------------------------------------------------- column ends
# Those of an interval of a column of scores for each class, and of a share of rows.


class ColumnEnds(NamedTuple):
    """The ends of an interval, or of one for each class."""

    low: Any
    high: Any
    why: Any = None


NO_ENDS = ColumnEnds(nan, nan)


def share_ends(hits: Array, rows: WeightedRows) -> ColumnEnds:
    """Jeffreys' interval of a share of rows, of as many as they are worth (Korn and Graubard 1998)."""
    if rows.clusters is not None or rows.strata is not None:
        return mean_share_ends(hits, rows)
    return _jeffreys_ends(float(np.average(hits, weights=rows.weights)), rows.effective_number(), rows.level)


def mean_share_ends(values: Array, rows: WeightedRows) -> ColumnEnds:
    """The same of the mean of values between 0 and 1: a share of as many rows as have its variance."""
    mean, n = float(np.average(values, weights=rows.weights)), rows.effective_number()
    is_plain = rows.clusters is None and rows.strata is not None
    reach = 1.0 if is_plain else normal_reach(rows.level) / rows.student_reach(n)
    error = rows.error((values - mean) / rows.weights.sum())
    return _jeffreys_ends(mean, (mean * (1 - mean) / error**2 if error else n) * reach**2, rows.level)


def _jeffreys_ends(share: float, n: float, level: float) -> ColumnEnds:
    low, high = jeffreys(np.asarray(share * n), np.asarray(n), level)
    return ColumnEnds(float(low), float(high))


def shown_on_logit(value: float, reach: float) -> float:
    """How far above a value between 0 and 1 so long a reach leads on the scale of the logit."""
    slope = value * (1 - value)
    return value / (value + (1 - value) * exp(-min(reach / slope, 700.0))) - value if slope > 0 else 0.0


# ---------------------------------------------------------------- possible shares
# The prevalences that an estimated one may be, and how far a metric moves over them.


_DRAWS, _BETWEEN = 4_000, 9  # of an estimated prevalence, and between its ends


def possible_shares(table: ScoreTable, inference: Inference) -> Array | None:
    """Prevalences from the lower end to the upper end of an estimated one; None where it is known."""
    drawn = positive_share_draws(table, inference.prevalence, _DRAWS, inference.generator)
    if drawn is None:
        return None
    low, high = np.quantile(drawn, inference.tails)
    return np.linspace(low, high, _BETWEEN)


def widened_by_prevalence(
    ends: tuple[float, float],
    value: float,
    metric: Metric,
    parameters: Mapping[str, Any],
    table: ScoreTable,
    inference: Inference,
) -> tuple[float, float]:
    """The ends at the mean of an estimated prevalence, with how far the value moves over it added in squares."""
    possible = possible_shares(table, inference)
    if possible is None:
        return ends
    there = [float(score_values(metric, scores_at(table, share), parameters)) for share in possible]
    down, up = max(value - min(there), 0.0), max(max(there) - value, 0.0)
    return value - float(np.hypot(value - ends[0], down)), value + float(np.hypot(ends[1] - value, up))


# ---------------------------------------------------------------- linear ends
# The interval of a weighted sum of shares, from the interval of each share.


def linear_ends(value: Array, coefficients: Array, shares: Array, ends: Ends, correlations: Array) -> Ends:
    """The ends of sum c_i p_i, whose value is given: each share's own distance to its end, put together by variance.

    Donner and Zou's recovery of variance estimates (2012, Statistical Methods in Medical Research 21): with Wilson's
    ends of each share a net benefit of 1 expected true positive is held in .92, of 3 or more in .94 to .96 of 4,000
    test sets, where the normal interval of the same rows holds it in .62 to .94.
    """
    below, above = shares - ends[0], ends[1] - shares
    signs = np.sign(coefficients)
    reaches = []
    for towards, away in ((below, above), (above, below)):
        parts = coefficients * np.where(signs > 0, towards, away)
        variance = (parts[..., :, None] * parts[..., None, :] * correlations).sum((-1, -2))
        reaches.append(np.sqrt(np.maximum(variance, 0)))
    return value - reaches[0], value + reaches[1]


def multinomial_correlations(shares: Array) -> Array:
    """The correlations of the shares of one sample, on two last axes."""
    odds = np.sqrt(shares / np.maximum(1 - shares, 1e-300))
    correlations = -odds[..., :, None] * odds[..., None, :]
    own = np.eye(shares.shape[-1], dtype=bool)
    return np.where(own, 1.0, correlations)
