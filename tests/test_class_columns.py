"""Columns of scores for each class: skills and pooled areas, frames and patterns, groups, absent classes."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from checks import assert_refused

import steelyard
from steelyard import evaluate, interval

NAMES = ("ham", "spam", "virus")


def frame(n=240, seed=0, names=NAMES):
    """A frame of the truth, a column of probabilities for each class of two models, weights, groups and clusters."""
    rng = np.random.default_rng(seed)
    k = len(names)
    codes = np.r_[np.arange(k), rng.choice(k, n - k, p=np.arange(k, 0, -1) / np.arange(k + 1).sum())]
    data = {"y": np.array(names)[codes]}
    for model, skill in (("p", 1.0), ("q", 1.5)):
        logits = rng.normal(size=(n, k))
        logits[np.arange(n), codes] += skill
        odds = np.exp(logits)
        data |= {f"{model}_{name}": odds[:, i] / odds.sum(1) for i, name in enumerate(names)}
    beside = {"w": rng.uniform(0.5, 2, n), "site": rng.choice(["n", "s"], n), "patient": rng.integers(0, n // 4, n)}
    return pd.DataFrame(data | beside)


def same(a, b):
    return [row.row() for row in a] == [row.row() for row in b]


# ---------------------------------------------------------------- values


@pytest.mark.parametrize("seed", range(40))
def test_skills_and_pooled_areas_equal_scikit_learns(seed):
    metrics = pytest.importorskip("sklearn.metrics")
    binarize = pytest.importorskip("sklearn.preprocessing").label_binarize
    rng = np.random.default_rng(seed)
    k = int(rng.integers(3, 7))
    y = np.r_[np.arange(k), rng.integers(0, k, 50)]
    P = rng.dirichlet(np.ones(k), len(y)).round(1 + seed % 2) + 1e-2  # ties
    P /= P.sum(1, keepdims=True)
    weight = rng.uniform(0.1, 3, len(y)) if seed % 3 else None
    options = {"sample_weight": weight}
    pairs = [
        (steelyard.d2_log_loss(y, P, **options), metrics.d2_log_loss_score(y, P, **options)),
        (
            steelyard.roc_auc(y, P, average="micro", **options),
            metrics.roc_auc_score(y, P, average="micro", multi_class="ovr", **options),
        ),
        (
            steelyard.average_precision(y, P, average="micro", **options),
            metrics.average_precision_score(binarize(y, classes=range(k)), P, average="micro", **options),
        ),
    ]
    if hasattr(metrics, "d2_brier_score"):
        pairs.append((steelyard.brier_skill_score(y, P, **options), metrics.d2_brier_score(y, P, **options)))
    for ours, theirs in pairs:
        assert ours == pytest.approx(theirs, rel=1e-9)


def test_class_shares_as_probabilities_have_no_skill():
    y = frame().y
    shares = np.tile(y.value_counts(normalize=True).sort_index().to_numpy(), (len(y), 1))
    assert steelyard.d2_log_loss(y, shares) == pytest.approx(0, abs=1e-12)
    assert steelyard.brier_skill_score(y, shares) == pytest.approx(0, abs=1e-12)
    assert steelyard.chance("d2_log_loss", y, y_score=shares).same_margins == pytest.approx(0, abs=1e-12)


def test_a_skill_of_rows_of_one_class_is_undefined_and_says_why():
    P = np.full((4, 3), 1 / 3)
    table = steelyard.d2_log_loss.why(np.array(["a"] * 4), P, labels=["a", "b", "c"])
    assert table == "all rows are of one class"


@pytest.mark.parametrize("name", ["d2_log_loss", "brier_skill_score", "roc_auc[average=micro]"])
def test_a_row_of_frequency_three_is_three_rows(name):
    data = frame(90)
    P = data.filter(like="p_").to_numpy()
    times = np.where(np.arange(90) % 2, 3, 1)
    once = interval(name, data.y, P, frequency=times)
    often = interval(name, np.repeat(data.y, times), np.repeat(P, times, axis=0))
    assert (once.value, once.low, once.high) == pytest.approx((often.value, often.low, often.high), rel=1e-9)


def test_pooled_columns_of_a_row_move_together():
    data = frame(200)
    P = data.filter(like="p_").to_numpy()
    found = interval("roc_auc[average=micro]", data.y, P)
    rng, values = np.random.default_rng(1), []
    for _ in range(200):
        at = rng.integers(0, 200, 200)
        values.append(steelyard.roc_auc(data.y.to_numpy()[at], P[at], average="micro"))
    assert found.high - found.low == pytest.approx(2 * 1.96 * np.std(values), rel=0.2)


# ---------------------------------------------------------------- frames


def test_a_frame_names_the_columns_of_all_classes_by_a_pattern_or_a_list():
    data = frame()
    columns = [f"p_{name}" for name in reversed(NAMES)]  # matched by name, whatever their order
    asked = {"metrics": ["log_loss", "roc_auc[average=macro]", "accuracy"]}
    expected = evaluate(data.y, y_score=data[columns], sample_weight=data.w, **asked)
    for given in (data, pl.from_pandas(data)):
        for score in ("p_*", columns):
            found = evaluate(given, true="y", score=score, weight="w", **asked)
            assert same(found, expected)
            assert found.columns["score"] == (score if isinstance(score, str) else tuple(score))


def test_a_frame_of_columns_has_clusters_and_groups():
    data = frame()
    found = evaluate(data, true="y", score="p_*", by="site", cluster="patient", metrics=["log_loss"])
    expected = evaluate(
        data.y, y_score=data.filter(like="p_"), by=data.site, cluster=data.patient, metrics=["log_loss"]
    )
    assert same(found, expected)
    assert any("clustered by patient" in sentence for sentence in found.assumed)
    for group in found.groups:
        rows = data[data.site == group.key[0]]
        alone = interval("log_loss", rows.y, rows.filter(like="p_"), cluster=rows.patient, labels=NAMES)
        assert (group["log_loss"].value, group["log_loss"].high) == pytest.approx((alone.value, alone.high))


def test_groups_show_the_areas_of_all_classes():
    data = frame()
    found = evaluate(data, true="y", score="p_*", by="site")
    assert {"roc_auc[average=macro]", "average_precision[average=macro]"} <= {
        row.name for row in found.groups[0].metrics
    }
    lone = evaluate(data, true="y", score="p_*", by="site", cluster="site")
    assert math.isnan(lone.groups[0]["roc_auc[average=macro]"].low)


def test_columns_without_a_class_are_refused_and_a_class_without_rows_is_declared():
    data = frame()
    present = data[data.y != "virus"]
    for score in ("p_*", [f"p_{name}" for name in NAMES]):
        assert_refused(
            lambda score=score: evaluate(present, true="y", score=score), ValueError, "declared with labels="
        )
        found = evaluate(present, true="y", score=score, labels=NAMES)
        assert found["log_loss"].value == pytest.approx(
            steelyard.log_loss(present.y, present.filter(like="p_"), labels=NAMES)
        )
        assert "virus" in found["roc_auc[average=macro]"].undefined
    assert_refused(lambda: evaluate(data, true="y", score=["p_ham"]), ValueError, "two or more")
    assert_refused(lambda: evaluate(data, true="y", score="z_*"), ValueError, "0 columns are named like")


def test_what_is_saved_of_columns_is_read_back_as_it_was():
    data = frame()
    found = evaluate(data, true="y", score="p_*", by="site")
    read = steelyard.Evaluation.from_json(found.to_json())
    assert read == found and same(read, found)
    assert all("ROC AUC of pairs of classes, macro" in each.to_html() for each in (read, found))


def test_a_metric_of_columns_with_another_range_of_many_classes_may_be_named():
    data = frame()
    assert evaluate(data, true="y", score="p_*", metrics=["brier"])["brier"].value > 0
