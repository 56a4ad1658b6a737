"""Confused pairs: the errors of a table by true and predicted class, the commonest first, and which are too common."""

from __future__ import annotations

import math
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from steelyard.analysis.holm import holm
from steelyard.analysis.intervals.rate_intervals import jeffreys, wilson
from steelyard.arrays.numbers import weight_per_class_row, weight_per_row
from steelyard.arrays.sparse import error_entries, summed_by
from steelyard.exceptions import first_ten
from steelyard.metrics.registry import list_metrics
from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard._types import Array, Label, Labels
    from steelyard.metrics.measure import Metric
    from steelyard.tables.confusion import Confusion


# ---------------------------------------------------------------- quasi-independence
# What errors would look like if the predicted class did not depend on the true one.
#
# Goodman (1968), Journal of the American Statistical Association 63, 1091-1131: off the diagonal each cell is expected
# to hold a product of a factor of its true and a factor of its predicted class. The factors follow from how many errors
# each class makes and attracts, so that tables of any number of classes are fitted by their margins alone.


_TURNS, _CLOSE = 500, 1e-10


@dataclass(frozen=True)
class ErrorModel:
    """The errors that each class makes and attracts, and the factors whose products are expected off the diagonal."""

    made: Array
    attracted: Array
    true_factor: Array
    predicted_factor: Array

    @classmethod
    def of(cls, rows: Array) -> ErrorModel:
        """The model fitted to the errors of a table of rows."""
        true, predicted, errors = error_entries(rows)
        made, attracted = (summed_by(codes, errors.astype(np.float64), len(rows.sum(1))) for codes in (true, predicted))
        return cls(made, attracted, *_fitted(made, attracted))

    @property
    def cells(self) -> int:
        """The pairs that may hold errors: a class that makes any, and another one that attracts any."""
        makes, attracts = self.made > 0, self.attracted > 0
        return int(makes.sum()) * int(attracts.sum()) - int((makes & attracts).sum())

    def expected(self, true: Array, predicted: Array) -> Array:
        """The rows that are expected in these cells."""
        return np.asarray(self.true_factor[true] * self.predicted_factor[predicted])

    def p_values(self, true: Array, predicted: Array, rows: Array) -> Array:
        """The probability of so many rows or more in each cell, of the errors that its true class makes.

        It is binomial, which is wider than the truth, as a class attracts no more errors than it did; and the cell
        itself is among those that the model is fitted to. Both keep the level (see `make coverage`).
        """
        from scipy.stats import binom

        share = np.clip(self.expected(true, predicted) / self.made[true], 0, 1)
        return np.asarray(binom.sf(np.ceil(rows) - 1, np.round(self.made[true]), share))


def _fitted(made: Array, attracted: Array) -> tuple[Array, Array]:
    """The factors whose products off the diagonal add up to both margins, by proportional fitting."""
    true, predicted = made.copy(), attracted / max(attracted.sum(), 1e-300)
    for _ in range(_TURNS):
        before = true
        true = _divided(made, predicted.sum() - predicted)
        predicted = _divided(attracted, true.sum() - true)
        if np.abs(true - before).max(initial=0) <= _CLOSE * max(true.max(initial=0), 1e-300):
            break
    return true, predicted


def _divided(sums: Array, others: Array) -> Array:
    return np.divide(sums, others, out=np.zeros_like(sums), where=(sums > 0) & (others > 0))


# ---------------------------------------------------------------- confused pairs


PairOrder: TypeAlias = Literal["weight", "share"]
_MOST_TRIED = 20_000  # cells whose exact bounds are computed


@dataclass(frozen=True)
class ConfusedPair:
    """A true class, what it was predicted as, the weight of those rows, and their share of the class with its bounds.

    `expected` is how many rows there would be if errors fell on classes whatever the true one (quasi-independence), and
    `p_value` that of so many or more, adjusted by Holm's method for all pairs of the table.
    """

    true: Label
    predicted: Label
    weight: float
    share: float
    low: float
    high: float
    rows: int = 0
    expected: float = math.nan
    p_value: float = math.nan

    def row(self) -> dict[str, Any]:
        """The pair as a row of a table."""
        return dict(vars(self))


def confused_pairs(
    table: Confusion,
    level: float,
    *,
    most: int,
    by: PairOrder = "weight",
    clustered: bool = False,
    tested_first: bool = False,
) -> list[ConfusedPair]:
    """The pairs with the largest weight off the diagonal, at most so many; ties in the order of the labels.

    By share they are those whose share of the true class is largest for certain, by the lower bound of its interval.
    The bounds are Jeffreys', of the effective rows of the class. The test counts rows, whatever their weights; Holm's
    method holds under any dependence of the pairs, whose margins are common. Rows in clusters have neither. With
    `tested_first` the pairs that the test shows go before all others.

    >>> from steelyard import confusion
    >>> pair, *_ = confused_pairs(confusion(["a", "a", "b"], ["a", "b", "b"]), 0.95, most=3)
    >>> pair.true, pair.predicted, pair.weight, pair.share
    ('a', 'b', 1.0, 0.5)
    """
    errors = _Errors.of(table)
    expected, p_values = _tested(table, errors)
    p_values = np.full(len(errors.true), math.nan) if clustered else p_values
    chosen = errors.largest(most, level, by, first=(p_values <= 1 - level) & tested_first)
    shares, low, high = errors.shares(chosen, level)
    if clustered:
        low, high = np.full((2, len(chosen)), math.nan)
    return [
        ConfusedPair(
            table.labels[errors.true[i]],
            table.labels[errors.predicted[i]],
            weight=float(errors.weights[i]),
            share=float(shares[place]),
            low=float(low[place]),
            high=float(high[place]),
            rows=int(errors.rows[i]),
            expected=float(expected[i]),
            p_value=float(p_values[i]),
        )
        for place, i in enumerate(chosen.tolist())
    ]


def excess_pairs(table: Confusion, level: float) -> int:
    """How many pairs are confused more often than quasi-independence has it, all tested together."""
    return int((_tested(table, _Errors.of(table))[1] <= 1 - level).sum())


def _tested(table: Confusion, errors: _Errors) -> tuple[Array, Array]:
    """The rows expected in the cells that hold errors, and Holm's p-values among all pairs that may hold any."""
    if not len(errors.true):
        return np.zeros(0), np.zeros(0)
    model = ErrorModel.of(table.rows)
    expected = model.expected(errors.true, errors.predicted)
    p_values = model.p_values(errors.true, errors.predicted, errors.rows)
    return expected, np.array(holm(p_values, model.cells))  # pairs without errors have p-value 1


@dataclass(frozen=True)
class _Errors:
    """The cells off the diagonal that hold anything, in row order, with the effective rows of each and its class."""

    true: Array
    predicted: Array
    weights: Array
    rows: Array
    effective_rows: Array
    class_rows: Array  # effective as well

    @classmethod
    def of(cls, table: Confusion) -> _Errors:
        true, predicted, weights = error_entries(table.matrix)
        row_weight = np.ones(len(table.labels))
        if table.weighted:
            row_weight = weight_per_class_row(table.weights, table.squares)[:, 0]
        totals = table.matrix.sum(1) / row_weight
        rows = np.asarray(table.rows[true, predicted])
        return cls(true, predicted, weights, rows, weights / row_weight[true], totals[true])

    def largest(self, most: int, level: float, by: PairOrder, first: Array) -> Array:
        """The indices of the largest errors, or of those whose share is certain to be large; some before the others."""
        size = self.weights.astype(np.float64) if by == "weight" else self._lower_bounds(level)
        order = np.lexsort((-size, ~first))[:most]
        return order[size[order] > 0]

    def shares(self, chosen: Array, level: float) -> tuple[Array, Array, Array]:
        """The shares of the true classes, and their bounds."""
        hits, trials = self.effective_rows[chosen], self.class_rows[chosen]
        return hits / trials, *jeffreys(hits, trials, level)

    def _lower_bounds(self, level: float) -> Array:
        """The lower bound of each share; of very many cells only for those whose score interval is far from 0."""
        tried = np.arange(len(self.true))
        if len(tried) > _MOST_TRIED:
            low, _ = wilson(self.effective_rows, self.class_rows, level)
            tried = np.sort(np.argsort(-low, kind="stable")[:_MOST_TRIED])
        bounds = np.zeros(len(self.true))
        bounds[tried] = self.shares(tried, level)[1]
        return bounds


# ---------------------------------------------------------------- sparse linkage
# Very many classes joined into blocks by the pairs that are confused, not by all pairs.


_BACKGROUND = 4.0  # times the mean likeness of all pairs, below which two blocks are not joined any more


def block_order(true: Array, predicted: Array, alike: Array, size: int) -> list[list[int]]:
    """The blocks of classes that average linkage of sparse likenesses joins, each in the order of its tree.

    A pair that is not listed is not alike. Joining ends where two blocks are no more alike than classes are on the
    whole: what is left would be joined by errors that fall anywhere.
    """
    links: list[dict[int, float]] = [{} for _ in range(size)]
    for a, b, value in zip(true.tolist(), predicted.tolist(), alike.tolist(), strict=True):
        links[a][b] = links[a].get(b, 0.0) + value
        links[b][a] = links[b].get(a, 0.0) + value
    least = _BACKGROUND * 2 * float(alike.sum()) / max(size * (size - 1), 1)
    members: dict[int, list[int]] = {i: [i] for i in range(size)}
    heap = [(-value, a, b) for a, part in enumerate(links) for b, value in part.items() if a < b]
    heapify(heap)
    while heap:
        value, a, b = heappop(heap)
        if a not in members or b not in members:
            continue
        likeness = links[a].get(b, 0.0) / (len(members[a]) * len(members[b]))  # the mean over their classes
        if likeness == -value:  # else a block has grown since
            _join(links, members, a, b, heap, least)
    return list(members.values())


def _join(
    links: list[dict[int, float]],
    members: dict[int, list[int]],
    a: int,
    b: int,
    heap: list[tuple[float, int, int]],
    least: float,
) -> None:
    """Join two blocks under the number of the one with more neighbours, the smaller block last."""
    if len(links[a]) < len(links[b]):
        a, b = b, a
    joined, other = members[a], members.pop(b)
    members[a] = [*joined, *other] if len(joined) >= len(other) else [*other, *joined]
    for other_block, value in links[b].items():
        del links[other_block][b]
        if other_block != a:
            links[a][other_block] = links[other_block][a] = links[a].get(other_block, 0.0) + value
    links[a].pop(b, None)
    links[b] = {}
    size = len(members[a])
    for other_block, value in links[a].items():
        likeness = value / (size * len(members[other_block]))
        if likeness > least:
            heappush(heap, (-likeness, a, other_block))


def flat_order(blocks: list[list[int]], errors: Array) -> Array:
    """The blocks one after another, those with more errors first, and the classes without any last."""
    sums = [float(errors[block].sum()) for block in blocks]
    order = sorted(range(len(blocks)), key=lambda i: (-sums[i], blocks[i][0]))
    return np.array([label for i in order for label in blocks[i]], dtype=np.int64)


# ---------------------------------------------------------------- class order
# The classes of a table side by side where they are taken for each other.


_MOST_OPTIMAL = 300  # classes whose tree is turned for the best neighbours: 0.06 s, of 1,000 it would be 3 s


def confusion_order(table: Confusion) -> Array:
    """The indices of the classes, those that are confused next to each other and where more errors are first.

    Classes are joined by average linkage of the shares of each true class that went to the other one, and the
    branches of that tree are turned so that neighbours are alike (Bar-Joseph, Gifford and Jaakkola 2001). What no error
    connects is ordered apart. Of more than 1,000 classes the blocks are ordered by their errors alone.

    >>> from steelyard import confusion
    >>> table = confusion(["b", "a", "c", "d", "a", "d"], ["b", "a", "c", "d", "d", "a"])
    >>> [table.labels[place] for place in confusion_order(table)]
    ['a', 'd', 'b', 'c']
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    errors = table.matrix.sum(1) + table.matrix.sum(0) - 2 * table.hits
    if table.is_sparse:
        true, predicted, weights = error_entries(table.matrix)
        alike = weights / table.matrix.sum(1)[true] / 2
        return flat_order(block_order(true, predicted, alike, len(table.labels)), errors)
    shares = true_class_shares(table)
    alike = (shares + shares.T) / 2
    count, parts = connected_components(csr_array(alike), directed=False)
    sums = np.bincount(parts, errors, minlength=count)
    order = []
    for part in np.argsort(-sums, kind="stable"):
        members = np.flatnonzero(parts == part)
        order.append(members[_part_order(alike[np.ix_(members, members)], errors[members])])
    return np.concatenate(order)


def true_class_shares(table: Confusion) -> Array:
    """The share of each true class that went to each predicted one; 0 for a class without rows."""
    matrix = table.matrix.astype(np.float64)
    totals = matrix.sum(1, keepdims=True)
    return np.asarray(np.divide(matrix, totals, out=np.zeros_like(matrix), where=totals > 0))


def _part_order(alike: Array, errors: Array) -> Array:
    """The leaves of the tree of average linkage of a part that errors connect, the end with more of them first."""
    if len(alike) < 3:
        return np.argsort(-errors, kind="stable")
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    distances = 1 - alike
    np.fill_diagonal(distances, 0)
    pairs = squareform(distances, checks=False)
    tree = linkage(pairs, "average", optimal_ordering=len(distances) <= _MOST_OPTIMAL)
    order, half = np.asarray(leaves_list(tree), dtype=np.int64), len(alike) // 2
    return order[::-1].copy() if errors[order[:half]].sum() < errors[order[-half:]].sum() else order


# ---------------------------------------------------------------- class recalls
# Which classes are found less often than the median class, and the rare classes as one.
#
# What is stated is the median of the recalls seen. The classes are tested against that of the Beta distribution that
# all recalls share, fitted to their rows: of classes with a few rows each the one seen would be 1, and every miss
# beyond.


RARE_ROWS = 5  # rows below which a class is shown with the other rare ones
_LOGITS, _CONCENTRATIONS = np.linspace(-7, 7, 29), 2.0 ** np.arange(-1, 14)  # of the Beta distribution of the recalls
_FINE, _UNLIKELY, _NEAR = np.linspace(-0.6, 0.6, 61), 1e-4, 1e-9


@dataclass(frozen=True)
class ClassStanding:
    """The median of the recalls, and the indices of the classes that are shown to lie below and above it."""

    median: float
    below: tuple[int, ...]
    above: tuple[int, ...]
    classes: int  # that have rows in the truth


@dataclass(frozen=True)
class PooledClasses:
    """Classes with fewer rows than stated as one: their rows and hits, and the recall of all with its bounds."""

    fewest: int
    labels: Labels
    rows: int
    hits: float
    weight: float
    recall: float
    low: float
    high: float


def class_standing(table: Confusion, level: float) -> ClassStanding:
    """Which classes are below and above the median class: exact binomial tails, adjusted by Holm's method.

    The tails are averaged over the medians that the recalls may have, as that is not known either.

    >>> from steelyard import Confusion
    >>> table = Confusion.of_rows(range(10, 22), np.diag([5] + [90] * 11) + np.roll(np.diag([85] + [10] * 11), 1, 1))
    >>> class_standing(table, 0.95).below
    (0,)
    """
    from scipy.stats import binom

    row_weight = weight_per_class_row(table.weights, table.squares)[:, 0] if table.weighted else 1.0
    hits, totals = table.hits / row_weight, table.matrix.sum(1) / row_weight
    present = np.flatnonzero(totals > 0)
    hits, totals = hits[present], totals[present]
    medians, share = _medians(hits, totals)
    low, high = np.floor(hits + _NEAR), np.ceil(hits - _NEAR)
    size = np.maximum(np.ceil(totals - _NEAR), high)
    below, above = np.zeros(len(present)), np.zeros(len(present))
    for median, part in zip(medians, share, strict=True):
        below += part * binom.cdf(high, size, median)
        above += part * binom.sf(low - 1, size, median)
    shown = np.array(holm(np.concatenate([below, above]))) <= 1 - level
    under, over = (present[part].tolist() for part in np.split(shown, 2))
    return ClassStanding(float(np.median(hits / totals)), tuple(under), tuple(over), len(present))


def _medians(hits: Array, totals: Array) -> tuple[Array, Array]:
    """Medians that the distribution of the recalls may have, and how likely each is."""
    from scipy.special import expit
    from scipy.stats import beta

    pairs, times = np.unique(np.round(np.stack([hits, totals - hits]), 9), axis=1, return_counts=True)
    logits, sizes = (grid.ravel() for grid in np.meshgrid(_LOGITS, _CONCENTRATIONS, indexing="ij"))
    best = int(_log_likelihoods(pairs, times, logits, sizes).argmax())
    near, near_sizes = logits[best] + _FINE, sizes[best] * np.array([0.5, 1.0, 2.0])
    logits, sizes = (grid.ravel() for grid in np.meshgrid(near, near_sizes, indexing="ij"))
    logs = _log_likelihoods(pairs, times, logits, sizes)
    share = np.exp(logs - logs.max())
    likely = share > _UNLIKELY
    mean, size = expit(logits[likely]), sizes[likely]
    return np.asarray(beta.ppf(0.5, mean * size, (1 - mean) * size)), share[likely] / share[likely].sum()


def _log_likelihoods(pairs: Array, times: Array, logits: Array, concentrations: Array) -> Array:
    """The log-likelihood of hits and misses where recalls are of Beta distributions with these means."""
    from scipy.special import betaln, expit

    mean = expit(logits)
    a, b = mean * concentrations, (1 - mean) * concentrations
    return np.asarray(times @ (betaln(pairs[0][:, None] + a, pairs[1][:, None] + b) - betaln(a, b)))


def pooled_classes(table: Confusion, level: float, fewest: int = RARE_ROWS) -> PooledClasses | None:
    """The classes with fewer rows than stated, and some, as one rate; None where there are not two of them."""
    rows = table.true_rows
    rare = np.flatnonzero((rows > 0) & (rows < fewest))
    if len(rare) < 2:
        return None
    weight, hits = (float(part[rare].sum()) for part in (table.matrix.sum(1), table.hits))
    per_row = float(weight_per_row(weight, table.squares.sum(1)[rare].sum())) if table.weighted else 1.0
    low, high = jeffreys(np.array(hits / per_row), np.array(weight / per_row), level)
    labels = tuple(table.labels[i] for i in rare.tolist())
    return PooledClasses(fewest, labels, int(rows[rare].sum()), hits, weight, hits / weight, float(low), float(high))


# ---------------------------------------------------------------- ordered metrics
# Those that read an order of the classes, and who gave it.


_WEIGHTS = "weights"  # the parameter by which a metric of any classes reads their order
_USUAL = "quadratic"


class ClassOrder(NamedTuple):
    """Who gave the classes their order: labels=, an ordered categorical, or nobody."""

    declared: bool = False
    stated: bool = False

    def usual(self, table: Confusion | None) -> list[MetricSpec]:
        """The metrics of classes in order that are reported where the order is stated; of two classes none."""
        if not self.stated or table is None or len(table.labels) < 3:
            return []
        weighted = [metric.fixed(**{_WEIGHTS: _USUAL}) for metric in list_metrics() if _WEIGHTS in metric.parameters]
        return [MetricSpec(metric) for metric in (*weighted, *list_metrics("ordinal"))]

    def sentences(self, specs: Iterable[MetricSpec], table: Confusion | None) -> tuple[str, ...]:
        """In which order metrics that read one have taken the classes, and who gave it."""
        if table is None or len(table.labels) < 3 or not any(_reads_order(spec.metric) for spec in specs):
            return ()
        who = "their own order; labels= gives another"
        if self.declared or self.stated:
            who = "as labels= has them" if self.declared else "as the ordered categorical states"
        return (f"Metrics of ordered classes take them as {first_ten(table.labels)}, {who}.",)


def _reads_order(metric: Metric) -> bool:
    return metric.family == "ordinal" or metric.parameters.get(_WEIGHTS) is not None
