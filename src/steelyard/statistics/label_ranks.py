"""LabelRanks: where each true label of a row stands among all labels of the row by their scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.statistics.backend import backend_of
from steelyard.statistics.class_scores import ClassScores
from steelyard.statistics.indicators import is_sparse
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard._types import Array
    from steelyard.statistics.backend import Backend, Native
    from steelyard.statistics.indicators import Indicators

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
