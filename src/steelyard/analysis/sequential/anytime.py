"""Anytime intervals: intervals of a metric that hold at every look at once, however often and whenever one looks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.analysis.intervals.evidence import LinearRatio, bisected, log_evidence_uneven
from steelyard.analysis.intervals.metric_sequence import P_HALVINGS, SMALLEST_P, MetricSequence
from steelyard.analysis.levels import check_level
from steelyard.analysis.results.formatting import interval_text, p_text
from steelyard.analysis.results.result import Flat
from steelyard.arguments import names_wrong_arguments
from steelyard.exceptions import InputError, InputTypeError
from steelyard.metrics.registry import list_metrics
from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Label
    from steelyard.tables.paired_table import Paired


# ---------------------------------------------------------------- CostTable
# Bounded amounts, such as what a row cost, kept as weights of fixed nodes, which add up.


NODES = 129
_FINEST = 1e-6  # of the range: the distance of the first node from the bound


@dataclass(frozen=True, eq=False)
class CostTable:
    """Amounts between `low` and `high`: each is divided among the two nodes around it so that its mean stays exact.

    The logarithm of a wealth is concave, so that what a gambler wins on the nodes is never more than on the amounts
    themselves: evidence stays evidence. Nodes lie dense at the low end, and where the range goes below 0 at 0 as well.

    >>> table = CostTable.of([0.0, 3.5, 120.0], 0, 500) + CostTable.of([20.0], 0, 500)
    >>> table.rows, round(float(table.mean), 6)
    (4, 35.875)
    """

    low: float
    high: float
    weights: Array = field(default_factory=lambda: np.zeros(NODES))

    @classmethod
    def of(cls, amounts: ArrayLike, low: float, high: float) -> CostTable:
        """The amounts, refused where one is not between the bounds."""
        table = cls(float(low), float(high))
        given = np.asarray(amounts, dtype=np.float64).ravel()
        if not table.low < table.high or not np.isfinite([table.low, table.high]).all():
            raise InputError(f"The range of the amounts is two numbers, the lower first, not ({low}, {high}).")
        outside = ~((given >= table.low) & (given <= table.high))
        if outside.any():
            raise InputError(
                f"{int(outside.sum()):,} of {len(given):,} amounts, such as {given[outside][0]:g}, are not between "
                f"{low:g} and {high:g}; give the range that no row can leave."
            )
        nodes = table.nodes
        lower = np.clip(np.searchsorted(nodes, given, side="right") - 1, 0, NODES - 2)
        share = (given - nodes[lower]) / (nodes[lower + 1] - nodes[lower])  # of the upper one of the two nodes around
        weights = np.bincount(lower, 1 - share, NODES) + np.bincount(lower + 1, share, NODES)
        return cls(table.low, table.high, weights)

    @property
    def nodes(self) -> Array:
        """The amounts that stand for all others."""
        steps = np.concatenate([[0.0], np.geomspace(_FINEST, 1, NODES - 1)])
        if self.low >= 0:
            return self.low + (self.high - self.low) * steps
        if self.high <= 0:
            return self.high + (self.low - self.high) * steps[::-1]
        fine = np.geomspace(_FINEST, 1, NODES // 2)
        return np.concatenate([self.low * fine[::-1], [0.0], self.high * fine])

    @property
    def rows(self) -> int:
        """How many amounts there are."""
        return round(float(self.weights.sum()))

    @property
    def mean(self) -> float:
        """Their mean, NaN where there are none."""
        return float(self.ratio.value(self.weights))

    @property
    def ratio(self) -> LinearRatio:
        """The mean as a ratio of sums over the nodes."""
        return LinearRatio(self.nodes, np.ones(NODES))

    def __add__(self, other: object) -> CostTable:
        if not isinstance(other, CostTable):
            return NotImplemented
        if (self.low, self.high) != (other.low, other.high):
            raise InputError("These amounts have other ranges; give both the same.")
        return CostTable(self.low, self.high, self.weights + other.weights)


# ---------------------------------------------------------------- anytime mean
# The mean of bounded amounts, such as costs or differences of costs, valid at every look.


@dataclass(frozen=True, eq=False)
class MeanSequence(Flat):
    """A mean, its confidence sequence, and the p-value of `tested` that holds whenever one stops."""

    rows: int
    mean: float
    low: float
    high: float
    level: float
    tested: float | None = None
    p_value: float | None = None

    def __repr__(self) -> str:
        interval = interval_text(self.mean, self.low, self.high)
        test = "" if self.p_value is None else f"; {p_text(self.p_value)} that it is {self.tested:g}"
        return f"mean of {self.rows:,} rows {interval}, {100 * self.level:g} % anytime (betting){test}"


@names_wrong_arguments
def anytime_mean(
    amounts: ArrayLike, *, between: tuple[float, float], level: float = 0.95, tested: float | None = None
) -> MeanSequence:
    """The mean of bounded amounts, one for each row, with an interval that may be looked at after every row.

    `between` are the ends that no row can leave, such as (0, 5000) for the cost of a row, or (-5000, 5000) for the
    difference of two models' costs on the same rows. `tested` is a mean to be tested: the p-value holds at every look
    and whenever one stops. The interval is by betting (Waudby-Smith and Ramdas 2024).

    >>> rng = np.random.default_rng(0)
    >>> first, second = rng.exponential(30, 400).clip(0, 500), rng.exponential(60, 400).clip(0, 500)
    >>> anytime_mean(first - second, between=(-500, 500), tested=0)
    mean of 400 rows -23.4 (-37.5 to -11.1), 95 % anytime (betting); p < 0.001 that it is 0
    """
    check_level(level)
    try:
        low, high = (float(end) for end in between)
    except (TypeError, ValueError):
        raise InputTypeError(argument="between", expected="two numbers, such as (0, 5000)", given=between) from None
    table = CostTable.of(amounts, low, high)
    return sequence_of(table, level, tested)


def sequence_of(table: CostTable, level: float, tested: float | None = None) -> MeanSequence:
    """The mean of a table of amounts."""
    alpha, ratio = (1 - level) / 2, table.ratio
    if not table.rows:
        return MeanSequence(0, np.nan, table.low, table.high, level, tested, None if tested is None else 1.0)
    low, high = (float(end) for end in ratio.anytime_ends(table.weights, alpha, alpha))
    p_value = None
    if tested is not None:
        tested = float(tested)
        evidence = [ratio.log_evidence_below(table.weights, tested), ratio.log_evidence_above(table.weights, tested)]
        p_value = min(1.0, float(np.exp(np.log(2) - np.logaddexp(*evidence))))
    return MeanSequence(table.rows, table.mean, low, high, level, tested, p_value)


# ---------------------------------------------------------------- anytime comparisons
# Two models on the same rows, with differences and p-values that hold whenever one stops.


_DIFFERENCE = LinearRatio(np.array([1.0, -1.0, 0.0]), np.ones(3))  # over rows where A alone has a hit, B alone, or both


class DifferenceSequence(NamedTuple):
    """A metric of two models on the same rows: the difference, its confidence sequence, and a p-value.

    `only_a` and `only_b` are the rows in which one alone has a hit, of rates whose trials are the same for both.
    """

    spec: MetricSpec
    a: float
    b: float
    difference: float
    low: float
    high: float
    p_value: float
    only_a: int | None = None
    only_b: int | None = None


def anytime_differences(
    table: Paired, specs: Sequence[MetricSpec] | None, level: float, pos_label: Label = None
) -> list[DifferenceSequence]:
    """Two models on the same rows, compared after every batch: stop as soon as the answer is clear.

    Tables of all batches so far are added: the result depends on the counts alone.
    With the given probability the intervals of a metric hold at all looks together, and a p-value may be read at any
    time and whenever one stops: under equal models it ever falls below 0.05 with probability 5 % at most. Rates whose
    trials are the same for both models, such as recall and accuracy, are compared by the rows in which one alone is
    right: by betting the interval, by a beta-binomial mixture the p-value. Any other metric is compared by both
    models' sequences, each with half of the error, as if the rows were not the same, which is wider.

    >>> from steelyard.tables import paired
    >>> truth = [1] * 60 + [0] * 140
    >>> a, b = [1] * 55 + [0] * 145, [1] * 30 + [0] * 170
    >>> for row in anytime_differences(paired(truth, a, b), MetricSpec.all_of(["recall", "f1"]), 0.95):
    ...     print(f"{row.difference:.3f} ({row.low:.3f} to {row.high:.3f})")
    0.417 (0.199 to 0.634)
    0.290 (0.002 to 0.559)
    """
    rows = table.collapsed(pos_label).rows.astype(np.float64)
    if specs is None:  # those of the same trials for both models, the higher the better
        listed = [MetricSpec(metric) for metric in list_metrics() if metric.function is not None and metric.sign > 0]
        specs = [spec for spec in listed if spec.is_share and _fixed_trials(MetricSequence.of(spec))]
    return [_difference(spec, rows, level) for spec in specs]


def _fixed_trials(sequence: MetricSequence) -> bool:
    """Whether it is a rate whose trials are all rows of a class, or all rows, whatever was predicted."""
    ratio = sequence.ratio
    return sequence.method == "mixture" and ratio is not None and bool((ratio.below[::2] == ratio.below[1::2]).all())


def _difference(spec: MetricSpec, rows: Array, level: float) -> DifferenceSequence:
    sequence = MetricSequence.of(spec)
    tables = np.stack([_cells(rows.sum(axis=2)), _cells(rows.sum(axis=1))])
    a, b = (float(value) for value in sequence.value(tables))
    if np.isnan(a - b):
        least, most = spec.metric.range
        return DifferenceSequence(spec, a, b, np.nan, least - most, most - least, 1.0)
    if not _fixed_trials(sequence):
        low, high = _apart(sequence, tables, 1 - level)
        return DifferenceSequence(spec, a, b, a - b, low, high, _p_apart(sequence, tables))
    only = _discordant(sequence, rows)
    low, high = (float(end) for end in _DIFFERENCE.anytime_ends(only, (1 - level) / 2, (1 - level) / 2))
    p_value = min(1.0, float(np.exp(-log_evidence_uneven(only[0], only[1]))))
    return DifferenceSequence(spec, a, b, a - b, low, high, p_value, int(only[0]), int(only[1]))


def _cells(matrix: Array) -> Array:
    """The four cells of truth x prediction, the negative class first."""
    return np.array([matrix[1, 1], matrix[1, 0], matrix[0, 1], matrix[0, 0]])


def _discordant(sequence: MetricSequence, rows: Array) -> Array:
    """The trials in which A alone has a hit, B alone, and all others."""
    assert sequence.ratio is not None  # noqa: S101 - a rate is one
    above, below = sequence.ratio.above, sequence.ratio.below
    hit = above[[3, 2, 1, 0]].reshape(2, 2)  # truth x prediction, the negative class first
    trial = below[[3, 0]][:, None, None]
    gain = (hit[:, :, None] - hit[:, None, :]) * np.ones_like(rows)
    trials = rows * trial
    first, second = ((trials * (sign * gain > 0)).sum() for sign in (1, -1))
    return np.array([first, second, trials.sum() - first - second])


def _apart(sequence: MetricSequence, tables: Array, alpha: float) -> tuple[float, float]:
    """The bounds of the difference of two sequences that hold together."""
    low, high = sequence.ends(tables, alpha / 4, alpha / 4)
    return float(low[0] - high[1]), float(high[0] - low[1])


def _p_apart(sequence: MetricSequence, tables: Array) -> float:
    """The least error with which the two sequences do not overlap."""

    def is_apart(log_alpha: Array) -> Array:
        low, high = _apart(sequence, tables, float(np.exp(log_alpha)))
        return np.asarray(low > 0 or high < 0)

    return float(np.exp(bisected(np.log(SMALLEST_P), np.zeros(()), is_apart, P_HALVINGS)))
