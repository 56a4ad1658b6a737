"""Class baselines: what a no-skill predictor scores on a table of classes, in the mean over its random predictions.

The metric of the expected table is not the expected metric: the square root in a G-mean makes it less, and the fewer
rows there are the more so. Of two classes the true positives are hypergeometric and every number of them that can
matter is taken with its probability; of more, tables are drawn with the same margins. Of very many classes, and where
every cell is expected to hold thousands of rows, the metric of the expected table stands for the mean.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.chance.hypergeometric import TruePositives
from steelyard.analysis.chance.random_agreements import MOST_ROWS, drawn_tables
from steelyard.metrics.application import ClassCells, class_values, count_values, on_counts
from steelyard.metrics.class_values import NO_MATRIX
from steelyard.metrics.metric_value import MetricValue
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.counts import Counts
from steelyard.statistics.shared_cells import SharedCells

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steelyard._types import Array
    from steelyard.metrics.call_options import CallOptions
    from steelyard.metrics.metric import Metric

MANY_ROWS = 10_000  # expected in every cell, from which on the mean and the metric of the expected table agree
_SAME = 1e-9  # as a share: a metric that is linear where the margins are given has its value on the expected table
_DRAWN, _FEWEST, _CELLS = 400, 50, 100_000  # tables of several classes, as many as these cells allow, if that is enough


def mean_where_defined(values: Array, masses: Array | None = None) -> Array:
    """The mean over the first axis of the values that are finite; NaN where none is."""
    masses = np.ones(len(values)) if masses is None else masses
    masses = np.where(np.isfinite(values), masses.reshape(-1, *[1] * (values.ndim - 1)), 0.0)
    with np.errstate(invalid="ignore"):
        mean = (np.where(masses > 0, values, 0.0) * masses).sum(0) / masses.sum(0)
    return np.asarray(mean)


def or_exact(mean: Array | float, exact: Array | float) -> Array:
    """The mean over random predictions, or the exact one where the two differ by their rounding alone."""
    near = np.abs(np.asarray(mean) - exact) <= _SAME * np.maximum(1.0, np.abs(exact))
    return np.where(near, exact, mean)


# ---------------------------------------------------------------- two classes


@dataclass(frozen=True)
class RandomCounts:
    """The tables of two classes that random predictions give, with their probabilities, and the expected one.

    `rows` are those of each class; None where the cells are weights of which nothing says how many rows they stand for.
    """

    expected: Counts
    rows: tuple[float, float] | None

    @classmethod
    def flagged(cls, counts: Counts, share: float, rows: tuple[float, float] | None) -> RandomCounts:
        """The predictor that flags such a share of the rows of these counts, whatever their class."""
        p, n = float(counts.positives), float(counts.negatives)
        return cls(Counts.trusted(p * share, p * (1 - share), n * share, n * (1 - share)), rows)

    def value(self, metric: Metric, call: CallOptions) -> float | Array:
        """The mean of the metric over the tables on which it is defined, the undefined replaced where that is asked."""
        exact = on_counts(metric, self.expected, metric.parameters)
        if self.tables is None:
            return exact.finished(metric, call)
        tables, masses = self.tables
        values = count_values(metric, tables, metric.parameters)
        values = np.where(np.isnan(values), call.replacement, values)
        mean = or_exact(mean_where_defined(values, masses), exact.value)
        return MetricValue(mean, lambda: exact.why or "undefined").finished(metric, call)

    @cached_property
    def tables(self) -> tuple[SharedCells, Array] | None:
        """Every table that can matter; None where the expected one stands for all."""
        p, n = float(self.expected.positives), float(self.expected.negatives)
        if self.rows is None or not (p > 0 and n > 0):
            return None
        total = max(2, round(_rows_at(p / (p + n), *self.rows)))
        share, flagged = p / (p + n), float(self.expected.predicted_positives) / (p + n)
        if min(share, 1 - share) * min(flagged, 1 - flagged) * total >= MANY_ROWS:
            return None
        cells, masses = [], []
        for (positives, mass), (predicted, times) in product(_rounded(share * total), _rounded(flagged * total)):
            null = TruePositives(positives, total - positives, predicted, total - predicted)
            tp = null.likely()
            cells.append(np.stack(list(null.tables(tp))))
            masses.append(mass * times * (np.exp(null.log_mass(tp)) if len(tp) > 1 else np.ones(1)))
        return SharedCells(*np.concatenate(cells, 1) * ((p + n) / total)), np.concatenate(masses)


def _rows_at(share: float, positives: float, negatives: float) -> float:
    """The rows of such a prevalence that estimate recall and false positive rate as well as those of the classes.

    Of rows without weights that are all of them.
    """
    return 1 / (share * (1 - share) * (1 / positives + 1 / negatives))


def _rounded(number: float) -> Iterator[tuple[int, float]]:
    """The whole numbers around one, with the probabilities that make it their mean."""
    low = math.floor(number)
    over = number - low
    if over < _SAME or over > 1 - _SAME:
        yield round(number), 1.0
    else:
        yield from ((low, 1 - over), (low + 1, over))


@dataclass(frozen=True)
class RandomArray:
    """The same of an array of tables, one after the other."""

    each: Sequence[RandomCounts]
    shape: tuple[int, ...]

    def value(self, metric: Metric, call: CallOptions) -> Array:
        """The mean of each table, in the shape of the array."""
        return np.array([one.value(metric, call) for one in self.each]).reshape(self.shape)


def random_counts(counts: Counts, share: Array | float, rows: tuple[float, float] | None) -> RandomCounts | RandomArray:
    """The predictor that flags such a share, on one table or on each of an array; of whole cells the rows are known."""
    if np.shape(counts.tp) == ():
        return RandomCounts.flagged(counts, float(share), rows or _whole(counts))
    shares = np.broadcast_to(share, np.shape(counts.tp))
    flat = zip(*(np.ravel(cell) for cell in counts), strict=True)
    tables = [Counts.trusted(*cells) for cells in flat]
    each = [RandomCounts.flagged(one, float(at), _whole(one)) for one, at in zip(tables, shares.ravel(), strict=True)]
    return RandomArray(each, shares.shape)


def _whole(counts: Counts) -> tuple[float, float] | None:
    whole = all(float(cell).is_integer() for cell in counts)
    return (float(counts.positives), float(counts.negatives)) if whole else None


def class_rows(table: Confusion) -> Array:
    """The rows that those of each true class are worth (Kish), as many as there are without weights."""
    return _worth(table.matrix.sum(1), table.squares.sum(1))


def rows_against_rest(table: Confusion, place: int) -> tuple[float, float]:
    """The same of one class and of all others together."""
    weights, squares = (part.sum(1).astype(np.float64) for part in (table.matrix, table.squares))
    own, rest = _worth(*([part[place], part.sum() - part[place]] for part in (weights, squares))).tolist()
    return own, rest


def _worth(weights: Array | list[float], squares: Array | list[float]) -> Array:
    total, squared = np.asarray(weights, dtype=np.float64), np.asarray(squares, dtype=np.float64)
    return np.divide(total**2, squared, out=np.zeros_like(total), where=squared > 0)


# ---------------------------------------------------------------- several classes


@dataclass(frozen=True)
class BaselineMargins:
    """The expected cells of every class against the rest where predictions have these shares, whatever the truth."""

    truth: Array
    shares: Array

    def value(self, metric: Metric, call: CallOptions) -> float | Array:
        """The metric of these cells, over all classes."""
        rest, left = self.truth.sum() - self.truth, 1 - self.shares
        cells = (self.truth * self.shares, self.truth * left, rest * self.shares, rest * left)
        values = class_values(metric, ClassCells(*cells, NO_MATRIX), call, metric.parameters)
        averaged = call.average not in ("native", "micro")
        return MetricValue(values, lambda: "a class is never predicted", averaged=averaged).finished(metric, call)


@dataclass(frozen=True)
class RandomClasses:
    """The tables of several classes that random predictions give, drawn, and the expected one."""

    expected: Confusion
    rows: Array

    def value(self, metric: Metric, call: CallOptions) -> float | Array:
        """The mean of the metric over these tables, those on which it is defined."""
        exact = metric(self.expected, average=call.average, pos_label=call.pos_label, undefined=call.undefined)
        if self.tables is None:
            return exact
        tables, masses = self.tables
        middle = np.tensordot(masses, tables, 1) / masses.sum()
        values, linear = (
            np.asarray(class_values(metric, ClassCells.of(some), call, metric.parameters)) for some in (tables, middle)
        )
        mean = mean_where_defined(np.where(np.isnan(values), call.replacement, values), masses)
        # Linear metrics have on the mean of the tables the mean of their values, and are known without draws.
        found = np.where((or_exact(mean, linear) == linear) | np.isnan(mean), exact, mean)
        return found if found.ndim else float(found)

    @cached_property
    def tables(self) -> tuple[Array, Array] | None:
        """Tables with these margins and their masses: all of two classes, else draws of one seed.

        None where the expected table stands for them.
        """
        matrix = self.expected.matrix.astype(np.float64)
        k, shares = len(matrix), matrix.sum(1) / matrix.sum()
        if k == 2:
            found = RandomCounts(Counts.from_matrix(matrix), (self.rows[1], self.rows[0])).tables
            if found is None:
                return None
            cells, masses = found
            return np.stack([np.stack([cells.tn, cells.fp], -1), np.stack([cells.fn, cells.tp], -1)], -2), masses
        there = self.rows > 0
        total = max(2, round(1 / float((shares[there] ** 2 / self.rows[there]).sum())))
        truth, predicted = (_whole_margins(matrix.sum(axis), total) for axis in (1, 0))
        number, fewest = min(_DRAWN, _CELLS // k**2), [margin[margin > 0].min() for margin in (truth, predicted)]
        if number < _FEWEST or total >= MOST_ROWS or fewest[0] * fewest[1] / total >= MANY_ROWS:
            return None
        drawn = drawn_tables(truth, predicted, number, np.random.default_rng(0))
        return drawn * (float(matrix.sum()) / total), np.ones(number)


def _whole_margins(margin: Array, total: int) -> Array:
    """Whole rows in these proportions, by largest remainder; a class that has any keeps one where it can."""
    exact = margin / margin.sum() * total
    whole = np.floor(exact + _SAME).astype(np.int64)
    most = np.argsort(whole - exact, kind="stable")[: total - int(whole.sum())]
    whole[most] += 1
    return np.asarray(whole)


def class_baselines(table: Confusion) -> Sequence[Confusion | BaselineMargins | RandomClasses]:
    """The baselines: same margins, always the majority, always the minority, a coin."""
    truth, predicted = (table.matrix.sum(axis).astype(np.float64) for axis in (1, 0))
    k, present = len(truth), np.flatnonzero(truth)
    # The last of the rarest classes, so that equal classes have a majority and a minority that differ.
    rarest = present[::-1][truth[present][::-1].argmin()]
    shares = (_one(truth.argmax(), k), _one(rarest, k), np.full(k, 1 / k))
    if table.is_sparse:
        return tuple(BaselineMargins(truth, share) for share in (predicted / truth.sum(), *shares))
    same, majority, minority, coin = (
        _expected(table, matrix)
        for matrix in (independent(table.matrix), *(np.outer(truth, share) for share in shares))
    )
    rows = class_rows(table)
    return RandomClasses(same, rows), majority, minority, RandomClasses(coin, rows)


def _one(place: int, size: int) -> Array:
    share = np.zeros(size)
    share[place] = 1.0
    return share


def independent(matrix: Array) -> Array:
    """The expected table of a random predictor with the same margins."""
    truth, predicted = (matrix.sum(axis).astype(np.float64) for axis in (1, 0))
    return np.outer(truth, predicted / truth.sum())


def _expected(table: Confusion, matrix: Array) -> Confusion:
    # The rows only show which cells are empty, lest what rounding leaves of a sum of weights be taken for one.
    return Confusion(table.labels, (matrix > 0).astype(np.int64), matrix, matrix, table.positive)
