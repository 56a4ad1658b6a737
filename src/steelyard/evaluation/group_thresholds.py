"""Group thresholds: the same threshold for all groups, or one each, and what each way costs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, Unpack

from steelyard.analysis.intervals.draws import generator
from steelyard.analysis.levels import check_level
from steelyard.analysis.results.blocks import Table
from steelyard.analysis.results.formatting import percent_text, three_digits
from steelyard.analysis.results.result import Result
from steelyard.analysis.thresholds.resampled_threshold import EQUAL_FLAGS, EQUAL_RECALL, PolicyTrial
from steelyard.exceptions import InputError, InputTypeError, did_you_mean
from steelyard.predictions import Predictions, question, refuse_unused
from steelyard.tables.counts import CELLS, Counts
from steelyard.tables.tally import Tally, group_label
from steelyard.tables.thresholding import ASSUMED_HALF, HALF

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import ArrayLike

    from steelyard._types import Rng
    from steelyard.analysis.thresholds.resampled_threshold import PolicyOutcome
    from steelyard.predictions import RowOptions, RowsLike


# ---------------------------------------------------------------- GroupThresholds
# Each group's threshold under three policies, what it does, and what to expect of new rows.


ALL_GROUPS = "all groups"
ROW_KEYS = 2  # columns that name a row: the policy and the group


@dataclass(frozen=True)
class GroupThreshold:
    """One group under one policy: its threshold, what it does to these rows, and what to expect of as many new rows.

    The row of all groups has no threshold of its own where each group has one. `new_` values are of rows that chose no
    threshold: resamples choose, and the rows that they leave out judge.
    """

    policy: str
    group: str
    threshold: float | None
    low: float | None
    high: float | None
    recall: float
    flag_rate: float
    flagged: float
    misses: float
    false_alarms: float
    cost: float
    new_recall: float | None = None
    new_flag_rate: float | None = None
    new_flagged: float | None = None
    new_misses: float | None = None
    new_false_alarms: float | None = None
    new_cost: float | None = None

    def row(self) -> dict[str, Any]:
        """The group as a row of a table."""
        return dict(vars(self))

    def shown_row(self) -> dict[str, Any]:
        """The group as people see it: what it does to these rows, and to new ones where that is known."""

        def now_and_new(name: str, text: Any) -> str:
            now, new = getattr(self, name), getattr(self, f"new_{name}")
            return text(now) if new is None else f"{text(now)} ({text(new)})"

        return {
            "policy": self.policy,
            "group": self.group,
            "threshold": self.threshold,
            "recall (new rows)": now_and_new("recall", percent_text),
            "flagged (new)": now_and_new("flagged", "{:,.0f}".format),
            "misses (new)": now_and_new("misses", "{:,.0f}".format),
            "false alarms (new)": now_and_new("false_alarms", "{:,.0f}".format),
            "cost (new)": now_and_new("cost", three_digits),
        }


@dataclass(frozen=True, eq=False, repr=False)
class GroupThresholds(Result[GroupThreshold]):
    """Thresholds for groups by three policies, the same one, equal recall and equal flag rates, and what each costs."""

    each: tuple[GroupThreshold, ...]
    by: tuple[str, ...]
    threshold: float
    costs: tuple[float, float, float, float]
    resamples: int
    level: float = 0.95
    assumed: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[GroupThreshold]:
        return iter(self.each)

    @property
    def totals(self) -> tuple[GroupThreshold, ...]:
        """Each policy over all groups."""
        return tuple(row for row in self.each if row.group == ALL_GROUPS)

    @property
    def headline(self) -> str:
        """What each policy costs."""
        costs = ((row.policy, row.cost if row.new_cost is None else row.new_cost) for row in self.totals)
        parts = [f"{three_digits(cost)} by {policy}" for policy, cost in costs]
        rows = "these rows" if not self.resamples else "as many new rows"
        return f"Errors of {rows} cost {', '.join(parts)}."

    @property
    def notes(self) -> tuple[str, ...]:
        """What the numbers rest on."""
        misses, false_alarms = self.costs[1], self.costs[2]
        costs = f"A miss costs {misses:g}, a false alarm {false_alarms:g}; other costs and rights are no part of this."
        new = f"New rows: thresholds chosen on {self.resamples:,} resamples, judged on the rows that each leaves out."
        return (costs, *((new,) if self.resamples else ()), *self.assumed)

    def shown_rows(self) -> list[dict[str, Any]]:
        """The rows as people see them: of new rows where they are known."""
        return [row.shown_row() for row in self.each]

    def shown_tables(self) -> list[Table]:
        """Each policy and group in a row."""
        return [Table.of(self, keys=ROW_KEYS)]


# ---------------------------------------------------------------- group thresholds


_NEEDED = "Thresholds of groups need scores, and two groups or more: give y_score= and by=."


@question
def group_thresholds(
    data: RowsLike = None,
    scored: ArrayLike | None = None,
    /,
    *,
    recall: float | None = None,
    flag_rate: float | None = None,
    cost: Mapping[str, float] | None = None,
    level: float = 0.95,
    draws: int | None = None,
    rng: Rng = None,
    **rows: Unpack[RowOptions],
) -> GroupThresholds:
    """Compare thresholds for groups: the same for all, one each for equal recall, one each for equal flag rates.

    Recall and flag rate are those that the same `threshold` gives on all rows (0.5 of probabilities), unless `recall`
    or `flag_rate` sets them. `cost` is what a decision costs, {"cost_fn": 10, "cost_fp": 1}, with "cost_tp" and
    "cost_tn". Thresholds chosen and judged on the same rows look better than they are: the values of new rows are those
    of thresholds that so many resamples (`draws`) chose, on the rows that each leaves out. It states numbers, and
    judges nothing.

    >>> y_true, site = [0, 0, 1, 1, 0, 0, 1, 1], ["a"] * 4 + ["b"] * 4
    >>> y_score = [0.2, 0.4, 0.6, 0.9, 0.1, 0.2, 0.3, 0.7]
    >>> for row in group_thresholds(y_true, y_score, by={"site": site}, recall=1, draws=0):
    ...     print(row.policy, "|", row.group, "|", row.threshold, row.recall, row.misses, row.false_alarms)
    same threshold | site = a | 0.5 1.0 0.0 0.0
    same threshold | site = b | 0.5 0.5 1.0 0.0
    same threshold | all groups | 0.5 0.75 1.0 0.0
    equal recall | site = a | 0.5 1.0 0.0 0.0
    equal recall | site = b | 0.25 1.0 0.0 0.0
    equal recall | all groups | None 1.0 0.0 0.0
    equal flag rate | site = a | 0.75 0.5 1.0 0.0
    equal flag rate | site = b | 0.5 0.5 1.0 0.0
    equal flag rate | all groups | None 0.5 2.0 0.0
    """
    p = Predictions.of(data, scored, second_is="y_score", **rows)
    refuse_unused(p, "group_thresholds", "cluster", "design")
    if p.given.by is None and not isinstance(p.given.data, Tally):
        raise InputTypeError(_NEEDED)
    counted = p.tally()
    threshold, resamples = p.given.threshold, 200 if draws is None else draws
    if counted.scores is None or len(counted.groups) < 2:
        raise InputTypeError(_NEEDED)
    check_level(level)
    if not isinstance(resamples, Integral) or isinstance(resamples, bool) or resamples < 0:
        raise InputError(argument="draws", expected="a whole number, 0 for none", given=draws)
    if threshold is None and not counted.scores.has_probabilities:
        raise InputError("The scores are not probabilities; give threshold=, from which a row is predicted positive.")
    at = HALF if threshold is None else float(threshold)
    for name, share in (("recall", recall), ("flag_rate", flag_rate)):
        if share is not None and not 0 <= share <= 1:
            raise InputError(argument=name, expected="a share between 0 and 1", given=share)
    tables = [group.scores for group in counted.groups.values() if group.scores is not None]  # as the whole has them
    targets = {EQUAL_RECALL: recall, EQUAL_FLAGS: flag_rate}
    outcomes = PolicyTrial(tables, at, targets, level, resamples).outcomes(generator(rng))
    labels = [group_label(counted.by, key) for key in counted.groups]
    costs = _costs(cost or {})
    rows = [row for policy, outcome in outcomes.items() for row in _rows(policy, outcome, labels, at, costs)]
    assumed = (*p.assumed, *((ASSUMED_HALF,) if threshold is None else ()))
    return GroupThresholds(tuple(rows), counted.by, at, costs, resamples, level, assumed)


def _costs(cost: Mapping[str, float]) -> tuple[float, float, float, float]:
    """What a row of each cell costs, in the order of the cells."""
    keys = {f"cost_{cell}": cell for cell in CELLS}
    for key, value in cost.items():
        if key not in keys:
            raise InputTypeError(f"{key!r} is no cost of groups; there are {', '.join(keys)}.{did_you_mean(key, keys)}")
        if not isinstance(value, (int, float)) or not math.isfinite(value):
            raise InputError(f"{key} is a finite number, not {value!r}.")
    every = {"cost_fn": 1.0, "cost_fp": 1.0, **cost}
    tp, fn, fp, tn = (float(every.get(key, 0.0)) for key in keys)
    return tp, fn, fp, tn


def _rows(
    policy: str, outcome: PolicyOutcome, labels: list[str], same: float, costs: tuple[float, float, float, float]
) -> Iterator[GroupThreshold]:
    """A policy's groups, and all of them together."""
    for i, group in enumerate(labels):
        low, high = (None, None) if outcome.ranges is None else outcome.ranges[i]
        seen, new = outcome.counts[i], None if outcome.unseen is None else outcome.unseen[i]
        at = outcome.thresholds[i]
        yield GroupThreshold(policy, group, at, low, high, *_numbers(seen, costs), *_numbers(new, costs))
    alike = same if set(outcome.thresholds) == {same} else None
    unseen = None if outcome.unseen is None else _added(outcome.unseen)
    whole = _numbers(_added(outcome.counts), costs)
    yield GroupThreshold(policy, ALL_GROUPS, alike, None, None, *whole, *_numbers(unseen, costs))


def _added(counts: list[Counts]) -> Counts:
    return Counts.trusted(*(float(sum(cells)) for cells in zip(*counts, strict=True)))


def _numbers(counts: Counts | None, costs: tuple[float, float, float, float]) -> tuple[Any, ...]:
    """Recall, flag rate, flagged, misses, false alarms and cost; none where they are not known."""
    if counts is None:
        return (None,) * 6
    tp, fn, fp, tn = (float(cell) for cell in counts)
    flagged, total = tp + fp, tp + fn + fp + tn
    cost = sum(each * cell for each, cell in zip(costs, (tp, fn, fp, tn), strict=True))
    recall = tp / (tp + fn) if tp + fn else math.nan
    return recall, flagged / total if total else math.nan, flagged, fn, fp, cost
