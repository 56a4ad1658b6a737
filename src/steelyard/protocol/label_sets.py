"""Label set runs: what estimators predict for rows of several labels each, and the tables of their runs."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from steelyard.analysis.chance.chance import LabelSetBaselines
from steelyard.analysis.intervals.inference import Inference
from steelyard.analysis.thresholds.best_threshold import best_threshold
from steelyard.arrays import checks
from steelyard.arrays.checks import check_order
from steelyard.evaluation.evaluate_label_sets import evaluate_label_sets, label_set_specs
from steelyard.exceptions import InputError
from steelyard.metrics.application import on_table
from steelyard.metrics.call_options import SAMPLES, CallOptions
from steelyard.metrics.multilabel_values import check_label_set_metric
from steelyard.metrics.registry import default_metric
from steelyard.metrics.spec import MetricSpec
from steelyard.predictions import Predictions
from steelyard.protocol import run_values
from steelyard.protocol.model_result import FIXED_MODELS, ModelResult
from steelyard.protocol.run_values import Summary
from steelyard.protocol.runs import Data, RunPredictions
from steelyard.tables.label_sets import paired_sets
from steelyard.tables.multilabel_table import MultilabelTable, is_sparse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Estimator, Features, Label, Weights
    from steelyard.analysis.results.result import Rows
    from steelyard.analysis.thresholds.label_thresholds import LabelThresholds
    from steelyard.evaluation.evaluation import Evaluation
    from steelyard.metrics.spec import SpecLike
    from steelyard.protocol.runs import CostKind, Run


def label_set_data(X: Features, y: Any, sample_weight: Weights, pos_label: Label) -> Data:
    """The rows, validated: y as a matrix with a column for each label."""
    if pos_label is not None:
        raise InputError("pos_label= is of rows with one label each; ask for a metric of one label: recall[class=...].")
    (matrix,), labels = paired_sets([(y, "y")], None)
    weight = checks.weights(sample_weight, "sample_weight")
    codes = np.asarray(matrix.toarray() if is_sparse(matrix) else matrix).astype(np.uint8)
    rows = X.shape[0] if hasattr(X, "shape") else len(X)  # type: ignore[arg-type]  # a list of rows
    checks.check_lengths(X=range(rows), y=codes, sample_weight=weight)
    if not rows:
        raise InputError("X and y are empty; give rows of at least two labels.")
    check_order(X=X, y=y)
    return Data(X, codes, codes, labels, None, weight)


def label_set_predictions(
    model: Estimator, X: ArrayLike, predicted: Any, data: Data, test: Array, *, scores: bool
) -> RunPredictions:
    """The predicted labels of the test rows as a matrix of 0 and 1 and, on request, a column of scores for each."""
    matrix = np.asarray(predicted.toarray() if is_sparse(predicted) else predicted)
    shape = (len(test), len(data.labels))
    if matrix.shape != shape or not np.isin(matrix, (0, 1)).all():
        raise InputError(
            f"predict gave {matrix.shape} and has to give {shape}: 1 where a row has a label, 0 where not; "
            "OneVsRestClassifier and MultiOutputClassifier make such a classifier of any."
        )
    return RunPredictions(matrix.astype(np.uint8), _scores(model, X, shape) if scores else None)


def _scores(model: Estimator, X: ArrayLike, shape: tuple[int, int]) -> Array | None:
    """A column of scores for each label; None where the model gives none."""
    method = next((name for name in ("predict_proba", "decision_function") if hasattr(model, name)), None)
    if method is None:
        return None
    given = getattr(model, method)(X)
    if isinstance(given, list):  # one array for each label, as of forests
        classes = model.classes_  # type: ignore[attr-defined]  # of each label, as its columns
        given = np.column_stack([_of_one(part, labels) for part, labels in zip(given, classes, strict=True)])
    scores = np.asarray(given, dtype=np.float64)
    if scores.shape != shape:
        return None
    if not np.isfinite(scores).all():
        lost = int((~np.isfinite(scores)).any(1).sum())
        raise InputError(f"{method} gave no finite number for {lost:,} of {len(scores):,} rows; scores are numbers.")
    return scores


def _of_one(columns: Any, classes: Any) -> Array:
    """The column of 1 of a label's two; of a label that no row or every row had in training a constant."""
    index = np.flatnonzero(np.asarray(classes) == 1)
    return np.asarray(columns)[:, index[0]] if len(index) else np.zeros(len(columns))


# ---------------------------------------------------------------- tables


def run_table(run: Run) -> MultilabelTable | None:
    """The test rows of a run that have a weight, with what was predicted for them; None where it failed."""
    if run.error is not None or run.predictions.codes is None:
        return None
    data, test, predictions = run.data, run.part.test, run.predictions
    weight = None if data.weight is None else data.weight[test]
    table = MultilabelTable(data.labels, data.codes[test], predictions.codes, predictions.scores, weight)
    return table if weight is None or (weight > 0).all() else table.of_rows(np.flatnonzero(weight > 0))


def merged_table(runs: Sequence[Run]) -> MultilabelTable:
    """The rows of all runs that ended, one after the other; without scores where a run has none."""
    tables = [table for run in runs if (table := run_table(run)) is not None]
    if any(table.scores is None for table in tables):
        tables = [MultilabelTable(t.labels, t.true, t.predicted, None, t.sample_weight) for t in tables]
    return reduce(operator.add, tables)


@dataclass(frozen=True, eq=False)
class LabelSetRunTables:
    """The tables of all runs of a model, and all of them together."""

    runs: Sequence[Run]

    @cached_property
    def _of_runs(self) -> list[MultilabelTable | None]:
        return [run_table(run) for run in self.runs]

    @cached_property
    def merged(self) -> MultilabelTable:
        """The rows of all runs."""
        return merged_table(self.runs)

    @cached_property
    def _baselines(self) -> LabelSetBaselines:
        return LabelSetBaselines(self.merged)

    def values(self, spec: MetricSpec) -> Array:
        """The value of each run, and with average=None of each label on the last axis; NaN where a run failed."""
        check_label_set_metric(spec, self.merged)
        empty = math.nan if spec.average is not None else np.full(len(self.merged.labels), math.nan)
        return np.array([empty if table is None else _value(spec, table) for table in self._of_runs])

    def values_and_baseline(self, spec: MetricSpec, chosen: Array | None) -> tuple[Array, float, float]:
        """The value of each run that is chosen, that of all rows, and the no-skill baseline there."""
        values = self.values(spec)
        if chosen is not None:
            values[~chosen] = math.nan
        return values, float(_value(spec, self.merged)), self._baselines.value(spec)


def _value(spec: MetricSpec, table: MultilabelTable) -> Any:
    return on_table(spec.metric, table, spec.options(CallOptions()), spec.metric.parameters).value


# ---------------------------------------------------------------- LabelSetResult
# What one model did in all its runs on rows that may have several labels each.


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
        return merged_table(run_values.first_tests(self.runs))

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
    def evaluation(self) -> Evaluation:
        """All test rows as one evaluation, each as it was first tested."""
        table, notes = self._first_tests, []
        if self.failures:
            notes.append(f"{len(self.failures)} of {len(self.runs)} runs failed.")
        if sum(len(run.part.test) for run in self.runs if run.error is None) > self._tested:
            notes.append("Rows were tested more than once; each counts as it was first tested.")
        if len(self.runs) > 1:
            notes.append(FIXED_MODELS)
        evaluation = evaluate_label_sets(
            Predictions.of(table),
            metrics=self.metrics,
            mute=None,
            inference=Inference(self.level),
        )
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
