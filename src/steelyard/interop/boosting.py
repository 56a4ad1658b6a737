"""Boosting: a metric as XGBoost's and LightGBM's `eval_metric`, its direction included, for early stopping.

Both libraries number the classes 0, 1, ... and hand over probabilities: of class 1, or one column per class. Where the
metric is undefined, as precision is before any row is predicted positive, the value is the worst one, never the best.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, overload

import numpy as np

from steelyard.exceptions import InputError
from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import TypeIs

    from steelyard._types import Array, Label, Weights
    from steelyard.interop.scorers import Score

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
