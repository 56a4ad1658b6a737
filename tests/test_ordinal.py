"""Metrics of classes in order: values, intervals, who gives the order, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from checks import assert_refused
from command_line import run_command

import steelyard
from steelyard import compare, evaluate, interval

GRADES = ("low", "mid", "high")


def grades(n=300, seed=0, k=5):
    """Whole labels and predictions a step beside them, and probabilities around."""
    rng = np.random.default_rng(seed)
    y = np.r_[np.arange(k), rng.choice(k, n - k, p=np.arange(k, 0, -1) / np.arange(k + 1).sum())]
    predicted = np.clip(y + rng.integers(-1, 2, n), 0, k - 1)
    odds = np.exp(-np.abs(np.arange(k) - predicted[:, None]) + rng.normal(size=(n, k)) / 2)
    return y, predicted, odds / odds.sum(1, keepdims=True)


@pytest.mark.parametrize("seed", range(30))
def test_weighted_kappa_equals_scikit_learns(seed):
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(seed)
    y, predicted = rng.integers(0, 5, (2, 60))
    weight = rng.uniform(0, 3, 60) if seed % 2 else None
    labels = list(range(6)) if seed % 3 else None  # one class is absent
    for weights in ("linear", "quadratic"):
        options = {"labels": labels, "sample_weight": weight}
        expected = metrics.cohen_kappa_score(y, predicted, weights=weights, **options)
        assert steelyard.kappa(y, predicted, weights=weights, **options) == pytest.approx(expected, rel=1e-9)


def test_class_errors_are_distances_in_the_labels_order():
    y, predicted, _ = grades()
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y))
    apart = np.abs(y - predicted)
    assert steelyard.mean_absolute_class_error(y, predicted, sample_weight=weight) == pytest.approx(
        np.average(apart, weights=weight)
    )
    by_class = [np.average(apart[y == c], weights=weight[y == c]) for c in range(5)]
    assert steelyard.macro_mean_absolute_class_error(y, predicted, sample_weight=weight) == pytest.approx(
        np.mean(by_class)
    )
    names = np.array(["e", "d", "c", "b", "a"])
    assert steelyard.mean_absolute_class_error(names[y], names[predicted], labels=names) == pytest.approx(apart.mean())


def test_macro_error_equals_imbalanced_learns():
    theirs = pytest.importorskip("imblearn.metrics").macro_averaged_mean_absolute_error
    y, predicted, _ = grades()
    assert steelyard.get_metric("macro_averaged_mean_absolute_error")(y, predicted) == pytest.approx(
        theirs(y, predicted)
    )


def test_the_ranked_probability_score_is_of_cumulated_probabilities():
    y, _, P = grades()
    expected = [sum((P[i, : j + 1].sum() - (y[i] <= j)) ** 2 for j in range(4)) / 4 for i in range(len(y))]
    assert steelyard.ranked_probability_score(y, P) == pytest.approx(np.mean(expected))
    two = (y > 2).astype(int)
    p = P[:, 3:].sum(1)
    assert steelyard.ranked_probability_score(two, p) == pytest.approx(steelyard.brier(two, p))


@pytest.mark.parametrize("seed", range(10))
def test_a_forecast_that_is_nearer_has_a_lower_ranked_probability_score(seed):
    rng = np.random.default_rng(seed)
    sure = np.eye(5)
    near, far = (steelyard.ranked_probability_score([0, 4], sure[[i, 4]], labels=range(5)) for i in (1, 3))
    assert near < far
    y, P = rng.integers(0, 5, 50), rng.dirichlet(np.ones(5), 50)
    assert 0 <= steelyard.ranked_probability_score(y, P, labels=range(5)) <= 1


def test_intervals_hold_the_values_and_baselines_are_those_of_no_skill():
    y, predicted, P = grades()
    names = ["kappa[weights=quadratic]", "mean_absolute_class_error", "macro_mean_absolute_class_error"]
    rows = [*evaluate(y, predicted, metrics=names), *evaluate(y, y_score=P, metrics=["rps"])]
    for row in rows:
        assert row.low < row.value < row.high and row.chance == row.chance
        assert (row.value - row.chance) * row.spec.sign > 0
    shares = np.bincount(y) / len(y)
    assert rows[-1].chance == pytest.approx(steelyard.ranked_probability_score(y, np.tile(shares, (len(y), 1))))
    stated = evaluate(y, predicted, metrics=names).assumed
    assert any("0, 1, 2, 3, 4, their own order; labels= gives another" in sentence for sentence in stated)


def test_an_ordered_categorical_states_the_order_and_nothing_else_does():
    y, predicted, P = grades(k=3)
    names = np.array(GRADES)
    text, said = (pd.Categorical(names[codes], GRADES, ordered=True) for codes in (y, predicted))
    data = pd.DataFrame({"y": text, "said": said, **{f"p_{name}": P[:, i] for i, name in enumerate(GRADES)}})
    for found in (
        evaluate(text, said),
        evaluate(data, true="y", pred="said"),
        evaluate(data, true="y", pred="said", score="p_*"),
    ):
        assert found.confusion.labels == GRADES
        assert found["mean_absolute_class_error"].value == pytest.approx(np.abs(y - predicted).mean())
        assert found["kappa[weights=quadratic]"].value == pytest.approx(
            steelyard.kappa(y, predicted, weights="quadratic")
        )
        assert any("as the ordered categorical states" in sentence for sentence in found.assumed)
    assert found["ranked_probability_score"].value == pytest.approx(steelyard.ranked_probability_score(y, P))
    for plain in (evaluate(names[y], names[predicted]), evaluate(y, predicted), evaluate(y > 1, predicted > 1)):
        assert "mean_absolute_class_error" not in plain


def test_columns_without_names_are_those_of_scikit_learns_classes_and_it_says_so():
    y, _, P = grades(k=3)
    text = pd.Categorical(np.array(GRADES)[y], GRADES, ordered=True)
    in_sorted_order = P[:, [GRADES.index(name) for name in sorted(GRADES)]]
    found = evaluate(text, y_score=in_sorted_order)
    assert found["ranked_probability_score"].value == pytest.approx(steelyard.ranked_probability_score(y, P))
    assert any("scikit-learn's classes_, 'high', 'low', 'mid'" in sentence for sentence in found.assumed)


def test_one_class_against_the_rest_has_no_order():
    y, predicted, P = grades()
    for metric, other in (("mean_absolute_class_error", predicted), ("ranked_probability_score", P)):
        for average in ("macro", "weighted", "micro", None):
            assert_refused(
                lambda metric=metric, other=other, average=average: steelyard.get_metric(metric)(
                    y, other, average=average
                ),
                ValueError,
                "leave average= out",
            )


def test_the_interval_of_the_ranked_probability_score_counts_clusters():
    y, _, P = grades()
    alone = interval("rps", y, y_score=P)
    doubled = interval("rps", np.tile(y, 2), y_score=np.tile(P, (2, 1)), cluster=np.tile(np.arange(len(y)), 2))
    assert doubled.high - doubled.low == pytest.approx(alone.high - alone.low, rel=0.03)


def test_classes_in_order_are_a_question_of_recommend():
    read = [advice.metric for advice in steelyard.recommend(ordered=True).read]
    assert read[:2] == ["kappa[weights=quadratic]", "macro_mean_absolute_class_error"] and "ac_score" in read
    read = [advice.metric for advice in steelyard.recommend(ordered=True, stable_prevalence=True).read]
    assert read[1] == "mean_absolute_class_error"
    read = [advice.metric for advice in steelyard.recommend(ordered=True, use="probabilities").read]
    assert "ranked_probability_score" in read
    assert "kappa[weights=quadratic]" not in [advice.metric for advice in steelyard.recommend().read]


@pytest.fixture(scope="module")
def severities():
    y, predicted, _ = grades(k=4)
    names = np.array(["mild", "moderate", "severe", "fatal"])
    other = np.clip(y + np.random.default_rng(5).integers(0, 2, len(y)), 0, 3)
    columns = {"y": y, "a": predicted, "b": other}
    return pd.DataFrame({use: pd.Categorical(names[codes], names, ordered=True) for use, codes in columns.items()})


@pytest.mark.parametrize("weighted", [False, True])
def test_models_are_compared_in_the_order_that_is_stated(severities, weighted):
    weight = np.random.default_rng(0).uniform(0.5, 2, len(severities)) if weighted else None
    asked, frame = {"metrics": ["kappa[weights=quadratic]"]}, severities.assign(w=weight)
    by_arrays = compare(frame["y"], {"a": frame["a"], "b": frame["b"]}, sample_weight=weight, draws=200, **asked)
    by_frame = compare(frame, true="y", pred=["a", "b"], weight="w" if weighted else None, draws=200, **asked)
    options = {"weights": "quadratic", "labels": list(frame["y"].cat.categories), "sample_weight": weight}
    for found in (by_arrays, by_frame):
        for name in ("a", "b"):
            value = steelyard.kappa(frame["y"].astype(str), frame[name].astype(str), **options)
            assert getattr(found.rows[0], f"value_{name}") == pytest.approx(value, rel=1e-9)
        assert "'mild', 'moderate', 'severe', 'fatal', as the ordered categorical states" in " ".join(found.assumed)
    plain = compare(frame["y"].astype(str), {"a": frame["a"].astype(str), "b": frame["b"].astype(str)}, **asked)
    assert "their own order; labels= gives another" in " ".join(plain.assumed)
    assert steelyard.tables.paired(frame["y"], frame["a"], frame["b"]).labels == ("mild", "moderate", "severe", "fatal")


def test_the_shell_compares_in_the_order_that_labels_declare(severities, tmp_path):
    severities.to_csv(tmp_path / "rows.csv", index=False)
    words = ["compare", str(tmp_path / "rows.csv"), "--true", "y", "--pred", "a", "--pred", "b"]
    words += ["--metrics", "kappa[weights=quadratic]", "--labels", "mild,moderate,severe,fatal", "--format", "csv"]
    result = run_command(*words)
    value = evaluate(severities["y"], severities["a"])["kappa[weights=quadratic]"].value
    assert result.exit_code == 0 and f"{value:.9f}"[:9] in result.output and "as --labels has them" in result.output


def test_an_enum_of_polars_states_the_order_of_the_classes():
    import polars as pl

    rng = np.random.default_rng(0)
    levels, y = ["low", "mid", "high"], rng.integers(0, 3, 90)
    other = np.where(rng.random(90) < 0.7, y, rng.integers(0, 3, 90))
    frame = pl.DataFrame({"y": [levels[i] for i in y], "p": [levels[i] for i in other]}, schema=dict.fromkeys("yp", pl.Enum(levels)))  # fmt: skip
    declared = steelyard.evaluate(frame["y"].to_list(), frame["p"].to_list(), labels=levels)
    for report in (steelyard.evaluate(frame, true="y", pred="p"), steelyard.evaluate(frame["y"], frame["p"])):
        assert report.confusion.labels == ("low", "mid", "high")
        assert (report.confusion.matrix == declared.confusion.matrix).all()
        assert "as the ordered categorical states" in " ".join(report.assumed)
