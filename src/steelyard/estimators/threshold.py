"""ThresholdClassifier: a classifier that predicts at the threshold where a metric is best, for scikit-learn."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from steelyard.analysis.best_threshold import best_threshold
from steelyard.errors import InputError, InputTypeError, needs_sklearn
from steelyard.ingest.array_tables import score_table

try:
    from sklearn.base import (
        BaseEstimator,
        ClassifierMixin,
        MetaEstimatorMixin,
        clone,
        is_classifier,
    )
    from sklearn.model_selection import check_cv
    from sklearn.utils import (
        _safe_indexing,
        get_tags,
    )
    from sklearn.utils.metaestimators import available_if
    from sklearn.utils.multiclass import type_of_target
    from sklearn.utils.validation import (
        _check_sample_weight,
        check_is_fitted,
        column_or_1d,
        indexable,
    )
except ImportError as missing:
    raise needs_sklearn("ThresholdClassifier") from missing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Estimator, Label, Splitter, Weights
    from steelyard.analysis.threshold_criterion import AimLike
    from steelyard.statistics.score_table import ScoreTable

_METHODS = ("predict_proba", "decision_function")


def _has(name: str) -> Callable[[ThresholdClassifier], bool]:
    """Whether the classifier inside has a method, so that this one has it too."""
    return lambda self: hasattr(getattr(self, "estimator_", self.estimator), name)


class ThresholdClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A two-class classifier that predicts at the threshold where a metric is best on rows it was not fitted on.

    Clones fitted on the folds of `cv` score the rows they have not seen; `best_threshold` finds the threshold on all
    those scores together, half-way between a score that is flagged and one that is not, so that the refit, whose scores
    differ a little, flags what was meant; the classifier is then fitted on all rows. cv="prefit" takes it as it is
    fitted, so give rows it has not seen. `metric` and `where` are those of best_threshold, the metric by default the
    AC-score. Without `pos_label` the later of the two classes in sorted order is positive, as in scikit-learn.
    `response_method` is "predict_proba", "decision_function" or "auto" for the first there is. After `fit`,
    `best_threshold_` holds the threshold and its value, `threshold_` it alone.

    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = make_classification(1000, weights=[0.9], random_state=0)
    >>> model = ThresholdClassifier(LogisticRegression(), "ac_score").fit(X, y)
    >>> bool(model.predict(X).mean() > LogisticRegression().fit(X, y).predict(X).mean())
    True
    """

    def __init__(
        self,
        estimator: Estimator,
        metric: AimLike | None = None,
        *,
        where: str | Sequence[str] | None = None,
        cv: int | Splitter | Literal["prefit"] = 5,
        pos_label: Label | None = None,
        response_method: str = "auto",
    ) -> None:
        self.estimator = estimator
        self.metric = metric
        self.where = where
        self.cv = cv
        self.pos_label = pos_label
        self.response_method = response_method

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: Weights = None) -> ThresholdClassifier:
        """Find the threshold on rows left out, then fit on all of them."""
        rows, labels = indexable(X, y)
        labels = column_or_1d(labels, warn=True)
        weight = None if sample_weight is None else _check_sample_weight(sample_weight, rows)
        self._check(labels, weight)
        prefit = isinstance(self.cv, str)
        fitted: Any = self.estimator if prefit else _fitted(self.estimator, rows, labels, weight)
        self.estimator_ = fitted
        self.classes_ = self.estimator_.classes_
        table = self._table(self.estimator_, rows, labels, weight) if prefit else self._unseen(rows, labels, weight)
        self.best_threshold_ = best_threshold(table, metric=self.metric, where=self.where, resamples=0)
        self.threshold_ = self.best_threshold_.threshold
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def predict(self, X: ArrayLike) -> Array:
        """The class of each row: the positive one where its score is at least the threshold."""
        check_is_fitted(self)
        flagged = self._scores(self.estimator_, X) >= self.threshold_
        place = self._place(self.classes_)
        return np.asarray(self.classes_[np.where(flagged, place, 1 - place)])

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator]  # see above
    def predict_proba(self, X: ArrayLike) -> Any:
        """The probabilities of the classifier inside, which the threshold does not change."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    @available_if(_has("predict_log_proba"))  # type: ignore[untyped-decorator]  # see above
    def predict_log_proba(self, X: ArrayLike) -> Any:
        """The logarithms of the probabilities of the classifier inside."""
        check_is_fitted(self)
        return self.estimator_.predict_log_proba(X)

    @available_if(_has("decision_function"))  # type: ignore[untyped-decorator]  # see above
    def decision_function(self, X: ArrayLike) -> Any:
        """The scores of the classifier inside, which the threshold does not change."""
        check_is_fitted(self)
        return self.estimator_.decision_function(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        inside = get_tags(self.estimator).input_tags
        tags.input_tags.sparse, tags.input_tags.allow_nan = inside.sparse, inside.allow_nan
        return tags

    # ---------------------------------------------------------------- inside

    def _check(self, y: Array, weight: Array | None) -> None:
        kind = type_of_target(y, input_name="y", raise_unknown=True)
        if kind != "binary":
            # scikit-learn's estimator checks look for its words in this sentence.
            raise InputError(f"Only binary classification is supported. Unknown label type: {kind}; give two classes.")
        if len(np.unique(y if weight is None else y[weight > 0])) < 2:
            raise InputError("y holds rows of one class only; a threshold needs two. Give rows of both.")
        if isinstance(self.cv, str) and self.cv != "prefit":
            raise InputError(f"cv= takes a number of folds, a splitter or 'prefit', not {self.cv!r}.")
        if self.response_method not in ("auto", *_METHODS):
            raise InputError(f"response_method= takes 'auto', {' or '.join(map(repr, _METHODS))}.")

    def _unseen(self, X: ArrayLike, y: Array, weight: Array | None) -> ScoreTable:
        """The scores of all rows by clones that have not seen them."""
        folds = check_cv(self.cv, y, classifier=is_classifier(self.estimator)).split(X, y)
        tables: list[ScoreTable] = []
        for train, test in folds:
            parts = [
                (_safe_indexing(X, rows), y[rows], None if weight is None else weight[rows]) for rows in (train, test)
            ]
            tables.append(self._table(_fitted(self.estimator, *parts[0]), *parts[1]))
        return reduce(add, tables)

    def _table(self, estimator: Estimator, X: ArrayLike, y: Array, weight: Array | None) -> ScoreTable:
        positive = y == self.classes_[self._place(self.classes_)]
        return score_table(
            positive, self._scores(estimator, X), pos_label=True, labels=[False, True], sample_weight=weight
        )

    def _scores(self, estimator: Estimator, X: ArrayLike) -> Array:
        """The scores of the positive class, higher meaning more positive."""
        wanted = _METHODS if self.response_method == "auto" else (self.response_method,)
        method = next((name for name in wanted if hasattr(estimator, name)), None)
        if method is None:
            raise InputTypeError(
                f"{type(estimator).__name__} has no {' or '.join(wanted)}, so there is nothing to threshold."
            )
        scores, place = np.asarray(getattr(estimator, method)(X)), self._place(estimator.classes_)  # type: ignore[attr-defined]  # set by fit
        if scores.ndim == 2:
            return scores[:, place]
        return scores if place else -scores

    def _place(self, classes: ArrayLike) -> int:
        """The place of the positive class among the two."""
        labels = np.asarray(classes)
        if len(labels) != 2:
            raise InputError(f"A fold or the fitted classifier holds {len(labels)} classes; a threshold separates two.")
        if self.pos_label is None:
            return 1
        places = np.flatnonzero(labels == self.pos_label)
        if not len(places):
            raise InputError(f"pos_label={self.pos_label!r} is none of the classes {labels.tolist()}.")
        return int(places[0])


def _fitted(estimator: Estimator, X: ArrayLike, y: Array, weight: Array | None) -> Any:
    return clone(estimator).fit(X, y) if weight is None else clone(estimator).fit(X, y, sample_weight=weight)
