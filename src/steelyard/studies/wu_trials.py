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
from steelyard.protocol.nearest_mean_result import RatioTrial, RatioTrials, draw_rows, tabulated
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


@dataclass(frozen=True, eq=False, kw_only=True)
class DigitTrials(RatioTrials):
    """All draws at all imbalances, every metric of every model in them, and what they were drawn from."""

    digits: Digits
    plan: DrawPlan
    seed: int
    folded: dict[str, Array]  # where LDA puts the rows of the first draw by the mean of the discriminants of the folds


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
    trials: list[dict[str, RatioTrial]] = []
    folded: dict[str, Array] = {}
    for i in range(plan.draws):
        rng, by_condition = np.random.default_rng([seed, i]), {}
        for condition in CONDITIONS:
            progress(f"draw {i + 1} of {plan.draws}, N:P = {condition}")
            train, test = draw_rows(y, *plan.test(condition), rng)
            by_condition[condition] = fit_models(X, y, train, test, rng)
            if i == 0:
                folded[condition] = _folded(X, y, train, test, WU_PAPER["folds"]["folds"])
        trials.append(by_condition)
    values, tables = tabulated(trials, DIGIT_MODELS, WU_METRICS)
    return DigitTrials(
        ratios=CONDITIONS,
        models=DIGIT_MODELS,
        metrics=WU_METRICS,
        values=values,
        tables=tables,
        trials=trials,
        digits=digits,
        plan=plan,
        seed=seed,
        folded=folded,
    )


def _pixels(images: Array, coarse: int) -> Array:
    """The grey values from 0 to 1, a picture in a row, each square of `coarse` x `coarse` dots as its mean."""
    n, side = len(images), images.shape[1] // coarse
    return np.asarray(images.reshape(n, side, coarse, side, coarse).mean((2, 4)).reshape(n, -1) / 255)


def fit_models(X: Array, y: Array, train: Array, test: Array, rng: np.random.Generator) -> RatioTrial:
    """Fit on one part and place the rows of the other.

    NMC searches its threshold on the training parts of 5 folds, 10 times. LDA has nothing to search, so it is fitted on
    all training rows. For its searched threshold a fifth of the training rows is held out from a fit of its own.
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
    floats = {model: float(threshold) for model, threshold in thresholds.items()}
    return RatioTrial(y[test], scores, floats, nearest.centroid_)


def _folded(X: Array, y: Array, train: Array, test: Array, folds: int) -> Array:
    """The mean of the discriminants and biases of LDAs fitted on the training parts of the folds.

    The paper's words on training may also mean this.
    """
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.model_selection import cross_validate

    lda = LinearDiscriminantAnalysis(solver="lsqr")
    fitted = cross_validate(lda, X[train], y[train], cv=folds, return_estimator=True)["estimator"]
    return np.asarray(np.mean([fold.decision_function(X[test]) for fold in fitted], axis=0))
