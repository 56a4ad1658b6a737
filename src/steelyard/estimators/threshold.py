"""ThresholdClassifier: a classifier that predicts at the thresholds where a metric is best, for scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from steelyard.analysis.thresholds.row_costs import COST_KEYS
from steelyard.estimators.class_choice import ClassChoice, class_probabilities
from steelyard.estimators.positive_scores import PositiveScores
from steelyard.estimators.row_details import RowDetails, column_of, costs_of
from steelyard.estimators.score_splits import check_folds, fitted_clone, is_refitted, score_splits
from steelyard.estimators.threshold_choice import ThresholdChoice, one_label_each, thresholds_by_group
from steelyard.estimators.threshold_guarantee import Guarantee
from steelyard.exceptions import InputError, InputTypeError, needs_sklearn
from steelyard.ingest.row_order import check_order

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
    from sklearn.utils import _safe_indexing, get_tags
    from sklearn.utils.metaestimators import available_if
    from sklearn.utils.multiclass import type_of_target
    from sklearn.utils.validation import _check_sample_weight, check_is_fitted, column_or_1d, indexable
except ImportError as missing:
    raise needs_sklearn("ThresholdClassifier") from missing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Estimator, Features, Frame, Label, Splitter, Weights
    from steelyard.analysis.prevalence.prior_correction import SharesLike
    from steelyard.analysis.thresholds.row_costs import CostsLike
    from steelyard.analysis.thresholds.threshold_criterion import AimLike
    from steelyard.analysis.thresholds.threshold_limits import LimitsLike


def _has(name: str) -> Callable[[ThresholdClassifier], bool]:
    """Whether the classifier inside has a method, so that this one has it too."""
    return lambda self: hasattr(getattr(self, "estimator_", self.estimator), name)


class ThresholdClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier that predicts at the threshold, or those of the classes, where a metric is best on unseen rows.

    Clones fitted on the folds of `cv` score the rows they have not seen; `best_threshold` finds the threshold on all
    those scores together, half-way between a score that is flagged and one that is not; the classifier is then fitted
    on all rows. `cv` may also be the share of rows to hold out, or "prefit": the classifier is taken as it is fitted,
    so give rows it has not seen. refit=False keeps the classifier of a single split as it scored the rows left out.
    Without `cv` there are five folds. With `confidence` half of the rows are held out, and the classifier that scored
    them is kept: what is promised holds for it, and for none that is fitted again.

    `metric`, `where`, `confidence`, `cost` and `prevalence` are those of best_threshold, the metric by default the
    AC-score. A cost that differs by row names a column of X, or is given to `fit` (cost_fn=amounts), one a row. `by`
    is a column of X, its name or position: each group gets a threshold chosen on its own rows. Without `pos_label`
    the later of the two classes in sorted order is positive, as in scikit-learn; where the labels do not show that it
    is, as those of 0 and 1 or "no" and "yes" do, a warning names it. `response_method` is "predict_proba",
    "decision_function" or "auto" for the first there is.

    Of three classes or more, and with `cost_matrix`, `reject` or `reject_cost`, the decision is that of best_decision,
    which takes `metric`, `prevalence` and these; predict_proba is needed. Every row is predicted, and `sent` says which
    go to a person.

    After `fit`, `best_threshold_` holds the result of best_threshold and `threshold_` the threshold alone, or with `by`
    `best_thresholds_` and `thresholds_` those of each group. `guarantee_` says for what the limits hold on new rows. Of
    many classes `best_decision_` holds the result of best_decision, and `thresholds_` those of each class, None where
    errors have different costs.

    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = make_classification(1000, weights=[0.9], random_state=0)
    >>> model = ThresholdClassifier(LogisticRegression(), "ac_score").fit(X, y)
    >>> bool(model.predict(X).mean() > LogisticRegression().fit(X, y).predict(X).mean())
    True
    >>> model = ThresholdClassifier(LogisticRegression(), where="recall >= 0.8", confidence=0.9)
    >>> model.fit(X, y).guarantee_[:57]
    'recall >= 0.8 holds on new rows with 90 % confidence for '
    """

    # What fit takes by row beside sample_weight, for scikit-learn's metadata routing.
    __metadata_request__fit = dict.fromkeys(COST_KEYS)

    def __init__(
        self,
        estimator: Estimator,
        metric: AimLike | None = None,
        *,
        where: LimitsLike | None = None,
        confidence: float | None = None,
        cost: CostsLike | None = None,
        cost_matrix: ArrayLike | Frame | None = None,
        prevalence: SharesLike | None = None,
        reject: float | None = None,
        reject_cost: float | None = None,
        cv: float | Splitter | Iterable[tuple[Array, Array]] | Literal["prefit"] | None = None,
        refit: bool | None = None,
        by: str | int | None = None,
        pos_label: Label | None = None,
        response_method: str = "auto",
    ) -> None:
        self.estimator = estimator
        self.metric = metric
        self.where = where
        self.confidence = confidence
        self.cost = cost
        self.cost_matrix = cost_matrix
        self.prevalence = prevalence
        self.reject = reject
        self.reject_cost = reject_cost
        self.cv = cv
        self.refit = refit
        self.by = by
        self.pos_label = pos_label
        self.response_method = response_method

    def fit(self, X: Features, y: ArrayLike, sample_weight: Weights = None, **costs: ArrayLike) -> ThresholdClassifier:
        """Find the threshold on rows left out, then fit on all of them; `costs` are those that differ by row."""
        check_order(X=X, y=y, sample_weight=sample_weight, **costs)
        features, labels = indexable(X, y)
        weight = None if sample_weight is None else _check_sample_weight(sample_weight, features)
        labels = column_or_1d(one_label_each(labels), warn=True)
        self._check(labels, weight)
        self._many = self._classes.is_asked or len(np.unique(labels)) > 2
        by_row = {key: cost for key, cost in costs.items() if cost is not None}
        prices = costs_of(self.cost, by_row, features, len(labels))
        rows = RowDetails(labels, weight, prices, self._groups(features))
        places, scores = self._unseen(features, rows)
        self.classes_ = self.estimator_.classes_
        (self._choose_classes if self._many else self._choose)(rows.take(places), scores)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def predict(self, X: Features) -> Array:
        """The class of each row: the positive one where its score is at least the threshold, or that of its group."""
        check_is_fitted(self)
        if self._many:
            return np.asarray(self.classes_[self.best_decision_.rule.decisions(self._scores(self.estimator_, X))])
        scores = self._positive.of(self.estimator_, X)
        flagged = scores >= self._thresholds(X, scores)
        place = self._positive.place(self.classes_)
        return np.asarray(self.classes_[np.where(flagged, place, 1 - place)])

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator]  # see above
    def sent(self, X: Features) -> Array:
        """Which rows are sent to a person, as `reject` or `reject_cost` ask; none without them."""
        check_is_fitted(self)
        if not self._many:
            return np.zeros(len(self._scores(self.estimator_, X)), dtype=bool)
        return self.best_decision_.rule.sent(self._scores(self.estimator_, X))

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator]  # see above
    def predict_proba(self, X: Features) -> Any:
        """The probabilities of the classifier inside, which the threshold does not change."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    @available_if(_has("predict_log_proba"))  # type: ignore[untyped-decorator]  # see above
    def predict_log_proba(self, X: Features) -> Any:
        """The logarithms of the probabilities of the classifier inside."""
        check_is_fitted(self)
        return self.estimator_.predict_log_proba(X)

    @available_if(_has("decision_function"))  # type: ignore[untyped-decorator]  # see above
    def decision_function(self, X: Features) -> Any:
        """The scores of the classifier inside, which the threshold does not change."""
        check_is_fitted(self)
        return self.estimator_.decision_function(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.response_method != "decision_function" and _has("predict_proba")(self)
        inside = get_tags(self.estimator).input_tags
        tags.input_tags.sparse, tags.input_tags.allow_nan = inside.sparse, inside.allow_nan
        return tags

    # ---------------------------------------------------------------- inside

    def _check(self, y: Array, weight: Array | None) -> None:
        kind = type_of_target(y, input_name="y", raise_unknown=True)
        if kind not in ("binary", "multiclass"):
            # scikit-learn's estimator checks look for its words in this sentence.
            raise InputError(f"Unknown label type: {kind}; give one column of labels of two classes or more.")
        if self._classes.is_asked or kind == "multiclass":
            self._classes.check(self)
        if len(np.unique(y if weight is None else y[weight > 0])) < 2:
            raise InputError("y holds rows of one class only; a threshold needs two. Give rows of both.")
        check_folds(self.cv)
        if self.cost is not None and not isinstance(self.cost, Mapping):
            raise InputTypeError(f"cost= is a dict such as {{'cost_fn': 10, 'cost_fp': 1}}, not {self.cost!r}.")

    @property
    def _classes(self) -> ClassChoice:
        return ClassChoice(self.metric, self.cost_matrix, self.prevalence, self.reject, self.reject_cost)

    def _scores(self, estimator: Any, X: Features, classes: Array | None = None) -> Array:
        """The scores of the positive class, or the probabilities of many classes."""
        if not self._many:
            return self._positive.of(estimator, X)
        return class_probabilities(estimator, X, self.classes_ if classes is None else classes, self.response_method)

    @property
    def _positive(self) -> PositiveScores:
        return PositiveScores(self.pos_label, self.response_method)

    def _groups(self, X: Features) -> Array | None:
        """The value of each row that groups it."""
        return None if self.by is None else column_of(X, self.by, "by=", "its position")

    def _unseen(self, X: Features, rows: RowDetails) -> tuple[Array, Array]:
        """The rows that did not train, and their scores; sets the classifier that will predict."""
        model: Any = self.estimator
        self._refits = False
        if self.cv == "prefit":
            self.estimator_ = model
            return np.arange(len(rows.y)), self._scores(model, X, model.classes_)
        places, scores = [], []
        splits = score_splits(self, X, rows.y, self._is_frozen)
        self._refits = is_refitted(self, splits)
        for train, test in splits:
            model = fitted_clone(self.estimator, _safe_indexing(X, train), rows.take(train))
            places.append(test)
            scores.append(self._scores(model, _safe_indexing(X, test), np.unique(rows.y)))
        self.estimator_ = fitted_clone(self.estimator, X, rows) if self._refits else model
        return np.concatenate(places), np.concatenate(scores)

    def _choose_classes(self, rows: RowDetails, probabilities: Array) -> None:
        """The decision between many classes."""
        self.best_decision_ = self._classes.of(rows, self.classes_, probabilities)
        self.thresholds_ = self.best_decision_.thresholds

    def _choose(self, rows: RowDetails, scores: Array) -> None:
        """The threshold, or that of each group, and what it promises."""
        self._positive.warn_of_doubt(self.classes_)
        prevalence: Any = self.prevalence  # of which best_threshold refuses shares by label
        choice = ThresholdChoice(self.metric, self.where, self.confidence, prevalence, self.by)
        chosen = choice.of(rows, self.classes_[self._positive.place(self.classes_)], scores)
        prefit = self.cv == "prefit" or self._is_frozen
        self.guarantee_ = Guarantee(prefit, self._refits, self.by).sentence(chosen)
        if self.confidence is not None and self._refits and not prefit:
            chosen = {group: best.of_refit() for group, best in chosen.items()}
        if self.by is None:
            self.best_threshold_ = chosen[None]
            self.threshold_ = self.best_threshold_.threshold
        else:
            self.best_thresholds_ = chosen
            self.thresholds_ = {group: best.threshold for group, best in chosen.items()}

    @property
    def _is_frozen(self) -> bool:
        """Whether a copy of the classifier is the classifier itself, as that of a FrozenEstimator is."""
        return clone(self.estimator) is self.estimator

    def _thresholds(self, X: Features, scores: Array) -> float | Array:
        """The threshold of each row, in the precision of the scores."""
        values = self._groups(X)
        if values is None:
            return self.threshold_
        return thresholds_by_group(self.thresholds_ or {}, values, scores, self.by)
