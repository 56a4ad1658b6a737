"""DecisionRule: the class that is decided for each row of probabilities, and which rows are left to a person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from steelyard._types import Array

_ROUNDING = 1e-12  # of the share that is kept


@dataclass(frozen=True, eq=False)
class DecisionRule:
    """How a class is decided: by thresholds of the classes or by costs; above a limit of risk a person decides.

    The probability of each class is divided by its threshold, and all by their sum. Without costs the largest is
    decided, with them the column of least expected cost. The risk of a row is what its decision is then expected to
    cost; without costs every error costs 1.
    """

    thresholds: Array
    costs: Array | None = None
    limit: float = np.inf

    @classmethod
    def of_argmax(cls, k: int) -> DecisionRule:
        """The most probable of k classes."""
        return cls(np.full(k, 1 / k))

    @property
    def is_of_thresholds(self) -> bool:
        """Whether the thresholds alone decide: without costs, and where every error costs the same."""
        if self.costs is None:
            return True
        apart = self.costs[~np.eye(len(self.costs), dtype=bool)]
        return not np.diagonal(self.costs).any() and bool((apart == apart[0]).all())

    def decisions(self, probabilities: Array) -> Array:
        """The place of the class that is decided for each row, the first of equally good ones."""
        if self.costs is None:
            highest: Array = (probabilities / self.thresholds).argmax(1)
            return highest
        return np.asarray(self._expected_costs(probabilities).argmin(1))

    def risks(self, probabilities: Array) -> Array:
        """What the decision of each row is expected to cost."""
        if self.costs is None:
            divided = probabilities / self.thresholds
            others: Array = 1 - divided.max(1) / divided.sum(1)
            return others
        return np.asarray(self._expected_costs(probabilities).min(1))

    def sent(self, probabilities: Array) -> Array:
        """Which rows are left to a person."""
        if self.limit == np.inf:
            return np.zeros(len(probabilities), dtype=bool)
        return np.asarray(self.risks(probabilities) > self.limit)

    def _expected_costs(self, probabilities: Array) -> Array:
        divided = probabilities / self.thresholds
        return np.asarray((divided / divided.sum(1, keepdims=True)) @ self.costs)


def limit_of_share(risks: Array, weights: Array, share: float) -> float:
    """The limit of risk above which that share of the rows lies, or less where rows of one risk are more."""
    order = np.argsort(risks, kind="stable")
    return ordered_limit(risks[order], np.cumsum(weights[order]), share)


def ordered_limit(ordered: Array, kept: Array, share: float) -> float:
    """The same of risks in their order, and the weight that is kept up to each.

    It lies half-way between the risks of the last row that is kept and the first that is not.
    """
    return float(ordered_limits(ordered, kept, np.array([share]))[0])


def ordered_limits(ordered: Array, kept: Array, shares: Array) -> Array:
    """The limits of several shares."""
    end = len(ordered) - 1
    first = np.searchsorted(kept, (1 - shares - _ROUNDING) * kept[-1])  # the last row that must be kept
    last = np.searchsorted(ordered, ordered[np.minimum(first, end)], "right") - 1
    half_way = (ordered[last] + ordered[np.minimum(last + 1, end)]) / 2
    return np.where(last >= end, np.inf, half_way)
