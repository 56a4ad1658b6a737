"""How often a fitted ThresholdClassifier keeps a promised recall on new rows: a share of rows held out, and refitted.

Features are normal, with one mean for each class. The settings are drawn at random by a seed that changes with the
version: 60 to 400 positives, 240 to 2,600 negatives, 5 to 60 features. Recall is taken on 10,000 new positives.
"""

from __future__ import annotations

import math
import zlib
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from steelyard import ThresholdClassifier, __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard._types import Array

LIMIT, CONFIDENCE, NEW = 0.9, 0.95, 10_000
MODELS = {
    "logistic": LogisticRegression(max_iter=300),
    "logistic, no penalty": LogisticRegression(C=np.inf, max_iter=300),
    "LDA": LinearDiscriminantAnalysis(),
    "tree": DecisionTreeClassifier(min_samples_leaf=20, random_state=0),
    "forest": RandomForestClassifier(50, random_state=0),
}
WAYS = {"held out": {"cv": 0.5, "refit": False}, "refit": {"cv": 5, "refit": True}}


class Setting(NamedTuple):
    """How many positives and negatives there are, how many features, and how far the classes are apart."""

    positives: int
    negatives: int
    features: int
    distance: float

    @classmethod
    def drawn(cls, rng: np.random.Generator) -> Setting:
        """One at random."""
        positives, negatives, features = (
            int(np.exp(rng.uniform(*np.log(ends)))) for ends in ((60, 400), (240, 2_600), (5, 60))
        )
        return cls(positives, negatives, features, rng.uniform(1, 3))

    def rows(self, rng: np.random.Generator, positives: int, negatives: int) -> tuple[Array, Array]:
        """New rows."""
        y = np.repeat([1, 0], [positives, negatives])
        X = rng.normal(size=(len(y), self.features))
        X[y == 1] += self.distance / math.sqrt(self.features)
        return X, y


def recall_and_specificity(
    model: ThresholdClassifier, setting: Setting, rng: np.random.Generator
) -> tuple[float, float]:
    """Those of a fitted classifier on new rows."""
    X, y = setting.rows(rng, NEW, NEW)
    flagged = model.predict(X) == 1
    return float(flagged[y == 1].mean()), float(1 - flagged[y == 0].mean())


def trial(name: str, way: str, setting: Setting, rng: np.random.Generator) -> tuple[float, float]:
    """The recall and the specificity on new rows of a classifier fitted once."""
    X, y = setting.rows(rng, setting.positives, setting.negatives)
    model = ThresholdClassifier(
        MODELS[name], "specificity", where=f"recall >= {LIMIT}", confidence=CONFIDENCE, **WAYS[way]
    )
    return recall_and_specificity(model.fit(X, y), setting, rng)


def rows(repeats: int = 200) -> Iterator[tuple[str, dict[str, float]]]:
    """The share of fits that keep the recall on new rows, for each classifier, over random settings."""
    for name in MODELS:
        shares = {}
        for way in WAYS:
            rng = np.random.default_rng(zlib.crc32(f"{__version__} {name} {way}".encode()))
            shares[way] = float(
                np.mean([trial(name, way, Setting.drawn(rng), rng)[0] >= LIMIT for _ in range(repeats)])
            )
        yield name, shares
