"""MultilabelTable: rows that may have several labels at once, or none: a stack of two-class tables of the same rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from steelyard.arguments import names_wrong_arguments
from steelyard.arrays.backend import backend_of
from steelyard.exceptions import InputError, first_ten
from steelyard.tables.class_scores import ClassScores
from steelyard.tables.counts import Counts
from steelyard.tables.probability_table import ColumnTable
from steelyard.tables.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from steelyard._types import Array, Label, Labels
    from steelyard.arrays.backend import Backend, Native

    Indicators: TypeAlias = Any  # an array, here or of booleans on a device, or a csr_array of SciPy


class IndicatorCounts(NamedTuple):
    """How often each label is true, predicted, and both: by label or by row, weighted where weights were given."""

    both: Array
    true: Array
    predicted: Array


class RowKinds(NamedTuple):
    """The four cells of rows, of which few are distinct: those, and the place among them of each row."""

    counts: Counts[Array]
    places: Array


def is_sparse(matrix: Indicators) -> bool:
    """Whether a matrix is held by its ones alone."""
    return hasattr(matrix, "tocsr")


def label_counts(true: Indicators, predicted: Indicators, weights: Array | None = None) -> IndicatorCounts:
    """The counts of each label: whole numbers without weights, floats with them.

    Either both matrices are sparse or neither is.

    >>> label_counts(np.array([[1, 0], [1, 1]]), np.array([[1, 1], [0, 1]])).both.tolist()
    [1, 1]
    """
    if is_sparse(true):
        held = (true.multiply(predicted).tocsr(), true, predicted)
        return IndicatorCounts(*(_sparse_sums(matrix, weights) for matrix in held))
    there = backend_of(true)
    t, p = there.native(true), there.native(predicted)
    column = None if weights is None else there.real(there.native(weights))
    sums: list[Any] = [0, 0, 0]
    for part in there.parts(*true.shape):
        own, other = t[part, :], p[part, :]
        matrices = (own,) if true is predicted else (own & other, own, other)
        for place, cells in enumerate(matrices):
            sums[place] += there.column_sums(cells, None if column is None else column[part])
    counts = there.brought(there.xp.stack(sums[: len(matrices)]))
    return IndicatorCounts(*np.broadcast_to(counts, (3, true.shape[1])))


def row_counts(true: Indicators, predicted: Indicators) -> IndicatorCounts:
    """The counts of each row, over its labels."""
    if is_sparse(true):
        both = true.multiply(predicted).tocsr()
        return IndicatorCounts(*(np.asarray(np.diff(held.indptr), np.int64) for held in (both, true, predicted)))
    there = backend_of(true)
    t, p = there.native(true), there.native(predicted)
    counted = []
    for part in there.parts(*true.shape):
        own, other = t[part, :], p[part, :]
        matrices = (own,) if true is predicted else (own & other, own, other)
        counted.append([there.count_true(cells, 1) for cells in matrices])
    columns = [there.kept(there.xp.concat(column)) for column in zip(*counted, strict=True)]
    return IndicatorCounts(*(columns * 3 if true is predicted else columns))


def _sparse_sums(matrix: Any, weights: Array | None) -> Array:
    """The sums of the columns of a sparse matrix of ones."""
    if weights is None:
        return np.bincount(matrix.indices, minlength=matrix.shape[1])
    spread = np.repeat(weights, np.diff(matrix.indptr))
    return np.bincount(matrix.indices, spread, minlength=matrix.shape[1])


def row_kinds(by_row: Counts[Array], labels: int) -> RowKinds:
    """The distinct ones among the cells of rows of so many labels."""
    base = labels + 1
    distinct, places = np.unique((by_row.tp * base + by_row.fn) * base + by_row.fp, return_inverse=True)
    distinct = np.asarray(distinct)
    tp, fn, fp = distinct // base**2, distinct // base % base, distinct % base
    return RowKinds(Counts.trusted(tp, fn, fp, labels - tp - fn - fp), places)


def meetings(first: Indicators, second: Indicators) -> Array:
    """In how many rows each label of the one is together with each of the other."""
    there = backend_of(first)
    xp, one, other = there.xp, there.native(first), there.native(second)
    total: Any = 0
    for part in there.parts(*first.shape):
        total = total + xp.matmul(xp.permute_dims(there.real(one[part, :]), (1, 0)), there.real(other[part, :]))
    return there.brought(total).astype(np.int64)


# ---------------------------------------------------------------- label columns


def repeated(column: Array, times: int) -> Array:
    """Each of the numbers so many times."""
    there = backend_of(column)
    native, xp = there.native(column), there.xp
    cells = xp.broadcast_to(xp.reshape(native, (-1, 1)), (len(column), times))
    each: Array = there.kept(xp.reshape(cells, (-1,)))
    return each


def two_classes(own: Array, scores: Array, weights: Iterable[Array | None], label: Label) -> ScoreTable:
    """The scores of the rows that have a label, and of the others."""
    columns = tuple(weights)
    positive, negative = (
        ClassScores.of_rows(scores[rows], *(None if column is None else column[rows] for column in columns))
        for rows in (own, ~own)
    )
    return ScoreTable(positive, negative, label)


def on_processor(values: Array | None) -> Any:
    """A column or matrix in the processor's memory; booleans as the bytes by which indicators are counted there."""
    if values is None:
        return None
    array = np.asarray(values)
    return array.view(np.uint8) if array.dtype == bool else array


def joined(mine: Indicators | None, theirs: Indicators | None, name: str) -> Indicators | None:
    """Matrices of two tables, one below the other."""
    if mine is None and theirs is None:
        return None
    if mine is None or theirs is None:
        raise InputError(f"One of the tables has no {name}, and the other has; give both the same.")
    if is_sparse(mine) or is_sparse(theirs):
        from scipy.sparse import csr_array, vstack

        return csr_array(vstack([mine, theirs]))
    return np.concatenate([mine, theirs])


def joined_weights(mine: MultilabelTable, theirs: MultilabelTable, name: str) -> Array | None:
    """The weights of two tables, of which one may have none for ones."""
    columns = [getattr(table, name) for table in (mine, theirs)]
    if all(column is None for column in columns):
        return None
    tables = zip(columns, (mine, theirs), strict=True)
    return np.concatenate(
        [np.ones(table.true.shape[0], np.int64) if column is None else column for column, table in tables]
    )


# ---------------------------------------------------------------- label ranks


_ORDERED = 1 << 22  # most cells of a part of orders, some hundred bytes each


class LabelRanks(NamedTuple):
    """An entry for each true label of each row, in the order of the rows.

    Whatever ranks labels by their scores is a sum over these entries: how many labels of the row score higher
    (`above`), or as high (`up_to`, itself included), and how many of those are true.
    """

    shape: tuple[int, int]
    row: Array
    column: Array
    above: Array
    up_to: Array
    true_above: Array
    true_up_to: Array

    @property
    def true_labels(self) -> Array:
        """How many labels each row has."""
        return np.bincount(self.row, minlength=self.shape[0])

    def row_sums(self, values: Array) -> Array:
        """The sum of a value of each entry, for each row."""
        return np.bincount(self.row, values, minlength=self.shape[0])

    def row_maxima(self, values: Array) -> Array:
        """The largest value of each row's entries, which are not negative; 0 where it has none."""
        largest: Array = backend_of(self.row).greatest_of_rows(self.row, self.column, values, self.shape)
        return largest

    def share_within(self, k: int) -> Array:
        """The probability that each entry is among the k highest of its row, ties in random order."""
        share: Array = np.clip((k - self.above) / (self.up_to - self.above), 0, 1)
        return share

    @property
    def false_up_to(self) -> Array:
        """How many labels that the row has not score as high or higher."""
        return self.up_to - self.true_up_to


def label_ranks(true: Indicators, scores: Array) -> LabelRanks:
    """The ranks of the true labels of each row.

    >>> ranks = label_ranks(np.array([[0, 1, 1]]), np.array([[0.9, 0.2, 0.9]]))
    >>> ranks.above.tolist(), ranks.up_to.tolist()
    ([2, 0], [3, 2])
    """
    there, (n, labels) = backend_of(true), true.shape
    t = true if is_sparse(true) else there.native(true)
    held = true.nnz if is_sparse(true) else int(there.xp.count_nonzero(t))
    comparisons = int(labels * max(1, held / max(1, n)))
    ranked = there.native(scores)
    parts = [_ranks(there, _dense(t[part, :]), ranked[part, :], part.start) for part in there.parts(n, comparisons)]
    columns = [there.kept(there.xp.concat(column)) for column in zip(*parts, strict=True)]
    return LabelRanks((n, labels), *columns)


def _dense(part: Indicators) -> Native:
    return part.toarray() if is_sparse(part) else part


def _ranks(there: Backend, true: Native, scores: Native, start: int) -> list[Native]:
    """The entries of some rows, of which the first is the given one; a device keeps them narrow, as they are many."""
    xp, held = there.xp, there.booleans(true)
    row, column = xp.nonzero(held)
    own = xp.reshape(there.take(xp.reshape(scores, (-1,)), row * held.shape[1] + column), (-1, 1))
    others, truth = there.take(scores, row), there.take(held, row)
    higher, as_high = others > own, others >= own
    counts = [there.count_true(which, 1) for which in (higher, as_high, higher & truth, as_high & truth)]
    kind = xp.int32 if there.is_device else xp.int64
    return [xp.astype(each, kind, copy=False) for each in (row + start, column, *counts)]


def row_orders(true: Indicators, scores: Array) -> Iterator[ScoreTable]:
    """The order of each row's labels as a table of two classes: a row is a draw of weights over the places.

    Places in the order of the scores, from the lowest; labels of equal scores share one.
    """
    there = backend_of(true)
    t, ranked = true if is_sparse(true) else there.native(true), there.native(scores)
    for part in there.parts(true.shape[0], true.shape[1], _ORDERED):
        places = np.arange(true.shape[1], dtype=np.float64)
        sides = (there.column(side) for side in _orders(there, _dense(t[part, :]), ranked[part, :]))
        positive, negative = (ClassScores(places, side, side, side) for side in sides)
        yield ScoreTable(positive, negative)


def _orders(there: Backend, true: Native, scores: Native) -> tuple[Native, Native]:
    """How many labels that each of some rows has, and that it has not, are at each place of its order."""
    xp, (n, labels) = there.xp, true.shape
    row = xp.reshape(xp.arange(n, device=there.device) * labels, (-1, 1))
    order = xp.reshape(xp.argsort(scores, axis=1) + row, (-1,))
    ascending = xp.reshape(there.take(xp.reshape(scores, (-1,)), order), (n, labels))
    rises = xp.astype(ascending[:, 1:] != ascending[:, :-1], xp.int64)
    first = xp.zeros((n, 1), dtype=xp.int64, device=there.device)
    steps = there.running_sums(xp.concat([first, rises], axis=1), 1)
    places = xp.reshape(steps + row, (-1,))
    own = xp.astype(there.take(xp.reshape(there.booleans(true), (-1,)), order), xp.int64)
    positive, negative = (
        there.real(xp.reshape(there.code_sums(places, n * labels, each), (n, labels))) for each in (own, 1 - own)
    )
    return positive, negative


# ---------------------------------------------------------------- label imbalance


@dataclass(frozen=True, eq=False)
class LabelImbalance:
    """The imbalance of labels; what weights rows have is counted.

    `ratios` is the imbalance ratio of each label (IRLbl): the commonest label's rows over its own, infinite where no
    row has it; `mean_ratio` (MeanIR) and their coefficient of variation, `variation` (CVIR), are over the labels that
    occur. `cardinality` is the mean number of labels of a row, `density` that over all labels, `distinct_sets` the
    number of different sets of labels.

    >>> from steelyard.tables import multilabel
    >>> imbalance = multilabel([[1, 0], [1, 1], [1, 0]], [[1, 0], [1, 0], [1, 0]]).imbalance
    >>> imbalance.ratios.tolist(), imbalance.mean_ratio, imbalance.distinct_sets
    ([1.0, 3.0], 2.0, 2)
    """

    labels: Labels
    ratios: Array
    mean_ratio: float
    variation: float
    cardinality: float
    density: float
    distinct_sets: int


def label_imbalance(labels: Labels, true: Indicators, positives: Array, total: float) -> LabelImbalance:
    """The imbalance of the labels of rows, by the weight of the rows that have each and of all."""
    weight = np.asarray(positives, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(weight > 0, weight.max(initial=0) / weight, math.inf)
    finite = ratios[np.isfinite(ratios)]
    mean = float(finite.mean()) if len(finite) else math.nan
    spread = float(finite.std(ddof=1)) / mean if len(finite) > 1 else math.nan
    cardinality = float(weight.sum() / total) if total else math.nan
    return LabelImbalance(labels, ratios, mean, spread, cardinality, cardinality / len(labels), distinct_sets(true))


def distinct_sets(true: Indicators) -> int:
    """How many different sets of labels the rows have.

    A sum of random 64-bit numbers of the labels stands for a set: two sets share one with probability 2^-64.
    """
    keys = np.random.default_rng(0).integers(-(2**63), 2**63, true.shape[1])
    if is_sparse(true):
        running = np.append(0, np.cumsum(keys[true.indices]))
        return len(np.unique(running[true.indptr[1:]] - running[true.indptr[:-1]]))
    there, matrix = backend_of(true), backend_of(true).native(true)
    xp, own = there.xp, there.native(keys)
    none = xp.zeros_like(own)
    sums = [xp.sum(xp.where(there.booleans(matrix[part, :]), own, none), axis=1) for part in there.parts(*true.shape)]
    return int(there.unique_counts(xp.concat(sums))[0].shape[0])


# ---------------------------------------------------------------- multilabel table


_TOGETHER = 8  # labels whose columns are read in one pass
_MOST_KEPT = 1 << 26  # scores on a device, of which the order is kept there for the next question


@dataclass(frozen=True, eq=False, repr=False)
class MultilabelTable:
    """True labels of each row, and those predicted, their scores, or both; tables of other rows merge with `+`.

    `true` and `predicted` have a row for each row and a column for each label, dense or sparse alike; `scores` are
    dense. On a device all of them are dense, and stay there. The labels of one row are not independent of each other,
    so what is drawn for an interval are rows.

    >>> table = MultilabelTable(("a", "b"), np.array([[1, 0], [1, 1]]), np.array([[1, 1], [0, 1]]))
    >>> table
    <MultilabelTable of 2 rows, 2 labels>
    >>> table.by_label.tp.tolist(), table.by_row.tp.tolist()
    ([1, 1], [1, 1])
    """

    labels: Labels
    true: Indicators
    predicted: Indicators | None = None
    scores: Array | None = None
    sample_weight: Array | None = None
    frequency: Array | None = None

    @property
    def n(self) -> int:
        """The rows counted."""
        return self.true.shape[0] if self.frequency is None else int(self.frequency.sum())

    @cached_property
    def weights(self) -> Array | None:
        """The weight of each row: its sample weight as often as it counts; None where every row counts once."""
        if self.sample_weight is None:
            return self.frequency
        return self.sample_weight if self.frequency is None else self.sample_weight * self.frequency

    @cached_property
    def row_weights(self) -> Array:
        """The same as floats, where the rows are, and ones where every row counts once."""
        weights: Array = backend_of(self.true).ones(self.true.shape[0]) if self.weights is None else self.weights
        return weights.astype(np.float64, copy=False)

    @cached_property
    def by_label(self) -> Counts[Array]:
        """The four cells of each label, weighted."""
        total = self.true.shape[0] if self.weights is None else self.weights.sum()
        return _cells(label_counts(self.true, self._predictions, self.weights), total)

    @cached_property
    def by_row(self) -> Counts[Array]:
        """The four cells of each row over its labels, unweighted."""
        return _cells(row_counts(self.true, self._predictions), len(self.labels))

    @cached_property
    def row_kinds(self) -> RowKinds:
        """The distinct ones among the cells of the rows, and which of them each row has."""
        return row_kinds(self.by_row, len(self.labels))

    @property
    def _predictions(self) -> Indicators:
        if self.predicted is None:
            raise InputError("These rows have scores and no predicted labels; give y_pred, or a threshold.")
        return self.predicted

    @cached_property
    def positives(self) -> Array:
        """The weight of the rows that have each label."""
        return label_counts(self.true, self.true, self.weights).true

    @cached_property
    def true_labels(self) -> Array:
        """How many labels each row has."""
        return row_counts(self.true, self.true).true

    @cached_property
    def ranks(self) -> LabelRanks:
        """Where the true labels of each row stand among its scores."""
        if self.scores is None:
            raise InputError("These rows have predicted labels and no scores; give y_score.")
        return label_ranks(self.true, self.scores)

    @cached_property
    def imbalance(self) -> LabelImbalance:
        """How unequally often the labels occur: the imbalance ratio of each, their mean, cardinality and density."""
        total = self.true.shape[0] if self.weights is None else float(self.weights.sum())
        return label_imbalance(self.labels, self.true, self.positives, total)

    @names_wrong_arguments
    def true_column(self, place: int) -> Array:
        """Which rows have a label."""
        if not 0 <= place < len(self.labels):
            raise InputError(f"There are {len(self.labels)} labels, numbered from 0; there is none numbered {place}.")
        column: Any = self.true[:, [place]].toarray() if is_sparse(self.true) else self.true[:, place]
        own: Array = column.ravel().astype(bool)
        return own

    def score_table(self, label: Label) -> ScoreTable:
        """The scores of one label, by whether a row has it."""
        place = self.place(label)
        if place not in self._score_tables:
            if backend_of(self.true).is_device and len(self._score_tables) * len(self.true) > _MOST_KEPT:
                self._score_tables.clear()
            assert self.scores is not None  # noqa: S101 - asked before
            columns = (self.sample_weight, self.frequency)
            own, scores = self._columns(place)
            self._score_tables[place] = two_classes(own, scores, columns, label)
        return self._score_tables[place]

    def _columns(self, place: int) -> tuple[Array, Array]:
        """Which rows have a label, and its scores; read of some labels at a time, which lie together in memory."""
        assert self.scores is not None  # noqa: S101 - asked before
        start = place - place % _TOGETHER
        columns = self._last_columns.get(start)
        if columns is None:
            part = slice(start, start + _TOGETHER)
            self._last_columns.clear()
            held = self.true[:, part].toarray() if is_sparse(self.true) else self.true[:, part]
            there = backend_of(held)
            columns = there.transposed(held, bool), there.transposed(self.scores[:, part], np.float64)
            self._last_columns[start] = columns
        own, scores = columns
        return own[place - start], scores[place - start]

    @cached_property
    def _last_columns(self) -> dict[int, tuple[Array, ...]]:
        return {}

    @cached_property
    def _score_tables(self) -> dict[int, ScoreTable]:
        return {}

    def column_table(self, place: int) -> ColumnTable:
        """The scores of one label with the places of the rows that have it and of those that have not."""
        assert self.scores is not None  # noqa: S101 - asked before
        own, label = self.true_column(place), self.labels[place]
        rows = (np.flatnonzero(own), np.flatnonzero(~own))
        share = float(self.positives[place])
        return ColumnTable(label, self.score_table(label), self.scores[:, place], rows, rows[:1], share, place)

    @names_wrong_arguments
    def of_labels(self, places: Sequence[int]) -> MultilabelTable:
        """The same rows with some of the labels."""
        columns: dict[str, Any] = {
            name: None if (given := getattr(self, name)) is None else given[:, list(places)]
            for name in ("true", "predicted", "scores")
        }
        return replace(self, labels=tuple(self.labels[place] for place in places), **columns)

    @names_wrong_arguments
    def of_rows(self, rows: Array | slice) -> MultilabelTable:
        """Some of the rows."""
        names = ("true", "predicted", "scores", "sample_weight", "frequency")
        columns: dict[str, Any] = {
            name: None if (given := getattr(self, name)) is None else given[rows] for name in names
        }
        return replace(self, **columns)

    def on_host(self) -> MultilabelTable:
        """The same with every array in the processor's memory."""
        if not backend_of(self.true).is_device:
            return self
        names = ("true", "predicted", "scores", "sample_weight", "frequency")
        return replace(self, **{name: on_processor(getattr(self, name)) for name in names})

    @cached_property
    def pooled_scores(self) -> ScoreTable:
        """The scores of all labels of all rows as one table, each a row of its own."""
        return self.pooled_table().table

    def pooled_table(self) -> ColumnTable:
        """The scores of all labels of all rows, with the places of those whose label the row has and of the others."""
        assert self.scores is not None  # noqa: S101 - asked before
        true = self.true.toarray() if is_sparse(self.true) else self.true
        given, times = (self.sample_weight, self.frequency), len(self.labels)
        columns = (None if column is None else repeated(column, times) for column in given)
        own, scores = true.reshape(-1).astype(bool), self.scores.reshape(-1)
        cells, table = (np.flatnonzero(own), np.flatnonzero(~own)), two_classes(own, scores, columns, None)
        return ColumnTable("all labels", table, scores, cells, cells[:1], float(np.sum(self.positives)), 0)

    @names_wrong_arguments
    def place(self, label: Label) -> int:
        """The column of a label."""
        if label in self.labels:
            return self.labels.index(label)
        alike = [place for place, each in enumerate(self.labels) if str(each) == str(label)]  # "3" of a column's name
        if len(alike) != 1:
            raise InputError(f"There is no label {label!r} among {first_ten(self.labels)}.")
        return alike[0]

    def __add__(self, other: object) -> MultilabelTable:
        if not isinstance(other, MultilabelTable):
            return NotImplemented
        if self.labels != other.labels:
            raise InputError(
                f"The tables have different labels, {first_ten(self.labels)} and {first_ten(other.labels)}."
            )
        columns: dict[str, Any] = {
            name: joined(getattr(self, name), getattr(other, name), name) for name in ("true", "predicted", "scores")
        }
        weights: dict[str, Any] = {name: joined_weights(self, other, name) for name in ("sample_weight", "frequency")}
        return replace(self, **columns, **weights)

    def __reduce__(self) -> tuple[Any, ...]:
        here = self.on_host()  # arrays of a device are sent nowhere
        return MultilabelTable, tuple(getattr(here, each.name) for each in fields(here))

    def __repr__(self) -> str:
        return f"<MultilabelTable of {self.n:,} rows, {len(self.labels):,} labels>"


def _cells(counts: IndicatorCounts, total: float) -> Counts[Array]:
    both, true, predicted = counts
    rest = np.maximum(total - true - predicted + both, 0)  # of weights rounding may leave less than nothing
    return Counts.trusted(both, np.maximum(true - both, 0), np.maximum(predicted - both, 0), rest)
