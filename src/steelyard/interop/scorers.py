"""Scorers: any metric where scikit-learn takes a `scoring`, in cross-validation, searches and threshold tuning.

Both libraries number the classes 0, 1, ... and hand over probabilities: of class 1, or one column per class. Where the
metric is undefined, as precision is before any row is predicted positive, the value is the worst one, never the best.
"""

from __future__ import annotations

import math
import re
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, Unpack, overload

import numpy as np

from steelyard.arguments import names_wrong_arguments
from steelyard.exceptions import InputError, needs_sklearn
from steelyard.metrics.call_options import MetricParameters, undefined_or_zero_division
from steelyard.metrics.measure import Metric
from steelyard.metrics.multilabel_values import check_label_sets
from steelyard.metrics.spec import MetricSpec, SpecLike
from steelyard.tables.array_tables import confusion, score_table
from steelyard.tables.label_sets import are_label_sets

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike
    from typing_extensions import TypeIs

    from steelyard._types import Array, Estimator, Label, Labels, Weights
    from steelyard.tables.confusion import Confusion


# XGBoost maximises a metric whose name begins like one of these, and minimises every other one.
_MAXIMISED = re.compile("auc|map|ndcg|pre")


class LabelledRows(Protocol):
    """XGBoost's DMatrix and LightGBM's Dataset, as far as they are used here."""

    def get_label(self) -> ArrayLike:
        """The class of each row."""

    def get_weight(self) -> Weights:
        """The weight of each row; none or an empty array where there are no weights."""


@dataclass(frozen=True)
class BoostingMetric:
    """A metric as a function of the true classes and the probabilities that a round of boosting gives."""

    score: Score
    higher_is_better: bool
    pos_label: Label = None

    @property
    def __name__(self) -> str:
        name = MetricSpec(self.score.metric, self.score.average, self.pos_label).name
        return name.replace(" ", "").replace(":", "_")  # XGBoost reads its own lines of names and values back

    def value(self, y_true: ArrayLike, output: ArrayLike, sample_weight: Weights) -> float:
        """The metric, of the scores or of the classes predicted from them."""
        codes, scores = np.asarray(y_true).astype(np.int64), np.asarray(output)
        self._check_positive(max(2, scores.shape[1] if scores.ndim == 2 else int(codes.max(initial=0)) + 1))
        weights = None if sample_weight is None or not np.size(sample_weight) else sample_weight
        if self.score.metric.scores is None:
            return self.score(codes, _predicted(self.__name__, codes, scores), self.pos_label, weights)
        if self.pos_label == 0 and scores.ndim == 1:  # the score of class 1, turned round
            scores = -scores if (scores < 0).any() or (scores > 1).any() else 1 - scores
        score = replace(self.score, labels=tuple(range(scores.shape[1]))) if scores.ndim == 2 else self.score
        return score(codes, scores, self.pos_label, weights)

    def _check_positive(self, classes: int) -> None:
        if self.pos_label is not None and self.pos_label not in range(classes):
            raise InputError(
                f"XGBoost and LightGBM number the classes 0 to {classes - 1}, in sorted order; "
                f"give pos_label= as that number, not {self.pos_label!r}."
            )


def _has_labels(given: ArrayLike | LabelledRows) -> TypeIs[LabelledRows]:
    """Whether the second argument is the libraries' own table: their native functions give the predictions first."""
    return hasattr(given, "get_label")


def _predicted(name: str, codes: Array, scores: Array) -> Array:
    """The class that is predicted for each row: of the largest probability, or 1 from one half on."""
    if scores.ndim == 2:
        return np.asarray(scores.argmax(1))
    if codes.max(initial=0) > 1:  # of objectives that predict the class itself, such as multi:softmax
        return scores.astype(np.int64)
    if (scores < 0).any() or (scores > 1).any():
        raise InputError(
            f"{name} is of predicted classes, and these scores are no probabilities, as with an objective of your own; "
            "take a metric of scores, such as roc_auc."
        )
    return (scores >= 0.5).astype(np.int64)


class XGBoostMetric(BoostingMetric):
    """For `XGBClassifier(eval_metric=...)` and `xgboost.train(custom_metric=...)`, which minimise.

    A metric that is best high is negated and called `neg_...`, as scikit-learn's are.
    """

    @property
    def __name__(self) -> str:
        name = super().__name__
        if self.higher_is_better:
            return f"neg_{name}"
        return f"low_{name}" if _MAXIMISED.match(name) else name

    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, sample_weight: Weights = None) -> float: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: LabelledRows) -> tuple[str, float]: ...
    def __call__(
        self, y_true: ArrayLike, y_score: ArrayLike | LabelledRows, sample_weight: Weights = None
    ) -> float | tuple[str, float]:
        sign = -1 if self.higher_is_better else 1
        if _has_labels(y_score):
            return self.__name__, sign * self.value(y_score.get_label(), y_true, y_score.get_weight())
        return sign * self.value(y_true, y_score, sample_weight)


class LightGBMMetric(BoostingMetric):
    """For `LGBMClassifier.fit(eval_metric=...)` and `lightgbm.train(feval=...)`: name, value, and the direction."""

    def __call__(
        self, y_true: ArrayLike, y_pred: ArrayLike | LabelledRows, weight: Weights = None
    ) -> tuple[str, float, bool]:
        if _has_labels(y_pred):
            value = self.value(y_pred.get_label(), y_true, y_pred.get_weight())
        else:
            value = self.value(y_true, y_pred, weight)
        return self.__name__, value, self.higher_is_better


# ---------------------------------------------------------------- scorers


try:
    from sklearn.exceptions import UndefinedMetricWarning
    from sklearn.metrics._scorer import _Scorer
except ImportError as missing:
    raise needs_sklearn("A scorer") from missing


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
