"""DecidedRows: rows with a column of probabilities for each class, and the tables that decisions make of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from steelyard.statistics.confusion import Confusion

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.statistics.probability_table import ProbabilityTable

PERSON = "a person"  # who decides the rows that are sent


@dataclass(frozen=True, eq=False)
class DecidedRows:
    """A table of probabilities, and by how much each class is more common where decisions are made."""

    table: ProbabilityTable
    factors: Array | None = None

    @classmethod
    def of(cls, table: ProbabilityTable, shares: Array | None) -> DecidedRows:
        """The rows where classes have other shares."""
        table = replace(table, codes=table.codes.astype(np.int64))  # which are narrow, and multiplied here
        if shares is None:
            return cls(table)
        seen = table.class_shares
        return cls(table, np.divide(shares, seen, out=np.zeros(len(seen)), where=seen > 0))

    @property
    def k(self) -> int:
        """How many classes there are."""
        return len(self.table.labels)

    @cached_property
    def weights(self) -> Array:
        """The weight of each row where decisions are made."""
        weights = self.table.weights
        return weights if self.factors is None else weights * self.factors[self.table.codes]

    @property
    def shares(self) -> Array:
        """The share of each class there."""
        totals = np.bincount(self.table.codes, self.weights, minlength=self.k)
        return np.asarray(totals / totals.sum())

    def share_of(self, mask: Array) -> float:
        """The share of the rows that a mask holds."""
        return float(self.weights[mask].sum() / self.weights.sum())

    def confusion(self, decisions: Array, among: Array | None = None) -> Confusion:
        """The table of the rows as they were drawn, or of some of them."""
        return self._counted(decisions, self.table.labels, among)

    def confusion_with_person(self, decisions: Array, sent: Array) -> Confusion:
        """The table with one more column, of the rows that are sent to a person, and an empty row of its own."""
        labels = (*self.table.labels, PERSON)
        return self._counted(np.where(sent, self.k, decisions), labels, None)

    def _counted(self, decisions: Array, labels: tuple[object, ...], among: Array | None) -> Confusion:
        table, k = self.table, len(labels)
        places = slice(None) if among is None else among
        cells = table.codes[places] * k + decisions[places]

        def summed(column: Array | None) -> Array:
            part = None if column is None else column[places]
            return np.bincount(cells, part, minlength=k * k).reshape(k, k)

        rows = summed(table.frequency).astype(np.int64)
        if table.sample_weight is None:
            return Confusion.of_rows(labels, rows)
        return Confusion(labels, rows, summed(table.weights), summed(table.squares))

    def kept_prevalence(self, confusion: Confusion) -> Array | None:
        """The shares of the true classes of a table of some of the rows, where decisions are made."""
        if self.factors is None:
            return None
        weights = confusion.weights.sum(1) * np.append(self.factors, 0.0)[: len(confusion.labels)]
        return np.asarray(weights / weights.sum())
