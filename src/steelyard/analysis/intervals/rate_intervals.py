"""Rates: a metric that is hits out of trials, and the textbook intervals for one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from steelyard.analysis.distributions import beta_quantile, normal_reach
from steelyard.metrics.expression import Expression, Operation, Ratio, Symbol
from steelyard.metrics.expression_value import evaluate_expression
from steelyard.statistics.counts import Cells, Counts

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.metrics.metric import Metric

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
