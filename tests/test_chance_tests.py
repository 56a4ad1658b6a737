"""Chance tests: each is the permutations that it stands for."""

from __future__ import annotations

import itertools
import math
import pickle

import numpy as np
import pytest
from checks import assert_refused, same
from scipy import stats

import steelyard
from steelyard import Confusion, Counts, beats_chance, confusion, get_metric, list_metrics, score_table
from steelyard.analysis.chance import permutations
from steelyard.exceptions import InputError, InputTypeError

FINLEY = Counts(tp=28, fn=23, fp=72, tn=2680)
COUNT_METRICS = [m for m in list_metrics() if m.function is not None]
SMALL = [t for t in itertools.product((0, 1, 2, 3, 7), repeat=4) if t[0] + t[1] and t[2] + t[3]]
CLASSES = Confusion.of_rows(("a", "b", "c"), np.array([[50, 3, 2], [4, 10, 1], [2, 2, 6]]))
RANDOM_CLASSES = Confusion.of_rows(("a", "b", "c"), np.array([[20, 14, 9], [13, 16, 8], [10, 12, 8]]))
name = lambda metric: metric.name


# ---------------------------------------------------------------- Fisher's test


def test_fishers_test_is_scipys_on_every_small_table():
    for tp, fn, fp, tn in SMALL:
        found = beats_chance(Counts(tp, fn, fp, tn))
        better, worse = (stats.fisher_exact([[tp, fn], [fp, tn]], alternative=a).pvalue for a in ("greater", "less"))
        assert same(found.p_value, better), (tp, fn, fp, tn)
        assert same(found.p_two_sided, min(1, 2 * min(better, worse))), (tp, fn, fp, tn)


@pytest.mark.parametrize("table", [(40, 60, 30, 700), (1, 30, 40, 5), (5000, 5100, 90, 110), (3, 0, 0, 10**5)])
def test_the_null_distribution_is_scipys(table):
    null = permutations.TruePositives.of(Counts(*table))
    tp = np.arange(null.low, min(null.high, null.low + 20_000) + 1)
    scipys = stats.hypergeom(null.total, null.positives, null.flagged).logpmf(tp)
    assert np.allclose(null.log_mass(tp.astype(float)), scipys, rtol=1e-9, atol=1e-8)
    assert np.exp(null.log_mass(np.arange(null.low, null.high + 1.0))).sum() == pytest.approx(1, abs=1e-13)


@pytest.mark.parametrize("cell", [10**6, 10**9])
@pytest.mark.parametrize("lean", [1, 20, 10**4])
def test_the_window_of_huge_tables_holds_all_the_mass(cell, lean):
    null = permutations.TruePositives.of(Counts(cell, cell, lean * cell, lean * cell))
    mass = sum(np.exp(null.log_mass(tp)).sum() for tp in null.support(cell))
    assert mass == pytest.approx(1, abs=1e-11)


def test_finleys_forecasts_beat_guessing():
    found = beats_chance(FINLEY)
    assert found.p_value < 1e-20
    assert repr(found) == "better than a random predictor: p < 0.001 (Fisher's exact test)"


def test_a_tiny_p_is_computed_to_1e_300_and_shown_as_below_a_thousandth():
    small = beats_chance(Counts(400, 100, 100, 400))
    assert same(math.log(small.p_value), stats.hypergeom.logsf(399, 1000, 500, 500), 1e-9)
    least = beats_chance(Counts(900, 100, 100, 900))
    assert least.p_value == 0 and repr(least).startswith("better than a random predictor: p < 0.001 (")
    assert 0 < beats_chance(Counts(480, 5, 5, 480)).p_value < 1e-200


def test_huge_counts_have_their_p():
    near = Counts(10**9 + 10**5, 10**9, 10**9, 10**9)
    found = beats_chance(near), beats_chance(near, metric="f1"), beats_chance(near, metric="mcc")
    assert beats_chance(Counts(9 * 10**8, 10**8, 10**9, 10**9)).p_value == 0
    expected = stats.norm.sf((10**5 / 4) / math.sqrt(4 * 10**9 / 16))
    assert found[0].p_value == pytest.approx(expected, rel=1e-3)
    assert same([f.p_value for f in found], found[0].p_value)


def test_more_rows_than_can_be_enumerated_are_tested_approximately():
    cell = 10**14
    found = beats_chance(Counts(cell + 10**8, cell, cell, cell))
    assert "approximate" in found.method and 0 < found.p_value < 1e-6
    with pytest.raises(InputError, match="beats_chance"):
        beats_chance(Counts(cell, cell, cell, cell), metric="f1")


@pytest.mark.parametrize("table", [Counts(0, 5, 0, 9), Counts(5, 0, 9, 0)])
def test_a_single_predicted_class_beats_nothing(table):
    assert beats_chance(table).p_value == beats_chance(table).p_two_sided == 1
    assert beats_chance(table, metric="accuracy").p_value == 1


def test_weights_are_left_out_of_a_test_and_it_says_so():
    rng = np.random.default_rng(7)
    true, score, weight = rng.random(200) < 0.3, rng.random(200), rng.random(200)
    pred = score > 0.5
    for weighed, plain in [
        (beats_chance(true, pred, sample_weight=weight), beats_chance(true, pred)),
        (beats_chance(true, y_score=score, sample_weight=weight), beats_chance(true, y_score=score)),
        (beats_chance(true, pred, metric="f1", sample_weight=weight), beats_chance(true, pred, metric="f1")),
    ]:
        assert same(weighed.p_value, plain.p_value) and "weight" in weighed.method and "weight" not in plain.method
    assert beats_chance(Counts(3.0, 1.0, 2.0, 2.0)) == beats_chance(Counts(3, 1, 2, 2))


# ---------------------------------------------------------------- several classes, scores


def test_the_z_test_has_the_moments_of_all_permutations():
    true, pred = np.array([0, 0, 0, 1, 1, 2, 2]), np.array([0, 0, 1, 1, 2, 2, 0])
    agree = np.array([(true == np.array(p)).sum() for p in itertools.permutations(pred)])
    z = (agree.mean() + 0.5 - (true == pred).sum()) / agree.std()
    assert same(math.exp(permutations.normal_tails_of(confusion(true, pred).rows).log_better), stats.norm.cdf(z))
    drawn = beats_chance(true, pred)
    assert "10,999 tables drawn" in drawn.method
    assert drawn.p_value == pytest.approx((agree >= (true == pred).sum()).mean(), abs=0.02)


@pytest.mark.parametrize("rows", [40, 400])  # by permuted rows, by drawn cells
def test_drawn_tables_agree_as_permuted_predictions_do(rows):
    rng = np.random.default_rng(8)
    true, pred = rng.choice(3, rows, p=[0.7, 0.2, 0.1]), rng.choice(3, rows, p=[0.5, 0.3, 0.2])
    permuted = (true == rng.permuted(np.tile(pred, (20_000, 1)), axis=1)).sum(1)
    drawn = permutations.drawn_agreements(np.bincount(true), np.bincount(pred), rng)
    for low in np.quantile(permuted, [0.01, 0.1, 0.5, 0.9, 0.99]):
        assert (drawn >= low).mean() == pytest.approx((permuted >= low).mean(), abs=0.02)


def test_independent_labels_of_many_classes_hold_the_level_one_in_a_thousand():
    # where a z test rejects 0.15 to 0.75 %
    rng, rejected = np.random.default_rng(3), []
    for true, pred in [((185, 9, 4, 2), (188, 6, 4, 2)), ((50, 30, 5), (40, 40, 5))]:
        labels = np.tile(np.repeat(np.arange(len(pred)), pred), (20_000, 1))
        seen = (rng.permuted(labels, axis=1) == np.repeat(np.arange(len(true)), true)).sum(1)
        null = permutations.drawn_agreements(np.array(true), np.array(pred), rng)
        p = (1 + (null >= np.arange(sum(true) + 1)[:, None]).sum(1)) / (1 + len(null))
        rejected.append([(p[seen] <= level).mean() for level in (0.05, 0.001)])
    assert np.max(rejected, axis=0) == pytest.approx([0.025, 0.0005], abs=0.0275), rejected
    assert max(share for _, share in rejected) < 0.0017


def test_agreements_beyond_all_draws_have_an_upper_bound():
    for scale in (1, 4, 20):
        found = beats_chance(Confusion.of_rows(CLASSES.labels, CLASSES.rows * scale))
        z = permutations.normal_tails_of(CLASSES.rows * scale).log_better
        assert math.exp(z) < found.p_value < 1.01e-4
    assert "upper bound" in found.method and found.p_value < 1e-30


def test_labels_that_nobody_has_leave_two_classes_to_fishers_test():
    table = confusion([0, 1, 1, 0], [0, 1, 0, 0], labels=[0, 1, 2])
    assert beats_chance(table) == beats_chance([0, 1, 1, 0], [0, 1, 0, 0])
    assert beats_chance(CLASSES, pos_label="b") == beats_chance(CLASSES.counts("b"))


@pytest.mark.parametrize(("shift", "digits", "rows"), [(0.5, 6, 30), (0.5, 6, 900), (0.3, 1, 400), (-0.4, 1, 80)])
def test_the_rank_test_is_scipys(shift, digits, rows):
    rng = np.random.default_rng(9)
    true = rng.random(rows) < 0.3
    score = np.round(rng.normal(size=rows) + shift * true, digits)
    found = beats_chance(true, y_score=score)
    way = "exact" if found.method.startswith("exact") else "asymptotic"
    assert (way == "exact") == (rows == 30)
    better, worse = (
        stats.mannwhitneyu(score[true], score[~true], alternative=a, method=way).pvalue for a in ("greater", "less")
    )
    assert same(found.p_value, better, 1e-9) and same(found.p_two_sided, min(1, 2 * min(better, worse)), 1e-9)
    assert beats_chance(score_table(true, score)) == found


def test_one_score_for_all_beats_nothing():
    assert beats_chance([0, 1, 1], y_score=[0.5, 0.5, 0.5]).p_value == 1


# ---------------------------------------------------------------- one metric


@pytest.mark.parametrize(
    "metric", ["recall", "f1", "accuracy", "mcc", "g_mean", "optimized_precision", "error_rate", "p4",
                "positive_likelihood_ratio", "diagnostic_odds_ratio", "iba", "weighted_auc", "negative_likelihood_ratio"],
)  # fmt: skip
@pytest.mark.parametrize("pred", [(1, 1, 0, 0, 1, 0, 0, 0), (1, 1, 1, 0, 1, 1, 0, 0), (0, 1, 0, 1, 1, 1, 1, 1)])
def test_the_exact_p_is_the_share_of_all_permutations_that_do_as_well(metric, pred):
    true = np.array([1, 1, 1, 0, 0, 0, 0, 0])
    metric, found = get_metric(metric), beats_chance(true, np.array(pred), metric=metric)
    permuted = np.array(list(itertools.permutations(pred)))
    tp, fp = permuted[:, true == 1].sum(1), permuted[:, true == 0].sum(1)
    guessed, observed = metric(Counts(tp, 3 - tp, fp, 5 - fp)), metric(true, pred)
    if math.isnan(observed):
        assert math.isnan(found.p_value) and found.why in repr(found)
        return
    none, sign = np.isnan(guessed), 1 if metric.direction == "higher" else -1
    better = (none | (sign * (guessed - observed) >= -1e-12)).mean()
    worse = (none | (sign * (guessed - observed) <= 1e-12)).mean()
    assert same([found.p_value, found.undefined_share], [better, none.mean()])
    assert same(found.p_two_sided, min(1, 2 * min(better, worse)))


@pytest.mark.parametrize("metric", ["recall", "precision", "f1", "informedness", "kappa", "error_rate"])
def test_metrics_that_rise_with_the_hits_have_fishers_p(metric):
    for table in [FINLEY, Counts(3, 1, 2, 2), Counts(1, 3, 8, 2), Counts(10**6, 10**6, 10**6, 10**6 + 999)]:
        ours, fishers = beats_chance(table, metric=metric), beats_chance(table)
        assert same([ours.p_value, ours.p_two_sided], [fishers.p_value, fishers.p_two_sided])


def test_far_tails_of_many_rows_keep_their_digits():
    table = Counts(1_012_000, 10**6, 10**6, 1_012_000)
    assert beats_chance(table).p_value < 1e-30
    assert same(math.log(beats_chance(table, metric="f1").p_value), math.log(beats_chance(table).p_value), 1e-9)


def test_an_undefined_value_has_no_p_and_tells_why():
    found = beats_chance(Counts(3, 1, 0, 4), metric="positive_likelihood_ratio")
    assert math.isnan(found.p_value) and math.isnan(found.p_two_sided)
    assert found.why == "no false positives" and "no false positives" in repr(found)


def test_independent_labels_rarely_seem_better_than_guessing():
    rng = np.random.default_rng(10)
    tests = {m: lambda c, m=m: beats_chance(c, metric=m).p_value for m in ("g_mean", "diagnostic_odds_ratio")}
    tests["fisher"] = lambda c: beats_chance(c).p_value
    for rows, share, flagged in [(40, 0.3, 0.4), (200, 0.1, 0.15)]:
        drawn = rng.multinomial(rows, np.outer([share, 1 - share], [flagged, 1 - flagged]).ravel(), size=5_000)
        both = (drawn[:, :2].sum(1) > 0) & (drawn[:, 2:].sum(1) > 0)
        tables, times = np.unique(drawn[both], axis=0, return_counts=True)
        for test in tests.values():
            p = np.array([test(Counts(*table)) for table in tables])
            assert times[p < 0.05].sum() / times.sum() <= 0.055


def test_symmetric_metrics_do_not_ask_which_of_two_labels_is_positive():
    table = confusion(list("aabbbab"), list("ababbab"))
    assert same(beats_chance(table, metric="mcc").p_value, beats_chance(table.counts("a"), metric="mcc").p_value)
    with pytest.raises(InputError, match="pos_label"):
        beats_chance(table, metric="f1")
    assert (
        beats_chance(table, metric="f1", pos_label="a").p_value == beats_chance(table.counts("a"), metric="f1").p_value
    )


def test_parameters_reach_the_metric():
    found = beats_chance(FINLEY, metric="net_benefit[threshold=0.1]")
    assert found.method == "exact distribution of net_benefit[threshold=0.1]"
    assert beats_chance(FINLEY, metric="f2").p_value == beats_chance(FINLEY, metric="f_beta[beta=2]").p_value


def test_draws_of_the_agreements_may_be_asked_for():
    found = [beats_chance(CLASSES, draws=draws) for draws in (None, 500)]
    assert "500 tables drawn" in beats_chance(RANDOM_CLASSES, draws=500).method
    assert beats_chance(RANDOM_CLASSES, draws=500, rng=1) != beats_chance(RANDOM_CLASSES, draws=500)
    assert found[0].p_value <= 1e-3 and found[1].p_value <= 1e-2


def test_scores_cut_at_a_threshold_are_tested_as_labels_and_what_is_assumed_is_stated():
    rng = np.random.default_rng(11)
    true = np.where(rng.random(80) < 0.3, "yes", "no")
    score = np.clip(rng.random(80) * 0.6 + 0.4 * (true == "yes"), 0, 1)
    cut = beats_chance(true, y_score=score, threshold=0.6)
    assert cut.p_value == beats_chance(true, np.where(score >= 0.6, "yes", "no")).p_value
    assert "by convention" in cut.assumed[0]
    at_half = beats_chance(true, y_score=score, metric="f1")
    assert at_half.p_value == beats_chance(true, y_score=score, metric="f1", threshold=0.5).p_value
    assert "thresholded at 0.5" in at_half.assumed[1]
    assert steelyard.Predictions(true, y_score=score).beats_chance(metric="f1") == at_half


def test_results_travel():
    for found in (beats_chance(FINLEY), beats_chance(FINLEY, metric="mcc")):
        assert pickle.loads(pickle.dumps(found)) == found


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("kind", "call", "words"),
    [
        (InputError, lambda: beats_chance(Counts(3, 4, 0, 0)), "one true class"),
        (InputError, lambda: beats_chance(Counts(0, 0, 0, 0)), "no rows"),
        (InputError, lambda: beats_chance([1, 1], [0, 1]), "one true class"),
        (InputError, lambda: beats_chance([1, 1], y_score=[0.1, 0.2], labels=[0, 1]), "one true class"),
        (InputError, lambda: beats_chance(Counts(3, 4, 0, 0), metric="f1"), "one true class"),
        (
            InputError,
            lambda: beats_chance(Confusion.of_rows((), np.zeros((0, 0), dtype=int)), metric="f1"),
            "pos_label",
        ),
        (InputError, lambda: beats_chance(FINLEY, metric="prevalence"), "describes"),
        (InputTypeError, lambda: beats_chance(FINLEY, metric="roc_auc"), "scores"),
        (InputError, lambda: beats_chance(score_table([0, 1], [0.1, 2]), metric="f1"), "give threshold="),
        (InputError, lambda: beats_chance(FINLEY, metric="f1", threshold=0.1), "a threshold= needs scores"),
        (InputTypeError, lambda: beats_chance([1, 0]), "give y_pred"),
        (InputTypeError, lambda: beats_chance([1, 0], [1, 0], cluster=[1, 2]), "cluster= has no place in beats_chance"),
        (InputError, lambda: beats_chance([1, 0], [1, 0], y_score=[0.1, 0.2]), "together"),
        (InputError, lambda: beats_chance(Counts.stack([FINLEY, FINLEY])), "one table at a time"),
        (InputError, lambda: beats_chance(Counts(1.5, 1, 1, 1)), "weights"),
        (InputError, lambda: beats_chance(CLASSES, metric="mcc"), "pos_label"),
        (InputError, lambda: beats_chance(CLASSES, metric="f1[average=macro]"), "pos_label"),
    ],
)
def test_what_cannot_be_tested_is_refused_in_a_sentence(kind, call, words):
    assert_refused(call, kind, words)
