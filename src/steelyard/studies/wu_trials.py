"""Wu and Cannistraci's trials on house numbers, draw after draw.

Section 3.2 draws training and test rows of the digits 1 and 6 at three imbalances; section 3.3 says how the nearest
mean classifier (NMC) and linear discriminant analysis (LDA) are trained. The other LDAs are what the paper lacks: the
same axis, another threshold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.estimators.nearest_mean import NearestMeanClassifier
from steelyard.estimators.threshold import ThresholdClassifier
from steelyard.ingest.array_tables import confusion
from steelyard.metrics.registry import get_metric
from steelyard.statistics.counts import Counts
from steelyard.studies.claims import published

if TYPE_CHECKING:
    from steelyard._types import Array, Progress
    from steelyard.datasets.paper_datasets import Digits

WU_PAPER = published("wu")
CONDITIONS: tuple[str, ...] = tuple(WU_PAPER["sizes"]["test"])  # N:P
SKEWED = ("1:3", "3:1")
WU_METRICS: dict[str, str] = WU_PAPER["metrics"]
NMC, LDA = "NMC", "LDA"
HELD_OUT, SEEN, EQUAL = "LDA + search", "LDA + search on seen rows", "LDA, equal priors"
DIGIT_MODELS = (NMC, LDA, HELD_OUT, SEEN, EQUAL)
_SCORE = "operating_point_score"


@dataclass(frozen=True)
class DrawPlan:
    """The size of the experiment: how many draws, the share of the paper's rows, and how coarse the pictures are."""

    draws: int
    share: int
    coarse: int

    def test(self, condition: str) -> tuple[int, int]:
        """The positives and the negatives of the test part."""
        size = WU_PAPER["sizes"]["test"][condition]
        return size["positives"] // self.share, size["negatives"] // self.share


FULL_PLAN, QUICK_PLAN = DrawPlan(draws=10, share=1, coarse=1), DrawPlan(draws=3, share=3, coarse=4)
TRAINED = 3  # the training part is three times the test part, with the same shares


@dataclass(frozen=True, eq=False)
class DigitTrial:
    """One draw at one imbalance: the truth of the test rows, where each model puts them, and its threshold."""

    y: Array
    scores: dict[str, Array]
    thresholds: dict[str, float]
    centroid: str
    folded: Array | None = None  # where LDA puts the rows by the mean of the discriminants of the folds

    def counts(self, model: str) -> Counts:
        """The table of one model on the test rows."""
        return confusion(self.y, (self.scores[model] >= self.thresholds[model]).astype(int)).counts()

    def value(self, model: str, metric: str) -> float:
        """One metric of one model, of its labels or of its scores."""
        compute = get_metric(metric)
        return float(compute(self.counts(model)) if compute.function else compute(self.y, self.scores[model]))

    def place(self, model: str) -> float:
        """Where the threshold lies between the lowest and the highest projection of the test rows, 0 to 1."""
        return float(_normalised(self.scores[model], self.thresholds[model])[1])

    def passed(self, model: str) -> float:
        """The share of the test rows that the model calls positive."""
        return float((self.scores[model] >= self.thresholds[model]).mean())

    def normalised(self, model: str) -> tuple[Array, float]:
        """The projections from 0 to 1, and the threshold on that scale."""
        return _normalised(self.scores[model], self.thresholds[model])


def _normalised(z: Array, threshold: float) -> tuple[Array, float]:
    low, high = z.min(), z.max()
    return (z - low) / (high - low), float((threshold - low) / (high - low))


@dataclass(frozen=True, eq=False)
class DigitTrials:
    """All draws at all imbalances, every metric of every model in them, and what they were drawn from."""

    trials: list[dict[str, DigitTrial]]
    values: Array  # draw, condition, model, metric
    digits: Digits
    plan: DrawPlan
    seed: int

    def of(self, condition: str, model: str, short: str) -> Array:
        """One metric of one model over the draws."""
        return np.asarray(
            self.values[:, CONDITIONS.index(condition), DIGIT_MODELS.index(model), list(WU_METRICS).index(short)]
        )

    def gap(self, condition: str, short: str, a: str = NMC, b: str = LDA) -> Array:
        """Model a less model b by one metric, over the draws."""
        return self.of(condition, a, short) - self.of(condition, b, short)

    def counts(self, condition: str, model: str) -> Counts[Array]:
        """The tables of one model over the draws."""
        return Counts.stack([trial[condition].counts(model) for trial in self.trials])


def run_trials(digits: Digits, plan: DrawPlan, seed: int, progress: Progress) -> DigitTrials:
    """Draw, train and test, at each imbalance and as often as the plan says.

    By one thread: the SVDs in LDA are small, and two threads that wait for each other on a busy machine take six times
    as long; and the digits do not depend on the number of cores.
    """
    from threadpoolctl import threadpool_limits  # which scikit-learn brings

    with threadpool_limits(1, "blas"):
        return _trials(digits, plan, seed, progress)


def _trials(digits: Digits, plan: DrawPlan, seed: int, progress: Progress) -> DigitTrials:
    X, y = _pixels(digits.images, plan.coarse), (digits.labels == 1).astype(int)
    trials: list[dict[str, DigitTrial]] = []
    for i in range(plan.draws):
        rng, by_condition = np.random.default_rng([seed, i]), {}
        for condition in CONDITIONS:
            progress(f"draw {i + 1} of {plan.draws}, N:P = {condition}")
            by_condition[condition] = fit_models(X, y, *draw_rows(y, *plan.test(condition), rng), rng, folded=i == 0)
        trials.append(by_condition)
    values = [[[_all_metrics(t[c], model) for model in DIGIT_MODELS] for c in CONDITIONS] for t in trials]
    return DigitTrials(trials, np.array(values), digits, plan, seed)


def _all_metrics(trial: DigitTrial, model: str) -> list[float]:
    return [trial.value(model, name) for name in WU_METRICS.values()]


def _pixels(images: Array, coarse: int) -> Array:
    """The grey values from 0 to 1, a picture in a row, each square of `coarse` x `coarse` dots as its mean."""
    n, side = len(images), images.shape[1] // coarse
    return np.asarray(images.reshape(n, side, coarse, side, coarse).mean((2, 4)).reshape(n, -1) / 255)


def draw_rows(y: Array, positives: int, negatives: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """The rows of a training and a test part that share none."""
    parts = [
        np.split(rng.permutation(np.flatnonzero(y == label))[: (1 + TRAINED) * n], [n])
        for label, n in ((1, positives), (0, negatives))
    ]
    test, train = (np.concatenate(side) for side in zip(*parts, strict=True))
    return train, test


def fit_models(
    X: Array, y: Array, train: Array, test: Array, rng: np.random.Generator, *, folded: bool = False
) -> DigitTrial:
    """Fit on one part and place the rows of the other.

    NMC searches its threshold on the training parts of 5 folds, 10 times. LDA has nothing to search, so it is fitted on
    all training rows; with `folded` also on the folds, as the paper's words may mean. For its searched threshold a
    fifth of the training rows is held out from a fit of its own.
    """
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedShuffleSplit

    folds, seed = WU_PAPER["folds"], int(rng.integers(2**31))
    cv = RepeatedStratifiedKFold(n_splits=folds["folds"], n_repeats=folds["repeats"], random_state=seed)
    nearest = NearestMeanClassifier("best", _SCORE, cv=cv).fit(X[train], y[train])
    part = StratifiedShuffleSplit(1, test_size=1 / folds["folds"], random_state=seed)
    method = "decision_function"
    lda = LinearDiscriminantAnalysis(solver="lsqr")
    searched = ThresholdClassifier(lda, _SCORE, cv=part, response_method=method).fit(X[train], y[train])
    plain = searched.estimator_  # fitted on all training rows
    seen = ThresholdClassifier(plain, _SCORE, cv="prefit", response_method=method).fit(X[train], y[train])
    prior = float(np.log(np.divide(*plain.priors_[::-1])))
    z = plain.decision_function(X[test])
    thresholds = {NMC: nearest.threshold_, LDA: 0.0, HELD_OUT: searched.threshold_, SEEN: seen.threshold_, EQUAL: prior}
    scores = dict.fromkeys(DIGIT_MODELS, z) | {NMC: nearest.project(X[test])}
    mean = _folded(X, y, train, test, folds["folds"]) if folded else None
    return DigitTrial(
        y[test], scores, {model: float(threshold) for model, threshold in thresholds.items()}, nearest.centroid_, mean
    )


def _folded(X: Array, y: Array, train: Array, test: Array, folds: int) -> Array:
    """The mean of the discriminants and biases of LDAs fitted on the training parts of the folds."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.model_selection import cross_validate

    lda = LinearDiscriminantAnalysis(solver="lsqr")
    fitted = cross_validate(lda, X[train], y[train], cv=folds, return_estimator=True)["estimator"]
    return np.asarray(np.mean([fold.decision_function(X[test]) for fold in fitted], axis=0))
