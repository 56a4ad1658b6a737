"""CostTable: bounded amounts, such as what a row cost, kept as weights of fixed nodes, which add up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.sequential.linear_ratio import LinearRatio
from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Array

NODES = 129
_FINEST = 1e-6  # of the range: the smallest node above its ends


@dataclass(frozen=True, eq=False)
class CostTable:
    """Amounts between `low` and `high`: each is divided among the two nodes around it so that its mean stays exact.

    The logarithm of a wealth is concave, so that what a gambler wins on the nodes is never more than on the amounts
    themselves: evidence stays evidence. Nodes lie dense at the low end, and where the range goes below 0 at 0 as well.

    >>> table = CostTable.of([0.0, 3.5, 120.0], 0, 500) + CostTable.of([20.0], 0, 500)
    >>> table.rows, round(float(table.mean), 6)
    (4, 35.875)
    """

    low: float
    high: float
    weights: Array = field(default_factory=lambda: np.zeros(NODES))

    @classmethod
    def of(cls, amounts: ArrayLike, low: float, high: float) -> CostTable:
        """The amounts, refused where one is not between the ends."""
        table = cls(float(low), float(high))
        given = np.asarray(amounts, dtype=np.float64).ravel()
        if not table.low < table.high or not np.isfinite([table.low, table.high]).all():
            raise InputError(f"The range of the amounts is two numbers, the lower first, not ({low}, {high}).")
        outside = ~((given >= table.low) & (given <= table.high))
        if outside.any():
            raise InputError(
                f"{int(outside.sum()):,} of {len(given):,} amounts, such as {given[outside][0]:g}, are not between "
                f"{low:g} and {high:g}; give the range that no row can leave."
            )
        return cls(table.low, table.high, _divided(given, table.nodes))

    @property
    def nodes(self) -> Array:
        """The amounts that stand for all others."""
        steps = np.concatenate([[0.0], np.geomspace(_FINEST, 1, NODES - 1)])
        if self.low >= 0:
            return self.low + (self.high - self.low) * steps
        if self.high <= 0:
            return self.high + (self.low - self.high) * steps[::-1]
        fine = np.geomspace(_FINEST, 1, NODES // 2)
        return np.concatenate([self.low * fine[::-1], [0.0], self.high * fine])

    @property
    def rows(self) -> int:
        """How many amounts there are."""
        return round(float(self.weights.sum()))

    @property
    def mean(self) -> float:
        """Their mean, NaN where there are none."""
        return float(self.ratio.value(self.weights))

    @property
    def ratio(self) -> LinearRatio:
        """The mean as a ratio of sums over the nodes."""
        return LinearRatio(self.nodes, np.ones(NODES))

    def __add__(self, other: object) -> CostTable:
        if not isinstance(other, CostTable):
            return NotImplemented
        if (self.low, self.high) != (other.low, other.high):
            raise InputError("These amounts have other ranges; give both the same.")
        return CostTable(self.low, self.high, self.weights + other.weights)


def _divided(amounts: Array, nodes: Array) -> Array:
    """The weight of each node where every amount is divided among the two around it."""
    place = np.clip(np.searchsorted(nodes, amounts, side="right") - 1, 0, len(nodes) - 2)
    upper = (amounts - nodes[place]) / (nodes[place + 1] - nodes[place])
    size = len(nodes)
    return np.bincount(place, 1 - upper, size) + np.bincount(place + 1, upper, size)
