"""GroupComparison: groups of rows by each metric: a test that all are equal, differences, and gaps of their rates."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from steelyard.analysis.comparison.groups import BY_DRAWS, BY_INTERVALS, GroupGap, GroupTest
from steelyard.analysis.results.formatting import (
    bounds_text,
    difference_text,
    filled,
    interval_text,
    listed,
    p_text,
    three_digits,
)
from steelyard.analysis.results.result import Flat, Result, table_text
from steelyard.exceptions import InputError, did_you_mean
from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from collections.abc import Iterator

REST = "all other rows"


@dataclass(frozen=True, eq=False)
class GroupDifference(Flat):
    """A metric of one group minus that of another, or of all other rows; all intervals of the metric hold together."""

    spec: MetricSpec = field(metadata={"key": "metric"})
    group: str
    other: str
    value: float
    other_value: float
    difference: float
    low: float
    high: float
    undefined: str | None = None

    @property
    def metric(self) -> str:
        """The written form of the metric."""
        return self.spec.name

    @property
    def differs(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low > 0 or self.high < 0

    def row(self) -> dict[str, Any]:
        """The difference as a row of a table."""
        return {"metric": self.metric, **{key: value for key, value in vars(self).items() if key != "spec"}}

    def text(self) -> str:
        """The difference with its interval: -12.1 points (-20.3 to -3.1)."""
        share = self.spec.is_share
        if math.isnan(self.difference):
            return self.undefined or "undefined"
        if not share:
            return interval_text(self.difference, self.low, self.high)
        return f"{difference_text(self.difference, share=True)} ({bounds_text(100 * self.low, 100 * self.high)})"

    def __repr__(self) -> str:
        return f"{self.metric}, {self.group} minus {self.other}: {self.text()}"


@dataclass(frozen=True, eq=False, repr=False)
class GroupComparison(Result[GroupDifference]):
    """The comparison of groups of rows, metric by metric; iterates over the differences.

    `tests` holds one test per metric that all groups are equal, `gaps` the gaps by fairlearn's names, where there is a
    positive class. The intervals of all differences of a metric hold together at the level; metrics and gaps are each
    judged alone.
    """

    by: tuple[str, ...]
    groups: tuple[str, ...]
    sizes: tuple[int, ...]
    differences: tuple[GroupDifference, ...]
    tests: tuple[GroupTest, ...]
    gaps: tuple[GroupGap, ...] = ()
    level: float = 0.95
    versus: str = REST
    assumed: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[GroupDifference]:
        return iter(self.differences)

    def test(self, metric: str) -> GroupTest:
        """The test that all groups are equal by this metric."""
        tests = {test.metric: test for test in self.tests}
        if metric not in tests:
            raise InputError(f"{metric} was not compared; there are {', '.join(tests)}.{did_you_mean(metric, tests)}")
        return tests[metric]

    def gap(self, name: str) -> GroupGap:
        """The gap of this name, such as equalized_odds_difference."""
        gaps = {gap.name: gap for gap in self.gaps}
        if name not in gaps:
            there = f"there are {', '.join(gaps)}" if gaps else "gaps need labels and a positive class"
            raise InputError(f"There is no gap {name!r}; {there}.{did_you_mean(name, gaps)}")
        return gaps[name]

    @property
    def headline(self) -> str:
        """By which metrics the groups differ."""
        tested = [test for test in self.tests if not math.isnan(test.p_value)]
        shown = [test.metric for test in tested if test.p_value <= 1 - self.level]
        groups = f"{len(self.groups):,} groups by {', '.join(self.by)}"
        if not tested:
            return f"Whether {groups} differ is not known: no test of {len(self.tests):,} metrics applies."
        if not shown:
            untested = len(self.tests) - len(tested)
            rest = f"; {untested:,} could not be tested" if untested else ""
            return f"{groups} are not shown to differ by any of {len(tested):,} metrics{rest}."
        return f"{groups} differ by {listed(shown)}."

    @property
    def notes(self) -> tuple[str, ...]:
        """The tests and the gaps, and what the numbers rest on, in sentences."""
        tests = (f"{row['metric']}: all groups equal, {row['all groups equal']}." for row in self.test_rows())
        gaps = (f"{row['gap']} {row['value']}{_beside(row['if equal'])}." for row in self.gap_rows())
        return (*tests, *gaps, *self.basis)

    @property
    def basis(self) -> tuple[str, ...]:
        """What the numbers rest on, in sentences."""
        methods = {test.method for test in self.tests}
        exact = "the exact one of rates by Monte Carlo draws without replacement" if BY_DRAWS in methods else ""
        others = "by the groups' intervals" if BY_INTERVALS in methods else ""
        how = "; of other metrics ".join(filter(None, (exact, others)))
        tests = f"The test of each metric is {how}. Each is judged alone: 1 of 20 tests of equal groups is below 0.05."
        bound = "Where p is a bound (<=), no draw differed as much as the groups do."
        pairs = (
            f"All differences of one metric hold together with {100 * self.level:g} %, and so do those that a gap is "
            "made of; rows of different groups are taken as independent."
        )
        return (tests, *((bound,) if any(test.is_bound for test in self.tests) else ()), pairs, *self.assumed)

    def shown_rows(self) -> list[dict[str, Any]]:
        """The differences as people see them."""
        return [
            {"metric": row.metric, "group": row.group, "minus": row.other, "difference": row.text()}
            for row in self.differences
        ]

    def test_rows(self) -> list[dict[str, Any]]:
        """The tests as people see them."""
        return [
            {
                "metric": test.metric,
                "all groups equal": _or_reason(test.p_value, test.undefined) or _p_value(test),
                "groups": test.groups,
                "method": test.method,
            }
            for test in self.tests
        ]

    def gap_rows(self) -> list[dict[str, Any]]:
        """The gaps as people see them."""
        return [
            {
                "gap": gap.name,
                "value": _or_reason(gap.value, gap.undefined) or interval_text(gap.value, gap.low, gap.high),
                "if equal": None if gap.if_equal is None or math.isnan(gap.if_equal) else three_digits(gap.if_equal),
                "lowest": gap.lowest or None,
                "highest": gap.highest or None,
            }
            for gap in self.gaps
        ]

    def __repr__(self) -> str:
        tables = (table_text(rows) for rows in (self.test_rows(), self.shown_rows(), self.gap_rows()))
        return "\n\n".join([filled(self.headline), *filter(None, tables), "\n".join(map(filled, self.basis))])


def _or_reason(value: float, undefined: str | None) -> str:
    """Why a value is undefined; nothing where it is not."""
    return (undefined or "undefined") if math.isnan(value) else ""


def _p_value(test: GroupTest) -> str:
    return f"p <= {test.p_value:.3g}" if test.is_bound else p_text(test.p_value)


def _beside(equal: str | None) -> str:
    return "" if equal is None else f", where equal groups show {equal} on average"
