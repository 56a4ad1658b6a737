"""Scorers: any metric where scikit-learn takes a `scoring`, in cross-validation, searches and threshold tuning."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from steelyard.arguments import names_wrong_arguments
from steelyard.exceptions import InputError, needs_sklearn
from steelyard.ingest.array_tables import confusion, score_table
from steelyard.ingest.label_sets import are_label_sets
from steelyard.interop.boosting import LightGBMMetric, XGBoostMetric
from steelyard.metrics.call_options import MetricParameters, undefined_or_zero_division
from steelyard.metrics.measure import Metric
from steelyard.metrics.multilabel_values import check_label_sets
from steelyard.metrics.spec import MetricSpec, SpecLike

try:
    from sklearn.exceptions import UndefinedMetricWarning
    from sklearn.metrics._scorer import _Scorer
except ImportError as missing:
    raise needs_sklearn("A scorer") from missing

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Estimator, Label, Labels, Weights
    from steelyard.statistics.confusion import Confusion

_LARGE = 1e300  # for infinity, between two of which scikit-learn could not interpolate
_RANKED = ("decision_function", "predict_proba")  # the first that a classifier has


@names_wrong_arguments
def scorer(
    metric: SpecLike,
    *,
    pos_label: Label | None = None,
    average: str | None = "native",
    undefined: float = math.nan,
    zero_division: float | None = None,
    **parameters: Unpack[MetricParameters],
) -> MetricScorer:
    """A metric as a scorer of scikit-learn: for cross_validate, GridSearchCV, TunedThresholdClassifierCV.

    Whether it asks for predictions, scores or probabilities, and whether higher is better, is known of the metric; a
    metric that is best low is negated, as scikit-learn expects. Several scorers in a dictionary share the predictions.
    On a fold where the metric is undefined the score is `undefined`, NaN with a warning unless given (scikit-learn's
    `zero_division` means the same): by a NaN GridSearchCV drops the candidate, for the mean over the other folds alone
    would flatter one that is undefined where it is hard. A threshold at which it is undefined is never the best.
    `.xgboost` and `.lightgbm` are the same metric for early stopping there. The threshold of net_benefit sets the odds
    alone: labels are those that the classifier predicts, so give scikit-learn's FixedThresholdClassifier the same one.

    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_validate
    >>> X, y = make_classification(500, weights=[0.9], random_state=0)
    >>> scoring = {"ac": scorer("ac_score"), "auc": scorer("roc_auc")}
    >>> results = cross_validate(LogisticRegression(), X, y, scoring=scoring)
    >>> sorted(results)
    ['fit_time', 'score_time', 'test_ac', 'test_auc']
    """
    spec = MetricSpec.of(metric)
    chosen = spec.metric.fixed(None, **parameters) if parameters else spec.metric
    if not spec.is_native and (pos_label is not None or average != "native"):
        raise InputError(f"{spec.name} says which classes it is of; leave pos_label= and average= out.")
    pos_label, average = (pos_label, average) if spec.is_native else (spec.label, spec.average)
    if average is None:
        raise InputError("A scorer gives one number; name a class with pos_label=, or average='macro'.")
    plain_function = callable(metric) and not isinstance(metric, Metric)
    greater = plain_function or _greater(chosen)  # a plain function says nothing about itself
    options = {} if pos_label is None else {"pos_label": pos_label}
    replaced = float(undefined_or_zero_division(undefined, zero_division))
    score = Score(chosen, average, replaced, _worst(chosen, greater))
    return MetricScorer(score, 1 if greater else -1, options, _response(chosen, average))


class MetricScorer(_Scorer):  # type: ignore[misc]  # scikit-learn has no types
    """A scorer of scikit-learn whose score may be undefined, and whose thresholds are then never the best.

    TunedThresholdClassifierCV takes the function out of a scorer and the largest of what it returns, for which NumPy
    takes NaN: so the function itself returns the worst value, and the scorer asks it for the undefined one.
    """

    def _score(
        self,
        method_caller: Callable[..., Array],
        estimator: Estimator,
        X: ArrayLike,
        y_true: ArrayLike,
        **kwargs: Weights,
    ) -> float:
        classes = getattr(estimator, "classes_", None)  # of which a fold may lack some
        function = replace(
            self._score_func.plain, labels=None if classes is None else tuple(np.asarray(classes).tolist())
        )
        plain = _Scorer(function, self._sign, self._kwargs, self._response_method)
        score = float(plain._score(method_caller, estimator, X, y_true, **kwargs))  # noqa: SLF001 - the class above it
        if math.isnan(score):
            name = function.metric.name
            warnings.warn(
                f"{name} is undefined on a fold, so its score is NaN and a search drops the candidate; "
                f"scorer({name!r}, undefined=0) gives such a fold the value that you choose.",
                UndefinedMetricWarning,
                stacklevel=2,
            )
        return score

    @property
    def xgboost(self) -> XGBoostMetric:
        """For XGBoost's `eval_metric` and `custom_metric`: negated where higher is better, since it minimises."""
        return XGBoostMetric(self._score_func, self._sign > 0, self._kwargs.get("pos_label"))

    @property
    def lightgbm(self) -> LightGBMMetric:
        """For LightGBM's `eval_metric` and `feval`: the name, the value, and whether higher is better."""
        return LightGBMMetric(self._score_func, self._sign > 0, self._kwargs.get("pos_label"))


def _worst(metric: Metric, greater: bool) -> float:
    """The value that is never the best of any."""
    end = metric.range[0 if greater else 1]
    return end if math.isfinite(end) else math.copysign(_LARGE, end)


def _greater(metric: Metric) -> bool:
    """Whether higher is better."""
    if metric.direction is None:
        raise InputError(f"No value of {metric.name} is best, so it cannot score; name a metric with a direction.")
    return metric.direction == "higher"


def _response(metric: Metric, average: str) -> str | tuple[str, ...]:
    """The method of a classifier that answers what the metric needs."""
    if not metric.takes_scores:
        return "predict"
    if metric.of_probabilities:
        return "predict_proba"
    if metric.ranks_labels:
        return _RANKED[::-1]
    return _RANKED if average == "native" else _RANKED[::-1]  # of many classes scikit-learn ranks the probabilities


@dataclass(frozen=True)
class Score:
    """A metric as a function of truth and predictions: one number, also where it is undefined.

    `plain` returns `undefined` there, and the function itself `never`, a value that no search takes for the best.
    """

    metric: Metric
    average: str = "native"
    undefined: float = math.nan
    never: float = math.nan
    labels: Labels | None = None  # the classes, where scores have a column for each

    @property
    def __name__(self) -> str:
        return self.metric.name  # what scikit-learn prints

    @property
    def plain(self) -> Score:
        """The same, undefined where it is."""
        return replace(self, never=self.undefined)

    def __call__(
        self, y_true: ArrayLike, y_pred: ArrayLike, pos_label: Label | None = None, sample_weight: Weights = None
    ) -> float:
        if are_label_sets(y_true):
            options: dict[str, Any] = {"average": self.average, "pos_label": pos_label, "undefined": self.never}
            return float(self.metric(y_true, y_pred, sample_weight=sample_weight, **options))
        check_label_sets(self.metric)
        if self.metric.scores is not None:
            return self._of_scores(y_true, y_pred, pos_label, sample_weight)
        table = confusion(y_true, y_pred, sample_weight=sample_weight)
        return float(self.metric(_with_positive(table, pos_label), average=self.average, undefined=self.never))

    def _of_scores(
        self, y_true: ArrayLike, y_score: ArrayLike, pos_label: Label | None, sample_weight: Weights
    ) -> float:
        if np.ndim(y_score) == 2:
            if self.average == "native" and self.metric.columns is None and pos_label is None:
                raise InputError(  # the metric itself would offer average=None, which gives no single number
                    f"{self.metric.name} of several columns of scores is to be averaged over the classes; write "
                    f"scorer({self.metric.name!r}, average='macro') or average='weighted'."
                )
            options: dict[str, Any] = {"sample_weight": sample_weight, "undefined": self.never, "labels": self.labels}
            return float(self.metric(y_true, y_score, average=self.average, pos_label=pos_label, **options))
        if pos_label is None and set(np.unique(y_true).tolist()) <= {0, 1}:
            pos_label = 1
        table = score_table(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight)
        return float(self.metric(table, undefined=self.never))


def _with_positive(table: Confusion, pos_label: Label | None) -> Confusion:
    """The table about its positive class; a fold of one class alone may lack it, and 1 is it beside 0 or -1."""
    if pos_label is None and len(table.labels) < 2 and set(table.labels) <= {-1, 0, 1}:
        pos_label = 1
    return table if pos_label is None else table.with_positive(pos_label)
