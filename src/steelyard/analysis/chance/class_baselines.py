"""Class baselines: what a no-skill predictor scores on a table of classes, in the mean over its random predictions.

The metric of the expected table is not the expected metric: the square root in a G-mean makes it less, and the fewer
rows there are the more so. Of two classes the true positives are hypergeometric and every number of them that can
matter is taken with its probability; of more, tables are drawn with the same margins. With weights or at another
prevalence predictions are random over the rows that there are, at the rate at which they are read, and each table of
rows is then read with the weights or at the prevalence. Of very many classes, and where every cell is expected to hold
thousands of rows, the metric of the expected table stands for the mean.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.analysis.chance.hypergeometric import TruePositives
from steelyard.analysis.chance.random_agreements import MOST_ROWS, drawn_tables
from steelyard.analysis.distributions import beta_below, beta_quantile
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
_TABLES, _MOST_PARTS = 20_000, 8  # of weighted rows in all, and parts of the weight that so many rows of a class have
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


class SampleRows(NamedTuple):
    """The rows behind a table of two classes: of each class, those that are flagged, and what each class is worth."""

    positives: int
    negatives: int
    flagged: float
    worth: tuple[float, float]  # effective rows (Kish), as many as there are without weights

    @property
    def share(self) -> float:
        """The share of the rows that are flagged."""
        return self.flagged / (self.positives + self.negatives)

    def flagging(self, share: float) -> SampleRows:
        """The same rows where another share of them is flagged."""
        return self._replace(flagged=share * (self.positives + self.negatives))


@dataclass(frozen=True)
class RandomCounts:
    """The tables of two classes that random predictions give, with their probabilities, and the expected one.

    The predictions are permuted over the rows that there are, and each table is then read with the weights of the rows
    or at the prevalence that the classes of `expected` have. `rows` is None where the cells are weights of which
    nothing says how many rows they stand for.
    """

    expected: Counts
    rows: SampleRows | None

    @classmethod
    def flagged(cls, counts: Counts, share: float, rows: SampleRows | None) -> RandomCounts:
        """The predictor that flags such a share of the rows of these counts, whatever their class."""
        p, n = float(counts.positives), float(counts.negatives)
        expected = Counts.trusted(p * share, p * (1 - share), n * share, n * (1 - share))
        return cls(expected, None if rows is None else rows.flagging(share))

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
        if self.rows is None or not (p > 0 and n > 0 and self.rows.positives and self.rows.negatives):
            return None
        positives, negatives, flagged, worth = self.rows
        if min(worth) * min(self.rows.share, 1 - self.rows.share) >= MANY_ROWS:
            return None
        total, cells, masses = positives + negatives, [], []
        for predicted, mass in _rounded(flagged):
            null = TruePositives(positives, negatives, predicted, total - predicted)
            tp = null.likely()
            parts = int(np.clip(math.sqrt(_TABLES / len(tp)), 1, _MOST_PARTS))
            found = _shares_found(tp, positives, worth[0], parts)[:, None]
            false = _shares_found(predicted - tp, negatives, worth[1], parts)[None]
            both = np.broadcast_arrays(p * found, p * (1 - found), n * false, n * (1 - false))
            cells.append(np.stack(both).reshape(4, -1))
            each = mass * (np.exp(null.log_mass(tp)) if len(tp) > 1 else np.ones(1))
            masses.append(np.tile(each, both[0].size // len(tp)) * len(tp) / both[0].size)
        return SharedCells(*np.concatenate(cells, 1)), np.concatenate(masses)


def _shares_found(found: Array, size: int, worth: float, parts: int) -> Array:
    """The shares of the weight of a class that so many of its rows at random have, on a first axis of equal parts.

    Of k of P rows the mean is k / P, and the variance k / P (1 - k / P) c / (P - 1), where c = P / worth - 1 is the
    squared coefficient of variation of the weights: so much has the beta distribution whose parameters sum to
    (P - 1) / c - 1. Each part has the mean of its share of that. A row that is found has some weight, however little.
    """
    mean, spread = found / size, size / worth - 1
    if spread <= _SAME:
        return mean[None]
    inside, sums = np.clip(mean, _SAME, 1 - _SAME), max((size - 1) / spread - 1, _SAME)
    a, b = inside * sums, (1 - inside) * sums
    ends = beta_quantile(np.linspace(0, 1, parts + 1)[:, None], a, b)
    means = parts * inside * np.diff(beta_below(ends, a + 1, b), axis=0)
    return np.where((found > 0) & (found < size), np.clip(means, _SAME, 1 - _SAME), mean)


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


def random_counts(counts: Counts, rows: SampleRows | None, share: float | None = None) -> RandomCounts | RandomArray:
    """The predictor that flags such a share, or as many as are, on one table or on each of an array."""
    if np.shape(counts.tp) == ():
        return _random_of_one(counts, rows, share)
    flat = zip(*(np.ravel(cell) for cell in counts), strict=True)
    return RandomArray([_random_of_one(Counts.trusted(*cells), None, share) for cells in flat], np.shape(counts.tp))


def _random_of_one(counts: Counts, rows: SampleRows | None, share: float | None) -> RandomCounts:
    """The same of one table; of whole cells the rows are known."""
    rows, total = rows or _whole(counts), float(counts.total)
    if share is None:
        share = rows.share if rows is not None and rows.positives + rows.negatives else math.nan
        share = float(counts.predicted_positives) / total if math.isnan(share) and total else share
    return RandomCounts.flagged(counts, share, rows)


def _whole(counts: Counts) -> SampleRows | None:
    if not all(float(cell).is_integer() for cell in counts):
        return None
    p, n = int(counts.positives), int(counts.negatives)
    return SampleRows(p, n, int(counts.predicted_positives), (p, n))


def class_rows(table: Confusion) -> Array:
    """The rows that those of each true class are worth (Kish), as many as there are without weights."""
    return _worth(table.matrix.sum(1), table.squares.sum(1))


def rows_against_rest(table: Confusion, place: int) -> SampleRows:
    """The rows of one class, and of all others together."""
    weights, squares = (part.sum(1).astype(np.float64) for part in (table.matrix, table.squares))
    worth = _worth(*([part[place], part.sum() - part[place]] for part in (weights, squares)))
    true, flagged = table.rows.sum(1), prediction_rates(table)[place] * table.rows.sum()
    own, rest = int(true[place]), int(true.sum() - true[place])
    return SampleRows(own, rest, float(flagged), (min(own, float(worth[0])), min(rest, float(worth[1]))))


def prediction_rates(table: Confusion) -> Array:
    """How often each class is predicted, where the true classes have the shares that the table is read at."""
    of_rows, weights = table.rows.sum(1), table.matrix.sum(1).astype(np.float64)
    rates: Array = table.rows / np.maximum(of_rows, 1)[:, None]
    return np.asarray((weights / max(weights.sum(), np.finfo(float).tiny)) @ rates)


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
    """The tables of several classes that random predictions give, drawn, and the expected one.

    `true` and `predicted` are the rows of each class, and `worth` what those of each true one are worth.
    """

    expected: Confusion
    true: Array
    predicted: Array
    worth: Array

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
        k, total = len(matrix), int(self.true.sum())
        if k == 2:
            sizes, worth = (int(self.true[1]), int(self.true[0])), (float(self.worth[1]), float(self.worth[0]))
            rows = SampleRows(*sizes, float(self.predicted[1]), worth)
            found = RandomCounts(Counts.from_matrix(matrix), rows).tables
            if found is None:
                return None
            cells, masses = found
            return np.stack([np.stack([cells.tn, cells.fp], -1), np.stack([cells.fn, cells.tp], -1)], -2), masses
        number, fewest = min(_DRAWN, _CELLS // k**2), [part[part > 0].min() for part in (self.worth, self.predicted)]
        if number < _FEWEST or total >= MOST_ROWS or fewest[0] * fewest[1] / total >= MANY_ROWS:
            return None
        rng = np.random.default_rng(0)
        drawn = drawn_tables(self.true, self.predicted, number, rng)
        return _shares_drawn(drawn, self.true, self.worth, rng) * matrix.sum(1)[:, None], np.ones(number)


def _shares_drawn(drawn: Array, true: Array, worth: Array, rng: np.random.Generator) -> Array:
    """The shares of the weight of each class that tables of rows have: Dirichlet's, as the beta of two classes."""
    shares: Array = drawn / np.maximum(true, 1)[:, None]
    for place in np.flatnonzero(true > worth * (1 + _SAME)):
        sums = max((true[place] - 1) / (true[place] / worth[place] - 1) - 1, _SAME)
        mass = np.where(drawn[:, place] > 0, rng.standard_gamma(shares[:, place] * sums) + np.finfo(float).tiny, 0.0)
        shares[:, place] = mass / mass.sum(-1, keepdims=True)
    return shares


def _whole_margins(margin: Array, total: int) -> Array:
    """Whole rows in these proportions, by largest remainder; a class that has any keeps one where it can."""
    exact = margin / margin.sum() * total
    whole = np.floor(exact + _SAME).astype(np.int64)
    most = np.argsort(whole - exact, kind="stable")[: total - int(whole.sum())]
    whole[most] += 1
    return np.asarray(whole)


def class_baselines(table: Confusion) -> Sequence[Confusion | BaselineMargins | RandomClasses]:
    """The baselines: same margins, always the majority, always the minority, a coin."""
    truth = table.matrix.sum(1).astype(np.float64)
    k, present = len(truth), np.flatnonzero(truth)
    # The last of the rarest classes, so that equal classes have a majority and a minority that differ.
    rarest = present[::-1][truth[present][::-1].argmin()]
    shares = (_one(truth.argmax(), k), _one(rarest, k), np.full(k, 1 / k))
    of_rows, flagged = (table.rows.sum(axis).astype(np.int64) for axis in (1, 0))
    worth = np.minimum(class_rows(table), of_rows)
    predicted = prediction_rates(table)
    flagged = _whole_margins(predicted, int(of_rows.sum())) if predicted.sum() else flagged
    if table.is_sparse:
        return tuple(BaselineMargins(truth, share) for share in (predicted, *shares))
    same, majority, minority, coin = (_expected(table, np.outer(truth, share)) for share in (predicted, *shares))
    evenly = _whole_margins(np.ones(k), int(of_rows.sum()))
    return (
        RandomClasses(same, of_rows, flagged, worth),
        majority,
        minority,
        RandomClasses(coin, of_rows, evenly, worth),
    )


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
