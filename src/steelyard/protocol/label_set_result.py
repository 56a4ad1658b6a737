"""LabelSetResult: what one model did in all its runs on rows that may have several labels each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from steelyard.analysis.intervals.inference import Inference
from steelyard.analysis.thresholds.best_threshold import best_threshold
from steelyard.evaluation.label_sets.evaluate_label_sets import evaluate_label_sets
from steelyard.evaluation.label_sets.label_set_rows import label_set_specs
from steelyard.exceptions import InputError
from steelyard.ingest.frame_columns import FrameColumns
from steelyard.ingest.label_set_input import LabelSetInput
from steelyard.metrics.call_options import SAMPLES
from steelyard.metrics.registry import default_metric
from steelyard.metrics.spec import MetricSpec
from steelyard.protocol import pooling
from steelyard.protocol.label_set_runs import LabelSetRunTables, merged_table
from steelyard.protocol.model_result import FIXED_MODELS, ModelResult
from steelyard.protocol.run_summary import Summary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array
    from steelyard.analysis.results.rows import Rows
    from steelyard.analysis.thresholds.label_thresholds_result import LabelThresholds
    from steelyard.evaluation.label_sets.multilabel_evaluation import MultilabelEvaluation
    from steelyard.metrics.spec import SpecLike
    from steelyard.protocol.cost import CostKind
    from steelyard.protocol.runs import Run
    from steelyard.statistics.multilabel_table import MultilabelTable


def result_of(name: str, runs: Rows[Run], metrics: Sequence[SpecLike] | None, level: float, alone: bool) -> ModelResult:
    """What one model did, on rows of one label each or of several."""
    kind = LabelSetResult if runs[0].data.are_label_sets else ModelResult
    return kind(name, runs, metrics, level, alone)


@dataclass(frozen=True, eq=False, repr=False)
class LabelSetResult(ModelResult):
    """What one model did in all its runs, where each row may have several labels; ranked by the macro AC-score."""

    @property
    def default_spec(self) -> MetricSpec:
        """By which models are ranked unless another metric is named."""
        return MetricSpec(default_metric(), "macro")

    @cached_property
    def _tables(self) -> LabelSetRunTables:  # type: ignore[override]  # of label sets
        self._check_any()
        return LabelSetRunTables(self.runs)

    @property
    def pooled(self) -> MultilabelTable:  # type: ignore[override]  # of label sets
        """The rows of all runs: one that was tested in several runs counts in each."""
        return self._tables.merged

    @property
    def scores(self) -> None:
        """No one column of scores: those of the labels are in `pooled`."""

    @cached_property
    def _first_tests(self) -> MultilabelTable:
        self._check_any()
        return merged_table(pooling.first_tests(self.runs))

    @cached_property
    def specs(self) -> list[MetricSpec]:
        """The metrics that were asked for, or those of label sets and averages that the runs allow."""
        if self.metrics is not None:
            return MetricSpec.all_of(self.metrics)
        usual = [spec for spec in label_set_specs(self.pooled, None) if spec.average != SAMPLES]
        return list(dict.fromkeys([self.default_spec, *usual]))

    def summarised(self, metric: SpecLike | None = None, chosen: Array | None = None) -> Summary:
        """One metric, where none is named the AC-score averaged over labels, over all runs or those `chosen`."""
        spec = self.spec_of(metric)
        values, pooled, baseline = self._tables.values_and_baseline(spec, chosen)
        row = replace(self._summary(spec, values), pooled=pooled, chance=baseline)
        return row if row.sd != 0 else self._with_row_interval(row, spec)

    def _with_row_interval(self, row: Summary, spec: MetricSpec) -> Summary:
        return row.with_row_interval(spec, self._first_tests, self.level)

    def _summary(self, spec: MetricSpec | CostKind, values: Array) -> Summary:
        return Summary.of(self._shown_name, spec, values, self._extent, self.level)

    def _tested_rows(self) -> Array:
        return np.asarray(self._first_tests.true.sum(0))

    @cached_property
    def evaluation(self) -> MultilabelEvaluation:  # type: ignore[override]  # of label sets
        """All test rows as one MultilabelEvaluation, each as it was first tested."""
        table, notes = self._first_tests, []
        if self.failures:
            notes.append(f"{len(self.failures)} of {len(self.runs)} runs failed.")
        if sum(len(run.part.test) for run in self.runs if run.error is None) > self._tested:
            notes.append("Rows were tested more than once; each counts as it was first tested.")
        if len(self.runs) > 1:
            notes.append(FIXED_MODELS)
        asked: dict[str, Any] = {"threshold": None, "metrics": self.metrics, "mute": None}
        asked["inference"] = Inference(self.level)
        evaluation = evaluate_label_sets(LabelSetInput(table, None, None, FrameColumns()), **asked)
        return replace(evaluation, assumed=(*evaluation.assumed, *notes))

    @property
    def _tested(self) -> int:
        tested = [run.part.test for run in self.runs if run.error is None]
        return len(np.unique(np.concatenate(tested)))

    def best_threshold(self, metric: Any = None, **options: Any) -> LabelThresholds:  # type: ignore[override]
        """The threshold of each label at which a metric is best on the scores that each row got first."""
        table = self._first_tests
        if table.scores is None:
            raise InputError(f"{self.name} gave no scores to threshold; it needs predict_proba or decision_function.")
        return cast("LabelThresholds", best_threshold(cast("Any", table), metric=metric, **options))
