"""Baselines: the mean of a metric over random predictions, or over random orders of the scores.

The metric of the expected table is not the expected metric: the square root in a G-mean makes it less, and the fewer
rows there are the more so. Of two classes the true positives are hypergeometric and every number of them that can
matter is taken with its probability; of more, tables are drawn with the same margins. With weights or at another
prevalence predictions are random over the rows that there are, at the rate at which they are read, and each table of
rows is then read with the weights or at the prevalence. Of very many classes, and where every cell is expected to hold
thousands of rows, the metric of the expected table stands for the mean.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.analysis.chance.permutations import MOST_ROWS, TruePositives, drawn_tables
from steelyard.analysis.distributions import beta_below, beta_quantile
from steelyard.analysis.intervals.draws import generator
from steelyard.analysis.prevalence.prevalence import scores_at
from steelyard.metrics import discrimination, ranking
from steelyard.metrics.score_values import on_scores
from steelyard.metrics.values import NO_MATRIX, ClassCells, MetricValue, class_values, count_values, on_counts
from steelyard.tables.class_scores import ClassScores
from steelyard.tables.confusion import Confusion
from steelyard.tables.counts import Counts, SharedCells
from steelyard.tables.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array, Rng
    from steelyard.metrics.call_options import CallOptions
    from steelyard.metrics.measure import Metric


MANY_ROWS = 10_000  # expected in every cell, from which on the mean and the metric of the expected table agree
_SAME = 1e-9  # as a share: a metric that is linear where the margins are given has its value on the expected table
_TABLES, _MOST_PARTS = 20_000, 8  # of weighted rows in all, and parts of the weight that so many rows of a class have
FEWEST_READ = 20  # draws, from which on a 95th percentile is read of them
_READ, _READ_DRAWS, _READ_CELLS = 0.95, 1_000, 4_000_000  # draws of tables and orders for it, and cells of them in all
_DRAWN, _FEWEST, _CELLS = 400, 50, 100_000  # tables of several classes, as many as these cells allow, if that is enough


def mean_where_defined(values: Array, weights: Array | None = None) -> Array:
    """The mean over the first axis of the values that are finite; NaN where none is."""
    weights = np.ones(len(values)) if weights is None else weights
    weights = np.where(np.isfinite(values), weights.reshape(-1, *[1] * (values.ndim - 1)), 0.0)
    with np.errstate(invalid="ignore"):
        mean = (np.where(weights > 0, values, 0.0) * weights).sum(0) / weights.sum(0)
    return np.asarray(mean)


def percentile_where_defined(metric: Metric, values: Array, weights: Array | None = None) -> Array:
    """The 95th percentile of the finite values on the first axis, which one in twenty reaches or betters.

    Of a metric of which less is better it is the 5th. It is NaN where none is finite, or fewer than 20 of draws.
    """
    turn = -1.0 if metric.direction == "lower" else 1.0
    flat = turn * np.asarray(values, dtype=np.float64).reshape(len(values), -1)
    mass_of = np.ones(len(flat)) if weights is None else weights
    found = np.full(flat.shape[1], math.nan)
    for i, column in enumerate(flat.T):
        defined = np.isfinite(column)
        order = np.argsort(column[defined], kind="stable")
        mass = np.cumsum(mass_of[defined][order])
        if mass.size >= (FEWEST_READ if weights is None else 1) and mass[-1] > 0:
            found[i] = column[defined][order][np.searchsorted(mass, _READ * mass[-1] * (1 - _SAME))]
    return (turn * found).reshape(np.shape(values)[1:])


def or_exact(mean: Array | float, exact: Array | float) -> Array:
    """The mean over random predictions, or the exact one where the two differ by their rounding alone."""
    near = np.abs(np.asarray(mean) - exact) <= _SAME * np.maximum(1.0, np.abs(exact))
    return np.where(near, exact, mean)


RANDOM = "random predictions with the same margins"
EXPECTED = f"the expected table of {RANDOM}"

# ---------------------------------------------------------------- two classes


class SampleRows(NamedTuple):
    """The rows behind a table of two classes: those of each class, those flagged, and each class's effective size."""

    positives: int
    negatives: int
    flagged: float
    effective_sizes: tuple[float, float]  # Kish's, of both classes; without weights the rows that there are

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
        tables, probabilities = self.tables
        values = count_values(metric, tables, metric.parameters)
        values = np.where(np.isnan(values), call.replacement, values)
        mean = or_exact(mean_where_defined(values, probabilities), exact.value)
        return MetricValue(mean, lambda: exact.why or "undefined").finished(metric, call)

    def percentile(self, metric: Metric, call: CallOptions) -> float | Array:
        """The 95th percentile over the tables; NaN where nothing says how many rows there are."""
        if self.every_table is None:
            return math.nan
        tables, probabilities = self.every_table
        values = count_values(metric, tables, metric.parameters)
        return percentile_where_defined(metric, np.where(np.isnan(values), call.replacement, values), probabilities)

    @property
    def method(self) -> str:
        """How the mean is found."""
        return EXPECTED if self.tables is None else f"all {RANDOM}"

    @property
    def tables(self) -> tuple[SharedCells, Array] | None:
        """Every table that can matter, with its probability; None where the expected one stands for all."""
        rows = self.rows
        if rows is None or not (rows.positives and rows.negatives):
            return None
        is_of_many = min(rows.effective_sizes) * min(rows.share, 1 - rows.share) >= MANY_ROWS
        return None if is_of_many else self.every_table

    @cached_property
    def every_table(self) -> tuple[SharedCells, Array] | None:
        """Every table that can matter, with its probability; None where nothing says how many rows there are."""
        p, n = float(self.expected.positives), float(self.expected.negatives)
        if self.rows is None or not (p > 0 and n > 0 and self.rows.positives and self.rows.negatives):
            return None
        positives, negatives, flagged, sizes = self.rows
        # A number of flagged rows that is not whole is the mean of the two whole numbers around it.
        below = math.floor(flagged)
        over = flagged - below
        whole = [(round(flagged), 1.0)] if over < _SAME or over > 1 - _SAME else [(below, 1 - over), (below + 1, over)]
        total, cells, probabilities = positives + negatives, [], []
        for predicted, probability in whole:
            null = TruePositives(positives, negatives, predicted, total - predicted)
            tp = null.likely()
            parts = int(np.clip(math.sqrt(_TABLES / len(tp)), 1, _MOST_PARTS))
            recall = _weight_shares(tp, positives, sizes[0], parts)[:, None]
            fpr = _weight_shares(predicted - tp, negatives, sizes[1], parts)[None]
            both = np.broadcast_arrays(p * recall, p * (1 - recall), n * fpr, n * (1 - fpr))
            cells.append(np.stack(both).reshape(4, -1))
            each = probability * (np.exp(null.log_mass(tp)) if len(tp) > 1 else np.ones(1))
            probabilities.append(np.tile(each, both[0].size // len(tp)) * len(tp) / both[0].size)
        return SharedCells(*np.concatenate(cells, 1)), np.concatenate(probabilities)


def _weight_shares(rows: Array, size: int, effective_size: float, parts: int) -> Array:
    """The shares of a class's weight that so many of its rows at random have, on a first axis of equal parts.

    The share of k among P rows has mean k / P and variance k / P (1 - k / P) c / (P - 1), where c = P / effective size
    - 1 is the squared coefficient of variation of the weights. The beta distribution whose parameters sum to
    (P - 1) / c - 1 has both. Each part has the mean of its share of that. Every row has some weight, however little.
    """
    mean, variation = rows / size, size / effective_size - 1
    if variation <= _SAME:
        return mean[None]
    inside, sums = np.clip(mean, _SAME, 1 - _SAME), max((size - 1) / variation - 1, _SAME)
    a, b = inside * sums, (1 - inside) * sums
    bounds = beta_quantile(np.linspace(0, 1, parts + 1)[:, None], a, b)
    means = parts * inside * np.diff(beta_below(bounds, a + 1, b), axis=0)
    return np.where((rows > 0) & (rows < size), np.clip(means, _SAME, 1 - _SAME), mean)


@dataclass(frozen=True)
class RandomArray:
    """The same of an array of tables, one after the other."""

    each: Sequence[RandomCounts]
    shape: tuple[int, ...]

    def value(self, metric: Metric, call: CallOptions) -> Array:
        """The mean of each table, in the shape of the array."""
        return np.array([one.value(metric, call) for one in self.each]).reshape(self.shape)

    def percentile(self, metric: Metric, call: CallOptions) -> Array:
        """The 95th percentile of each table."""
        return np.array([one.percentile(metric, call) for one in self.each]).reshape(self.shape)

    @property
    def method(self) -> str:
        """How the means are found."""
        return self.each[0].method if self.each else EXPECTED


def random_counts(counts: Counts, rows: SampleRows | None, share: float | None = None) -> RandomCounts | RandomArray:
    """The predictor that flags such a share, or as many as are, on one table or on each of an array."""
    if np.shape(counts.tp) == ():
        return _random_of_one(counts, rows, share)
    flat = zip(*(np.ravel(cell) for cell in counts), strict=True)
    return RandomArray([_random_of_one(Counts.trusted(*cells), None, share) for cells in flat], np.shape(counts.tp))


def _random_of_one(counts: Counts, rows: SampleRows | None, share: float | None) -> RandomCounts:
    """The same of one table; of whole cells the rows are known."""
    if rows is None and all(float(cell).is_integer() for cell in counts):
        p, n = int(counts.positives), int(counts.negatives)
        rows = SampleRows(p, n, int(counts.predicted_positives), (p, n))
    total = float(counts.total)
    if share is None:
        share = rows.share if rows is not None and rows.positives + rows.negatives else math.nan
        share = float(counts.predicted_positives) / total if math.isnan(share) and total else share
    return RandomCounts.flagged(counts, share, rows)


def class_rows(table: Confusion) -> Array:
    """The effective size (Kish) of each true class: without weights, its rows."""
    return _effective_sizes(table.matrix.sum(1), table.squares.sum(1))


def rows_against_rest(table: Confusion, index: int) -> SampleRows:
    """The rows of one class, and of all others together."""
    weights, squares = (part.sum(1).astype(np.float64) for part in (table.matrix, table.squares))
    sizes = _effective_sizes(*([part[index], part.sum() - part[index]] for part in (weights, squares)))
    true, flagged = table.rows.sum(1), prediction_rates(table)[index] * table.rows.sum()
    positives, negatives = int(true[index]), int(true.sum() - true[index])
    effective = min(positives, float(sizes[0])), min(negatives, float(sizes[1]))
    return SampleRows(positives, negatives, float(flagged), effective)


def prediction_rates(table: Confusion) -> Array:
    """How often each class is predicted, where the true classes have the shares that the table is read at."""
    if table.is_sparse:
        predicted = table.matrix.sum(0).astype(np.float64)
        return np.asarray(predicted / max(predicted.sum(), np.finfo(float).tiny))
    of_rows, weights = table.rows.sum(1), table.matrix.sum(1).astype(np.float64)
    rates: Array = table.rows / np.maximum(of_rows, 1)[:, None]
    return np.asarray((weights / max(weights.sum(), np.finfo(float).tiny)) @ rates)


def _effective_sizes(weights: Array | list[float], squares: Array | list[float]) -> Array:
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

    def percentile(self, metric: Metric, call: CallOptions) -> float:  # noqa: ARG002 - as the others have it
        """NaN: of so many classes no tables are drawn."""
        return math.nan

    method = EXPECTED


@dataclass(frozen=True)
class RandomClasses:
    """The tables of several classes that random predictions give, drawn, and the expected one.

    `true` and `predicted` are the rows of each class.
    """

    expected: Confusion
    true: Array
    predicted: Array
    effective_sizes: Array  # of each true class
    draws: int | None = None
    rng: Rng = None

    def value(self, metric: Metric, call: CallOptions) -> float | Array:
        """The mean of the metric over these tables, those on which it is defined."""
        exact = metric(self.expected, average=call.average, pos_label=call.pos_label, undefined=call.undefined)
        if self.tables is None:
            return exact
        tables, probabilities = self.tables
        mean_table = np.tensordot(probabilities, tables, 1) / probabilities.sum()
        values, on_mean = (self._values(metric, cells, call) for cells in (tables, mean_table))
        mean = mean_where_defined(np.where(np.isnan(values), call.replacement, values), probabilities)
        # Linear metrics have on the mean of the tables the mean of their values, and are known without draws.
        value = np.where((or_exact(mean, on_mean) == on_mean) | np.isnan(mean), exact, mean)
        return value if value.ndim else float(value)

    def percentile(self, metric: Metric, call: CallOptions) -> float | Array:
        """The 95th percentile over the tables; NaN where so few could be drawn that it is not known."""
        draws = self.draws or min(_READ_DRAWS, _READ_CELLS // len(self.true) ** 2)
        of_two = self._of_two.every_table if len(self.true) == 2 else None
        if of_two is None and (draws < FEWEST_READ or self.true.sum() >= MOST_ROWS):
            return math.nan
        tables, probabilities = (self._drawn(draws)[0], None) if of_two is None else _matrices(*of_two)
        values = self._values(metric, tables, call)
        return percentile_where_defined(metric, np.where(np.isnan(values), call.replacement, values), probabilities)

    @property
    def method(self) -> str:
        """How the mean is found."""
        if self.tables is None:
            return EXPECTED
        return f"{'all' if len(self.true) == 2 else f'{len(self.tables[1]):,}'} {RANDOM}"

    def _values(self, metric: Metric, tables: Array, call: CallOptions) -> Array:
        return np.asarray(class_values(metric, ClassCells.of(tables), call, metric.parameters))

    @cached_property
    def tables(self) -> tuple[Array, Array] | None:
        """Tables with these margins and their probabilities: all of two classes, else draws of one seed.

        None where the expected table stands for them.
        """
        k, total = len(self.true), int(self.true.sum())
        if k == 2:
            tables = self._of_two.tables
            return None if tables is None else _matrices(*tables)
        draws = self.draws or min(_DRAWN, _CELLS // k**2)
        fewest = [part[part > 0].min() for part in (self.effective_sizes, self.predicted)]
        if draws < _FEWEST or total >= MOST_ROWS or fewest[0] * fewest[1] / total >= MANY_ROWS:
            return None
        return self._drawn(draws)

    @cached_property
    def _of_two(self) -> RandomCounts:
        (negatives, positives), (of_negatives, of_positives) = self.true.tolist(), self.effective_sizes.tolist()
        rows = SampleRows(int(positives), int(negatives), float(self.predicted[1]), (of_positives, of_negatives))
        return RandomCounts(Counts.from_matrix(self.expected.matrix.astype(np.float64)), rows)

    def _drawn(self, draws: int) -> tuple[Array, Array]:
        rng = generator(self.rng)
        drawn = drawn_tables(self.true, self.predicted, draws, rng)
        totals = self.expected.matrix.astype(np.float64).sum(1)[:, None]
        return self._weight_shares(drawn, rng) * totals, np.ones(draws)

    def _weight_shares(self, drawn: Array, rng: np.random.Generator) -> Array:
        """The shares of each class's weight that tables of rows have: Dirichlet's, as the beta of two classes."""
        shares: Array = drawn / np.maximum(self.true, 1)[:, None]
        for i in np.flatnonzero(self.true > self.effective_sizes * (1 + _SAME)):
            rows, effective_size = self.true[i], self.effective_sizes[i]
            sums = max((rows - 1) / (rows / effective_size - 1) - 1, _SAME)
            weight = np.where(drawn[:, i] > 0, rng.standard_gamma(shares[:, i] * sums) + np.finfo(float).tiny, 0.0)
            shares[:, i] = weight / weight.sum(-1, keepdims=True)
        return shares


def _matrices(cells: SharedCells, probabilities: Array) -> tuple[Array, Array]:
    """Tables of two classes as matrices, the negative class first."""
    return np.stack([np.stack([cells.tn, cells.fp], -1), np.stack([cells.fn, cells.tp], -1)], -2), probabilities


def _whole_margins(margin: Array, total: int) -> Array:
    """Whole rows in these proportions, by largest remainder; a class that has any keeps one where it can."""
    exact = margin / margin.sum() * total
    whole = np.floor(exact + _SAME).astype(np.int64)
    most = np.argsort(whole - exact, kind="stable")[: total - int(whole.sum())]
    whole[most] += 1
    return np.asarray(whole)


def class_baselines(
    table: Confusion, draws: int | None = None, rng: Rng = None
) -> Sequence[Confusion | BaselineMargins | RandomClasses]:
    """The baselines: same margins, always the majority, always the minority, a coin."""
    truth = table.matrix.sum(1).astype(np.float64)
    k, present = len(truth), np.flatnonzero(truth)
    # The last of the rarest classes, so that equal classes have a majority and a minority that differ.
    rarest = present[::-1][truth[present][::-1].argmin()]
    always_majority, always_minority = (1.0 * (np.arange(k) == index) for index in (truth.argmax(), rarest))
    rows, flagged = (table.rows.sum(axis).astype(np.int64) for axis in (1, 0))
    sizes = np.minimum(class_rows(table), rows)
    predicted = prediction_rates(table)
    flagged = _whole_margins(predicted, int(rows.sum())) if predicted.sum() else flagged
    shares = (predicted, always_majority, always_minority, np.full(k, 1 / k))
    if table.is_sparse:
        return tuple(BaselineMargins(truth, share) for share in shares)
    # The rows only show which cells are empty, lest what rounding leaves of a sum of weights be taken for one.
    same, majority, minority, coin = (
        Confusion(table.labels, (cells > 0).astype(np.int64), cells, cells, table.positive)
        for cells in (np.outer(truth, share) for share in shares)
    )
    evenly = _whole_margins(np.ones(k), int(rows.sum()))
    random = (RandomClasses(each, rows, of, sizes, draws, rng) for each, of in ((same, flagged), (coin, evenly)))
    return next(random), majority, minority, next(random)


def independent(matrix: Array) -> Array:
    """The expected table of a random predictor with the same margins."""
    truth, predicted = (matrix.sum(axis).astype(np.float64) for axis in (1, 0))
    return np.outer(truth, predicted / truth.sum())


# ---------------------------------------------------------------- random order
# The mean of a metric of ranks over random orders of the same scores, ties kept.
#
# Average precision has its mean in closed form. For the others orders are drawn, always the same ones: every row of the
# rarer class falls anywhere among the scores, and the rows of the other class are counted between those. Where both
# classes are large the scores are grouped in levels. A metric of probabilities has the value of one constant score.


_ORDER_CELLS, _MOST_ORDERS, _LEAST_ORDERS = 24_000, 4_000, 30  # entries of all drawn tables together, and draws
_MOST_SINGLE = 300  # rows of the rarer class that are placed one by one; of more, the scores are grouped in levels
_MOST_SCORES = 10_000  # distinct ones that are all kept where a metric is a mean over them
_LEVELS = 300  # half of them of as many rows each, half of as many distinct scores
_MANY_ROWS = 20_000  # of the rarer class, from which on the precision of a random order is the prevalence
_SORTED_ENTRIES = 20_000  # of which all are looked at for ties; of more, as many spread evenly
# The same as with one score for all rows: linear in the positives found at a depth, or an area of pairs.
_SAME_AS_CONSTANT = (
    ranking.roc_auc.scores,
    discrimination.gini.scores,
    ranking.precision_at_k.scores,
    ranking.lift.scores,
)


@dataclass(frozen=True, eq=False)
class RandomOrder:
    """The random orders of one table of scores, drawn once for all metrics, and the table of one constant score."""

    table: ScoreTable
    constant: ScoreTable
    base: RandomOrder | None = None
    draws: int | None = None
    rng: Rng = None

    def at(self, share: float) -> RandomOrder:
        """The same orders where such a share of the weight is that of positives."""
        table = scores_at(self.table, share)
        return RandomOrder(table, _constant(table), self)

    def value(self, metric: Metric) -> float | Array:
        """The mean over the orders in which the metric is defined."""
        exact: float | Array = on_scores(metric, self.constant, metric.parameters).value
        if self._is_as_constant(metric):
            return exact
        if (mean := self._closed_mean(metric)) is not None:
            return mean
        values = self._values(metric)
        if metric.scores is ranking.pr_auc.scores and (mean := self._closed_mean(ranking.average_precision)):
            # The two areas differ little in any order, and one has a known mean.
            steps = on_scores(ranking.average_precision, self._drawn, {}).value
            return mean + float(np.mean(values - steps))
        return float(or_exact(mean_where_defined(np.atleast_1d(values)), exact))

    def percentile(self, metric: Metric) -> float | Array:
        """The 95th percentile over drawn orders; of probabilities, and of several tables, the value itself."""
        if metric.of_probabilities or np.ndim(self.table.total):
            return self.value(metric)
        orders = replace(self, draws=self.draws or _READ_DRAWS)
        return float(percentile_where_defined(metric, np.atleast_1d(orders._values(metric))))  # noqa: SLF001

    def method(self, metric: Metric) -> str:
        """How the mean is found."""
        if metric.of_probabilities:
            return "one constant score for all rows"
        is_exact = self._is_as_constant(metric) or self._closed_mean(metric) is not None
        return f"{'all' if is_exact else f'{len(self._values(metric)):,}'} random orders of the scores"

    def _is_as_constant(self, metric: Metric) -> bool:
        """Whether the mean is the value of one score for all rows."""
        same = metric.scores in _SAME_AS_CONSTANT and metric.parameters.get("max_fpr") is None
        return same or metric.of_probabilities or bool(np.ndim(self.table.total))

    def _values(self, metric: Metric) -> Array:
        """The value in each drawn order."""
        drawn = self._at_every_score if metric.scores is discrimination.mcc_f1.scores else self._drawn
        return np.atleast_1d(np.asarray(on_scores(metric, drawn, metric.parameters).value, dtype=np.float64))

    def _closed_mean(self, metric: Metric) -> float | None:
        """The mean of an average precision in closed form, where rows have no weights or are very many."""
        sizes = [side.effective_size for side in self.table.classes]
        if self.table.weighted and min(sizes) < _MANY_ROWS:
            return None
        if metric.scores is ranking.average_precision.scores:
            return self._average_precisions[0]
        if metric.scores is ranking.negative_average_precision.scores:
            return self._average_precisions[1]
        if metric.scores is ranking.mean_average_precision.scores:
            return sum(self._average_precisions) / 2
        return None

    @cached_property
    def _average_precisions(self) -> tuple[float, float]:
        """The means of that of the positives and that of the negatives.

        At rank r, where a row of the class stands, precision is 1 / r for that row, and for each of the r - 1 rows
        above or beside it the chance that it is of the class too, (p - 1) / (n - 1).
        """
        total = float(self.table.total)
        if min(side.effective_size for side in self.table.classes) >= _MANY_ROWS:
            return float(self.table.positive.total) / total, float(self.table.negative.total) / total
        n, (sizes, ends) = self.table.n, self._groups
        from_above, from_below = (
            float((sizes / rank * (1 + (rank - 1) * ((side.n - 1) / (n - 1)))).sum() / n)
            for side, rank in zip(self.table.classes, (ends, n - ends + sizes), strict=True)
        )
        return from_above, from_below

    @cached_property
    def _groups(self) -> tuple[Array, Array]:
        """The rows of each group of equal scores, and those down to its end, from the highest score on.

        Among very many entries every so-many-th is looked at: one that is single there stands for rows without ties.
        """
        n, sides = self.table.n, self.table.classes
        among = [side.among[0] for side in sides if side.among is not None]
        scores: Array = np.asanyarray(among[0]) if among else np.concatenate([side.entries for side in sides])
        plain = all(side.given_rows is None for side in sides)
        rows = None if plain else np.concatenate([side.rows for side in sides])
        step = max(1, len(scores) // _SORTED_ENTRIES)
        looked_at = ClassScores.of_rows(scores[::step], frequency=None if rows is None else rows[::step])
        sizes = looked_at.distinct[1][::-1]
        if step > 1:
            sizes = np.asarray(sizes)  # few: they travel from a device
            single = sizes == 1
            sizes = np.repeat(np.where(single, 1, sizes * step), np.where(single, step, 1))
        ends = np.cumsum(sizes)
        if step > 1:
            ends = np.append(ends[: int(np.searchsorted(ends, n))], n)
            return np.diff(ends, prepend=0), ends
        if int(ends[-1]) != n:  # entries that stand for parts of rows
            return np.ones(n, dtype=np.int64), np.arange(1, n + 1)
        return sizes, ends

    @cached_property
    def _drawn(self) -> ScoreTable:
        """Drawn orders, as tables whose weights have an axis of draws."""
        if self.base is not None:
            return scores_at(self.base._drawn, float(self.table.positive.total / self.table.total))  # noqa: SLF001
        rare = 0 if self.table.positive.n <= self.table.negative.n else 1
        few = self.table.classes[rare].n <= _MOST_SINGLE
        return self._as_table(self._row_by_row(rare) if few else self._in_levels(rare), rare)

    @cached_property
    def _at_every_score(self) -> ScoreTable:
        """The same with all distinct scores, for a mean over the points of a curve, where rows have no weights."""
        if self.base is not None:
            return scores_at(self.base._at_every_score, float(self.table.positive.total / self.table.total))  # noqa: SLF001
        sizes = np.asarray(self._groups[0])
        if self.table.weighted or len(sizes) > _MOST_SCORES:
            return self._drawn
        positives = self.table.positive.n
        draws = self.draws or min(max(_LEAST_ORDERS, 10 * _ORDER_CELLS // len(sizes)), _MOST_ORDERS)
        drawn = generator(self.rng).multivariate_hypergeometric(sizes, positives, size=draws)
        return self._as_table((1.0 * drawn, 1.0 * (sizes - drawn)), 0)

    def _as_table(self, both: tuple[Array, Array], rare: int) -> ScoreTable:
        """The table of drawn orders: the weight of the rare class and of the other at each score, descending."""
        scores = np.arange(both[0].shape[1], dtype=np.float64)
        weights = [np.ascontiguousarray(part[:, ::-1]) for part in (both if rare == 0 else both[::-1])]
        positive, negative = (ClassScores(scores, part, part, part) for part in weights)
        return ScoreTable(positive, negative, self.table.label)

    def _row_by_row(self, rare: int) -> tuple[Array, Array]:
        """The weight of the rare class and of the other at the rows of the rare one and between them, descending."""
        few, other = self.table.classes[rare], self.table.classes[1 - rare]
        n, size, (sizes, ends) = self.table.n, few.n, self._groups
        draws = self.draws or int(np.clip(_ORDER_CELLS // (2 * size + 1), _LEAST_ORDERS, _MOST_ORDERS))
        rng = generator(self.rng)
        ranks = np.sort(_distinct_ranks(rng, n, size, draws), axis=1)
        entry_rows = np.asarray(few.rows, dtype=np.int64)
        weights = np.repeat(np.asarray(few.weights, dtype=np.float64) / np.maximum(entry_rows, 1), entry_rows)
        if len(weights) != size:  # entries that stand for parts of rows
            weights = np.full(size, float(few.total) / size)
        drawn_weights = rng.permuted(np.tile(weights, (draws, 1)), axis=1)
        if len(ends) <= ranks.size:  # the shorter of the two travels from a device
            sizes, ends = np.asarray(sizes), np.asarray(ends)
        group = np.searchsorted(ends, ranks.ravel(), side="right")
        end = np.asarray(ends[group]).reshape(ranks.shape)
        start = end - np.asarray(sizes[group]).reshape(ranks.shape)
        group = np.asarray(group).reshape(ranks.shape)
        first = np.ones_like(group, dtype=bool)
        first[:, 1:] = group[:, 1:] != group[:, :-1]
        # The rare rows of one group stand at its first entry.
        at = np.maximum.accumulate(np.where(first, np.arange(size), 0), axis=1) + np.arange(draws)[:, None] * size
        rare_rows = np.bincount(at.ravel(), minlength=draws * size).reshape(draws, size)
        previous_end = np.concatenate([np.zeros((draws, 1), dtype=np.int64), end[:, :-1]], 1)
        rare_weights, others = (np.zeros((draws, 2 * size + 1)) for _ in range(2))
        rare_weights[:, 1::2] = np.bincount(at.ravel(), drawn_weights.ravel(), draws * size).reshape(draws, size)
        others[:, 1::2] = np.where(first, end - start - rare_rows, 0)  # tied with them
        others[:, 0:-1:2] = np.where(first, start - previous_end, 0)  # between them
        others[:, -1] = n - end[:, -1]
        return rare_weights, others * (float(other.total) / other.n)

    def _in_levels(self, rare: int) -> tuple[Array, Array]:
        """The weight of the rare class and of the other in levels, descending."""
        few, other = self.table.classes[rare], self.table.classes[1 - rare]
        n, ends = self.table.n, self._groups[1]
        by_rows = np.searchsorted(ends, np.linspace(0, n, _LEVELS // 2 + 1)[1:].astype(np.int64))
        by_groups = np.linspace(0, len(ends) - 1, _LEVELS // 2).astype(np.int64)
        at = np.unique(np.minimum(np.concatenate([np.asarray(by_rows), by_groups]), len(ends) - 1))
        sizes = np.diff(np.asarray(ends[at]), prepend=0)
        drawn = generator(self.rng).multivariate_hypergeometric(sizes, few.n, size=self.draws or _LEAST_ORDERS)
        return drawn * (float(few.total) / few.n), (sizes - drawn) * (float(other.total) / other.n)


def random_order(table: ScoreTable, draws: int | None = None, rng: Rng = None) -> RandomOrder:
    """The random orders of a table."""
    return RandomOrder(table, _constant(table), None, draws, rng)


def _constant(table: ScoreTable) -> ScoreTable:
    """The same rows, each with the share of positives as its score."""
    share = np.array([table.positive.total / table.total])
    return ScoreTable(_level(table.positive, share), _level(table.negative, share), table.label)


def _level(side: ClassScores, score: Array) -> ClassScores:
    rows, weights = np.array([side.n]), np.array([side.total])
    return ClassScores(score, rows) if side.given_weights is None else ClassScores(score, rows, weights, weights)


def _distinct_ranks(rng: np.random.Generator, n: int, size: int, draws: int) -> Array:
    """So many draws of distinct ranks among n."""
    if n <= 4 * size:
        return np.asarray(rng.permuted(np.tile(np.arange(n), (draws, 1)), axis=1)[:, :size])
    ranks = rng.integers(0, n, (draws, size))
    while True:
        ranks.sort(axis=1)
        again = np.zeros_like(ranks, dtype=bool)
        again[:, 1:] = ranks[:, 1:] == ranks[:, :-1]
        if not again.any():
            return ranks
        ranks[again] = rng.integers(0, n, int(again.sum()))
