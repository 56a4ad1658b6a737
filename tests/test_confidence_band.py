"""Confidence bands: that they hold at all thresholds together, reach the corners and are the same wherever shown."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import steelyard
from steelyard import score_table
from steelyard.exceptions import InputError
from steelyard.figures import confidence_band


def all_within(rows, local):
    """The exact probability that each of so many uniform order statistics lies between its two quantiles.

    The order statistics are a Poisson process given its number of points: where a bound is passed, the numbers of points
    that it forbids are left out.
    """
    j = np.arange(1, rows + 1)
    lower = stats.beta.ppf(local, j, rows - j + 1)
    pairs = list(zip(lower, j, strict=True))
    bounds = sorted([*((t, 0, k) for t, k in pairs), *((1 - t, 1, rows + 1 - k) for t, k in pairs)])
    chances, now = np.zeros(rows + 1), 0.0
    chances[0] = 1
    for at, is_upper, k in [*bounds, (1.0, 1, rows)]:
        chances = np.convolve(chances, stats.poisson.pmf(np.arange(rows + 1), rows * (at - now)))[: rows + 1]
        chances[slice(None, k) if is_upper else slice(k, None)] = 0
        now = at
    return chances[rows] / stats.poisson.pmf(rows, rows)


def ends(rates, *scores, **options):
    """The lower and the upper bound of the recall or the false positive rate at each threshold, the highest first."""
    points = confidence_band(*scores, metric=rates, **options)
    return np.array([point.low for point in points]), np.array([point.high for point in points])


def local_level(rows, level):
    """The level of each bound of a class of so many rows: the first of n is above 1 - (1 - level)^(1 / n)."""
    low, _ = ends("recall", [1] * rows + [0], [*range(1, rows + 1), 0], level=level)
    return -np.expm1(rows * np.log1p(-low[1]))


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("rows", [1, 2, 5, 17, 60, 150])
def test_the_local_level_gives_a_class_the_root_of_the_level(rows, level):
    both = all_within(rows, local_level(rows, level)) ** 2
    assert level - 1e-9 <= both <= level + 0.04 * (1 - level)


@pytest.mark.parametrize("level", [0.01, 0.5, 0.999999])
def test_levels_beyond_the_usual_ones_have_bands_that_are_wide_enough(level):
    assert all_within(20, local_level(20, level)) ** 2 >= level


# The share of each class at or above a score, and above it.
NORMAL = (lambda t, apart: stats.norm.sf(t - apart),) * 2
TIED = tuple(lambda t, apart, side=side: stats.norm.sf((np.round(t) + side) - apart) for side in (-0.5, 0.5))


@pytest.mark.parametrize(("positives", "apart", "kind"), [(10, 1.0, "normal"), (40, 4.0, "normal"), (25, 1.5, "tied")])
def test_the_whole_curve_lies_in_its_band_with_the_level(positives, apart, kind):
    rng, at_or_above = np.random.default_rng(positives), NORMAL if kind == "normal" else TIED
    y, runs, held = np.repeat([1, 0], [positives, 200]), 250, 0
    for _ in range(runs):
        scores = rng.normal(size=len(y)) + apart * y
        table = score_table(y, scores if kind == "normal" else np.round(scores))
        inside, thresholds = [], table.thresholds[1:]
        for rates, shift in (("recall", apart), ("false_positive_rate", 0.0)):
            low, high = ends(rates, table, level=0.9)
            inside.append((low[1:] <= at_or_above[0](thresholds, shift)).all())
            # Down to the next score the same rows are flagged.
            inside.append((at_or_above[1](thresholds, shift) <= high[:-1]).all())
        held += all(inside)
    assert held / runs >= 0.9 - 2 * np.sqrt(0.09 / runs)
    assert held / runs <= (0.96 if kind == "normal" else 1)


def example(n=400, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.2).astype(int)
    return y, 1 / (1 + np.exp(-(rng.normal(-1, 1, n) + 1.5 * y)))


@pytest.mark.parametrize("over", ["threshold", "false_positive_rate", "recall"])
@pytest.mark.parametrize("prevalence", [None, 0.01])
@pytest.mark.parametrize("name", ["recall", "precision", "mcc", "optimized_precision", "diagnostic_odds_ratio"])
def test_a_band_holds_its_curve(name, prevalence, over):
    for point in confidence_band(*example(), metric=name, over=over, prevalence=prevalence):
        assert np.isnan(point.value) or point.low <= point.value <= point.high
        assert point.low < point.high or over == name


@pytest.mark.parametrize("name", ["precision", "f1"])
def test_a_band_holds_the_populations_curve_at_the_populations_prevalence(name):
    share, n, runs, missed = 0.05, 200, 150, 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        y = (rng.random(n) < share).astype(int)
        table = score_table(y, rng.normal(2 * y, 1), pos_label=1)
        points = confidence_band(table, metric=name)[1:]
        thresholds, low, high = np.array([(point.threshold, point.low, point.high) for point in points]).T
        recall, fpr = stats.norm.sf(thresholds - 2), stats.norm.sf(thresholds)
        p, rest = share * recall, (1 - share) * fpr
        truth = p / (p + rest) if name == "precision" else 2 * p / (p + rest + share)
        missed += ((truth < low - 1e-9) | (truth > high + 1e-9)).any()
    assert missed / runs <= 0.05  # at the sample's prevalence as if it were known: more than half


def test_a_known_prevalence_makes_a_narrower_band_and_a_rate_has_one_band():
    widths = {}
    for name in ("precision", "recall"):
        for options in ({}, {"design": "stratified"}, {"prevalence": float(example()[0].mean())}):
            band = confidence_band(*example(), metric=name, **options)
            widths[name, *options] = np.nanmean([point.high - point.low for point in band])
    assert widths["precision",] > 1.02 * widths["precision", "design"]
    assert widths["precision", "design"] == pytest.approx(widths["precision", "prevalence"])
    assert widths["recall",] == pytest.approx(widths["recall", "design"])
    with pytest.raises(InputError, match="design is"):
        confidence_band(*example(), design="chosen")


def test_the_band_of_a_roc_curve_touches_both_corners():
    first, *_, last = confidence_band(*example(), over="false_positive_rate")
    assert (first.false_positive_rate, first.low) == (0, 0) and first.high > 0
    assert (last.false_positive_rate, last.high) == (1, 1) and last.low < 1


def test_a_likelihood_ratio_without_false_alarms_has_no_upper_end():
    assert confidence_band(*example(), metric="positive_likelihood_ratio")[1].high == np.inf


def test_a_likelihood_ratio_has_no_upper_end_where_all_negatives_are_flagged_and_not_all_positives():
    y, scores = np.repeat([0, 1], [40, 20]), [*np.linspace(-1, 2, 40), -3, -2.5, -2, *np.linspace(1, 3, 17)]
    for point in confidence_band(y, scores, metric="negative_likelihood_ratio"):
        assert (point.high == np.inf) == (point.false_positive_rate == 1), point
        assert point.low <= (1 - point.recall) / max(1 - point.false_positive_rate, 0.05)


def test_a_band_of_few_thresholds_holds_between_them_too():
    y, scores = example(3_000)
    order = np.argsort(-scores)
    for name, side in (("recall", 1), ("false_positive_rate", 0)):
        band, n = confidence_band(y, scores, metric=name), int((y == side).sum())
        assert len(band) <= 1_000
        flagged = np.concatenate([[0], np.cumsum(y[order] == side)])  # at every threshold, from nobody on
        local = local_level(n, 0.95)
        low = np.where(flagged > 0, stats.beta.ppf(local, np.maximum(flagged, 1), n - flagged + 1), 0)
        high = np.where(flagged < n, stats.beta.isf(local, flagged + 1, np.maximum(n - flagged, 1)), 1)
        starts = [0, *(np.searchsorted(-scores[order], -point.threshold) + 1 for point in band[1:])]
        for point, start, end in zip(band, starts, [*starts[1:], len(flagged)], strict=True):
            assert point.low <= low[start:end].min() + 1e-9
            assert point.high >= high[start:end].max() - 1e-9


def test_weights_count_by_the_effective_sample_size():
    y, scores = example()
    plain, even = confidence_band(y, scores), confidence_band(y, scores, sample_weight=np.full(len(y), 7.0))
    assert [point.low for point in even] == pytest.approx([point.low for point in plain])
    weights = np.random.default_rng(1).exponential(size=len(y))
    wide, usual = (np.subtract(*ends("recall", y, scores, sample_weight=given)).mean() for given in (weights, None))
    assert wide < 1.15 * usual < 0  # the lower less the upper


def test_a_band_is_saved_and_read_back():
    band = confidence_band(*example(), metric="precision")
    assert steelyard.Result.from_json(band.to_json()) == band


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"metric": "roc_auc"}, "all scores at once"),
        ({"over": "specificity"}, "threshold, false_positive_rate, recall"),
        ({"level": 95}, "level= is a probability"),
    ],
)
def test_what_has_no_band_is_refused_in_a_sentence(options, words):
    with pytest.raises(InputError, match=words):
        confidence_band(*example(), **options)


def test_no_bound_of_weighted_rates_falls_from_a_threshold_to_a_lower_one():
    rng = np.random.default_rng(0)
    y = np.arange(500) % 5 == 0
    table = score_table(y.astype(int), rng.normal(y, 1), sample_weight=rng.exponential(size=500) ** 3)
    for bound in (*ends("recall", table), *ends("false_positive_rate", table)):
        assert (np.diff(bound) >= 0).all()


def test_a_roc_curve_that_runs_straight_through_tied_scores_lies_in_its_band():
    rng = np.random.default_rng(1)
    y = (rng.random(200_000) < 0.95).astype(int)  # recall is known well, and false positive rates are not
    score = np.round(rng.normal(y, 1))
    truth, held = steelyard.roc_curve(y, score), 0
    for start in range(0, 100_000, 1_000):
        rows = slice(start, start + 1_000)
        band = confidence_band(y[rows], score[rows], over="false_positive_rate")  # at rates between those of the truth
        fpr, low, high = np.array([(point.false_positive_rate, point.low, point.high) for point in band]).T
        line = np.interp(fpr, truth.fpr, truth.tpr)
        held += ((low <= line + 1e-9) & (line <= high + 1e-9)).all()
    assert held >= 94
