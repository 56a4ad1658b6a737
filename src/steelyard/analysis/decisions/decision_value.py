"""DecisionJudge: what decisions are worth by a metric, with the interval of that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.decisions.decided_rows import PERSON
from steelyard.analysis.intervals.inference import ClusteredRows, Inference
from steelyard.analysis.intervals.intervals import table_intervals
from steelyard.metrics.application import ClassCells, on_confusion
from steelyard.metrics.call_options import CallOptions

if TYPE_CHECKING:
    from steelyard._types import Array, Label
    from steelyard.analysis.decisions.class_aim import ClassAim
    from steelyard.analysis.decisions.cross_fit import CrossFit
    from steelyard.analysis.decisions.decided_rows import DecidedRows
    from steelyard.analysis.intervals.interval import Interval
    from steelyard.analysis.prevalence.estimated_prevalence import PrevalenceLike
    from steelyard.statistics.confusion import Confusion


@dataclass(frozen=True, eq=False)
class DecisionJudge:
    """The rows, the metric, whether a person is one more column of the table, and how intervals are made."""

    rows: DecidedRows
    aim: ClassAim
    with_person: bool
    level: float
    rng: np.random.Generator
    positive: Label = None
    clusters: Array | None = None
    prevalence: PrevalenceLike | None = None

    @property
    def k(self) -> int:
        """The columns of a table of decisions."""
        return self.rows.k + self.with_person

    def columns(self, decided: CrossFit) -> Array:
        """The column of each row: the class that is decided, or a person."""
        return np.where(decided.sent, self.rows.k, decided.decisions) if self.with_person else decided.decisions

    def value(self, decided: CrossFit) -> float:
        """The value of decisions for all rows, without its interval."""
        k, codes = self.k, self.rows.table.codes
        cells = np.bincount(codes * k + self.columns(decided), self.rows.weights, minlength=k * k)
        return float(self.aim.values(ClassCells.of(cells.reshape(k, k))))

    def interval(self, decided: CrossFit) -> Interval:
        """The value of decisions with its interval: of the rows kept, or of all where a person has a cost."""
        among = None if self.with_person or not decided.sent.any() else np.flatnonzero(~decided.sent)
        table = self._table(decided, among)
        prevalence = self.prevalence if among is None and not self.with_person else self.rows.kept_prevalence(table)
        inference = Inference(
            self.level, rng=self.rng, prevalence=prevalence, clustered=self._clustered(decided, among)
        )
        return table_intervals([self.aim.spec], table, CallOptions(), inference)[0]

    def reason(self) -> str:
        """Why the most probable class has no value."""
        table, metric = self.rows.confusion(self.rows.table.most_probable), self.aim.spec.metric
        value = on_confusion(metric, table, self.aim.options, metric.parameters)
        return str(value.why or "too few rows")

    def _table(self, decided: CrossFit, among: Array | None) -> Confusion:
        if self.with_person:
            return self.rows.confusion_with_person(decided.decisions, decided.sent)
        table = self.rows.confusion(decided.decisions, among)
        return table if self.positive is None else table.with_positive(self.positive)

    def _clustered(self, decided: CrossFit, among: Array | None) -> ClusteredRows | None:
        if self.clusters is None:
            return None
        table, places = self.rows.table, slice(None) if among is None else among
        labels = np.empty(self.k, dtype=object)
        labels[:] = [*table.labels, PERSON][: self.k]
        weights = (None if column is None else column[places] for column in (table.frequency, table.sample_weight))
        frequency, weight = weights
        true, decision = labels[table.codes[places]], labels[self.columns(decided)[places]]
        return ClusteredRows(true, decision, self.clusters[places], frequency, sample_weight=weight)
