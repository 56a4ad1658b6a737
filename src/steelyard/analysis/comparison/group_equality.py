"""Equality of groups: one test per metric that all groups have the same value, whatever the number of groups.

A rate of rows, such as recall, is hits out of trials: were it equal in all groups, the hits would be spread over them
as a draw without replacement, given how many trials each has. That test is exact (Freeman and Halton 1951), its
p-value is that of Monte Carlo draws: no smaller than one of them, and a bound where none reaches the rates seen. Of
other metrics, of weighted and clustered rows, the intervals of the groups are read: the value that is nearest to all
of them, and how far they are from it in their own standard errors on that side.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.comparison.group_tests import FEWEST_DRAWS
from steelyard.analysis.distributions import f_above, normal_reach
from steelyard.analysis.results.rows import Flat
from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from steelyard._types import Array

BY_DRAWS, BY_INTERVALS = "Monte Carlo", "intervals"
_GRID = 401  # values that are tried as the one of all groups
_SMALLEST = 1e-12  # of a standard error
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class GroupTest(Flat):
    """The test that all groups have the same value of a metric: chi-square, and the method that gave its p-value.

    Where `is_bound`, no draw reached the groups' differences: the p-value is then an upper bound.
    """

    spec: MetricSpec = field(metadata={"key": "metric"})
    groups: int
    statistic: float
    p_value: float
    method: str = BY_DRAWS
    undefined: str | None = None
    is_bound: bool = False

    @property
    def metric(self) -> str:
        """The written form of the metric."""
        return self.spec.name

    def row(self) -> dict[str, Any]:
        """The test as a row of a table."""
        return {"metric": self.metric, **{key: value for key, value in vars(self).items() if key != "spec"}}


class RateDraws:
    """Draws of the rates of several groups, were the rate the same in all of them.

    `hits` and `trials` are of each group. Those without trials have no rate and are left out.
    """

    def __init__(self, hits: Array, trials: Array, rng: np.random.Generator, draws: int = FEWEST_DRAWS) -> None:
        self.hits, self.trials = hits[trials > 0], trials[trials > 0]
        self.drawn = rng.multivariate_hypergeometric(self.trials, int(self.hits.sum()), size=draws)

    @property
    def rates(self) -> Array:
        """The drawn rates, groups last."""
        return np.asarray(self.drawn / self.trials)

    def equality(self) -> tuple[float, float]:
        """Pearson's chi-square of the rates, and the share of draws that reach it, the rates seen being one of them."""
        own = float(self._chi_square(self.hits))
        reached = np.count_nonzero(self._chi_square(self.drawn) >= own - _ROUNDING)
        return own, (reached + 1) / (len(self.drawn) + 1)

    def is_bound(self, p_value: float) -> bool:
        """Whether a p-value is the smallest that so many draws can give."""
        return p_value <= 1 / (len(self.drawn) + 1)

    def _chi_square(self, hits: Array) -> Array:
        share = self.hits.sum() / self.trials.sum()
        if share in (0, 1):
            return np.zeros(hits.shape[:-1])
        return np.asarray(((hits - self.trials * share) ** 2 / (self.trials * share * (1 - share))).sum(-1))


def interval_equality(ends: Array, level: float) -> tuple[float, float]:
    """The chi-square of the groups' values about the nearest common one, and its p-value; groups without are left out.

    `ends` has the value, low and high of each group. The standard error of a group is that of the side on which the
    common value lies, so that a recall of 98 % with a long lower and a short upper arm is read as what it is.
    """
    values, lows, highs = ends[np.isfinite(ends).all(1)].T
    if len(values) < 2:
        return math.nan, math.nan
    common = np.linspace(values.min(), values.max(), _GRID)[:, None]
    errors = np.where(common > values, highs - values, values - lows) / normal_reach(level)
    far = np.where(common == values, 0.0, (common - values) / np.maximum(errors, _SMALLEST))
    statistic = float((far**2).sum(1).min())
    return statistic, f_above(statistic / (len(values) - 1), len(values) - 1, math.inf)
