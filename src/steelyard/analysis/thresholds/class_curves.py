"""Class curves: the share of a class that each of some thresholds flags, and as how many rows it is known.

Kish's effective rows take weights as unrelated to scores. Where hard rows have large weights a share p of the weight
varies by sum w^2 (flagged - p)^2 / (sum w)^2 (Taylor's linearised variance), so its rows differ by threshold. The row
next to a threshold counts on both sides of it: of the rows that lie just beyond nothing else is seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.statistics.class_scores import starting_at_zero
from steelyard.statistics.counts import Counts
from steelyard.statistics.effective_rows import weight_per_row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard._types import Array
    from steelyard.statistics.class_scores import ClassScores


@dataclass(frozen=True, eq=False)
class ClassCurve:
    """The weight and the squared weights that some thresholds flag out of a class, both in its effective rows.

    `beside` is the weight of a row next to each threshold, 1 being that of an effective row; it is no less. `trivial`
    says which thresholds flag nobody, or everybody, whatever the rows will be.
    """

    rows: float
    flagged: Array
    squares: Array
    beside: Array
    trivial: Array | None = None

    @classmethod
    def of_equal(cls, rates: Array, rows: float) -> ClassCurve:
        """The curve of a class whose rows count alike."""
        flagged = np.asarray(rates * rows, dtype=np.float64)
        return cls(rows, flagged, flagged, np.ones_like(flagged))

    @property
    def known(self) -> Array:
        """As how many rows of equal weight the share is known at each threshold: Kish's, or the linearised if fewer."""
        if self.squares is self.flagged:
            return np.full_like(self.flagged, self.rows)
        share = np.clip(self.flagged / self.rows, 0.0, 1.0)
        heavy = [
            (np.maximum(squares, 0) + self.beside**2) / (np.maximum(weight, 0) + self.beside)
            for weight, squares in ((self.flagged, self.squares), (self.rows - self.flagged, self.rows - self.squares))
        ]
        return np.asarray(self.rows / np.maximum((1 - share) * heavy[0] + share * heavy[1], 1.0))

    def drawn(self, draws: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Draws of the share at all thresholds together: the least and the largest that the order statistics allow.

        The share of the population above the h-th of n scores is a sum of h exponentials out of n + 1, so one draw is a
        whole curve: what neighbouring thresholds break, they break in the same draws. Drawn one by one, the luck of
        hundreds of them ended a run of good thresholds early. Of weighted rows the exponentials are weighted.
        """
        flagged, first, places = np.unique(self.flagged, return_index=True, return_inverse=True)
        steps = np.diff(flagged, prepend=0.0, append=max(self.rows, float(flagged[-1])))
        squares = np.diff(self.squares[first], prepend=0.0, append=max(self.rows, float(self.squares[first[-1]])))
        each = np.where((steps > 0) & (squares > 0), squares / np.where(steps > 0, steps, 1.0), 1.0)
        sums = np.cumsum(each * rng.standard_gamma(steps / each, size=(draws, len(steps))), axis=1)
        one_more = rng.standard_exponential((draws, 1)) * self.beside
        least, total = sums[:, places], sums[:, -1:] + one_more
        drawn = least / total, (least + one_more) / total
        if self.trivial is None:
            return drawn
        low, high = (np.where(self.trivial, np.round(self.flagged / self.rows), some) for some in drawn)
        return low, high


@dataclass(frozen=True, eq=False)
class ClassWeights:
    """The distinct scores of a class, the share of the squared weights below each, and the weight of a row there.

    Without weights there are None. A weight of 1 is that of an effective row.
    """

    scores: Array
    squares: Array | None = None
    weights: Array | None = None

    @classmethod
    def of(cls, side: ClassScores) -> ClassWeights:
        """Those of the scores of a class."""
        if side.given_squares is None:
            return cls(side.scores)
        entries = side.compact()
        running = starting_at_zero(np.cumsum(entries.squares))
        each = weight_per_row(entries.weights, entries.squares) / weight_per_row(side.total, running[-1])
        return cls(entries.scores, running / max(float(running[-1]), 1e-300), each)

    def curve(self, observed: Array, rates: Array, rows: float, *, low: Array | bool = False) -> ClassCurve:
        """The curve at the last score that each threshold flags, all from it on or, where `low`, all up to it."""
        if self.squares is None or self.weights is None:
            return ClassCurve.of_equal(rates, rows)
        places = np.searchsorted(self.scores, observed, side="left")
        if np.any(low):
            places = np.where(low, np.searchsorted(self.scores, observed, side="right"), places)
        last = len(self.weights) - 1
        beside = np.maximum(self.weights[np.maximum(places - 1, 0)], self.weights[np.minimum(places, last)])
        flagged = np.where(low, self.squares[places], 1 - self.squares[places])
        return ClassCurve(rows, np.asarray(rates * rows, dtype=np.float64), rows * flagged, np.maximum(beside, 1.0))


class Rates(NamedTuple):
    """Recall and false positive rate at some thresholds."""

    recall: ClassCurve
    fpr: ClassCurve

    def drawn(self, draws: int, rng: np.random.Generator) -> Iterator[tuple[Array, Array]]:
        """Draws of both rates, as low as the rows allow and as high, in four pairs: Clopper and Pearson's tails."""
        recalls, fprs = (curve.drawn(draws, rng) for curve in self)
        yield from ((recall, fpr) for recall in recalls for fpr in fprs)

    def tables(self, share: Array, total: float, draws: int, rng: np.random.Generator) -> Iterator[Counts[Array]]:
        """Draws of the counts of so many rows, of which a share is positive, with both rates drawn."""
        p, n = share * total, (1 - share) * total
        for recall, fpr in self.drawn(draws, rng):
            yield Counts.trusted(p * recall, p * (1 - recall), n * fpr, n * (1 - fpr))
