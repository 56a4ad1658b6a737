"""Comparison: the differences of models on the same rows by every metric, with the classical tests beside them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.chance.chance import Baselines, LabelSetBaselines
from steelyard.analysis.comparison.classical_tests import McNemar
from steelyard.analysis.comparison.evidence import LARGEST_PAIR, WALD_TEST, Omnibus
from steelyard.analysis.comparison.leaderboard import Leaderboard, Statement, leaderboard
from steelyard.analysis.comparison.metric_ranking import PrevalenceLeaders, Ranking, prevalence_leaders, ranking
from steelyard.analysis.comparison.outcomes import AT_CAPACITY, OF_LABELS, Outcomes
from steelyard.analysis.comparison.paired import DeLong
from steelyard.analysis.comparison.verdict import Size, Verdict
from steelyard.analysis.intervals.estimand import Estimand
from steelyard.analysis.intervals.interval import Interval
from steelyard.analysis.results.formatting import p_text
from steelyard.analysis.results.result import Flat, Result, Rows
from steelyard.analysis.results.result_json import read_metric
from steelyard.exceptions import InputError, did_you_mean
from steelyard.metrics.call_options import CallOptions
from steelyard.metrics.score_values import class_of_columns, reads_columns
from steelyard.metrics.spec import MetricSpec
from steelyard.tables.confusion import Confusion
from steelyard.tables.multilabel_table import MultilabelTable
from steelyard.tables.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from steelyard._types import Label, Labels
    from steelyard.metrics.spec import SpecLike
    from steelyard.metrics.values import MetricValue
    from steelyard.tables.probability_table import ProbabilityTable
    from steelyard.tables.statistic import AnyTable


# ---------------------------------------------------------------- paired difference
# How much one model exceeds another by a metric, and the models' tables that it comes from.


@dataclass(frozen=True, eq=False)
class Difference(Flat):
    """How much model a exceeds model b by one metric, the interval of that, and the test that it is 0.

    The simultaneous interval holds for all pairs of models together. `p_not_worse` is the one-sided p-value of a being
    worse than b by the margin or more, where a margin is given: where it is small, a is not.
    """

    a: str
    b: str
    spec: MetricSpec = field(metadata={"key": "metric"})
    value_a: float
    value_b: float
    difference: float
    low: float = math.nan
    high: float = math.nan
    p_value: float = math.nan
    p_holm: float = math.nan
    method: str = ""
    undefined_share: float = 0.0
    why: str | None = None
    simultaneous_low: float = math.nan
    simultaneous_high: float = math.nan
    p_not_worse: float | None = None

    @property
    def metric(self) -> str:
        """The written form of the metric."""
        return self.spec.name

    def row(self) -> dict[str, Any]:
        """The difference as a row of a table."""
        columns = ("metric" if name == "spec" else name for name in vars(self))
        return {column: getattr(self, column) for column in columns}


@dataclass(frozen=True, eq=False)
class ModelTables:
    """The tables of each model, by its name, the metrics and the options, and the thresholds that made the labels."""

    specs: tuple[MetricSpec, ...]
    options: CallOptions
    labels: Mapping[str, Confusion] = field(default_factory=dict)
    scores: Mapping[str, ScoreTable] = field(default_factory=dict)
    thresholds: Mapping[str, float] = field(default_factory=dict)
    columns: Mapping[str, ProbabilityTable] = field(default_factory=dict)  # not saved: they hold every row
    label_sets: Mapping[str, MultilabelTable] = field(default_factory=dict)  # nor are these
    positive: Label = None  # as the rows write it: tables of thresholded scores hold False and True
    classes: Labels = ()  # of the rows, where labels are compared

    def saved(self) -> dict[str, Any]:
        """What JSON holds of them: the metrics, the class or the average, and each table."""
        tables = {"labels": dict(self.labels), "scores": dict(self.scores)}
        options = {"positive": self.options.pos_label, "average": self.options.average}
        return {"metrics": self.specs, **options, **tables, "thresholds": dict(self.thresholds)}

    @classmethod
    def from_saved(cls, data: dict[str, Any]) -> ModelTables:
        """The tables that were saved."""
        specs = tuple(read_metric(name) for name in data["metrics"])
        labels = {name: Confusion.from_json(table) for name, table in data["labels"].items()}
        scores = {name: ScoreTable.from_json(table) for name, table in data["scores"].items()}
        options = CallOptions(data["positive"], average=data["average"])
        return cls(specs, options, labels, scores, data.get("thresholds", {}))

    def reads_scores(self, spec: MetricSpec) -> bool:
        """Whether the metric is taken of the scores and not of the labels."""
        return bool(self.scores) and spec.is_native and spec.metric.scores is not None

    def estimand(self, spec: MetricSpec, model: str) -> Estimand:
        """The metric of one model."""
        table: AnyTable
        if self.label_sets:
            table = self.label_sets[model]
        elif self.columns and reads_columns(spec):
            table = self.columns[model]
            if spec.label is not None:
                table = class_of_columns(table, spec.label)
        elif not self.scores and model not in self.labels:
            raise InputError(f"{spec.name} is of scores that a saved comparison does not hold; compare the rows again.")
        else:
            table = self.scores[model] if self.reads_scores(spec) else self.labels[model]
        options = CallOptions() if isinstance(table, ScoreTable) and self.columns else spec.options(self.options)
        return Estimand(spec, table, spec.metric.parameters, options)

    def value(self, spec: MetricSpec, model: str) -> MetricValue:
        """The metric's value of one model."""
        estimand = self.estimand(spec, model)
        return estimand.on(estimand.table)

    def no_skill(self, spec: MetricSpec, model: str) -> float:
        """The metric's no-skill baseline on the table of one model; NaN where there is none."""
        estimand = self.estimand(spec, model)
        try:
            if isinstance(estimand.table, MultilabelTable):
                return LabelSetBaselines(estimand.table).value(spec)
            return Baselines(estimand.table).same_margins(spec, estimand.options)
        except InputError:  # rows of one class only
            return math.nan

    def difference(self, spec: MetricSpec, a: str, b: str) -> Difference:
        """The difference of two models by the metric, not yet tested."""
        of_a, of_b = self.value(spec, a), self.value(spec, b)
        reasons = [f"{name}: {computed.why}" for name, computed in ((a, of_a), (b, of_b)) if np.isnan(computed.value)]
        value_a, value_b = float(of_a.value), float(of_b.value)
        return Difference(a, b, spec, value_a, value_b, value_a - value_b, why="; ".join(reasons) or None)


# ---------------------------------------------------------------- pair wins
# Of each pair of models by how many metrics one is better than the other.


@dataclass(frozen=True, eq=False)
class PairWins(Flat):
    """The metrics by which a is better than b and b than a, by which neither is shown to be, and which were not tested.

    Shown by Holm's p-value of all pairs and metrics of the comparison together; undefined values count for neither.
    """

    a: str
    b: str
    by_a: tuple[str, ...]
    by_b: tuple[str, ...]
    undecided: tuple[str, ...]
    untested: tuple[str, ...] = ()


def pair_wins(rows: Iterable[Difference], level: float) -> Rows[PairWins]:
    """The wins of every pair, in the order of the rows."""
    pairs: dict[tuple[str, str], list[Difference]] = {}
    for row in rows:
        pairs.setdefault((row.a, row.b), []).append(row)
    wins: Rows[PairWins] = Rows()
    for (a, b), of_pair in pairs.items():
        compared = [row for row in of_pair if row.spec.sign and math.isfinite(row.difference)]
        gains = {row.metric: row.spec.sign * row.difference for row in compared if row.p_holm < 1 - level}
        by_a = tuple(metric for metric, gain in gains.items() if gain > 0)
        by_b = tuple(metric for metric, gain in gains.items() if gain < 0)
        untested = tuple(row.metric for row in compared if math.isnan(row.p_holm))
        undecided = tuple(row.metric for row in compared if row.metric not in (*by_a, *by_b, *untested))
        wins.append(PairWins(a, b, by_a, by_b, undecided, untested))
    return wins


# ---------------------------------------------------------------- comparison


_MANY_DEGREES = 1_000  # from which Student's t is the normal distribution to three digits


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Result[Difference]):
    """The differences of every pair of models by every metric, and the classical tests beside them.

    Of more than two models `omnibus` has one test a metric that all of them are equal. Where the models are not
    `paired`, each was evaluated on rows of its own. `intervals` has the values of each model with their intervals.
    `verdict` says in sentences which model to choose: by `outcomes`, what each finds, misses and flags in error, and by
    `decisive`, the differences by the one number of the `use`, or of each use where none is named; it chooses no model
    of `no_skill`, which are not shown to be better than the no-skill baseline of that number.
    """

    models: tuple[str, ...]
    n: int = field(metadata={"key": "rows"})
    level: float
    rows: Rows[Difference] = field(metadata={"key": "differences"})
    mcnemar: Rows[McNemar]
    delong: Rows[DeLong]
    tables: ModelTables = field(repr=False, compare=False)
    assumed: tuple[str, ...] = ()
    omnibus: Rows[Omnibus] = field(default_factory=Rows)
    margin: float | None = None
    paired: bool = True
    intervals: Mapping[str, Rows[Interval]] = field(default_factory=dict, repr=False)
    use: str | None = None
    outcomes: Rows[Outcomes] = field(default_factory=Rows)
    decisive: Mapping[str, Rows[Difference]] = field(default_factory=dict)
    no_skill: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    also_saved = ("verdict",)

    def __iter__(self) -> Iterator[Difference]:
        return iter(self.rows)

    @property
    def verdict(self) -> list[str]:
        """What each model does with the rows, the number of the use, and which model to choose, in sentences."""
        return [statement.text() for statement in self.verdict_statements()]

    def verdict_statements(self) -> list[Statement]:
        """The same with places for the names of the models."""
        sides = (self.models, self.outcomes, self.decisive, self.use, self.level, self._size, self.no_skill)
        return Verdict(*sides).statements()

    @property
    def _size(self) -> Size:
        """The positives on which differences rest, or the rows of several classes or labels."""
        kinds = {outcomes.basis for outcomes in self.outcomes}
        if AT_CAPACITY in kinds and self.tables.scores:
            return Size(min(table.positive.n for table in self.tables.scores.values()), "positives")
        if OF_LABELS in kinds and self.tables.labels:
            tables = self.tables.labels.values()
            rows = (int(table.rows[table.index(table.positive_label())].sum()) for table in tables)
            return Size(min(rows), "positives")
        return Size(self.n, "rows")

    @property
    def lead(self) -> list[str]:
        """The verdict."""
        return self.verdict

    def words(self) -> tuple[str, list[str]]:
        """What stands above the table, and the classical tests below it."""
        rows = f"the same {self.n:,} rows" if self.paired else f"different rows, {self.n:,} in all"
        head = f"{' against '.join(self.models)} on {rows}"
        tests = [*map(repr, self.mcnemar)]
        for test in self.delong:
            statistic = f"z = {test.z:.3g}"
            if test.degrees < _MANY_DEGREES:
                statistic = f"t = {test.z:.3g} with {test.degrees:.3g} degrees of freedom"
            tests.append(f"DeLong, {test.a} - {test.b}: {statistic}, {p_text(test.p_value)}")
        return f"{head}: differences with {100 * self.level:g} % intervals", [*tests, *self.statements]

    @property
    def statements(self) -> list[str]:
        """Whether all models are equal, and which are not worse than others, in sentences."""
        sentences, omnibus = [], []
        wald = "Wald's F test of the joint covariance of their differences"
        names = {WALD_TEST: wald, LARGEST_PAIR: "The largest difference of all pairs"}
        for method in dict.fromkeys(test.method for test in self.omnibus):
            tests = (test for test in self.omnibus if test.method == method)
            omnibus.append(f"{names[method]}: {', '.join(f'{p_text(t.p_value)} by {t.metric}' for t in tests)}.")
        if omnibus:
            sentences.append(f"Are all {len(self.models)} models equal? {' '.join(omnibus)}")
        if self.margin is None:
            return sentences
        for a, b in dict.fromkeys((row.a, row.b) for row in self.rows):
            shown: list[str] = []
            not_shown: list[str] = []
            for row in self.rows:
                p = row.p_not_worse
                if (row.a, row.b) == (a, b) and p is not None and not math.isnan(p):
                    by = shown if p < (1 - self.level) / 2 else not_shown
                    by.append(f"{row.metric} (one-sided {p_text(p)})")
            claim = f"{a} is not worse than {b} by more than {self.margin:g}"
            if shown:
                sentences.append(f"{claim}: shown by {', '.join(shown)}.")
            if not_shown:
                sentences.append(f"{claim}: not shown by {', '.join(not_shown)}.")
        return sentences

    @property
    def headline(self) -> str:
        """Which models on which rows."""
        return self.words()[0]

    @property
    def notes(self) -> list[str]:
        """The classical tests."""
        return self.words()[1]

    def shown_rows(self) -> list[dict[str, Any]]:
        """The differences as they are printed; two models are the columns of their values."""
        many = len(self.models) > 2
        value_names = ("value_a", "value_b") if many else self.models
        simultaneous = ("simultaneous_low", "simultaneous_high") if many else ()
        margin = () if self.margin is None else ("p_not_worse",)
        columns = ("difference", "low", "high", *simultaneous, "p_value", "p_holm", *margin, "why")
        shown = []
        for row in self.rows:
            pair = {"a": row.a, "b": row.b} if many else {}
            values = dict(zip(value_names, (row.value_a, row.value_b), strict=True))
            shown.append({"metric": row.metric, **pair, **values, **{key: getattr(row, key) for key in columns}})
        return shown

    def leaderboard(self, metric: SpecLike | None = None) -> Leaderboard:
        """The models from the best to the worst by a metric, and which of them are not distinguishable.

        Without a name it is the number of the use, else average precision of scores and the registry's default of
        labels where that was compared, else the first metric.
        """
        return leaderboard(self, metric)

    def wins(self) -> Rows[PairWins]:
        """Of each pair of models the metrics by which one is better, by Holm's p-values of the whole comparison."""
        return pair_wins(self.rows, self.level)

    def leaders(self, prevalences: Sequence[float] | None = None) -> PrevalenceLeaders:
        """Which model leads by each metric at each prevalence, and in `flips` where the leader changes."""
        return prevalence_leaders(self.models, self.tables, prevalences)

    def ranking(
        self, a: str | None = None, b: str | None = None, *, prevalences: Sequence[float] | None = None
    ) -> Ranking:
        """The metrics by how much they favour model a over b, here and at other prevalences (Wu and Cannistraci)."""
        if a is None and b is None and len(self.models) == 2:
            a, b = self.models
        for name in (a, b):
            if name not in self.models:
                models, near = ", ".join(map(repr, self.models)), did_you_mean(str(name), self.models)
                raise InputError(f"ranking takes two of the models {models}, not {name!r}.{near}")
        return ranking(str(a), str(b), self.tables, prevalences)
