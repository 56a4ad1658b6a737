"""The models of the selection study, what resampling makes of their training rows, and the scores they give."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.exceptions import MissingLibraryError
from steelyard.protocol.resample import Training, resampled

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard._types import Array
    from steelyard.protocol.resample import Resampler

PLAIN_ARM, OVER_ARM, UNDER_ARM, SMOTE_ARM = "plain", "random oversampling", "random undersampling", "SMOTE"
ARMS = (PLAIN_ARM, OVER_ARM, UNDER_ARM, SMOTE_ARM)
WEIGHTED = ("logistic regression, balanced", "random forest, balanced")
_EPSILON = float(np.finfo(np.float64).eps)  # as in scikit-learn's log loss, so that no score is certain


def check_resampling() -> None:
    """Refuse to begin without the library that has SMOTE."""
    if find_spec("imblearn") is None:
        raise MissingLibraryError(
            "The selection study resamples with imbalanced-learn, which is not installed; run pip install "
            "'steelyard[selection]'."
        )


def model_makers() -> dict[str, Callable[[int], Any]]:
    """The candidates, each a function of its seed; the two with class weights come last."""
    return {**_lone_models(), **_tree_models(), **_scaled_models(), **_weighted_models()}


def _lone_models() -> dict[str, Callable[[int], Any]]:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.naive_bayes import GaussianNB

    return {
        "linear discriminant analysis": lambda _: LinearDiscriminantAnalysis(),
        "naive Bayes": lambda _: GaussianNB(),
    }


def _tree_models() -> dict[str, Callable[[int], Any]]:
    from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.tree import DecisionTreeClassifier

    return {
        "decision tree": lambda seed: DecisionTreeClassifier(min_samples_leaf=5, random_state=seed),
        "random forest": lambda seed: RandomForestClassifier(100, random_state=seed),
        "extra trees": lambda seed: ExtraTreesClassifier(100, random_state=seed),
        "gradient boosting": lambda seed: HistGradientBoostingClassifier(max_iter=60, random_state=seed),
    }


def _scaled_models() -> dict[str, Callable[[int], Any]]:
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.svm import SVC

    return {
        "logistic regression": lambda _: _scaled(LogisticRegression(max_iter=1000)),
        "nearest neighbours": lambda _: _scaled(KNeighborsClassifier(10)),
        "support vectors": lambda _: _scaled(CalibratedClassifierCV(SVC(), ensemble=False, cv=3)),
        "neural network": lambda seed: _scaled(MLPClassifier((32,), max_iter=200, random_state=seed)),
    }


def _weighted_models() -> dict[str, Callable[[int], Any]]:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression

    return {
        WEIGHTED[0]: lambda _: _scaled(LogisticRegression(max_iter=1000, class_weight="balanced")),
        WEIGHTED[1]: lambda seed: RandomForestClassifier(
            100, min_samples_leaf=3, class_weight="balanced_subsample", random_state=seed
        ),
    }


def _scaled(model: object) -> Any:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), model)


@dataclass(frozen=True, eq=False)
class Fitted:
    """The probabilities that one model gives to the rows of the selection part and to the held-out rows."""

    selection: Array
    held_out: Array


def fit_candidates(arm: str, training: tuple[Array, Array], parts: tuple[Array, Array], seed: int) -> dict[str, Fitted]:
    """Each model fitted once on the training rows of an arm; class weights have no place beside resampling."""
    X, y = _resampled(arm, training, seed)
    makers = {name: maker for name, maker in model_makers().items() if arm == PLAIN_ARM or name not in WEIGHTED}
    return {name: _fitted(maker(seed), X, y, parts) for name, maker in makers.items()}


def _resampled(arm: str, training: tuple[Array, Array], seed: int) -> tuple[Array, Array]:
    resampler: Resampler = {PLAIN_ARM: None, OVER_ARM: "over", UNDER_ARM: "under"}.get(arm)
    if arm == SMOTE_ARM:
        from imblearn.over_sampling import SMOTE as Smote

        resampler = Smote()
    rows = resampled(resampler, Training(training[0], training[1], None), seed)
    return np.asarray(rows.X), np.asarray(rows.y)


def _fitted(model: Any, X: Array, y: Array, parts: tuple[Array, Array]) -> Fitted:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # collinear columns, a network that could learn for longer
        model.fit(X, y)
        scores = [np.clip(model.predict_proba(part)[:, 1], _EPSILON, 1 - _EPSILON) for part in parts]
    return Fitted(*scores)
