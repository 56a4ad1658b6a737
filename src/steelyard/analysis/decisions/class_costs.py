"""Class costs: what it costs to decide each class, by the class that is true; rows true, columns decided.

The decision of least expected cost is Bayes' (Elkan 2001, Proceedings of IJCAI, 973-978).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.exceptions import InputError, first_ten
from steelyard.metrics.expression import ratio
from steelyard.metrics.metric import Metric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array, Labels

EXPECTED_COST = "expected_cost"


@dataclass(frozen=True)
class NamedCosts:
    """Costs with the names of their rows and columns, where they have names."""

    costs: Sequence[Sequence[float]]
    index: Sequence[str] | None = None
    columns: Sequence[str] = ()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.costs, dtype=dtype)


def read_costs(given: Any, labels: Labels) -> Array:
    """The K x K costs in the order of the labels; those of a frame are matched by the names of its columns and rows."""
    k, names = len(labels), [str(label) for label in labels]
    shape = f"{k} x {k} numbers, 0 or more, rows true and columns decided, in the order {first_ten(labels)}"
    try:
        costs = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"cost_matrix= is {shape}; what was given holds something else than numbers.") from None
    if costs.shape != (k, k):
        raise InputError(f"cost_matrix= is {shape}; what was given has the shape {costs.shape}.")
    if hasattr(given, "columns"):
        costs = costs[np.ix_(_places(getattr(given, "index", None), names), _places(given.columns, names))]
    bad = ~np.isfinite(costs) | (costs < 0)
    if bad.any():
        i, j = (int(place[0]) for place in np.nonzero(bad))
        raise InputError(
            f"cost_matrix= is {shape}; true {labels[i]!r}, decided {labels[j]!r} costs {costs[i, j]:g}. A gain is "
            "the cost of what is lost without it."
        )
    if not (costs.max(1) > costs.min(1)).any():
        raise InputError("cost_matrix= costs the same whatever is decided; give errors a cost.")
    return costs


def _places(given: Any, names: list[str]) -> list[int]:
    """The places of the classes among the names of rows or columns; in their order where these are mere numbers."""
    found = [] if given is None else [str(name) for name in given]
    if sorted(found) == sorted(names):
        return [found.index(name) for name in names]
    if found == [str(i) for i in range(len(names))] or not found:
        return list(range(len(names)))
    raise InputError(f"cost_matrix= names {first_ten(found)} and the classes are {first_ten(names)}; name each once.")


def cost_metric(costs: Array, positive: int = 1) -> Metric:
    """The mean cost of rows as a metric of their table; of two classes one place is the positive one."""
    low, high, other = float(costs.min()), float(costs.max()), 1 - positive

    def mean_cost(c: Any) -> Any:
        """Mean cost of the rows."""
        matrix = np.asarray(c.matrix)
        return (matrix * costs).sum((-2, -1)) / matrix.sum((-2, -1))

    def mean_cost_of_two(c: Any) -> Any:
        """Mean cost of the rows, by the four counts."""
        hits, alarms = c.tp * costs[positive, positive], c.fp * costs[other, positive]
        misses, rejected = c.fn * costs[positive, other], c.tn * costs[other, other]
        return ratio(hits + misses + alarms + rejected, c.tp + c.fn + c.fp + c.tn)

    return Metric(
        EXPECTED_COST,
        "Expected cost",
        "own",
        (low, high),
        low,
        "lower",
        function=mean_cost_of_two,
        classes=mean_cost,
        allows_absent_classes=True,
    )


def least_cost(costs: Array, shares: Array) -> float:
    """The mean cost where the true class of every row is known."""
    return float(shares @ costs.min(1))
