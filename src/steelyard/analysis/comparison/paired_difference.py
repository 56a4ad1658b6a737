"""Paired difference: how much one model exceeds another by a metric, and the models' tables that it comes from."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.intervals.estimand import Estimand
from steelyard.analysis.results.result_json import read_metric
from steelyard.analysis.results.rows import Flat
from steelyard.exceptions import InputError
from steelyard.metrics.call_options import CallOptions
from steelyard.metrics.score_values import class_of_columns, reads_columns
from steelyard.metrics.spec import MetricSpec
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steelyard._types import Label, Labels
    from steelyard.metrics.metric_value import MetricValue
    from steelyard.statistics.multilabel_table import MultilabelTable
    from steelyard.statistics.probability_table import ProbabilityTable
    from steelyard.statistics.statistic import AnyTable


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

    def _table(self, spec: MetricSpec, model: str) -> AnyTable:
        if self.label_sets:
            return self.label_sets[model]
        if self.columns and reads_columns(spec):
            table = self.columns[model]
            return table if spec.label is None else class_of_columns(table, spec.label)
        if not self.scores and model not in self.labels:
            raise InputError(f"{spec.name} is of scores that a saved comparison does not hold; compare the rows again.")
        return self.scores[model] if self.reads_scores(spec) else self.labels[model]

    def estimand(self, spec: MetricSpec, model: str) -> Estimand:
        """The metric of one model."""
        table = self._table(spec, model)
        options = CallOptions() if isinstance(table, ScoreTable) and self.columns else spec.options(self.options)
        return Estimand(spec, table, spec.metric.parameters, options)

    def value(self, spec: MetricSpec, model: str) -> MetricValue:
        """The metric's value of one model."""
        estimand = self.estimand(spec, model)
        return estimand.on(estimand.table)

    def difference(self, spec: MetricSpec, a: str, b: str) -> Difference:
        """The difference of two models by the metric, not yet tested."""
        values = {name: self.value(spec, name) for name in (a, b)}
        reasons = [f"{name}: {computed.why}" for name, computed in values.items() if np.isnan(computed.value)]
        value_a, value_b = (float(values[name].value) for name in (a, b))
        return Difference(a, b, spec, value_a, value_b, value_a - value_b, why="; ".join(reasons) or None)
