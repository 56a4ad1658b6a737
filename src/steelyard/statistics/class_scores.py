"""ClassScores: the scores of one class in order, with the rows and the weight of each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.statistics import score_order
from steelyard.statistics.backend import backend_of, one_each, taken
from steelyard.statistics.effective_rows import check_squares, weight_per_row
from steelyard.statistics.pickled_fields import PickledFields
from steelyard.statistics.threads import in_threads

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard._types import Array


@dataclass(frozen=True, eq=False)
class ClassScores(PickledFields):
    """The scores of one class, with the rows and the weight of each entry; sorted when the order is asked for.

    Where every entry is one row, `given_rows` is None; where weights are rows, so are `given_weights` and
    `given_squares`. Entries that have weights are given in ascending order. A class that is only counted around the
    scores of a rare other one is never copied: `given_scores` then makes the copy when needed, and `among` holds all
    scores and the other class. The scores of a table for a `single_use` may be sorted where they are.
    """

    given_scores: Array | Callable[[], Array]
    given_rows: Array | None = None
    given_weights: Array | None = None
    given_squares: Array | None = None
    ascending: bool = True
    among: tuple[Array, ClassScores] | None = None
    single_use: bool = False

    @classmethod
    def of_rows(cls, scores: Array, sample_weight: Array | None = None, frequency: Array | None = None) -> ClassScores:
        """The scores of the rows of one class, in any order; a row of no weight is as good as absent."""
        if sample_weight is None and frequency is None:
            return cls(scores, ascending=False)
        rows = one_each(scores) if frequency is None else frequency
        weights = rows if sample_weight is None else sample_weight * rows
        order = np.argsort(scores, kind="stable")
        order = order if weights.all() else order[weights[order] > 0]
        if sample_weight is None:
            return cls(scores[order], rows[order])
        with np.errstate(over="ignore", under="ignore"):  # which `squares` refuses, and no value needs
            squares = sample_weight * weights
        return cls(scores[order], rows[order], weights[order], squares[order])

    @cached_property
    def entries(self) -> Array:
        """The scores, one an entry."""
        return self.given_scores() if callable(self.given_scores) else self.given_scores

    @property
    def rows(self) -> Array:
        """The rows of each entry."""
        return one_each(self.scores) if self.given_rows is None else self.given_rows

    @property
    def weights(self) -> Array:
        """The sum of the weights of each entry's rows; their number where they have none."""
        return self.rows if self.given_weights is None else self.given_weights

    @property
    def squares(self) -> Array:
        """The sum of the squared weights of each entry's rows; their number where they have none."""
        if self.given_squares is not None and self.given_squares.ndim == 1 and np.any(self.total):
            check_squares(self.given_squares)
        return self._squares

    @property
    def _squares(self) -> Array:
        return self.rows if self.given_squares is None else self.given_squares

    @cached_property
    def size(self) -> int:
        """The number of entries."""
        if self.among:
            return len(self.among[0]) - self.among[1].size
        return len(self.given_scores)  # type: ignore[arg-type]  # a function without a length has `among`

    @cached_property
    def scores(self) -> Array:
        """The entries in ascending order."""
        if self.ascending:
            return self.entries
        # In place only for the single question of one caller: other threads may be reading a table that is kept.
        ordered: Array = backend_of(self.entries).sorted(self.entries, is_own=self.single_use)
        return ordered

    @property
    def entry_weights(self) -> Array | None:
        """The weight of each entry; None where it is 1."""
        return self.given_rows if self.given_weights is None else self.given_weights

    @cached_property
    def total(self) -> Any:
        """The weight of the class; an array where the weights have an axis of draws before that of the entries."""
        if self.entry_weights is None:
            return self.size
        last = self._running[..., -1]  # not weights.sum(), which rounds otherwise: an area could leave [0, 1]
        return last.item() if last.ndim == 0 else last

    @cached_property
    def n(self) -> int:
        """The rows of the class."""
        return self.size if self.given_rows is None else int(self.given_rows.sum())

    @property
    def effective_size(self) -> float:
        """The effective sample size (Kish): as many equally weighted rows are worth the same; else the rows."""
        if self.given_squares is None or not self.total:
            return float(self.n if self.total else 0)
        check_squares(self.given_squares)
        return float(self.total / weight_per_row(self.total, self.given_squares.sum()))

    def below(self, thresholds: Array) -> Array:
        """The weight of the scores below each threshold, in any order."""
        return self._cumulated(np.searchsorted(self.scores, thresholds, side="left"))

    def below_each(self, few: Array) -> Array:
        """The weight of the scores below each of some distinct ascending ones."""
        return self._around(few, ties=False)[0]

    def around_each(self, few: Array) -> tuple[Array, Array]:
        """The weight of the scores below each of some distinct ascending ones, and of those at or below it."""
        return self._around(few, ties=True)

    def summed_around(self, few: Array, worth: Callable[[slice, Array, Array], Any]) -> Any:
        """The sum of a function of both part by part, each with its slice of the few: what is summed need not be held.

        The parts are placed by several threads.
        """
        if self._unsorted_serves(few) or self._placed(few) is not None or len(few) <= score_order.PART:
            return worth(slice(None), *self.around_each(few))
        # In order: a part may be few where all of them are not.
        _ = self.scores, self.total  # before several threads ask for them
        placed = lambda part: worth(part, *self._around_in_order(few[part], ties=True))  # noqa: E731 - used once
        return sum(in_threads(placed, backend_of(few).chunks(len(few), score_order.PART)))

    def _unsorted_serves(self, few: Array) -> bool:
        if self.ascending or "scores" in self.__dict__:
            return False
        if backend_of(self.given_scores if self.among is None else self.among[0]).is_device:
            return self.among is not None  # those asked about are found by equality, so they must be among all
        return 0 < score_order.MANY_TIMES * len(few) <= self.size

    def _around(self, few: Array, ties: bool) -> tuple[Array, Array]:
        if not self._unsorted_serves(few):
            return self._around_in_order(few, ties)
        scores = self.entries if self.among is None else self.among[0]
        below, up_to = backend_of(scores).around_unsorted(few, scores)
        if self.among is None:
            return below, up_to
        lower, upper = self.among[1].around_each(few)
        return below - lower, up_to - upper

    def _around_in_order(self, few: Array, ties: bool) -> tuple[Array, Array]:
        own = self.compact() if "_compact" in self.__dict__ and self.given_weights is None else self
        if few is own.scores and own.compact() is own:  # as in draws of one table, which share their scores
            return (starts := own.running_or_places)[..., :-1], starts[..., 1:]
        there = backend_of(few, self.scores)
        lower, upper = self._placed(few) or (there.below(few, self.scores), None)
        if ties and upper is None:
            upper = there.up_to(few, self.scores, lower)
        self.__dict__["_last_placed"] = few, (lower, upper)
        lower_weight = self._cumulated(lower)
        return lower_weight, lower_weight if upper is None else self._cumulated(upper)

    def _placed(self, few: Array) -> tuple[Array, Array | None] | None:
        """The places of the last scores asked about, if these are they: the metrics of one table ask about the same."""
        last_few, places = self.__dict__.get("_last_placed", (None, None))
        return places if last_few is few else None

    def _cumulated(self, places: Array) -> Array:
        return places if self.entry_weights is None else taken(self._running, places)

    @property
    def running_or_places(self) -> Array:
        """The weight below each entry, and of all."""
        return np.arange(self.size + 1) if self.entry_weights is None else self._running

    @cached_property
    def _running(self) -> Array:
        return starting_at_zero(np.cumsum(self.weights, axis=-1))

    @cached_property
    def distinct(self) -> tuple[Array, Array]:
        """The distinct scores, ascending, and the weight of each."""
        return (compact := self.compact()).scores, compact.weights

    @property
    def weight_from_each(self) -> Array:
        """The weight at or above each distinct score."""
        compact = self.compact()
        if compact.entry_weights is None:  # one row each, which need not be summed
            return np.arange(compact.size, 0, -1)
        return np.cumsum(compact.weights[..., ::-1], -1)[..., ::-1]

    def compact(self) -> ClassScores:
        """The same with one entry for each distinct score."""
        return self if self._compact is None else self._compact

    @cached_property
    def _compact(self) -> ClassScores | None:
        """That, or None where every score is distinct: an object that holds itself is not freed at once."""
        if self.given_rows is None and (there := backend_of(self.entries)).is_device:  # without a sort of its own
            return ClassScores(*there.distinct(self.entries))
        rises = self.scores[1:] != self.scores[:-1]
        if rises.all():
            return None
        starts = np.append(0, np.flatnonzero(rises) + 1)
        if self.given_rows is None:
            return ClassScores(self.scores[starts], np.diff(np.append(starts, len(self.scores))))
        return self._mapped(self.scores[starts], lambda column: np.add.reduceat(column, starts, axis=-1))

    def detached(self) -> ClassScores:
        """The same with a copy of its own, whatever becomes of the arrays it was made from."""
        if self.single_use and backend_of(self.entries).is_device:
            return self.compact()
        return ClassScores(self.entries, ascending=False) if self.single_use else self

    def negated(self) -> ClassScores:
        """The scores with their sign turned, and so their order."""
        return self._mapped(-self.scores[::-1], lambda column: column[..., ::-1])

    def moved(self, scores: Array) -> ClassScores:
        """The same rows at other scores, given in the same order."""
        return self._mapped(scores, lambda column: column)

    def scaled_by_two(self, exponent: int) -> ClassScores:
        """The same with every weight times a power of two."""
        weights, squares = np.ldexp(self.weights, exponent), np.ldexp(self._squares, 2 * exponent)
        return ClassScores(self.scores, self.rows, weights, squares)

    def _mapped(self, scores: Array, change: Callable[[Array], Array]) -> ClassScores:
        columns = (self.given_rows, self.given_weights, self.given_squares)
        rows, weights, squares = (None if column is None else change(column) for column in columns)
        return ClassScores(scores, rows, weights, squares)

    def __add__(self, other: ClassScores) -> ClassScores:
        if self.given_rows is None and other.given_rows is None:
            return ClassScores(np.concatenate([self.entries, other.entries]), ascending=False)
        scores = np.concatenate([self.scores, other.scores])
        order = np.argsort(scores, kind="stable")
        rows = np.concatenate([self.rows, other.rows])[order]
        if self.given_weights is None and other.given_weights is None:
            return ClassScores(scores[order], rows).compact()
        weights = np.concatenate([self.weights, other.weights])[order]
        squares = np.concatenate([self._squares, other._squares])[order]
        return ClassScores(scores[order], rows, weights, squares).compact()


def starting_at_zero(running: Array) -> Array:
    """Running sums with the 0 they start from, on the last axis."""
    return np.concatenate([np.zeros((*running.shape[:-1], 1), dtype=running.dtype), running], -1)
