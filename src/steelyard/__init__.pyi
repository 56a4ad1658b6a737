# The public names with their types, written by `make stub`.

from typing import Literal, overload

from numpy.typing import ArrayLike

from steelyard import datasets as datasets
from steelyard import figures as figures
from steelyard import metrics as metrics
from steelyard import mlflow as mlflow
from steelyard import results as results
from steelyard import sklearn as sklearn
from steelyard import studies as studies
from steelyard import tables as tables
from steelyard._types import Array, Label, LabelSet, Weights
from steelyard.analysis.calibration.calibration import calibration as calibration
from steelyard.analysis.chance.chance import chance as chance
from steelyard.analysis.chance.chance_tests import beats_chance as beats_chance
from steelyard.analysis.comparison.compare import compare as compare
from steelyard.analysis.decisions.best_decision import best_decision as best_decision
from steelyard.analysis.intervals.intervals import interval as interval
from steelyard.analysis.loading import load as load
from steelyard.analysis.monitoring.monitor import Monitor as Monitor
from steelyard.analysis.planning.label_plan import label_plan as label_plan
from steelyard.analysis.planning.sample_size import sample_size as sample_size
from steelyard.analysis.prevalence.prevalence import Prevalence as Prevalence
from steelyard.analysis.prevalence.prevalence import at_prevalence as at_prevalence
from steelyard.analysis.prevalence.prevalence import correct_prior as correct_prior
from steelyard.analysis.results.result import Result as Result
from steelyard.analysis.slices.slices import slices as slices
from steelyard.analysis.thresholds.best_threshold import best_threshold as best_threshold
from steelyard.analysis.thresholds.decision_curve import decision_curve as decision_curve
from steelyard.analysis.thresholds.operating_points import operating_points as operating_points
from steelyard.arrays.labels import RARER as RARER
from steelyard.auditing.properties import audit as audit
from steelyard.auditing.recommend import recommend as recommend
from steelyard.counting import confusion as confusion
from steelyard.counting import score_table as score_table
from steelyard.counting import tally as tally
from steelyard.estimators.recalibrator import Recalibrator as Recalibrator
from steelyard.estimators.threshold import ThresholdClassifier as ThresholdClassifier
from steelyard.evaluation.compare_groups import compare_groups as compare_groups
from steelyard.evaluation.drift import drift as drift
from steelyard.evaluation.error_rows import errors as errors
from steelyard.evaluation.evaluate import evaluate as evaluate
from steelyard.evaluation.evaluation import Evaluation as Evaluation
from steelyard.evaluation.explanation import explain as explain
from steelyard.evaluation.group_thresholds import group_thresholds as group_thresholds
from steelyard.evaluation.unlabelled import unlabelled as unlabelled
from steelyard.exceptions import SteelyardError as SteelyardError
from steelyard.frames.sql import sql as sql
from steelyard.gates.gate import assert_gate as assert_gate
from steelyard.gates.gate import gate as gate
from steelyard.interop.scorers import scorer as scorer
from steelyard.ledger.ledger import Ledger as Ledger
from steelyard.metrics.curves import precision_recall_curve as precision_recall_curve
from steelyard.metrics.curves import roc_curve as roc_curve
from steelyard.metrics.measure import Metric
from steelyard.metrics.registry import MetricLike
from steelyard.metrics.registry import get_metric as get_metric
from steelyard.metrics.registry import list_metrics as list_metrics
from steelyard.predictions.predictions import Predictions as Predictions
from steelyard.protocol.cross_evaluate import cross_evaluate as cross_evaluate
from steelyard.protocol.splits import Folds as Folds
from steelyard.protocol.splits import HoldOut as HoldOut
from steelyard.tables.accumulator import Accumulator as Accumulator
from steelyard.tables.confusion import Confusion as Confusion
from steelyard.tables.counts import Counts as Counts
from steelyard.tables.multilabel_table import MultilabelTable
from steelyard.tables.score_table import ScoreTable as ScoreTable

__version__: str

def __dir__() -> list[str]: ...

class _LabelMetric(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: str = "native",
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
    ) -> float: ...
    @overload
    def __call__(
        self,
        y_true: ArrayLike | Confusion,
        y_pred: ArrayLike | None = None,
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: None,
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
    ) -> Array: ...
    @overload
    def __call__(
        self,
        y_true: Counts | Confusion,
        *,
        pos_label: Label = None,
        average: str = "native",
        undefined: float | str = ...,
        zero_division: float | str | None = None,
    ) -> float: ...
    @overload
    def __call__(
        self, y_true: Counts[Array], *, undefined: float | str = ..., zero_division: float | str | None = None
    ) -> Array: ...

class _LabelMetricAlpha(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: str = "native",
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        alpha: float | None = None,
    ) -> float: ...
    @overload
    def __call__(
        self,
        y_true: ArrayLike | Confusion,
        y_pred: ArrayLike | None = None,
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: None,
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        alpha: float | None = None,
    ) -> Array: ...
    @overload
    def __call__(
        self,
        y_true: Counts | Confusion,
        *,
        pos_label: Label = None,
        average: str = "native",
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        alpha: float | None = None,
    ) -> float: ...
    @overload
    def __call__(
        self,
        y_true: Counts[Array],
        *,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        alpha: float | None = None,
    ) -> Array: ...

class _LabelMetricAlphaOf(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: str = "native",
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        alpha: float = 0.05,
        of: MetricLike = "g_mean",
    ) -> float: ...
    @overload
    def __call__(
        self,
        y_true: ArrayLike | Confusion,
        y_pred: ArrayLike | None = None,
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: None,
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        alpha: float = 0.05,
        of: MetricLike = "g_mean",
    ) -> Array: ...
    @overload
    def __call__(
        self,
        y_true: Counts | Confusion,
        *,
        pos_label: Label = None,
        average: str = "native",
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        alpha: float = 0.05,
        of: MetricLike = "g_mean",
    ) -> float: ...
    @overload
    def __call__(
        self,
        y_true: Counts[Array],
        *,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        alpha: float = 0.05,
        of: MetricLike = "g_mean",
    ) -> Array: ...

class _LabelMetricBeta(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: str = "native",
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        beta: float = 1.0,
    ) -> float: ...
    @overload
    def __call__(
        self,
        y_true: ArrayLike | Confusion,
        y_pred: ArrayLike | None = None,
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: None,
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        beta: float = 1.0,
    ) -> Array: ...
    @overload
    def __call__(
        self,
        y_true: Counts | Confusion,
        *,
        pos_label: Label = None,
        average: str = "native",
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        beta: float = 1.0,
    ) -> float: ...
    @overload
    def __call__(
        self,
        y_true: Counts[Array],
        *,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        beta: float = 1.0,
    ) -> Array: ...

class _LabelMetricCostFnCostFp(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: str = "native",
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        cost_fn: float = 1.0,
        cost_fp: float = 1.0,
    ) -> float: ...
    @overload
    def __call__(
        self,
        y_true: ArrayLike | Confusion,
        y_pred: ArrayLike | None = None,
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: None,
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        cost_fn: float = 1.0,
        cost_fp: float = 1.0,
    ) -> Array: ...
    @overload
    def __call__(
        self,
        y_true: Counts | Confusion,
        *,
        pos_label: Label = None,
        average: str = "native",
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        cost_fn: float = 1.0,
        cost_fp: float = 1.0,
    ) -> float: ...
    @overload
    def __call__(
        self,
        y_true: Counts[Array],
        *,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        cost_fn: float = 1.0,
        cost_fp: float = 1.0,
    ) -> Array: ...

class _LabelMetricCostFnCostFpCostTpCostTn(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: str = "native",
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        cost_fn: float = 1.0,
        cost_fp: float = 1.0,
        cost_tp: float = 0.0,
        cost_tn: float = 0.0,
    ) -> float: ...
    @overload
    def __call__(
        self,
        y_true: ArrayLike | Confusion,
        y_pred: ArrayLike | None = None,
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: None,
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        cost_fn: float = 1.0,
        cost_fp: float = 1.0,
        cost_tp: float = 0.0,
        cost_tn: float = 0.0,
    ) -> Array: ...
    @overload
    def __call__(
        self,
        y_true: Counts | Confusion,
        *,
        pos_label: Label = None,
        average: str = "native",
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        cost_fn: float = 1.0,
        cost_fp: float = 1.0,
        cost_tp: float = 0.0,
        cost_tn: float = 0.0,
    ) -> float: ...
    @overload
    def __call__(
        self,
        y_true: Counts[Array],
        *,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        cost_fn: float = 1.0,
        cost_fp: float = 1.0,
        cost_tp: float = 0.0,
        cost_tn: float = 0.0,
    ) -> Array: ...

class _LabelMetricThreshold(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: str = "native",
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        threshold: float = 0.5,
    ) -> float: ...
    @overload
    def __call__(
        self,
        y_true: ArrayLike | Confusion,
        y_pred: ArrayLike | None = None,
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: None,
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        threshold: float = 0.5,
    ) -> Array: ...
    @overload
    def __call__(
        self,
        y_true: Counts | Confusion,
        *,
        pos_label: Label = None,
        average: str = "native",
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        threshold: float = 0.5,
    ) -> float: ...
    @overload
    def __call__(
        self,
        y_true: Counts[Array],
        *,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        threshold: float = 0.5,
    ) -> Array: ...

class _LabelMetricW(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: str = "native",
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        w: float = 0.6,
    ) -> float: ...
    @overload
    def __call__(
        self,
        y_true: ArrayLike | Confusion,
        y_pred: ArrayLike | None = None,
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: None,
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        w: float = 0.6,
    ) -> Array: ...
    @overload
    def __call__(
        self,
        y_true: Counts | Confusion,
        *,
        pos_label: Label = None,
        average: str = "native",
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        w: float = 0.6,
    ) -> float: ...
    @overload
    def __call__(
        self,
        y_true: Counts[Array],
        *,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        w: float = 0.6,
    ) -> Array: ...

class _LabelMetricWeights(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: str = "native",
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        weights: Literal["linear", "quadratic"] | None = None,
    ) -> float: ...
    @overload
    def __call__(
        self,
        y_true: ArrayLike | Confusion,
        y_pred: ArrayLike | None = None,
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: None,
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        weights: Literal["linear", "quadratic"] | None = None,
    ) -> Array: ...
    @overload
    def __call__(
        self,
        y_true: Counts | Confusion,
        *,
        pos_label: Label = None,
        average: str = "native",
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        weights: Literal["linear", "quadratic"] | None = None,
    ) -> float: ...
    @overload
    def __call__(
        self,
        y_true: Counts[Array],
        *,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        weights: Literal["linear", "quadratic"] | None = None,
    ) -> Array: ...

class _LabelSetMetric(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        labels: LabelSet | None = None,
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
    ) -> float: ...
    @overload
    def __call__(
        self, y_true: MultilabelTable, *, undefined: float | str = ..., zero_division: float | str | None = None
    ) -> float: ...

class _ScoreMetric(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: str = "native",
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
    ) -> float: ...
    @overload
    def __call__(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: None,
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
    ) -> Array: ...
    @overload
    def __call__(
        self,
        y_true: ScoreTable,
        *,
        pos_label: Label = None,
        average: str = "native",
        undefined: float | str = ...,
        zero_division: float | str | None = None,
    ) -> float: ...

class _ScoreMetricAt1(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: str = "native",
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        at: float = 0.1,
    ) -> float: ...
    @overload
    def __call__(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: None,
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        at: float = 0.1,
    ) -> Array: ...
    @overload
    def __call__(
        self,
        y_true: ScoreTable,
        *,
        pos_label: Label = None,
        average: str = "native",
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        at: float = 0.1,
    ) -> float: ...

class _ScoreMetricAt2(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: str = "native",
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        at: float = 0.9,
    ) -> float: ...
    @overload
    def __call__(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: None,
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        at: float = 0.9,
    ) -> Array: ...
    @overload
    def __call__(
        self,
        y_true: ScoreTable,
        *,
        pos_label: Label = None,
        average: str = "native",
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        at: float = 0.9,
    ) -> float: ...

class _ScoreMetricBins1(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: str = "native",
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        bins: int = 10,
    ) -> float: ...
    @overload
    def __call__(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: None,
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        bins: int = 10,
    ) -> Array: ...
    @overload
    def __call__(
        self,
        y_true: ScoreTable,
        *,
        pos_label: Label = None,
        average: str = "native",
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        bins: int = 10,
    ) -> float: ...

class _ScoreMetricBins2(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: str = "native",
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        bins: int = 100,
    ) -> float: ...
    @overload
    def __call__(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: None,
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        bins: int = 100,
    ) -> Array: ...
    @overload
    def __call__(
        self,
        y_true: ScoreTable,
        *,
        pos_label: Label = None,
        average: str = "native",
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        bins: int = 100,
    ) -> float: ...

class _ScoreMetricK2(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: str = "native",
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        k: int = 100,
    ) -> float: ...
    @overload
    def __call__(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: None,
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        k: int = 100,
    ) -> Array: ...
    @overload
    def __call__(
        self,
        y_true: ScoreTable,
        *,
        pos_label: Label = None,
        average: str = "native",
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        k: int = 100,
    ) -> float: ...

class _ScoreMetricK3(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: str = "native",
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        k: int = 2,
    ) -> float: ...
    @overload
    def __call__(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: None,
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        k: int = 2,
    ) -> Array: ...
    @overload
    def __call__(
        self,
        y_true: ScoreTable,
        *,
        pos_label: Label = None,
        average: str = "native",
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        k: int = 2,
    ) -> float: ...

class _ScoreMetricMaxFprMultiClass(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: str = "native",
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        max_fpr: float | None = None,
        multi_class: Literal["ovr", "ovo"] = "ovr",
    ) -> float: ...
    @overload
    def __call__(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: None,
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        max_fpr: float | None = None,
        multi_class: Literal["ovr", "ovo"] = "ovr",
    ) -> Array: ...
    @overload
    def __call__(
        self,
        y_true: ScoreTable,
        *,
        pos_label: Label = None,
        average: str = "native",
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        max_fpr: float | None = None,
        multi_class: Literal["ovr", "ovo"] = "ovr",
    ) -> float: ...

class _ScoreMetricSeverityRatio(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: str = "native",
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        severity_ratio: float | None = None,
    ) -> float: ...
    @overload
    def __call__(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: None,
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        severity_ratio: float | None = None,
    ) -> Array: ...
    @overload
    def __call__(
        self,
        y_true: ScoreTable,
        *,
        pos_label: Label = None,
        average: str = "native",
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        severity_ratio: float | None = None,
    ) -> float: ...

class _ScoreMetricShare(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: str = "native",
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        share: float = 0.1,
    ) -> float: ...
    @overload
    def __call__(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: None,
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        share: float = 0.1,
    ) -> Array: ...
    @overload
    def __call__(
        self,
        y_true: ScoreTable,
        *,
        pos_label: Label = None,
        average: str = "native",
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        share: float = 0.1,
    ) -> float: ...

class _ScoreOrLabelMetricRhoBands(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: str = "native",
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        rho: float = 0.1,
        bands: int = 10,
    ) -> float: ...
    @overload
    def __call__(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: None,
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        rho: float = 0.1,
        bands: int = 10,
    ) -> Array: ...
    @overload
    def __call__(
        self,
        y_true: Counts | Confusion | ScoreTable,
        *,
        pos_label: Label = None,
        average: str = "native",
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        rho: float = 0.1,
        bands: int = 10,
    ) -> float: ...
    @overload
    def __call__(
        self,
        y_true: Counts[Array],
        *,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        rho: float = 0.1,
        bands: int = 10,
    ) -> Array: ...

class _ScoreSetMetric(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        labels: LabelSet | None = None,
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
    ) -> float: ...
    @overload
    def __call__(
        self, y_true: MultilabelTable, *, undefined: float | str = ..., zero_division: float | str | None = None
    ) -> float: ...

class _ScoreSetMetricK1(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        labels: LabelSet | None = None,
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        k: float | None = None,
    ) -> float: ...
    @overload
    def __call__(
        self,
        y_true: MultilabelTable,
        *,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        k: float | None = None,
    ) -> float: ...

class _ScoreSetMetricKPropensities(Metric):
    @overload  # type: ignore[override]
    def __call__(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        labels: LabelSet | None = None,
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        k: int = 5,
        propensities: ArrayLike | None = None,
    ) -> float: ...
    @overload
    def __call__(
        self,
        y_true: MultilabelTable,
        *,
        undefined: float | str = ...,
        zero_division: float | str | None = None,
        k: int = 5,
        propensities: ArrayLike | None = None,
    ) -> float: ...

recall: _LabelMetric
"""Recall: Share of the positives that are predicted positive (found)."""
tpr: _LabelMetric
"""Recall: Share of the positives that are predicted positive (found)."""
true_positive_rate: _LabelMetric
"""Recall: Share of the positives that are predicted positive (found)."""
sensitivity: _LabelMetric
"""Recall: Share of the positives that are predicted positive (found)."""
hit_rate: _LabelMetric
"""Recall: Share of the positives that are predicted positive (found)."""
specificity: _LabelMetric
"""Specificity: Share of the negatives that are predicted negative (correctly rejected)."""
tnr: _LabelMetric
"""Specificity: Share of the negatives that are predicted negative (correctly rejected)."""
true_negative_rate: _LabelMetric
"""Specificity: Share of the negatives that are predicted negative (correctly rejected)."""
false_positive_rate: _LabelMetric
"""False positive rate: Share of the negatives that are predicted positive (false alarms)."""
fpr: _LabelMetric
"""False positive rate: Share of the negatives that are predicted positive (false alarms)."""
fall_out: _LabelMetric
"""False positive rate: Share of the negatives that are predicted positive (false alarms)."""
false_negative_rate: _LabelMetric
"""False negative rate: Share of the positives that are predicted negative (missed)."""
fnr: _LabelMetric
"""False negative rate: Share of the positives that are predicted negative (missed)."""
miss_rate: _LabelMetric
"""False negative rate: Share of the positives that are predicted negative (missed)."""
precision: _LabelMetric
"""Precision: Share of the predicted positives that are positive."""
ppv: _LabelMetric
"""Precision: Share of the predicted positives that are positive."""
positive_predictive_value: _LabelMetric
"""Precision: Share of the predicted positives that are positive."""
negative_predictive_value: _LabelMetric
"""Negative predictive value: Share of the predicted negatives that are negative."""
npv: _LabelMetric
"""Negative predictive value: Share of the predicted negatives that are negative."""
accuracy: _LabelMetric
"""Accuracy: Share of all rows that are classified correctly."""
subset_accuracy: _LabelMetric
"""Accuracy: Share of all rows that are classified correctly."""
error_rate: _LabelMetric
"""Error rate: Share of all rows that are misclassified."""
prevalence: _LabelMetric
"""Prevalence: Share of the rows that are positive."""
predicted_prevalence: _LabelMetric
"""Predicted prevalence: Share of the rows that are predicted positive: the prediction rate."""
unbalanced_factor: _LabelMetric
"""Unbalanced factor: Positives per negative in the test set: Nguyen's alpha."""
dominance: _LabelMetric
"""Dominance: Recall less specificity: which class has the higher recall."""
f1: _LabelMetric
"""F1: Harmonic mean of precision and recall."""
f1_score: _LabelMetric
"""F1: Harmonic mean of precision and recall."""
dice: _LabelMetric
"""F1: Harmonic mean of precision and recall."""
f2: _LabelMetric
"""F2: Harmonic mean of precision and recall, with recall twice as important."""
negative_f1: _LabelMetric
"""Negative F1: F1 with the negative class called positive."""
mean_f1: _LabelMetric
"""Mean F1: Mean of the F1 of the two classes."""
jaccard: _LabelMetric
"""Jaccard index: Share of the rows positive in truth or prediction that are positive in both."""
critical_success_index: _LabelMetric
"""Jaccard index: Share of the rows positive in truth or prediction that are positive in both."""
threat_score: _LabelMetric
"""Jaccard index: Share of the rows positive in truth or prediction that are positive in both."""
f_star: _LabelMetric
"""Jaccard index: Share of the rows positive in truth or prediction that are positive in both."""
fowlkes_mallows: _LabelMetric
"""Fowlkes-Mallows index: Geometric mean of precision and recall."""
balanced_accuracy: _LabelMetric
"""Balanced accuracy: Mean of the two class recalls, the area under the ROC curve of a single point."""
per_class_accuracy: _LabelMetric
"""Balanced accuracy: Mean of the two class recalls, the area under the ROC curve of a single point."""
single_point_auc: _LabelMetric
"""Balanced accuracy: Mean of the two class recalls, the area under the ROC curve of a single point."""
informedness: _LabelMetric
"""Informedness: Recall plus specificity less 1; 0 for a random predictor."""
youden_j: _LabelMetric
"""Informedness: Recall plus specificity less 1; 0 for a random predictor."""
youden: _LabelMetric
"""Informedness: Recall plus specificity less 1; 0 for a random predictor."""
tpnr: _LabelMetric
"""TPNR: Product of the two class recalls."""
g_mean: _LabelMetric
"""G-mean: Geometric mean of the two class recalls."""
gmean: _LabelMetric
"""G-mean: Geometric mean of the two class recalls."""
geometric_mean: _LabelMetric
"""G-mean: Geometric mean of the two class recalls."""
ac_score: _LabelMetric
"""AC-score: Harmonic mean of the two class recalls."""
ac: _LabelMetric
"""AC-score: Harmonic mean of the two class recalls."""
mcc: _LabelMetric
"""Matthews correlation: Correlation coefficient of true and predicted class."""
matthews: _LabelMetric
"""Matthews correlation: Correlation coefficient of true and predicted class."""
phi_coefficient: _LabelMetric
"""Matthews correlation: Correlation coefficient of true and predicted class."""
markedness: _LabelMetric
"""Markedness: Precision plus negative predictive value less 1."""
p4: _LabelMetric
"""P4: Harmonic mean of precision, recall, specificity and negative predictive value."""
symmetric_balanced_accuracy: _LabelMetric
"""Symmetric balanced accuracy: Mean of precision, recall, specificity and negative predictive value."""
sba: _LabelMetric
"""Symmetric balanced accuracy: Mean of precision, recall, specificity and negative predictive value."""
correlation_distance: _LabelMetric
"""Correlation distance: Angle whose cosine is MCC, as a share of a half turn: 1/2 is no correlation."""
optimized_precision: _LabelMetric
"""Optimized precision: Accuracy less a penalty for unequal class recalls."""
op: _LabelMetric
"""Optimized precision: Accuracy less a penalty for unequal class recalls."""
adjusted_g_mean: _LabelMetric
"""Adjusted G-mean: G-mean moved towards specificity by the share of negatives; 0 where recall is 0."""
agm: _LabelMetric
"""Adjusted G-mean: G-mean moved towards specificity by the share of negatives; 0 where recall is 0."""
operating_point_score: _LabelMetric
"""Operating point score: Mean of F1, negative F1 and AC-score, by which Wu and Cannistraci choose the threshold."""
oop_score: _LabelMetric
"""Operating point score: Mean of F1, negative F1 and AC-score, by which Wu and Cannistraci choose the threshold."""
positive_likelihood_ratio: _LabelMetric
"""Positive likelihood ratio: Recall over the false positive rate: how many times likelier a positive is flagged than a
negative."""
plr: _LabelMetric
"""Positive likelihood ratio: Recall over the false positive rate: how many times likelier a positive is flagged than a
negative."""
negative_likelihood_ratio: _LabelMetric
"""Negative likelihood ratio: False negative rate over specificity: how many times likelier a positive is rejected than
a negative."""
nlr: _LabelMetric
"""Negative likelihood ratio: False negative rate over specificity: how many times likelier a positive is rejected than
a negative."""
diagnostic_odds_ratio: _LabelMetric
"""Diagnostic odds ratio: Odds of being predicted positive for a positive over those for a negative."""
dor: _LabelMetric
"""Diagnostic odds ratio: Odds of being predicted positive for a positive over those for a negative."""
mean_absolute_class_error: _LabelMetric
"""Mean absolute class error: Mean number of classes between the predicted and the true one, the classes in order; of
two the error rate."""
ordinal_mae: _LabelMetric
"""Mean absolute class error: Mean number of classes between the predicted and the true one, the classes in order; of
two the error rate."""
macro_mean_absolute_class_error: _LabelMetric
"""Macro mean absolute class error: Mean absolute class error of each true class, averaged over the classes, so that
rare ones count alike."""
macro_averaged_mean_absolute_error: _LabelMetric
"""Macro mean absolute class error: Mean absolute class error of each true class, averaged over the classes, so that
rare ones count alike."""
macro_mae: _LabelMetric
"""Macro mean absolute class error: Mean absolute class error of each true class, averaged over the classes, so that
rare ones count alike."""
alpha_accuracy: _LabelMetricAlpha
"""Alpha-accuracy: Accuracy with each negative weighted by the unbalanced factor, so that both classes have equal
weight."""
alpha_precision: _LabelMetricAlpha
"""Alpha-precision: Precision with each false positive weighted by the unbalanced factor."""
alpha_recall: _LabelMetricAlpha
"""Alpha-recall: Recall, which the unbalanced factor leaves as it is."""
alpha_f1: _LabelMetricAlpha
"""Alpha-F1: Harmonic mean of alpha-precision and recall."""
iba: _LabelMetricAlphaOf
"""Index of balanced accuracy: A metric (by default the G-mean) raised where recall exceeds specificity, lowered where
it is below."""
f_beta: _LabelMetricBeta
"""F-beta: Harmonic mean of precision and recall, with recall beta times as important."""
normalized_expected_cost: _LabelMetricCostFnCostFp
"""Normalized expected cost: Cost of the errors over that of the better of flagging all rows and none, which has 1."""
expected_cost: _LabelMetricCostFnCostFpCostTpCostTn
"""Expected cost: Mean cost per row, given the cost of each cell of the confusion matrix."""
net_benefit: _LabelMetricThreshold
"""Net benefit: True positives less false positives times the odds of the threshold, per row."""
standardized_net_benefit: _LabelMetricThreshold
"""Standardized net benefit: Net benefit over that of flagging the positives alone, which is the prevalence."""
relative_utility: _LabelMetricThreshold
"""Standardized net benefit: Net benefit over that of flagging the positives alone, which is the prevalence."""
class_weighted_accuracy: _LabelMetricW
"""Class-weighted accuracy: Mean of the two class recalls with weight w on the positive one."""
cwa: _LabelMetricW
"""Class-weighted accuracy: Mean of the two class recalls with weight w on the positive one."""
kappa: _LabelMetricWeights
"""Cohen's kappa: Agreement of true and predicted class beyond chance, as expected from their margins."""
cohen_kappa: _LabelMetricWeights
"""Cohen's kappa: Agreement of true and predicted class beyond chance, as expected from their margins."""
hamming_loss: _LabelSetMetric
"""Hamming loss: Mean share of the labels of a row that are predicted wrongly: the error rate over all labels of all
rows."""
average_precision: _ScoreMetric
"""Average precision: Area under the precision-recall curve as a step function: mean precision at each positive's
threshold."""
ap: _ScoreMetric
"""Average precision: Area under the precision-recall curve as a step function: mean precision at each positive's
threshold."""
negative_average_precision: _ScoreMetric
"""Negative average precision: Average precision with the negative class called positive and the scores negated."""
mean_average_precision: _ScoreMetric
"""Mean average precision: Mean of the average precisions of the two classes."""
pr_auc: _ScoreMetric
"""PR AUC, trapezoid: Area under the precision-recall curve joined by straight lines, which flatters; prefer average
precision."""
brier: _ScoreMetric
"""Brier score: Mean squared difference between predicted probability and outcome (0 or 1)."""
log_loss: _ScoreMetric
"""Log loss: Mean negative log-likelihood (cross-entropy) in nats; infinite where an outcome had probability 0."""
cross_entropy: _ScoreMetric
"""Log loss: Mean negative log-likelihood (cross-entropy) in nats; infinite where an outcome had probability 0."""
d2_log_loss: _ScoreMetric
"""D2 log loss: Share of the log loss of predicting the prevalence for every row that the probabilities remove (D
squared)."""
mcfadden_r2: _ScoreMetric
"""D2 log loss: Share of the log loss of predicting the prevalence for every row that the probabilities remove (D
squared)."""
calibration_slope: _ScoreMetric
"""Calibration slope: Slope of the outcomes on the logits of the probabilities, by logistic regression; below 1 is
overconfident."""
calibration_intercept: _ScoreMetric
"""Calibration intercept: Shift of the logits that makes the mean probability the prevalence (in the large): below 0 is
too high."""
calibration_in_the_large: _ScoreMetric
"""Calibration intercept: Shift of the logits that makes the mean probability the prevalence (in the large): below 0 is
too high."""
observed_to_expected: _ScoreMetric
"""Observed-to-expected ratio: Observed positives over those expected, which is the sum of the probabilities."""
o_to_e: _ScoreMetric
"""Observed-to-expected ratio: Observed positives over those expected, which is the sum of the probabilities."""
integrated_calibration_index: _ScoreMetric
"""Integrated calibration index: Mean distance between the probabilities and the isotonic reliability curve."""
ici: _ScoreMetric
"""Integrated calibration index: Mean distance between the probabilities and the isotonic reliability curve."""
brier_miscalibration: _ScoreMetric
"""Brier miscalibration: What recalibrating by the isotonic reliability curve takes off the Brier score."""
mcb: _ScoreMetric
"""Brier miscalibration: What recalibrating by the isotonic reliability curve takes off the Brier score."""
brier_discrimination: _ScoreMetric
"""Brier discrimination: Variance of the isotonic reliability curve: what order takes off the Brier score of predicting
the prevalence."""
dsc: _ScoreMetric
"""Brier discrimination: Variance of the isotonic reliability curve: what order takes off the Brier score of predicting
the prevalence."""
brier_uncertainty: _ScoreMetric
"""Brier uncertainty: Brier score of predicting the prevalence for every row: prevalence times one minus it."""
unc: _ScoreMetric
"""Brier uncertainty: Brier score of predicting the prevalence for every row: prevalence times one minus it."""
brier_skill_score: _ScoreMetric
"""Brier skill score: Share of the Brier score of predicting the prevalence for every row that the probabilities
remove."""
scaled_brier: _ScoreMetric
"""Brier skill score: Share of the Brier score of predicting the prevalence for every row that the probabilities
remove."""
bss: _ScoreMetric
"""Brier skill score: Share of the Brier score of predicting the prevalence for every row that the probabilities
remove."""
gini: _ScoreMetric
"""Gini coefficient: Twice the area under the ROC curve less one: 0 for a random ranking, the accuracy ratio of a CAP
curve."""
somers_d: _ScoreMetric
"""Gini coefficient: Twice the area under the ROC curve less one: 0 for a random ranking, the accuracy ratio of a CAP
curve."""
accuracy_ratio: _ScoreMetric
"""Gini coefficient: Twice the area under the ROC curve less one: 0 for a random ranking, the accuracy ratio of a CAP
curve."""
ks: _ScoreMetric
"""Kolmogorov-Smirnov statistic: Largest recall less false positive rate at any threshold, which is the largest
informedness."""
kolmogorov_smirnov: _ScoreMetric
"""Kolmogorov-Smirnov statistic: Largest recall less false positive rate at any threshold, which is the largest
informedness."""
auprg: _ScoreMetric
"""Area under the precision-recall-gain curve: Area under precision gain over recall gain: 0 is what flagging all rows
has, 1 a perfect ranking."""
precision_recall_gain_auc: _ScoreMetric
"""Area under the precision-recall-gain curve: Area under precision gain over recall gain: 0 is what flagging all rows
has, 1 a perfect ranking."""
discrimination_slope: _ScoreMetric
"""Discrimination slope: Mean probability of the positives less that of the negatives."""
tjur_r2: _ScoreMetric
"""Discrimination slope: Mean probability of the positives less that of the negatives."""
coefficient_of_discrimination: _ScoreMetric
"""Discrimination slope: Mean probability of the positives less that of the negatives."""
ranked_probability_score: _ScoreMetric
"""Ranked probability score: Mean squared distance of cumulated probabilities from the outcome, over the classes in
order but the last."""
rps: _ScoreMetric
"""Ranked probability score: Mean squared distance of cumulated probabilities from the outcome, over the classes in
order but the last."""
recall_at_fpr: _ScoreMetricAt1
"""Recall at FPR: Highest recall at any threshold whose false positive rate is at most the given one."""
sensitivity_at_fpr: _ScoreMetricAt1
"""Recall at FPR: Highest recall at any threshold whose false positive rate is at most the given one."""
recall_at_precision: _ScoreMetricAt2
"""Recall at precision: Highest recall at any threshold whose precision is at least the given one."""
precision_at_recall: _ScoreMetricAt2
"""Precision at recall: Highest precision at any threshold whose recall is at least the given one."""
specificity_at_recall: _ScoreMetricAt2
"""Specificity at recall: Highest specificity at any threshold whose recall is at least the given one."""
specificity_at_sensitivity: _ScoreMetricAt2
"""Specificity at recall: Highest specificity at any threshold whose recall is at least the given one."""
expected_calibration_error: _ScoreMetricBins1
"""Expected calibration error: Mean absolute gap between mean predicted probability and share of positives, in bins of
equal width."""
ece: _ScoreMetricBins1
"""Expected calibration error: Mean absolute gap between mean predicted probability and share of positives, in bins of
equal width."""
mcc_f1: _ScoreMetricBins2
"""MCC-F1 metric: Nearness of the curve of MCC over F1 to the point where both are 1, averaged over ranges of MCC."""
precision_at_k: _ScoreMetricK2
"""Precision at k: Precision among the k highest-scored rows, or of weighted rows that share of the weight; ties count
in part."""
top_k_accuracy: _ScoreMetricK3
"""Top-k accuracy: Share of the rows whose class is among the k classes of the highest scores, a column of scores for
each class."""
roc_auc: _ScoreMetricMaxFprMultiClass
"""ROC AUC: Area under the ROC curve: the probability that a random positive scores above a random negative."""
auc: _ScoreMetricMaxFprMultiClass
"""ROC AUC: Area under the ROC curve: the probability that a random positive scores above a random negative."""
auroc: _ScoreMetricMaxFprMultiClass
"""ROC AUC: Area under the ROC curve: the probability that a random positive scores above a random negative."""
h_measure: _ScoreMetricSeverityRatio
"""H-measure: Share of the least expected cost without scores that the best threshold for every cost removes."""
lift: _ScoreMetricShare
"""Lift: Precision among the highest-scored share of the rows over the prevalence."""
weighted_auc: _ScoreOrLabelMetricRhoBands
"""Weighted AUC: Area under the ROC curve in bands of recall, the upper bands with more weight; on counts, of the single
point."""
wauc: _ScoreOrLabelMetricRhoBands
"""Weighted AUC: Area under the ROC curve in bands of recall, the upper bands with more weight; on counts, of the single
point."""
label_ranking_loss: _ScoreSetMetric
"""Label ranking loss: Mean share of a row's pairs of a true and another label in which the other one scores as high or
higher."""
ranking_loss: _ScoreSetMetric
"""Label ranking loss: Mean share of a row's pairs of a true and another label in which the other one scores as high or
higher."""
coverage_error: _ScoreSetMetric
"""Coverage error: Mean number of labels that have to be taken, the highest scores first, until all true ones of a row
are there."""
label_ranking_average_precision: _ScoreSetMetric
"""Label ranking average precision: Mean over a row's true labels of the share of true ones among those that score as
high or higher."""
lrap: _ScoreSetMetric
"""Label ranking average precision: Mean over a row's true labels of the share of true ones among those that score as
high or higher."""
ndcg: _ScoreSetMetricK1
"""NDCG: Sum over a row's true labels of a discount, 1 / log2(1 + rank), over its largest; of the k highest, or all."""
normalized_discounted_cumulative_gain: _ScoreSetMetricK1
"""NDCG: Sum over a row's true labels of a discount, 1 / log2(1 + rank), over its largest; of the k highest, or all."""
propensity_scored_precision_at_k: _ScoreSetMetricKPropensities
"""Propensity-scored precision at k: Precision among a row's k highest labels, a true one counted by 1 / its propensity:
rare labels count more."""
psp_at_k: _ScoreSetMetricKPropensities
"""Propensity-scored precision at k: Precision among a row's k highest labels, a true one counted by 1 / its propensity:
rare labels count more."""
