"""ThresholdClassifier: a classifier that predicts at the thresholds where a metric is best, for scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from steelyard.analysis.decisions.best_decision import best_decision
from steelyard.analysis.thresholds.best_threshold import best_threshold
from steelyard.analysis.thresholds.threshold_sample import COST_KEYS
from steelyard.arrays.checks import check_order
from steelyard.estimators.rows import (
    PositiveScores,
    RowDetails,
    check_folds,
    check_refit,
    column_of,
    costs_of,
    fitted_clone,
    groups_of,
    is_refitted,
    positive_index,
    score_splits,
)
from steelyard.exceptions import InputError, InputTypeError, SteelyardError, needs_sklearn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Estimator, Features, Frame, Label, Splitter, Weights
    from steelyard.analysis.decisions.best_decision_result import BestDecision
    from steelyard.analysis.prevalence.prevalence import PrevalenceLike, SharesLike
    from steelyard.analysis.thresholds.best_threshold import BestThreshold, KeptLimit
    from steelyard.analysis.thresholds.limits import LimitsLike
    from steelyard.analysis.thresholds.threshold_sample import AimLike, CostsLike


# ---------------------------------------------------------------- class choices
# The best decision between many classes on rows that did not train.


_OF_TWO = ("where", "confidence", "cost", "by", "pos_label")  # what a threshold between two classes takes


@dataclass(frozen=True, eq=False)
class ClassChoice:
    """What the decision is to be best by, at which class shares, and which rows a person decides."""

    metric: AimLike | None
    cost_matrix: ArrayLike | Frame | None
    prevalence: SharesLike | None
    reject: float | None
    reject_cost: float | None

    @property
    def is_requested(self) -> bool:
        """Whether an option is given for which two classes need the probabilities of both."""
        return any(option is not None for option in (self.cost_matrix, self.reject, self.reject_cost))

    def check(self, others: Any) -> None:
        """Refuse options of a threshold between two classes."""
        for name in _OF_TWO:
            if getattr(others, name) is not None:
                raise InputTypeError(
                    f"{name}= is of one threshold between two classes; many classes, cost_matrix=, reject= and "
                    "reject_cost= decide by a threshold or a cost for each class. Leave it out."
                )

    def of(self, rows: RowDetails, classes: Array, probabilities: Array) -> BestDecision:
        """The best decision on rows that did not train."""
        metric: Any = self.metric  # which refuses what is none
        return best_decision(
            rows.y,
            probabilities,
            metric,
            cost_matrix=self.cost_matrix,
            prevalence=self.prevalence,
            reject=self.reject,
            reject_cost=self.reject_cost,
            labels=classes,
            sample_weight=rows.weight,
        )


def class_probabilities(estimator: Estimator, X: Features, classes: Array, response_method: str) -> Array:
    """The probabilities of the classes; one that a fold did not hold has none."""
    method = getattr(estimator, "predict_proba", None) if response_method in ("auto", "predict_proba") else None
    if method is None:
        raise InputError(
            f"Only binary classification is supported for {type(estimator).__name__} without predict_proba; give a "
            "classifier that has it, such as CalibratedClassifierCV of this one."
        )
    probabilities = np.asarray(method(X))
    fitted = np.asarray(estimator.classes_)  # type: ignore[attr-defined]  # set by fit
    if len(fitted) == len(classes):
        return probabilities
    columns = np.zeros((len(probabilities), len(classes)))
    columns[:, np.searchsorted(classes, fitted)] = probabilities
    return columns


# ---------------------------------------------------------------- threshold choices
# The best threshold of rows that did not train, or that of each group of them.


_DRAWS = 200  # by which limits without a guarantee are judged


@dataclass(frozen=True, eq=False)
class ThresholdChoice:
    """What the threshold is to be best by, the limits it keeps, and the column that groups the rows."""

    metric: AimLike | None
    where: LimitsLike | None
    confidence: float | None
    prevalence: PrevalenceLike | None
    by: str | int | None

    def of(self, rows: RowDetails, label: Label, scores: Array) -> dict[Label, BestThreshold]:
        """The best threshold of each group, or of all rows under None, where a label is positive."""
        if rows.groups is None:
            return {None: self._best(rows, label, scores)}
        chosen = {}
        for group, indices in groups_of(rows.groups).items():
            try:
                chosen[group] = self._best(rows.take(indices), label, scores[indices])
            except SteelyardError as error:
                raise type(error)(f"Group {group!r} of {self.by!r}: {error}") from None
        return chosen

    def _best(self, rows: RowDetails, label: Label, scores: Array) -> BestThreshold:
        best = best_threshold(
            rows.y == label,
            scores,
            "ac_score" if self.metric is None and rows.costs is None else self.metric,
            where=self.where,
            confidence=self.confidence,
            cost=rows.costs,
            prevalence=self.prevalence,
            draws=_DRAWS if self.where is not None and self.confidence is None else 0,
            sample_weight=rows.weight,
            pos_label=True,
            labels=[False, True],
        )
        return replace(best, positive=label.item() if isinstance(label, np.generic) else label)


def thresholds_by_group(thresholds: Mapping[Label, float], values: Array, scores: Array, by: str | int | None) -> Array:
    """The threshold of each row by its group, in the precision of the scores."""
    of_rows = np.empty_like(scores)
    for group, indices in groups_of(values).items():
        if group not in thresholds:
            raise InputError(
                f"Group {group!r} of {by!r} was not among the rows of fit, so it has no threshold; fit with rows of "
                "it, or without by= for one threshold of all rows."
            )
        of_rows[indices] = thresholds[group]
    return of_rows


def one_label_each(labels: ArrayLike) -> ArrayLike:
    """The labels of rows that have one each; a matrix of several is refused."""
    if len(shape := np.shape(labels)) == 2 and shape[1] > 1:
        raise InputError(
            f"y has shape {shape}, a column for each of several labels; OneVsRestClassifier(ThresholdClassifier(...)) "
            "finds a threshold for each label, and best_threshold does so for scores."
        )
    return labels


# ---------------------------------------------------------------- threshold guarantees
# For what the limits of a chosen threshold hold on new rows, in words.


def guarantee_sentence(
    chosen: Mapping[Label, BestThreshold], *, prefit: bool, refit: bool, by: str | int | None
) -> str:
    """For what the limits hold on new rows, with what is to be known of each threshold.

    `prefit` is whether the classifier that predicts was fitted before, `refit` whether it was fitted again.
    """
    first = next(iter(chosen.values()))
    sentences = [_limits_sentence(first.limits, prefit=prefit, refit=refit)]
    if first.limits:
        sentences.append(f"The positive class is {first.positive!r}.")
    if by is not None:
        sentences.append(
            f"Each group of {by!r} is judged by itself, at a threshold chosen on its own rows: this assumes that "
            "the group is known at prediction, is lawful to use, and has enough rows."
        )
    for group, best in chosen.items():
        sentences += [note if by is None else f"Group {group!r}: {note}" for note in best.notes]
    return " ".join(sentences)


def _limits_sentence(limits: Sequence[KeptLimit], *, prefit: bool, refit: bool) -> str:
    if not limits:
        return "No limit was given, so none is promised on new rows."
    texts = " and ".join(kept.limit for kept in limits)
    confidence, one = limits[0].confidence, len(limits) == 1
    if confidence is None:
        return f"{texts} on new rows {'is' if one else 'are'} not promised, as confidence= was not given."
    if refit and not prefit:
        return (
            f"{texts} on new rows {'is' if one else 'are'} not promised for this classifier: it was fitted again "
            f"on all rows, and the {100 * confidence:g} % confidence is that of the classifiers that scored the "
            "rows left out. With cv=0.5 and refit=False the classifier that scored them is kept, and the promise "
            "with it."
        )
    provided = "as the rows that chose its threshold did not train it"
    if prefit:
        provided = "provided that the rows given to fit did not train it"
    return (
        f"{texts} {'holds' if one else 'hold together'} on new rows with {100 * confidence:g} % confidence for this "
        f"very classifier, {provided}; rows are taken as independent."
    )


# ---------------------------------------------------------------- ThresholdClassifier


try:
    from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
    from sklearn.utils import _safe_indexing, get_tags
    from sklearn.utils.metaestimators import available_if
    from sklearn.utils.multiclass import type_of_target
    from sklearn.utils.validation import _check_sample_weight, check_is_fitted, column_or_1d, indexable
except ImportError as missing:
    raise needs_sklearn("ThresholdClassifier") from missing


def _has(name: str) -> Callable[[ThresholdClassifier], bool]:
    """Whether the classifier inside has a method, so that this one has it too."""
    return lambda self: hasattr(getattr(self, "estimator_", self.estimator), name)


class ThresholdClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier that predicts at the threshold, or those of the classes, where a metric is best on unseen rows.

    Clones fitted on the folds of `cv` score the rows they have not seen; `best_threshold` finds the threshold on all
    those scores together, half-way between a score that is flagged and one that is not; the classifier is then fitted
    on all rows. `cv` may also be the share of rows to hold out, or "prefit": the classifier is taken as it is fitted,
    so give rows it has not seen. refit=False keeps the classifier of a single split as it scored the rows left out;
    "auto" does where limits are guaranteed for it.
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
        refit: bool | Literal["auto"] = "auto",
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
        self._many = self._classes.is_requested or len(np.unique(labels)) > 2
        by_row = {key: cost for key, cost in costs.items() if cost is not None}
        prices = costs_of(self.cost, by_row, features, len(labels))
        rows = RowDetails(labels, weight, prices, self._groups(features))
        indices, scores = self._unseen(features, rows)
        self.classes_ = self.estimator_.classes_
        if self._many:
            self.best_decision_ = self._classes.of(rows.take(indices), self.classes_, scores)
            self.thresholds_ = self.best_decision_.thresholds
        else:
            self._choose(rows.take(indices), scores)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def predict(self, X: Features) -> Array:
        """The class of each row: the positive one where its score is at least the threshold, or that of its group."""
        check_is_fitted(self)
        if self._many:
            return np.asarray(self.classes_[self.best_decision_.rule.decisions(self._scores(self.estimator_, X))])
        scores, groups = self._positive.of(self.estimator_, X), self._groups(X)
        if groups is None:
            flagged = scores >= self.threshold_
        else:
            flagged = scores >= thresholds_by_group(self.thresholds_ or {}, groups, scores, self.by)
        positive = positive_index(self.classes_, self.pos_label)
        return np.asarray(self.classes_[np.where(flagged, positive, 1 - positive)])

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
        if self._classes.is_requested or kind == "multiclass":
            self._classes.check(self)
        if len(np.unique(y if weight is None else y[weight > 0])) < 2:
            raise InputError("y holds rows of one class only; a threshold needs two. Give rows of both.")
        check_folds(self.cv)
        check_refit(self.refit)
        if self.cost is not None and not isinstance(self.cost, Mapping):
            raise InputTypeError(
                argument="cost", expected="a dict such as {'cost_fn': 10, 'cost_fp': 1}", given=self.cost
            )

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
        indices, scores = [], []
        splits = score_splits(self, X, rows.y, self._is_frozen)
        self._refits = is_refitted(self, splits)
        for train, test in splits:
            model = fitted_clone(self.estimator, _safe_indexing(X, train), rows.take(train))
            indices.append(test)
            scores.append(self._scores(model, _safe_indexing(X, test), np.unique(rows.y)))
        self.estimator_ = fitted_clone(self.estimator, X, rows) if self._refits else model
        return np.concatenate(indices), np.concatenate(scores)

    def _choose(self, rows: RowDetails, scores: Array) -> None:
        """The threshold, or that of each group, and what it guarantees."""
        self._positive.warn_of_doubt(self.classes_)
        prevalence: Any = self.prevalence  # of which best_threshold refuses shares by label
        choice = ThresholdChoice(self.metric, self.where, self.confidence, prevalence, self.by)
        chosen = choice.of(rows, self.classes_[positive_index(self.classes_, self.pos_label)], scores)
        prefit = self.cv == "prefit" or self._is_frozen
        self.guarantee_ = guarantee_sentence(chosen, prefit=prefit, refit=self._refits, by=self.by)
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
