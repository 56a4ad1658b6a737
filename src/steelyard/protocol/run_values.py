"""Values of runs: a metric on the tables of all runs at once, on the merged table, and its no-skill baseline there."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.chance.chance import Baselines, chance
from steelyard.analysis.chance.class_baselines import independent
from steelyard.analysis.comparison import paired_tables
from steelyard.analysis.results.formatting import ROUNDING
from steelyard.evaluation.rows import SHOWN_AVERAGES
from steelyard.exceptions import InputError, SteelyardError
from steelyard.metrics import application
from steelyard.metrics.application import ClassCells
from steelyard.metrics.call_options import NATIVE, CallOptions
from steelyard.metrics.registry import list_metrics, metrics_with_role
from steelyard.metrics.score_values import class_of_columns
from steelyard.metrics.spec import MetricSpec
from steelyard.protocol.run_baseline import NoSkillTables, no_skill_tables
from steelyard.statistics.counts import Counts
from steelyard.statistics.one_vs_rest import one_vs_rest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from steelyard._types import Array, Label
    from steelyard.metrics.metric import Metric
    from steelyard.metrics.spec import SpecLike
    from steelyard.protocol.predictions import Data
    from steelyard.protocol.runs import Run
    from steelyard.statistics.score_table import ScoreTable

KALITA_MEAN_F = "f1[average=macro]"  # the number that Kalita ranks by: the F of the classes, averaged, over all runs


def specs_of(metrics: Iterable[SpecLike] | None, runs: Sequence[Run]) -> list[MetricSpec]:
    """The metrics asked for; where none are, all that the runs allow, and Kalita's averages."""
    if metrics is not None:
        return MetricSpec.all_of(metrics)
    scores = [run.scores for run in runs if run.scores is not None]
    positive = runs[0].data.positive is not None
    usual = [m for m in list_metrics() if "ordinal" not in m.roles]  # of classes whose order is stated nowhere here
    specs = [MetricSpec(m) for m in usual if _fits(m, scores, positive=positive)]
    if not positive and any(run.predictions.scores is not None for run in runs):
        specs += [MetricSpec(m, "macro") for m in metrics_with_role("averaged over columns")]
        proper = all(run.predictions.has_probabilities for run in runs)
        of_columns = [m for m in usual if m.columns is not None and (proper or not m.of_probabilities)]
        specs += [MetricSpec(metric) for metric in of_columns]
    return specs + [MetricSpec(m, average) for average in SHOWN_AVERAGES for m in metrics_with_role("per class")]


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
        values, (merged, expected), of_guesses = every[:n], every[n : n + 2].tolist(), every[n + 2 :]
        if chosen is not None:
            values[~chosen] = math.nan
        baseline = self._mean_of_guesses(values, of_guesses)
        return values, merged, without_rounding(spec.metric, expected if baseline is None else baseline)

    def _mean_of_guesses(self, values: Array, of_guesses: Array) -> float | None:
        """The no-skill baseline averaged over the runs that have a value; None where that is unknown."""
        if self.no_skill is None:
            return None
        ended = [i for i, run in enumerate(self.runs) if run.error is None]
        expected = self.no_skill.expected(of_guesses)
        finite = expected[np.isfinite(values[ended]) & np.isfinite(expected)]
        return float(np.clip(finite.mean(), finite.min(), finite.max())) if len(finite) else None


def table_values(spec: MetricSpec, matrices: Array, data: Data) -> Array:
    """The metric on an array of tables of classes."""
    metric = spec.metric
    positive = _class_of(spec, data)
    if spec.average == NATIVE and positive is not None:
        place = data.labels.index(positive)
        cells = (cell[..., place] for cell in one_vs_rest(matrices))
        return np.asarray(application.count_values(metric, Counts.trusted(*cells), metric.parameters))
    if spec.average == NATIVE and metric.classes is None:
        raise InputError(
            f"{metric.name} is about one class; name it with pos_label= (--positive), or write "
            f"{metric.name}[average=macro]."
        )
    options = CallOptions(average=spec.average)
    return np.asarray(application.class_values(metric, ClassCells.of(matrices), options, metric.parameters))


def _class_of(spec: MetricSpec, data: Data) -> Label:
    """The class that the metric names, or the positive one."""
    return data.positive if spec.label is None else paired_tables.positive(data.labels, spec.label)


# ---------------------------------------------------------------- scores


def run_score_values(spec: MetricSpec, runs: Sequence[Run]) -> Array:
    """The value of each run of a metric that is taken of scores; NaN where a run has none."""
    if all(run.predictions.scores is None for run in runs if run.error is None):
        raise InputError(f"{spec.name} needs scores: an estimator with predict_proba or decision_function.")
    data = runs[0].data
    by_columns = data.positive is None
    if not by_columns and _class_of(spec, data) != data.positive:
        raise InputError(f"{spec.name} needs the scores of that class; give pos_label={spec.label!r}.")
    if by_columns != (spec.average != NATIVE) and not (by_columns and _has_column_form(spec)):
        stem = spec.metric.name
        needed, other = ("a positive class", f"{stem}[average=macro]") if by_columns else ("a score a class", stem)
        do = "give" if by_columns else "leave out"
        raise InputError(f"{spec.name} needs {needed}: {do} pos_label=, or ask for {other}.")
    if by_columns:
        return np.array([run.by_columns(spec) for run in runs])
    return np.array([math.nan if run.scores is None else score_table_value(spec.metric, run.scores) for run in runs])


def merged_columns(spec: MetricSpec, runs: Sequence[Run]) -> tuple[float | None, float | None]:
    """The value on a column of scores for each class of all runs together, and the no-skill baseline there."""
    tables = [table for run in runs if run.error is None and (table := run.column_table()) is not None]
    if not tables:
        return None, None
    merged = reduce(operator.add, tables)
    try:
        if spec.label is not None:
            one = class_of_columns(merged, paired_tables.positive(merged.labels, spec.label))
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


def _has_column_form(spec: MetricSpec) -> bool:
    """Whether a column of scores for each class is enough: for the metric's own form, or for that of one class."""
    return spec.metric.columns is not None or spec.label is not None


def score_table_value(metric: Metric, table: ScoreTable) -> float:
    """The value on one table of scores; NaN where it lacks a class."""
    if not (table.positive.total and table.negative.total):
        return math.nan
    return float(metric(table))


def score_baseline(metric: Metric, scores: ScoreTable) -> float:
    """The no-skill baseline on the merged scores."""
    try:
        return float(chance(metric, scores).same_margins)
    except SteelyardError:  # one class only
        return math.nan


def without_rounding(metric: Metric, value: float) -> float:
    """A no-skill baseline, 0 where floats miss it by their rounding."""
    return 0.0 if metric.range[0] < 0 and abs(value) < ROUNDING else value
