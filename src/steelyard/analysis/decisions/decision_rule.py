"""DecisionRule: the class that is decided for each row of probabilities, and which rows are left to a person."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard._types import Array, Label
from steelyard.analysis.distributions import normal_reach, student_quantile
from steelyard.analysis.intervals.rate_intervals import score_ends
from steelyard.analysis.results.formatting import percent_text, three_digits
from steelyard.analysis.results.result import Result
from steelyard.exceptions import InputError, first_ten
from steelyard.metrics.expression import ratio
from steelyard.metrics.measure import Metric

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steelyard._types import Labels
    from steelyard.analysis.decisions.best_decision import DecidedRows
    from steelyard.analysis.decisions.search import CrossFit


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
        """The index of the class that is decided for each row, the first of equally good ones."""
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
    return float(_ordered_limits(risks[order], np.cumsum(weights[order]), np.array([share]))[0])


def _ordered_limits(ordered: Array, kept: Array, shares: Array) -> Array:
    """The limit of each share, by the risks in their order and the weight that is kept up to each.

    It lies half-way between the risks of the last row that is kept and the first that is not.
    """
    end = len(ordered) - 1
    first = np.searchsorted(kept, (1 - shares - _ROUNDING) * kept[-1])  # the last row that must be kept
    last = np.searchsorted(ordered, ordered[np.minimum(first, end)], "right") - 1
    half_way = (ordered[last] + ordered[np.minimum(last + 1, end)]) / 2
    return np.where(last >= end, np.inf, half_way)


# ---------------------------------------------------------------- class costs
# What it costs to decide each class, by the class that is true; rows true, columns decided.
#
# The decision of least expected cost is Bayes' (Elkan 2001, Proceedings of IJCAI, 973-978).


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
    """The K x K costs in the order of the labels; a frame is matched by the names of its columns and rows."""
    k, names = len(labels), [str(label) for label in labels]
    shape = f"{k} x {k} numbers, 0 or more, rows true and columns decided, in the order {first_ten(labels)}"
    try:
        costs = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"cost_matrix= is {shape}; what was given holds something else than numbers.") from None
    if costs.shape != (k, k):
        raise InputError(f"cost_matrix= is {shape}; what was given has the shape {costs.shape}.")
    if hasattr(given, "columns"):
        rows, columns = _indices(getattr(given, "index", None), names), _indices(given.columns, names)
        costs = costs[np.ix_(rows, columns)]
    bad = ~np.isfinite(costs) | (costs < 0)
    if bad.any():
        i, j = np.argwhere(bad)[0].tolist()
        raise InputError(
            f"cost_matrix= is {shape}; true {labels[i]!r}, decided {labels[j]!r} costs {costs[i, j]:g}. A gain is "
            "the cost of what is lost without it."
        )
    if not (costs.max(1) > costs.min(1)).any():
        raise InputError("cost_matrix= costs the same whatever is decided; give errors a cost.")
    return costs


def _indices(axis: Any, names: list[str]) -> list[int]:
    """The index of each class among the names of rows or columns; an axis without names is in the classes' order."""
    given = [] if axis is None else [str(name) for name in axis]
    if sorted(given) == sorted(names):
        return [given.index(name) for name in names]
    if given == [str(i) for i in range(len(names))] or not given:
        return list(range(len(names)))
    raise InputError(f"cost_matrix= names {first_ten(given)} and the classes are {first_ten(names)}; name each once.")


def cost_metric(costs: Array, positive: int = 1) -> Metric:
    """The mean cost of rows as a metric of their table; `positive` is the index of the positive one of two classes."""
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


# ---------------------------------------------------------------- RiskCoverage
# What errors remain where the least certain rows are sent to a person.
#
# Chow (1970), IEEE Transactions on Information Theory 16, 41-46; El-Yaniv and Wiener (2010), Journal of Machine
# Learning Research 11, 1605-1641; the area, and that of the best order: Geifman, Uziel and El-Yaniv (2019), ICLR.


STOPS = np.concatenate([np.arange(20), np.arange(20, 100, 5)]) / 100  # the shares that are sent to a person


@dataclass(frozen=True)
class RiskPoint:
    """What remains at one limit of risk: the share that is kept, its risk with the interval, and the class kept least.

    `risk` is the share of the kept rows that are wrong, or their mean cost.
    """

    asked: float
    coverage: float
    risk: float
    low: float
    high: float
    limit: float
    least_coverage: float
    least_kept: Label

    def row(self) -> dict[str, Any]:
        """The point as a row of a table."""
        return dict(vars(self))


COLUMNS = tuple(field.name for field in fields(RiskPoint))[:-1]  # of numbers


@dataclass(frozen=True, eq=False, repr=False)
class RiskCoverage(Result[RiskPoint]):
    """The risk of the rows that are kept, over the share of the rows that is: those of highest risk go to a person.

    Columns hold a number for each share that was `asked` to be sent. `area` is the mean risk over all coverages,
    `least_area` that of the best order, in which all errors go first, and `whole` the risk of all rows, which is the
    area of a random order.
    """

    asked: Array
    coverage: Array
    risk: Array
    low: Array
    high: Array
    limit: Array
    least_coverage: Array
    least_kept: tuple[Label, ...]
    area: float
    least_area: float
    level: float = 0.95
    is_cost: bool = False

    @classmethod
    def of(
        cls, rows: DecidedRows, decided: CrossFit, costs: Array | None, level: float, *, intervals: bool = True
    ) -> RiskCoverage:
        """The curve of decisions and their risks; without intervals where the rows are not independent."""
        codes, decisions, risks = rows.table.codes, decided.decisions, decided.risks
        losses = (decisions != codes).astype(np.float64) if costs is None else costs[codes, decisions]
        points = _risk_points(rows, risks, losses, level if intervals else None, is_share=costs is None)
        columns = {name: np.array([getattr(point, name) for point in points]) for name in COLUMNS}
        return cls(
            **columns,
            least_kept=tuple(point.least_kept for point in points),
            area=_area(risks, losses, rows.weights),
            least_area=_area(losses, losses, rows.weights),
            level=level,
            is_cost=costs is not None,
        )

    @cached_property
    def points(self) -> tuple[RiskPoint, ...]:
        """A point for each share."""
        columns = [np.asarray(getattr(self, name)).tolist() for name in COLUMNS]
        return tuple(RiskPoint(*row) for row in zip(*columns, self.least_kept, strict=True))

    @property
    def whole(self) -> float:
        """The risk of all rows, none sent to a person."""
        return self.points[0].risk

    def at(self, share: float) -> RiskPoint:
        """The point where at most that share of the rows is sent to a person."""
        return max((point for point in self.points if point.asked <= share + 1e-12), key=lambda point: point.asked)

    def __iter__(self) -> Iterator[RiskPoint]:
        return iter(self.points)

    def __repr__(self) -> str:
        some, shown = self.at(0.05), three_digits if self.is_cost else percent_text
        what = "cost per row" if self.is_cost else "error"
        return (
            f"{what} {shown(self.whole)} of all rows, {shown(some.risk)} of the {percent_text(some.coverage)} that are "
            f"kept where the 5 % of highest risk go to a person; area {three_digits(self.area)}, at best "
            f"{three_digits(self.least_area)}"
        )


def _risk_points(
    rows: DecidedRows, risks: Array, losses: Array, level: float | None, *, is_share: bool
) -> list[RiskPoint]:
    """What remains where at most the shares of STOPS are sent; without a level there are no intervals."""
    table = rows.table
    order = np.argsort(risks, kind="stable")
    ordered, weights, ordered_losses = risks[order], rows.weights[order], losses[order]
    squares = table.squares if rows.factors is None else table.squares * rows.factors[table.codes] ** 2
    columns = (weights, weights * ordered_losses, weights * ordered_losses**2, squares[order])
    sums = np.stack([np.append(0.0, np.cumsum(column)) for column in columns])  # over the rows kept

    highest = float(ordered[-1])  # above which there is no row
    limits = np.minimum(_ordered_limits(ordered, sums[0, 1:], STOPS), highest)
    limits = np.asarray(np.where(STOPS > 0, limits, highest))  # few enough to be read here, wherever the rows are
    of_classes = []  # the share of each class that is kept
    for code in range(rows.k):
        of_class = np.sort(risks[table.codes == code])
        kept = np.searchsorted(of_class, limits, "right")
        of_classes.append(kept / len(of_class) if len(of_class) else np.ones(len(limits)))

    total, points = float(sums[0, -1]), []
    sums_kept = np.asarray(sums[:, np.searchsorted(ordered, limits, "right")])
    coverages = np.asarray(np.stack(of_classes))
    for share, limit, (weight, loss, squared_loss, squared_weight), by_class in zip(
        STOPS.tolist(), limits.tolist(), sums_kept.T, coverages.T, strict=True
    ):
        risk = float(loss / weight) if weight > 0 else np.nan
        effective_size = weight**2 / max(squared_weight, 1e-300)
        low, high = _risk_bounds(risk, squared_loss / max(weight, 1e-300), effective_size, level, is_share=is_share)
        least = int(np.argmin(by_class))
        coverage = float(weight / total)
        points.append(RiskPoint(share, coverage, risk, low, high, limit, float(by_class[least]), table.labels[least]))
    return points


def _risk_bounds(
    risk: float, mean_square: float, n: float, level: float | None, *, is_share: bool
) -> tuple[float, float]:
    """Wilson's interval of a share, Student's of a mean cost, by the effective number of rows."""
    if level is None or np.isnan(risk) or n < 2:
        return np.nan, np.nan
    if is_share:
        low, high = score_ends(risk, n, normal_reach(level))
        return min(float(low), risk), max(float(high), risk)
    standard_error = np.sqrt(max(mean_square - risk**2, 0.0) / (n - 1))
    half_width = float(student_quantile((1 + level) / 2, n - 1)) * standard_error
    return max(risk - half_width, 0.0), risk + half_width


def _area(risks: Array, losses: Array, weights: Array) -> float:
    """The integral over the coverage of the mean loss of the rows of lower risk; equal risks in a random order.

    Rows of weight w count as w rows do: the sum over rows that is often taken is the same but for some log(n) / n.
    """
    _, group = np.unique(risks, return_inverse=True)
    weight, loss = np.bincount(group, weights), np.bincount(group, weights * losses)
    weight, loss = weight[weight > 0], loss[weight > 0]
    before, lost = np.cumsum(weight) - weight, np.cumsum(loss) - loss
    rest = (lost[1:] - loss[1:] / weight[1:] * before[1:]) * np.log1p(weight[1:] / before[1:])
    return float((loss.sum() + rest.sum()) / weight.sum())
