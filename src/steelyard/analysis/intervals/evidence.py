"""Evidence at every look: mixtures and bets on a rate, and bounds of it that hold at every trial at once.

Under the limit the likelihood ratio against a mixture of other rates is a martingale, so that it ever exceeds 1 / alpha
with probability alpha at most (Ville 1939; Robbins 1970, Annals of Mathematical Statistics 41). A beta distribution
truncated at the limit gives the mixture in closed form. It depends on hits and misses alone, not on their order, which
is why counts of other days or machines may be added. Evidence against "at least the limit" holds for rates that move,
as long as none of them is below the limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.metrics.expression import Expression, Named, Number, Operation, Ratio, Symbol
from steelyard.tables.counts import CELLS

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard._types import Array
    from steelyard.analysis.intervals.rate_intervals import Ends
    from steelyard.metrics.measure import Metric


_EDGE = 1e-12  # a limit of 0 or 1 is taken so near to it
_HALVINGS = 48  # steps of the search for a bound: its error is below 1e-12


def bisected(low: Array, high: Array, holds: Callable[[Array], Array], halvings: int) -> Array:
    """The least value between low and high at which a condition holds, which does at high and at all above the least.

    Each step halves what is left of all ranges at once.
    """
    for _ in range(halvings):
        middle = (low + high) / 2
        here = holds(middle)
        high, low = np.where(here, middle, high), np.where(here, low, middle)
    return high


def log_evidence_below(hits: Array, misses: Array, limit: Array | float) -> Array:
    """The logarithm of the evidence that a rate is below the limit, where 0 is none.

    The mixture is of Beta(limit, 1 - limit) below the limit where that is above 1/2, so that of a limit such as 0.999
    error rates of every size are looked for; else of Beta(1/2, 1/2).

    >>> evidence = log_evidence_below(np.array([70, 80]), np.array([30, 20]), 0.9)
    >>> [round(float(e), 1) for e in np.exp(evidence)]
    [749420.9, 16.7]
    """
    from scipy.special import betainc, betaln, xlog1py, xlogy

    p = np.clip(limit, _EDGE, 1 - _EDGE)
    a, b = np.maximum(p, 0.5), np.minimum(1 - p, 0.5)
    with np.errstate(divide="ignore"):
        seen = betaln(hits + a, misses + b) + np.log(betainc(hits + a, misses + b, p))
    return np.asarray(seen - betaln(a, b) - np.log(betainc(a, b, p)) - xlogy(hits, p) - xlog1py(misses, -p))


def highest_rate(hits: Array, misses: Array, alpha: Array | float) -> Array:
    """The highest rate that the evidence does not refute: never below the true one, save with probability alpha."""
    hits, misses, alpha = np.broadcast_arrays(*(np.asarray(part, dtype=np.float64) for part in (hits, misses, alpha)))
    with np.errstate(invalid="ignore"):
        low = np.where(hits + misses > 0, hits / (hits + misses), 0.0)
    refuted = bisected(
        low, np.ones_like(low), lambda rate: log_evidence_below(hits, misses, rate) >= -np.log(alpha), _HALVINGS
    )
    return np.where(misses > 0, refuted, 1.0)


def lowest_rate(hits: Array, misses: Array, alpha: Array | float) -> Array:
    """The lowest rate that the evidence does not refute.

    >>> hits, misses = np.array(80), np.array(20)  # the confidence sequence of a rate, at 95 %
    >>> print(f"{lowest_rate(hits, misses, 0.025):.3f} to {highest_rate(hits, misses, 0.025):.3f}")
    0.652 to 0.907
    """
    return 1 - highest_rate(misses, hits, alpha)


def log_evidence_uneven(first: Array, second: Array) -> Array:
    """The logarithm of the evidence that two kinds of rows are not equally frequent: Beta(1/2, 1/2) against 1/2."""
    from scipy.special import betaln

    return np.asarray(betaln(first + 0.5, second + 0.5) - betaln(0.5, 0.5) + (first + second) * np.log(2))


# ---------------------------------------------------------------- LinearRatio
# A metric that is a weighted sum of the cells over another one, and evidence about it by betting.
#
# That such a ratio is at least a limit means that the rows have a gain of at least 0 on average: what a row adds above,
# less the limit times what it adds below. A gambler who bets a fraction of the wealth against it at every row has on
# average no more than at the start, so that the wealth is evidence (Waudby-Smith and Ramdas 2024, Journal of the Royal
# Statistical Society B 86). The wealth of several gamblers with fixed fractions, averaged, depends on the counts alone.


FRACTIONS = np.geomspace(1 / 1024, 0.98, 24)  # of what a gambler may bet and still have something left
_RATIO_HALVINGS = 44


@dataclass(frozen=True, eq=False)
class LinearRatio:
    """What each kind of row adds above and below; below is never negative."""

    above: Array
    below: Array

    @classmethod
    def of(cls, metric: Metric) -> LinearRatio | None:
        """The ratio that the metric's formula is; None where it is something else, or is not bounded.

        >>> from steelyard import get_metric
        >>> ratio = LinearRatio.of(get_metric("f1"))
        >>> print(ratio.above, ratio.below, LinearRatio.of(get_metric("mcc")))
        [2. 0. 0. 0.] [2. 1. 1. 0.] None
        """
        formula = metric.expression
        while isinstance(formula, Named):
            formula = formula.inner
        if not isinstance(formula, Ratio):
            return None
        above, below = _linear(formula.above), _linear(formula.below)
        if above is None or below is None or above[-1] or below[-1] or (below < 0).any():
            return None
        ratio = cls(above[:-1], below[:-1])
        return None if (ratio.below == 0)[ratio.above != 0].any() else ratio

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the greatest value that a table can have."""
        counted = self.below > 0
        values = self.above[counted] / self.below[counted]
        return float(values.min()), float(values.max())

    def value(self, cells: Array) -> Array:
        """The ratio of tables whose last axis is the cells."""
        with np.errstate(invalid="ignore"):
            return np.asarray((cells @ self.above) / (cells @ self.below))

    def log_evidence(self, cells: Array, limit: Array | float, sign: int) -> Array:
        """The logarithm of the evidence that the ratio is below (sign 1) or above (-1) the limit."""
        return self.log_evidence_below(cells, limit) if sign > 0 else self.log_evidence_above(cells, limit)

    def log_evidence_below(self, cells: Array, limit: Array | float) -> Array:
        """The logarithm of the evidence that the ratio is below the limit."""
        return log_wealth(cells, self.payoffs(limit))

    def payoffs(self, limit: Array | float) -> Array:
        """What each kind of row pays who bets that the ratio is below the limit."""
        return np.asarray(np.asarray(limit)[..., None] * self.below - self.above)

    def log_evidence_above(self, cells: Array, limit: Array | float) -> Array:
        """The logarithm of the evidence that the ratio is above the limit."""
        return self.negated.log_evidence_below(cells, -np.asarray(limit))

    @property
    def negated(self) -> LinearRatio:
        """The ratio with the other sign."""
        return LinearRatio(-self.above, self.below)

    def highest(self, cells: Array, alpha: float) -> Array:
        """The highest value that the evidence does not refute."""
        value, (least, most) = self.value(cells), self.ends
        low, high = np.where(np.isnan(value), least, value), np.full(np.shape(value), most)
        return bisected(
            low, high, lambda value: self.log_evidence_below(cells, value) >= -np.log(alpha), _RATIO_HALVINGS
        )

    def anytime_ends(self, cells: Array, low_alpha: float, high_alpha: float) -> Ends:
        """Both bounds of the confidence sequence, each with its share of the error."""
        return -self.negated.highest(cells, low_alpha), self.highest(cells, high_alpha)


def log_wealth(cells: Array, payoffs: Array) -> Array:
    """The logarithm of the mean wealth of gamblers who bet that the mean payoff is above 0, from 1.

    The last axis of both is the kinds of rows. Where no payoff is negative nothing can be lost, and the bet is unfair:
    then one row with a payoff proves it.
    """
    worst, returns = -payoffs.min(axis=-1), log_returns(payoffs)
    wealth = mean_wealth(cells @ returns.T if returns.ndim == 2 else (cells[..., None, :] * returns).sum(axis=-1))
    unfair = (worst <= 0) & ((cells * payoffs).sum(axis=-1) > 0)
    return np.where(unfair, np.inf, np.where(worst <= 0, 0.0, wealth))


def log_returns(payoffs: Array) -> Array:
    """The logarithm of what each gambler's wealth is multiplied by at each kind of row: gamblers x kinds."""
    worst = -payoffs.min(axis=-1, keepdims=True)
    return np.asarray(np.log1p(FRACTIONS[:, None] * (payoffs / np.where(worst > 0, worst, 1.0))[..., None, :]))


def mean_wealth(logs: Array) -> Array:
    """The logarithm of the mean over the gamblers, which are the last axis."""
    return np.asarray(np.logaddexp.reduce(logs, axis=-1) - np.log(len(FRACTIONS)))


def _linear(node: Expression) -> Array | None:
    """The coefficients of a sum over the cells, and the constant last; None where it is no such sum."""
    match node:
        case Symbol(name=name):
            return np.array([*(float(name == cell) for cell in CELLS), 0.0])
        case Number(value=value):
            return np.array([0.0] * len(CELLS) + [float(value)])
        case Named(inner=inner):
            return _linear(inner)
        case Operation(sign="neg", args=(part,)):
            inside = _linear(part)
            return None if inside is None else -inside
        case Operation(sign="+" | "-" | "*" | "/" as sign, args=(left, right)):
            a, b = _linear(left), _linear(right)
            return None if a is None or b is None else _combined(sign, a, b)
    return None


def _combined(sign: str, a: Array, b: Array) -> Array | None:
    if sign in "+-":
        return np.asarray(a + b if sign == "+" else a - b)
    if sign == "*" and not a[:-1].any():
        return np.asarray(a[-1] * b)
    if b[:-1].any() or (sign == "/" and not b[-1]):
        return None
    return np.asarray(a * b[-1] if sign == "*" else a / b[-1])
