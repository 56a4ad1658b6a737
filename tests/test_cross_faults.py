"""cross_evaluate and select_tree where test parts lack a class, estimators misbehave, or nothing names the positive."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from imblearn.over_sampling import RandomOverSampler
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TunedThresholdClassifierCV,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from conftest import assert_refused
from steelyard import HoldOut, cross_evaluate, select_tree
from steelyard.protocol.models import cross_evaluate_columns
from steelyard.protocol.seeding import seeded
from steelyard.report.page import page

X, Y = make_classification(200, 4, weights=[0.8], random_state=3)
NEGATIVES = np.flatnonzero(Y == 0)[:30]
OTHERS = np.setdiff1d(np.arange(200), NEGATIVES)


# ---------------------------------------------------------------- test parts of one class


@pytest.mark.parametrize("label", [0, 1])
def test_test_rows_of_one_class_are_evaluated_and_the_areas_say_why_they_are_undefined(label):
    tested = np.flatnonzero(label == Y)[:20]
    found = cross_evaluate(DecisionTreeClassifier(), X, Y, split=[(np.setdiff1d(np.arange(200), tested), tested)])
    area = found.evaluation["roc_auc"]
    assert math.isnan(area.value) and area.undefined == ("no positives", "no negatives")[label]
    assert json.loads(found.to_json())["models"][0]["evaluation"]["rows"] == 20
    assert "<!doctype html>" in page(found.evaluation)


def test_24_rows_with_3_positives_never_break_a_hold_out():
    rows = np.r_[np.flatnonzero(Y == 1)[:3], np.flatnonzero(Y == 0)[:21]]
    for seed in range(20):
        found = cross_evaluate(
            DecisionTreeClassifier(), X[rows], Y[rows], split=HoldOut(2, stratified=False), rng=seed, metrics=["recall"]
        )
        assert found.evaluation.rows == 8


def test_test_rows_of_no_weight_fail_their_run_alone():
    weight = np.ones(200)
    weight[NEGATIVES] = 0
    rest = np.arange(100, 200)
    split = [(OTHERS, NEGATIVES), (np.setdiff1d(np.arange(200), rest), rest)]
    found = cross_evaluate(GaussianNB(), X, Y, split=split, sample_weight=weight)
    assert [run.error for run in found.failures] == ["All rows tested have weight 0, so nothing is measured on them."]
    assert found.evaluation.rows == (weight[100:] > 0).sum()


def test_groups_set_aside_hold_every_class_or_are_refused():
    groups = np.arange(200) // 10
    order = np.argsort(Y, kind="stable")  # whole groups of negatives
    for seed in range(5):
        found = select_tree(DecisionTreeClassifier(), X[order], Y[order], groups=groups, rng=seed)
        assert set(Y[order][found.test_rows]) == {0, 1}
    alone = np.where(Y == 1, 0, 1 + np.arange(200) % 9)
    assert_refused(
        lambda: select_tree(DecisionTreeClassifier(), X, Y, groups=alone), ValueError, "had rows of every class"
    )


# ---------------------------------------------------------------- estimators that misbehave


class Lost(GaussianNB):
    """A classifier that gives a value of its own for the first row of a test part that begins before row 40."""

    value = math.nan

    def predict_proba(self, X):
        found = super().predict_proba(X)
        if len(X) == 40:
            found[0] = self.value
        return found

    def predict(self, X):
        return GaussianNB.predict(self, X)


class Endless(Lost):
    value = math.inf


class Short(GaussianNB):
    """A classifier that is silent about the last row of a test part of 40."""

    method = "predict"

    def _cut(self, name, X):
        return getattr(GaussianNB, name)(self, X)[: len(X) - (len(X) == 40 and name == self.method)]

    def predict(self, X):
        return self._cut("predict", X)

    def predict_proba(self, X):
        return self._cut("predict_proba", X)


class ShortOfScores(Short):
    method = "predict_proba"


UNEVEN = [(np.arange(40, 200), np.arange(40)), (np.arange(60), np.arange(60, 200))]


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (Lost(), "predict_proba gave no finite number for 1 of 40 rows; scores are numbers."),
        (Endless(), "predict_proba gave no finite number for 1 of 40 rows; scores are numbers."),
        (Short(), "predict gave 39 answers about 40 rows; it has to give one a row."),
        (ShortOfScores(), "predict_proba gave 39 answers about 40 rows; it has to give one a row."),
    ],
)
def test_an_answer_that_cannot_be_counted_fails_its_run_alone(model, words):
    found = cross_evaluate(model, X, Y, split=UNEVEN)
    assert [(run.part.fold, run.error) for run in found.failures] == [(1, words)]
    plain = cross_evaluate(GaussianNB(), X, Y, split=UNEVEN[1:])
    assert found.evaluation["roc_auc"].value == plain.evaluation["roc_auc"].value
    assert found.evaluation.rows == 140 and (found.pooled.rows >= 0).all()


# ---------------------------------------------------------------- candidates


def test_two_samplers_of_one_class_are_two_candidates():
    ways = [RandomOverSampler(sampling_strategy=0.5), RandomOverSampler(), None]
    found = cross_evaluate([GaussianNB(), GaussianNB(var_smoothing=1)], X, Y, resample=ways)
    assert list(found.models) == [
        f"{name}{way}"
        for name in ("GaussianNB", "GaussianNB 2")
        for way in (" + RandomOverSampler", " + RandomOverSampler 2", "")
    ]
    half, whole = (found[f"GaussianNB + RandomOverSampler{n}"].pooled for n in ("", " 2"))
    assert half != whole


LOGISTIC = LogisticRegression()
WEIGHTS = np.where(Y == 1, 4.0, 1.0)
HOLDERS = {
    "search": lambda model: GridSearchCV(model, {"fit_intercept": [True]}, cv=2),
    "vote": lambda model: VotingClassifier([("a", model), ("b", model)]),
    "stack": lambda model: StackingClassifier([("a", model)], cv=2),
    "pipeline": lambda model: make_pipeline("passthrough", model),
    "search of a pipeline": lambda model: GridSearchCV(
        make_pipeline("passthrough", model), {"logisticregression__C": [1]}, cv=2
    ),
}


@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize("name", HOLDERS)
def test_weights_reach_estimators_inside_of_others(name, routing):
    with config_context(enable_metadata_routing=routing):
        model = LogisticRegression()
        model = model.set_fit_request(sample_weight=True).set_score_request(sample_weight=True) if routing else model
        found, plain = (cross_evaluate(HOLDERS[name](model), X, Y, sample_weight=w, metrics=["recall"], split=2)
                        for w in (WEIGHTS, None))  # fmt: skip
        assert not found.failures
        assert sum(found.values("recall")) > sum(plain.values("recall")) or name == "stack"


def test_a_holder_that_refuses_weights_says_so_in_its_run():
    model = TunedThresholdClassifierCV(LOGISTIC, cv=2)
    assert_refused(
        lambda: cross_evaluate(model, X, Y, sample_weight=WEIGHTS), ValueError, "Every run failed; .*metadata_routing"
    )


# ---------------------------------------------------------------- one input, one output

UNSEEDED = [KFold(3, shuffle=True), ShuffleSplit(3), RepeatedStratifiedKFold(n_splits=3, n_repeats=2)]


@pytest.mark.parametrize("split", UNSEEDED, ids=lambda split: type(split).__name__)
def test_a_splitter_without_a_seed_shuffles_by_rng_and_stays_as_it_was(split):
    def tested(rng):
        return [run.part.test.tolist() for run in cross_evaluate(GaussianNB(), X, Y, split=split, rng=rng).runs]

    assert tested(None) == tested(None) == tested(0) != tested(1)
    assert split.random_state is None


def test_a_splitter_inside_an_estimator_shuffles_by_rng_as_well():
    search = GridSearchCV(DecisionTreeClassifier(max_features=1), {"min_samples_leaf": [1, 3, 9, 20]},
                          cv=StratifiedKFold(2, shuffle=True))  # fmt: skip
    one, two = (cross_evaluate(search, X, Y, split=4, metrics=["accuracy"]) for _ in range(2))
    assert one.pooled == two.pooled and search.cv.random_state is None
    assert seeded(clone(search), 5).cv.random_state == 5
    chosen = GridSearchCV(LOGISTIC, {"C": [1]}, cv=StratifiedKFold(2, shuffle=True, random_state=7))
    assert seeded(chosen, 5).cv.random_state == 7


def test_a_splitter_that_is_a_class_is_refused():
    assert_refused(
        lambda: cross_evaluate(LOGISTIC, X, Y, split=StratifiedKFold), TypeError, r"give an object: StratifiedKFold\(\)"
    )


# ---------------------------------------------------------------- tables of columns


def table_with_words(each):
    """Positives that one number tells, and words of which each stands in so many rows and says nothing."""
    rng = np.random.default_rng(0)
    size = rng.standard_normal(600)
    words = np.array([f"w{i // each}" for i in range(600)])[rng.permutation(600)]
    return {"size": size, "word": words, "ill": (size + 0.5 * rng.standard_normal(600) > 1.2).astype(int)}


def test_a_text_of_which_each_row_has_its_own_is_left_out_and_it_says_so():
    found, plain = (
        cross_evaluate_columns(table, "ill", model="tree", resample="over")
        for table in (table_with_words(1), {k: v for k, v in table_with_words(1).items() if k != "word"})
    )
    assert found.pooled == plain.pooled
    assert found.notes[0].startswith("The column 'word' was left out") and found.notes[0][:30] in repr(found)
    assert plain.notes == ()


def test_words_are_coded_before_rows_are_repeated():
    found = cross_evaluate_columns(table_with_words(2), "ill", model="tree", resample=[None, "over"])
    plain, over = (found[name].summarised("recall").mean for name in ("tree", "tree + over"))
    assert over > plain - 0.05  # coded after that, the words of the repeated rows drive it from .62 to .40
