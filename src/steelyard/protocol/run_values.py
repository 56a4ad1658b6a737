"""Values of runs: a metric on the tables of all runs at once, on the merged table, and its no-skill baseline there."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from steelyard._types import Label
from steelyard.analysis.chance.baselines import independent
from steelyard.analysis.chance.chance import Baselines
from steelyard.analysis.chance.permutations import TruePositives
from steelyard.analysis.comparison.classical_tests import corrected_t_test
from steelyard.analysis.intervals.intervals import interval
from steelyard.analysis.results.formatting import ROUNDING
from steelyard.analysis.results.result import Flat
from steelyard.analysis.results.result_json import read_metric
from steelyard.evaluation.evaluation import CLASS_METRICS, SHOWN_AVERAGES
from steelyard.exceptions import InputError, SteelyardError
from steelyard.metrics.call_options import NATIVE, CallOptions
from steelyard.metrics.registry import get_metrics, list_metrics
from steelyard.metrics.score_values import class_of_columns
from steelyard.metrics.spec import MetricSpec
from steelyard.metrics.usual import PER_CLASS, PER_CLASS_OF_SCORES
from steelyard.metrics.values import ClassCells, class_values, count_values
from steelyard.protocol.runs import COST_KINDS, CostKind
from steelyard.tables import array_tables
from steelyard.tables.class_scores import ClassScores
from steelyard.tables.confusion import Confusion, one_vs_rest
from steelyard.tables.counts import Counts
from steelyard.tables.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from steelyard._types import Array
    from steelyard.metrics.measure import Metric
    from steelyard.metrics.spec import SpecLike
    from steelyard.protocol.cross_evaluation import CrossEvaluation
    from steelyard.protocol.runs import Data, Run
    from steelyard.protocol.splits import Part
    from steelyard.tables.statistic import AnyTable


# ---------------------------------------------------------------- run baseline
# The no-skill baseline of a mean over runs: what a random predictor with the margins of each run scores on average.
#
# The metric of a random predictor's expected table is not its expected metric: the square root in a G-mean makes it
# less, and the fewer rows a run tests the more so. Here the true positives of a random predictor are drawn without
# replacement, as they are when the labels are shuffled, all of them with their probabilities; of several classes,
# tables are drawn.


_DRAWN, _FEWEST = 400, 50  # tables of several classes a run; where memory allows fewer than the second, none
MOST_CELLS = 20_000_000


@dataclass(frozen=True, eq=False)
class NoSkillTables:
    """The tables that a random predictor may give in each run, one run after the other, and their probabilities."""

    tables: Array
    probabilities: Array
    starts: Array

    def expected(self, values: Array) -> Array:
        """The mean over the random predictions of each run of the values on all tables, as far as they are finite."""
        finite = np.isfinite(values)
        sums = np.add.reduceat(np.where(finite, values * self.probabilities, 0.0), self.starts)
        probability = np.add.reduceat(np.where(finite, self.probabilities, 0.0), self.starts)
        with np.errstate(invalid="ignore"):
            mean = sums / probability
        # Of values that are all equal the mean may round to a neighbour of theirs, outside of an interval of no width.
        low = np.minimum.reduceat(np.where(finite, values, np.inf), self.starts)
        high = np.maximum.reduceat(np.where(finite, values, -np.inf), self.starts)
        return np.where(probability > 0, np.clip(mean, low, np.maximum(low, high)), np.nan)


def no_skill_tables(runs: Sequence[Run]) -> NoSkillTables | None:
    """The random predictors of all runs that ended; None where a run tests one class."""
    tables = [run.confusion for run in runs if run.confusion is not None]
    if not tables or any((table.rows.sum(1) > 0).sum() < 2 for table in tables):
        return None
    k = len(tables[0].labels)
    number = min(_DRAWN, MOST_CELLS // (k * k * len(tables)))
    if k > 2 and number < _FEWEST:
        return None
    rng = np.random.default_rng(0)
    pairs = [_enumerated(table) if k == 2 else _drawn(table, number, rng) for table in tables]
    starts = np.cumsum([0, *(len(probabilities) for _, probabilities in pairs)])[:-1]
    cells, probabilities = (np.concatenate(part) for part in zip(*pairs, strict=True))
    return NoSkillTables(cells, probabilities, starts)


def _enumerated(table: Confusion) -> tuple[Array, Array]:
    """Every table of two classes with these margins that can matter, with its probability."""
    null = TruePositives.of(Counts.from_matrix(table.rows))
    tp = null.likely()
    probabilities = np.exp(null.log_mass(tp)) if len(tp) > 1 else np.ones(1)
    counts = null.tables(tp)
    cells = np.stack([np.stack([counts.tn, counts.fp], -1), np.stack([counts.fn, counts.tp], -1)], -2)
    return cells * _weight_of_a_row(table), probabilities


def _drawn(table: Confusion, number: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """So many tables with the margins of this one, at random."""
    from scipy.stats import random_table

    tables = random_table(table.rows.sum(1), table.rows.sum(0)).rvs(number, random_state=rng)
    return tables * _weight_of_a_row(table), np.full(number, 1 / number)


def _weight_of_a_row(table: Confusion) -> Array:
    """The mean weight of the rows of each true class: what a random predictor draws, blind to the weights."""
    rows, weights = (part.sum(1, keepdims=True).astype(np.float64) for part in (table.rows, table.weights))
    return np.asarray(np.divide(weights, rows, out=np.ones_like(weights), where=rows > 0))


# ---------------------------------------------------------------- values of runs


KALITA_MEAN_F = "f1[average=macro]"  # the number that Kalita ranks by: the F of the classes, averaged, over all runs


def specs_of(metrics: Iterable[SpecLike] | None, runs: Sequence[Run]) -> list[MetricSpec]:
    """The metrics asked for; where none are, all that the runs allow, and Kalita's averages."""
    if metrics is not None:
        return MetricSpec.all_of(metrics)
    scores = [run.scores for run in runs if run.scores is not None]
    positive = runs[0].data.positive is not None
    usual = [m for m in list_metrics() if m.family != "ordinal"]  # of classes whose order is stated nowhere here
    specs = [MetricSpec(m) for m in usual if _fits(m, scores, positive=positive)]
    if not positive and any(run.predictions.scores is not None for run in runs):
        specs += [MetricSpec(m, "macro") for m in get_metrics(PER_CLASS_OF_SCORES)]
        proper = all(run.predictions.has_probabilities for run in runs)
        of_columns = [m for m in usual if m.columns is not None and (proper or not m.of_probabilities)]
        specs += [MetricSpec(metric) for metric in of_columns]
    return specs + [MetricSpec(m, average) for average in SHOWN_AVERAGES for m in get_metrics(PER_CLASS)]


def _fits(metric: Metric, scores: Sequence[ScoreTable], *, positive: bool) -> bool:
    """Whether runs with such scores, or without any, can be judged by the metric."""
    if metric.scores is not None and scores:
        return all(metric.fits_scores(table) for table in scores)
    return metric.function is not None and (positive or metric.classes is not None)


def needs_scores(metrics: Iterable[SpecLike] | None) -> bool:
    """Whether any of the metrics asked for is about scores."""
    return metrics is None or any(MetricSpec.of(metric).metric.scores is not None for metric in metrics)


def reads_scores(spec: MetricSpec, runs: Sequence[Run]) -> bool:
    """Whether the metric is taken of the scores of the runs: it knows no other way, or they are there."""
    return spec.reads_scores(next((run.scores for run in runs if run.scores is not None), None))


# ---------------------------------------------------------------- on all runs at once


@dataclass(frozen=True, eq=False)
class RunTables:
    """The tables of all runs of a model on a first axis, so that a metric is asked once about all."""

    runs: Sequence[Run]

    @cached_property
    def of_runs(self) -> Array:
        """The table of each run, that of a failed one empty."""
        k = len(self.runs[0].data.labels)
        return np.stack([np.zeros((k, k)) if run.confusion is None else run.confusion.matrix for run in self.runs])

    @cached_property
    def merged(self) -> Array:
        """The table of all runs together."""
        return np.asarray(self.of_runs.sum(0))

    @cached_property
    def no_skill_expected(self) -> Array:
        """A random predictor's expected table, with the margins of the merged one; empty where that holds one class."""
        return independent(self.merged) if (self.merged.sum(1) > 0).sum() > 1 else np.zeros_like(self.merged)

    @cached_property
    def no_skill(self) -> NoSkillTables | None:
        """The tables that a random predictor may give in each run."""
        return no_skill_tables(self.runs)

    def values(self, spec: MetricSpec) -> Array:
        """The value of each run, and with average=None of each class on the last axis; NaN where a run failed."""
        if reads_scores(spec, self.runs):
            return run_score_values(spec, self.runs)
        return self._without_failed(table_values(spec, self.of_runs, self.runs[0].data))

    def _without_failed(self, values: Array) -> Array:
        values[[i for i, run in enumerate(self.runs) if run.error is not None]] = math.nan
        return values

    @cached_property
    def _all(self) -> Array:
        tables = [self.of_runs, self.merged[None], self.no_skill_expected[None]]
        return np.concatenate(tables if self.no_skill is None else [*tables, self.no_skill.tables])

    def values_and_baseline(self, spec: MetricSpec, chosen: Array | None) -> tuple[Array, float, float]:
        """Of labels: the value of each run that is chosen, that of the merged table, and the no-skill baseline."""
        every, n = self._without_failed(table_values(spec, self._all, self.runs[0].data)), len(self.runs)
        values, (merged, baseline), of_no_skill = every[:n], every[n : n + 2].tolist(), every[n + 2 :]
        if chosen is not None:
            values[~chosen] = math.nan
        if self.no_skill is not None:  # averaged over the runs that have a value
            ended = [i for i, run in enumerate(self.runs) if run.error is None]
            expected = self.no_skill.expected(of_no_skill)
            finite = expected[np.isfinite(values[ended]) & np.isfinite(expected)]
            if len(finite):
                baseline = float(np.clip(finite.mean(), finite.min(), finite.max()))
        return values, merged, without_rounding(spec.metric, baseline)


def table_values(spec: MetricSpec, matrices: Array, data: Data) -> Array:
    """The metric on an array of tables of classes."""
    metric = spec.metric
    positive = _class_of(spec, data)
    if spec.average == NATIVE and positive is not None:
        index = data.labels.index(positive)
        cells = (cell[..., index] for cell in one_vs_rest(matrices))
        return np.asarray(count_values(metric, Counts.trusted(*cells), metric.parameters))
    if spec.average == NATIVE and metric.classes is None:
        raise InputError(
            f"{metric.name} is about one class; name it with pos_label=, or write {metric.name}[average=macro]."
        )
    options = CallOptions(average=spec.average)
    return np.asarray(class_values(metric, ClassCells.of(matrices), options, metric.parameters))


def _class_of(spec: MetricSpec, data: Data) -> Label:
    """The class that the metric names, or the positive one."""
    return data.positive if spec.label is None else array_tables.positive(data.labels, spec.label)


# ---------------------------------------------------------------- scores


def run_score_values(spec: MetricSpec, runs: Sequence[Run]) -> Array:
    """The value of each run of a metric that is taken of scores; NaN where a run has none."""
    if all(run.predictions.scores is None for run in runs if run.error is None):
        raise InputError(f"{spec.name} needs scores: an estimator with predict_proba or decision_function.")
    data = runs[0].data
    by_columns = data.positive is None
    if not by_columns and _class_of(spec, data) != data.positive:
        raise InputError(f"{spec.name} needs the scores of that class; give pos_label={spec.label!r}.")
    is_averaged = spec.average != NATIVE
    if by_columns:
        if not is_averaged and spec.metric.columns is None and spec.label is None:
            other = f"{spec.metric.name}[average=macro]"
            raise InputError(f"{spec.name} needs a positive class: give pos_label=, or ask for {other}.")
        return np.array([run.by_columns(spec) for run in runs])
    if is_averaged:
        raise InputError(f"{spec.name} needs a score a class: leave out pos_label=, or ask for {spec.metric.name}.")
    return np.array([math.nan if run.scores is None else score_table_value(spec.metric, run.scores) for run in runs])


def merged_columns(spec: MetricSpec, runs: Sequence[Run]) -> tuple[float | None, float | None]:
    """The value on a column of scores for each class of all runs together, and the no-skill baseline there."""
    tables = [table for run in runs if run.error is None and (table := run.column_table()) is not None]
    if not tables:
        return None, None
    merged = reduce(operator.add, tables)
    try:
        if spec.label is not None:
            one = class_of_columns(merged, array_tables.positive(merged.labels, spec.label))
            return score_table_value(spec.metric, one), score_baseline(spec.metric, one)
        value = float(spec.metric(merged, average=spec.average or NATIVE))
        return value, Baselines(merged).same_margins(spec, CallOptions())
    except SteelyardError:  # one class only, or no probabilities
        return None, None


def as_taken(spec: MetricSpec, runs: Sequence[Run]) -> MetricSpec:
    """The metric with the range that it has on these runs: of many classes it may be another."""
    data = runs[0].data
    many = data.positive is None and len(data.labels) > 2 and spec.average == NATIVE
    return replace(spec, metric=spec.metric.of_many_columns) if many else spec


def score_table_value(metric: Metric, table: ScoreTable) -> float:
    """The value on one table of scores; NaN where it lacks a class."""
    if not (table.positive.total and table.negative.total):
        return math.nan
    return float(metric(table))


def score_baseline(metric: Metric, scores: ScoreTable) -> float:
    """The no-skill baseline on the merged scores."""
    try:
        return Baselines(scores).same_margins(MetricSpec(metric), CallOptions())
    except SteelyardError:  # one class only
        return math.nan


def without_rounding(metric: Metric, value: float) -> float:
    """A no-skill baseline, 0 where floats miss it by their rounding."""
    return 0.0 if metric.range[0] < 0 and abs(value) < ROUNDING else value


# ---------------------------------------------------------------- pooling
# All test rows of all runs as one table in which every row counts once, however often it was tested.
#
# Ten repeats of a cross-validation test each row ten times. Ten times the rows would make every interval three times
# too narrow, so a row tested m times enters m times with 1/m of its weight; and since the m predictions of one row are
# not m rows, the squared weights, from which the effective number of rows is read, are those of one row.


def _tested(runs: Sequence[Run]) -> tuple[Array, Array, Array | None, Array]:
    """The test rows of all runs that ended, their predicted codes, their scores, and each one's share of its row."""
    done = [run for run in runs if run.error is None]
    rows = np.concatenate([run.part.test for run in done])
    codes = np.concatenate([np.asarray(run.predictions.codes) for run in done])
    scores = [run.predictions.scores for run in done]
    times = np.bincount(rows, minlength=len(done[0].data.codes))
    weight = done[0].data.weight
    share = 1 / times[rows]
    counted = slice(None) if weight is None else np.flatnonzero(weight[rows] > 0)
    without = any(part is None for part in scores)
    all_scores = None if without else np.concatenate([np.asarray(part) for part in scores])[counted]
    return rows[counted], codes[counted], all_scores, share[counted]


def once_each(runs: Sequence[Run]) -> tuple[Confusion, ScoreTable | None]:
    """The table of labels and that of scores in which every tested row counts once."""
    data = next(run.data for run in runs if run.error is None)
    rows, codes, scores, share = _tested(runs)
    true = data.codes[rows]
    weight = np.ones(len(rows)) if data.weight is None else data.weight[rows]
    table = _confusion(true, codes, data, weight, share)
    if scores is None or data.positive is None:
        return table, None
    positive = true == data.labels.index(data.positive)
    unweighted = data.weight is None and bool((share == 1).all())
    positives, negatives = (
        _class_scores(scores[side], weight[side], share[side], unweighted) for side in (positive, ~positive)
    )
    return table, ScoreTable(positives, negatives, data.positive)


def _confusion(true: Array, pred: Array, data: Data, weight: Array, share: Array) -> Confusion:
    k = len(data.labels)
    cell = true.astype(np.intp) * k + pred
    rows, weights, squares = (
        np.bincount(cell, part, minlength=k * k).reshape(k, k)
        for part in (share, weight * share, weight * weight * share)
    )
    whole = np.round(rows).astype(np.int64)
    if data.weight is None and bool((share == 1).all()):
        return Confusion.of_rows(data.labels, whole, data.positive)
    return Confusion(data.labels, whole, weights, squares, data.positive)


def _class_scores(scores: Array, weight: Array, share: Array, unweighted: bool) -> ClassScores:
    if unweighted:
        return ClassScores(scores, ascending=False)
    order = np.argsort(scores, kind="stable")
    weight, share = weight[order], share[order]
    # In whole rows where they are; the hair more keeps a sum of thirds from being one row short.
    rows = np.ones(len(order), dtype=np.int64) if (share == 1).all() else share * (1 + 1e-9)
    return ClassScores(scores[order], rows, weight * share, weight * weight * share)


def first_tests(runs: Sequence[Run]) -> list[Run]:
    """The runs that ended, each with the test rows that no run before it had: every row as it was first tested."""
    seen = np.zeros(len(runs[0].data.codes), dtype=bool)
    restricted = []
    for run in runs:
        if run.error is None:
            fresh = ~seen[run.part.test]
            seen[run.part.test] = True
            codes, scores = run.predictions.codes, run.predictions.scores
            predictions = replace(
                run.predictions,
                codes=None if codes is None else codes[fresh],
                scores=None if scores is None else scores[fresh],
            )
            part = replace(run.part, test=run.part.test[fresh], listed=run.part.train)
            restricted.append(replace(run, part=part, predictions=predictions))
    return restricted


def first_predictions(runs: Sequence[Run], true: Array) -> Array:
    """What was predicted for each row when it was first tested, as the true codes; -1 where it never was."""
    codes = np.full(true.shape, -1, dtype=np.int64)
    for run in reversed(runs):
        if run.predictions.codes is not None:
            codes[run.part.test] = run.predictions.codes
    return codes


# ---------------------------------------------------------------- summary
# What the values of all runs of a model say together about one metric, or one kind of cost.


@dataclass(frozen=True)
class Extent:
    """The rows that a run trains on and tests, in the mean, and the share of all tested that are no repetition."""

    train: float
    test: float
    fresh: float

    @classmethod
    def of(cls, parts: Sequence[Part]) -> Extent:
        """That of the runs of a plan."""
        train, test = np.mean([part.sizes for part in parts], axis=0).tolist()
        seen = np.zeros(parts[0].rows, dtype=bool)
        for part in parts:
            seen[part.test] = True
        return cls(train, test, min(1.0, int(seen.sum()) / sum(len(part.test) for part in parts)))


@dataclass(frozen=True, eq=False)
class Summary(Flat):
    """One metric, or one kind of cost, over all runs of a model.

    `mean`, `sd`, `best` and `worst` are over the runs in which it is defined; `low` and `high` are Nadeau and Bengio's
    interval of the mean, which allows for training rows that runs share, and in which rows tested again do not count
    anew: to repeat the folds makes the mean steadier, but adds no rows. `pooled` is the value of the merged table.
    `chance` is for the mean: the no-skill baseline with the margins of each run, averaged over the same runs; of
    scores, and where a run tests rows of one class only, that of the merged table. `undefined` counts the runs left
    out. `noise` is how far repeated timings of one run lie apart, as a share, and `median` that of the costs of the
    runs, which one slow run does not move. Where all runs gave the same value their spread says nothing: then the
    interval is `of_rows`, that of the rows tested.
    """

    model: str | None
    spec: MetricSpec | CostKind = field(metadata={"key": "name"})
    mean: float = math.nan
    sd: float = math.nan
    low: float = math.nan
    high: float = math.nan
    best: float = math.nan
    worst: float = math.nan
    pooled: float | None = None
    chance: float | None = None
    undefined: int | None = None
    noise: float | None = None
    why: str | None = None
    of_rows: bool = False
    median: float | None = None

    @classmethod
    def from_held(cls, data: dict[str, Any]) -> Self:
        """The summary that was saved, of a metric or of a kind of cost."""
        name = data["name"]
        spec = COST_KINDS[name] if name in COST_KINDS else read_metric(name)
        return replace(super().from_held(data), spec=spec)

    @property
    def name(self) -> str:
        """The written form of the metric, or the name of the cost."""
        return self.spec.name

    def row(self) -> dict[str, Any]:
        """The summary as a row of a table."""
        numbers = {key: value for key, value in vars(self).items() if key not in ("model", "spec")}
        return {"model": self.model, "name": self.name, **numbers}

    @classmethod
    def of(cls, model: str | None, spec: MetricSpec | CostKind, values: Array, extent: Extent, level: float) -> Summary:
        """What the values of the runs say together."""
        finite = values[np.isfinite(values)]
        undefined = len(values) - len(finite) or None
        if not len(finite):
            return cls(model, spec, undefined=undefined)
        least, most = float(finite.min()), float(finite.max())
        best, worst = math.nan, math.nan
        if spec.sign:
            best, worst = (most, least) if spec.sign > 0 else (least, most)
        # A mean of equal values may round to a neighbour of theirs.
        mean = float(np.clip(finite.mean(), least, most))
        return cls(model, spec, mean, *_sd_and_bounds(spec, finite, extent, level), best, worst, undefined=undefined)

    def with_row_interval(self, spec: MetricSpec, table: AnyTable, level: float) -> Summary:
        """The same with the interval of the rows tested, for runs that all gave the same value."""
        try:
            of_rows = interval(spec, cast("Any", table), level=level)
        except SteelyardError:  # such as one class only, or a label that no row has
            return self
        low, high = min(float(of_rows.low), self.mean), max(float(of_rows.high), self.mean)
        return replace(self, low=low, high=high, of_rows=True)


def _sd_and_bounds(
    spec: MetricSpec | CostKind, values: Array, extent: Extent, level: float
) -> tuple[float, float, float]:
    """The standard deviation over the runs, and the interval of their mean inside the range."""
    if len(values) < 2:
        return math.nan, math.nan, math.nan
    if np.ptp(values) == 0:
        return 0.0, math.nan, math.nan  # no interval: runs that agree by chance do not make the mean certain
    effective_runs = len(values) * extent.fresh
    test = corrected_t_test(values, n_train=extent.train, n_test=extent.test, worth=effective_runs, level=level)
    least, most = spec.range if isinstance(spec, CostKind) else spec.metric.range
    return float(values.std(ddof=1)), float(max(test.low, least)), float(min(test.high, most))


# ---------------------------------------------------------------- ClassValues
# The precision, recall and F1 of one class over all runs of a model.


@dataclass(frozen=True, eq=False)
class ClassValues(Flat):
    """Precision, recall and F1 of one class over all runs, or of an average over the classes."""

    model: str | None
    label: Label
    rows: int | None
    precision: Summary
    recall: Summary
    f1: Summary

    def row(self) -> dict[str, Any]:
        """The class as a row of a table: the means over the runs with their intervals."""
        row: dict[str, Any] = {"model": self.model, "class": self.label, "rows": self.rows}
        for name in CLASS_METRICS:
            summary = getattr(self, name)
            row |= {name: summary.mean, f"{name}_low": summary.low, f"{name}_high": summary.high}
        return row | {f"{name}_undefined": getattr(self, name).undefined for name in CLASS_METRICS}


# ---------------------------------------------------------------- RunDifference
# How much one model beats another over the runs of both.


@dataclass(frozen=True, eq=False)
class RunDifference(Flat):
    """How much one model beats another over the runs, with Nadeau and Bengio's interval and test."""

    a: str
    b: str
    spec: MetricSpec = field(metadata={"key": "metric"})
    runs: int
    difference: float = math.nan
    low: float = math.nan
    high: float = math.nan
    p_value: float = math.nan
    p_holm: float = math.nan

    @property
    def metric(self) -> str:
        """The written form of the metric."""
        return self.spec.name

    @property
    def why(self) -> str | None:
        """Why it was not tested."""
        return "fewer than two runs in which both have a value" if math.isnan(self.p_value) else None

    def row(self) -> dict[str, Any]:
        """The difference as a row of a table."""
        numbers = ("difference", "low", "high", "p_value", "p_holm", "runs")
        return {"a": self.a, "b": self.b, "metric": self.metric, **{key: getattr(self, key) for key in numbers}}


# ---------------------------------------------------------------- ranked metrics
# Those that were asked for by which the models of a cross-evaluation can be ranked.


def ranked_metrics(result: CrossEvaluation) -> list[MetricSpec]:
    """The requested metrics, in that order, that have a best value and a mean for every model."""
    by_model = []
    for model in result.models.values():
        if model.metrics is not None:
            rows = [row for row in model.summary if np.isfinite(row.mean)]
            by_model.append([row.spec for row in rows if isinstance(row.spec, MetricSpec) and row.spec.sign])
    return [spec for spec in by_model[0] if all(spec in specs for specs in by_model)] if by_model else []
