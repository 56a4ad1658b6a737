"""Evidence: what the rows say of a difference: its standard error, its interval at any level, its tails."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from steelyard.analysis.distributions import f_above, normal_below, normal_quantile, student_below
from steelyard.analysis.holm import holm
from steelyard.analysis.levels import tails
from steelyard.analysis.results.result import Flat, Rows
from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array
    from steelyard.analysis.comparison.comparison import Difference
    from steelyard.analysis.intervals.design import StudentSpread
    from steelyard.analysis.intervals.inference import Inference


FEWEST = 10  # draws beyond a value, below which a normal tail shows more than their number


class Evidence(Protocol):
    """What the rows say of a difference."""

    @property
    def difference(self) -> float:
        """The difference itself."""

    @property
    def error(self) -> float:
        """Its standard error."""

    @property
    def degrees(self) -> float:
        """The degrees of freedom of Student's t that the error is read with."""

    @property
    def undefined_share(self) -> float:
        """The share of the draws in which it is undefined."""

    def bounds(self, level: float) -> tuple[float, float]:
        """The interval of that level."""

    def tail(self, limit: float, sign: int) -> float:
        """The one-sided p-value that the difference is at the limit or below it, or with the sign -1 above it."""


@dataclass(frozen=True)
class StudentEvidence:
    """A difference that scatters as Student's t, within the limits of the metric's range."""

    difference: float
    spread: StudentSpread
    limits: tuple[float, float]
    undefined_share: float = 0.0

    @property
    def error(self) -> float:
        """The root of the variance."""
        return math.sqrt(self.spread.variance)

    @property
    def degrees(self) -> float:
        """Those of the variance."""
        return self.spread.degrees

    def bounds(self, level: float) -> tuple[float, float]:
        """The difference and the half-width of t to either side."""
        half_width = self.spread.half_width(level)
        return max(self.difference - half_width, self.limits[0]), min(self.difference + half_width, self.limits[1])

    def tail(self, limit: float, sign: int) -> float:
        """The tail of t beyond the limit."""
        return self.spread.share_below(sign * (self.difference - limit))


@dataclass(frozen=True)
class DrawnEvidence:
    """A difference and what it is in draws of the rows."""

    difference: float
    drawn: Array
    degrees: float = math.inf  # draws of few units are as wide as Student's t already

    @property
    def error(self) -> float:
        """The standard deviation of the draws."""
        return float(np.nanstd(self.drawn)) if np.isfinite(self.drawn).any() else math.nan

    @property
    def undefined_share(self) -> float:
        """The share of the draws without a value."""
        return float(np.isnan(self.drawn).mean())

    def bounds(self, level: float) -> tuple[float, float]:
        """The quantiles of the draws."""
        low, high = drawn_bounds(self.difference, self.drawn, tails(level))
        return float(low), float(high)

    def tail(self, limit: float, sign: int) -> float:
        """The share of the draws beyond the limit; a normal tail where they are few."""
        defined = np.count_nonzero(~np.isnan(self.drawn))
        if not defined or math.isnan(self.difference):
            return math.nan
        beyond = np.count_nonzero(sign * (self.drawn - limit) <= 0)
        if beyond >= FEWEST:
            return (beyond + 1) / (defined + 1)
        distance = sign * (self.difference - limit)
        normal = float(normal_below(-distance / self.error)) if self.error else float(distance <= 0)
        return min(normal, FEWEST / defined)


def drawn_bounds(difference: Array | float, drawn: Array, levels: tuple[float, float]) -> tuple[Array, Array]:
    """The quantiles of the draws on the last axis, which hold the difference between them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a metric that no draw defines has no interval
        low, high = np.nanquantile(drawn, levels, axis=-1)
    undefined = np.isnan(difference)
    low, high = np.fmin(low, difference), np.fmax(high, difference)
    return np.where(undefined, np.nan, low), np.where(undefined, np.nan, high)


# ---------------------------------------------------------------- omnibus test
# Whether all of several models are equal by a metric, and the level at which all pairs hold together.
#
# Both rest on the joint covariance of the models' differences, which follows from the variances of all pairs:
# cov(a - c, b - c) = (var(a - c) + var(b - c) - var(a - b)) / 2. Differences that scatter as Student's t are tested by
# Wald's F. Of labels the smallest p-value of all pairs is read against the largest |t| of all: with 5 to 30 positives
# Wald's chi-square rejects up to 10.5 % of three models with equal recall at 0.05, the smallest p-value 5.5 %
# (16 settings, 12 of them at random, 1,000 runs; on average 3.1 % where it can reject).


_NEGLIGIBLE = 1e-9  # of the largest variance: a direction in which the models cannot differ
WALD_TEST, LARGEST_PAIR = "wald", "largest of all pairs"
_DRAWS = 50_000  # of the largest of all pairs' t: the level of each pair is known to some 2 % of itself


@dataclass(frozen=True, eq=False)
class Omnibus(Flat):
    """The test that all models are equal by a metric.

    Of scores Wald's: Hotelling's F of the joint covariance of the differences. Of labels, and of what is drawn, that of
    the largest difference of all pairs: the statistic is the normal quantile of the smallest p-value of the pairs.
    """

    spec: MetricSpec = field(metadata={"key": "metric"})
    statistic: float
    numerator: int
    denominator: float
    p_value: float
    method: str = WALD_TEST

    @property
    def metric(self) -> str:
        """The written form of the metric."""
        return self.spec.name

    def row(self) -> dict[str, Any]:
        """The test as a row of a table."""
        return {"metric": self.metric, **{key: value for key, value in vars(self).items() if key != "spec"}}


@dataclass(frozen=True)
class JointSpread:
    """The differences of all models from the last one by a metric, their covariance, and its degrees of freedom."""

    differences: Array
    covariance: Array
    degrees: float

    @classmethod
    def of(cls, values: Sequence[float], pairs: Sequence[Evidence]) -> JointSpread:
        """By the evidence of each pair, in the order of `combinations`."""
        variances = np.zeros((len(values), len(values)))
        for (i, j), pair in zip(combinations(range(len(values)), 2), pairs, strict=True):
            variances[i, j] = variances[j, i] = pair.error**2
        to_last = variances[-1, :-1]
        covariance = (to_last[:, None] + to_last - variances[:-1, :-1]) / 2
        return cls(np.asarray(values[:-1]) - values[-1], covariance, min(pair.degrees for pair in pairs))

    def omnibus(self, spec: MetricSpec) -> Omnibus:
        """The test that all differences are 0; undefined where there are more of them than degrees of freedom."""
        if not (np.isfinite(self.differences).all() and np.isfinite(self.covariance).all()):
            return Omnibus(spec, math.nan, len(self.differences), self.degrees, math.nan)
        variances, directions = np.linalg.eigh(self.covariance)
        varies = variances > _NEGLIGIBLE * max(variances.max(), 1e-300)
        rank, along = int(varies.sum()), directions.T @ self.differences
        wald = float((along[varies] ** 2 / variances[varies]).sum())
        # They do not vary at all, or they differ in a direction in which they do not vary.
        if not rank or (np.abs(along[~varies]) > math.sqrt(_NEGLIGIBLE)).any():
            same = not (np.abs(self.differences) > math.sqrt(_NEGLIGIBLE)).any()
            return Omnibus(spec, 0.0 if same else math.inf, rank, self.degrees, float(same))
        left = self.degrees - rank + 1
        statistic = wald / rank if math.isinf(left) else wald * left / (self.degrees * rank)
        p_value = f_above(statistic, rank, left) if left > 0 else math.nan
        return Omnibus(spec, statistic, rank, left, p_value)

    def of_smallest(self, spec: MetricSpec, p_values: Sequence[float], largest: Array) -> Omnibus:
        """The test by the smallest p-value of all pairs, which is at most their number times as large for all."""
        smallest = min(p_values)
        quantile = -float(normal_quantile(smallest / 2)) if smallest else math.inf
        beyond = (np.count_nonzero(largest >= quantile) + 1) / (len(largest) + 1)
        p_value = min(max(beyond, smallest), len(p_values) * smallest, 1.0)
        return Omnibus(spec, quantile, len(self.differences), self.degrees, p_value, LARGEST_PAIR)

    def largest(self, rng: np.random.Generator, draws: int | None = None) -> Array:
        """Draws of the largest |t| of all pairs, were all models equal; 0 where none can differ."""
        draws = draws or _DRAWS
        variances, directions = np.linalg.eigh(self.covariance)
        roots = directions * np.sqrt(np.maximum(variances, 0))
        drawn = np.append(rng.standard_normal((draws, len(roots))) @ roots.T, np.zeros((draws, 1)), axis=1)
        first, second = np.array(list(combinations(range(drawn.shape[1]), 2))).T
        differences = drawn[:, first] - drawn[:, second]
        errors = differences.std(axis=0)
        t = np.abs(differences[:, errors > 0]) / errors[errors > 0]
        if not math.isinf(self.degrees):
            t /= np.sqrt(rng.chisquare(self.degrees, (draws, 1)) / self.degrees)
        return np.asarray(t.max(axis=1, initial=0))

    def level_of_each(self, level: float, largest: Array) -> float:
        """The level of each pair's interval at which all of them hold together."""
        quantile = float(np.quantile(largest, level))
        return max(1 - 2 * float(student_below(-quantile, self.degrees)), level)


# ---------------------------------------------------------------- judged differences
# The pairs of a comparison with their evidence, concluded together.


@dataclass(frozen=True)
class JudgedDifference:
    """A difference, what the rows say of it, and the p-value of the test that it is 0."""

    row: Difference
    evidence: Evidence
    p_value: float
    method: str

    def concluded(self, inference: Inference, p_holm: float, margin: float | None) -> Difference:
        """The difference with its interval and its p-values."""
        low, high = self.bounds(inference.level)
        p_not_worse = None
        sign = self.row.spec.sign
        if margin is not None and sign:  # of a being worse than b by the margin or more
            p_not_worse = self.evidence.tail(-sign * margin, sign)
        return replace(
            self.row,
            low=low,
            high=high,
            p_value=self.p_value,
            p_holm=p_holm,
            method=self.method,
            undefined_share=self.evidence.undefined_share,
            simultaneous_low=low,
            simultaneous_high=high,
            p_not_worse=p_not_worse,
        )

    def bounds(self, level: float) -> tuple[float, float]:
        """The interval of that level, which holds 0 where the test does not reject it."""
        low, high = self.evidence.bounds(level)
        return (min(low, 0.0), max(high, 0.0)) if self.p_value > 1 - level else (low, high)


def concluded(
    models: Sequence[str], pairs: Sequence[JudgedDifference], inference: Inference, margin: float | None
) -> tuple[Rows[Difference], Rows[Omnibus]]:
    """All pairs with intervals and p-values, Holm's of all together; of more than two models the omnibus tests."""
    adjusted = holm(pair.p_value for pair in pairs)
    rows = [pair.concluded(inference, p, margin) for pair, p in zip(pairs, adjusted, strict=True)]
    if len(models) == 2:
        return Rows(rows), Rows()
    index = {pair: i for i, pair in enumerate(combinations(models, 2))}
    tests: Rows[Omnibus] = Rows()
    for spec in dict.fromkeys(pair.row.spec for pair in pairs):
        of_spec = [i for i, pair in enumerate(pairs) if pair.row.spec == spec]
        of_spec.sort(key=lambda i: index[pairs[i].row.a, pairs[i].row.b])
        values = {pairs[i].row.a: pairs[i].row.value_a for i in of_spec}
        values |= {pairs[i].row.b: pairs[i].row.value_b for i in of_spec}
        test, level = _joint_test([pairs[i] for i in of_spec], [values[name] for name in models], inference)
        tests.append(test)
        if math.isnan(test.p_value):
            continue
        for i in of_spec:
            low, high = pairs[i].bounds(level)
            rows[i] = replace(rows[i], simultaneous_low=low, simultaneous_high=high)
    return Rows(rows), tests


def _joint_test(
    pairs: Sequence[JudgedDifference], values: Sequence[float], inference: Inference
) -> tuple[Omnibus, float]:
    """The test that all models are equal, and the level of each pair's interval at which all hold together."""
    joint = JointSpread.of(values, [pair.evidence for pair in pairs])
    test = joint.omnibus(pairs[0].row.spec)
    if math.isnan(test.p_value):
        return test, inference.level
    largest = joint.largest(inference.generator, inference.draws)
    if any(isinstance(pair.evidence, DrawnEvidence) for pair in pairs):
        test = joint.of_smallest(test.spec, [pair.p_value for pair in pairs], largest)
    return test, joint.level_of_each(inference.level, largest)
