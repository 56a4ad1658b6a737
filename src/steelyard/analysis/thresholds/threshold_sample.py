"""Threshold samples: the rows that a threshold is chosen on, and what is known of both rates at every threshold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from steelyard.analysis.prevalence.prevalence import Prevalence, checked_prevalence, positive_shares
from steelyard.analysis.thresholds.bands import ClassWeights, Rates, effective_share_rows
from steelyard.analysis.thresholds.limits import Capacity, in_range, rate_limit, read_limits, what_is_judged
from steelyard.exceptions import InputError, InputTypeError, did_you_mean
from steelyard.frames.decoding import naming_costs
from steelyard.metrics.registry import get_metric
from steelyard.metrics.values import count_values, on_counts
from steelyard.tables import score_table
from steelyard.tables.class_scores import ClassScores
from steelyard.tables.counts import Counts
from steelyard.tables.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array
    from steelyard.analysis.prevalence.prevalence import PrevalenceLike
    from steelyard.analysis.thresholds.bands import ClassCurve
    from steelyard.analysis.thresholds.limits import Limit, LimitsLike
    from steelyard.metrics.measure import Metric
    from steelyard.metrics.registry import MetricLike

    # A metric, several for their mean, the costs by name, or the matrix of costs with rows true.
    AimLike: TypeAlias = MetricLike | Sequence[MetricLike] | Mapping[str, float] | Sequence[Sequence[float]] | Array
    ErrorCost: TypeAlias = float | str | ArrayLike  # of every row, or by row: a column's name, or its values
    CostsLike: TypeAlias = Mapping[str, ErrorCost]


# ---------------------------------------------------------------- threshold criteria
# What makes one threshold better than another, and which thresholds are allowed.


TIE = 16 * np.finfo(np.float64).eps  # of the metric's range: what rounding makes of equal optima
PLATEAU = 0.02  # of the best value, and of its gain over flagging nobody and everybody
_COSTS = {"cost_fn": (1, 0), "cost_fp": (0, 1), "cost_tp": (1, 1), "cost_tn": (0, 0)}  # rows true, columns predicted


@dataclass(frozen=True)
class ThresholdCounts:
    """The counts for every set of highest scores that may be flagged, from nobody on, and the lowest of each set."""

    observed: Array
    counts: Counts[Array]

    @classmethod
    def of(cls, table: ScoreTable) -> ThresholdCounts:
        """Every threshold of a table, of all its draws if it has an axis of them."""
        return cls(table.thresholds, table.counts)


@dataclass(frozen=True)
class Criterion:
    """What to look for among the thresholds, and the bounds to keep."""

    aim: Aim
    limits: tuple[Limit, ...] = ()

    def merits(self, counts: Counts[Array], rows: Counts[Array] | None = None) -> Array:
        """The value of each threshold, higher being better; NaN where it is undefined or not allowed.

        The limits are read on the counts of the rows, where the counts of the aim are those of costs.
        """
        values = self.aim.values(counts)
        merits = values if self.aim.sign > 0 else -values
        if not self.limits:
            return merits
        return np.where(self._allowed(counts if rows is None else rows), merits, np.nan)

    def _allowed(self, counts: Counts[Array]) -> Array:
        return np.asarray(np.logical_and.reduce([limit.is_met(counts) for limit in self.limits]))

    def chosen(self, merits: Array) -> Array:
        """The index of the first of the best thresholds."""
        best = np.fmax.reduce(merits, axis=-1, keepdims=True)
        return np.asarray((merits >= best - self.aim.tie(merits)).argmax(-1))

    def check(self, table: ThresholdCounts) -> Array:
        """Which thresholds meet all bounds; those that none meets are refused, with the nearest there is."""
        allowed = np.ones(table.observed.shape, dtype=bool)
        for i, limit in enumerate(self.limits):
            gaps = np.where(allowed, limit.gaps(table.counts), np.nan)
            allowed = limit.met(gaps)
            if not allowed.any():
                others = " and ".join(other.text for other in self.limits[:i])
                raise InputError(_unmet(limit, f" with {others}" if others else "", gaps, table))
        return allowed

    def undefined(self, table: ThresholdCounts) -> str:
        """Why no threshold that is allowed has a value."""
        why = self.aim.why(table.counts[int(self._allowed(table.counts).argmax())])
        bounds = " that meets " + " and ".join(limit.text for limit in self.limits) if self.limits else ""
        return f"{self.aim.name} is undefined at every threshold{bounds}: {why}."


def _unmet(limit: Limit, others: str, gaps: Array, table: ThresholdCounts) -> str:
    if np.isnan(gaps).all():
        return f"No threshold reaches {limit.text}{others}: {limit.metric.name} is undefined at each of them."
    index = int(np.nanargmin(gaps))
    value = float(count_values(limit.metric, table.counts[index], limit.metric.parameters))
    near = f"{limit.shown(value)} of {limit.rows:,} rows" if isinstance(limit, Capacity) else limit.shown(value)
    at = table.observed[index]
    where = f"threshold {at:g}" if math.isfinite(at) else "the threshold that flags nobody"
    return f"No threshold reaches {limit.text}{others}; the nearest is {near} at {where}."


# ---------------------------------------------------------------- what is best


@dataclass(frozen=True)
class Aim:
    """The mean of some metrics, all to be raised (sign 1) or all to be lowered (-1)."""

    metrics: tuple[Metric, ...]
    sign: int

    @property
    def name(self) -> str:
        """The metric's written form; the mean of several is written as one."""
        names = ", ".join(metric.name for metric in self.metrics)
        return names if len(self.metrics) == 1 else f"mean({names})"

    @property
    def range(self) -> tuple[float, float]:
        """The least and the largest value."""
        lows, highs = zip(*(metric.range for metric in self.metrics), strict=True)
        return float(np.mean(lows)), float(np.mean(highs))

    def values(self, counts: Counts[Any]) -> Array:
        """The value on each table."""
        values = [count_values(metric, counts, metric.parameters) for metric in self.metrics]
        return np.asarray(values[0] if len(values) == 1 else np.mean(values, axis=0))

    def why(self, counts: Counts[Array]) -> str:
        """The reason why one table has no value."""
        whys = (on_counts(metric, counts, metric.parameters).why for metric in self.metrics)
        return next(filter(None, whys), "the function returned NaN")

    @property
    def is_cost(self) -> bool:
        """Whether it is what errors cost."""
        return self.name.startswith(("expected_cost", "cost_per_row"))

    def tie(self, values: Array) -> float:
        """The difference that rounding can make between equal values."""
        size = max(map(abs, self.range))
        return TIE * (size if math.isfinite(size) else float(np.fmax.reduce(np.abs(values), axis=None)))


def plateau_width(best: float, trivial: Array) -> float:
    """How far below the best merit others are about as good, given those of flagging nobody and everybody.

    That is 2 % of the best value, or of the gain over the better of the two where that is less: at 0.5 % positives a
    precision of 0.013 is not about as good at 0.005, which everybody flagged has.

    >>> round(plateau_width(0.8, np.array([0.0, 0.1])), 6), round(plateau_width(0.013, np.array([np.nan, 0.005])), 6)
    (0.014, 0.00016)
    """
    gain = best - float(np.fmax.reduce(trivial))
    return PLATEAU * (abs(best) if math.isnan(gain) else max(min(abs(best), gain), 0.0))


def read_aim(metric: AimLike | CostsLike) -> Aim:
    """What to look for, from whatever names it."""
    if isinstance(metric, Mapping):
        return read_aim(get_metric("expected_cost").fixed(None, **metric))
    rows = metric if isinstance(metric, (list, tuple, np.ndarray)) and len(metric) == 2 else ()
    if len(rows) and all(np.shape(row) == (2,) and np.asarray(row).dtype.kind in "iuf" for row in rows):
        matrix = np.asarray(rows)  # of costs, with rows true
        costs = {name: float(matrix[i, j]) for name, (i, j) in _COSTS.items()}
        return read_aim(costs)
    several = list(metric) if isinstance(metric, (list, tuple)) else [metric]
    if not several:
        raise InputError("metric= is an empty list; name one metric or more.")
    metrics = [_thresholded_metric(item) for item in several]  # type: ignore[arg-type]  # which refuses what is none
    for each in metrics:
        if not each.sign:
            raise InputError(
                f"No value of {each.name} is best, so no threshold is; name a metric with a direction, or declare one."
            )
    if len({each.sign for each in metrics}) > 1:
        raise InputError(f"Of {', '.join(m.name for m in metrics)} some are best high and some low; give one kind.")
    return Aim(tuple(metrics), metrics[0].sign)


def _thresholded_metric(item: MetricLike) -> Metric:
    metric = get_metric(item)
    if metric.function is None:
        raise InputTypeError(
            f"{metric.name} judges {what_is_judged(metric)}, so no threshold is best for it; name another."
        )
    # A plain function comes without facts; whoever looks for its best threshold means its highest value.
    is_plain = callable(item) and metric is not item
    return replace(metric, direction="higher") if is_plain else metric


# ---------------------------------------------------------------- cluster rows
# The rows of clusters one by one, and as how many independent rows those of a class count.


_FEWEST = 5  # clusters of a class of which it is seen how much they vary
_MIDDLE = (0.1, 0.9)  # rates at which the variation between clusters is seen well


@dataclass(frozen=True, eq=False)
class ClusterRows:
    """Rows one by one: which are positive, their scores and weights, and the number of the cluster of each."""

    positive: Array
    scores: Array
    weights: Array
    clusters: Array

    @cached_property
    def sizes(self) -> Array:
        """The weight of each cluster."""
        return np.bincount(self.clusters, self.weights)

    @cached_property
    def share_rows(self) -> float:
        """As how many independent rows the share of the positives is known, by how much it varies between clusters."""
        sizes = self.sizes / self.sizes.sum()
        positives = (
            np.bincount(self.clusters[self.positive], self.weights[self.positive], len(sizes)) / self.sizes.sum()
        )
        share, copies = float(positives.sum()), 1 / float((sizes**2).sum())
        variance = float(((positives - share * sizes) ** 2).sum()) * copies / max(copies - 1, 1.0)
        return share * (1 - share) / variance if variance > 0 else math.inf

    def tables(self, scores: Array) -> tuple[Array, Array]:
        """The weight of each cluster at each of the scores, of the positives and of the negatives."""
        shape = (len(self.sizes), len(scores))
        cell = self.clusters * len(scores) + np.searchsorted(scores, self.scores, side="right") - 1
        positive, negative = (
            np.bincount(cell[rows], self.weights[rows], minlength=shape[0] * shape[1]).reshape(shape)
            for rows in (self.positive, ~self.positive)
        )
        return positive, negative


def effective_size_of_clusters(cells: Array) -> float:
    """As how many independent rows the rows of a class count, given the weight of each cluster at each score.

    The ratio of the variance of the rate above a score between rows to that between clusters, at the score where it is
    least; rows of a cluster that never vary are copies of one.
    """
    sizes = cells.sum(1)
    total = float(sizes.sum())
    copies = 1 / float(((sizes / total) ** 2).sum())
    above = np.cumsum(cells[:, ::-1], axis=1)
    rates = above.sum(0) / total
    in_middle = (rates >= _MIDDLE[0]) & (rates <= _MIDDLE[1])
    if not in_middle.any():
        return copies
    rates = rates[in_middle]
    deviations = above[:, in_middle] - sizes[:, None] * rates
    shown = max(copies - 1, 1.0) / copies  # few clusters show less variation than there is
    variance = np.maximum(((deviations / total) ** 2).sum(0) / shown, 1e-300)
    return float(np.clip((rates * (1 - rates) / variance).min(), min(copies, total), total))


def refuse_few_clusters(limits: Iterable[Limit], rows: ClusterRows) -> None:
    """Refuse to promise limits on a class whose rows are of too few clusters."""
    for limit in limits:
        rate = rate_limit(limit)
        cells = {"tp", "fp"} if rate is None else {*rate.part.hits, *rate.part.others}
        classes = (("positives", {"tp", "fn"}, rows.positive), ("negatives", {"fp", "tn"}, ~rows.positive))
        for name, of_class, side in classes:
            clusters = len(np.unique(rows.clusters[side & (rows.weights > 0)]))
            if cells & of_class and clusters < _FEWEST:
                raise InputError(
                    f"{limit.text} depends on the {name}, whose rows are of {clusters} cluster{'s' * (clusters != 1)}, "
                    f"and a promise takes {_FEWEST} or more; give rows of more clusters, or leave out the confidence."
                )


# ---------------------------------------------------------------- coarse thresholds
# A table of scores with fewer thresholds, each of which it has too.


MOST_APART = 4_096  # thresholds that a resample tells apart


def coarse(table: ScoreTable, observed: ArrayLike = math.inf, most: int = MOST_APART) -> ScoreTable:
    """The table with about that many thresholds, the observed ones among them; scores move down to the next left."""
    small, scores = table.compact(), table.thresholds[:0:-1]
    if len(scores) <= most:
        return small
    # A sensible metric is best at a score of one class or right above it: the rare class has few of them.
    rare = min((table.positive, table.negative), key=lambda side: side.size).distinct[0]
    near = np.searchsorted(scores, rare[_evenly(len(rare), most // 4)])
    best = np.where(np.isfinite(observed), np.searchsorted(scores, observed), 0)
    indices = np.concatenate([near, near + 1, _evenly(len(scores), most // 2), np.atleast_1d(best)])
    left = scores[np.unique(np.minimum(indices, len(scores) - 1))]
    return ScoreTable(_moved(small.positive, left), _moved(small.negative, left), table.label)


def indices_among(few: ThresholdCounts, every: ThresholdCounts) -> Array:
    """The index of each of some thresholds among all of them, which descend from infinity."""
    return np.asarray(every.observed.size - 1 - np.searchsorted(every.observed[::-1], few.observed))


def _evenly(n: int, most: int) -> Array:
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64))


def _moved(side: ClassScores, thresholds: Array) -> ClassScores:
    indices, starts = np.unique(np.searchsorted(thresholds, side.scores, side="right") - 1, return_index=True)
    columns = (side.rows, side.given_weights, side.given_squares)
    rows, weights, squares = (None if c is None else np.add.reduceat(c, starts) for c in columns)
    return ClassScores(thresholds[indices], rows, weights, squares)


# ---------------------------------------------------------------- threshold samples


_MOST_DRAWN = 512  # thresholds that draws tell apart
_MOST_CELLS = 10_000_000  # of the tables of all clusters


def drawn_shares(
    prevalence: PrevalenceLike | None, seen: float, rows: float, draws: int, rng: np.random.Generator
) -> Array:
    """Draws of the prevalence: of the one given, as far as it is known, or of that seen in so many rows."""
    if isinstance(prevalence, Prevalence):
        return np.asarray(prevalence.draws(draws, rng))[:, None]
    if prevalence is not None:
        return np.asarray(checked_prevalence(prevalence))
    return np.asarray(rng.beta(seen * rows + 0.5, (1 - seen) * rows + 0.5, (draws, 1)))


@dataclass(frozen=True, eq=False)
class ThresholdSample:
    """A table of scores, the prevalence it is read at, what errors cost by row, and the clusters of dependent rows."""

    table: ScoreTable
    prevalence: PrevalenceLike | None = None
    costs: ScoreTable | None = None
    clusters: ClusterRows | None = None

    @cached_property
    def rows(self) -> ThresholdCounts:
        """The counts of the rows at every threshold."""
        return ThresholdCounts.of(self.table)

    @cached_property
    def every(self) -> ThresholdCounts:
        """The counts at every threshold, at the prevalence where one is given."""
        return replace(self.rows, counts=self.shifted(self.rows.counts))

    @cached_property
    def merits_of(self) -> ThresholdCounts:
        """What the aim is read on: the costs by row where there are any, else the counts."""
        return self.every if self.costs is None else ThresholdCounts.of(self.costs)

    def shifted(self, counts: Counts[Array]) -> Counts[Array]:
        """The counts at the prevalence where one is given."""
        if self.prevalence is None:
            return counts
        share, n = float(positive_shares(self.table, self.prevalence)), float(self.table.total)
        positives, negatives = share * n / self.table.positive.total, (1 - share) * n / self.table.negative.total
        return counts.scaled(positives=positives, negatives=negatives)

    @property
    def has_equal_rows(self) -> bool:
        """Whether the rows are independent and count alike, so that there are as many effective rows as rows."""
        return self.clusters is None and not self.table.weighted

    @cached_property
    def effective_sizes(self) -> tuple[float, float]:
        """As how many independent rows of equal weight the positives and the negatives count."""
        by_weight = (self.table.positive.effective_size, self.table.negative.effective_size)
        if self.clusters is None:
            return by_weight
        small = coarse(self.table, math.inf, self.fewer(_MOST_DRAWN))
        by_cluster = (effective_size_of_clusters(cells) for cells in self.clusters.tables(small.thresholds[:0:-1]))
        positives, negatives = by_cluster
        return min(by_weight[0], positives), min(by_weight[1], negatives)

    def fewer(self, most: int) -> int:
        """That many thresholds, or fewer where the tables of all clusters would not fit into memory."""
        return most if self.clusters is None else max(64, min(most, _MOST_CELLS // len(self.clusters.sizes)))

    def some_indices(self, most: int) -> Array:
        """The indices of some of the thresholds."""
        return indices_among(ThresholdCounts.of(coarse(self.table, math.inf, most)), self.rows)

    def rates_at(self, indices: Array) -> Rates:
        """Both rates at those thresholds."""
        return Rates(*(self.curve(of, indices) for of in (0, 1)))

    def curve(self, of: int, indices: Array | None = None) -> ClassCurve:
        """What thresholds flag of the positives (0) or of the negatives (1): those at some indices, or all of them."""
        observed = self.rows.observed
        indices = np.arange(observed.size) if indices is None else indices
        at = self.rows.counts[indices]
        flagged, all_of = (at.tp, at.positives) if of == 0 else (at.fp, at.negatives)
        curve = self._weights[of].curve(observed[indices], flagged / all_of, self.effective_sizes[of])
        return replace(curve, trivial=self.are_trivial(indices))

    def are_trivial(self, indices: Array | int) -> Array:
        """Which thresholds flag nobody, or everybody: the first and the last."""
        return np.isin(indices, (0, self.rows.observed.size - 1))

    @cached_property
    def _weights(self) -> list[ClassWeights]:
        return [ClassWeights.of(side) for side in self.table.classes]

    def at_drawn_prevalence(self, index: int, draws: int, rng: np.random.Generator) -> Counts[Array] | None:
        """The counts at a threshold and draws of the prevalence; None where it is known, or costs differ by row."""
        if not isinstance(self.prevalence, Prevalence) or self.costs is not None:
            return None
        at = self.rows.counts[index]
        share = drawn_shares(self.prevalence, 0.0, 0.0, draws, rng)[:, 0] * float(self.table.total)
        rest = float(self.table.total) - share
        recall, fpr = at.tp / at.positives, at.fp / at.negatives
        return Counts.trusted(share * recall, share * (1 - recall), rest * fpr, rest * (1 - fpr))

    def tables(self, rates: Rates, draws: int, rng: np.random.Generator) -> Iterator[Counts[Array]]:
        """Draws of the counts at the prevalence, in which both rates are as low, or as high, as the rows allow."""
        total = float(self.table.total)
        seen = float(self.table.positive.total) / total
        shares = drawn_shares(self.prevalence, seen, self._share_rows, draws, rng)
        yield from rates.tables(shares, total, draws, rng)

    @cached_property
    def _share_rows(self) -> float:
        """As how many independent rows of equal weight the sample's own prevalence is known."""
        rows = effective_share_rows(self.table)
        return rows if self.clusters is None else min(rows, self.clusters.share_rows)


# ---------------------------------------------------------------- row costs
# What errors cost where rows differ, such as the amounts of transactions, summed at each score.


_KEYS = {"positive": ("cost_fn", "cost_tp", "benefit_tp"), "negative": ("cost_fp", "cost_tn", "benefit_tn")}
COST_KEYS = tuple(key for keys in _KEYS.values() for key in keys)


def costs_by_row(costs: CostsLike) -> bool:
    """Whether any cost differs by row, or is a benefit, so that the expected cost does not hold them."""
    if not isinstance(costs, Mapping):
        raise InputTypeError(
            argument="cost", expected="a dictionary such as {'cost_fn': 10, 'cost_fp': 1}", given=costs
        )
    for key in costs:
        if key not in COST_KEYS:
            raise InputTypeError(f"{key!r} is no cost; there are {', '.join(COST_KEYS)}.{did_you_mean(key, COST_KEYS)}")
    return any(_is_column(cost) or key.startswith("benefit") for key, cost in costs.items())


def limits_with_costs(where: LimitsLike | None, aim: Aim | None) -> tuple[Limit, ...]:
    """The limits; one on the expected cost takes the costs of the aim, which is None where costs differ by row."""
    limits = read_limits(where, any_bound=True)
    expected = get_metric("expected_cost")
    if aim is None and any(limit.metric is expected for limit in limits):
        raise InputError(
            "A limit on expected_cost takes costs that are numbers, the same for every row; write them in it, such as "
            "'expected_cost[cost_fn=10] <= 0.3', or give cost= without columns and benefits."
        )
    with_costs = (
        replace(limit, metric=aim.metrics[0], text=limit.text.replace(expected.name, aim.name, 1))
        if aim is not None and limit.metric is expected
        else limit
        for limit in limits
    )
    return tuple(map(in_range, with_costs))


@dataclass(frozen=True)
class CostAim(Aim):
    """The mean cost of a row, from tables of what a wrong decision costs more than the right one."""

    rows: float = 1.0
    right: tuple[float, float] = (0.0, 0.0)  # what all positives, and all negatives, cost if decided rightly
    shares: tuple[float, float] = (1.0, 1.0)  # how many times as many of each class there are at the prevalence

    @property
    def name(self) -> str:
        """What is looked for."""
        return "cost_per_row"

    @property
    def range(self) -> tuple[float, float]:
        """Costs are not bounded."""
        return -math.inf, math.inf

    def values(self, counts: Counts[Array]) -> Array:
        """The mean cost of a row at each table of costs."""
        (p, n), (of_positives, of_negatives) = self.shares, self.right
        return np.asarray((p * (counts.fn + of_positives) + n * (counts.fp + of_negatives)) / self.rows)


def cost_table(
    costs: CostsLike, rows: ScoreTable, by_column: Callable[[ErrorCost], ScoreTable], prevalence: PrevalenceLike | None
) -> tuple[ScoreTable, CostAim]:
    """The rows weighted by what a wrong decision on them costs more than the right one, and the aim that reads them."""
    sides, right = [], []
    for name, keys in _KEYS.items():
        of_rows = getattr(rows, name).compact()
        miss = 0.0 if keys[2] in costs else 1.0  # where a benefit is named, to miss it is what it costs
        given = [costs.get(key, default) for key, default in zip(keys, (miss, 0.0, 0.0), strict=True)]
        columns = {}
        for role, cost in enumerate(given):
            if _is_column(cost):
                with naming_costs(keys[role]):
                    columns[role] = _sums_at(of_rows.scores, getattr(by_column(cost), name).compact())
        numbers = [0.0 if role in columns else float(cost) for role, cost in enumerate(given)]  # type: ignore[arg-type]  # a number
        if not np.isfinite(numbers).all():
            raise InputError(f"Costs are finite numbers, not {dict(zip(keys, given, strict=True))}.")
        sums, squares, of_right = _excess(numbers, of_rows, columns)
        if (sums < -1e-9 * max(1.0, float(np.abs(sums).max(initial=0.0)))).any():
            raise InputError(
                f"A wrong decision costs at least as much as the right one; here {keys[1]} exceeds {keys[0]}."
            )
        sides.append(ClassScores(of_rows.scores, of_rows.rows, sums, squares))
        right.append(of_right)
    table = ScoreTable(sides[0], sides[1], rows.label, rows.bins, rows.precision)
    n, p, shares = float(rows.n), float(rows.positive.n), (1.0, 1.0)
    if prevalence is not None:
        at = float(np.asarray(prevalence, dtype=np.float64))
        shares = (at * n / p, (1 - at) * n / (n - p))
    return table, CostAim((get_metric("expected_cost"),), -1, n, (right[0], right[1]), shares)


def _is_column(cost: ErrorCost) -> bool:
    return isinstance(cost, str) or bool(np.ndim(cost))


def _sums_at(scores: Array, column: ClassScores) -> tuple[Array, Array]:
    """The sums and the squares of a column at the scores of all rows; rows where it is 0 are not in its table."""
    indices = np.searchsorted(scores, column.scores)
    sums, squares = np.zeros(len(scores)), np.zeros(len(scores))
    sums[indices], squares[indices] = column.weights, column.squares
    return sums, squares


def _excess(
    numbers: list[float], of_rows: ClassScores, columns: dict[int, tuple[Array, Array]]
) -> tuple[Array, Array, float]:
    """The excess cost of wrong decisions and its square at each score, and what all rows cost if decided rightly.

    The cost of a miss, that of a hit and its benefit are each a number, or a column with its sums and squares.
    """
    miss, hit, benefit = numbers
    rows = of_rows.rows.astype(np.float64)
    each, right = miss - hit + benefit, (hit - benefit) * float(rows.sum())
    more, roots = np.zeros(len(rows)), np.zeros(len(rows))
    for role, (sums, squares) in columns.items():
        sign, of_right = ((1.0, 0.0), (-1.0, 1.0), (1.0, -1.0))[role]
        more += sign * sums
        roots += sign * np.sqrt(squares)  # exact of one row; of several, as if their columns rose and fell together
        right += of_right * float(sums.sum())
    return rows * each + more, rows * each**2 + 2 * each * more + roots**2, right


# ---------------------------------------------------------------- threshold gaps
# The threshold half-way between the scores that are flagged and those that are not.


_PRECISIONS = (np.float16, np.float32)  # in which scores may be compared with the threshold later


def middle(below: float, flagged: float) -> float:
    """The threshold half-way between a score that is not flagged and a higher one that is.

    It separates the two in the precision that they are given in: between neighbouring floats it is the higher one.

    >>> middle(0.25, 0.5), middle(0.0, 5e-324)
    (0.375, 5e-324)
    """
    half = below / 2 + flagged / 2  # whose sum cannot overflow
    with np.errstate(over="ignore"):
        kinds = [kind for kind in _PRECISIONS if all(float(kind(score)) == score for score in (below, flagged))]
        separates = half > below and all(float(kind(half)) > below for kind in kinds)
    return half if separates else flagged


def threshold_of(table: ScoreTable, observed: float) -> float:
    """The threshold in the middle of the gap below the lowest flagged score; an end of all scores beyond them all.

    Of probabilities it is 0 that flags everybody, of other scores minus infinity.
    """
    if math.isinf(observed):
        return observed  # nobody
    scores = table.thresholds[:0:-1]
    index = int(np.searchsorted(scores, observed))
    if not index:
        return 0.0 if table.has_probabilities else -math.inf
    return middle(score_table.upper_end(table.bins, float(scores[index - 1])), observed)
