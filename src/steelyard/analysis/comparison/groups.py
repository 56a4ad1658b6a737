"""Groups: tests that groups are equal by a metric, differences between them, and the gaps that fairness speaks of."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.distributions import f_above, normal_reach, student_below
from steelyard.analysis.results.result import Flat
from steelyard.metrics.spec import MetricSpec
from steelyard.metrics.values import ClassCells, count_values, run_formula
from steelyard.tables.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from steelyard._types import Array
    from steelyard.metrics.measure import Metric

    RightRowsValue = Callable[[Array, Array], Array]  # of the hits and the rows of each class, classes last

FEWEST_DRAWS, MOST_DRAWS = 1_999, 10_000  # draws; with fewer than 2 / alpha for each group no p-value could reach alpha
_MOST_ROWS = 10**9  # of a class: NumPy draws from fewer without replacement
_MOST_CELLS = 50_000_000  # of all draws of all tables: a few seconds
_AT_ONCE = 4_000_000  # of these that are in memory together
_NEAR = 1e-9


def groups_to_test(sizes: Array, classes: int, level: float) -> Array:
    """The indices of the largest groups, as many as the draws can test; their sizes depend on no outcome."""
    draws = MOST_DRAWS * (1 - level) / 2, np.sqrt(_MOST_CELLS * (1 - level) / (2 * max(2, classes) ** 2))
    most = int(min(draws))
    return np.sort(np.argsort(-sizes, kind="stable")[: max(2, most)])


def exact_p_values(hits: Array, sizes: Array, value: RightRowsValue, level: float, rng: np.random.Generator) -> Array:
    """Adjusted p-values that the metric is lower in each group than in the others together: exact permutations.

    `hits` and `sizes` are the rows that are right and all rows, groups by true classes. Rows change groups within their
    true class, which keeps every margin; the smallest p-value of each draw is the simultaneous test (Westfall and
    Young's min-p), so that a group of four rows, whose p-value cannot be small, takes no power from the others.
    """
    draws = int(np.clip(2 * len(hits) / (1 - level), FEWEST_DRAWS, MOST_DRAWS))
    totals = hits.sum(0)
    drawn = np.stack(
        [rng.multivariate_hypergeometric(sizes[:, k], totals[k], size=draws) for k in range(len(totals))], -1
    )
    tables = np.concatenate([hits[None], drawn])
    p_values = np.ones((draws + 1, len(hits)))
    for group, size in enumerate(sizes):
        below = value(totals - tables[:, group], sizes.sum(0) - size) - value(tables[:, group], size)
        below = np.where(np.isnan(below), -np.inf, np.round(below, 12))
        p_values[:, group] = 1 - np.searchsorted(np.sort(below), below, "left") / (draws + 1)
    least = np.sort(p_values.min(1))
    return np.asarray(np.searchsorted(least, p_values[0] + _NEAR / draws, "right") / (draws + 1))


def interval_p_values(intervals: Array, sizes: Array, level: float) -> Array:
    """Adjusted two-sided p-values of the same from the groups' own intervals: Newcombe's differences, by Bonferroni.

    For weighted or clustered rows and ranks, where rows cannot change groups. `intervals` has the value, low and high
    of each group; one without an interval has p-value 1. The others are averaged by their rows: weights by the width of
    the intervals would favour high values, whose intervals are narrow. The tails are Student's: those of a metric of
    four rows, which Bonferroni goes far out into, are not normal.
    """
    known = np.isfinite(intervals).all(1)
    p_values = np.ones(len(intervals))
    if known.sum() < 2:
        return p_values
    values, lows, highs = np.where(known, intervals.T, 0)
    errors_above, errors_below = (highs - values) / normal_reach(level), (values - lows) / normal_reach(level)
    for group in np.flatnonzero(known):
        share = np.where(known, sizes, 0) * (np.arange(len(intervals)) != group)
        share = share / share.sum()
        error = np.hypot(errors_above[group], np.sqrt((share**2 * errors_below**2).sum()))
        below = share @ values - values[group]
        p_values[group] = 2 * known.sum() * student_below(-below / max(error, _NEAR), max(sizes[group] - 1, 1))
    return np.minimum(p_values, 1)


def can_permute(sizes: Array) -> bool:
    """Whether rows can be drawn into other groups in a few seconds: of so many rows, and of tables of so many cells."""
    return bool(sizes.sum(0).max() < _MOST_ROWS and 2 * FEWEST_DRAWS * sizes.shape[-1] ** 2 <= _MOST_CELLS)


def moves_with_shares(value: RightRowsValue, hits: Array, sizes: Array) -> bool:
    """Whether the metric is another one where the same rates meet other class shares, as precision is.

    By such a metric groups differ whose classifier is the same; permutations, which keep the shares, allow for that.
    """
    times = 1.0 + np.arange(len(sizes))
    return not np.isclose(value(hits, sizes), value(hits * times, sizes * times), rtol=1e-9, equal_nan=True)


def two_class_value(metric: Metric) -> RightRowsValue:
    """The metric of two classes by the right rows of each, the positive class first."""

    def value(hits: Array, sizes: Array) -> Array:
        tp, tn = hits[..., 0], hits[..., 1]
        return np.asarray(count_values(metric, Counts.trusted(tp, sizes[0] - tp, sizes[1] - tn, tn), metric.parameters))

    return value


def class_value(metric: Metric, matrix: Array) -> RightRowsValue | None:
    """The metric of many classes by the right rows of each; None if on this table it depends on more than these."""
    form = metric.classes
    if form is None:
        return None

    def value(hits: Array, sizes: Array) -> Array:
        hits = np.asarray(hits, dtype=np.float64)
        if hits.ndim > 1 and (blocks := hits.size * len(sizes) // _AT_ONCE):
            return np.concatenate([value(block, sizes) for block in np.array_split(hits, blocks + 1)])
        tables = hits[..., None] * np.eye(hits.shape[-1])
        tables += (sizes - hits)[..., None] * np.roll(np.eye(hits.shape[-1]), 1, axis=1)  # wrong: as the next class
        return np.asarray(run_formula(form, ClassCells.of(tables), metric.parameters))

    of_table = run_formula(form, ClassCells.of(matrix), metric.parameters)
    is_same = np.isclose(value(np.diagonal(matrix), matrix.sum(1)), of_table, rtol=1e-9, equal_nan=False)
    return value if bool(is_same) else None


def recall_value(hits: Array, sizes: Array) -> Array:
    """The share of right rows."""
    with np.errstate(invalid="ignore"):
        return np.asarray(hits[..., 0] / sizes[0])


# ---------------------------------------------------------------- differences of groups
# Two independent groups by a metric, from the interval of each, and many of them together.
#
# Donner and Zou's MOVER: the bounds of a difference or a ratio from the two values and the bounds of their intervals,
# which need not be symmetric. Each comparison has the level at which all of them hold together (Šidák).


_SMALLEST_DENOMINATOR = 1e-300  # of a denominator


def level_of_each(level: float, comparisons: int) -> float:
    """The level of each of several intervals at which all of them hold together."""
    return float(level ** (1 / max(comparisons, 1)))


def difference_ends(intervals: Array, others: Array) -> Array:
    """The difference of independent values with its bounds, on the last axis: value, low, high (Newcombe's hybrid)."""
    (value, low, high), (other, other_low, other_high) = np.moveaxis(intervals, -1, 0), np.moveaxis(others, -1, 0)
    difference = value - other
    below, above = np.hypot(value - low, other_high - other), np.hypot(high - value, other - other_low)
    return np.stack([difference, difference - below, difference + above], -1)


def ratio_ends(intervals: Array, others: Array) -> Array:
    """The ratio of independent values that are not negative, with its bounds: value, low, high."""
    (value, low, high), (other, other_low, other_high) = np.moveaxis(intervals, -1, 0), np.moveaxis(others, -1, 0)
    product = value * other
    with np.errstate(divide="ignore", invalid="ignore"):
        least, most = low * (2 * value - low), other_high * (2 * other - other_high)
        root = np.sqrt(np.maximum(product**2 - least * most, 0))
        below = np.where(least > 0, least / np.maximum(product + root, _SMALLEST_DENOMINATOR), 0.0)
        least, most = high * (2 * value - high), other_low * (2 * other - other_low)
        root = np.sqrt(np.maximum(product**2 - least * most, 0))
        above = np.where(most > 0, (product + root) / np.maximum(most, _SMALLEST_DENOMINATOR), np.inf)
        undefined = np.isnan(value + other) | ((value == 0) & (other == 0))
        return np.where(undefined[..., None], np.nan, np.stack([value / other, below, above], -1))


def largest_difference(intervals: Array) -> Array:
    """The largest difference between any two groups (the last axis but one), with its bounds.

    The intervals of all pairs hold together, so the largest true difference is at most the farthest of their bounds,
    and at least the nearest bound of the pair that is shown to be farthest apart: 0 where none is. The value itself is
    never below 0 and too large on average, whatever is true; the lower bound alone shows a difference.
    """
    first, second = _pairs(intervals.shape[-2])
    differences = difference_ends(intervals[..., first, :], intervals[..., second, :])
    value, low, high = np.moveaxis(differences, -1, 0)
    least = np.maximum(np.maximum(low, -high), 0)
    most = np.maximum(np.abs(low), np.abs(high))
    return np.stack([np.abs(value).max(-1), least.max(-1), most.max(-1)], -1)


def smallest_ratio(intervals: Array) -> Array:
    """The smallest ratio of any group's value to another's, with its bounds; 1 where all are equal."""
    first, second = _pairs(intervals.shape[-2])
    ratios = [ratio_ends(intervals[..., a, :], intervals[..., b, :]) for a, b in ((first, second), (second, first))]
    value, low, high = np.moveaxis(np.concatenate(ratios, -2), -1, 0)
    undefined = np.isnan(intervals).any((-1, -2)) | np.isnan(value).all(-1)
    is_zero_over_zero = np.isnan(value) & ~np.isnan(value).all(-1, keepdims=True)
    smallest = np.where(is_zero_over_zero, np.inf, value).min(-1)
    least = np.where(np.isnan(low), np.inf, low).min(-1)
    most = np.where(np.isnan(high), np.inf, high).min(-1)
    ratio = np.minimum(np.stack([smallest, least, most], -1), 1)
    return np.where(undefined[..., None], np.nan, ratio)


def _pairs(groups: int) -> tuple[Array, Array]:
    first, second = np.array(list(combinations(range(groups), 2)), dtype=np.intp).reshape(-1, 2).T
    return first, second


# ---------------------------------------------------------------- equality of groups
# One test per metric that all groups have the same value, whatever the number of groups.
#
# A rate of rows, such as recall, is hits out of trials: were it equal in all groups, the hits would be spread over them
# as a draw without replacement, given how many trials each has. That test is exact (Freeman and Halton 1951), its
# p-value is that of Monte Carlo draws: no smaller than one of them, and a bound where none reaches the rates seen. Of
# other metrics, of weighted and clustered rows, the intervals of the groups are read: the value that is nearest to all
# of them, and how far they are from it in their own standard errors on that side.


BY_DRAWS, BY_INTERVALS = "Monte Carlo", "intervals"
_GRID = 401  # values that are tried as the one of all groups
_SMALLEST_ERROR = 1e-12  # of a standard error
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
        """Pearson's chi-square of the rates, and the share of draws that reach it, the observed rates counted too."""
        observed = float(self._chi_square(self.hits))
        reached = np.count_nonzero(self._chi_square(self.drawn) >= observed - _ROUNDING)
        return observed, (reached + 1) / (len(self.drawn) + 1)

    def is_bound(self, p_value: float) -> bool:
        """Whether a p-value is the smallest that so many draws can give."""
        return p_value <= 1 / (len(self.drawn) + 1)

    def _chi_square(self, hits: Array) -> Array:
        share = self.hits.sum() / self.trials.sum()
        if share in (0, 1):
            return np.zeros(hits.shape[:-1])
        return np.asarray(((hits - self.trials * share) ** 2 / (self.trials * share * (1 - share))).sum(-1))


def interval_equality(intervals: Array, level: float) -> tuple[float, float]:
    """The chi-square of the groups' values about the nearest common one, and its p-value; groups without are left out.

    `intervals` has the value, low and high of each group. The standard error of a group is that of the side on which
    the common value lies, as an interval of 98 % recall has a long lower and a short upper arm.
    """
    values, lows, highs = intervals[np.isfinite(intervals).all(1)].T
    if len(values) < 2:
        return math.nan, math.nan
    common = np.linspace(values.min(), values.max(), _GRID)[:, None]
    errors = np.where(common > values, highs - values, values - lows) / normal_reach(level)
    deviations = np.where(common == values, 0.0, (common - values) / np.maximum(errors, _SMALLEST_ERROR))
    statistic = float((deviations**2).sum(1).min())
    return statistic, f_above(statistic / (len(values) - 1), len(values) - 1, math.inf)


# ---------------------------------------------------------------- gaps of groups
# How far apart the groups are by the rates that notions of fairness compare, as fairlearn has them.
#
# The difference is the largest minus the smallest rate, the ratio the smallest over the largest; of equalized odds,
# which compare two rates, the worse of the two, or their mean. Numbers alone: which gap matters, and how much, no data
# say.


RATES_COMPARED = {
    "demographic parity": ("predicted_prevalence",),
    "equal opportunity": ("recall",),
    "equalized odds": ("recall", "false_positive_rate"),
    "predictive parity": ("precision",),
}
_FORMS: dict[str, Callable[[Array], Array]] = {"difference": largest_difference, "ratio": smallest_ratio}


@dataclass(frozen=True, eq=False)
class GroupGap(Flat):
    """One gap between groups, by fairlearn's name, with an interval that holds whatever groups are the extreme ones.

    `metric` is the rate that it is read from, `lowest` and `highest` are the groups that it lies between. The value is
    never the one of equal groups (0, or a ratio of 1), even of groups that are equal: `if_equal` is what these would
    show on average, None where that is not known.
    """

    name: str
    value: float
    low: float
    high: float
    if_equal: float | None = None
    metric: str = ""
    lowest: str = ""
    highest: str = ""
    undefined: str | None = None

    def row(self) -> dict[str, Any]:
        """The gap as a row of a table."""
        return {"gap": self.name, **{key: value for key, value in vars(self).items() if key != "name"}}


@dataclass(frozen=True)
class RateEnds:
    """A rate of all groups: the value, low and high of each, draws of them were they equal, and why it is undefined."""

    metric: str
    ends: Array
    drawn: Array | None = None
    undefined: str | None = None


def gaps_of(role: str, rates: Sequence[RateEnds], names: Sequence[str]) -> list[GroupGap]:
    """The gaps that compare these rates, whose intervals must hold for all pairs of all of them together."""
    gaps = []
    for form, gap_of in _FORMS.items():
        gap_intervals = np.stack([gap_of(rate.ends) for rate in rates])
        equal = [None if rate.drawn is None else _gap(form, rate.drawn) for rate in rates]
        name = f"{role.replace(' ', '_')}_{form}"
        gaps.append(_worst(name, form, rates, gap_intervals, equal, names))
        if len(rates) > 1:
            known = [draws for draws in equal if draws is not None]
            if_equal = _mean(np.mean(known, axis=0)) if len(known) == len(equal) else None
            why = next((rate.undefined for rate in rates if rate.undefined), None)
            value, low, high = gap_intervals.mean(0).tolist()
            gaps.append(GroupGap(f"{name}[agg=mean]", value, low, high, if_equal, undefined=why))
    return gaps


def _worst(
    name: str,
    form: str,
    rates: Sequence[RateEnds],
    gap_intervals: Array,
    equal: Sequence[Array | None],
    names: Sequence[str],
) -> GroupGap:
    """The gap of the rate that has the larger difference, or the smaller ratio."""
    undefined = next((rate.undefined for rate in rates if rate.undefined), None)
    if np.isnan(gap_intervals[:, 0]).any():
        why = "all rates are 0" if undefined is None else undefined
        return GroupGap(name, math.nan, math.nan, math.nan, undefined=why)
    worst = np.max if form == "difference" else np.min
    value, low, high = worst(gap_intervals, axis=0).tolist()
    rate = rates[int(np.argmax(gap_intervals[:, 0] == value))]
    known = [draws for draws in equal if draws is not None]
    if_equal = _mean(worst(np.stack(known), axis=0)) if len(known) == len(equal) else None
    lowest, highest = names[int(np.argmin(rate.ends[:, 0]))], names[int(np.argmax(rate.ends[:, 0]))]
    return GroupGap(name, value, low, high, if_equal, rate.metric, lowest, highest)


def _gap(form: str, drawn: Array) -> Array:
    """The gap of each draw of the rates."""
    if form == "difference":
        return np.asarray(drawn.max(-1) - drawn.min(-1))
    with np.errstate(invalid="ignore"):
        return np.asarray(drawn.min(-1) / drawn.max(-1))


def _mean(draws: Array) -> float:
    """The mean of the draws in which there is a gap; 0 over 0 is none."""
    defined = draws[~np.isnan(draws)]
    return float(defined.mean()) if len(defined) else math.nan
