"""Class scores: the scores of one class in order, with their rows and weights, alone or beside the other class."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from steelyard.arrays import sorting
from steelyard.arrays.backend import backend_of, one_each, scattered, taken
from steelyard.arrays.numbers import check_squares, weight_per_row
from steelyard.arrays.sorting import MANY_TIMES, Ranges, chunks, in_threads, sort_range, split

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard._types import Array
    from steelyard.arrays.backend import Backend
    from steelyard.tables.score_table import ScoreTable


class PickledFields:
    """A dataclass whose cached properties are computed anew after it was pickled or copied.

    Some of them go by functions, which pickle cannot all name, and sorted copies would multiply what is sent.
    """

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]  # a dataclass is


# ---------------------------------------------------------------- class scores


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
        if self._unsorted_serves(few) or self._placed(few) is not None or len(few) <= sorting.PART:
            return worth(slice(None), *self.around_each(few))
        # In order: a part may be few where all of them are not.
        _ = self.scores, self.total  # before several threads ask for them
        placed = lambda part: worth(part, *self._around_in_order(few[part], ties=True))  # noqa: E731 - used once
        return sum(in_threads(placed, backend_of(few).chunks(len(few), sorting.PART)))

    def _unsorted_serves(self, few: Array) -> bool:
        if self.ascending or "scores" in self.__dict__:
            return False
        if backend_of(self.given_scores if self.among is None else self.among[0]).is_device:
            return self.among is not None  # those asked about are found by equality, so they must be among all
        return 0 < sorting.MANY_TIMES * len(few) <= self.size

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


# ---------------------------------------------------------------- labelled scores


_Value = TypeVar("_Value")

_LEAST = 4_096  # rows from which on one sort of both classes is quicker than two with a search
_SAMPLED = 64  # scores that show whether many are tied
_LONG = 2**17  # scores of which the ends are sought at a time
_ALL_BUT_SIGN = np.int64(2**63 - 1)


@dataclass(frozen=True, eq=False)
class ScoreKeys:
    """Whole numbers in the order of the scores, twice over and with 1 added for a positive.

    The bits of a float below 2 leave one unused, where the label finds its place; other scores are scaled by a power of
    two first. So no bit is lost, and equal scores stay equal.
    """

    scale: float
    signed: bool

    @classmethod
    def of(cls, scores: Array) -> ScoreKeys:
        """Keys that all of these scores fit into."""
        ends = in_threads(lambda part: (scores[part].min(), scores[part].max()), chunks(len(scores), _LONG))
        low, high = min(low for low, _ in ends), max(high for _, high in ends)
        return cls(math.ldexp(1.0, min(1 - math.frexp(max(-low, high))[1], 0)), bool(low < 0))

    def packed(self, scores: Array, positive: Array) -> Array:
        """The keys of rows; FloatingPointError where scaling would lose bits of a score next to 0."""
        with np.errstate(under="raise"):
            keys: Array = (scores * self.scale + 0.0).view(np.int64)  # + 0.0: -0.0 becomes 0.0
        keys = self._in_order(keys)
        keys <<= 1
        keys |= positive.astype(np.int64, copy=False)
        return keys

    def scores(self, keys: Array) -> Array:
        """The scaled scores of keys."""
        return self._in_order(keys >> 1).view(np.float64)

    def _in_order(self, bits: Array) -> Array:
        """Bits of floats as numbers in their order, or back: those of negative floats rise as these fall."""
        if self.signed:
            signs = bits >> 63
            signs &= _ALL_BUT_SIGN
            bits ^= signs
        return bits


@dataclass(frozen=True, eq=False)
class Steps:
    """The scores of a range, ascending: where each begins, the positives before it, and those of each class at it.

    Where no two rows have the same score, it is those of the positives alone.
    """

    starts: Array
    earlier: Array
    positives: Array | int
    negatives: Array | int
    n_positive: int

    @classmethod
    def of(cls, keys: Array) -> Steps:
        """Those of ascending keys."""
        labels = keys & 1
        places = np.flatnonzero(labels.astype(bool))
        if len(keys) < 2 or (keys[1:] ^ keys[:-1]).view(np.uint64).min() > 1:
            return cls(places, np.arange(len(places)), 1, 0, len(places))
        scores = keys >> 1
        starts = np.append(0, np.flatnonzero(scores[1:] != scores[:-1]) + 1)
        positives = np.add.reduceat(labels, starts)
        negatives = np.diff(starts, append=len(keys)) - positives
        return cls(starts, np.cumsum(positives) - positives, positives, negatives, len(places))

    def twice_outranked(self) -> int:
        """Twice the pairs of the range in which the positive scores higher, ties once."""
        return int((self.positives * (2 * (self.starts - self.earlier) + self.negatives)).sum())

    def precision_sum(self, found: int, flagged: int) -> float:
        """The precisions at the positives, summed, given how many positives and rows lie at or above the range."""
        return float((self.positives * ((found - self.earlier) / (flagged - self.starts))).sum())


@dataclass(frozen=True, eq=False)
class LabelledScores:
    """The scores of all rows, which of them are positive, as booleans or as 0 and 1, and how many are."""

    scores: Array
    positive: Array
    n_positive: int

    @property
    def is_sorted_at_once(self) -> bool:
        """Whether one sort of both classes is the quick way: of enough rows, neither class rare and few scores tied."""
        n = len(self.scores)
        if (
            backend_of(self.scores).is_device
            or n < _LEAST
            or (MANY_TIMES + 1) * min(self.n_positive, n - self.n_positive) <= n
        ):
            return False
        few = self.scores[:: n // _SAMPLED].tolist()
        return 8 * len({*few}) > 7 * len(few)  # ties are placed more quickly than they are sorted by label

    def twice_outranked(self) -> int | None:
        """Twice the pairs in which the positive scores higher, ties once; None where keys would lose bits."""
        if (order := self._order()) is None:
            return None
        twice = positives = 0
        inside = order.over(lambda steps, _: (steps.n_positive, steps.twice_outranked()))
        for (n_positive, pairs), start in zip(inside, order.ranges.starts, strict=False):
            twice += pairs + 2 * n_positive * (start - positives)
            positives += n_positive
        return twice

    def precision_sum(self) -> float | None:
        """The precisions at the scores of the positives, summed; None where keys would lose bits."""
        if (order := self._order()) is None:
            return None
        starts, n = order.ranges.starts, len(self.scores)
        before = [0, *accumulate(order.positives())] if len(order.ranges) > 1 else [0]
        sums = order.over(lambda steps, i: steps.precision_sum(self.n_positive - before[i], n - starts[i]))
        return sum(sums)

    def _order(self) -> KeyOrder | None:
        keys = ScoreKeys.of(self.scores)
        try:
            ranges = split(self.scores, lambda part: keys.packed(self.scores[part], self.positive[part]), np.int64)
        except FloatingPointError:
            return None
        return KeyOrder(keys, ranges)


@dataclass(frozen=True, eq=False)
class KeyOrder:
    """Keys grouped by ranges of scores, each of which is sorted when its steps are asked for."""

    keys: ScoreKeys
    ranges: Ranges

    def over(self, function: Callable[[Steps, int], _Value]) -> list[_Value]:
        """A function of the steps of each range and of its number."""
        return in_threads(lambda i: function(self._steps(i), i), range(len(self.ranges)))

    def positives(self) -> list[int]:
        """The positives of each range."""
        return self.ranges.totals(lambda keys: keys & 1)

    def _steps(self, i: int) -> Steps:
        values = self.ranges[i]
        return Steps.of(sort_range(values, self.keys.scores(values)))


@dataclass(frozen=True, eq=False)
class LabelledClass:
    """The scores of one class among those of both, copied when called for."""

    both: LabelledScores
    is_positive: bool

    def __len__(self) -> int:
        return self.both.n_positive if self.is_positive else len(self.both.scores) - self.both.n_positive

    @property
    def backend(self) -> Backend:
        """Where the scores lie."""
        return backend_of(self.both.scores)

    def __call__(self) -> Array:
        """A copy."""
        own: Array = self.backend.of_class(self.both.scores, self.both.positive, self.is_positive, len(self))
        return own


# ---------------------------------------------------------------- merged classes


class MergedClasses(NamedTuple):
    """The distinct scores of both classes, descending, the weight of each class there, and the places of its own."""

    scores: Array
    weights: tuple[Array, Array]
    places: list[Array]

    @classmethod
    def of(cls, table: ScoreTable) -> MergedClasses:
        """Those of a table without draws; scores on a device stay there."""
        distinct = [side.distinct for side in table.classes]
        scores, places = table.merged
        positive, negative = (
            scattered(weights.astype(np.float64)[::-1], at, len(scores))
            for (_, weights), at in zip(distinct, places, strict=True)
        )
        return cls(scores, (positive, negative), places)
