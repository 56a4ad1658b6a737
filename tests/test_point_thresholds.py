"""Intervals of metrics at one threshold: as wide as theory says among many rows, and wide where nothing went wrong."""

from __future__ import annotations

from math import exp, hypot, pi, sqrt
from statistics import NormalDist

import numpy as np
import pytest

import steelyard
from steelyard import interval

SHARE, APART, N = 0.1, 2.5, 1_000_000
NORMAL = NormalDist()


def _density(x):
    return exp(-x * x / 2) / sqrt(2 * pi)


def _deviations(threshold):
    """The rates of both classes at a threshold, their standard errors among N rows, and the density of each class."""
    rates = 1 - NORMAL.cdf(threshold - APART), 1 - NORMAL.cdf(threshold)
    sizes = SHARE * N, (1 - SHARE) * N
    errors = [sqrt(rate * (1 - rate) / size) for rate, size in zip(rates, sizes, strict=True)]
    return rates, errors, (_density(threshold - APART), _density(threshold))


def _at_recall(recall):
    """The error of the false positive rate where the recall is kept, and of the precision (delta method)."""
    (r, f), (of_r, of_f), (d1, d0) = _deviations(APART + NORMAL.inv_cdf(1 - recall))
    of_rate = hypot(of_r * d0 / d1, of_f)
    flagged = SHARE * r + (1 - SHARE) * f
    by_rate, by_share = SHARE * r * (1 - SHARE) / flagged**2, r * f / flagged**2
    return of_rate, hypot(by_rate * of_rate, by_share * sqrt(SHARE * (1 - SHARE) / N))


def _at_precision(precision):
    """The error of the recall where the precision is kept."""
    low, high = -5.0, 9.0
    while high - low > 1e-9:
        (r, f), *_ = _deviations(middle := (low + high) / 2)
        is_below = SHARE * r / (SHARE * r + (1 - SHARE) * f) < precision
        low, high = (middle, high) if is_below else (low, middle)
    (r, f), (of_r, of_f), (d1, d0) = _deviations(low)
    slope = d0 / f - d1 / r
    of_odds = 1 / sqrt(SHARE * (1 - SHARE) * N)
    return sqrt((of_r * (1 + d1 / (slope * r))) ** 2 + (d1 / slope) ** 2 * (of_odds**2 + (of_f / f) ** 2))


def _at_rate(rate):
    """The error of the recall where the false positive rate is kept."""
    _, (of_r, of_f), (d1, d0) = _deviations(NORMAL.inv_cdf(1 - rate))
    return hypot(of_r, of_f * d1 / d0)


@pytest.fixture(scope="module")
def many():
    """A million rows."""
    rng = np.random.default_rng(3)
    y = (rng.random(N) < SHARE).astype(np.int8)
    return steelyard.score_table(y, rng.normal(size=N) + APART * y)


@pytest.mark.parametrize(
    ("metric", "error"),
    [
        ("precision_at_recall", _at_recall(0.9)[1]),
        ("specificity_at_recall", _at_recall(0.9)[0]),
        ("recall_at_precision", _at_precision(0.9)),
        ("recall_at_fpr", _at_rate(0.1)),
    ],
)
def test_among_many_rows_the_interval_is_as_wide_as_the_delta_method_makes_it(many, metric, error):
    found = interval(metric, many)
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.15)
    assert found.low < found.value < found.high


def test_the_method_asked_for_by_name_draws_the_same_thresholds(many):
    found = interval("specificity_at_recall", many, method="bayesian-bootstrap")
    assert found.high - found.low == pytest.approx(2 * 1.96 * _at_recall(0.9)[0], rel=0.15)


def test_weights_and_a_prevalence_of_their_own_move_the_threshold_that_is_drawn(many):
    rng = np.random.default_rng(4)
    y = (rng.random(20_000) < 0.5).astype(np.int8)
    scores = rng.normal(size=20_000) + APART * y
    doubled = interval("precision_at_recall", steelyard.score_table(y, scores, sample_weight=np.full(20_000, 2.0)))
    plain = interval("precision_at_recall", steelyard.score_table(y, scores))
    assert (doubled.value, doubled.low, doubled.high) == pytest.approx((plain.value, plain.low, plain.high), rel=1e-9)
    rarer = interval("precision_at_recall", steelyard.score_table(y, scores), prevalence=SHARE)
    true = interval("precision_at_recall", many).value
    assert rarer.low < true < rarer.high and rarer.high - rarer.low < 0.1


def test_an_uncertain_prevalence_is_drawn_over_all_thresholds(many):
    estimated = steelyard.Prevalence(positives=50, rows=500)
    found = interval("recall_at_precision", many, prevalence=estimated)
    assert found.high - found.low > 5 * 2 * 1.96 * _at_precision(0.9)


@pytest.mark.parametrize(
    ("metric", "most"),
    [  # by Jeffreys' interval of 40 of 40 and of 400 of 400 rows: .939 and .9938
        (steelyard.precision_at_recall.fixed(at=0.5), 0.94),
        (steelyard.specificity_at_recall.fixed(at=0.5), 0.994),
        (steelyard.recall_at_fpr.fixed(at=0.5), 0.94),
    ],
    ids=lambda part: getattr(part, "name", ""),
)
def test_a_rate_without_an_error_is_no_surer_than_the_rows_that_show_it(metric, most):
    found = interval(metric, np.repeat([0, 1], [400, 40]), y_score=np.arange(440) / 440)
    assert found.value == 1
    assert 0.9 < found.low < most


def test_the_threshold_of_the_rows_themselves_is_always_drawn():
    """Where the highest rows alone have the precision, none of the other thresholds may have it."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y = (rng.random(30_000) < 0.3).astype(np.int8)
        found = interval(
            steelyard.recall_at_precision.fixed(at=0.6), steelyard.score_table(y, rng.normal(size=30_000) + 0.5 * y)
        )
        assert np.isnan(found.value) or (found.low <= found.value <= found.high and not found.bin_error)


def test_a_point_with_no_positive_above_it_has_more_than_one_value():
    y = np.repeat([1, 0], [8, 392])
    scores = np.concatenate([np.linspace(0.1, 0.5, 8), np.linspace(0, 1, 392)])
    found = interval("recall_at_fpr", y, y_score=scores)
    assert found.value == 0 == found.low
    assert found.high == pytest.approx(1 - 0.025 ** (1 / 8), abs=0.02)


@pytest.mark.parametrize("clusters", [None, np.arange(400) % 50])
def test_a_point_that_no_draw_moves_is_not_certain(clusters):
    y = np.repeat([1, 0], [8, 392])
    scores = np.concatenate([np.linspace(0.1, 0.5, 8), np.linspace(0, 1, 392)])
    assert interval("recall_at_fpr", y, y_score=scores, cluster=clusters).high > 0.3
    assert interval("specificity_at_recall", y, y_score=np.arange(400.0)).high > 0.005


@pytest.mark.parametrize(("positives", "negatives"), [(8, 392), (15, 485)])
def test_points_of_random_scores_are_covered(positives, negatives):
    from benchmarks.coverage_points import Setting, shares

    found = shares(Setting(positives, negatives, 0.0), 60, np.random.default_rng(0))
    for name in ("recall_at_fpr", "recall_at_fpr[at=0.01]", "specificity_at_recall"):
        assert found[name] >= 0.93  # by draws alone .19 to .99
        assert found[f"{name}, width"] < 0.6
