"""Confidence bands: that they hold at all thresholds together, reach the corners and are the same wherever shown."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import steelyard
from steelyard import confidence_band, score_table
from steelyard.analysis.thresholds.bands import local_level, rate_band
from steelyard.exceptions import InputError


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
        band, thresholds = rate_band(table, 0.9), table.thresholds[1:]
        inside = []
        for low, high, shift in ((band.recall_low, band.recall_high, apart), (band.fpr_low, band.fpr_high, 0.0)):
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
    for point in confidence_band(*example(), name, over=over, prevalence=prevalence):
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
            band = confidence_band(*example(), name, **options)
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
    assert confidence_band(*example(), "positive_likelihood_ratio")[1].high == np.inf


def test_a_band_of_few_thresholds_holds_between_them_too():
    table = score_table(*example(3_000))
    every, places = rate_band(table, 0.95), np.arange(0, len(table.thresholds), 7)
    few = rate_band(table, 0.95, places)
    for i, (start, end) in enumerate(zip(places, [*places[1:], len(table.thresholds)], strict=True)):
        for name in ("recall", "fpr"):
            assert getattr(few, f"{name}_low")[i] <= getattr(every, f"{name}_low")[start:end].min()
            assert getattr(few, f"{name}_high")[i] >= getattr(every, f"{name}_high")[start:end].max()
    assert len(confidence_band(table)) <= 1_000


def test_weights_count_by_the_effective_sample_size():
    y, scores = example()
    plain, even = confidence_band(y, scores), confidence_band(y, scores, sample_weight=np.full(len(y), 7.0))
    assert [point.low for point in even] == pytest.approx([point.low for point in plain])
    weights = np.random.default_rng(1).exponential(size=len(y))
    uneven = rate_band(score_table(y, scores, sample_weight=weights), 0.95)
    even = rate_band(score_table(y, scores), 0.95)
    wide, usual = (np.mean(band.recall_high - band.recall_low) for band in (uneven, even))
    assert wide > 1.15 * usual


def test_a_band_is_saved_and_read_back():
    band = confidence_band(*example(), "precision")
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
    band = rate_band(table, 0.95)
    for bound in (band.recall_low, band.recall_high, band.fpr_low, band.fpr_high):
        assert (np.diff(bound) >= 0).all()


def test_a_roc_curve_that_runs_straight_through_tied_scores_lies_in_its_band():
    rng = np.random.default_rng(1)
    y = (rng.random(200_000) < 0.1).astype(int)
    score = np.round(rng.normal(y, 1))
    fpr = np.linspace(0.01, 0.99, 99)

    def curve(rows):
        points = steelyard.roc_curve(y[rows], score[rows])
        return np.interp(fpr, points.fpr, points.tpr)

    truth, held = curve(slice(None)), np.zeros(2)
    for start in range(0, 100 * 300, 300):
        rows = slice(start, start + 300)
        band = rate_band(score_table(y[rows], score[rows]), 0.95).at_fpr(fpr)
        held += [
            ((band.recall_low <= line + 1e-9) & (line <= band.recall_high + 1e-9)).all()
            for line in (truth, curve(rows))
        ]
    assert held[0] >= 94 and held[1] == 100
