"""Scorers: any measure where scikit-learn takes a `scoring`, in cross-validation, searches and threshold tuning."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.errors import InputError, needs_sklearn
from steelyard.ingest.labels import confusion, score_table
from steelyard.metrics.registry import get_metric

if TYPE_CHECKING:
    from steelyard.metrics.metric import Metric
    from steelyard.statistics.confusion import Confusion

RANKED = ("decision_function", "predict_proba")  # the first that a classifier has


def scorer(
    metric: Any,
    *,
    pos_label: Any = None,
    average: str | None = "native",
    undefined: float = math.nan,
    **parameters: Any,
) -> Any:
    """A measure as a scorer of scikit-learn: for cross_validate, GridSearchCV, TunedThresholdClassifierCV.

    Whether it asks for predictions, scores or probabilities, and whether higher is better, is known of the measure; a
    measure that is best low is negated, as scikit-learn expects. Several scorers in a dictionary share the predictions.
    On a fold where the measure is undefined the score is `undefined`, NaN unless given.

    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_validate
    >>> X, y = make_classification(500, weights=[0.9], random_state=0)
    >>> found = cross_validate(LogisticRegression(), X, y, scoring={"ac": scorer("ac_score"), "auc": scorer("roc_auc")})
    >>> sorted(found)
    ['fit_time', 'score_time', 'test_ac', 'test_auc']
    """
    measure = get_metric(metric)
    measure = measure.fixed(**parameters) if parameters else measure
    if average is None:
        raise InputError("A scorer gives one number; name a class with pos_label=, or average='macro'.")
    greater = _greater(metric, measure)
    options = {} if pos_label is None else {"pos_label": pos_label}
    return _make_scorer()(
        Score(measure, average, undefined),
        response_method=_response(measure, average),
        greater_is_better=greater,
        **options,
    )


def _make_scorer() -> Any:
    try:
        from sklearn.metrics import make_scorer
    except ImportError:
        raise needs_sklearn("A scorer") from None
    return make_scorer


def _greater(given: Any, measure: Metric) -> bool:
    """Whether higher is better; of a plain function, which says nothing about itself, it is."""
    if measure.direction is None and measure is not given and callable(given):
        return True
    if measure.direction is None:
        raise InputError(f"No value of {measure.name} is best, so it cannot score; name a measure with a direction.")
    return measure.direction == "higher"


def _response(measure: Metric, average: str) -> Any:
    """The method of a classifier that answers what the measure needs."""
    if measure.scores is None:
        return "predict"
    if measure.family == "calibration":
        return "predict_proba"
    return RANKED if average == "native" else RANKED[::-1]  # of many classes scikit-learn ranks the probabilities


@dataclass(frozen=True)
class Score:
    """A measure as a function of truth and predictions: one number, also where a fold lacks a class."""

    measure: Metric
    average: str | None = "native"
    undefined: float = math.nan

    @property
    def __name__(self) -> str:
        return self.measure.name  # what scikit-learn prints

    def __call__(self, y_true: Any, y_pred: Any, pos_label: Any = None, sample_weight: Any = None) -> float:
        if self.measure.scores is not None:
            return self._of_scores(y_true, y_pred, pos_label, sample_weight)
        table = confusion(y_true, y_pred, sample_weight=sample_weight)
        how = {} if self.average == "native" else {"average": self.average}
        return float(self.measure(_with_positive(table, pos_label), undefined=self.undefined, **how))

    def _of_scores(self, y_true: Any, y_score: Any, pos_label: Any, sample_weight: Any) -> float:
        if np.ndim(y_score) == 2:
            how = {"average": self.average, "sample_weight": sample_weight, "undefined": self.undefined}
            return float(self.measure(y_true, y_score, **how))
        if pos_label is None and set(np.unique(y_true).tolist()) <= {0, 1}:
            pos_label = 1
        table = score_table(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight)
        return float(self.measure(table, undefined=self.undefined))


def _with_positive(table: Confusion, pos_label: Any) -> Confusion:
    """The table about its positive class; a fold of one class alone may lack it, and 1 is it beside 0 or -1."""
    if pos_label is None and len(table.labels) < 2 and set(table.labels) <= {-1, 0, 1}:
        pos_label = 1
    return table if pos_label is None else table.with_positive(pos_label)
