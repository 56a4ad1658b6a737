"""LabelledScores: the scores of both classes in one order, as whole numbers that hold the label in their lowest bit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from steelyard.statistics.backend import backend_of
from steelyard.statistics.score_order import MANY_TIMES, chunks
from steelyard.statistics.score_sort import Ranges, sort_range, split
from steelyard.statistics.threads import in_threads

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard._types import Array
    from steelyard.statistics.backend import Backend

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
