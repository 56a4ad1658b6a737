"""ModelResult: what one model did in all its runs: per run, pooled, mean, best and spread, its cost, an Evaluation."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Unpack

import numpy as np

from steelyard.analysis.intervals.inference import Inference
from steelyard.analysis.results.result import Rows
from steelyard.analysis.thresholds.best_threshold import best_threshold
from steelyard.evaluation.evaluate import evaluate_tables
from steelyard.evaluation.evaluation import CLASS_METRICS, SHOWN_AVERAGES
from steelyard.exceptions import InputError
from steelyard.metrics.registry import default_metric, get_metric
from steelyard.metrics.spec import MetricSpec
from steelyard.protocol import run_values
from steelyard.protocol.run_values import ClassValues, Extent, RunTables, Summary, first_tests, once_each
from steelyard.protocol.runs import COST_KINDS, CostKind
from steelyard.tables.confusion import Confusion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array
    from steelyard.analysis.thresholds.best_threshold import BestThreshold, SearchOptions
    from steelyard.analysis.thresholds.threshold_sample import AimLike
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.metrics.measure import Metric
    from steelyard.metrics.spec import SpecLike
    from steelyard.protocol.runs import Data, Run
    from steelyard.tables.score_table import ScoreTable

FIXED_MODELS = (
    "These intervals allow for the rows tested, not for the rows trained on; `summary` has Nadeau and Bengio's, "
    "which allow for both."
)


@dataclass(frozen=True, eq=False, repr=False)
class ModelResult:
    """What one model did in all its runs."""

    name: str
    runs: Rows[Run]
    metrics: Sequence[SpecLike] | None = field(default=None, compare=False)  # the runs and `specs` say the same
    level: float = 0.95
    alone: bool = True

    @property
    def data(self) -> Data:
        """The rows that were learned from and tested."""
        return self.runs[0].data

    @property
    def failures(self) -> Rows[Run]:
        """The runs that failed, each with its fold and the reason."""
        return Rows(run for run in self.runs if run.error is not None)

    # ---------------------------------------------------------------- values

    def values(self, metric: SpecLike | None = None) -> Array:
        """The value of each run, NaN where it failed or is undefined; of a metric, or of a kind of cost.

        Where none is named it is the AC-score, by which models are ranked.
        """
        if isinstance(metric, str) and metric in COST_KINDS:
            return np.array([run.cost.values()[metric] for run in self.runs])
        return self._tables.values(self.spec_of(metric))

    @property
    def default_spec(self) -> MetricSpec:
        """By which models are ranked unless another metric is named."""
        return MetricSpec(default_metric())

    def spec_of(self, metric: SpecLike | None) -> MetricSpec:
        """The metric, where none is named the one that models are ranked by."""
        return self.default_spec if metric is None else MetricSpec.of(metric)

    @cached_property
    def _tables(self) -> RunTables:
        return RunTables(self.runs)

    @cached_property
    def pooled(self) -> Confusion:
        """The tables of all runs merged: a row that was tested in several runs counts in each."""
        k = len(self.data.labels)
        empty = Confusion.of_rows(self.data.labels, np.zeros((k, k), dtype=np.int64), self.data.positive)
        tables = [run.confusion for run in self.runs if run.confusion is not None]
        return sum(tables[1:], start=tables[0]) if tables else empty

    @property
    def scores(self) -> ScoreTable | None:
        """The scores of all test rows, each row counted once; None where the model gives none."""
        return self._once[1]

    @cached_property
    def _once(self) -> tuple[Confusion, ScoreTable | None]:
        """The tables in which every tested row counts once."""
        self._check_any()
        return once_each(self.runs)

    def _check_any(self) -> None:
        if len(self.failures) == len(self.runs):
            raise InputError(f"Every run of {self.name} failed, so there is nothing to evaluate: {self.runs[0].error}")

    # ---------------------------------------------------------------- over the runs

    @cached_property
    def specs(self) -> list[MetricSpec]:
        """The metrics that were asked for, or all that the runs allow."""
        return run_values.specs_of(self.metrics, self.runs)

    @cached_property
    def summary(self) -> Rows[Summary]:
        """Every metric over all runs: mean, spread, interval, best, worst, and the value of the merged table."""
        return Rows(self._summary_or_reason(spec) for spec in self.specs)

    def _summary_or_reason(self, spec: MetricSpec) -> Summary:
        """One metric over all runs; one that this model does not allow says why, and stops nobody else."""
        try:
            return self.summarised(spec)
        except InputError as error:
            return Summary(self._shown_name, spec, undefined=len(self.runs), why=str(error))

    def summarised(self, metric: SpecLike | None = None, chosen: Array | None = None) -> Summary:
        """One metric, where none is named the AC-score, over all runs, or over those that are `chosen`."""
        spec = self.spec_of(metric)
        if run_values.reads_scores(spec, self.runs):
            values, pooled, baseline = self._of_scores(spec, chosen)
        else:
            values, pooled, baseline = self._tables.values_and_baseline(spec, chosen)
        row = replace(self._summary(spec, values), pooled=pooled, chance=baseline)
        return row if row.sd != 0 or pooled is None else self._with_row_interval(row, spec)

    def _of_scores(self, spec: MetricSpec, chosen: Array | None) -> tuple[Array, float | None, float | None]:
        values = run_values.run_score_values(spec, self.runs)
        if chosen is not None:
            values[~chosen] = np.nan
        if self.scores is None:
            return values, *run_values.merged_columns(spec, self.runs)
        pooled = run_values.score_table_value(spec.metric, self.scores)
        return values, pooled, run_values.score_baseline(spec.metric, self.scores)

    def _with_row_interval(self, row: Summary, spec: MetricSpec) -> Summary:
        """The summary with the interval of the rows tested, for runs that all gave the same value."""
        scores = self.scores if run_values.reads_scores(spec, self.runs) else None
        if scores is None and spec.metric.function is None:  # of a column for each class
            return row
        return row.with_row_interval(spec, self._once[0] if scores is None else scores, self.level)

    def _summary(self, spec: MetricSpec | CostKind, values: Array) -> Summary:
        taken = spec if isinstance(spec, CostKind) else run_values.as_taken(spec, self.runs)
        return Summary.of(self._shown_name, taken, values, self._extent, self.level)

    @property
    def _shown_name(self) -> str | None:
        return None if self.alone else self.name

    @cached_property
    def _extent(self) -> Extent:
        return Extent.of([run.part for run in self.runs])

    @cached_property
    def cost(self) -> Rows[Summary]:
        """Time, memory and space over all runs; less is better, and what was not measured says why."""
        return Rows(self._cost(kind) for kind in COST_KINDS.values())

    def _cost(self, kind: CostKind) -> Summary:
        values = self.values(kind.name)
        noises = [run.cost.noise().get(kind.name, np.nan) for run in self.runs]
        noise = None if np.isnan(noises).all() else float(np.nanmedian(noises))
        missing = bool(np.isnan(values).all())
        median, why = (None, kind.why_missing) if missing else (float(np.nanmedian(values)), None)
        return replace(self._summary(kind, values), noise=noise, why=why, median=median)

    # ---------------------------------------------------------------- class by class

    @cached_property
    def per_class(self) -> Rows[ClassValues]:
        """Precision, recall and F1 of each class, then their plain mean and that by the classes' shares (Kalita)."""
        metrics = [get_metric(name) for name in CLASS_METRICS]
        values = [self.values(MetricSpec(metric, None)) for metric in metrics]
        rows = self._tested_rows().tolist()
        classes = []
        for i, label in enumerate(self.data.labels):
            specs = (MetricSpec(metric, label=label) for metric in metrics)
            parts = (self._of_class(spec, each[:, i]) for spec, each in zip(specs, values, strict=True))
            classes.append(ClassValues(self._shown_name, label, rows[i], *parts))
        for average, words in zip(SHOWN_AVERAGES, ("macro", "class shares"), strict=True):
            parts = (self.summarised(MetricSpec(metric, average)) for metric in metrics)
            classes.append(ClassValues(self._shown_name, words, None, *parts))
        return Rows(classes)

    def _tested_rows(self) -> Array:
        """How many rows of each class were tested, each counted once."""
        tested = np.zeros(len(self.data.codes), dtype=bool)
        for run in self.runs:
            tested[run.part.test] |= run.error is None
        return np.bincount(self.data.codes[tested], minlength=len(self.data.labels))

    def _of_class(self, spec: MetricSpec, values: Array) -> Summary:
        row = self._summary(spec, values)
        return row if row.sd != 0 else self._with_row_interval(row, spec)

    # ---------------------------------------------------------------- everything else

    @cached_property
    def evaluation(self) -> Evaluation:
        """All test rows as one Evaluation, each row counted once however often it was tested."""
        table, scores = self._once
        assumed = [f"{len(self.failures)} of {len(self.runs)} runs failed."] if self.failures else []
        if table.weighted and self.data.weight is None:
            assumed.append("Rows were tested more than once; each counts once, as the mean of its answers.")
        if len(self.runs) > 1:
            assumed.append(FIXED_MODELS)
        inference, metrics = Inference(self.level), self._native_metrics()
        return evaluate_tables(table, scores, self.data.positive, assumed=assumed, metrics=metrics, inference=inference)

    def _native_metrics(self) -> list[Metric] | None:
        """What was asked for without averages, which an evaluation has anyway."""
        if self.metrics is None:
            return None
        metrics = [spec.metric for spec in self.specs if spec.is_native]
        return [m for m in metrics if m.function is not None or self.scores is not None] or None

    def best_threshold(self, metric: AimLike | None = None, **options: Unpack[SearchOptions]) -> BestThreshold:
        """The threshold that best_threshold finds on the scores that each row got first."""
        self._check_any()
        scores = once_each(first_tests(self.runs))[1]
        if scores is None and self.data.positive is None:
            raise InputError(
                "Which class is positive is not clear, so its scores cannot be thresholded; name it with pos_label=."
            )
        if scores is None:
            raise InputError(f"{self.name} gave no scores to threshold; it needs predict_proba or decision_function.")
        return best_threshold(scores, metric=metric, **options)

    def __repr__(self) -> str:
        from steelyard.protocol.cross_evaluation import CrossEvaluation

        return repr(CrossEvaluation({self.name: self}))
