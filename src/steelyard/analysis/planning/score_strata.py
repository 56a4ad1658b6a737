"""Score strata: ranges of scores in which labels are drawn at random, and how many are drawn in each.

Neyman's allocation: a stratum gets labels by its rows times the standard deviation of what their labels move the metric
by (Neyman 1934, Journal of the Royal Statistical Society 97, 558-625). The scores may be wrong, so four ninths of the
labels are drawn from all rows alike: whatever the labels are, the variance is then at most 9/4 times that of labels
drawn at random, and the error 1.5 times. Where the scores promise little, as of the area under the ROC curve, two
thirds are, since scores that are wrong would cost more than right ones gain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from steelyard._types import Array

EVEN_SHARE, MORE_EVEN = 4 / 9, 2 / 3  # of the labels, drawn from all rows alike
_LITTLE = 1.5  # a gain that is not worth the risk
_LABELS_PER_STRATUM, _MOST_PER_SIDE, LEAST_LABELS = 40, 4, 2


class StratumMoments(NamedTuple):
    """Of each stratum its rows, and the mean and the variance of what their labels move the metric by."""

    rows: Array
    means: Array
    variances: Array

    @classmethod
    def of(cls, codes: Array, strata: int, mean: Array, square: Array, rows: Array) -> StratumMoments:
        """By the moments of each row, or of what stands for some rows."""
        totals = np.maximum(np.bincount(codes, rows, minlength=strata), 1e-300)
        means, squares = (np.bincount(codes, rows * each, minlength=strata) / totals for each in (mean, square))
        return cls(totals, means, np.maximum(squares - means**2, 0))

    def gain(self, labels: Array, *, infinite: bool = False) -> float:
        """How many labels at random are worth one of these: the ratio of the variances of the metric.

        All rows are a sample of their population, which few labels do not feel: of an infinite one none would.
        """
        shares, total = self.rows / self.rows.sum(), np.inf if infinite else self.rows.sum()
        between = float(shares @ (self.means - shares @ self.means) ** 2)
        at_random = (float(shares @ self.variances) + between) / labels.sum()
        chosen = float(np.sum(shares**2 * self.variances / np.maximum(labels, 1e-9))) + between / float(total)
        return float(at_random / chosen) if chosen > 0 else 1.0


def stratum_edges(scores: Array, spread: Array, flagged: Array | None, budget: int) -> Array:
    """The lowest score of each stratum but the first: ranges that would get as many labels each, on both sides.

    `spread` is the standard deviation of what the label of each row moves the metric by.
    """
    sides = [np.ones(len(scores), dtype=bool)] if flagged is None else [~flagged, flagged]
    most = _MOST_PER_SIDE * (2 if flagged is None else 1)
    strata = int(np.clip(budget // (_LABELS_PER_STRATUM * len(sides)), 1, most))
    edges = [_equal_parts(scores[side], spread[side], strata) for side in sides]
    return np.unique(np.concatenate([*edges, [] if flagged is None else [scores[flagged].min()]]))


def _equal_parts(scores: Array, spread: Array, parts: int) -> Array:
    """The scores that divide the rows into parts of equal spread in all, as far as ties allow."""
    order = np.argsort(scores, kind="stable")
    running = np.cumsum(spread[order])
    if not len(order) or not running[-1] > 0:
        return np.zeros(0)
    places = np.searchsorted(running, running[-1] * np.arange(1, parts) / parts)
    edges = np.unique(scores[order[places]])
    return np.asarray(edges[edges > scores.min()])


def in_strata(edges: Array, scores: Array) -> Array:
    """The stratum of each score."""
    return np.asarray(np.searchsorted(edges, scores, side="right"))


def allocation(moments: StratumMoments, rows: Array, budget: int, labelled: Array, *, careful: bool = False) -> Array:
    """How many more labels each stratum gets: what it lacks of its share of all, those there are and those to come.

    A careful one draws more of them from all rows alike.
    """
    total = labelled.sum() + budget
    wanted = np.maximum(_shares(moments, rows, careful) * total, np.minimum(LEAST_LABELS, rows))
    room = rows - labelled
    lacking = np.minimum(np.maximum(wanted - labelled, 0), room)
    for _ in range(len(rows) + 1):  # what a full stratum leaves goes to the others
        open_rows = (lacking < room) & (wanted > 0)
        short = budget - lacking.sum()
        if abs(short) < 1e-9 or (short > 0 and not open_rows.any()):
            break
        scale = wanted * open_rows if short > 0 else lacking
        lacking = np.clip(lacking + short * scale / scale.sum(), 0, room)
    return whole_labels(lacking, room, budget)


def _shares(moments: StratumMoments, rows: Array, careful: bool) -> Array:
    even, spread = rows / rows.sum(), rows * np.sqrt(moments.variances)
    chosen = spread / spread.sum() if spread.sum() > 0 else even
    usual, more_even = ((1 - share) * chosen + share * even for share in (EVEN_SHARE, MORE_EVEN))
    is_worth = not careful and moments.gain(usual * rows.sum(), infinite=True) >= _LITTLE
    return np.asarray(usual if is_worth else more_even)


def whole_labels(wanted: Array, room: Array, budget: int) -> Array:
    """Whole labels near the wanted ones that sum to the budget, those that lack most rounded up."""
    labels = np.floor(wanted + 1e-9).astype(np.int64)
    most = min(budget, int(room.sum()))
    while labels.sum() < most:
        lack = np.where(labels < room, wanted - labels, -np.inf)
        labels[np.argmax(lack)] += 1
    return labels
