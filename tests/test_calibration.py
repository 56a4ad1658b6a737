"""Calibration: the metrics of probabilities, against R, scikit-learn and their identities."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import d2_brier_score

import steelyard
from steelyard import get_metric, intervals, score_table
from steelyard.metrics.isotonic_curve import IsotonicCurve
from steelyard.statistics.class_scores import ClassScores
from steelyard.statistics.score_table import ScoreTable

PARTS = ("brier_miscalibration", "brier_discrimination", "brier_uncertainty")


def outcomes(rows, seed=0, *, slope=1.0, shift=0.0):
    """Probabilities around 8 %, and outcomes that they are calibrated for, or over- or underconfident."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(-3, 1.2, rows)
    y = rng.random(rows) < 1 / (1 + np.exp(-shift - slope * logits))
    return y.astype(int), 1 / (1 + np.exp(-logits))


@pytest.mark.parametrize("case", ["overconfident", "ties", "rare"])
def test_values_are_those_of_glm_and_val_prob_in_r(golden, case):
    case = golden("r")["cases"][case]
    y, p = case["input"]["y"], case["input"]["p"]
    glm, val_prob = case["expected"]["calibration"], case["expected"]["rms_val_prob"]
    assert steelyard.calibration_slope(y, p) == pytest.approx(glm["slope"], abs=1e-8)
    assert steelyard.calibration_intercept(y, p) == pytest.approx(glm["intercept_in_the_large"], abs=1e-8)
    assert steelyard.observed_to_expected(y, p) == pytest.approx(glm["o_to_e"], rel=1e-12)
    assert steelyard.brier(y, p) == pytest.approx(val_prob["Brier"], rel=1e-12)
    # Its Eavg follows lowess, which is smoother than the isotonic curve: near, and not equal.
    ici = steelyard.integrated_calibration_index(y, p)
    assert 0.002 < abs(ici - val_prob["Eavg"]) < 0.03


@pytest.mark.parametrize("weighted", [False, True])
def test_the_isotonic_curve_is_that_of_scikit_learn(weighted):
    rng = np.random.default_rng(3)
    y, p = outcomes(400)
    p, w = p.round(2).clip(0.01, 0.99), rng.integers(0, 4, 400) if weighted else np.ones(400)
    table = score_table(y, p, sample_weight=w if weighted else None)
    curve = IsotonicCurve.of(table)
    fitted = IsotonicRegression().fit(p, y, sample_weight=w).predict(curve.scores)
    assert curve.observed == pytest.approx(fitted, abs=1e-12)


@pytest.mark.parametrize("slope", [0.5, 1.0, 1.6])
def test_the_parts_add_up_to_the_brier_score(slope):
    for seed in range(20):
        y, p = outcomes(300, seed, slope=slope)
        w = np.random.default_rng(seed).gamma(1.0, 1.0, 300)
        for options in ({}, {"sample_weight": w}):
            mcb, dsc, unc = (get_metric(name)(y, p, **options) for name in PARTS)
            assert mcb - dsc + unc == pytest.approx(steelyard.brier(y, p, **options), abs=1e-12)
            skill = steelyard.brier_skill_score(y, p, **options)
            assert skill == pytest.approx((dsc - mcb) / unc, abs=1e-12)
            assert skill == pytest.approx(d2_brier_score(y, p, **options), abs=1e-12)


def test_slope_and_intercept_are_those_of_a_logistic_regression_with_weights():
    y, p = outcomes(500, 4, slope=0.6)
    w, logits = np.random.default_rng(4).gamma(2.0, 1.0, 500), np.log(p / (1 - p))
    fitted = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(logits[:, None], y, sample_weight=w)
    assert steelyard.calibration_slope(y, p, sample_weight=w) == pytest.approx(fitted.coef_[0, 0], abs=1e-6)
    shift = steelyard.calibration_intercept(y, p, sample_weight=w)
    moved = 1 / (1 + np.exp(-logits - shift))
    assert steelyard.observed_to_expected(y, moved, sample_weight=w) == pytest.approx(1, abs=1e-12)


def test_many_rows_are_fitted_as_few_are():
    y, p = outcomes(200_000, 5, slope=0.8)
    coarse = steelyard.calibration_slope(y, p)
    assert coarse == pytest.approx(steelyard.calibration_slope(y, p, frequency=np.ones(len(y), dtype=int)), abs=1e-10)
    off = y - 1 / (1 + np.exp(-np.log(p / (1 - p)) - steelyard.calibration_intercept(y, p)))
    assert off.sum() == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("name", ["calibration_slope", "calibration_intercept", *PARTS, "integrated_calibration_index"])
def test_draws_of_weights_give_the_value_of_each(name):
    y, p = outcomes(200, 6)
    p, rng = p.round(2).clip(0.01, 0.99), np.random.default_rng(6)
    draws = rng.integers(0, 3, (5, 200)).astype(float)
    sides = []
    for of_class in (y == 1, y == 0):
        order = np.argsort(p[of_class])
        weights = draws[:, of_class][:, order]
        sides.append(ClassScores(p[of_class][order], weights, weights, weights))
    metric = get_metric(name)
    together = metric.scores(ScoreTable(*sides))
    assert together == pytest.approx([metric(y, p, sample_weight=w) for w in draws], abs=1e-9)


@pytest.mark.parametrize(
    ("y", "p", "name", "why"),
    [
        ([0, 1, 0, 1], [0.0, 0.4, 0.5, 0.9], "calibration_slope", "a probability of exactly 0 or 1 has no logit"),
        ([0, 1, 0, 1], [0.2, 0.4, 0.5, 1.0], "calibration_intercept", "a probability of exactly 0 or 1 has no logit"),
        ([0, 1, 0, 1], [0.3] * 4, "calibration_slope", "all probabilities are equal"),
        ([0, 0, 1, 1], [0.1, 0.2, 0.3, 0.4], "calibration_slope", "the scores separate the classes"),
    ],
)
def test_what_has_no_slope_says_why(y, p, name, why):
    assert math.isnan(get_metric(name)(y, p)) and get_metric(name).why(y, p) == why


def test_a_calibrated_model_has_intervals_that_hold_what_is_right_and_an_overconfident_one_has_not():
    names = ["calibration_slope", "calibration_intercept", "observed_to_expected", "integrated_calibration_index"]
    right = intervals([*names, "brier_miscalibration"], *outcomes(3_000, 7)[:1], y_score=outcomes(3_000, 7)[1])
    assert all(found.low <= best <= found.high for found, best in zip(right, (1, 0, 1, 0, 0), strict=True))
    y, p = outcomes(3_000, 7, slope=0.4)
    wrong = intervals(names, y, y_score=p)
    assert wrong[0].high < 1 and wrong[3].low > 0 and wrong[3].method == "isotonic"


def test_intervals_hold_the_true_values_of_overconfident_models():
    """Of 30 test sets of 60 positives; the bar leaves room for noise at a coverage of 92 %."""
    rng = np.random.default_rng(8)
    logits = rng.normal(-3, 1.2, 400_000)
    p, share = (1 / (1 + np.exp(-part)) for part in (logits, -0.8 + 0.7 * logits))
    truth = {"brier_miscalibration": np.mean((share - p) ** 2), "brier_discrimination": np.var(share)}
    truth |= {"integrated_calibration_index": np.mean(np.abs(share - p)), "calibration_slope": 0.7}
    truth["observed_to_expected"] = share.mean() / p.mean()
    held = dict.fromkeys(truth, 0)
    for seed in range(30):
        y, scores = outcomes(int(60 / share.mean()), 100 + seed, slope=0.7, shift=-0.8)
        for found in intervals(list(truth), y, y_score=scores):
            held[found.metric] += found.low <= truth[found.metric] <= found.high
    assert min(held.values()) >= 24, held
