"""NearestMeanClassifier: the papers' toy, scikit-learn's estimator checks, weights, folds, and what is refused."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest
from checks import assert_refused, close, failing_checks
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold, StratifiedKFold, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from steelyard import Counts, confusion, operating_point_score
from steelyard.exceptions import needs_sklearn
from steelyard.studies import NearestMeanClassifier

X, Y = make_classification(400, weights=[0.85], flip_y=0.1, random_state=0)


@parametrize_with_checks(
    [NearestMeanClassifier(), NearestMeanClassifier("median", "ac_score"), NearestMeanClassifier("mean", cv=3)],
    expected_failed_checks=failing_checks,
)
def test_scikit_learns_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kind", ["mean", "median"])
def test_the_toy_of_the_golden_file(golden, kind):
    toy = golden("scores")["nearest_mean_toy"]
    expected = toy[kind]
    model = NearestMeanClassifier(kind).fit(toy["X"], toy["y"])
    assert np.allclose(model.centers_, [expected["centroid_neg"], expected["centroid_pos"]], rtol=1e-14)
    assert np.allclose(model.coef_[0], expected["unit"], rtol=1e-14)
    assert np.allclose(model.project(toy["X"]), expected["projection"], rtol=1e-14)
    assert close(model.threshold_, expected["best_cut"]) and close(model.criterion_value_, expected["best_score"])
    assert list(confusion(toy["y"], model.predict(toy["X"])).counts()) == expected["cm_tp_fn_fp_tn"]


def test_of_two_equally_worthy_centres_the_mean_is_kept(golden):
    toy = golden("scores")["nearest_mean_toy"]
    assert NearestMeanClassifier().fit(toy["X"], toy["y"]).centroid_ == toy["chosen"]


def test_every_candidate_of_the_toy_has_its_golden_score(golden):
    toy = golden("scores")["nearest_mean_toy"]
    for kind in ("mean", "median"):
        z = np.sort(toy[kind]["projection"])
        middles = (z[1:] + z[:-1]) / 2
        assert len(middles) == len(toy[kind]["candidates"])
        for middle, (cut, score, cells) in zip(middles, toy[kind]["candidates"], strict=True):
            assert close(middle, cut)
            assert close(operating_point_score(Counts(*cells)), score)


def brute_force(z, positive):
    """The lowest of the best middles, by trying each."""
    distinct = np.unique(z)
    middles = (distinct[1:] + distinct[:-1]) / 2
    values = [
        operating_point_score(
            Counts(*(int(x.sum()) for x in (flag & positive, ~flag & positive, flag & ~positive, ~flag & ~positive)))
        )
        for flag in (z >= middle for middle in middles)
    ]
    return middles[int(np.flatnonzero(np.array(values) >= max(values) - 1e-12)[0])], max(values)


@pytest.mark.parametrize("seed", range(20))
def test_the_cut_is_that_of_a_search_by_hand_with_ties(seed):
    rng = np.random.default_rng(seed)
    positive = rng.random(40) < 0.3
    z = rng.integers(0, 12, 40) + positive * 2.0
    model = NearestMeanClassifier("mean").fit(z[:, None], positive)
    expected = brute_force(z, positive)
    assert model.axis_ == [1] and model.threshold_ == expected[0]
    assert model.criterion_value_ == pytest.approx(expected[1], rel=1e-14)


def test_the_best_centre_is_the_one_whose_cut_is_worth_more():
    heights = np.linspace(-3, 3, 7)
    beside = np.vstack([np.column_stack([np.full(7, x), heights]) for x in (0.0, 3.0)])
    far = np.vstack([beside, [[0, -200]]])  # it turns the axis of the means, not that of the medians
    y = np.repeat([0, 1, 0], [7, 7, 1])
    mean, median, best = (NearestMeanClassifier(kind).fit(far, y) for kind in ("mean", "median", "best"))
    assert median.criterion_value_ > mean.criterion_value_
    assert best.centroid_ == "median" and best.threshold_ == median.threshold_


def equal_sums(seed, shift=0.0):
    """Rows of small whole numbers whose classes' medians differ alike in every column: projections are sums."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 7, (200, 3)).astype(float)
    labels = (rows.sum(1) + rng.integers(-3, 4, 200) > 9).astype(int)
    ends = np.repeat([[1.0], [5.0]], 60, 0) * np.ones(3)  # most of a class at one point, its median
    return np.vstack([rows, ends]) + shift, np.append(labels, np.repeat([0, 1], [60, 60]))


@pytest.mark.parametrize("shift", [0.0, 0.1, 1e9])
@pytest.mark.parametrize("cv", [None, 4])
def test_rows_of_equal_sum_get_one_class(cv, shift):
    for seed in range(5):
        rows, labels = equal_sums(seed, shift)
        model = NearestMeanClassifier("median", cv=cv).fit(rows, labels)
        assert np.allclose(model.axis_, 3**-0.5)
        grid = np.stack(np.meshgrid(*[np.arange(7.0)] * 3), -1).reshape(-1, 3)
        for ask in (model.predict(grid + shift), [model.predict(row[None] + shift)[0] for row in grid[::9]]):
            sums = (grid if len(ask) == len(grid) else grid[::9]).sum(1)
            assert all(len(set(np.asarray(ask)[sums == total])) == 1 for total in set(sums)), seed


def test_the_threshold_does_not_lie_between_projections_that_only_rounding_separates():
    for seed in range(25):
        rows, labels = equal_sums(seed)
        z = rows.sum(1) * 3**-0.5
        threshold = NearestMeanClassifier("median").fit(rows, labels).threshold_
        assert np.abs(z - threshold).min() > 0.1, seed


def test_a_mean_of_folds_that_meets_a_projection_gives_its_rows_one_class():
    model = NearestMeanClassifier("median").fit(*equal_sums(0))
    rows = np.array([[a, b, 9.0 - a - b] for a in range(5) for b in range(5)]) * 0.1
    model.threshold_ = 0.9 * 3**-0.5
    assert len(set(model.project(rows))) > 1 and set(model.predict(rows)) == {1}
    assert (model.decision_function(rows) == 0).all()


def test_either_class_may_be_positive():
    words = np.where(Y == 1, "ill", "well")
    ill, plain = NearestMeanClassifier(pos_label="ill").fit(X, words), NearestMeanClassifier().fit(X, Y)
    assert ((ill.predict(X) == "ill") == (plain.predict(X) == 1)).all()
    # scikit-learn's rule: above 0 is the second class, here "well".
    assert np.allclose(ill.decision_function(X), -plain.decision_function(X))


def test_the_sign_of_the_decision_tells_the_class():
    model = NearestMeanClassifier().fit(X, Y)
    assert ((model.decision_function(X) >= 0) == (model.predict(X) == 1)).all()
    assert not hasattr(model, "predict_proba")


def test_a_whole_weight_is_as_good_as_repeated_rows():
    weight = np.random.default_rng(0).integers(0, 4, len(Y))
    for kind in ("mean", "median"):
        one = NearestMeanClassifier(kind).fit(X, Y, sample_weight=weight)
        other = NearestMeanClassifier(kind).fit(np.repeat(X, weight, 0), np.repeat(Y, weight))
        assert np.allclose(one.coef_, other.coef_, rtol=1e-10) and one.threshold_ == pytest.approx(
            other.threshold_, rel=1e-9
        )


def test_the_weighted_median_is_numpys_without_weights():
    plain = NearestMeanClassifier("median").fit(X, Y)
    assert np.array_equal(plain.centers_, [np.median(X[c == Y], 0) for c in (0, 1)])


def test_with_folds_the_cut_is_the_mean_of_the_folds_cuts():
    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=10, random_state=0)
    model = NearestMeanClassifier("mean", cv=folds).fit(X, Y)
    z = NearestMeanClassifier("mean").fit(X, Y).project(X)
    fitted = [NearestMeanClassifier("mean").fit(z[train, None], Y[train]) for train, _ in folds.split(X, Y)]
    cuts = [fold.threshold_ for fold in fitted]
    assert all(fold.axis_ == [1] for fold in fitted)
    assert len(cuts) == 50 and model.threshold_ == pytest.approx(np.mean(cuts), rel=1e-14)


@pytest.mark.parametrize(
    "criterion", ["ac_score", ["f1", "negative_f1", "ac_score"], {"cost_fn": 10}, lambda tp, fn, fp, tn: tp - fp]
)
def test_any_criterion_of_best_threshold_will_do(criterion):
    assert NearestMeanClassifier("mean", criterion).fit(X, Y).predict(X).mean() > 0.05


def test_the_mean_of_three_is_the_operating_point_score():
    three = NearestMeanClassifier("mean", ["f1", "negative_f1", "ac_score"]).fit(X, Y)
    assert three.threshold_ == NearestMeanClassifier("mean").fit(X, Y).threshold_


def test_it_can_be_searched_and_pickled():
    found = GridSearchCV(
        NearestMeanClassifier(), {"centroid": ["mean", "median"], "cv": [None, 3]}, cv=StratifiedKFold(3)
    )
    assert found.fit(X, Y).best_score_ > 0.6
    again = pickle.loads(pickle.dumps(found.best_estimator_))
    assert (again.predict(X) == found.best_estimator_.predict(X)).all()
    assert cross_val_score(NearestMeanClassifier(), X, Y, scoring="roc_auc", cv=3).mean() > 0.6


@pytest.mark.parametrize(
    ("options", "data", "words"),
    [
        ({"centroid": "mode"}, (X, Y), "'best', 'mean' or 'median'"),
        ({"pos_label": 2}, (X, Y), "none of the classes"),
        ({}, ([[1.0], [1.0], [1.0], [1.0]], [0, 1, 0, 1]), "centres of the two classes coincide"),
        ({}, (X, np.zeros(len(X), dtype=int)), "one class only"),
        ({}, (X, np.arange(len(X)) % 3), "Only binary classification"),
        ({"criterion": "prevalence"}, (X, Y), "No value of prevalence is best"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(options, data, words):
    assert_refused(lambda: NearestMeanClassifier(**options).fit(*data), ValueError, words)


def test_without_scikit_learn_it_says_what_to_install():
    code = "import sys; sys.modules['sklearn'] = None\nimport steelyard; steelyard.studies.NearestMeanClassifier"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.stderr.splitlines()[-1].endswith(str(needs_sklearn("NearestMeanClassifier")))


@pytest.mark.parametrize("pos_label", [None, 0, 1])
def test_the_coefficients_are_those_of_the_decision_function(pos_label):
    data, y = make_classification(80, 4, random_state=2)
    model = NearestMeanClassifier(pos_label=pos_label).fit(data, y)
    assert np.allclose(model.decision_function(data), data @ model.coef_[0] + model.intercept_[0])
    assert np.array_equal(
        model.project(data) >= model.threshold_, model.predict(data) == (1 if pos_label is None else pos_label)
    )
