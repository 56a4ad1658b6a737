"""Thresholds of labels: the best of all where that can be counted out, and their value on rows they were not chosen by."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import steelyard
from steelyard import Result, ThresholdClassifier, best_threshold
from steelyard.exceptions import InputError
from steelyard.tables import multilabel


def rows(n=400, seed=0):
    rng = np.random.default_rng(seed)
    true = (rng.random((n, 4)) < [0.4, 0.2, 0.1, 0.05]).astype(int)
    return true, 1 / (1 + np.exp(1.5 - rng.normal(size=true.shape) - 1.5 * true))


@pytest.mark.parametrize("metric", ["f1", "f_beta[beta=2]", "jaccard", "error_rate", "accuracy"])
@pytest.mark.parametrize("seed", range(4))
def test_thresholds_of_pooled_counts_are_the_best_of_all(metric, seed):
    true, scores = rows(14, seed)
    true, scores = true[:, :3], np.round(scores[:, :3], 1)
    spec = steelyard.get_metric(metric)
    best = best_threshold(true, scores, spec.name.replace("]", ", average=micro]") if "[" in metric else f"{metric}[average=micro]", draws=0)  # fmt: skip
    every = itertools.product([np.inf, *np.unique(scores)], repeat=3)
    values = [spec(true, (scores >= np.array(cut)).astype(int), average="micro", undefined=0) for cut in every]
    assert best.value == pytest.approx((max if spec.direction == "higher" else min)(values))
    assert spec(true, best.predict(scores), average="micro") == best.value


@pytest.mark.parametrize("average", ["macro", "weighted"])
def test_an_average_over_labels_is_best_where_each_label_is(average):
    true, scores = rows()
    best = best_threshold(true, scores, f"f1[average={average}]", draws=0)
    for place, one in enumerate(best):
        alone = best_threshold(true[:, place], scores[:, place], "f1", draws=0)
        assert (one.threshold, one.value) == (alone.threshold, pytest.approx(alone.value))
    assert best.value == steelyard.f1(true, best.predict(scores), average=average)
    assert best.thresholds == {one.label: one.threshold for one in best}
    assert best.half_value == steelyard.f1(true, (scores >= 0.5).astype(int), average=average)


def test_the_value_on_new_rows_is_of_thresholds_that_were_chosen_without_them():
    noise = np.random.default_rng(1).random((300, 4))
    true = (np.random.default_rng(2).random((300, 4)) < [0.3, 0.2, 0.05, 0.03]).astype(int)
    best = best_threshold(true, noise, "f1[average=macro]")
    low, high = best.out_of_sample_interval
    assert low <= best.out_of_sample <= high and best.optimism == best.value - best.out_of_sample > 0.01
    fresh = (np.random.default_rng(3).random((20_000, 4)) < [0.3, 0.2, 0.05, 0.03]).astype(int)
    there = steelyard.f1(
        fresh, best.predict(np.random.default_rng(4).random(fresh.shape)), average="macro", undefined=0
    )
    assert low <= there <= high < best.value + 0.05
    again = best_threshold(true, noise, "f1[average=macro]")
    assert again == best and best_threshold(true, noise, "f1[average=macro]", rng=5).out_of_sample != best.out_of_sample


def test_thresholds_of_labels_take_what_label_sets_take_and_are_saved():
    true, scores = rows(60)
    best = best_threshold(true, scores, "f1[average=micro]")
    table = multilabel(sparse.csr_array(true), y_score=scores)
    assert best_threshold(table, metric="f1[average=micro]") == best
    assert best_threshold(true, scores, "f_beta[average=micro, beta=1]").value == pytest.approx(best.value)
    assert Result.from_json(best.to_json()) == best and len(best.to_frame()) == 4
    assert "with a threshold for each of 4 labels; on new rows about" in repr(best)
    named = best_threshold(
        [["a"], ["b"], ["a", "b"], []] * 3, scores[:12, :2], "f1[average=macro]", labels=["a", "b"], draws=0
    )
    assert list(named.thresholds) == ["a", "b"]
    doubled = best_threshold(true, scores, "f1[average=macro]", sample_weight=np.full(60, 2.0), draws=0)
    assert doubled.thresholds == best_threshold(true, scores, "f1[average=macro]", draws=0).thresholds
    together = best_threshold(true, scores, "f1[average=micro]", cluster=np.arange(60) // 3)
    assert together.thresholds == best.thresholds and together.out_of_sample is not None
    nobody = true.copy()
    nobody[:, 3] = 0
    assert best_threshold(nobody, scores, "f1[average=micro]", draws=0).thresholds[3] == np.inf


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"metric": "f1"}, r"f1\[average=macro\]"), ({"metric": "f1[average=samples]"}, "average over labels"),
        ({"metric": "roc_auc"}, "not of predicted labels"), ({"where": "recall >= 0.5"}, "where= is of one column"),
        ({"metric": ["f1", "mcc"]}, "by one metric"), ({"cost": {"cost_fn": 2}}, "cost= is of one column"),
        ({"metric": "f1[average=macro]", "cluster": np.zeros(30)}, "1 rows or clusters"),
    ],
)  # fmt: skip
def test_what_is_not_of_labels_is_refused(options, words):
    true, scores = rows(30)
    with pytest.raises(InputError, match=words):
        best_threshold(true, scores, **options)
    with pytest.raises(InputError, match="no scores"):
        best_threshold(multilabel(true, true), metric="f1[average=macro]")


def test_the_columns_of_a_frame_get_the_thresholds_of_arrays():
    rng = np.random.default_rng(1)
    true = (rng.random((120, 3)) < 0.4).astype(int)
    scores = np.clip(0.3 * true + 0.7 * rng.random((120, 3)), 0, 1)
    frame = pd.DataFrame(true, columns=["y_a", "y_b", "y_c"]).assign(site=np.arange(120) // 3)
    frame[["s_a", "s_b", "s_c"]] = scores
    named = best_threshold(frame, true="y_*", score="s_*", metric="f1[average=macro]", cluster="site")
    alone = best_threshold(true, scores, "f1[average=macro]", labels=["a", "b", "c"], cluster=frame["site"])
    assert named.thresholds == alone.thresholds
    assert named.out_of_sample_interval == alone.out_of_sample_interval


def test_a_threshold_classifier_of_each_label_is_that_of_its_own_column():
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier

    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2))
    Y = (rng.random((150, 2)) < 0.3 * (1 + (X > 0))).astype(int)
    model = ThresholdClassifier(LogisticRegression(), metric="f1")
    with pytest.raises(InputError, match="OneVsRestClassifier"):
        model.fit(X, Y)
    every = OneVsRestClassifier(model).fit(X, Y)
    assert every.estimators_[1].threshold_ == model.fit(X, Y[:, 1]).threshold_
