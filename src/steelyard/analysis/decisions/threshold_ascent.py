"""Threshold ascent: the thresholds of the classes at which a metric is best, one class after the other.

With the other thresholds held, a class is decided in the rows whose odds against the best other class are high enough,
so that all tables of its own threshold are cumulative sums over the rows in the order of these odds. Passes go on until
none gains. One begins at the most probable class, one at classes of equal weight; the better one is taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from steelyard.metrics.application import ClassCells

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.decisions.class_aim import ClassAim

_MOST_CELLS = 2**13  # of the tables of a step where there are three or more classes
_MOST_OF_TWO = 2**17  # of two, which take one step
_MOST_ROWS = 10_000  # on which thresholds are sought; of common classes some rows, of rare ones all
_LEAST_ROWS = 200  # of a common class
_MOST_PASSES, _LAST_PASSES = 8, 1  # on those rows, and then on all of them
_GAIN = 1e-4  # of a pass after which another is worth its time


@dataclass(frozen=True, eq=False)
class AscentRows:
    """The rows that a search reads: the class of each, its probabilities by class and its weight."""

    codes: Array
    columns: Array  # the logarithms of the probabilities, a class on the first axis
    weights: Array

    @classmethod
    def of(cls, codes: Array, probabilities: Array, weights: Array) -> AscentRows:
        """The rows that have weight."""
        counted = np.flatnonzero(weights > 0)
        with np.errstate(divide="ignore"):
            columns = np.log(np.ascontiguousarray(probabilities[counted].T, dtype=np.float64))
        return cls(codes[counted], columns, weights[counted])

    def some(self) -> AscentRows:
        """All of them, or of very many some of each common class, with more weight each."""
        k = len(self.columns)
        if k == 2 or len(self.codes) <= _MOST_ROWS:
            return self
        most, places, scaled = max(_MOST_ROWS // k, _LEAST_ROWS), [], []
        for rows in (np.flatnonzero(self.codes == place) for place in range(k)):
            part = rows[:: -(-len(rows) // most) or 1]
            places.append(part)
            scaled.append(self.weights[part] * (self.weights[rows].sum() / max(self.weights[part].sum(), 1e-300)))
        chosen = np.concatenate(places)
        return AscentRows(self.codes[chosen], np.ascontiguousarray(self.columns[:, chosen]), np.concatenate(scaled))

    @cached_property
    def totals(self) -> Array:
        """The weight of each class."""
        return np.bincount(self.codes, self.weights, minlength=len(self.columns))

    def cells(self, tp: Array, decided: Array, matrix: Array | None) -> ClassCells:
        """The cells of tables of these rows."""
        fn, fp = self.totals - tp, np.maximum(decided - tp, 0)
        return ClassCells(tp, fn, fp, self.totals.sum() - self.totals - fp, matrix)  # type: ignore[arg-type]  # where it is read


def best_class_thresholds(aim: ClassAim, codes: Array, probabilities: Array, weights: Array) -> Array | None:
    """The thresholds of the classes with the sum 1; None where the metric is undefined at all that were tried."""
    rows = AscentRows.of(codes, probabilities, weights)
    k, some = len(rows.columns), rows.some()
    starts = [np.zeros(k)]
    if k > 2 and (rows.totals > 0).all():
        starts.append(-np.log(rows.totals / rows.totals.sum()))
    best = max((_Ascent(aim, some, start).climbed(_MOST_PASSES) for start in starts), key=lambda each: each.merit)
    if some is not rows:
        moved = (_Ascent(aim, rows, offsets) for offsets in (starts[0], best.offsets))
        best = max(moved, key=lambda each: each.merit).climbed(_LAST_PASSES)
    if best.merit == -np.inf:
        return None
    thresholds = np.exp(best.offsets.min() - best.offsets)
    return np.asarray(thresholds / thresholds.sum())


class _Ascent:
    """The offsets of the classes' logarithms, as they are moved one by one."""

    def __init__(self, aim: ClassAim, rows: AscentRows, offsets: Array) -> None:
        self.aim, self.rows, self.offsets = aim, rows, offsets.copy()
        decided = (rows.columns + self.offsets[:, None]).argmax(0)
        k = len(offsets)
        pairs = np.bincount(rows.codes * k + decided, rows.weights, minlength=k * k).reshape(k, k)
        self.merit = float(aim.merits(ClassCells.of(pairs)))

    def climbed(self, most: int) -> _Ascent:
        """The same where no class gains any more, or after so many passes."""
        for _ in range(most):
            before = self.merit
            self._pass()
            if not self.merit > before + _GAIN:
                break
        return self

    def _pass(self) -> None:
        """Every class once; the best of the classes before it and after it are kept as it goes along."""
        columns, k = self.rows.columns, len(self.rows.columns)
        after = [self._nothing()]
        for place in range(k - 1, 0, -1):
            after.append(_better(after[-1], columns[place] + self.offsets[place], place))
        before = self._nothing()
        for place in range(k):
            if k > 2 or place:  # of two classes one threshold says all
                self._move(place, _best_of(before, after[k - 1 - place]))
            before = _better(before, columns[place] + self.offsets[place], place)

    def _nothing(self) -> tuple[Array, Array]:
        n = len(self.rows.codes)
        return np.full(n, -np.inf), np.zeros(n, dtype=np.int64)

    def _move(self, place: int, others: tuple[Array, Array]) -> None:
        """The best offset of one class, the others held; it stays where nothing is better."""
        best_other, rival = others
        chances = _logistic(self.rows.columns[place] - best_other)
        edges = self._edges(place, chances)
        merits = self.aim.merits(self._cells(place, rival, np.searchsorted(edges, chances, "left"), len(edges)))
        best = float(merits.max())
        if len(self.offsets) > 2 and not best > self.merit + self.aim.tie:
            return
        places = np.flatnonzero(merits >= best - self.aim.tie)
        offsets = np.log1p(-edges[places]) - np.log(edges[places])
        # Of two classes the fewest are decided, as best_threshold does; of more the nearest to where it was.
        chosen = len(places) - 1 if len(self.offsets) == 2 else int(np.abs(offsets - self.offsets[place]).argmin())
        self.merit, self.offsets[place] = best, float(offsets[chosen])

    def _edges(self, place: int, chances: Array) -> Array:
        """The thresholds to try, ascending: half-way between neighbours, and one beyond each end.

        Of many rows half of those tried are of the class itself, which may be rare.
        """
        k = len(self.offsets)
        most = _MOST_OF_TWO if k == 2 else max(_MOST_CELLS // (k * k if self.aim.reads_matrix else k), 64)
        if len(chances) > most:
            own = self.rows.codes == place
            chances = np.concatenate([_spread(chances[own], most // 2), _spread(chances[~own], most // 2)])
        seen = np.unique(chances)
        ends = [seen[0] / 2, *((seen[1:] + seen[:-1]) / 2), (1 + seen[-1]) / 2]
        return np.asarray(np.clip(ends, 1e-300, 1 - 2**-53))

    def _cells(self, place: int, rival: Array, bins: Array, edges: int) -> ClassCells:
        """The tables at every edge: rows above it are decided for the class, the others for the best other one."""
        rows, k = self.rows, len(self.offsets)
        at, size = bins * k + rival, (edges + 1) * k
        decided = np.bincount(at, rows.weights, minlength=size).reshape(-1, k).cumsum(0)[:-1]
        hits = rows.weights * (rows.codes == rival)
        tp = np.bincount(at, hits, minlength=size).reshape(-1, k).cumsum(0)[:-1]
        own = np.bincount(bins, rows.weights * (rows.codes == place), minlength=edges + 1).cumsum()
        decided[:, place] = rows.totals.sum() - decided.sum(1)
        tp[:, place] = own[-1] - own[:-1]
        if not self.aim.reads_matrix:
            return rows.cells(tp, decided, None)
        pairs = np.bincount(at * k + rows.codes, rows.weights, minlength=size * k)
        matrix = pairs.reshape(-1, k, k).cumsum(0)[:-1].swapaxes(1, 2)
        matrix[:, :, place] = rows.totals - matrix.sum(2)
        return rows.cells(tp, decided, matrix)


def _logistic(odds: Array) -> Array:
    """The share that log odds stand for."""
    with np.errstate(over="ignore"):
        return np.asarray(1 / (1 + np.exp(-odds)))


def _better(best: tuple[Array, Array], column: Array, place: int) -> tuple[Array, Array]:
    """The best column and its place, with one more column."""
    higher = column > best[0]
    return np.where(higher, column, best[0]), np.where(higher, place, best[1])


def _best_of(first: tuple[Array, Array], second: tuple[Array, Array]) -> tuple[Array, Array]:
    higher = second[0] > first[0]
    return np.where(higher, second[0], first[0]), np.where(higher, second[1], first[1])


def _spread(values: Array, most: int) -> Array:
    """Some of the values, evenly over their ranks."""
    if len(values) <= most:
        return values
    ordered = np.sort(values)
    return np.asarray(ordered[np.linspace(0, len(ordered) - 1, most).astype(np.int64)])
