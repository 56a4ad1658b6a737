"""MultilabelTable: rows that may have several labels at once, or none: a stack of two-class tables of the same rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.exceptions import InputError, first_ten
from steelyard.statistics.class_scores import ClassScores
from steelyard.statistics.counts import Counts
from steelyard.statistics.indicators import is_sparse, label_counts, row_counts
from steelyard.statistics.label_imbalance import label_imbalance
from steelyard.statistics.label_ranks import label_ranks
from steelyard.statistics.probability_table import ColumnTable
from steelyard.statistics.score_order import chunks
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from steelyard._types import Array, Label, Labels
    from steelyard.statistics.indicators import IndicatorCounts, Indicators
    from steelyard.statistics.label_imbalance import LabelImbalance
    from steelyard.statistics.label_ranks import LabelRanks

_TOGETHER = 8  # labels whose columns are read in one pass


@dataclass(frozen=True, eq=False, repr=False)
class MultilabelTable:
    """True labels of each row, and those predicted, their scores, or both; tables of other rows merge with `+`.

    `true` and `predicted` have a row for each row and a column for each label, dense or sparse alike; `scores` are
    dense. The labels of one row are not independent of each other, so what is drawn for an interval are rows.

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
    def by_label(self) -> Counts[Array]:
        """The four cells of each label, weighted."""
        total = self.true.shape[0] if self.weights is None else self.weights.sum()
        return _cells(label_counts(self.true, self._predictions, self.weights), total)

    @cached_property
    def by_row(self) -> Counts[Array]:
        """The four cells of each row over its labels, unweighted."""
        return _cells(row_counts(self.true, self._predictions), len(self.labels))

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

    def true_column(self, place: int) -> Array:
        """Which rows have a label."""
        column: Any = self.true[:, [place]].toarray() if is_sparse(self.true) else self.true[:, place]
        return np.asarray(np.ravel(column) != 0)

    def score_table(self, label: Label) -> ScoreTable:
        """The scores of one label, by whether a row has it."""
        place = self.place(label)
        if place not in self._score_tables:
            assert self.scores is not None  # noqa: S101 - asked before
            columns = (self.sample_weight, self.frequency)
            own, scores = self._columns(place)
            self._score_tables[place] = _two_classes(own, scores, columns, label)
        return self._score_tables[place]

    def _columns(self, place: int) -> tuple[Array, Array]:
        """Which rows have a label, and its scores; read of some labels at a time, which lie together in memory."""
        assert self.scores is not None  # noqa: S101 - asked before
        start = place - place % _TOGETHER
        columns = self._last_columns.get(start)
        if columns is None:
            part = slice(start, start + _TOGETHER)
            held = self.true[:, part].toarray() if is_sparse(self.true) else self.true[:, part]
            columns = _transposed(held, bool), _transposed(self.scores[:, part], np.float64)
            self._last_columns.clear()
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

    def of_labels(self, places: Sequence[int]) -> MultilabelTable:
        """The same rows with some of the labels."""
        columns: dict[str, Any] = {
            name: None if (given := getattr(self, name)) is None else given[:, list(places)]
            for name in ("true", "predicted", "scores")
        }
        return replace(self, labels=tuple(self.labels[place] for place in places), **columns)

    def of_rows(self, rows: Array | slice) -> MultilabelTable:
        """Some of the rows."""
        names = ("true", "predicted", "scores", "sample_weight", "frequency")
        columns: dict[str, Any] = {
            name: None if (given := getattr(self, name)) is None else given[rows] for name in names
        }
        return replace(self, **columns)

    @cached_property
    def pooled_scores(self) -> ScoreTable:
        """The scores of all labels of all rows as one table, each a row of its own."""
        return self.pooled_table().table

    def pooled_table(self) -> ColumnTable:
        """The scores of all labels of all rows, with the places of those whose label the row has and of the others."""
        assert self.scores is not None  # noqa: S101 - asked before
        true = self.true.toarray() if is_sparse(self.true) else self.true
        given, times = (self.sample_weight, self.frequency), len(self.labels)
        columns = (None if column is None else np.repeat(column, times) for column in given)
        own, scores = true.reshape(-1) != 0, self.scores.reshape(-1)
        cells, table = (np.flatnonzero(own), np.flatnonzero(~own)), _two_classes(own, scores, columns, None)
        return ColumnTable("all labels", table, scores, cells, cells[:1], float(np.sum(self.positives)), 0)

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
            name: _joined(getattr(self, name), getattr(other, name), name) for name in ("true", "predicted", "scores")
        }
        weights: dict[str, Any] = {name: _joined_weights(self, other, name) for name in ("sample_weight", "frequency")}
        return replace(self, **columns, **weights)

    def __repr__(self) -> str:
        return f"<MultilabelTable of {self.n:,} rows, {len(self.labels):,} labels>"


def _transposed(matrix: Array, dtype: type) -> Array:
    """The columns of a matrix as rows; copied in parts that stay in the cache: 65 ms against 170 for 1e6 x 20."""
    columns = np.empty(matrix.shape[::-1], dtype)
    for part in chunks(len(matrix)):
        columns[:, part] = matrix[part].T
    return columns


def _two_classes(own: Array, scores: Array, weights: Iterable[Array | None], label: Label) -> ScoreTable:
    """The scores of the rows that have a label, and of the others."""
    columns = tuple(weights)
    positive, negative = (
        ClassScores.of_rows(scores[rows], *(None if column is None else column[rows] for column in columns))
        for rows in (own, ~own)
    )
    return ScoreTable(positive, negative, label)


def _cells(counts: IndicatorCounts, total: float) -> Counts[Array]:
    both, true, predicted = counts
    rest = np.maximum(total - true - predicted + both, 0)  # of weights rounding may leave less than nothing
    return Counts.trusted(both, np.maximum(true - both, 0), np.maximum(predicted - both, 0), rest)


def _joined(mine: Indicators | None, theirs: Indicators | None, name: str) -> Indicators | None:
    if mine is None and theirs is None:
        return None
    if mine is None or theirs is None:
        raise InputError(f"One of the tables has no {name}, and the other has; give both the same.")
    if is_sparse(mine) or is_sparse(theirs):
        from scipy.sparse import csr_array, vstack

        return csr_array(vstack([mine, theirs]))
    return np.concatenate([mine, theirs])


def _joined_weights(mine: MultilabelTable, theirs: MultilabelTable, name: str) -> Array | None:
    columns = [getattr(table, name) for table in (mine, theirs)]
    if all(column is None for column in columns):
        return None
    tables = zip(columns, (mine, theirs), strict=True)
    return np.concatenate(
        [np.ones(table.true.shape[0], np.int64) if column is None else column for column, table in tables]
    )
