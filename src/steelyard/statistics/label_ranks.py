"""LabelRanks: where each true label of a row stands among all labels of the row by their scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.statistics.class_scores import ClassScores
from steelyard.statistics.device_array import DeviceArray
from steelyard.statistics.device_label_ranks import device_label_ranks, device_row_orders
from steelyard.statistics.indicators import is_sparse
from steelyard.statistics.score_order import chunks
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard._types import Array
    from steelyard.statistics.indicators import Indicators

_CELLS = 1 << 19  # of a chunk of comparisons: it stays in the processor's cache


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
        if isinstance(values, DeviceArray):
            cells = self.row * self.shape[1] + self.column
            by_cell: Array = np.bincount(cells, values, minlength=self.shape[0] * self.shape[1]).reshape(self.shape)
            return by_cell.max(1)
        largest = np.zeros(self.shape[0])
        np.maximum.at(largest, self.row, values)
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
    n, labels = true.shape
    if isinstance(true, DeviceArray):
        return LabelRanks((n, labels), *device_label_ranks(true, scores))  # type: ignore[arg-type]  # both there
    held = true.nnz if is_sparse(true) else int(np.count_nonzero(true))
    step = max(1, int(_CELLS // max(1, labels * max(1, held / max(1, n)))))
    parts = [_ranks(true[part], scores[part], part.start) for part in chunks(n, step)]
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return LabelRanks((n, labels), *columns)


def _ranks(true: Indicators, scores: Array, start: int) -> tuple[Array, ...]:
    """The entries of some rows, of which the first is the given one."""
    held = (true.toarray() if is_sparse(true) else true) != 0
    row, column = np.nonzero(held)
    others, own = scores[row], scores[row, column][:, None]
    higher, as_high, truth = others > own, others >= own, held[row]
    counts = [np.count_nonzero(which, axis=1) for which in (higher, as_high, higher & truth, as_high & truth)]
    return (row + start, column, *counts)


def row_orders(true: Indicators, scores: Array) -> Iterator[ScoreTable]:
    """The order of each row's labels as a table of two classes: a row is a draw of weights over the places.

    Places in the order of the scores, from the lowest; labels of equal scores share one.
    """
    if isinstance(true, DeviceArray):
        for sides in device_row_orders(true, scores):  # type: ignore[arg-type]  # both there
            yield _table_of_places(*sides)
        return
    n, labels = true.shape
    for part in chunks(n, max(1, _CELLS // max(1, labels))):
        held = true[part].toarray() if is_sparse(true) else true[part]
        yield _places(held != 0, scores[part])


def _places(held: Array, scores: Array) -> ScoreTable:
    order = np.argsort(scores, axis=1)
    ascending = np.take_along_axis(scores, order, 1)
    place = np.zeros(scores.shape, dtype=np.int64)
    np.put_along_axis(place, order[:, 1:], (ascending[:, 1:] != ascending[:, :-1]).cumsum(1), 1)
    flat = (place + np.arange(len(scores))[:, None] * scores.shape[1]).reshape(-1)
    sides = (np.bincount(flat, own.reshape(-1), minlength=scores.size).reshape(scores.shape) for own in (held, ~held))
    return _table_of_places(*sides)


def _table_of_places(*sides: Array) -> ScoreTable:
    """The table of how many labels that each row has, and how many that it has not, are at each place."""
    places = np.arange(sides[0].shape[1], dtype=np.float64)
    positive, negative = (ClassScores(places, side, side, side) for side in sides)
    return ScoreTable(positive, negative)
