"""SampledClassifier: a classifier whose training rows are resampled each time that it is fitted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from steelyard.exceptions import needs_sklearn
from steelyard.protocol.resample import Training, resampled

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
    from sklearn.utils.metaestimators import available_if
except ImportError as missing:
    raise needs_sklearn("resampling_study") from missing

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Estimator
    from steelyard.protocol.resample import Resampler


def _has(name: str) -> Callable[[SampledClassifier], bool]:
    """Whether the classifier inside has a method, so that this one has it too."""
    return lambda self: hasattr(getattr(self, "estimator_", self.estimator), name)


class SampledClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier fitted on resampled rows; what it predicts for is never resampled.

    Fitted: `estimator_`, the classifier; `shares_`, the share of each class among the rows that it was fitted on.
    """

    def __init__(self, estimator: Estimator, sampler: Resampler, random_state: int | None = None) -> None:
        self.estimator = estimator
        self.sampler = sampler
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> SampledClassifier:
        """Resample, then fit."""
        training = resampled(self.sampler, Training(X, np.asarray(y), None), self.random_state or 0)
        self.estimator_: Any = clone(self.estimator).fit(training.X, training.y)
        self.classes_ = self.estimator_.classes_
        labels, rows = np.unique(training.y, return_counts=True)
        self.shares_ = dict(zip(labels.tolist(), (rows / rows.sum()).tolist(), strict=True))
        return self

    def predict(self, X: ArrayLike) -> Array:
        """The class of each row."""
        return cast("Array", self.estimator_.predict(X))

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator]  # see above
    def predict_proba(self, X: ArrayLike) -> Any:
        """The probabilities of the classifier inside, which are those among the resampled rows."""
        return self.estimator_.predict_proba(X)

    @available_if(_has("decision_function"))  # type: ignore[untyped-decorator]  # see above
    def decision_function(self, X: ArrayLike) -> Any:
        """The scores of the classifier inside."""
        return self.estimator_.decision_function(X)


def with_sampler(estimator: Estimator, sampler: Resampler) -> Estimator:
    """The estimator fitted on resampled rows; of a pipeline its last step, after the others have learnt from all rows.

    So a scaler or a coding of words learns from the rows as they are, and a sampler of distances takes them
    between the columns that the classifier gets.
    """
    steps = getattr(estimator, "steps", None)
    if not steps:
        return SampledClassifier(estimator, sampler)
    whole: Any = clone(cast("Any", estimator))
    name, last = whole.steps[-1]
    return cast("Estimator", whole.set_params(**{name: SampledClassifier(last, sampler)}))
