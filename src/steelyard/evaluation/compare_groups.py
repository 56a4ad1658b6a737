"""Compare groups: whether a metric is the same in all groups of rows, by how much they differ, and their gaps."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from itertools import accumulate, combinations
from operator import add
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

import numpy as np

from steelyard.analysis.comparison.groups import (
    BY_DRAWS,
    BY_INTERVALS,
    RATES_COMPARED,
    GroupGap,
    GroupTest,
    RateDraws,
    RateEnds,
    difference_ends,
    gaps_of,
    interval_equality,
    level_of_each,
)
from steelyard.analysis.intervals.draws import COUNT_DRAWS
from steelyard.analysis.intervals.inference import Inference
from steelyard.analysis.intervals.rate_intervals import hits_and_trials, is_rate
from steelyard.analysis.results.blocks import Table
from steelyard.analysis.results.formatting import (
    bounds_text,
    difference_text,
    interval_text,
    listed,
    p_text,
    three_digits,
)
from steelyard.analysis.results.result import Flat, Result
from steelyard.evaluation.evaluate import evaluated_rows
from steelyard.evaluation.evaluation import Evaluation, group_rows
from steelyard.exceptions import InputError, InputTypeError, did_you_mean, first_ten
from steelyard.metrics.registry import get_metrics
from steelyard.metrics.spec import MetricSpec
from steelyard.metrics.usual import ON_PAGE_OF_GROUPS
from steelyard.predictions import Predictions, question
from steelyard.tables.confusion import Confusion
from steelyard.tables.score_table import ScoreTable
from steelyard.tables.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Label, Labels, Rng
    from steelyard.evaluation.class_columns import GroupedColumns
    from steelyard.evaluation.evaluation import MetricRow
    from steelyard.metrics.measure import Metric
    from steelyard.metrics.spec import SpecLike
    from steelyard.predictions import RowOptions, RowsLike


# ---------------------------------------------------------------- GroupComparison
# Groups of rows by each metric: a test that all are equal, differences, and gaps of their rates.


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

    def shown_tables(self) -> list[Table]:
        """The tests, the differences and the gaps."""
        tests = Table(self.test_rows(), "tests")
        gaps = Table(self.gap_rows(), "gaps")
        return [tests, Table.of(self, "differences", keys=3), gaps]

    def shown_rows(self) -> list[dict[str, Any]]:
        """The differences as people see them."""
        return [
            {"metric": row.metric, "group": row.group, "minus": row.other, "difference": row.text()}
            for row in self.differences
        ]

    def test_rows(self) -> list[dict[str, Any]]:
        """The tests as people see them."""
        rows = []
        for test in self.tests:
            p_value = f"p <= {test.p_value:.3g}" if test.is_bound else p_text(test.p_value)
            equal = _or_reason(test.p_value, test.undefined) or p_value
            rows.append(
                {"metric": test.metric, "all groups equal": equal, "groups": test.groups, "method": test.method}
            )
        return rows

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


def _or_reason(value: float, undefined: str | None) -> str:
    """Why a value is undefined; nothing where it is not."""
    return (undefined or "undefined") if math.isnan(value) else ""


# ---------------------------------------------------------------- group parts
# The tables of each group of rows, or of all rows but those, and their metrics at any level.


_Table = TypeVar("_Table", bound=Confusion | ScoreTable)
MOST_COMPARED = 200  # more are names of rows, or numbers
_DRAWS_BEYOND = 20  # that an end should have beyond it
_MOST_DRAWS = 100_000
_MOST_ROWS = 10**9  # of which NumPy draws without replacement


def check_group_number(groups: int) -> None:
    """Refuse more groups than are compared."""
    if groups > MOST_COMPARED:
        raise InputError(f"There are {groups:,} groups; at most {MOST_COMPARED:,} are compared. Merge small ones.")


@dataclass(frozen=True)
class GroupParts:
    """The tables of groups, and how their intervals are made; `columns` are the scores of every class."""

    keys: Sequence[Labels]
    names: tuple[str, ...]
    tables: Sequence[Confusion | None]
    scores: Sequence[ScoreTable | None]
    positive: Label
    inference: Inference
    columns: GroupedColumns | None = None

    @classmethod
    def of(cls, evaluation: Evaluation, inference: Inference, columns: GroupedColumns | None = None) -> GroupParts:
        """The groups of an evaluation; refused where there is no second one, or its tables were not kept."""
        groups = evaluation.groups
        if len(groups) < 2:
            there = f"is one group alone, {groups[0].label}" if groups else "are no groups"
            raise InputError(f"Groups are compared, and there {there}; name a column with by=.")
        check_group_number(len(groups))
        if all(group.confusion is None and group.scores is None for group in groups):
            raise InputError("This evaluation was saved without the tables of its groups; give the rows, with by=.")
        names = tuple(group.label for group in groups)
        tables, scores = [group.confusion for group in groups], [group.scores for group in groups]
        return cls([group.key for group in groups], names, tables, scores, evaluation.positive, inference, columns)

    def rest(self) -> GroupParts:
        """For each group all rows but its own."""
        clustered, columns = self.inference.clustered, self.columns
        if clustered is not None:
            others = {key: _others(len(np.asarray(clustered.clusters)), clustered.groups[key]) for key in self.keys}
            clustered = clustered._replace(groups=others)
        if columns is not None:
            columns = columns._replace(
                indices={key: _others(len(columns.table.codes), columns.indices[key]) for key in self.keys}
            )
        return replace(
            self,
            tables=_sums_of_others(self.tables),
            scores=_sums_of_others(self.scores),
            inference=replace(self.inference, clustered=clustered),
            columns=columns,
        )

    def rows(self, specs: Sequence[MetricSpec], level: float) -> list[dict[str, MetricRow]]:
        """The metrics of each group by name, with intervals of that level."""
        draws = int(np.clip(2 * _DRAWS_BEYOND / (1 - level), self.inference.draws or COUNT_DRAWS, _MOST_DRAWS))
        rates = [s for s in specs if s.is_native and s.metric.function is not None and is_rate(s.metric)]
        others = [spec for spec in specs if spec not in rates]
        every = []
        for key, table, scores in zip(self.keys, self.tables, self.scores, strict=True):
            inference = replace(self.inference.of_group(key), level=level, draws=draws)
            rows: list[MetricRow] = []
            if not self._reads_rates(table):
                rows += group_rows(table, scores, self.positive, specs, inference)
            else:
                if rates:  # closed forms, whose far bounds do not depend on draws
                    rows += group_rows(table, None, self.positive, rates, replace(inference, method="wilson"))
                if others:
                    rows += group_rows(table, scores, self.positive, others, inference)
            if self.columns is not None:
                rows += self.columns.group_rows(key, specs, inference)
            every.append({row.name: row for row in rows})
        return every

    def _reads_rates(self, table: Confusion | None) -> bool:
        """Whether rates have closed forms: rows of one weight, independent, at their own prevalence."""
        usual = self.inference.clustered is None and self.inference.prevalence is None
        return usual and self.positive is not None and table is not None and not table.weighted

    def bounds(self, specs: Sequence[MetricSpec], level: float) -> tuple[dict[str, Array], dict[str, str]]:
        """The value, low and high of each group by metric, and why a metric is undefined in one."""
        rows = self.rows(specs, level)
        names = dict.fromkeys(name for group in rows for name in group)
        bounds: dict[str, Array] = {}
        why: dict[str, str] = {}
        for name in names:
            of_groups = np.full((len(rows), 3), math.nan)
            for i, (label, group) in enumerate(zip(self.names, rows, strict=True)):
                row = group.get(name)
                if row is not None:
                    of_groups[i] = row.value, row.low, row.high
                    if math.isnan(row.value):
                        why.setdefault(name, f"{row.undefined or 'undefined'} where {label}")
            bounds[name] = of_groups
        return bounds, why

    def hits(self, metric: Metric) -> tuple[Array, Array] | None:
        """The hits and trials of each group of a rate; None where rows are weighted, clustered, or too many to draw."""
        if not is_rate(metric) or not all(map(self._reads_rates, self.tables)):
            return None
        counts = [table.counts(self.positive) for table in self.tables if table is not None]
        hits, trials = np.array([hits_and_trials(metric, each) for each in counts]).astype(np.int64).T
        return (hits, trials) if 0 < trials.sum() < _MOST_ROWS else None


def _others(rows: int, indices: Array) -> Array:
    """The indices of all rows but these."""
    is_other = np.ones(rows, dtype=bool)
    is_other[indices] = False
    return np.flatnonzero(is_other)


def _sums_of_others(tables: Sequence[_Table | None]) -> list[_Table | None]:
    """For each table the sum of all others; None where one is missing."""
    known = [table for table in tables if table is not None]
    if len(known) < len(tables):
        return [None for _ in tables]
    up_to = list(accumulate(known, add))  # the sum of each table and all before it
    from_on = list(accumulate(reversed(known), add))[::-1]  # the sum of each table and all after it
    last = len(known) - 1
    return [from_on[1], *(up_to[i - 1] + from_on[i + 1] for i in range(1, last)), up_to[last - 1]]


# ---------------------------------------------------------------- compare groups


_PAIRS = "pairs"
_ALL_OTHERS = -1  # in the place of a group's index
_MOST_ON_A_PAGE = 20  # groups


@question
def compare_groups(
    data: RowsLike | Evaluation = None,
    predicted: ArrayLike | None = None,
    /,
    *,
    metrics: Iterable[SpecLike] | None = None,
    versus: Label = "rest",
    level: float = 0.95,
    draws: int | None = None,
    rng: Rng = None,
    **rows: Unpack[RowOptions],
) -> GroupComparison:
    """Compare groups of rows by each metric: one test that all are equal, and differences that hold together.

    The rows have groups (`by`, and `bins` of a column of numbers); or give an Evaluation that has groups. `versus` says
    what each group is compared with: "rest", all other rows; "pairs", every other group; or one group by its name. The
    intervals of all differences of a metric hold together at the level. Beside them stand the gaps and ratios of
    demographic parity, equal opportunity, equalized odds and predictive parity, by fairlearn's names and with its
    values. The largest gap of equal groups is not 0 in any sample, so its interval is made of those of all pairs
    together. Rows of different groups are taken as independent; where a `cluster` has rows in several groups the
    intervals are wider than need be.

    >>> from steelyard import compare_groups
    >>> y_true, site = [1] * 80 + [0] * 120, ["a"] * 40 + ["b"] * 40 + ["a"] * 60 + ["b"] * 60
    >>> y_pred = [1] * 36 + [0] * 4 + [1] * 20 + [0] * 20 + [0] * 120
    >>> groups = compare_groups(y_true, y_pred, by={"site": site}, metrics=["recall"])
    >>> groups.differences[0]
    recall, site = a minus site = b: 40.0 points (20.3 to 56.0)
    >>> print(f"{groups.test('recall').p_value:.4f}")
    0.0005
    """
    if isinstance(data, Evaluation) and not data.per_label:
        given = next((name for name, value in {"y_pred": predicted, **rows}.items() if value is not None), None)
        if given is not None:
            raise InputTypeError(f"{given}= is about rows, and an Evaluation holds its groups; give one of them.")
        return compared_groups(data, Inference(data.level, "auto", draws, rng), metrics, versus)
    p = Predictions.of(data, predicted, **rows)
    if p.given.by is None and not getattr(p.given.data, "groups", None):
        raise InputTypeError("by= names the groups to compare: a column of the frame, or one value per row.")
    if isinstance(p.given.data, Tally):
        check_group_number(len(p.given.data.groups))  # before each is evaluated
    inference = Inference(level, "auto", draws, rng, None, None, p.design)
    evaluation, inference, probabilities = evaluated_rows(p, inference, metrics=metrics)
    return compared_groups(evaluation, inference, metrics, versus, probabilities)


def compared_groups(
    evaluation: Evaluation,
    inference: Inference,
    metrics: Iterable[SpecLike] | None = None,
    versus: Label = "rest",
    columns: GroupedColumns | None = None,
) -> GroupComparison:
    """The comparison of the groups of an evaluation by these metrics, or by the usual ones."""
    if inference.clustered is None and evaluation.is_clustered:
        raise InputError(
            "The rows of this evaluation are clustered, and it does not keep them; give the rows, with by=."
        )
    inference = replace(inference, prevalence=evaluation.prevalence)
    parts = GroupParts.of(evaluation, inference, columns)
    specs = _specs(evaluation) if metrics is None else MetricSpec.all_of(metrics)
    bounds, why = parts.bounds(specs, inference.level)
    by_name = {spec.name: spec for spec in reversed(specs)}
    compared = [by_name.get(name) or MetricSpec.of(name) for name in bounds]
    other = _other(versus, parts)
    differences = [row for spec in compared for row in _differences(parts, spec, other)]
    other_name = _PAIRS if other is None else REST if other == _ALL_OTHERS else parts.names[other]
    return GroupComparison(
        evaluation.groups[0].by,
        parts.names,
        tuple(group.rows for group in evaluation.groups),
        tuple(differences),
        tuple(_test(parts, spec, bounds[spec.name], why.get(spec.name)) for spec in compared),
        tuple(_gaps(parts)),
        inference.level,
        other_name,
        evaluation.assumed,
    )


def groups_on_a_page(evaluation: Evaluation, names: Iterable[SpecLike]) -> GroupComparison | None:
    """The comparison of few groups by the metrics that a page shows; None where it cannot be made of the tables."""
    kept = all(group.confusion is not None for group in evaluation.groups)
    if not 2 <= len(evaluation.groups) <= _MOST_ON_A_PAGE or evaluation.is_clustered or not kept:
        return None
    specs = [spec for spec in MetricSpec.all_of(names) if spec.metric.scores is None and spec.metric.columns is None]
    return compared_groups(evaluation, Inference(evaluation.level), specs) if specs else None


def _specs(evaluation: Evaluation) -> list[MetricSpec]:
    """The metrics that a table of groups shows, or all that were evaluated of each group where they were named."""
    rows = [row for row in evaluation.groups[0].metrics if all(row.name in group for group in evaluation.groups)]
    usual = [row.spec for row in rows if row.spec.metric.name in ON_PAGE_OF_GROUPS and row.spec.is_native]
    return usual if usual and not evaluation.metrics_named else [row.spec for row in rows]


def _other(versus: Label, parts: GroupParts) -> int | None:
    """What each group is compared with: the index of a group, -1 for all other rows, None for each other group."""
    if versus == "rest" and len(parts.names) > 2:
        return _ALL_OTHERS
    if versus in ("rest", _PAIRS):  # of two groups the other is the rest
        return None
    for i, (name, key) in enumerate(zip(parts.names, parts.keys, strict=True)):
        if versus in (name, key) or (str(versus),) == tuple(map(str, key)):
            return i
    near = did_you_mean(str(versus), parts.names)
    raise InputError(
        f"versus= is 'rest', 'pairs' or a group, not {versus!r}; the groups are {first_ten(list(parts.names))}.{near}"
    )


def _differences(parts: GroupParts, spec: MetricSpec, other: int | None) -> Iterator[GroupDifference]:
    """The differences by one metric, whose intervals hold together."""
    size = len(parts.names)
    pairs = list(combinations(range(size), 2)) if other is None else [(i, other) for i in range(size) if i != other]
    level = level_of_each(parts.inference.level, len(pairs))
    bounds, why = parts.bounds([spec], level)
    of_groups, reasons = bounds[spec.name], [why.get(spec.name)]
    of_others = of_groups
    if other == _ALL_OTHERS:
        rest_bounds, rest_why = parts.rest().bounds([spec], level)
        of_others = rest_bounds[spec.name]
        reasons.append(rest_why.get(spec.name))
    width = spec.metric.range[1] - spec.metric.range[0]  # no difference is larger
    for i, j in pairs:
        value, opposite = of_groups[i], of_others[i if other == _ALL_OTHERS else j]
        difference, low, high = np.clip(difference_ends(value, opposite), -width, width).tolist()
        undefined = next(filter(None, reasons), "undefined") if math.isnan(difference) else None
        name = REST if other == _ALL_OTHERS else parts.names[j]
        values = float(value[0]), float(opposite[0])
        yield GroupDifference(spec, parts.names[i], name, *values, difference, low, high, undefined)


def _test(parts: GroupParts, spec: MetricSpec, bounds: Array, why: str | None) -> GroupTest:
    """The test that all groups are equal by a metric, of those in which it is defined."""
    defined = int(np.isfinite(bounds[:, 0]).sum())
    rates = parts.hits(spec.metric) if spec.is_native and spec.metric.function is not None else None
    if defined < 2:
        return GroupTest(spec, defined, math.nan, math.nan, BY_INTERVALS, why or "fewer than two groups have a value")
    if rates is not None:
        drawn = RateDraws(*rates, parts.inference.generator)
        statistic, p = drawn.equality()
        return GroupTest(spec, defined, statistic, p, BY_DRAWS, why, drawn.is_bound(p))
    return GroupTest(spec, defined, *interval_equality(bounds, parts.inference.level), BY_INTERVALS, why)


def _gaps(parts: GroupParts) -> Iterator[GroupGap]:
    """The gaps by the rates that each notion of fairness compares; none without labels or a positive class."""
    if parts.positive is None or any(table is None for table in parts.tables):
        return
    pairs, rng = len(parts.names) * (len(parts.names) - 1) // 2, parts.inference.generator
    for role, names in RATES_COMPARED.items():
        rates, specs = [], [MetricSpec(metric) for metric in get_metrics(names)]
        bounds, why = parts.bounds(specs, level_of_each(parts.inference.level, pairs * len(specs)))
        for spec in specs:
            hits = parts.hits(spec.metric)
            drawn = None if hits is None or why.get(spec.name) else RateDraws(*hits, rng).rates
            rates.append(RateEnds(spec.name, bounds[spec.name], drawn, why.get(spec.name)))
        yield from gaps_of(role, rates, parts.names)
