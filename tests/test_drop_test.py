"""The drop and the promise test: what an unchanged model, a dropped one and the sentences of the default gate say."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from benchmarks.coverage_gate import METRICS, Setting, exchanges, fails
from steelyard import Confusion, best_threshold, confusion, evaluate, gate, score_table
from steelyard.analysis.comparison.different_rows import LabelExchange, drop_test


@pytest.mark.parametrize(
    "setting", [Setting(600, 0.1, 0.7, 0.9, False), Setting(200, 0.3, 0.8, 0.8, True)], ids=["labels", "scores"]
)
def test_an_unchanged_model_rarely_fails(setting):
    rng = np.random.default_rng(5)
    failed = [fails(setting.test_set(rng), setting.test_set(rng), draws=199) for _ in range(100)]
    assert np.mean(failed) <= 0.11  # 0.05 and 2.8 standard errors; 0.25 where the baseline's noise was left out


def weighted_set(rng, unit=1.0):
    y = (rng.random(600) < 0.08).astype(int)
    noise = rng.standard_normal(600)
    weights = unit * np.exp(0.8 * noise)
    return confusion(y, noise + 1.8 * y > 1.2, sample_weight=weights), score_table(
        y, noise + 1.8 * y, sample_weight=weights
    )


def test_an_unchanged_model_whose_weights_follow_the_scores_rarely_fails():
    rng = np.random.default_rng(5)
    failed = [fails(weighted_set(rng), weighted_set(rng, 1_000.0)) for _ in range(100)]
    assert np.mean(failed) <= 0.11


def test_the_unit_of_the_weights_is_no_drop():
    before, after, scaled = (
        weighted_set(np.random.default_rng(1)),
        *(weighted_set(np.random.default_rng(2), unit) for unit in (1.0, 1_024.0)),
    )
    limits = [
        [drop.limit for drop in drop_test(*exchanges(before, some), METRICS, margin=None, rng=0).drops]
        for some in (after, scaled)
    ]
    assert (
        limits[0] == pytest.approx(limits[1]) and 0 < limits[0][[spec.name for spec in METRICS].index("roc_auc")] < 0.3
    )


def test_a_drop_is_caught_as_often_as_stated():
    rng, setting = np.random.default_rng(6), Setting(3_000, 0.3, 0.8, 0.9, False)
    stated = drop_test(*exchanges(setting.test_set(rng), setting.test_set(rng)), METRICS).power
    caught = [fails(setting.test_set(rng), setting.test_set(rng, 0.05), draws=199) for _ in range(100)]
    assert 0.4 < stated < 0.95
    assert np.mean(caught) == pytest.approx(stated, abs=0.16)


def test_a_large_drop_fails_and_an_equal_table_does_not():
    before = Confusion.of_rows((1, 0), np.array([[80, 20], [50, 950]]), 1)
    after = Confusion.of_rows((1, 0), np.array([[40, 60], [50, 950]]), 1)
    drops = {
        drop.spec.name: drop for drop in drop_test(LabelExchange.of(before, after, 1), None, METRICS, margin=None).drops
    }
    assert drops["recall"].is_shown and not drops["specificity"].is_shown
    assert drops["recall"].size == pytest.approx(0.4) and 0.1 < drops["recall"].limit < 0.3
    assert not any(
        drop.is_shown for drop in drop_test(LabelExchange.of(before, before, 1), None, METRICS, margin=None).drops
    )
    gained = drop_test(LabelExchange.of(after, before, 1), None, METRICS, margin=None).drops
    assert not any(drop.is_shown for drop in gained)


def test_other_class_sizes_are_no_drop():
    before = Confusion.of_rows((1, 0), np.array([[800, 200], [100, 900]]), 1)
    after = Confusion.of_rows((1, 0), np.array([[80, 20], [1_000, 9_000]]), 1)  # precision 0.89 and 0.07
    assert not any(
        drop.is_shown for drop in drop_test(LabelExchange.of(before, after, 1), None, METRICS, margin=None).drops
    )


def test_many_classes_and_labels_that_one_set_lacks():
    rng = np.random.default_rng(7)
    y = rng.choice(list("abcd"), 800, p=[0.6, 0.2, 0.19, 0.01])
    good, bad = (np.where(rng.random(800) < share, y, rng.choice(list("abc"), 800)) for share in (0.8, 0.5))
    specs = [row.spec for row in evaluate(y, good, metrics=["accuracy", "balanced_accuracy", "mcc"], draws=20)]
    seen = y != "d"
    same = drop_test(LabelExchange.of(confusion(y, good), confusion(y[seen], good[seen]), None), None, specs)
    worse = drop_test(
        LabelExchange.of(confusion(y[seen], good[seen]), confusion(y[seen], bad[seen]), None), None, specs
    )
    assert not any(drop.is_shown for drop in same.drops)
    assert all(drop.is_shown for drop in worse.drops) and worse.margin_of == "the recall of every class"


def test_weights_count_for_what_they_are_worth():
    rng = np.random.default_rng(8)
    y, pred = rng.random(500) < 0.3, rng.random(500) < 0.3
    weighted = confusion(y, pred, sample_weight=rng.lognormal(0, 1.5, 500))
    limits = [
        drop_test(LabelExchange.of(table, table, True), None, METRICS, margin=None).drops[0].limit
        for table in (confusion(y, pred), weighted)
    ]
    assert limits[1] > 1.5 * limits[0]


# ---------------------------------------------------------------- promises


def promised(where, **options):
    """A threshold that was chosen on rows which any of these limits are far from."""
    scores = np.concatenate([np.linspace(0, 0.4, 4_000), np.linspace(0.6, 1, 200)])
    return best_threshold(np.repeat([0, 1], [4_000, 200]), scores, where=where, confidence=0.95, draws=0, **options)


def judged(where, tp, fn, fp, tn, **options):
    """What a gate says of each limit of a promise on a table; with options of `evaluate` and a margin."""
    chosen, margin = promised(where), options.pop("margin", 0.05)
    truth, flagged = (np.repeat(of, [tp, fn, fp, tn]) for of in ([1, 1, 0, 0], [1.0, 0.0, 1.0, 0.0]))
    names = sorted(
        {"recall", "predicted_prevalence", *(limit.limit.split(" ")[0] for limit in chosen.limits)} - {"alerts"}
    )
    evaluation = evaluate(truth, y_score=flagged, threshold=chosen.threshold, metrics=names, draws=100, **options)
    return list(gate(evaluation, guarantee=chosen, margin=margin))


def test_a_promised_threshold_rarely_fails_unchanged_and_a_drop_of_ten_points_is_caught_as_often_as_stated():
    rng, runs = np.random.default_rng(11), 60

    def rows():
        y_true = (rng.random(600) < 0.25).astype(int)
        return y_true, rng.normal(size=600) + 2 * y_true

    failed, caught, stated = [], [], []
    for _ in range(runs):
        chosen = best_threshold(*rows(), where="recall >= 0.8", confidence=0.95, draws=0)
        y_true, score = rows()
        evaluation = evaluate(y_true, y_score=score, threshold=chosen.threshold, metrics=["recall"], draws=20)
        (unchanged,) = gate(evaluation, guarantee=chosen, margin=0.1)
        positives = int(y_true.sum())
        found = rng.binomial(positives, 0.7)  # ten points below the limit
        (fell,) = judged("recall >= 0.8", found, positives - found, 20, 400)
        failed.append(not unchanged.passed)
        stated.append(unchanged.power)
        caught.append(not fell.passed)
    assert np.mean(failed) <= 0.05 + 2.8 * (0.05 * 0.95 / runs) ** 0.5
    assert np.mean(stated) > 0.8 and np.mean(caught) == pytest.approx(np.mean(stated), abs=0.15)


@pytest.mark.parametrize(
    "where",
    [
        "recall >= 0.8",
        "false_negative_rate <= 0.2",
        "specificity >= 0.9",
        "false_positive_rate <= 0.1",
        "precision > 0.5",
    ],
)
def test_the_p_value_of_a_limit_on_a_rate_is_the_binomial_tail(where):
    tails = {
        "recall >= 0.8": stats.binom.cdf(70, 100, 0.8), "false_negative_rate <= 0.2": stats.binom.cdf(70, 100, 0.8),
        "specificity >= 0.9": stats.binom.cdf(780, 900, 0.9), "false_positive_rate <= 0.1": stats.binom.cdf(780, 900, 0.9),
        "precision > 0.5": stats.binom.cdf(70, 190, 0.5),
    }  # fmt: skip
    (found,) = judged(where, 70, 30, 120, 780)
    assert found.p_value == pytest.approx(tails[where], rel=1e-9) and found.verdict == "broken"


@pytest.mark.parametrize(
    "where", ["recall >= 0.86", "recall >= 0.6", "false_positive_rate <= 0.08", "false_positive_rate <= 0.2"]
)
def test_the_p_value_of_a_limit_on_clustered_rows_is_that_of_the_interval(where):
    _, sign, bound = where.split(" ")
    (found,) = judged(where, 70, 30, 120, 780, cluster=np.arange(1_000) // 2)
    beyond, far = (float(bound) - found.value, found.high) if sign == ">=" else (found.value - float(bound), found.low)
    standard_error = abs(far - found.value) / stats.norm.ppf(0.975)
    assert found.p_value == pytest.approx(stats.norm.cdf(-beyond / standard_error), rel=1e-6)
    assert found.verdict == ("broken" if where in ("recall >= 0.86", "false_positive_rate <= 0.08") else "kept")


def test_limits_are_tested_together_by_holm_and_others_by_the_posterior():
    table = (74, 26, 85, 815)
    alone = [judged(where, *table)[0] for where in ("recall >= 0.82", "f1 >= 0.64")]
    together = judged(["recall >= 0.82", "f1 >= 0.64"], *table)
    assert not alone[0].passed and together[0].passed  # 0.031 alone, 0.062 beside another
    assert together[0].p_value == pytest.approx(2 * min(test.p_value for test in alone), rel=1e-9)
    assert 0.02 < alone[1].p_value < 0.5 and alone[1].power is None
    (weighted,) = judged("recall >= 0.5", 50, 50, 0, 100, sample_weight=np.repeat([1.0, 3.0, 1.0], [50, 50, 100]))
    assert weighted.verdict == "broken"  # 25 % by weight


def test_few_rows_say_that_they_cannot_tell_and_none_is_undefined():
    (few,) = judged("recall >= 0.5", 4, 0, 0, 50)
    assert few.verdict == "too few rows to decide" and few.power == 0
    (below,) = judged("recall >= 0.9", 16, 4, 0, 50)
    assert below.verdict == "too few rows to decide" and below.power > 0
    (none,) = judged("precision >= 0.9", 0, 4, 0, 50)
    assert none.verdict == "undefined" and none.passed is None
    (kept,) = judged("alerts <= 10 of 54", 4, 0, 0, 50)
    assert kept.verdict == "kept"


@pytest.mark.parametrize(("where", "beyond"), [("recall >= 0.8", 0.75), ("false_positive_rate <= 0.1", 0.15)])
def test_the_power_of_a_guarantees_test_is_that_of_the_binomial_tail_beyond_the_bound(where, beyond):
    (found,) = judged(where, 42, 18, 12, 108)
    if where.startswith("recall"):
        worst = max(k for k in range(61) if stats.binom.cdf(k, 60, 0.8) <= 0.05)
        expected = stats.binom.cdf(worst, 60, beyond)
    else:
        worst = min(k for k in range(121) if stats.binom.sf(k - 1, 120, 0.1) <= 0.05)
        expected = stats.binom.sf(worst - 1, 120, beyond)
    assert found.power == pytest.approx(expected, rel=1e-9)
