"""Row costs: what errors cost where rows differ, such as the amounts of transactions, summed at each score."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from steelyard.analysis.thresholds.threshold_criterion import Aim
from steelyard.analysis.thresholds.threshold_limits import in_range, read_limits
from steelyard.exceptions import InputError, InputTypeError, did_you_mean
from steelyard.ingest.bad_rows import naming_costs
from steelyard.metrics.registry import get_metric
from steelyard.statistics.class_scores import ClassScores
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from steelyard._types import Array
    from steelyard.analysis.prevalence.estimated_prevalence import PrevalenceLike
    from steelyard.analysis.thresholds.threshold_limits import Limit, LimitsLike
    from steelyard.statistics.counts import Counts

    ErrorCost: TypeAlias = float | str | ArrayLike  # of every row, or by row: a column's name, or its values
    CostsLike: TypeAlias = Mapping[str, ErrorCost]

_KEYS = {"positive": ("cost_fn", "cost_tp", "benefit_tp"), "negative": ("cost_fp", "cost_tn", "benefit_tn")}
COST_KEYS = tuple(key for keys in _KEYS.values() for key in keys)


def costs_by_row(costs: CostsLike) -> bool:
    """Whether a cost is one of each row, or a benefit, and the costs are not those of the expected cost alone."""
    if not isinstance(costs, Mapping):
        raise InputTypeError(f"cost= is a dictionary such as {{'cost_fn': 10, 'cost_fp': 1}}, not {costs!r}.")
    for key in costs:
        if key not in COST_KEYS:
            raise InputTypeError(f"{key!r} is no cost; there are {', '.join(COST_KEYS)}.{did_you_mean(key, COST_KEYS)}")
    return any(_is_column(cost) or key.startswith("benefit") for key, cost in costs.items())


def limits_with_costs(where: LimitsLike | None, aim: Aim | None) -> tuple[Limit, ...]:
    """The limits, of which one on the expected cost is read with the costs that are aimed at; None are costs by row."""
    limits = read_limits(where, any_bound=True)
    expected = get_metric("expected_cost")
    if aim is None and any(limit.metric is expected for limit in limits):
        raise InputError(
            "A limit on expected_cost takes costs that are numbers, the same for every row; write them in it, such as "
            "'expected_cost[cost_fn=10] <= 0.3', or give cost= without columns and benefits."
        )
    with_costs = (
        replace(limit, metric=aim.metrics[0], text=limit.text.replace(expected.name, aim.name, 1))
        if aim is not None and limit.metric is expected
        else limit
        for limit in limits
    )
    return tuple(map(in_range, with_costs))


@dataclass(frozen=True)
class CostAim(Aim):
    """The mean cost of a row, from tables of what a wrong decision costs more than the right one."""

    rows: float = 1.0
    right: tuple[float, float] = (0.0, 0.0)  # what all positives, and all negatives, cost if decided rightly
    shares: tuple[float, float] = (1.0, 1.0)  # how many times as many of each class there are at the prevalence

    @property
    def name(self) -> str:
        """What is looked for."""
        return "cost_per_row"

    @property
    def range(self) -> tuple[float, float]:
        """Costs are not bounded."""
        return -math.inf, math.inf

    def values(self, counts: Counts[Array]) -> Array:
        """The mean cost of a row at each table of costs."""
        (p, n), (of_positives, of_negatives) = self.shares, self.right
        return np.asarray((p * (counts.fn + of_positives) + n * (counts.fp + of_negatives)) / self.rows)


@dataclass(frozen=True)
class _Excess:
    """What a wrong decision costs more than the right one, summed at each score of a class, and what all right cost."""

    sums: Array
    squares: Array
    right: float


def cost_table(
    costs: CostsLike, rows: ScoreTable, by_column: Callable[[ErrorCost], ScoreTable], prevalence: PrevalenceLike | None
) -> tuple[ScoreTable, CostAim]:
    """The rows weighted by what a wrong decision on them costs more than the right one, and the aim that reads them."""
    sides, right = [], []
    for name, keys in _KEYS.items():
        of_rows = getattr(rows, name).compact()
        miss = 0.0 if keys[2] in costs else 1.0  # where a benefit is named, to miss it is what it costs
        given = [costs.get(key, default) for key, default in zip(keys, (miss, 0.0, 0.0), strict=True)]
        columns = {}
        for role, cost in enumerate(given):
            if _is_column(cost):
                with naming_costs(keys[role]):
                    columns[role] = _column(getattr(by_column(cost), name), of_rows)
        numbers = [0.0 if role in columns else float(cost) for role, cost in enumerate(given)]  # type: ignore[arg-type]  # a number
        if not np.isfinite(numbers).all():
            raise InputError(f"Costs are finite numbers, not {dict(zip(keys, given, strict=True))}.")
        excess = _excess(numbers, of_rows, columns)
        _check_excess(excess, keys)
        sides.append(ClassScores(of_rows.scores, of_rows.rows, excess.sums, excess.squares))
        right.append(excess.right)
    table = ScoreTable(sides[0], sides[1], rows.label, rows.bins, rows.precision)
    return table, _aim(rows, (right[0], right[1]), prevalence)


def _is_column(cost: ErrorCost) -> bool:
    return isinstance(cost, str) or bool(np.ndim(cost))


def _column(side: ClassScores, of_rows: ClassScores) -> tuple[Array, Array]:
    """The sums and the squares of a column at the scores of all rows; rows where it is 0 are not in its table."""
    compact = side.compact()
    places = np.searchsorted(of_rows.scores, compact.scores)
    sums, squares = np.zeros(len(of_rows.scores)), np.zeros(len(of_rows.scores))
    sums[places], squares[places] = compact.weights, compact.squares
    return sums, squares


def _excess(numbers: list[float], of_rows: ClassScores, columns: dict[int, tuple[Array, Array]]) -> _Excess:
    """The sums where costs are numbers, and where those of some roles are columns: a miss, a hit or its benefit."""
    miss, hit, benefit = numbers
    rows = of_rows.rows.astype(np.float64)
    each, right = miss - hit + benefit, (hit - benefit) * float(rows.sum())
    more, roots = np.zeros(len(rows)), np.zeros(len(rows))
    for role, (sums, squares) in columns.items():
        sign, of_right = ((1.0, 0.0), (-1.0, 1.0), (1.0, -1.0))[role]
        more += sign * sums
        roots += sign * np.sqrt(squares)  # exact of one row; of several, as if their columns rose and fell together
        right += of_right * float(sums.sum())
    return _Excess(rows * each + more, rows * each**2 + 2 * each * more + roots**2, right)


def _check_excess(excess: _Excess, keys: tuple[str, str, str]) -> None:
    least = -1e-9 * max(1.0, float(np.abs(excess.sums).max(initial=0.0)))
    if (excess.sums < least).any():
        raise InputError(f"A wrong decision costs at least as much as the right one; here {keys[1]} exceeds {keys[0]}.")


def _aim(rows: ScoreTable, right: tuple[float, float], prevalence: PrevalenceLike | None) -> CostAim:
    n, p = float(rows.n), float(rows.positive.n)
    shares = (1.0, 1.0)
    if prevalence is not None:
        at = float(np.asarray(prevalence, dtype=np.float64))
        shares = (at * n / p, (1 - at) * n / (n - p))
    return CostAim((get_metric("expected_cost"),), -1, n, right, shares)
