"""MultilabelTable: rows that may have several labels at once, or none: a stack of two-class tables of the same rows."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.arguments import names_wrong_arguments
from steelyard.exceptions import InputError, first_ten
from steelyard.statistics.backend import backend_of
from steelyard.statistics.counts import Counts
from steelyard.statistics.indicators import RowKinds, is_sparse, label_counts, row_counts, row_kinds
from steelyard.statistics.label_columns import joined, joined_weights, on_processor, repeated, two_classes
from steelyard.statistics.label_imbalance import label_imbalance
from steelyard.statistics.label_ranks import label_ranks
from steelyard.statistics.probability_table import ColumnTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array, Label, Labels
    from steelyard.statistics.indicators import IndicatorCounts, Indicators
    from steelyard.statistics.label_imbalance import LabelImbalance
    from steelyard.statistics.label_ranks import LabelRanks
    from steelyard.statistics.score_table import ScoreTable

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
