"""Real sets as populations of scores: a classifier fitted on a third of the rows scores the others."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from steelyard import SteelyardError
from steelyard.datasets import paper_datasets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from steelyard._types import Array


def _scored(X: Array, y: Array, model: object) -> tuple[Array, Array]:
    """The truth and the scores of the rows that the model was not fitted on."""
    order = np.random.default_rng(0).permutation(len(y))
    fitted, others = np.split(order, [len(y) // 3])
    model.fit(X[fitted], y[fitted])  # type: ignore[attr-defined]  # an estimator
    return y[others], model.predict_proba(X[others])[:, 1]  # type: ignore[attr-defined]  # an estimator


@cache
def _pulsars() -> tuple[Array, Array]:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    pulsars = paper_datasets.htru2()
    return _scored(pulsars.X, pulsars.y, make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced")))


@cache
def _news() -> tuple[Array, Array]:
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.linear_model import LogisticRegression

    texts, labels, *_ = paper_datasets.newsgroups20()
    y = np.array([str(label).startswith("sci.") for label in labels]).astype(np.int64)
    X = HashingVectorizer(n_features=2**14, alternate_sign=False).transform(texts)
    return _scored(X, y, LogisticRegression(C=20, max_iter=200))


@cache
def _digits() -> tuple[Array, Array]:
    from sklearn.decomposition import PCA
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
    from sklearn.pipeline import make_pipeline

    images, labels = paper_datasets.svhn_1_6()
    X = images.reshape(len(images), -1)[:, ::2].astype(np.float32) / 255
    model = make_pipeline(
        PCA(40, svd_solver="randomized", random_state=0), QuadraticDiscriminantAnalysis(reg_param=0.02)
    )
    return _scored(X, (labels == 6).astype(np.int64), model)


SETS: dict[str, Callable[[], tuple[Array, Array]]] = {"HTRU2": _pulsars, "20 Newsgroups": _news, "SVHN": _digits}


def populations() -> Iterator[tuple[str, Array, Array]]:
    """Each set that is there: its name, the truth of its rows and their scores."""
    for name, scored in SETS.items():
        try:
            yield name, *scored()
        except (SteelyardError, OSError) as error:
            print(f"{name} is left out: {error}", flush=True)
