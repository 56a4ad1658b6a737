"""cross_evaluate: splits that keep rows apart, resampling of the training part alone, equal numbers with scikit-learn."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from checks import assert_refused, close
from imblearn.over_sampling import SMOTE, RandomOverSampler
from imblearn.pipeline import make_pipeline as make_sampling_pipeline
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris, make_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import BaggingClassifier, GradientBoostingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    cross_val_predict,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from steelyard import (
    Confusion,
    Counts,
    Evaluation,
    Folds,
    HoldOut,
    best_threshold,
    confusion,
    cross_evaluate,
    evaluate,
    list_metrics,
    scorer,
    slices,
)
from steelyard.exceptions import needs_sklearn
from steelyard.results import CrossEvaluation
from steelyard.studies import corrected_t_test

X, Y = make_classification(400, weights=[0.85], flip_y=0.1, random_state=0)
LOGISTIC = LogisticRegression()
CV = StratifiedKFold(4)


def splits(split, y, groups=None):
    """The parts of the rows that runs train and test on."""
    X = np.zeros((len(y), 1))
    found = cross_evaluate(DummyClassifier(), X, y, split=split, groups=groups, metrics=["accuracy"], rng=0)
    return [run.part for run in found.runs]


# ---------------------------------------------------------------- splits


@pytest.mark.parametrize("k", range(2, 10))
@pytest.mark.parametrize("stratified", [True, False])
def test_a_hold_out_trains_on_k_times_the_rows_it_tests(k, stratified):
    n = 40 * (k + 1)
    (part,) = splits(HoldOut(k, stratified=stratified), np.arange(n) % 5 == 0)
    assert len(part.train) == k * len(part.test)
    assert sorted([*part.train, *part.test]) == list(range(n))


@pytest.mark.parametrize("stratified", [True, False])
def test_kalitas_example_of_24_rows(stratified):
    found = splits(HoldOut(2, repeats=10, stratified=stratified), [0] * 18 + [1] * 6)
    assert [(len(part.train), len(part.test)) for part in found] == [(16, 8)] * 10
    assert len({tuple(part.test) for part in found}) == 10
    if stratified:
        assert all((part.test >= 18).sum() == 2 for part in found)


def test_a_stratified_hold_out_keeps_a_row_of_each_class_on_both_sides():
    (part,) = splits(HoldOut(9), [0] * 96 + [1] * 2 + [2] * 2)
    y = np.array([0] * 96 + [1] * 2 + [2] * 2)
    assert len(part.test) == 10 and set(y[part.test]) == set(y[part.train]) == {0, 1, 2}


@pytest.mark.parametrize(("k", "repeats"), [(2, 1), (5, 1), (5, 10), (7, 3)])
def test_folds_test_every_row_once_a_repeat_with_the_shares_of_the_classes(k, repeats):
    y = np.repeat([0, 1, 2], [83, 31, 11])
    found = splits(Folds(k, repeats=repeats), y)
    assert [(p.repeat, p.fold) for p in found] == [(r, f) for r in range(1, repeats + 1) for f in range(1, k + 1)]
    for repeat in range(repeats):
        tests = [part.test for part in found[k * repeat : k * (repeat + 1)]]
        assert sorted(np.concatenate(tests)) == list(range(len(y)))
        assert np.ptp([len(test) for test in tests]) <= 1
        assert (np.ptp([np.bincount(y[test], minlength=3) for test in tests], axis=0) <= 1).all()


def test_one_group_is_left_out_at_a_time():
    groups = np.repeat(["a", "b", "c"], [100, 100, 200])
    ours = cross_evaluate(LOGISTIC, X, Y, split="groups", groups=groups)
    theirs = cross_evaluate(LOGISTIC, X, Y, split=LeaveOneGroupOut(), groups=groups)
    assert [len(run.part.test) for run in ours.runs] == [100, 100, 200]
    assert np.array_equal(ours.values("f1"), theirs.values("f1"))


@pytest.mark.parametrize(
    "split", [CV, KFold(3), RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=1), list(CV.split(X, Y))]
)
def test_any_splitter_of_scikit_learn_will_do(split):
    expected = list(split.split(X, Y)) if hasattr(split, "split") else split
    found = cross_evaluate(GaussianNB(), X, Y, split=split, metrics=["f1"])
    assert len(found.runs) == len(expected)
    for run, (train, test) in zip(found.runs, expected, strict=True):
        assert np.array_equal(run.part.train, train) and np.array_equal(run.part.test, test)


# ---------------------------------------------------------------- the same numbers as scikit-learn


@pytest.mark.parametrize(
    "model", [LOGISTIC, GaussianNB(), LinearSVC(random_state=0), DecisionTreeClassifier(random_state=0)]
)
def test_the_values_of_the_runs_are_those_of_cross_validate(model):
    names = {"accuracy": "accuracy", "f1": "f1", "mcc": "matthews_corrcoef", "balanced_accuracy": "balanced_accuracy",
             "roc_auc": "roc_auc", "average_precision": "average_precision", "f1[average=macro]": "f1_macro",
             "precision[average=weighted]": "precision_weighted"}  # fmt: skip
    ours = cross_evaluate(model, X, Y, split=CV)
    theirs = cross_validate(model, X, Y, cv=CV, scoring=list(names.values()))
    for name, theirs_name in names.items():
        assert np.allclose(ours.values(name), theirs[f"test_{theirs_name}"], rtol=1e-12), name


def test_the_merged_table_is_that_of_cross_val_predict():
    ours = cross_evaluate(LOGISTIC, X, Y, split=CV)
    assert ours.pooled == confusion(Y, cross_val_predict(LOGISTIC, X, Y, cv=CV)).with_positive(1)
    scores = cross_val_predict(LOGISTIC, X, Y, cv=CV, method="predict_proba")[:, 1]
    report = evaluate(Y, cross_val_predict(LOGISTIC, X, Y, cv=CV), y_score=scores)
    assert [row.row() for row in ours.evaluation.metrics] == [row.row() for row in report.metrics]
    assert ours.evaluation.verdict == report.verdict and "rows trained on" in ours.evaluation.assumed[-1]
    assert ours.best_threshold("f1", draws=0) == best_threshold(Y, scores, "f1", draws=0)


def test_every_metric_of_a_run_is_that_of_its_table():
    found = cross_evaluate(LOGISTIC, X, Y, split=3)
    names = {row.name for row in found.summary}
    # 100 rows are asked of precision_at_k, and a fold has them.
    of_two = [m for m in list_metrics() if m.least_classes == 2 and not m.is_of_label_sets and m.family != "ordinal"]
    assert names == {m.name for m in of_two} | {
        f"{n}[average={a}]" for n in ("precision", "recall", "f1") for a in ("macro", "weighted")
    }
    for metric in of_two:
        for run, value in zip(found.runs, found.values(metric.name), strict=True):
            table = run.confusion if metric.scores is None else run.scores
            assert value == pytest.approx(metric(table), rel=1e-12, nan_ok=True), metric.name


def test_the_merged_scores_are_the_sum_of_the_tables():
    found = cross_evaluate(LOGISTIC, X, Y, split=3)
    assert found.scores == sum(run.scores for run in found.runs)


def test_scorers_see_what_the_runs_see():
    theirs = cross_validate(LOGISTIC, X, Y, cv=CV, scoring=scorer("ac_score"))["test_score"]
    assert np.array_equal(cross_evaluate(LOGISTIC, X, Y, split=CV).values("ac_score"), theirs)


# ---------------------------------------------------------------- over the runs


def test_mean_best_spread_and_interval_are_those_of_the_values():
    found = cross_evaluate(LOGISTIC, X, Y, split=Folds(5, repeats=3))
    row, values = found.models["LogisticRegression"].summarised("ac_score"), found.values("ac_score")
    assert close(row.mean, values.mean()) and close(row.sd, values.std(ddof=1))
    assert row.best == values.max() and row.worst == values.min() and len(values) == 15
    expected = corrected_t_test(values, n_train=320, n_test=80, worth=5)  # three times the same rows are no more rows
    assert close(row.low, expected.low) and close(row.high, expected.high)
    error = math.sqrt((1 / 5 + 1 / 4) * values.var(ddof=1))
    assert close(row.high - row.mean, error * stats.t.ppf(0.975, 14))
    lower = found.models["LogisticRegression"].summarised("expected_cost")
    assert lower.best == found.values("expected_cost").min()


def test_intervals_stay_in_the_range_of_the_metric():
    easy = make_classification(60, class_sep=3, random_state=0)
    for row in cross_evaluate(LOGISTIC, *easy, split=3).summary:
        low, high = {m.name: m.range for m in list_metrics()}[row.name.split("[")[0]]
        assert math.isnan(row.low) or low <= row.low <= row.mean <= row.high <= high, row.name


def test_a_row_tested_ten_times_makes_no_interval_narrower():
    once = cross_evaluate(LOGISTIC, X, Y, split=Folds(5))
    often = cross_evaluate(LOGISTIC, X, Y, split=Folds(5, repeats=10))
    assert often.pooled.rows.sum() == 10 * len(Y) and often.evaluation.confusion.weights.sum() == pytest.approx(len(Y))
    for name in ("recall", "ac_score", "f1", "roc_auc", "average_precision"):
        one, many = once.evaluation[name], often.evaluation[name]
        assert (many.high - many.low) == pytest.approx(one.high - one.low, rel=0.2), name
    assert often.evaluation["recall"].value == pytest.approx(often["LogisticRegression"].summarised("recall").pooled)
    assert often.evaluation.rows == pytest.approx(len(Y), abs=4)
    assert [s.code for s in often.evaluation.verdict[:2]] == [s.code for s in once.evaluation.verdict[:2]]


def test_a_repeated_cut_is_looked_for_on_each_rows_first_scores():
    often = cross_evaluate(LOGISTIC, X, Y, split=Folds(5, repeats=4))
    assert often.best_threshold("f1", draws=0).counts.total == len(Y)


def test_kalitas_values_for_each_class_and_both_averages():
    data, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    keep = np.r_[0:50, 50:80, 100:110]
    found = cross_evaluate(GaussianNB(), data[keep], names[keep], split=Folds(5, repeats=2))
    rows = found.per_class
    assert [row.label for row in rows] == ["setosa", "versicolor", "virginica", "macro", "class shares"]
    each = np.array([[r.precision.mean, r.recall.mean, r.f1.mean] for r in rows[:3]])
    assert each.shape == (3, 3)  # 3c values
    for average, row in (("macro", rows[3]), ("weighted", rows[4])):
        for name in ("precision", "recall", "f1"):
            assert getattr(row, name).mean == pytest.approx(np.nanmean(found.values(f"{name}[average={average}]")))
    assert rows[4].recall.mean == pytest.approx(found.values("accuracy").mean())  # Kalita's identity


def test_two_classes_have_values_for_the_negative_one_too():
    rows = cross_evaluate(LOGISTIC, X, Y).per_class
    assert [(row.label, row.rows) for row in rows[:2]] == [(0, int((Y == 0).sum())), (1, int(Y.sum()))]


def test_models_are_ranked_by_average_precision_or_any_other_metric():
    found = cross_evaluate(
        {"tree": DecisionTreeClassifier(max_depth=2), "never": DummyClassifier(), "nb": GaussianNB()}, X, Y
    )
    assert isinstance(found, CrossEvaluation) and list(found.models) == ["tree", "never", "nb"]
    for name, rows in {
        "average_precision": found.ranking(),
        "f1[average=macro]": found.ranking("f1[average=macro]"),
    }.items():
        assert [row.name for row in rows] == [name] * 3 and rows[-1].model == "never"
        means = [row.mean for row in rows]
        assert means == sorted(means, reverse=True)
    costs = [row.mean for row in found.ranking("expected_cost")]
    assert costs == sorted(costs)
    assert_refused(lambda: found.ranking("prevalence"), ValueError, "No value of prevalence")


def test_models_are_compared_on_the_same_splits_and_rows():
    found = cross_evaluate(
        [GaussianNB(), DummyClassifier(), GaussianNB(var_smoothing=0.1)], X, Y, split=Folds(5, repeats=2)
    )
    assert list(found.models) == ["GaussianNB", "DummyClassifier", "GaussianNB 2"]
    for a, b in zip(found["GaussianNB"].runs, found["DummyClassifier"].runs, strict=True):
        assert np.array_equal(a.part.test, b.part.test)
    (row, *_) = found.differences("ac_score")
    expected = corrected_t_test(
        found["GaussianNB"].values("ac_score") - found["DummyClassifier"].values("ac_score"), n_train=320, n_test=80
    )
    assert (row.difference, row.low, row.p_value, row.runs) == (expected.difference, expected.low, expected.p_value, 10)
    assert row.p_holm >= row.p_value
    assert found.compare(metrics=["ac_score"]).n == len(Y)


def test_the_result_prints_its_runs_and_models():
    assert "5 runs of GaussianNB on 400 rows, 320 trained on and 80 tested" in repr(cross_evaluate(GaussianNB(), X, Y))
    assert "mean ac_score" in repr(cross_evaluate([GaussianNB(), DummyClassifier()], X, Y))


def test_it_holds_an_evaluation_for_everything_else():
    found = cross_evaluate(LOGISTIC, X, Y)
    assert isinstance(found.evaluation, Evaluation) and found.evaluation.verdict
    assert json.loads(found.evaluation.to_json())["rows"] == len(Y)
    assert found.evaluation.roc_curve().fpr[-1] == 1


def test_all_of_it_is_strict_json(monkeypatch):
    monkeypatch.setattr("steelyard.protocol.runs._SHORT", 60.0)  # as every timing is on an idle machine
    found = cross_evaluate({"nb": GaussianNB(), "tree": DecisionTreeClassifier(max_depth=1)}, X, Y, resources=True)
    told = json.loads(found.to_json(), parse_constant=lambda word: pytest.fail(word))
    assert [model["name"] for model in told["models"]] == ["nb", "tree"]
    first = told["models"][0]
    assert {row["name"] for row in first["summary"]} >= {"ac_score", "roc_auc", "f1[average=macro]"}
    assert len(first["runs"]) == 5 and first["evaluation"]["schema"] == 2 and first["cost"][0]["noise"] > 0


@pytest.mark.parametrize("split", [Folds(3), Folds(3, repeats=3), HoldOut(2, repeats=4)])
def test_many_classes_have_an_evaluation_as_well(split):
    data, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"], dtype=object)[y]
    found = cross_evaluate(GaussianNB(), data, names, split=split)
    assert found.evaluation.labels == ("setosa", "versicolor", "virginica")
    assert found.evaluation["accuracy"].value > 0.9 and found.scores is None
    assert_refused(lambda: found.best_threshold(), ValueError, "name it with pos_label=")
    assert_refused(lambda: found.values("roc_auc"), ValueError, "needs a positive class")


@pytest.mark.parametrize("model", [LOGISTIC, GaussianNB(), DecisionTreeClassifier(max_depth=2, random_state=0)])
def test_the_areas_of_many_classes_are_averaged_as_scikit_learns(model):
    data, y = make_classification(300, n_classes=3, n_informative=5, weights=[0.7, 0.2], random_state=0)
    names = np.array(["a", "b", "c"])[y]
    found = cross_evaluate(model, data, names, split=CV)
    assert {"roc_auc[average=macro]", "average_precision[average=macro]"} <= {row.name for row in found.summary}
    theirs = cross_validate(model, data, names, cv=CV, scoring=["roc_auc_ovr", "roc_auc_ovo", "roc_auc_ovr_weighted"])
    assert np.allclose(found.values("roc_auc[average=macro]"), theirs["test_roc_auc_ovr"], rtol=1e-12)
    assert np.allclose(found.values("roc_auc[average=weighted]"), theirs["test_roc_auc_ovr_weighted"], rtol=1e-12)
    assert np.allclose(found.values("roc_auc[multi_class=ovo, average=macro]"), theirs["test_roc_auc_ovo"], rtol=1e-12)
    named = cross_evaluate(model, data, names, split=CV, pos_label="a")
    assert_refused(lambda: named.values("roc_auc[average=macro]"), ValueError, "or ask for roc_auc")


def test_a_model_without_scores_says_so_and_stops_nobody_else():
    class Mute(GaussianNB):
        predict_proba = property()

    found = cross_evaluate({"mute": Mute(), "nb": GaussianNB()}, X, Y, metrics=["roc_auc", "ac_score"])
    rows = {(row.model, row.name): row for row in found.summary}
    assert math.isnan(rows["mute", "roc_auc"].mean) and "needs scores" in rows["mute", "roc_auc"].why
    assert rows["nb", "roc_auc"].mean > 0.5 and rows["mute", "ac_score"].mean == rows["nb", "ac_score"].mean
    assert "roc_auc" not in found["mute"].evaluation and "ac_score" in found["mute"].evaluation


# ---------------------------------------------------------------- no leak


class Tagging:
    """A resampler that marks the rows it makes in the last column."""

    def __init__(self, mark=1.0):
        self.mark = mark

    def fit_resample(self, X, y):
        again = X[y == 1].copy()
        again[:, -1] = self.mark
        return np.vstack([X, again]), np.concatenate([y, np.ones(len(again), dtype=y.dtype)])


class Watching(ClassifierMixin, BaseEstimator):
    """A classifier that remembers the last column of what it is fitted on, and refuses a mark among test rows."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.marked_ = X[:, -1].sum()
        assert self.marked_ > 0
        return self

    def predict(self, X):
        if X[:, -1].any():
            raise RuntimeError("a test row was tagged")
        return (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize("split", [5, Folds(5, repeats=2), HoldOut(3, repeats=5), CV])
def test_a_resampler_that_tags_rows_never_tags_a_test_row(split):
    tagged = np.column_stack([X, np.zeros(len(X))])
    found = cross_evaluate(Watching(), tagged, Y, split=split, resample=Tagging())
    assert not found.failures
    assert sum(len(run.part.test) for run in found.runs) == found.pooled.rows.sum()


class Rows(ClassifierMixin, BaseEstimator):
    """A classifier that fails on a test row that it was fitted on."""

    def fit(self, X, y):
        self.classes_, self.seen_ = np.unique(y), {int(row) for row in X[:, 0]}
        self.share_ = float(np.mean(y == 1))
        return self

    def predict(self, X):
        if self.seen_ & {int(row) for row in X[:, 0]}:
            raise RuntimeError("a test row was trained on")
        return np.zeros(len(X), dtype=int)


@pytest.mark.parametrize("how", ["over", "under", RandomOverSampler(random_state=0)])
def test_no_test_row_is_trained_on_and_the_classes_are_made_equal(how):
    ids = np.arange(len(Y))[:, None]
    assert not cross_evaluate(Rows(), ids, Y, resample=how).failures


@pytest.mark.parametrize(("how", "size"), [("over", 60), ("under", 7)])
def test_over_and_under_sampling_make_every_class_equal(how, size):
    y = np.repeat(["a", "b", "c"], [60, 7, 25])
    seen = []

    class Watched(DummyClassifier):
        def fit(self, X, y, sample_weight=None):
            seen.append(X[:, 0].astype(int))
            return super().fit(X, y, sample_weight)

    tested = np.append(y, ["a", "b", "c"])
    pair = [(np.arange(92), np.arange(92, 95))]
    cross_evaluate(Watched(), np.arange(95)[:, None], tested, split=pair, resample=how, metrics=["accuracy"], rng=0)
    (rows,) = seen
    assert dict(zip(*np.unique(y[rows], return_counts=True), strict=True)) == dict.fromkeys("abc", size)
    times = np.bincount(rows, minlength=len(y))
    if how == "over":  # every row is kept, and none is repeated more than once as often as another of its class
        assert times.min() == 1 and all(np.ptp(times[y == label]) <= 1 for label in "abc")
    else:
        assert times.max() == 1


def test_ways_of_resampling_are_candidates_on_the_same_splits():
    found = cross_evaluate(LOGISTIC, X, Y, resample=["none", "over", "under", "class_weight", SMOTE()])
    assert list(found.models) == [
        "LogisticRegression",
        *(f"LogisticRegression + {how}" for how in ("over", "under", "class_weight", "SMOTE")),
    ]
    plain = found["LogisticRegression"].summarised("recall").mean
    assert all(found[name].summarised("recall").mean > plain + 0.1 for name in list(found.models)[1:])
    balanced = cross_evaluate(LogisticRegression(class_weight="balanced"), X, Y)
    assert np.array_equal(found["LogisticRegression + class_weight"].values("f1"), balanced.values("f1"))


def test_imbalanced_learns_pipelines_and_samplers_agree():
    inside = make_sampling_pipeline(SMOTE(random_state=3), LogisticRegression())
    ours = cross_evaluate(LOGISTIC, X, Y, split=CV, resample=SMOTE(random_state=3))
    assert np.array_equal(ours.values("f1"), cross_evaluate(inside, X, Y, split=CV).values("f1"))


def is_free_of_prevalence(metric):
    """Whether twice the positives leave the value as it is; of scores, that is so of the areas under the ROC curve."""
    if metric.direction is None or metric.function is None:
        return metric.name == "roc_auc"
    tables = [Counts(30, 10, 20, 140), Counts(3, 7, 60, 40)]
    return all(math.isclose(metric(table), metric(table.scaled(positives=2)), rel_tol=1e-9) for table in tables)


FREE = [metric.name for metric in list_metrics() if is_free_of_prevalence(metric)]


RATIOS = {"diagnostic_odds_ratio"}  # no upper end: their mean over runs is too skewed for an interval of Student's t


@pytest.fixture(scope="module", params=[(GaussianNB(), Folds(10), "over"), (GaussianNB(), Folds(5), None),
                                        (DecisionTreeClassifier(), Folds(5), None)], ids=str)  # fmt: skip
def shuffled(request):
    """For 40 shuffles of the labels, how often there is an interval, and how often it holds what guessing scores."""
    model, split, resample = request.param
    rng = np.random.default_rng(7)
    there, held = dict.fromkeys(FREE, 0), dict.fromkeys(FREE, 0)
    for _ in range(40):
        data, y = rng.standard_normal((200, 3)), rng.permutation(np.arange(200) % 4 == 0).astype(int)
        found = cross_evaluate(model, data, y, split=split, resample=resample, metrics=FREE, rng=rng)
        for row in found.summary:
            there[row.name] += not math.isnan(row.low)
            held[row.name] += row.low <= row.chance <= row.high
    return there, held


@pytest.mark.parametrize("name", FREE)
def test_shuffled_labels_give_chance(name, shuffled):
    # Without resampling naive Bayes hardly ever says "positive": what divides by that has an interval in few shuffles.
    there, held = (part[name] for part in shuffled)
    # 0.85 of 40 is what 95 % of them fall below once in three hundred times.
    assert held >= (0.75 if name in RATIOS else 0.85) * there


# ---------------------------------------------------------------- one input, one output


@pytest.mark.parametrize(
    ("asked", "cores", "runs", "started"),
    [(1_000, 2, 5, 2), (1_000, 8, 5, 5), (2, 8, 5, 2), (2, 1, 5, 2), (-1, 8, 3, 3)],
)
def test_no_more_processes_start_than_there_are_runs_or_cores(asked, cores, runs, started, monkeypatch):
    import joblib

    workers = []

    class Serial:
        def __init__(self, n_jobs, **_):
            workers.append(n_jobs)

        def __call__(self, tasks):
            return (function(*arguments, **named) for function, arguments, named in tasks)

    monkeypatch.setattr(joblib, "Parallel", Serial)
    monkeypatch.setattr(joblib, "cpu_count", lambda: cores)
    monkeypatch.setattr(joblib, "effective_n_jobs", lambda n_jobs: cores if n_jobs == -1 else n_jobs)
    cross_evaluate(DecisionTreeClassifier(), X, Y, split=runs, metrics=["recall"], n_jobs=asked)
    assert workers == [started]


def test_parallel_and_serial_runs_give_the_same_numbers():
    models = {"tree": DecisionTreeClassifier(), "forest": RandomForestClassifier(5), "svm": LinearSVC()}
    one, two = (cross_evaluate(models, X, Y, resample="over", n_jobs=jobs) for jobs in (None, 2))
    for name in models:
        assert [a.confusion.to_json() for a in one[name].runs] == [b.confusion.to_json() for b in two[name].runs]
        assert one[name].evaluation.to_json() == two[name].evaluation.to_json()


def test_a_seed_gives_the_same_bytes_and_another_one_others():
    def told(rng):
        found = cross_evaluate(RandomForestClassifier(5), X, Y, rng=rng, split=Folds(3, repeats=2))
        return found.evaluation.to_json(), repr(found.summary)

    assert told(None) == told(None) == told(0) != told(1)
    assert told(np.random.default_rng(5)) == told(np.random.default_rng(5))


def test_a_random_state_that_was_chosen_is_kept():
    fixed = cross_evaluate(DecisionTreeClassifier(random_state=0, max_features=1), X, Y, split=CV).values("f1")
    theirs = cross_validate(DecisionTreeClassifier(random_state=0, max_features=1), X, Y, cv=CV, scoring="f1")
    assert np.array_equal(fixed, theirs["test_score"])


def test_the_estimator_that_was_given_stays_as_it_was():
    model = DecisionTreeClassifier()
    cross_evaluate(model, X, Y)
    assert not hasattr(model, "tree_") and model.random_state is None


def test_progress_is_told_after_each_run():
    told = []
    cross_evaluate([GaussianNB(), DummyClassifier()], X, Y, split=3, progress=lambda done, of: told.append((done, of)))
    assert told == [(i, 6) for i in range(1, 7)]


# ---------------------------------------------------------------- inputs


@pytest.mark.parametrize(
    "make",
    [
        pd.DataFrame,
        lambda x: pl.DataFrame(x, schema=[f"c{i}" for i in range(x.shape[1])]),
        scipy.sparse.csr_array,
        np.ndarray.tolist,
    ],
)
def test_frames_sparse_matrices_and_lists_are_taken(make):
    model = LogisticRegression(max_iter=1000)
    expected = cross_evaluate(model, X, Y, split=CV).pooled
    assert abs(cross_evaluate(model, make(X), pd.Series(Y), split=CV).pooled.rows - expected.rows).sum() <= 2


@pytest.mark.parametrize(
    "y",
    [
        pd.Series(Y, dtype="Int64"),
        pd.Series(Y).map({0: "no", 1: "yes"}),
        pd.Categorical(np.where(Y, "yes", "no")),
        Y.astype(bool),
        Y.astype(float),
        Y.tolist(),
        pl.Series(Y),
    ],
    ids=["Int64", "text", "category", "bool", "float", "list", "polars"],
)
def test_labels_of_any_kind_give_the_same_table(y):
    found = cross_evaluate(GaussianNB(), X, y, split=CV)
    assert not found.failures
    assert np.array_equal(found.pooled.rows, cross_evaluate(GaussianNB(), X, Y, split=CV).pooled.rows)


def test_named_labels_need_a_positive_class_only_where_a_metric_does():
    words = np.where(Y == 1, "ill", "well")
    free = cross_evaluate(LOGISTIC, X, words)
    assert "f1" not in {row.name for row in free.summary} and free.values("balanced_accuracy").mean() > 0.5
    assert_refused(lambda: free.values("f1"), ValueError, "pos_label=")
    named = cross_evaluate(LOGISTIC, X, words, pos_label="ill")
    plain = cross_evaluate(LOGISTIC, X, 1 - Y, pos_label=0)
    assert named.values("f1").mean() == pytest.approx(plain.values("f1").mean(), abs=0.02)
    assert named.scores.label == "ill"
    assert named.values("roc_auc").mean() > 0.6


def test_one_of_many_classes_may_be_positive():
    data, y = load_iris(return_X_y=True)
    found = cross_evaluate(GaussianNB(), data, y, pos_label=2)
    assert found.values("recall").mean() > 0.8 and found.values("roc_auc").mean() > 0.9
    for run in found.runs:
        assert run.confusion.matrix.shape == (3, 3)


def test_weights_reach_the_fits_and_the_tables():
    weight = np.where(Y == 1, 5.0, 1.0)
    found = cross_evaluate(LOGISTIC, X, Y, sample_weight=weight, split=CV)
    assert found.pooled.weights.sum() == pytest.approx(weight.sum())
    assert found.pooled.rows.sum() == len(Y)
    expected = sum(
        (
            confusion(Y[b], clone(LOGISTIC).fit(X[a], Y[a], weight[a]).predict(X[b]), sample_weight=weight[b])
            for a, b in CV.split(X, Y)
        ),
        start=Confusion.of_rows((0, 1), np.zeros((2, 2), dtype=np.int64)),
    )
    assert np.allclose(found.pooled.weights, expected.weights) and np.array_equal(found.pooled.rows, expected.rows)
    piped = cross_evaluate(
        make_pipeline(StandardScaler(), LOGISTIC), X, Y, sample_weight=weight, split=CV, resample="over"
    )
    assert not piped.failures


def test_a_row_of_no_weight_is_as_good_as_absent_from_the_tables():
    weight = np.ones(len(Y))
    weight[::7] = 0
    found = cross_evaluate(LOGISTIC, X, Y, sample_weight=weight, split=CV)
    assert found.pooled.rows.sum() == (weight > 0).sum() == found.evaluation.confusion.rows.sum()
    assert found.scores.positive.n + found.scores.negative.n == (weight > 0).sum()


def test_without_metrics_of_scores_no_scores_are_asked_for():
    class Proud(GaussianNB):
        def predict_proba(self, X):
            raise RuntimeError("nobody asked")

    assert not cross_evaluate(Proud(), X, Y, metrics=["ac_score"]).failures
    assert_refused(lambda: cross_evaluate(Proud(), X, Y, metrics=["roc_auc"]), ValueError, "nobody asked")


# ---------------------------------------------------------------- cost


def test_every_fit_has_its_cost_beside_the_metrics(monkeypatch):
    monkeypatch.setattr("steelyard.protocol.runs._SHORT", 60.0)  # every timing is short, however loaded the machine
    found = cross_evaluate(DecisionTreeClassifier(max_depth=3), X, Y, resources=True)
    rows = {row.name: row for row in found.cost}
    assert list(rows) == [
        "fit_seconds",
        "predict_seconds_per_1000",
        "peak_memory_bytes",
        "model_bytes",
        "tree_nodes",
        "tree_depth",
    ]
    assert all(row.mean > 0 and row.worst >= row.best for row in rows.values())
    assert all(row.sd == 0 or row.low <= row.mean <= row.high for row in rows.values())
    assert rows["tree_depth"].mean == 3 and 7 <= rows["tree_nodes"].mean <= 15
    assert rows["fit_seconds"].noise > 0  # short timings are repeated
    assert all(len(run.cost.fit) > 1 and len(run.cost.predict) > 1 for run in found.runs)


def test_what_was_not_measured_says_why():
    rows = {row.name: row for row in cross_evaluate(GaussianNB(), X, Y).cost}
    assert math.isnan(rows["peak_memory_bytes"].mean) and "resources=True" in rows["peak_memory_bytes"].why
    assert rows["tree_nodes"].why == "not a tree" and rows["fit_seconds"].why is None


class Greedy(GaussianNB):
    """A classifier that holds 40 MB for a while as it is fitted."""

    def fit(self, X, y):
        held = np.ones(5_000_000)
        super().fit(X, y)
        self.kept_ = np.ones(100_000)
        return self if held[0] else None


def test_the_peak_is_that_of_the_fit_and_the_size_that_of_what_is_kept():
    rows = {row.name: row.mean for row in cross_evaluate(Greedy(), X, Y, resources=True).cost}
    assert 40e6 < rows["peak_memory_bytes"] < 50e6
    assert 0.8e6 < rows["model_bytes"] < 1e6


def test_the_nodes_of_a_forest_are_those_of_its_trees():
    forest = RandomForestClassifier(7, random_state=0)
    found = cross_evaluate(
        {
            "forest": forest,
            "piped": make_pipeline(StandardScaler(), forest),
            "bag": BaggingClassifier(DecisionTreeClassifier(), 3),
        },
        X,
        Y,
        split=CV,
    )
    train = next(CV.split(X, Y))[0]
    expected = sum(tree.tree_.node_count for tree in clone(forest).fit(X[train], Y[train]).estimators_)
    assert found["forest"].values("tree_nodes")[0] == expected
    assert found["piped"].values("tree_nodes").min() > 100 and found["bag"].values("tree_depth").min() > 1


def test_trees_are_found_wherever_they_are_held():
    tree, logistic = DecisionTreeClassifier(random_state=0, max_depth=2), LogisticRegression()
    voting = VotingClassifier(
        [("forest", RandomForestClassifier(3, max_depth=1)), ("logistic", logistic), ("tree", tree)]
    )
    search = GridSearchCV(tree, {"max_depth": [1]})
    boosted = GradientBoostingClassifier(n_estimators=4, max_depth=1)
    models = {"voting": voting, "search": search, "boosted": boosted, "none": logistic}
    found = cross_evaluate(models, X, Y, split=2, metrics=["f1"])
    assert not found.failures
    nodes = {name: found[name].values("tree_nodes").max() for name in models}
    assert (
        nodes["voting"] == 3 * 3 + 7
        and nodes["search"] == 3
        and nodes["boosted"] == 4 * 3
        and math.isnan(nodes["none"])
    )


def test_a_model_that_cannot_be_pickled_has_no_size():
    class Lazy(GaussianNB):
        def fit(self, X, y):
            self.later_ = (value for value in y)
            return super().fit(X, y)

    row = {row.name: row for row in cross_evaluate(Lazy(), X, Y).cost}["model_bytes"]
    assert math.isnan(row.mean) and row.why == "the model cannot be pickled"


# ---------------------------------------------------------------- runs that fail


class Fragile(GaussianNB):
    """A classifier that fails where the first row of its training part is a certain one."""

    def fit(self, X, y):
        if len(X) % 2:
            raise ValueError("an odd number of rows\nis too much")
        return super().fit(X, y)


def test_a_run_that_fails_is_told_with_its_fold_and_the_others_are_kept():
    x, y = X[:398], Y[:398]  # folds of 80, 80, 80, 79, 79
    found = cross_evaluate({"fragile": Fragile(), "nb": GaussianNB()}, x, y)
    told = [(run.model, run.part.fold, run.error) for run in found.failures]
    assert [(model, error) for model, _, error in told] == [
        ("fragile", "ValueError: an odd number of rows is too much.")
    ] * len(told)
    assert 0 < len(told) < 5
    row = found["fragile"].summarised("ac_score")
    assert row.undefined == len(told) and not math.isnan(row.mean)
    assert np.isnan(found["fragile"].values("f1")).sum() == len(told)
    assert f"{len(told)} of 10 runs failed" in repr(found) and "fold" in repr(found)
    assert found["fragile"].evaluation.assumed[0] == f"{len(told)} of 5 runs failed."
    assert found.differences("f1")[0].runs == 5 - len(told)
    assert found.compare(metrics=["f1"]).n == sum(len(r.part.test) for r in found["fragile"].runs if r.error is None)


def test_where_all_runs_of_one_model_fail_the_others_are_kept():
    class Broken(GaussianNB):
        def fit(self, X, y):
            raise MemoryError

    found = cross_evaluate({"broken": Broken(), "nb": GaussianNB()}, X, Y)
    assert [row.model for row in found.ranking()] == ["nb", "broken"]
    assert math.isnan(found["broken"].summarised("ac_score").mean) and len(found["broken"].summary)
    assert_refused(lambda: found["broken"].evaluation, ValueError, "Every run of broken failed")
    assert_refused(
        lambda: cross_evaluate(Broken(), X, Y), ValueError, "Every run failed; the first, Broken on fold 1: MemoryError"
    )


def test_a_fold_without_positives_is_undefined_and_counted():
    found = cross_evaluate(
        GaussianNB(),
        X,
        Y,
        split=[(np.arange(200, 400), np.flatnonzero(Y[:200] == 0)), (np.arange(200), np.arange(200, 400))],
    )
    row = found["GaussianNB"].summarised("recall")
    assert row.undefined == 1 and row.mean == found.values("recall")[1]
    assert math.isnan(found.values("roc_auc")[0])


# ---------------------------------------------------------------- bad input


class NoPredict:
    def fit(self, X, y):
        return self


GROUPS = np.repeat([0, 1], 200)


@pytest.mark.parametrize(
    ("options", "builtin", "words"),
    [
        ({"y": np.r_[np.zeros(397), np.ones(3)], "split": 5}, ValueError, "Class 1 has 3 rows and there are 5 folds"),
        ({"y": np.zeros(400)}, ValueError, "one class only, 0"),
        ({"y": np.r_[np.nan, Y[1:]]}, ValueError, "The target holds missing labels"),
        ({"y": [None, *Y[1:]]}, ValueError, "The target holds missing labels"),
        ({"y": Y + 0.5}, ValueError, "the target is continuous"),
        ({"y": Y[:-1]}, ValueError, "differ in length: X has 400, y has 399"),
        ({"X": 3}, TypeError, "X holds the features"),
        ({"estimator": NoPredict()}, TypeError, "NoPredict has no predict"),
        ({"estimator": StandardScaler()}, TypeError, "StandardScaler has no predict"),
        ({"estimator": GaussianNB}, TypeError, "GaussianNB is a class; give an object"),
        ({"estimator": []}, ValueError, "no estimator"),
        ({"estimator": {1: GaussianNB(), "1": GaussianNB(), "a": None}}, TypeError, "NoneType has no fit"),
        ({"split": "groups", "groups": np.zeros(400, dtype=int)}, ValueError, "groups= names one group only"),
        ({"split": "groups"}, ValueError, "name the group of each row"),
        ({"split": GroupKFold(5), "groups": GROUPS}, ValueError, "GroupKFold cannot split these rows"),
        ({"split": [(np.arange(400), [])]}, ValueError, "Run 1 of the split has no rows to test"),
        ({"split": [([], np.arange(400))]}, ValueError, "no rows to train on"),
        ({"split": [(np.arange(300), np.arange(290, 400))]}, ValueError, "trains on 10 rows that it tests"),
        ({"split": [(np.arange(300), np.arange(300, 401))]}, ValueError, "no pair of"),
        ({"split": []}, ValueError, "no runs"),
        ({"split": 5, "groups": GROUPS}, ValueError, "rows of the same 2 groups"),
        ({"split": KFold(5, shuffle=True), "groups": GROUPS}, ValueError, "keeps groups apart"),
        ({"split": "loo"}, ValueError, "'groups' or a splitter, not 'loo'"),
        ({"split": 2.5}, TypeError, "a splitter, not 2.5"),
        ({"split": 1}, ValueError, "number of folds is a whole number of 2 or more"),
        ({"groups": GROUPS[:10]}, ValueError, "differ in length"),
        ({"resample": "ober"}, KeyError, "Did you mean 'over'"),
        ({"resample": SMOTE}, TypeError, "SMOTE is a class"),
        ({"resample": StandardScaler()}, TypeError, "fit_resample"),
        ({"resample": []}, ValueError, "resample= is empty"),
        ({"resample": "class_weight"}, ValueError, "GaussianNB takes no class_weight"),
        ({"sample_weight": np.ones(400), "estimator": KNeighborsClassifier()}, ValueError, "takes no sample_weight"),
        ({"sample_weight": -np.ones(400)}, ValueError, "cannot be negative"),
        ({"metrics": "f1"}, TypeError, "list of metrics"),
        ({"metrics": []}, ValueError, "metrics= is empty"),
        ({"metrics": ["f1", "ac_scor"]}, KeyError, "Did you mean"),
        ({"pos_label": 7}, ValueError, "does not occur"),
        ({"level": 95}, ValueError, "probability above 0 and below 1"),
        ({"rng": "seed"}, TypeError, "rng is a NumPy Generator"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
def test_bad_input_is_refused_in_one_sentence(options, builtin, words):
    given = {"estimator": GaussianNB(), "X": X, "y": Y, **options}
    assert_refused(lambda: cross_evaluate(**given), builtin, words)


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (lambda: Folds(1), "2 or more"),
        (lambda: Folds(5, repeats=0), "Repeats is a whole number of 1 or more"),
        (lambda: HoldOut(0), "k usually from 2 to 9"),
        (lambda: HoldOut(2, repeats=1.5), "whole number"),
        (lambda: splits(HoldOut(9), [0, 1, 1]), "cannot be parted"),
        (lambda: splits(HoldOut(2), [0] * 20 + [1]), "one row"),
        (lambda: splits(Folds(5, stratified=False), [0, 1, 1]), "3 rows and 5 folds"),
    ],
)
def test_a_split_that_cannot_be_is_refused(attempt, words):
    assert_refused(attempt, ValueError, words)


def test_of_several_models_one_is_to_be_named():
    found = cross_evaluate([GaussianNB(), DummyClassifier()], X, Y)
    assert_refused(lambda: found.evaluation, ValueError, "name the one whose evaluation is meant")
    assert_refused(lambda: found["GausianNB"], KeyError, "Did you mean 'GaussianNB'")


def test_a_sampler_that_makes_rows_cannot_carry_weights():
    found = lambda: cross_evaluate(LOGISTIC, X, Y, resample=SMOTE(), sample_weight=np.ones(400))
    assert_refused(found, ValueError, "SMOTE makes rows that have no weight")
    kept = cross_evaluate(LOGISTIC, X, Y, resample=RandomOverSampler(), sample_weight=np.ones(400))
    assert not kept.failures


def test_without_scikit_learn_it_says_what_to_install():
    code = (
        "import sys; sys.modules['sklearn'] = None\nimport steelyard; steelyard.cross_evaluate(1, [[1], [2]], [0, 1])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.stderr.splitlines()[-1].endswith(str(needs_sklearn("cross_evaluate")))


def test_the_order_of_models_says_its_metric_and_whom_kalitas_mean_f_puts_first():
    rng = np.random.default_rng(0)
    y = (np.arange(400) % 20 == 0).astype(int)
    X = np.column_stack([y + 0.9 * rng.normal(size=400)])
    careful, eager = DummyClassifier(), LogisticRegression(class_weight={0: 1, 1: 40})
    found = cross_evaluate({"careful": careful, "eager": eager}, X, y, split=Folds(2), rng=0)
    ranked, by_f = (found.ranking(metric)[0].model for metric in (None, "f1[average=macro]"))
    assert ranked != by_f and found.ranking("average_precision")[0].model == ranked
    for text in (" ".join(repr(found).split()), found.to_html()):
        sentence = text[text.index("Ranked by average precision, which needs no threshold") :]
        assert f"puts {by_f} first and not {ranked}" in sentence
    same = repr(cross_evaluate({"a": eager, "b": eager}, X, y, split=Folds(2), rng=0))
    assert "which needs no threshold; AC-score gives the same order." in " ".join(same.split())
    assert "mean F" not in same


@pytest.mark.parametrize("name", ["y", "sample_weight", "groups"])
def test_rows_in_another_order_than_the_features_are_refused(name):
    X = pd.DataFrame({"a": np.arange(40.0), "b": np.tile([0.0, 1.0], 20)})
    columns = {
        "y": pd.Series([0, 1] * 20),
        "sample_weight": pd.Series(np.ones(40)),
        "groups": pd.Series([1] * 20 + [2] * 20),
    }
    turned = {**columns, name: columns[name][::-1]}
    with pytest.raises(ValueError, match=f"X and {name} have the same index in different orders"):
        cross_evaluate(GaussianNB(), X, split="groups", metrics=["accuracy"], **turned)
    found = cross_evaluate(GaussianNB(), X, split="groups", metrics=["accuracy"], **columns)
    assert found["GaussianNB"].evaluation.rows == 40


def test_slices_are_not_made_of_an_index():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    frame = {"y": y, "p": y & (rng.random(400) < 0.7), "site": rng.integers(0, 3, 400), "Unnamed: 0": np.arange(400)}
    pl = pytest.importorskip("polars")
    assert slices(pl.DataFrame(frame), true="y", pred="p").features == ("site",)


def test_the_unseen_rows_are_predictions_of_all_models_by_name():
    X, y = make_classification(300, weights=[0.8], flip_y=0.1, random_state=0)
    models = {"nb": GaussianNB(), "tree": DecisionTreeClassifier(max_depth=2)}
    once = cross_evaluate(models, X, y, split=3, rng=1).predictions
    assert once.models == ("nb", "tree") and once.rows == 300 and once.given.cluster is None
    assert (
        once["nb"].evaluate()["recall"].value
        == cross_evaluate(models, X, y, split=3, rng=1)["nb"].evaluation["recall"].value
    )
    twice = cross_evaluate(models, X, y, split=Folds(3, repeats=2), rng=1).predictions["tree"]
    assert twice.rows == 600 and len(np.unique(twice.given.cluster)) == 300
    assert twice.interval("roc_auc").method == "cluster"
