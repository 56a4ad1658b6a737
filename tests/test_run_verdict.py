"""The verdict of a cross-evaluation: ranks that are not the threshold's doing, and samplers by name."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from steelyard import SteelyardError, cross_evaluate
from steelyard.results import CrossEvaluation
from steelyard.studies import resampling_study

X, Y = make_classification(2_000, 10, weights=[0.95], flip_y=0.02, random_state=1)
LOGISTIC = LogisticRegression(max_iter=500)


@pytest.fixture(scope="module")
def resampled():
    return cross_evaluate({"lr": LOGISTIC}, X, Y, resample=[None, "SMOTE", "class-weight"])


@pytest.fixture(scope="module")
def plain():
    return cross_evaluate({"lr": LOGISTIC, "nb": GaussianNB()}, X, Y)


def test_scores_are_ranked_by_what_needs_no_threshold_and_the_thresholds_order_is_named(resampled):
    assert [row.name for row in resampled.ranking()] == ["average_precision"] * 3
    by_labels = [row.model for row in resampled.ranking("ac_score")]
    text = " ".join(repr(resampled).split())
    assert "Ranked by average precision, which needs no threshold." in text
    assert by_labels[0] != resampled.ranking()[0].model
    assert "The orders differ: average precision puts " in text
    assert "That difference is the threshold's, which best_threshold moves." in text
    assert "mean ac_score" in text


def test_the_verdict_is_about_rows_then_the_number_of_the_use_then_the_choice(resampled):
    first, _, number, *_, last = resampled.verdict
    assert first.startswith("At 57 alerts of 1,000 rows, mean of 5 runs, lr finds ")
    assert number.startswith("For alerts, average precision is ")
    assert last.startswith(("Not distinguishable", "Choose "))
    assert CrossEvaluation.from_json(resampled.to_json()).verdict == resampled.verdict == resampled.to_dict()["verdict"]
    for shown in (resampled.to_markdown().replace("\\", ""), " ".join(repr(resampled).split())):
        assert all(sentence in shown for sentence in resampled.verdict)


def test_what_is_found_is_the_mean_of_the_runs(plain):
    def found(run):
        alerts = np.argsort(-run.predictions.scores, kind="stable")[: int(Y[run.part.test].sum())]
        return Y[run.part.test][alerts].mean()

    means = {name: np.mean([found(run) for run in model.runs]) for name, model in plain.models.items()}
    positives = 1_000 * Y.mean()
    for name, mean in means.items():
        number = f"{positives * mean:.0f}"
        assert f"{name} finds {number} of" in plain.verdict[0] or f"{name} {number}" in plain.verdict[0]


@pytest.mark.parametrize(
    ("use", "metric"), [("ranking", "roc_auc"), ("balance", "ac_score"), ("probabilities", "brier_skill_score")]
)
def test_a_use_ranks_by_its_number(use, metric):
    found = cross_evaluate({"lr": LOGISTIC, "nb": GaussianNB()}, X, Y, split=3, use=use)
    assert found.default_spec.name == metric == found.leaderboard().metric
    assert found.verdict[-1].startswith(("Not distinguishable: ", "Choose "))


def test_models_that_differ_are_not_called_equal_and_those_without_skill_are_not_chosen():
    sampled = cross_evaluate({"lr": LOGISTIC, "nb": GaussianNB()}, X, Y, resample=[None, "SMOTE"], use="alerts")
    assert "could find from" in sampled.verdict[-1] and "positives would tell" in sampled.verdict[-1]
    dummies = {name: DummyClassifier(strategy=name, random_state=0) for name in ("prior", "stratified")}
    last = cross_evaluate(dummies, X, Y, split=3, use="probabilities").verdict[-1]
    assert last.startswith("Neither is shown to be better than stating the prevalence for every row: recalibrate")


def test_one_model_has_no_verdict_and_a_use_without_a_number_is_refused(plain):
    assert cross_evaluate(LOGISTIC, X, Y, split=2).verdict == []
    rows = np.random.default_rng(0).integers(0, 3, len(Y))
    verdict = cross_evaluate({"lr": LOGISTIC, "nb": GaussianNB()}, X, rows, split=2).verdict
    assert verdict[0].startswith("In the mean of 2 runs ") and "of 1,000 rows" in verdict[0]
    with pytest.raises(SteelyardError, match="No use is called"):
        cross_evaluate(LOGISTIC, X, Y, use="alert")


@pytest.mark.parametrize("name", ["SMOTE", "smote", "Borderline-SMOTE", "over", "Under", "class-weight"])
def test_samplers_go_by_name_whatever_its_capitals_and_hyphens(name):
    found = cross_evaluate(LOGISTIC, X[:400], Y[:400], split=2, resample=[None, name], metrics=["recall"])
    assert not found.failures and len(found.models) == 2


def test_a_study_is_decided_by_the_number_of_its_use_and_names_what_is_the_thresholds():
    study = resampling_study(LOGISTIC, X, Y, ["over"], use="alerts", split=3)
    assert study.spec.name == "average_precision"
    assert any("that difference is the threshold's." in sentence for sentence in study.verdict)
