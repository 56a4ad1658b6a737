"""Where rows come from that label plans are tried on: populations of scores by class, simulated and of real data.

Scores are of two normal distributions, calibrated, overconfident, or useless; and those of a logistic regression, or of
boosted trees, on real data, fitted to the other half of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from steelyard import Counts, get_metric, score_table
from steelyard.analysis.distributions import normal_quantile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard._types import Array

POPULATION = 500_000
PREVALENCES = (0.05, 0.01, 0.002)
SCORES = {"AUC .7": (0.7, 1.0, 0.0), "AUC .9": (0.9, 1.0, 0.0), "AUC .9, logits x 2 + 2": (0.9, 2.0, 2.0)}
SEEMING = 0.85  # the area that useless scores seem to have
USELESS = {"useless": (1.0, None), "useless, logits x 2": (2.0, None), "useless, a tenth flagged": (1.0, 0.1)}


@dataclass(frozen=True)
class World:
    """The scores of both classes in a population, in ascending order, the share of positives, and the threshold."""

    name: str
    positives: Array
    negatives: Array
    prevalence: float
    threshold: float

    @classmethod
    def of(cls, name: str, positives: Array, negatives: Array, prevalence: float) -> World:
        """The world with the threshold of the highest F1."""
        sides = np.sort(positives), np.sort(negatives)
        sizes = [len(side) for side in sides]
        weights = np.repeat([prevalence / sizes[0], (1 - prevalence) / sizes[1]], sizes)
        table = score_table(np.repeat([1, 0], sizes), np.concatenate(sides), sample_weight=weights)
        best = int(np.nanargmax(np.asarray(get_metric("f1")(table.counts))))
        return cls(name, *sides, prevalence, float(table.thresholds[best]))

    def rows(self, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """The labels and the scores of some rows of it."""
        labels = (rng.random(n) < self.prevalence).astype(np.int64)
        return labels, np.where(labels == 1, rng.choice(self.positives, n), rng.choice(self.negatives, n))

    def counts(self, thresholds: Array) -> Counts[Array]:
        """The population's table at each threshold."""
        recall, fpr = (1 - np.searchsorted(side, thresholds) / len(side) for side in (self.positives, self.negatives))
        p, q = self.prevalence, 1 - self.prevalence
        return Counts.trusted(p * recall, p * (1 - recall), q * fpr, q * (1 - fpr))

    def value_at(self, metric: str, thresholds: Array) -> Array:
        """A metric of labels in the population, at each threshold."""
        return np.asarray(get_metric(metric)(self.counts(thresholds)))

    def truth(self, metric: str) -> float:
        """The metric in the population."""
        if get_metric(metric).function is None:
            return ranked(self.positives, self.negatives)
        return float(self.value_at(metric, np.array([self.threshold]))[0])


def ranked(positives: Array, negatives: Array) -> float:
    """The area under the ROC curve, where the negatives are in ascending order."""
    ends = (np.searchsorted(negatives, positives, side).mean() for side in ("left", "right"))
    return float(sum(ends)) / 2 / len(negatives)


@cache
def simulated_world(name: str, prevalence: float, auc: float, factor: float, shift: float) -> World:
    """Two normal distributions with that area between them; the logits of their probabilities moved and stretched."""
    return World.of(f"{100 * prevalence:g} % positive | {name}", *_sides(prevalence, auc, factor, shift), prevalence)


def _sides(prevalence: float, auc: float, factor: float, shift: float) -> list[Array]:
    """The scores of the positives and of the negatives."""
    rng, apart = np.random.default_rng(7), float(np.sqrt(2) * normal_quantile(auc))
    middle = float(np.log(prevalence / (1 - prevalence)))
    raw = [rng.normal(size=n) + apart * label for label, n in ((1, POPULATION // 5), (0, POPULATION))]
    return [_logistic(middle + factor * (apart * side - apart**2 / 2) + shift) for side in raw]


@cache
def useless_world(name: str, prevalence: float, factor: float, flagged: float | None) -> World:
    """Scores that seem to have an area and have none; the threshold is where they have the highest F1, or flag a share."""
    rng, seeming = np.random.default_rng(7), simulated_world(name, prevalence, SEEMING, factor, 0.0)
    sizes = POPULATION // 5, POPULATION
    seems = [rng.random(n) < prevalence for n in sizes]
    sides = [
        np.sort(np.where(seem, rng.choice(seeming.positives, n), rng.choice(seeming.negatives, n)))
        for seem, n in zip(seems, sizes, strict=True)
    ]
    at = seeming.threshold if flagged is None else float(np.quantile(sides[1], 1 - flagged))
    return replace(seeming, positives=sides[0], negatives=sides[1], threshold=at)


def _logistic(logits: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-logits)))


def worlds() -> Iterator[World]:
    """The simulated worlds whose scores find positives, at every prevalence."""
    for prevalence in PREVALENCES:
        for name, (auc, factor, shift) in SCORES.items():
            yield simulated_world(name, prevalence, auc, factor, shift)


def useless_worlds() -> Iterator[World]:
    """Those of useless scores."""
    for prevalence in PREVALENCES:
        for name, (factor, flagged) in USELESS.items():
            yield useless_world(name, prevalence, factor, flagged)


# ---------------------------------------------------------------- real data


def real_worlds() -> Iterator[World]:
    """Real data, scored by what was fitted to their other half, at two prevalences."""
    for name, sides in _scored().items():
        for prevalence in PREVALENCES[:2]:
            yield World.of(f"{100 * prevalence:g} % positive | {name}", *sides, prevalence)


@cache
def _scored() -> dict[str, tuple[Array, Array]]:
    """The scores of the positives and of the negatives in each set of data that is there."""
    from sklearn.decomposition import PCA
    from sklearn.feature_extraction.text import TfidfVectorizer

    from steelyard.datasets import paper_datasets
    from steelyard.exceptions import InputError

    sides = {}
    try:
        pulsars = paper_datasets.htru2()
        sides["HTRU2"] = _half_scored(pulsars.X, pulsars.y)
        news = paper_datasets.newsgroups20()
        rows = TfidfVectorizer(max_features=5_000).fit_transform(news.texts)
        sides["20 Newsgroups"] = _half_scored(rows, np.array(news.labels) == min(news.labels))
        digits = paper_datasets.svhn_1_6()
        pixels = PCA(30, random_state=0).fit_transform(digits.images.reshape(len(digits.images), -1)[:8_000])
        sides["SVHN"] = _half_scored(pixels, digits.labels[:8_000] == digits.labels.max(), trees=True)
    except InputError as error:
        print(error)
    return sides


def _half_scored(rows: Array, positive: Array, *, trees: bool = False) -> tuple[Array, Array]:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import train_test_split
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    fitted, other, labels, truth = train_test_split(rows, np.asarray(positive) == 1, test_size=0.5, random_state=0)
    line = make_pipeline(StandardScaler(with_mean=False), LogisticRegression(C=0.01, max_iter=500))
    model = HistGradientBoostingClassifier(random_state=0) if trees else line
    scores = model.fit(fitted, labels).predict_proba(other)[:, 1]
    return scores[truth], scores[~truth]
