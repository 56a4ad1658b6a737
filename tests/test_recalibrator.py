"""correct_prior and Recalibrator: exact identities, scikit-learn's own fits, its conventions, and what is refused."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ShuffleSplit, StratifiedKFold

from steelyard import Prevalence, Recalibrator, calibration, correct_prior
from steelyard.exceptions import InputError


def logit(p):
    return np.log(p) - np.log1p(-p)


def expit(x):
    return 1 / (1 + np.exp(-x))


def two_classes(n=3_000, seed=0, *, slope=1.7, shift=1.0):
    """Overconfident probabilities that are too high, and the outcomes."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(-2, 1.2, n)
    return expit(slope * logits + shift), (rng.random(n) < expit(logits)).astype(int)


def four_classes(n=1_500, seed=1):
    """Overconfident probabilities of four classes, of a temperature of 2."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 2, (n, 4))
    p, true = (np.exp(x) / np.exp(x).sum(1, keepdims=True) for x in (logits, logits / 2))
    return p, np.array(list("abcd"))[(rng.random(n)[:, None] > true.cumsum(1)).sum(1)]


# ---------------------------------------------------------------- correct_prior


def test_a_corrected_probability_is_the_logit_shifted_by_the_log_odds_of_the_shares():
    p = np.linspace(0.001, 0.999, 99)
    shift = logit(0.02) - logit(0.4)
    assert logit(correct_prior(p, 0.4, 0.02)) == pytest.approx(logit(p) + shift, abs=1e-12)
    assert correct_prior([0.0, 1.0], 0.4, 0.02).tolist() == [0.0, 1.0]


def test_correcting_back_gives_what_was_there_and_equal_shares_change_nothing():
    p, _ = four_classes(50)
    before, after = [0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 0.1, 0.1]
    assert correct_prior(correct_prior(p, before, after), after, before) == pytest.approx(p, abs=1e-14)
    assert correct_prior(p, after, after) == pytest.approx(p, abs=1e-15)


def test_it_is_bayes_rule_where_the_densities_of_the_classes_are_known():
    densities = np.random.default_rng(2).gamma(1, 1, (200, 3))
    posterior = lambda shares: densities * shares / (densities * shares).sum(1, keepdims=True)
    before, after = np.array([0.6, 0.3, 0.1]), np.array([0.05, 0.05, 0.9])
    assert correct_prior(posterior(before), before, after) == pytest.approx(posterior(after), abs=1e-14)


def test_shares_are_numbers_sequences_or_by_label_in_the_order_of_the_columns():
    p = np.array([0.1, 0.6])
    expected = correct_prior(p, 0.5, 0.1)
    both = np.column_stack([1 - p, p])
    assert correct_prior(both, 0.5, 0.1) == pytest.approx(np.column_stack([1 - expected, expected]), abs=1e-15)
    for shares in ([0.9, 0.1], {"no": 0.9, "yes": 0.1}, {"yes": 0.1, "no": 0.9}, Prevalence(positives=1, rows=10)):
        assert correct_prior(p, 0.5, shares) == pytest.approx(expected, abs=1e-15)
    counted = Prevalence(counts={"yes": 10, "no": 90})
    assert correct_prior(p, 0.5, counted) == pytest.approx(expected, abs=1e-15)
    turned = correct_prior(p, 0.5, {"no": 0.9, "yes": 0.1}, labels=["yes", "no"])
    assert turned == pytest.approx(correct_prior(p, 0.5, 0.9), abs=1e-15)


@pytest.mark.parametrize(
    ("p", "trained", "deployed", "words"),
    [
        ([0.5], 0.5, 0, "deployed= is the share of the positive class, above 0 and below 1"),
        ([0.5], [0.2, 0.2], 0.1, "trained= is the share of the positive class"),
        ([0.5], 0.5, {"a": 0.1}, "deployed= has shares of 'a', and y_score has 2 columns"),
        ([[0.2, 0.3, 0.5]], 0.5, 0.1, "trained= is 3 shares of the classes"),
        ([0.5], {"a": 0.5, 1: 0.5}, 0.1, "have no order; give that of the columns by labels="),
        ([0.5, 1.5], 0.5, 0.1, "from 0 to 1, not 1.5 as in row 2"),
        ([np.nan], 0.5, 0.1, "from 0 to 1, not nan as in row 1"),
        ([[0.5, 0.6]], 0.5, 0.1, "those of row 1 to 1.1; divide by the sum"),
        ([[[0.5]]], 0.5, 0.1, r"not of shape \(1, 1, 1\)"),
        ([], 0.5, 0.1, r"not of shape \(0,\)"),
        ("p.csv", 0.5, 0.1, "not the str 'p.csv'; read the file first"),
    ],
)
def test_what_cannot_be_corrected_is_refused_in_a_sentence(p, trained, deployed, words):
    with pytest.raises((InputError, TypeError), match=words):
        correct_prior(p, trained, deployed)


# ---------------------------------------------------------------- the maps


def test_logistic_is_scikit_learns_regression_on_the_logit_without_a_penalty():
    p, y = two_classes()
    fitted = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1_000).fit(logit(p)[:, None], y)
    model = Recalibrator("logistic").fit(p, y)
    assert (model.map_.intercept, model.map_.slope) == pytest.approx(
        (fitted.intercept_[0], fitted.coef_[0, 0]), abs=1e-6
    )
    assert model.predict_proba(p) == pytest.approx(fitted.predict_proba(logit(p)[:, None]), abs=1e-6)


def test_isotonic_is_scikit_learns_but_for_the_ends_that_are_never_0_or_1():
    p, y = two_classes()
    expected, found = IsotonicRegression().fit(p, y).predict(p), Recalibrator("isotonic").fit(p, y).transform(p)
    inside = (expected > 0) & (expected < 1)
    assert found[inside] == pytest.approx(expected[inside], abs=1e-12)
    assert ((found > 0) & (found < 1)).all() and (np.diff(found[np.argsort(p)]) >= 0).all()
    bottom = expected == 0
    assert found[bottom] == pytest.approx(0.5 / (bottom.sum() + 1))


def test_temperature_is_scikit_learns():
    frozen = pytest.importorskip("sklearn.frozen")
    from sklearn.calibration import CalibratedClassifierCV

    class Given(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

        def predict_proba(self, X):
            return X

        def predict(self, X):
            return self.classes_[X.argmax(1)]

    p, y = four_classes()
    model = Recalibrator("temperature").fit(p, y)
    assert model.map_.temperature == pytest.approx(2, abs=0.25)
    calibrated = CalibratedClassifierCV(frozen.FrozenEstimator(Given().fit(p, y)), method="temperature")
    if tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 8):
        pytest.skip("this scikit-learn has no temperature")
    theirs = calibrated.fit(p, y)
    assert model.predict_proba(p) == pytest.approx(theirs.predict_proba(p), abs=1e-5)
    pair, outcome = two_classes()
    slope = Recalibrator("temperature").fit(pair, outcome).map_
    assert logit(slope(np.column_stack([1 - pair, pair]))[:, 1]) == pytest.approx(logit(pair) / slope.temperature)


def test_prior_takes_the_shares_of_the_training_rows_and_those_of_y():
    p, y = two_classes()
    model = Recalibrator("prior", trained=0.5).fit(p, y)
    assert model.transform(p) == pytest.approx(correct_prior(p, 0.5, y.mean()), abs=1e-14)
    named = np.where(y == 1, "yes", "no")
    by_label = Recalibrator("prior", trained={"yes": 0.5, "no": 0.5}, deployed={"yes": 0.1, "no": 0.9}).fit(p, named)
    assert by_label.transform(p) == pytest.approx(correct_prior(p, 0.5, 0.1), abs=1e-14)


def test_probabilities_of_exactly_0_and_1_are_taken():
    p, y = two_classes()
    p = np.where(p < 0.02, 0, np.where(p > 0.9, 1, p))
    for method in ("temperature", "logistic", "isotonic"):
        moved = Recalibrator(method).fit(p, y).transform(p)
        assert ((moved > 0) & (moved < 1)).all()
        assert (np.diff(moved[np.argsort(p)]) >= -1e-12).all()


# ---------------------------------------------------------------- the choice, and the judgement


def test_auto_takes_the_least_log_loss_of_rows_that_did_not_fit_and_leaves_what_is_right():
    p, y = two_classes()
    model = Recalibrator(trained=0.5).fit(p, y)
    assert list(model.log_losses_) == ["none", "prior", "temperature", "logistic", "isotonic"]
    assert model.method_ == "logistic" == min(model.log_losses_, key=model.log_losses_.get)
    assert Recalibrator().fit(*two_classes(slope=1, shift=0)).method_ == "none"
    assert Recalibrator().fit(*four_classes()).method_ == "temperature"
    constant = Recalibrator().fit(np.full(100, 0.3), [0, 0, 0, 1] * 25)
    assert constant.log_losses_["logistic"] == np.inf and constant.method_ != "logistic"


def test_the_judgement_is_of_unseen_rows_and_knows_what_a_fit_to_noise_loses():
    rng = np.random.default_rng(4)
    p, y = rng.uniform(0.2, 0.21, 400), (rng.random(400) < 0.205).astype(int)
    model = Recalibrator("isotonic").fit(p, y)
    losses = lambda q: -np.log(np.where(y == 1, q, 1 - q)).mean()
    assert losses(p) - losses(model.transform(p)) > 0 > model.judged_.gain
    p, y = two_classes()
    judged = Recalibrator("logistic").fit(p, y).judged_
    assert judged.rows == len(y) and judged.low < judged.log_loss < judged.high
    assert 0 < judged.gain_low < judged.gain == pytest.approx(judged.before - judged.log_loss)
    assert "unseen rows, a gain of" in repr(judged) and judged.row()["gain"] == judged.gain


def test_oversampling_ruins_calibration_and_both_ways_mend_it():
    rng = np.random.default_rng(5)
    y = (rng.random(60_000) < 0.05).astype(int)
    X = rng.normal(size=(60_000, 2)) + y[:, None]
    train, other, test = (slice(20_000 * i, 20_000 * (i + 1)) for i in range(3))
    positives = np.flatnonzero(y[train])
    rows = np.concatenate([np.flatnonzero(y[train] == 0), np.repeat(positives, round(1 / 0.05) - 1)])
    model = LogisticRegression().fit(X[train][rows], y[train][rows])
    p = model.predict_proba(X)[:, 1]
    assert calibration(y[test], p[test]).is_rejected
    corrected = correct_prior(p, y[train][rows].mean(), y[train].mean())
    mended = Recalibrator("logistic").fit(p[other], y[other]).transform(p)
    for q in (corrected, mended):
        assert calibration(y[test], q[test])["observed_to_expected"].value == pytest.approx(1, abs=0.07)


# ---------------------------------------------------------------- scikit-learn's conventions


def test_it_is_an_estimator_of_scikit_learn():
    p, y = two_classes(400)
    model = Recalibrator("temperature", cv=StratifiedKFold(3))
    assert str(clone(model).get_params()) == str(model.get_params()) and repr(model).startswith("Recalibrator(")
    with pytest.raises(NotFittedError):
        model.transform(p)
    assert model.fit(p, y) is model and not hasattr(clone(model), "map_")
    assert model.classes_.tolist() == [0, 1]
    assert (model.fit_transform(p, y) == model.transform(p)).all() and model.predict_proba(p).shape == (400, 2)
    both = np.column_stack([1 - p, p])
    assert model.transform(both) == pytest.approx(model.predict_proba(p)) and model.transform(both).shape == (400, 2)
    assert (pickle.loads(pickle.dumps(model)).transform(p) == model.transform(p)).all()
    assert (clone(model).fit(p, y).transform(p) == model.transform(p)).all()


@pytest.mark.parametrize(
    ("model", "rows", "words"),
    [
        (Recalibrator("platt"), two_classes(50), "method= is one of prior, temperature, logistic, isotonic, auto"),
        (Recalibrator("prior"), two_classes(50), "method='prior' needs trained="),
        (Recalibrator("prior", trained=[0.5] * 3), two_classes(50), "trained= is the share of the positive class"),
        (Recalibrator(trained=2), two_classes(50), "trained= is the share of the positive class"),
        (Recalibrator("logistic"), four_classes(50), "logistic recalibrates two classes, not 4"),
        (Recalibrator(), (np.full(9, 0.3), np.zeros(9)), "of 2 classes, and in y there are 1"),
        (Recalibrator(), ([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1]), "Each class needs 4 rows or more"),
        (Recalibrator("logistic"), ([0.1] * 5 + [0.9] * 5, [0] * 5 + [1] * 5), "no finite fit: the scores separate"),
        (Recalibrator(cv=ShuffleSplit(3)), two_classes(50), "leaves each row out once"),
        (Recalibrator(level=2), two_classes(50), "level= is a probability"),
        (Recalibrator(), (two_classes(50)[0], [0, 1]), "differ in length"),
    ],
)
def test_what_cannot_be_recalibrated_is_refused_in_a_sentence(model, rows, words):
    with pytest.raises(InputError, match=words):
        model.fit(*rows)


def test_probabilities_of_another_number_of_classes_are_refused():
    with pytest.raises(InputError, match="of 4 classes, not of 2"):
        Recalibrator("temperature").fit(*two_classes(60)).transform(four_classes(5)[0])


def test_a_y_whose_index_is_that_of_p_in_another_order_is_refused():
    p, y = (pd.Series(column) for column in two_classes(60))
    with pytest.raises(InputError, match="same index in different orders"):
        Recalibrator("temperature").fit(p, y[::-1])
    assert Recalibrator("temperature").fit(p, y).transform(p).shape == (60,)
