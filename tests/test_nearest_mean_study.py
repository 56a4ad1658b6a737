"""The nearest mean classifier against a model on the user's own rows: draws, control, words, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from checks import assert_refused
from sklearn.datasets import load_breast_cancer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import recall_score, roc_auc_score
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from steelyard.studies import nearest_mean_study


@pytest.fixture(scope="module")
def tumours():
    """Three columns of scikit-learn's tumours, malignant positive."""
    X, y = load_breast_cancer(return_X_y=True)
    return X[:, [1, 4, 8]], np.where(y == 0, "yes", "no")


@pytest.fixture(scope="module")
def study(tumours):
    return nearest_mean_study(LinearDiscriminantAnalysis(), *tumours, ratios=["1:3", "3:1"], draws=4, rng=1)


def test_the_rows_of_a_draw_are_at_the_ratio_and_a_quarter_is_tested(study, tumours):
    positives = (tumours[1] == "yes").sum()
    assert study.sizes["1:3"] == (positives // 4, positives // 4 // 3) and study.positive == "yes"
    for ratio in study.ratios:
        p, n = study.sizes[ratio]
        assert [trial[ratio].y.sum() for trial in study.trials] == [p] * 4
        assert [len(trial[ratio].y) for trial in study.trials] == [p + n] * 4
        assert abs(np.log((n / p) / np.divide(*map(int, ratio.split(":"))))) < 0.05


def test_every_value_is_scikit_learns_on_the_same_rows(study):
    trial = study.trials[2]["3:1"]
    for model in study.models:
        flagged = trial.flagged(model)
        assert study.of("3:1", model, "recall")[2] == pytest.approx(recall_score(trial.y, flagged))
        assert study.of("3:1", model, "roc_auc")[2] == pytest.approx(roc_auc_score(trial.y, trial.scores[model]))
        assert ((trial.scores[model] >= trial.thresholds[model]) == flagged).all()
    row = study.row("3:1", "recall")
    assert row.difference == pytest.approx(row.nearest_mean - row.model) and row.low < row.difference < row.high


def test_the_model_is_the_same_in_the_control_save_its_threshold(study):
    for trial in study.trials:
        plain, searched = (trial["1:3"].scores[model] for model in study.models[1::2])
        assert (plain == searched).all()
    assert study.models == (
        "nearest mean",
        "LinearDiscriminantAnalysis",
        "nearest mean + search",
        "LinearDiscriminantAnalysis + search",
    )


def test_where_only_the_threshold_is_wrong_the_control_says_so():
    """Logistic regression of one column is the same axis; at 1:12 its own threshold flags nearly nobody."""
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], [1200, 100])
    X = rng.normal(1.2 * y[:, None], 1, (len(y), 1))
    result = nearest_mean_study(LogisticRegression(), X, y, ratios=["12:1"], draws=4, metrics=["ac_score", "roc_auc"])
    row = result.row("12:1", "ac_score")
    assert row.low > 0.2 and row.favour == row.draws == 4 and row.control_low < 0 < row.control_high
    assert result.row("12:1", "roc_auc").difference == pytest.approx(0, abs=1e-9)
    assert result.headline == (
        "By ac_score nearest mean is shown to be ahead of LogisticRegression at N:P = 12:1; with the same search for a "
        "threshold for both no difference is shown."
    )
    assert result.notes[0].endswith(": nothing beyond the threshold is shown.")


def test_any_model_will_do_and_predicts_as_it_does_itself(tumours):
    """A tree whose probabilities tie at a half, a machine without probabilities, and one with its own threshold."""
    own = FixedThresholdClassifier(LogisticRegression(), threshold=0.3, pos_label=1, response_method="predict_proba")
    for model in (DecisionTreeClassifier(max_depth=2), SVC(), own):
        result = nearest_mean_study(model, *tumours, ratios=["2:1"], draws=2, metrics=["recall"])
        for trial in result.trials:
            name = result.models[1]
            assert (trial["2:1"].flagged(name) == (trial["2:1"].scores[name] >= trial["2:1"].thresholds[name])).all()


def test_one_seed_gives_one_result_and_another_a_different_one():
    first, again, other = (
        nearest_mean_study(DecisionTreeClassifier(), *small(), ratios=["1:1"], draws=2, rng=seed) for seed in (1, 1, 2)
    )
    assert first == again != other


def test_values_that_differ_by_rounding_alone_are_no_difference(study):
    values = study.values.copy()
    values[:, 0, 0], values[:, 0, 1] = 0.1 + 0.2, 0.3
    row = replace(study, values=values).row(study.ratios[0], next(iter(study.metrics)))
    assert 0.1 + 0.2 != 0.3 and (row.difference, row.low, row.high, row.favour) == (0, 0, 0, 0)


def test_the_words_say_what_the_rows_show(study):
    text = repr(study)
    assert text.startswith("By ac_score nearest mean is shown to be ahead of") and "At N:P = 1:3 by ac_score" in text
    assert "at both ratios by" in " ".join(text.split())
    few = nearest_mean_study(LogisticRegression(), *small(), ratios=["1:1"], draws=2)
    assert "fewer than 10 test rows" in few.sentences[-1]
    assert all(-2 <= row.low <= row.difference <= row.high <= 2 for row in few)
    assert all(row.low >= -1 and row.high <= 1 for row in few if row.metric not in ("mcc", "kappa"))


def with_values(study, **columns):
    """The study with other values: by metric both models' in every draw, a pair for each ratio."""
    values = study.values.copy()
    for short, pairs in columns.items():
        values[:, :, :2, list(study.metrics).index(short)] = pairs
    return replace(study, values=values)


@pytest.fixture(scope="module")
def few_metrics():
    names = ["accuracy", "error_rate", "mcc"]
    return nearest_mean_study(LogisticRegression(), *small(), ratios=["1:1", "2:1"], draws=3, metrics=names)


def test_equal_means_favour_neither_model_and_share_a_place(few_metrics):
    ties = with_values(few_metrics, accuracy=[(0.8, 0.8)] * 2, error_rate=[(0.2, 0.2)] * 2, mcc=[(0.5, 0.4)] * 2)
    assert ties.mean_sides() == {
        "accuracy": ["neither"] * 2,
        "error_rate": ["neither"] * 2,
        "mcc": ["nearest mean"] * 2,
    }
    assert ties.mean_places() == {"accuracy": [2, 2], "error_rate": [2, 2], "mcc": [1, 1]}
    assert ties.one_sided() == ["mcc"] and any("by mcc (1 of 3 metrics)" in sentence for sentence in ties.sentences)


def test_the_model_with_fewer_errors_is_ahead(few_metrics):
    """Accuracy and error rate are each other's complement, so they favour one model and share a place."""
    pairs = np.array([(0.9, 0.8), (0.6, 0.7)])
    complements = with_values(few_metrics, accuracy=pairs, error_rate=1 - pairs)
    sides, places = complements.mean_sides(), complements.mean_places()
    assert sides["accuracy"] == sides["error_rate"] == ["nearest mean", "LogisticRegression"]
    assert places["accuracy"] == places["error_rate"]


def test_an_undefined_difference_has_its_reason_and_no_winner():
    """The model flags nobody, so that its precision is undefined in every draw."""
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], [600, 50])
    never = FixedThresholdClassifier(LogisticRegression(), threshold=1, pos_label=1, response_method="predict_proba")
    names = ["precision", "recall"]
    X = rng.normal(1.2 * y[:, None], 1, (len(y), 2))
    result = nearest_mean_study({"never": never}, X, y, ratios=["12:1", "6:1"], draws=2, metrics=names)
    assert result.mean_sides() == {"precision": ["–", "–"], "recall": ["nearest mean"] * 2}
    assert result.mean_places() == {"precision": [None, None], "recall": [1, 1]}
    assert result.one_sided() == ["recall"] and result.places_moved() == {"precision": None, "recall": 0}
    words = "At N:P = 12:1 by precision the difference is undefined (never: no predicted positives)"
    assert result.notes[0].startswith(words) and "nan" not in repr(result)


def test_a_difference_of_a_single_draw_has_no_interval(few_metrics):
    values = few_metrics.values.copy()
    values[1:, 0, 0, 0] = np.nan
    assert "in a single draw, so without an interval" in replace(few_metrics, values=values).notes[0]


def test_the_headline_names_only_ratios_at_which_a_difference_is_shown(few_metrics):
    both = with_values(few_metrics, accuracy=[(0.9, 0.8), (0.6, 0.7)])
    start = "By accuracy nearest mean is shown to be ahead of LogisticRegression at N:P = 1:1 and behind at N:P = 2:1; "
    assert replace(both, metrics={"accuracy": "accuracy"}).headline.startswith(start)
    behind = with_values(few_metrics, accuracy=[(0.7, 0.7), (0.6, 0.7)])
    start = "By accuracy nearest mean is shown to be behind LogisticRegression at N:P = 2:1; "
    assert replace(behind, metrics={"accuracy": "accuracy"}).headline.startswith(start)


def small(rows=40):
    X = np.random.default_rng(0).normal(size=(rows, 2))
    return X + np.arange(rows)[:, None] % 2, np.arange(rows) % 2


X, Y = small()
REFUSED = {
    "a ratio that cannot be drawn": (lambda: nearest_mean_study(LogisticRegression(), X, Y, ratios=["30:1"]), "At N:P = 30:1 the data's 20 positives and 20 negatives leave 0 of the positives to test on"),
    "too few positives": (lambda: nearest_mean_study(LogisticRegression(), X, np.arange(40) < 5), "give 24 positives or more"),
    "a ratio that is none": (lambda: nearest_mean_study(LogisticRegression(), X, Y, ratios=["3"]), "A ratio is N:P"),
    "a ratio of nothing": (lambda: nearest_mean_study(LogisticRegression(), X, Y, ratios=["0:1"]), "two numbers above 0"),
    "a ratio as text": (lambda: nearest_mean_study(LogisticRegression(), X, Y, ratios="3:1"), r"write \['3:1'\]"),
    "a ratio twice": (lambda: nearest_mean_study(LogisticRegression(), X, Y, ratios=["3:1", "3:1"]), "given twice"),
    "one class": (lambda: nearest_mean_study(LogisticRegression(), X, np.zeros(40)), "one class only"),
    "three classes": (lambda: nearest_mean_study(LogisticRegression(), X, np.arange(40) % 3), "y holds 3"),
    "classes without a positive one": (lambda: nearest_mean_study(LogisticRegression(), X, np.where(Y, "a", "b")), "pos_label="),
    "constant columns": (lambda: nearest_mean_study(LogisticRegression(), np.ones((40, 2)), Y), "Every feature holds one value only"),
    "missing values": (lambda: nearest_mean_study(LogisticRegression(), np.where(X > 2, np.nan, X), Y, ratios=["1:1"]), "could not be fitted on a draw"),
    "a class for a model": (lambda: nearest_mean_study(LogisticRegression, X, Y), "an estimator with fit"),
    "one draw": (lambda: nearest_mean_study(LogisticRegression(), X, Y, draws=1), "draws= is a whole number of 2"),
    "no metric": (lambda: nearest_mean_study(LogisticRegression(), X, Y, metrics=[]), "metrics= is empty"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_studied_is_refused_in_one_sentence(case):
    call, words = REFUSED[case]
    assert_refused(call, (ValueError, TypeError), words)


def test_a_mean_lead_that_is_rounding_alone_favours_neither(study):
    ratio, short = study.ratios[0], next(iter(study.metrics))
    values = study.values.copy()
    values[:, 0, 1, 0] = 0
    for gaps, side in (([0.1, 0.2, -0.3, 0], "neither"), ([0.1] * 4, study.models[0]), ([-0.1] * 4, study.models[1])):
        values[:, 0, 0, 0] = gaps
        found = replace(study, values=values.copy())
        assert found.mean_lead(ratio, short) != 0 and found.mean_sides()[short][0] == side
