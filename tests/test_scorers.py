"""Scorers: every metric in scikit-learn's own tools, equal to scikit-learn's value where it has one."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys

import numpy as np
import pytest
from checks import assert_refused
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris, make_classification
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    LeaveOneOut,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_score,
    cross_validate,
)
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from steelyard import Counts, best_threshold, f_beta, get_metric, list_metrics, scorer
from steelyard.exceptions import needs_sklearn

X, Y = make_classification(500, weights=[0.85], flip_y=0.1, random_state=0)
THREE = make_classification(400, n_classes=3, n_informative=5, weights=[0.7, 0.2], random_state=0)
FOLDS = StratifiedKFold(4)
METRICS = [m for m in list_metrics() if m.direction is not None and not m.is_of_label_sets]


@pytest.mark.parametrize("metric", METRICS, ids=lambda m: m.name)
def test_every_metric_with_a_direction_scores_by_what_the_registry_knows(metric):
    parameters = {"k": 20} if metric.name == "precision_at_k" else {}
    found = cross_val_score(LogisticRegression(), X, Y, cv=FOLDS, scoring=scorer(metric.name, **parameters))
    sign = 1 if metric.direction == "higher" else -1
    for value, (train, test) in zip(found, FOLDS.split(X, Y), strict=True):
        model = LogisticRegression().fit(X[train], Y[train])
        if metric.scores is None:
            other = model.predict(X[test])
        elif metric.of_probabilities:
            other = model.predict_proba(X[test])[:, 1]
        else:
            other = model.decision_function(X[test])
        assert value == pytest.approx(sign * metric(Y[test], other, **parameters), rel=1e-12, nan_ok=True)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [("f1", "f1"), ("balanced_accuracy", "balanced_accuracy"), ("mcc", "matthews_corrcoef"), ("roc_auc", "roc_auc"),
     ("average_precision", "average_precision"), ("brier", "neg_brier_score"), ("log_loss", "neg_log_loss"),
     ("accuracy", "accuracy"), ("jaccard", "jaccard")],
)  # fmt: skip
def test_equal_to_scikit_learns_own_scorer(ours, theirs):
    both = cross_validate(LogisticRegression(), X, Y, cv=FOLDS, scoring={"ours": scorer(ours), "theirs": theirs})
    assert np.allclose(both["test_ours"], both["test_theirs"], rtol=1e-12)


CALLS: list[str] = []


class Counting(ClassifierMixin, BaseEstimator):
    """A classifier that counts how often it is asked."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        CALLS.append("predict")
        return (X[:, 0] > 0).astype(int)

    def decision_function(self, X):
        CALLS.append("decision_function")
        return X[:, 0]


def test_several_scorers_share_one_prediction_pass():
    CALLS.clear()
    scoring = {name: scorer(name) for name in ("ac_score", "f1", "mcc", "tpnr", "roc_auc", "average_precision")}
    cross_validate(Counting(), X, Y, cv=2, scoring=scoring)
    assert sorted(CALLS) == ["decision_function"] * 2 + ["predict"] * 2


def test_a_grid_is_searched_in_parallel():
    search = GridSearchCV(
        DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3, 5]}, scoring=scorer("ac_score"), n_jobs=2
    )
    serial = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3, 5]}, scoring=scorer("ac_score"))
    assert np.array_equal(
        search.fit(X, Y).cv_results_["mean_test_score"], serial.fit(X, Y).cv_results_["mean_test_score"]
    )


def test_a_lower_value_of_a_cost_wins_the_search():
    search = GridSearchCV(
        DecisionTreeClassifier(random_state=0), {"max_depth": [1, 8]}, scoring=scorer("expected_cost", cost_fn=10.0)
    )
    search.fit(X, Y)
    assert search.best_score_ == search.cv_results_["mean_test_score"].max() <= 0


def test_the_threshold_is_tuned_as_best_threshold_does():
    model = LogisticRegression().fit(X, Y)
    cuts = np.unique(model.predict_proba(X)[:, 1])
    tuned = TunedThresholdClassifierCV(
        model, scoring=scorer("ac_score"), thresholds=cuts, cv="prefit", refit=False
    ).fit(X, Y)
    expected = best_threshold(Y, model.predict_proba(X)[:, 1], "ac_score", draws=0)
    assert tuned.best_score_ == pytest.approx(expected.value, rel=1e-12)


def test_the_positive_class_may_be_named():
    y = np.where(Y == 1, "ill", "well")
    for name in ("f1", "roc_auc", "average_precision", "brier"):
        ours = cross_val_score(LogisticRegression(), X, y, cv=FOLDS, scoring=scorer(name, pos_label="ill"))
        plain = cross_val_score(LogisticRegression(), X, Y, cv=FOLDS, scoring=scorer(name))
        assert np.allclose(ours, plain, atol=1e-4)  # the fits differ in their last digits


def test_many_classes_are_averaged():
    x, y = THREE
    for name, theirs in (("f1", "f1_macro"), ("roc_auc", "roc_auc_ovr")):
        scoring = {"ours": scorer(name, average="macro"), "theirs": theirs}
        both = cross_validate(LogisticRegression(), x, y, cv=FOLDS, scoring=scoring)
        assert np.allclose(both["test_ours"], both["test_theirs"], rtol=1e-12)
    assert np.isfinite(cross_val_score(LogisticRegression(), x, y, scoring=scorer("ac_score"))).all()


def test_a_fold_without_positives_has_no_score_and_stops_nobody():
    with pytest.warns(UndefinedMetricWarning, match="ac_score is undefined on a fold"):
        found = cross_val_score(LogisticRegression(), X[:30], Y[:30], cv=LeaveOneOut(), scoring=scorer("ac_score"))
    assert np.isnan(found).all()
    found = cross_val_score(
        LogisticRegression(), X[:30], Y[:30], cv=LeaveOneOut(), scoring=scorer("roc_auc", undefined=0.5)
    )
    assert (found == 0.5).all()


def test_weights_reach_the_metric():
    weight = np.where(Y == 1, 3.0, 1.0)
    model = LogisticRegression().fit(X, Y)
    ours = scorer("accuracy")(model, X, Y, sample_weight=weight)
    assert ours == pytest.approx(model.score(X, Y, weight), rel=1e-12)


def test_parameters_belong_to_the_metric():
    model = LogisticRegression().fit(X, Y)
    assert scorer("f_beta", beta=2)(model, X, Y) == f_beta(Y, model.predict(X), beta=2)
    assert scorer("f_beta[beta=2]")(model, X, Y) == f_beta(Y, model.predict(X), beta=2)


def test_a_function_of_ones_own_scores_higher_for_better():
    model = LogisticRegression().fit(X, Y)
    assert scorer(lambda tp, fn, fp, tn: tp - fp)(model, X, Y) == float(
        get_metric(lambda tp, fn, fp, tn: tp - fp)(Counts(*_cells(Y, model.predict(X))))
    )


def _cells(true, pred):
    return tuple(int(((true == t) & (pred == p)).sum()) for t, p in ((1, 1), (1, 0), (0, 1), (0, 0)))


def test_it_can_be_pickled_and_says_what_it_is():
    again = pickle.loads(pickle.dumps(scorer("ac_score")))
    model = LinearSVC(random_state=0).fit(X, Y)
    assert again(model, X, Y) == scorer("ac_score")(model, X, Y)
    assert repr(again) == "make_scorer(ac_score, response_method='predict')"


@pytest.mark.parametrize(
    "name", ["mcc", "precision", "f1", "expected_cost", "negative_likelihood_ratio", "optimized_precision"]
)
def test_a_cut_at_which_the_metric_is_undefined_is_never_the_best(name):
    model = LogisticRegression().fit(X, Y)
    scores = model.predict_proba(X)[:, 1]
    cuts = np.append(np.unique(scores), 1.1)  # the last flags nobody
    tuned = TunedThresholdClassifierCV(model, scoring=scorer(name), thresholds=cuts, cv="prefit", refit=False).fit(X, Y)
    expected = best_threshold(Y, scores, name, draws=0)
    sign = 1 if get_metric(name).direction == "higher" else -1
    assert sign * tuned.best_score_ == pytest.approx(expected.value, rel=1e-12)
    folded = TunedThresholdClassifierCV(LogisticRegression(), scoring=scorer(name), cv=5).fit(X, Y)
    assert np.isfinite(folded.best_score_)


def test_a_search_that_drops_a_candidate_says_why_and_what_keeps_it():
    rare = np.arange(len(Y)) % 20 == 0
    grid = {"max_depth": [1, 8]}  # a tree of one split flags nobody
    tree = DecisionTreeClassifier(random_state=0)
    with pytest.warns() as told:
        dropped = GridSearchCV(tree, grid, scoring=scorer("precision"), cv=3).fit(X, rare.astype(int))
    assert np.isnan(dropped.cv_results_["mean_test_score"]).any()
    assert any(
        "precision is undefined on a fold" in str(w.message) and "scorer('precision', undefined=0)" in str(w.message)
        for w in told
    )
    kept = GridSearchCV(tree, grid, scoring=scorer("precision", undefined=0), cv=3).fit(X, rare.astype(int))
    assert np.isfinite(kept.cv_results_["mean_test_score"]).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_a_plain_score_stays_undefined():
    never = DummyClassifier(strategy="constant", constant=0).fit(X, Y)
    assert math.isnan(scorer("precision")(never, X, Y)) and math.isnan(scorer("mcc")(never, X, Y))
    assert scorer("precision", undefined=0.0)(never, X, Y) == scorer("precision", zero_division=0)(never, X, Y) == 0


@pytest.mark.parametrize(
    ("attempt", "builtin", "words"),
    [
        (lambda: scorer("prevalence"), ValueError, "No value of prevalence is best"),
        (lambda: scorer("ac_scor"), KeyError, "Did you mean"),
        (lambda: scorer("f1", average=None), ValueError, "one number"),
        (lambda: scorer("f1", beta=2), TypeError, "no parameter 'beta'"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(attempt, builtin, words):
    assert_refused(attempt, builtin, words)


def test_a_fold_of_one_class_is_undefined_by_table_and_by_scores():
    model = DummyClassifier(strategy="prior").fit(X, Y)  # which calls every row negative
    assert scorer("specificity")(model, X[:2], [0, 0]) == 1
    for name, y in (("recall", [0, 0]), ("roc_auc", [1, 1])):
        with pytest.warns(UndefinedMetricWarning, match=f"{name} is undefined on a fold"):
            assert math.isnan(scorer(name)(model, X[:2], y))


def test_without_scikit_learn_it_says_what_to_install():
    code = "import sys; sys.modules['sklearn'] = None\nimport steelyard; steelyard.scorer('f1')"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.stderr.splitlines()[-1].endswith(str(needs_sklearn("A scorer")))


def test_scores_of_many_classes_offer_only_averages_that_give_one_number():
    iris, kinds = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=500).fit(iris, kinds)
    words = r"write scorer\('roc_auc', average='macro'\) or average='weighted'\.$"
    assert_refused(lambda: scorer("roc_auc")(model, iris, kinds), ValueError, words)


@pytest.mark.parametrize(("ours", "theirs"), [("log_loss", "neg_log_loss"), ("brier", "neg_brier_score")])
def test_losses_of_many_classes_score_as_scikit_learns_do(ours, theirs):
    try:
        expected = cross_val_score(LogisticRegression(), *THREE, cv=FOLDS, scoring=theirs, error_score="raise")
    except ValueError:  # before scikit-learn 1.7 the Brier score is of two classes
        pytest.skip("this scikit-learn has no Brier score of many classes")
    found = cross_val_score(LogisticRegression(), *THREE, cv=FOLDS, scoring=scorer(ours), error_score="raise")
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_fold_that_lacks_a_class_has_its_log_loss():
    model = LogisticRegression().fit(*THREE)
    rows = THREE[1] < 2
    expected = -np.log(model.predict_proba(THREE[0][rows])[np.arange(rows.sum()), THREE[1][rows]]).mean()
    assert scorer("log_loss")(model, THREE[0][rows], THREE[1][rows]) == pytest.approx(-expected)
    of_one = scorer("log_loss", pos_label=2)(model, *THREE)
    assert of_one == pytest.approx(-get_metric("log_loss")(THREE[1] == 2, model.predict_proba(THREE[0])[:, 2]))
