"""ThresholdClassifier: scikit-learn's estimator checks, the cut on unseen rows, and what is refused."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from checks import failing_checks
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    cross_val_predict,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks
from study_tools import pulsars_needed

import steelyard
from steelyard import SteelyardError
from steelyard.analysis.best_threshold import best_threshold
from steelyard.datasets.paper_datasets import htru2
from steelyard.errors import needs_sklearn
from steelyard.estimators.threshold import ThresholdClassifier

X, Y = make_classification(400, weights=[0.85], flip_y=0.1, random_state=0)
MODELS = [LogisticRegression(C=1), LinearSVC(random_state=0), DecisionTreeClassifier(max_depth=3, random_state=0)]


def expected_failures(estimator):
    """The sign of a decision function is not the prediction."""
    linear = isinstance(estimator.estimator, LinearSVC)
    older = failing_checks(estimator, ("dense", "sparse"))
    return older | ({"check_classifiers_train": "the threshold is not 0"} if linear else {})


@pytest.mark.filterwarnings("ignore")  # those of the classifiers inside, on the few rows of some checks
@parametrize_with_checks(
    [ThresholdClassifier(model, cv=3) for model in MODELS],
    expected_failed_checks=expected_failures,
)
def test_scikit_learns_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_the_cut_is_the_best_one_on_unseen_rows(model):
    folds = StratifiedKFold(4)
    ours = ThresholdClassifier(model, "f1", cv=4).fit(X, Y)
    method = "predict_proba" if hasattr(model, "predict_proba") else "decision_function"
    scores = cross_val_predict(model, X, Y, cv=folds, method=method)
    scores = scores[:, 1] if scores.ndim == 2 else scores
    expected = best_threshold(Y, scores, "f1", resamples=0)
    assert ours.best_threshold_ == expected and ours.threshold_ == expected.threshold
    inside = clone(model).fit(X, Y)
    whole = inside.predict_proba(X)[:, 1] if method == "predict_proba" else inside.decision_function(X)
    assert (ours.predict(X) == (whole >= expected.threshold)).all()


@pytest.mark.parametrize("method", ["predict_proba", "decision_function"])
def test_either_class_may_be_positive(method):
    words = np.where(Y == 1, "ill", "well")  # "well" is the later one
    model = LogisticRegression()
    ill = ThresholdClassifier(model, "recall", where="specificity >= 0.7", pos_label="ill", response_method=method)
    plain = ThresholdClassifier(model, "recall", where="specificity >= 0.7", response_method=method)
    a, b = ill.fit(X, words), plain.fit(X, Y)
    assert ((a.predict(X) == "ill") == (b.predict(X) == 1)).mean() > 0.99
    assert a.best_threshold_.value == b.best_threshold_.value


def test_a_fitted_classifier_is_taken_as_it_is():
    model = LogisticRegression().fit(X[:200], Y[:200])
    ours = ThresholdClassifier(model, "ac_score", cv="prefit").fit(X[200:], Y[200:])
    assert ours.estimator_ is model
    assert ours.best_threshold_ == best_threshold(Y[200:], model.predict_proba(X[200:])[:, 1], "ac_score", resamples=0)


@pytest.mark.parametrize(
    "cv", [3, KFold(3, shuffle=True, random_state=0), RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)]
)
def test_any_splitter_will_do(cv):
    ours = ThresholdClassifier(LogisticRegression(), cv=cv).fit(X, Y)
    assert ours.best_threshold_.counts.total == len(Y) * (2 if "Repeated" in type(cv).__name__ else 1)


def test_weights_reach_the_fits_and_the_cut():
    weight = np.where(Y == 1, 5.0, 1.0)
    ours = ThresholdClassifier(LogisticRegression(), "accuracy").fit(X, Y, sample_weight=weight)
    assert ours.best_threshold_.counts.total == pytest.approx(weight.sum())
    assert ours.predict(X).mean() > ThresholdClassifier(LogisticRegression(), "accuracy").fit(X, Y).predict(X).mean()


def test_it_can_be_searched_and_stand_in_a_pipeline():
    pipe = make_pipeline(StandardScaler(), ThresholdClassifier(LogisticRegression(), "g_mean"))
    grid = {"thresholdclassifier__metric": ["g_mean", "f1"], "thresholdclassifier__estimator__C": [0.1, 1]}
    found = GridSearchCV(pipe, grid, cv=2, scoring="balanced_accuracy").fit(X, Y)
    assert found.best_score_ > 0.6
    assert hasattr(ThresholdClassifier(LogisticRegression()), "predict_proba")
    assert not hasattr(ThresholdClassifier(LinearSVC()), "predict_proba")


def tpnr_before_and_after(X, y, seed):
    """TPNR on the test part, before a threshold was looked for and after."""
    parts = train_test_split(X, y, test_size=0.3, random_state=seed)
    tree = DecisionTreeClassifier(max_leaf_nodes=2, random_state=0)
    model = ThresholdClassifier(make_pipeline(StandardScaler(), PCA(2), tree), metric="tpnr").fit(*parts[::2])
    return [steelyard.tpnr(parts[3], judge.predict(parts[1])) for judge in (model.estimator_, model)]


@pulsars_needed
@pytest.mark.parametrize("seed", [125, 140, 154, 162])  # of 200 splits those where an observed score flagged nobody
def test_a_chosen_threshold_does_not_flag_nobody_after_the_refit(seed):
    pulsars = htru2()
    before, after = tpnr_before_and_after(pulsars.X, pulsars.y, seed)
    assert before > 0.6 and after >= before / 2


def test_a_tree_of_two_leaves_keeps_flagging_after_the_refit():
    rows, labels = make_classification(4_000, n_features=8, weights=[0.9], random_state=3)
    for seed in range(8, 12):  # an observed score as the threshold flags nobody in the last
        before, after = tpnr_before_and_after(rows, labels, seed)
        assert after >= max(before / 2, 0.5)


class Mute(LogisticRegression):
    """A classifier without scores."""

    predict_proba = decision_function = property()


@pytest.mark.parametrize(
    ("options", "y", "words"),
    [
        ({}, np.arange(400) % 3, "Only binary classification"),
        ({}, np.zeros(400, dtype=int), "one class only"),
        ({"cv": "prefix"}, Y, "'prefit'"),
        ({"response_method": "predict"}, Y, "response_method="),
        ({"pos_label": 2}, Y, "none of the classes"),
        ({"metric": "prevalence"}, Y, "No value of prevalence is best"),
        ({"where": "precision > 1"}, Y, "No threshold reaches precision > 1"),
        ({"estimator": Mute()}, Y, "nothing to threshold"),
        ({"cv": KFold(2)}, np.repeat([0, 1], 200), "class"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(options, y, words):
    model = ThresholdClassifier(**{"estimator": LogisticRegression(), **options})
    with pytest.raises(ValueError if words == "class" else SteelyardError, match=words):
        model.fit(X, y)


def test_without_scikit_learn_it_says_what_to_install():
    code = (
        "import sys; sys.modules['sklearn'] = None\nimport steelyard.estimators\nimport steelyard.estimators.threshold"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (
        ran.stderr.splitlines()[-1] == f"steelyard.errors.MissingLibraryError: {needs_sklearn('ThresholdClassifier')}"
    )


def test_the_search_for_a_cut_does_not_import_scikit_learn():
    code = "import sys, steelyard.analysis.best_threshold as t; t.best_threshold([0, 1], [0, 1]); print('sklearn' in sys.modules, 'scipy' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["False", "False"]
