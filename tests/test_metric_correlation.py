"""Metrics correlated over distortions of the user's own scores, and over the user's own models."""

from __future__ import annotations

import numpy as np
import pytest
from checks import assert_refused
from scipy.stats import pearsonr, spearmanr
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import cross_val_predict
from study_tools import invariance

from steelyard import RARER, Counts, get_metric
from steelyard.auditing.correlation import by_chance, conclusion_result, conclusions_on
from steelyard.studies import correlation_study, metric_correlation


@pytest.fixture(scope="module")
def tumours():
    """The truth of scikit-learn's tumours, malignant positive, and probabilities of rows left out."""
    X, y = load_breast_cancer(return_X_y=True)
    model = LogisticRegression(max_iter=5_000)
    return 1 - y, cross_val_predict(model, X[:, [1, 4, 8]], 1 - y, method="predict_proba")[:, 1]


@pytest.fixture(scope="module")
def models(tumours):
    y, score = tumours
    rng = np.random.default_rng(0)
    return {f"model {i}": np.clip(score + rng.normal(0, 0.08 * i, len(y)), 0, 1) for i in range(6)}


def test_garcias_own_list_gives_garcias_own_study():
    """The list that correlation_study makes, handed in as scores, gives its numbers."""
    y = np.repeat([0, 1], [190, 10])
    score = np.concatenate([np.linspace(0, 0.5, 190, endpoint=False), np.linspace(0.5, 1, 10)])
    ours = metric_correlation(y, score, seeds=2)
    theirs = correlation_study(n=200, positives=[0.05], seeds=2)
    assert ours.counts == theirs.counts
    np.testing.assert_array_equal(ours.pearson, theirs.pearson)


def test_rows_are_drawn_at_the_shares_asked_for(tumours):
    study = metric_correlation(*tumours, positives=[0.1, 0.5], seeds=2, metrics=["accuracy"])
    shares = study.counts.positives / study.counts.total
    np.testing.assert_allclose(shares[:, 0], 0.1, atol=0.002)
    np.testing.assert_allclose(shares[:, 1], 0.5, atol=0.002)
    assert study.counts.shape == (2, 2, 13, 10) and study.matrix(0.1, rank=True).shape == (3, 3)


@pytest.mark.parametrize("several", [False, True])
def test_conclusions_speak_of_the_metrics_asked_for_alone(tumours, models, several, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    y, score = tumours
    study = metric_correlation(y, models if several else score, metrics=["g_mean", "f1", "kappa"], seeds=2)
    words = ["G-mean rises with recall", "kappa and F1 follow specificity more than recall"]
    assert [c.words for c in study.conclusions()] == words and all(words in study.headline for words in words)
    assert "accuracy" not in study.headline and "IBA" not in repr(study)
    whole = metric_correlation(y, models if several else score, seeds=2)
    assert [c.number for c in whole.conclusions()] == [1, 2, 3] and "weighted AUC and class-weighted" in repr(whole)


def test_a_metric_that_follows_recall_even_more_does_not_follow_specificity():
    """Both rates rise together, F1 with recall above all: r with specificity alone would say that it follows that."""
    rng = np.random.default_rng(0)
    tp = rng.integers(10, 91, (1, 1, 13, 10))
    tn = 700 + 2 * tp + rng.integers(0, 100, tp.shape)
    (third,) = conclusions_on([get_metric("f1")])
    result = conclusion_result(third, Counts(tp, 100 - tp, 1000 - tn, tn), [0.09091])
    r = [np.corrcoef(get_metric("f1")(Counts(tp, 100 - tp, 1000 - tn, tn)).ravel(), x.ravel())[0, 1] for x in (tp, tn)]
    assert r[0] > r[1] > 0.5 and (result.share, result.holds) == (0, False)
    assert result.fails == "f1 at 9.09 %"


def test_without_a_metric_of_a_conclusion_none_is_judged(tumours):
    study = metric_correlation(*tumours, metrics=["mcc", "class_weighted_accuracy[w=0.9]"], seeds=2)
    assert not study.conclusions()
    assert study.headline == (
        "García concludes nothing about the metrics asked for; leave metrics= out to try his conclusions."
    )


@pytest.mark.parametrize("several", [False, True])
def test_a_convention_names_the_positive_class_and_the_study_states_it(tumours, models, several):
    y, score = tumours
    words, given = np.where(y, "yes", "no"), models if several else score
    study = metric_correlation(words, given, metrics=["f1"], seeds=2)
    assert study.counts == metric_correlation(y, given, metrics=["f1"], seeds=2).counts
    sentence = "The positive class is 'yes' by convention; pos_label='no' would take the other one."
    assert study.notes == (sentence,) and sentence in " ".join(repr(study).split())
    assert type(study).from_json(study.to_json()).notes == study.notes
    other = metric_correlation(words, given, metrics=["f1"], seeds=2, pos_label="no")
    assert other.notes == () and other.positives[0] == pytest.approx(1 - study.positives[0])
    fruit = np.where(y, "pear", "apple")
    rarer = metric_correlation(fruit, given, metrics=["f1"], seeds=2, pos_label=RARER)
    assert rarer.counts == study.counts and rarer.notes == (
        "The positive class is 'pear', the rarer of 'apple', 'pear'.",
    )
    assert_refused(lambda: metric_correlation(fruit, given), ValueError, "not clear from the labels 'apple', 'pear'")


def test_correlations_over_models_are_scipys_of_scikit_learns_values(tumours, models):
    y, _ = tumours
    study = metric_correlation(y, models, metrics=["balanced_accuracy", "roc_auc"])
    balanced = [balanced_accuracy_score(y, score >= 0.5) for score in models.values()]
    areas = [roc_auc_score(y, score) for score in models.values()]
    i, j = study.names.index("balanced_accuracy"), study.names.index("roc_auc")
    (share,) = study.positives
    assert study.matrix(share)[i, j] == pytest.approx(pearsonr(balanced, areas).statistic)
    assert study.matrix(share, rank=True)[i, j] == pytest.approx(spearmanr(balanced, areas).statistic)
    assert study.left_out.shape == (6, 4, 4)
    assert study.left_out[2, i, j] == pytest.approx(pearsonr(np.delete(balanced, 2), np.delete(areas, 2)).statistic)
    assert "Over these models it" in repr(study)
    labels = metric_correlation(y, y_pred={name: s >= 0.5 for name, s in models.items()}, metrics=["accuracy"])
    assert labels.counts == study.counts


def test_unrelated_columns_reach_the_critical_value_in_one_of_twenty_cases():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 4_000, 6))
    r = [np.corrcoef(x, y)[0, 1] for x, y in zip(a, b, strict=True)]
    assert np.mean(np.abs(r) > by_chance(6)) == pytest.approx(0.05, abs=0.012)


def test_invariance_is_judged_here_and_in_general():
    rows = {
        (r.metric, r.transformation): r for r in invariance([*map(get_metric, ("recall", "mcc"))], Counts(30, 0, 7, 90))
    }
    assert rows["recall", "p2"].words == "stays"
    assert rows["recall", "p4"].words == "stays here, changes in general"  # no positive is missed
    assert rows["recall", "p5"].change == pytest.approx(30 / 31 - 1)
    assert rows["mcc", "p1"].words == "stays" and rows["mcc", "p3"].change < 0  # fmt: skip


Y = np.arange(40) % 2
P = np.linspace(0, 1, 40)
REFUSED = {
    "nothing to study": (lambda: metric_correlation(Y), "Give y_score"),
    "labels of one model": (lambda: metric_correlation(Y, y_pred={"a": Y}), "cannot be distorted"),
    "three models": (lambda: metric_correlation(Y, {"a": P, "b": P, "c": P}), "3 models are too few"),
    "one class": (lambda: metric_correlation(np.zeros(40, int), P), "one class only"),
    "scores that are no probabilities": (lambda: metric_correlation(Y, 3 * P), "outside 0 to 1"),
    "models' scores that are none": (lambda: metric_correlation(Y, dict.fromkeys("abcd", 3 * P)), "no usual threshold"),
    "a share that cannot be drawn": (lambda: metric_correlation(Y, P, positives=0.02), "0 positives and 20 negatives; 2 or more"),
    "a share above 1": (lambda: metric_correlation(Y, P, positives=5), "above 0 and below 1"),
    "shares for models": (lambda: metric_correlation(Y, dict.fromkeys("abcd", P), positives=0.1), "leave it out of several"),
    "an area of distorted scores": (lambda: metric_correlation(Y, P, metrics=["roc_auc"]), "roc_auc reads the order of scores"),
    "a metric that never moves": (lambda: metric_correlation(Y, P, metrics=[lambda c: np.nan * c.tp]), "undefined on every table"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_correlated_is_refused_in_one_sentence(case):
    call, words = REFUSED[case]
    assert_refused(call, (ValueError, TypeError), words)
