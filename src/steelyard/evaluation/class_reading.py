"""The reading of many classes: the pairs confused most, the classes below the median one, and the rare ones as one."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from steelyard.analysis.confusions.confused_pairs import (
    ConfusedPair,
    PairOrder,
    class_standing,
    confused_pairs,
    pooled_classes,
)
from steelyard.analysis.results.result import Rows
from steelyard.arguments import names_wrong_arguments

if TYPE_CHECKING:
    from steelyard._types import Label
    from steelyard.analysis.confusions.confused_pairs import ClassStanding, PooledClasses
    from steelyard.statistics.confusion import Confusion

LEAST_RANKED = 12  # classes from which a median class is spoken of


class ClassReading:
    """What an evaluation of many classes is read by."""

    if TYPE_CHECKING:
        confusion: Confusion | None
        positive: Label
        level: float

        @property
        def is_clustered(self) -> bool:
            """Whether rows came in clusters."""

    @property
    def _many_classes(self) -> Confusion | None:
        """The table where it is of many classes, none of them the positive one."""
        many = self.confusion is not None and self.positive is None and len(self.confusion.labels) >= LEAST_RANKED
        return self.confusion if many else None

    @cached_property
    def standing(self) -> ClassStanding | None:
        """Of 12 classes or more, those that are shown to have a lower or a higher recall than the median class."""
        table = self._many_classes
        if table is None or self.is_clustered or (table.true_rows > 0).sum() < LEAST_RANKED:
            return None
        return class_standing(table, self.level)

    @cached_property
    def rare_classes(self) -> PooledClasses | None:
        """Of 12 classes or more, those with fewer than 5 rows as one, with the recall of all; no metric pools them."""
        table = self._many_classes
        return None if table is None else pooled_classes(table, self.level)

    @names_wrong_arguments
    def confused_pairs(self, most: int = 10, *, by: PairOrder = "weight") -> Rows[ConfusedPair]:
        """The pairs of classes that are confused most, by weight or by share of the true class, each with a test.

        The test is against quasi-independence, where errors fall on classes whatever the true one; its p-values are
        adjusted by Holm's method for all pairs of the table.
        """
        if self.confusion is None:
            return Rows()
        return Rows(confused_pairs(self.confusion, self.level, most=most, by=by, clustered=self.is_clustered))
