"""Merged classes: the distinct scores of both classes in one order, and the weight of each class there."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.statistics.backend import scattered

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.statistics.score_table import ScoreTable


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
