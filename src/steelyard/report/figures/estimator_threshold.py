"""Estimator thresholds: the score and the threshold by which a classifier with a threshold of its own predicts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from steelyard._types import Estimator, Label


@dataclass(frozen=True)
class OwnThreshold:
    """A threshold of the scores of one class, and the method that gives them: "auto" is the first that there is.

    Of a classifier with a threshold for each group it is NaN.
    """

    value: float
    label: Label
    response_method: str

    def of_class(self, label: Label, method: str) -> float:
        """The threshold from which this class is predicted: the other class is where the scores stay below."""
        if label == self.label:
            return self.value
        return math.nextafter((1.0 if method == "predict_proba" else 0.0) - self.value, math.inf)


def own_threshold(estimator: Estimator) -> OwnThreshold | None:
    """The threshold of a ThresholdClassifier or of scikit-learn's classifiers with one; None of any other.

    In a pipeline it is that of the last step, in a search that of the best estimator.
    """
    model: Any = estimator
    while (inside := _wrapped(model)) is not None:
        model = inside
    by_group = math.nan if hasattr(model, "best_thresholds_") else None
    threshold = getattr(model, "best_threshold_", by_group)  # of ThresholdClassifier and TunedThresholdClassifierCV
    threshold = getattr(model, "threshold", None) if threshold is None else getattr(threshold, "threshold", threshold)
    if isinstance(threshold, str) or threshold is None or not hasattr(model, "estimator_"):
        return None
    label = getattr(model, "pos_label", None)
    return OwnThreshold(float(threshold), model.classes_[-1] if label is None else label, model.response_method)


def _wrapped(model: Any) -> Any:
    """The model that makes the predictions of a pipeline or a search; None where it makes them itself."""
    steps = getattr(model, "steps", None)
    return steps[-1][1] if steps else getattr(model, "best_estimator_", None)
