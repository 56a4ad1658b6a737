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
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.analysis.chance.permutations import MOST_ROWS, TruePositives, drawn_tables
from steelyard.analysis.distributions import beta_below, beta_quantile
from steelyard.analysis.prevalence.prevalence import scores_at
from steelyard.metrics import discrimination, ranking
from steelyard.metrics.application import ClassCells, class_values, count_values, on_counts, on_scores
from steelyard.metrics.class_values import NO_MATRIX
from steelyard.metrics.metric_value import MetricValue
from steelyard.statistics.class_scores import ClassScores
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.counts import Counts
from steelyard.statistics.device_array import DeviceArray
from steelyard.statistics.score_table import ScoreTable
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
    if table.is_sparse:
        predicted = table.matrix.sum(0).astype(np.float64)
        return np.asarray(predicted / max(predicted.sum(), np.finfo(float).tiny))
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


# ---------------------------------------------------------------- random order
# What a metric of ranks scores in the mean over random orders of the same scores, ties kept.
#
# Average precision has its mean in closed form. Of the others orders are drawn, always the same ones: of the rarer
# class every row falls anywhere among the scores, and of the other class only what lies between those rows is counted.
# Where both classes are large the scores are grouped in levels. A metric of probabilities has the value of one constant
# score.


_ORDER_CELLS, _MOST_ORDERS, _LEAST_ORDERS = 24_000, 4_000, 30  # entries of all drawn tables together, and draws
_MOST_EACH = 300  # rows of the rarer class that are placed one by one; of more, the scores are grouped in levels
_MOST_SCORES = 10_000  # distinct ones that are all kept where a metric is a mean over them
_LEVELS = 300  # half of them of as many rows each, half of as many distinct scores
_MANY_ROWS = 20_000  # of the rarer class, from which on the precision of a random order is the prevalence
_SORTED_ENTRIES = 20_000  # of which all are looked at for ties; of more, as many spread evenly
# Exactly what they are with one score for all rows: linear in what is found at a depth, or an area of pairs.
_KNOWN = (
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

    def at(self, share: float) -> RandomOrder:
        """The same orders where such a share of the weight is that of positives."""
        there = scores_at(self.table, share)
        return RandomOrder(there, _constant(there), self)

    def value(self, metric: Metric) -> float | Array:
        """The mean over the orders in which the metric is defined."""
        exact: float | Array = on_scores(metric, self.constant, metric.parameters).value
        known = metric.scores in _KNOWN and metric.parameters.get("max_fpr") is None
        if known or metric.of_probabilities or np.ndim(self.table.total):
            return exact
        if (mean := self._known_mean(metric)) is not None:
            return mean
        drawn = self._at_every_score if metric.scores is discrimination.mcc_f1.scores else self._drawn
        values = np.asarray(on_scores(metric, drawn, metric.parameters).value, dtype=np.float64)
        if metric.scores is ranking.pr_auc.scores and (known_mean := self._known_mean(ranking.average_precision)):
            # The two areas differ little in any order, and one has a known mean.
            steps = on_scores(ranking.average_precision, self._drawn, {}).value
            return known_mean + float(np.mean(values - steps))
        return float(or_exact(mean_where_defined(np.atleast_1d(values)), exact))

    def _known_mean(self, metric: Metric) -> float | None:
        """The mean of the average precisions in closed form, where rows have no weights or are very many."""
        sides = [side.effective_size for side in self.table.classes]
        if self.table.weighted and min(sides) < _MANY_ROWS:
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
        """The means of the positives and of the negatives."""
        return self._average_precision(0), self._average_precision(1)

    def _average_precision(self, place: int) -> float:
        sides = self.table.classes if place == 0 else self.table.classes[::-1]
        total = float(self.table.total)
        share = float(sides[0].total) / total
        if min(side.effective_size for side in sides) >= _MANY_ROWS:
            return share
        n, p = self.table.n, sides[0].n
        sizes, ends = self._groups
        first = ends if place == 0 else n - ends + sizes
        again = (p - 1) / (n - 1)  # that another row is of the class, where one is
        # At rank r precision is 1 / r for the row itself, and that share of the r - 1 rows above and beside it.
        return float((sizes / first * (1 + (first - 1) * again)).sum() / n)

    @cached_property
    def _groups(self) -> tuple[Array, Array]:
        """The rows of each group of equal scores, and those down to its end, from the highest score on.

        Of very many entries every so-many-th is looked at: one that is alone there stands for rows without ties.
        """
        n, sides = self.table.n, self.table.classes
        among = [side.among[0] for side in sides if side.among is not None]
        scores: Array = np.asanyarray(among[0]) if among else np.concatenate([side.entries for side in sides])
        plain = all(side.given_rows is None for side in sides)
        rows = None if plain else np.concatenate([side.rows for side in sides])
        step = 1 if isinstance(scores, DeviceArray) else max(1, len(scores) // _SORTED_ENTRIES)
        looked_at = ClassScores.of_rows(scores[::step], frequency=None if rows is None else rows[::step])
        sizes = looked_at.distinct[1][::-1]
        if step > 1:
            alone = sizes == 1
            sizes = np.repeat(np.where(alone, 1, sizes * step), np.where(alone, step, 1))
        ends = np.cumsum(sizes)
        if step > 1:
            kept = int(np.searchsorted(ends, n))
            ends = np.append(ends[:kept], n)
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
        few = self.table.classes[rare].n <= _MOST_EACH
        return self._as_table(self._placed(rare) if few else self._in_levels(rare), rare)

    @cached_property
    def _at_every_score(self) -> ScoreTable:
        """The same with all distinct scores, for a mean over the points of a curve, where rows have no weights."""
        if self.base is not None:
            return scores_at(self.base._at_every_score, float(self.table.positive.total / self.table.total))  # noqa: SLF001
        sizes = np.asarray(self._groups[0])
        if self.table.weighted or len(sizes) > _MOST_SCORES:
            return self._drawn
        positives, draws = self.table.positive.n, max(_LEAST_ORDERS, 10 * _ORDER_CELLS // len(sizes))
        found = np.random.default_rng(0).multivariate_hypergeometric(sizes, positives, size=min(draws, _MOST_ORDERS))
        return self._as_table((1.0 * found, 1.0 * (sizes - found)), 0)

    def _as_table(self, both: tuple[Array, Array], rare: int) -> ScoreTable:
        """The table of drawn orders: the weight of the rare class and of the other at each score, descending."""
        scores = np.arange(both[0].shape[1], dtype=np.float64)
        weights = [np.ascontiguousarray(part[:, ::-1]) for part in (both if rare == 0 else both[::-1])]
        positive, negative = (ClassScores(scores, part, part, part) for part in weights)
        return ScoreTable(positive, negative, self.table.label)

    def _placed(self, rare: int) -> tuple[Array, Array]:
        """The weight of the rare class and of the other at the rows of the rare one and between them, descending."""
        few, other = self.table.classes[rare], self.table.classes[1 - rare]
        n, size, (sizes, ends) = self.table.n, few.n, self._groups
        draws = int(np.clip(_ORDER_CELLS // (2 * size + 1), _LEAST_ORDERS, _MOST_ORDERS))
        rng = np.random.default_rng(0)
        places = np.sort(_distinct(rng, n, size, draws), axis=1)
        weights = self._row_weights(few)
        if len(weights) != size:  # entries that stand for parts of rows
            weights = np.full(size, float(few.total) / size)
        weighed = rng.permuted(np.tile(weights, (draws, 1)), axis=1)
        if len(ends) <= places.size:  # the shorter of the two travels from a device
            sizes, ends = np.asarray(sizes), np.asarray(ends)
        group = np.searchsorted(ends, places.ravel(), side="right")
        end = np.asarray(ends[group]).reshape(places.shape)
        start = end - np.asarray(sizes[group]).reshape(places.shape)
        group = np.asarray(group).reshape(places.shape)
        first = np.ones_like(group, dtype=bool)
        first[:, 1:] = group[:, 1:] != group[:, :-1]
        # The rare rows of one group stand at its first entry.
        at = np.maximum.accumulate(np.where(first, np.arange(size), 0), axis=1) + np.arange(draws)[:, None] * size
        own = np.bincount(at.ravel(), weighed.ravel(), draws * size).reshape(draws, size)
        tied = np.bincount(at.ravel(), minlength=draws * size).reshape(draws, size)
        beside = np.where(first, end - start - tied, 0)
        ended = np.concatenate([np.zeros((draws, 1), dtype=np.int64), end[:, :-1]], 1)
        before = np.where(first, start - ended, 0)
        found, rest = (np.zeros((draws, 2 * size + 1)) for _ in range(2))
        found[:, 1::2] = own
        rest[:, 1::2], rest[:, 0:-1:2], rest[:, -1] = beside, before, n - end[:, -1]
        return found, rest * (float(other.total) / other.n)

    def _in_levels(self, rare: int) -> tuple[Array, Array]:
        """The weight of the rare class and of the other in levels, descending."""
        few, other = self.table.classes[rare], self.table.classes[1 - rare]
        n, ends = self.table.n, self._groups[1]
        by_rows = np.searchsorted(ends, np.linspace(0, n, _LEVELS // 2 + 1)[1:].astype(np.int64))
        by_groups = np.linspace(0, len(ends) - 1, _LEVELS // 2).astype(np.int64)
        at = np.unique(np.minimum(np.concatenate([np.asarray(by_rows), by_groups]), len(ends) - 1))
        sizes = np.diff(np.asarray(ends[at]), prepend=0)
        draws = _LEAST_ORDERS
        drawn = np.random.default_rng(0).multivariate_hypergeometric(sizes, few.n, size=draws)
        return drawn * (float(few.total) / few.n), (sizes - drawn) * (float(other.total) / other.n)

    @staticmethod
    def _row_weights(side: ClassScores) -> Array:
        """The weight of each row, the mean where an entry holds several."""
        rows = np.asarray(side.rows, dtype=np.int64)
        return np.repeat(np.asarray(side.weights, dtype=np.float64) / np.maximum(rows, 1), rows)


def random_order(table: ScoreTable) -> RandomOrder:
    """The random orders of a table."""
    return RandomOrder(table, _constant(table))


def _constant(table: ScoreTable) -> ScoreTable:
    """The same rows, each with the share of positives as its score."""
    share = np.array([table.positive.total / table.total])
    return ScoreTable(_level(table.positive, share), _level(table.negative, share), table.label)


def _level(side: ClassScores, score: Array) -> ClassScores:
    rows, weights = np.array([side.n]), np.array([side.total])
    return ClassScores(score, rows) if side.given_weights is None else ClassScores(score, rows, weights, weights)


def _distinct(rng: np.random.Generator, n: int, size: int, draws: int) -> Array:
    """So many draws of distinct places among n."""
    if n <= 4 * size:
        return np.asarray(rng.permuted(np.tile(np.arange(n), (draws, 1)), axis=1)[:, :size])
    places = rng.integers(0, n, (draws, size))
    while True:
        places.sort(axis=1)
        again = np.zeros_like(places, dtype=bool)
        again[:, 1:] = places[:, 1:] == places[:, :-1]
        if not again.any():
            return places
        places[again] = rng.integers(0, n, int(again.sum()))
