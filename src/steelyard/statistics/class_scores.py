"""Side: the scores of one class in order, with their weights. Used by ScoreTable, and by what draws or moves scores."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.statistics import score_order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from steelyard._types import Array

_COLUMNS = ("rows", "weights", "squares")
_RARE = 32  # how many times larger a class is worth not sorting, when the other asks where it stands in it


@dataclass(frozen=True, eq=False)
class Side:
    """The scores of one class, with the rows and the weight of each entry; sorted when the order is asked for.

    Where every entry is one row, `rows` is None; where weights are rows, so are `weights` and `squares`. Entries
    that have weights are given in ascending order. A class that is only counted around the scores of a rare other
    one is never copied: `given` then makes the copy when needed, and `among` holds all scores and the other class.
    """

    given: Array | Callable[[], Array]
    rows: Array | None = None
    weights: Array | None = None
    squares: Array | None = None
    ascending: bool = True
    among: tuple[Array, Side] | None = None
    passing: bool = False

    @cached_property
    def entries(self) -> Array:
        """The scores, one an entry."""
        return self.given() if callable(self.given) else self.given

    @cached_property
    def size(self) -> int:
        """The number of entries."""
        return len(self.among[0]) - self.among[1].size if self.among else len(self.entries)

    @cached_property
    def scores(self) -> Array:
        """The entries in ascending order."""
        if self.ascending:
            return self.entries
        # In place only for the single question of one caller: other threads may be reading a table that is kept.
        return score_order.sort(self.entries if self.passing else self.entries.copy())

    @cached_property
    def mass(self) -> Array | None:
        """The weight of each entry; None where it is 1."""
        return self.rows if self.weights is None else self.weights

    @cached_property
    def total(self) -> Any:
        """The weight of the class; an array where the weights have an axis of draws before that of the entries."""
        if self.mass is None:
            return self.size
        last = self._running[..., -1]  # not mass.sum(), which rounds otherwise: an area could leave [0, 1]
        return last.item() if last.ndim == 0 else last

    @cached_property
    def n(self) -> int:
        """The rows of the class."""
        return self.size if self.rows is None else int(self.rows.sum())

    def below(self, thresholds: Array) -> Array:
        """The weight of the scores below each threshold, in any order."""
        return self._cumulated(np.searchsorted(self.scores, thresholds, side="left"))

    def below_each(self, few: Array) -> Array:
        """The weight of the scores below each of some distinct ascending ones."""
        return self._around(few, ties=False)[0]

    def around_each(self, few: Array) -> tuple[Array, Array]:
        """The weight of the scores below each of some distinct ascending ones, and of those at or below it."""
        return self._around(few, ties=True)

    def parts_around(self, few: Array) -> Iterator[tuple[slice, Array, Array]]:
        """The same part by part, each with its slice of the few: what is summed need not be held."""
        if self._unsorted_serves(few):
            yield slice(None), *self.around_each(few)
            return
        for part in score_order.chunks(
            len(few), score_order.PART
        ):  # in order: a part may be few where all of them are not
            yield part, *self._around_in_order(few[part], ties=True)

    def _unsorted_serves(self, few: Array) -> bool:
        return not self.ascending and "scores" not in self.__dict__ and 0 < _RARE * len(few) <= self.size

    def _around(self, few: Array, ties: bool) -> tuple[Array, Array]:
        if self._unsorted_serves(few):
            if self.among is None:
                return score_order.around_unsorted(few, self.entries)
            everyone, other = self.among
            pairs = zip(score_order.around_unsorted(few, everyone), other.around_each(few), strict=True)
            lower, upper = (both - theirs for both, theirs in pairs)
            return lower, upper
        return self._around_in_order(few, ties)

    def _around_in_order(self, few: Array, ties: bool) -> tuple[Array, Array]:
        lower = score_order.below(few, self.scores)
        upper = score_order.up_to(few, self.scores, lower) if ties else lower
        return self._cumulated(lower), self._cumulated(upper)

    def _cumulated(self, places: Array) -> Array:
        return places if self.mass is None else self._running[..., places]

    @cached_property
    def _running(self) -> Array:
        mass = _ones(self) if self.mass is None else self.mass
        return starting_at_zero(np.cumsum(mass, axis=-1))

    @cached_property
    def distinct(self) -> tuple[Array, Array]:
        """The distinct scores, ascending, and the weight of each."""
        compact = self.compact()
        return compact.scores, _ones(compact) if compact.mass is None else compact.mass

    def compact(self) -> Side:
        """The same with one entry for each distinct score."""
        rises = self.scores[1:] != self.scores[:-1]
        if rises.all():
            return self
        starts = np.append(0, np.flatnonzero(rises) + 1)
        if self.rows is None:
            return Side(self.scores[starts], np.diff(np.append(starts, len(self.scores))))
        return self._mapped(self.scores[starts], lambda column: np.add.reduceat(column, starts, axis=-1))

    def kept(self) -> Side:
        """The same with a copy of its own, whatever becomes of the arrays it was made from."""
        return Side(self.entries, ascending=False) if self.passing else self

    def negated(self) -> Side:
        """The scores with their sign turned, and so their order."""
        return self._mapped(-self.scores[::-1], lambda column: column[..., ::-1])

    def moved(self, scores: Array) -> Side:
        """The same rows at other scores, given in the same order."""
        return self._mapped(scores, lambda column: column)

    def _mapped(self, scores: Array, change: Callable[[Array], Array]) -> Side:
        rows, weights, squares = (None if c is None else change(c) for c in (self.rows, self.weights, self.squares))
        return Side(scores, rows, weights, squares)

    def __add__(self, other: Side) -> Side:
        if self.rows is None and other.rows is None:
            return Side(np.concatenate([self.entries, other.entries]), ascending=False)
        scores = np.concatenate([self.scores, other.scores])
        order = np.argsort(scores, kind="stable")
        joined = {key: np.concatenate([column(self, key), column(other, key)])[order] for key in _COLUMNS}
        if self.weights is None and other.weights is None:
            return Side(scores[order], joined["rows"]).compact()
        return Side(scores[order], joined["rows"], joined["weights"], joined["squares"]).compact()


def starting_at_zero(running: Array) -> Array:
    """Running sums with the 0 they start from, on the last axis."""
    return np.concatenate([np.zeros_like(running[..., :1]) if running.shape[-1] else np.zeros(1), running], -1)


def _ones(side: Side) -> Array:
    return np.broadcast_to(np.int64(1), len(side.scores))  # one number in memory, whatever the length


def column(side: Side, key: str) -> Array:
    """A column as an array, whatever it may be left out for."""
    column = getattr(side, key)
    if column is None and side.rows is not None:
        column = side.rows
    return _ones(side) if column is None else column
