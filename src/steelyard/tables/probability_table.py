"""ProbabilityTable: the class of each row and its probabilities, a column for each class."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steelyard.arrays.backend import one_each, taken
from steelyard.exceptions import InputError, first_ten
from steelyard.tables.class_scores import ClassScores
from steelyard.tables.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard._types import Array, Label, Labels


SUM_OFF = 1e-3  # of the probabilities of a row: what single precision and rounding to three digits may leave


class ColumnTable(NamedTuple):
    """The scores of one column for two sets of rows: its class, and the rest or one other class."""

    name: Label  # the class, or the pair of classes
    table: ScoreTable
    scores: Array  # the column
    rows: tuple[Array, Array]  # the places of the rows that are positive here, and of those that are negative
    sharing: tuple[Array, ...]  # the rows by which it is weighted: those of the class, or of both classes of the pair
    share: float  # their weight
    rarer: int  # the place of the class, or of the rarer one of the pair


@dataclass(frozen=True, eq=False, repr=False)
class ProbabilityTable:
    """Rows with a column of probabilities, or of other scores, for each class; nothing smaller holds their losses.

    `codes` are the places of the rows' classes among the labels. Tables of other rows merge with `+`.

    >>> table = ProbabilityTable(("a", "b"), np.array([0, 1]), np.array([[0.9, 0.1], [0.3, 0.7]]))
    >>> table + table
    <ProbabilityTable of 4 rows, 2 classes>
    """

    labels: Labels
    codes: Array
    probabilities: Array
    sample_weight: Array | None = None
    frequency: Array | None = None

    @property
    def n(self) -> int:
        """The rows counted."""
        return len(self.codes) if self.frequency is None else int(self.frequency.sum())

    @cached_property
    def weights(self) -> Array:
        """The weight of each row: its sample weight as often as it counts."""
        ones = one_each(self.codes).astype(np.float64) if self.sample_weight is None else self.sample_weight
        return ones if self.frequency is None else ones * self.frequency

    @property
    def squares(self) -> Array:
        """The squared sample weight of each row, as often as it counts."""
        return self.weights if self.sample_weight is None else self.weights * self.sample_weight

    @property
    def class_shares(self) -> Array:
        """The share of the weight that each class has."""
        weights = np.bincount(self.codes, self.weights, minlength=len(self.labels))
        return np.asarray(weights / weights.sum())

    @property
    def class_rows(self) -> Array:
        """How many rows each class has."""
        rows = np.bincount(self.codes, self.frequency, minlength=len(self.labels))
        return np.asarray(np.round(rows), dtype=np.int64)

    def without_skill(self) -> ProbabilityTable:
        """The same rows, each with the class shares as its scores: those of one class are alike, and stand as one."""
        rows, shares = self.class_rows, self.class_shares
        present = np.flatnonzero(rows)
        weights = None if self.sample_weight is None else shares * float(self.weights.sum()) / np.maximum(rows, 1)
        scores = np.broadcast_to(shares, (len(present), len(shares)))
        return ProbabilityTable(
            self.labels, present, scores, None if weights is None else weights[present], rows[present]
        )

    @cached_property
    def first_improper(self) -> int | None:
        """The first row whose numbers are no probabilities, from 0 to 1 with the sum 1; None where all are."""
        given = self.probabilities
        improper = ((given < 0) | (given > 1)).any(1) | (np.abs(given.sum(1) - 1) > SUM_OFF)
        return int(np.argmax(improper)) if improper.any() else None

    @cached_property
    def most_probable(self) -> Array:
        """The place of the highest column of each row, the first of equal ones, as a classifier predicts it."""
        highest: Array = self.probabilities.argmax(1)
        return highest

    @cached_property
    def class_tables(self) -> tuple[ColumnTable, ...]:
        """Each class against the rest by its own column."""
        return tuple(self._class_table(place) for place in range(len(self.labels)))

    def class_table(self, place: int) -> ColumnTable:
        """One class against the rest by its own column."""
        return self.class_tables[place] if "class_tables" in self.__dict__ else self._class_table(place)

    def _class_table(self, place: int) -> ColumnTable:
        is_own = self.codes == place
        rows = np.flatnonzero(is_own), np.flatnonzero(~is_own)
        return self._column(self.labels[place], place, rows, rows[:1], place)

    def pair_tables(self) -> Iterator[ColumnTable]:
        """Each ordered pair of classes by the column of the first (Hand and Till)."""
        own = [np.flatnonzero(self.codes == place) for place in range(len(self.labels))]
        for first, second in permutations(range(len(self.labels)), 2):
            rows = (own[first], own[second])
            rarer = min((first, second), key=lambda place: len(own[place]))
            yield self._column((self.labels[first], self.labels[second]), first, rows, rows, rarer)

    def pooled_table(self) -> ColumnTable:
        """Every column of every row as a row of its own, positive in the column of the row's class (micro average)."""
        k = self.probabilities.shape[1]
        is_own = (np.arange(k) == self.codes.reshape(-1, 1)).ravel()
        own, others = np.flatnonzero(is_own), np.flatnonzero(~is_own)
        cells = self.probabilities.ravel()
        positive, negative = (ClassScores.of_rows(cells[part], *self._repeated(part // k)) for part in (own, others))
        table = ScoreTable(positive, negative, "own")
        return ColumnTable("all classes", table, cells, (own, others), (own,), float(self.weights.sum()), 0)

    def in_order(self, labels: Labels) -> ProbabilityTable:
        """The same with the classes in another order."""
        places = [self.labels.index(label) for label in labels]
        codes = taken(np.argsort(places), self.codes)
        return replace(self, labels=labels, codes=codes, probabilities=self.probabilities[:, places])

    def at(self, rows: Array) -> ProbabilityTable:
        """The table of some rows, with all classes."""
        weight, times = self._repeated(rows)
        return replace(
            self,
            codes=self.codes[rows],
            probabilities=self.probabilities[rows],
            sample_weight=weight,
            frequency=times,
        )

    def brought(self) -> ProbabilityTable:
        """The same in NumPy, brought from a device where the rows lie on one."""
        columns = (self.codes, self.probabilities, self.sample_weight, self.frequency)
        codes, probabilities, weight, times = (None if part is None else np.asarray(part) for part in columns)
        return ProbabilityTable(self.labels, codes, probabilities, weight, times)  # type: ignore[arg-type]  # both are there

    @cached_property
    def remembered(self) -> dict[Any, Any]:
        """What metrics share of this table, by the function that makes it."""
        return {}

    def _repeated(self, rows: Array) -> tuple[Array | None, Array | None]:
        columns = (self.sample_weight, self.frequency)
        weight, times = (None if column is None else column[rows] for column in columns)
        return weight, times

    def _column(
        self, name: Label, place: int, rows: tuple[Array, Array], sharing: tuple[Array, ...], rarer: int
    ) -> ColumnTable:
        positive, negative = (self._class_scores(place, members) for members in rows)
        table = ScoreTable(positive, negative, self.labels[place])
        share = float(sum(self.weights[members].sum() for members in sharing))
        return ColumnTable(name, table, self.probabilities[:, place], rows, sharing, share, rarer)

    def _class_scores(self, place: int, rows: Array) -> ClassScores:
        return ClassScores.of_rows(self.probabilities[:, place][rows], *self._repeated(rows))

    def __add__(self, other: object) -> ProbabilityTable:
        if not isinstance(other, ProbabilityTable):
            return NotImplemented
        if {*self.labels} != {*other.labels}:
            raise InputError(
                f"The tables have different classes, {first_ten(self.labels)} and {first_ten(other.labels)}."
            )
        other = other.in_order(self.labels)
        return replace(
            self,
            codes=np.concatenate([self.codes, other.codes]),
            probabilities=np.concatenate([self.probabilities, other.probabilities]),
            sample_weight=_joined(self.sample_weight, other.sample_weight, self, other),
            frequency=_joined(self.frequency, other.frequency, self, other),
        )

    def __repr__(self) -> str:
        return f"<ProbabilityTable of {self.n:,} rows, {len(self.labels)} classes>"


def _joined(mine: Array | None, theirs: Array | None, *tables: ProbabilityTable) -> Array | None:
    """Two columns of weights one after the other, of which one may be missing for a column of ones."""
    if mine is None and theirs is None:
        return None
    pairs = zip((mine, theirs), tables, strict=True)
    return np.concatenate([np.ones(len(table.codes), np.int64) if one is None else one for one, table in pairs])
