"""Refit robustness: Asawa's two tests on estimators, each fitted on the labels and on the labels swapped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from steelyard.analysis.intervals.draws import generator
from steelyard.auditing.metric_values import chosen_metrics
from steelyard.auditing.model_tables import model_confusion, stated_positive
from steelyard.auditing.robustness import robustness
from steelyard.auditing.robustness_result import TOLERANCE, Robustness
from steelyard.auditing.score_robustness import score_robustness
from steelyard.exceptions import InputError, InputTypeError
from steelyard.ingest.array_tables import score_table
from steelyard.ingest.refused_keywords import refuses_other_keywords

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Unpack

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Estimator, Label, Rng
    from steelyard.auditing.model_tables import Models
    from steelyard.metrics.metric import Metric
    from steelyard.metrics.registry import MetricLike
    from steelyard.statistics.counts import Counts
    from steelyard.statistics.score_table import ScoreTable


class RobustnessOptions(TypedDict, total=False):
    """What robustness takes beside the tables."""

    metrics: Iterable[MetricLike] | None
    prevalences: float | Sequence[float]
    balanced: Models | None
    resamples: int
    tolerance: float


@refuses_other_keywords
def refit_robustness(
    estimators: Estimator | Mapping[str, Estimator],
    X: ArrayLike,
    y: ArrayLike,
    X_test: ArrayLike,
    y_test: ArrayLike,
    *,
    pos_label: Label = None,
    rng: Rng = None,
    **options: Unpack[RobustnessOptions],
) -> Robustness:
    """The two tests on estimators: each is cloned and fitted twice, on the labels and on the labels swapped.

    `estimators` is one, or {model: estimator}, in scikit-learn's manner. Both fits use the same random state, so what
    is left of a change is the metric's or the learner's own asymmetry. Metrics of scores, such as roc_auc, read the
    scores of estimators that have predict_proba or decision_function. `options` are those of robustness.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_depth=3)
    >>> refit_robustness(tree, X[::2], y[::2], X[1::2], y[1::2], metrics=["tpnr", "f1"], resamples=10).symmetric
    ['tpnr']
    """
    by_model = estimators if isinstance(estimators, Mapping) else {type(estimators).__name__: estimators}
    true, test = np.asarray(y), np.asarray(y_test)
    labels = np.unique(np.concatenate([true, test]))
    if len(labels) != 2:
        raise InputError(f"Swapping the labels needs two classes; y and y_test hold {len(labels)}.")
    stated, remarks = stated_positive(test, pos_label)
    positive = model_confusion(test, test, stated).positive_label()
    swapped_true, swapped_test = _swapped(true, labels), _swapped(test, labels)
    first, second = FittedModels(), FittedModels()
    for name, estimator in by_model.items():
        seed = int(generator(rng).integers(2**31 - 1))
        first.add(str(name), _fitted(estimator, X, true, seed), X_test, test, positive)
        second.add(str(name), _fitted(estimator, X, swapped_true, seed), X_test, swapped_test, positive)
    chosen = chosen_metrics(options.pop("metrics", None), first.tables, first.scores)
    return replace(_compared(first, second, *chosen, rng, options), remarks=remarks)


@dataclass
class FittedModels:
    """The tables of fitted models on the test part: of their predictions and, where they give any, of their scores."""

    tables: dict[str, Counts] = field(default_factory=dict)
    all_scores: dict[str, ScoreTable] = field(default_factory=dict)

    def add(self, name: str, model: Any, X: ArrayLike, y: Array, positive: Label) -> None:
        """Take one model in."""
        self.tables[name] = model_confusion(y, model.predict(X), positive).counts()
        method = next((m for m in ("predict_proba", "decision_function") if hasattr(model, m)), None)
        if method is not None:
            scores, place = np.asarray(getattr(model, method)(X)), int(model.classes_[1] == positive)
            column = scores[:, place] if scores.ndim == 2 else scores if place else -scores
            self.all_scores[name] = score_table(y, column, pos_label=positive)

    @property
    def scores(self) -> dict[str, ScoreTable]:
        """The scores of all models; none where one gives none."""
        return self.all_scores if len(self.all_scores) == len(self.tables) else {}


def _compared(
    first: FittedModels,
    second: FittedModels,
    of_counts: list[Metric],
    of_scores: list[Metric],
    rng: Rng,
    options: RobustnessOptions,
) -> Robustness:
    """Both tests, for metrics of labels and for those of scores."""
    tolerance, at = options.get("tolerance", TOLERANCE), options.get("prevalences", 0.5)
    if not of_counts:
        return score_robustness(first.scores, second.scores, metrics=of_scores, prevalence=at, tolerance=tolerance)
    options["metrics"] = of_counts
    counted = robustness(first.tables, swapped=second.tables, rng=rng, **options)
    if not of_scores:
        return counted
    at = counted.prevalences
    ranked = score_robustness(first.scores, second.scores, metrics=of_scores, prevalence=at, tolerance=tolerance)
    return counted.beside(ranked)


def _swapped(y: Array, labels: Array) -> Array:
    return np.asarray(np.where(y == labels[0], labels[1], labels[0]))


def _fitted(estimator: Estimator, X: ArrayLike, y: Array, seed: int) -> Any:
    """A fresh fit; whatever random state was left open is set."""
    try:
        from sklearn.base import clone
    except ImportError:
        raise InputTypeError(
            "Refitting needs scikit-learn installed; robustness takes predictions without it."
        ) from None
    if not (hasattr(estimator, "fit") and hasattr(estimator, "predict") and hasattr(estimator, "get_params")):
        raise InputTypeError(f"An estimator has fit, predict and get_params; {type(estimator).__name__} lacks one.")
    fresh = clone(estimator)
    open_states = [key for key, value in fresh.get_params().items() if key.endswith("random_state") and value is None]
    return fresh.set_params(**dict.fromkeys(open_states, seed)).fit(X, y)
