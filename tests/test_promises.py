"""Promised thresholds: exact bounds against scipy's, promises kept on new rows, costs by row, capacity, prevalence, clusters."""

from __future__ import annotations

import contextlib
import json
import math
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

import steelyard
from steelyard import Prevalence, Result, best_threshold, get_metric, score_table
from steelyard.analysis.thresholds import bands, threshold_sample
from steelyard.exceptions import InputError, InputTypeError


def rows(seed, n=600, prevalence=0.15, apart=2.0):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < prevalence).astype(int)
    y[:2] = 0, 1
    return y, rng.standard_normal(n) + apart * y


def promised(y, s, metric, where, **options):
    return best_threshold(y, s, metric, where=where, draws=0, **{"confidence": 0.95, **options})


# ---------------------------------------------------------------- exact bounds


@pytest.mark.parametrize("bound", [0.6, 0.8, 0.9])
def test_a_promised_recall_is_the_order_statistic_of_the_positives(bound):
    for seed in range(8):
        y, s = rows(seed, n=200 + 60 * seed)
        positives = np.sort(s[y == 1])
        n = len(positives)
        # With the k-th lowest positive flagged, k - 1 are missed: too many misses must be unlikely at the bound.
        kept = [k for k in range(1, n + 1) if stats.binom.cdf(k - 1, n, 1 - bound) <= 0.05]
        found = promised(y, s, "specificity", f"recall >= {bound}")
        if not kept:
            assert found.trivial and found.counts.fn == 0
            continue
        # Everything down to that positive, and no negative more: the threshold lies right below it.
        assert found.counts.fn == kept[-1] - 1
        assert s[y == 1][s[y == 1] >= found.threshold].min() == positives[kept[-1] - 1]


def test_each_way_to_write_one_limit_promises_one_threshold():
    y, s = rows(1)
    for one, other in (
        ("recall >= 0.8", "fnr <= 0.2"),
        ("specificity >= 0.9", "fpr <= 0.1"),
        ("alerts <= 20 of 100", "alerts <= 20 of 100 rows"),
    ):
        metric = "specificity" if "recall" in one else "recall"
        assert promised(y, s, metric, one).threshold == promised(y, s, metric, other).threshold


def test_a_share_of_flagged_rows_is_shown_in_a_sequence_of_exact_tests():
    for seed in range(6):
        y, s = rows(seed, n=800)
        found = promised(y, s, "recall", "precision >= 0.4")
        flagged, hits = found.counts.predicted_positives, found.counts.tp
        assert stats.binom.sf(hits - 1, flagged, 0.4) <= 0.05  # by itself it is shown at that level
        assert found.threshold >= best_threshold(y, s, "recall", where="precision >= 0.4", draws=0).threshold


def test_the_alerts_of_a_day_are_beta_binomial():
    y, s = rows(2, n=2_000)
    found = promised(y, s, "recall", "alerts <= 30 of 500")
    most = max(k for k in range(300) if stats.betabinom.sf(30, 500, k + 1, 2_000 - k) <= 0.05)
    assert found.counts.predicted_positives <= most
    assert found.counts.tp == y[np.argsort(-s)[:most]].sum()  # the rows between find no positive more


# ---------------------------------------------------------------- kept on new rows


def nearest_kept(where, y, s, flagged):
    """How many rows are flagged at the threshold that keeps a promise and flags the most nearly so many; None if none does."""
    try:
        found = promised(y, s, lambda tp, fn, fp, tn: -((tp + fp - flagged) ** 2), where)
    except InputError:
        return None
    return None if found.trivial else int(found.counts.predicted_positives)


@pytest.mark.parametrize("bound", [0.5, 0.8, 0.95])
def test_a_promised_recall_is_broken_in_at_most_five_percent_of_samples_and_no_threshold_more_would_be(bound):
    for n in (20, 33, 60, 101, 250, 700):
        y, s = np.repeat([1, 0], [n, 5]), np.append(np.linspace(1, 2, n), np.zeros(5))
        hits = nearest_kept(f"recall >= {bound}", y, s, 0)  # of positives at the highest threshold that is kept
        if hits is None:
            assert stats.beta.cdf(bound, n, 1) > 0.05
            continue
        # The share of the population above the h-th highest of n scores is Beta(h, n - h + 1).
        assert stats.beta.cdf(bound, hits, n - hits + 1) <= 0.05 < stats.beta.cdf(bound, hits - 1, n - hits + 2)


STARTS = ((0.15, 0.25), (0.3, 0.5), (0.6, 0.25))  # the share of the class at a start, and its part of the risk


def fallback(hits, trials, bound, risk, starts):
    """Wiens' rule, one hypothesis after another: risk waits at the starts and goes on from each that is shown."""
    kept, passed = [], 0.0
    for place, (hit, trial) in enumerate(zip(hits, trials, strict=True)):
        passed += sum(part * risk for start, part in starts if start == place)
        shown = trial > 0 and stats.binom.sf(hit - 1, trial, bound) <= passed
        kept.append(bool(shown))
        passed = passed if shown else 0.0
    return kept


@pytest.mark.parametrize(("where", "bound"), [("precision >= 0.4", 0.4), ("negative_predictive_value >= 0.9", 0.9)])
def test_a_share_of_the_flagged_rows_is_shown_by_wiens_rule(where, bound):
    for seed in range(8):
        y, s = rows(seed, n=300)
        s = np.round(s * 4) / 4 if seed % 2 else s
        observed = np.append(np.inf, np.unique(s)[::-1])  # nobody, and on to everybody
        of, flags = (y == 1, np.greater_equal) if where[0] == "p" else (y == 0, np.less)
        order = observed if where[0] == "p" else observed[::-1]
        trials = np.array([flags(s, t).sum() for t in order])
        hits = [(flags(s, t) & of).sum() for t in order]
        # A start is where so many rows would hold this share of their class at the bound.
        starts = [(int(np.argmax(trials >= share * of.sum() / bound)), part) for share, part in STARTS]
        assert len({start for start, _ in starts}) == 3
        kept = fallback(hits, trials, bound, 0.05, starts)
        flagged = np.array([(s >= t).sum() for t in order])[kept]
        for wanted in (0, *np.random.default_rng(seed).integers(0, len(y), 12), len(y)):
            found = nearest_kept(where, y, s, wanted)
            assert found == (None if not len(flagged) else found) and (not len(flagged) or found in flagged)
            assert found is None or abs(found - wanted) == np.abs(flagged - wanted).min()


def test_any_other_metric_is_promised_as_far_as_draws_of_its_own_break_it_seldom_enough():
    y, s = rows(5, n=800, apart=2.5)
    found = promised(y, s, "recall", "f1 >= 0.6")
    rng, n = np.random.default_rng(1), len(y)

    def broken(threshold):
        counts = score_table(y, s, pos_label=1).at(threshold)
        tp, fn, fp, tn = (float(cell) for cell in counts)
        share = rng.beta(tp + fn + 0.5, fp + tn + 0.5, 40_000)
        recall, fpr = rng.beta(tp, fn + 1, 40_000), rng.beta(fp + 1, tn, 40_000)
        return np.mean(2 * share * recall / (share * recall + share + (1 - share) * fpr) < 0.6)

    assert broken(found.threshold) <= 0.065  # 0.05, and what 1,000 draws may be off by
    lower = np.sort(s)[::-1][int(found.counts.predicted_positives) + n // 50]
    assert broken(lower) > 0.05


def test_several_limits_are_kept_together_on_new_rows():
    broken, runs = 0, 60
    for seed in range(runs):
        y, s = rows(seed, n=500)
        try:
            found = promised(y, s, "f1", "recall >= 0.7 and specificity >= 0.8")
        except InputError:
            continue
        recall, fpr = stats.norm.sf(found.threshold - 2.0), stats.norm.sf(found.threshold)
        broken += recall < 0.7 or 1 - fpr < 0.8
    assert broken <= stats.binom.ppf(0.999, runs, 0.05)


def test_without_confidence_the_result_says_how_likely_the_limit_holds_and_warns():
    y, s = rows(3)
    found = best_threshold(y, s, "specificity", where="recall >= 0.9")
    (limit,) = found.limits
    assert 0.2 < limit.chance < 0.6 and limit.confidence is None
    assert "recall >= 0.9 may not hold on new rows" in found.notes[0]
    easy = best_threshold(y, s, "informedness", where="recall >= 0.3")
    assert easy.limits[0].chance > 0.95 and not easy.notes
    sure = best_threshold(y, s, "specificity", where="recall >= 0.9", confidence=0.9)
    assert sure.limits[0].confidence == 0.9 and "with 90 % confidence" in repr(sure) and not sure.notes


@pytest.mark.parametrize(("where", "at"), [("precision >= 0.2", 1e-4), ("f1 >= 0.5", 0.01)])
def test_no_false_positive_among_few_negatives_promises_nothing_at_a_low_prevalence(where, at):
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], [60, 300])
    for _ in range(5):  # the top scores are all positives, and yet one row in 300 may be a false positive
        with pytest.raises(InputError, match=r"No threshold (keeps|reaches)"):
            promised(y, rng.standard_normal(360) + 2.5 * y, "recall", where, prevalence=at)


@pytest.mark.parametrize("positives", [10, 50, 100])
def test_the_chance_of_a_limit_is_that_of_the_order_statistic(positives):
    rng = np.random.default_rng(positives)
    y = np.repeat([1, 0], [positives, 300])
    found = best_threshold(y, rng.standard_normal(len(y)) + 2 * y, "specificity", where="recall >= 0.9", draws=0)
    hits = int(found.counts.tp)
    assert found.limits[0].chance == pytest.approx(stats.binom.cdf(hits - 1, positives, 0.9))


def test_two_capacities_share_the_risk_and_a_day_is_told_by_its_beta_binomial():
    y, s = rows(3, n=1_500)
    one, two = (promised(y, s, "recall", limit) for limit in ("alerts <= 10 of 100", "alerts <= 78 of 1000"))
    both = promised(y, s, "recall", ["alerts <= 10 of 100", "alerts <= 78 of 1000"])
    assert both.counts.predicted_positives < min(one.counts.predicted_positives, two.counts.predicted_positives)
    flagged = float(one.counts.predicted_positives)
    exceeded = stats.betabinom.sf(10, 100, flagged + 1, 1_500 - flagged)
    assert one.limits[0].exceeded == pytest.approx(exceeded) and exceeded <= 0.05


def test_uneven_weights_and_clusters_of_one_row_promise_no_more_than_the_rows_are_worth():
    y, s = (
        np.repeat([1, 0], [60, 600]),
        np.random.default_rng(1).standard_normal(660) + 2.5 * np.repeat([1, 0], [60, 600]),
    )
    uneven = np.random.default_rng(2).lognormal(0, 1.5, len(y))
    assert promised(y, s, "specificity", "recall >= 0.9", sample_weight=uneven).trivial  # worth some 15 positives
    alone = promised(y, s, "specificity", "recall >= 0.8", cluster=np.arange(len(y)))
    assert alone.value <= promised(y, s, "specificity", "recall >= 0.8").value


@pytest.mark.parametrize("where", ["recall >= 90%", "recall≥0.9", ["recall >= 0.9 AND specificity >= 0.001"]])
def test_a_limit_is_read_as_people_write_it(where):
    y, s = rows(4)
    found = best_threshold(y, s, "specificity", where=where, draws=0)
    assert found.threshold == best_threshold(y, s, "specificity", where="recall >= 0.9", draws=0).threshold


# ---------------------------------------------------------------- trivial, and too few rows


def test_flagging_everybody_is_marked_as_trivial_and_says_how_many_rows_are_needed():
    y, s = np.repeat([1, 0], [20, 200]), np.random.default_rng(0).random(220)
    found = promised(y, s, "specificity", "recall >= 0.9")
    assert found.trivial and found.threshold == 0.0
    assert any("flags everybody" in note for note in found.notes)
    assert "at least 29 positives; here are 20" in found.needed
    y, s = rows(0, n=600)
    assert not promised(y, s, "specificity", "recall >= 0.9").trivial


@pytest.mark.parametrize("confidence", [None, 0.95])
@pytest.mark.parametrize("kind", ["rows", "weights", "clusters", "prevalence"])
def test_a_threshold_that_flags_nobody_breaks_no_limit_on_who_is_flagged(kind, confidence):
    y, s = np.repeat([1, 0], [10, 20]), np.random.default_rng(0).random(30)
    ways = {"weights": {"sample_weight": s + 0.5}, "clusters": {"cluster": np.arange(30) // 2}}
    given = {**ways, "prevalence": {"prevalence": Prevalence(positives=3, rows=40)}}.get(kind, {})
    where = ["alerts <= 0 of 1000", "specificity >= 0.999", "predicted_prevalence <= 0"]
    found = promised(y, s, "specificity", where, **given, confidence=confidence)
    assert found.threshold == math.inf and found.limits[0].exceeded == 0
    assert [kept.chance for kept in found.limits] == [None if confidence else 1.0] * 3


def test_a_prevalence_that_is_hardly_known_may_be_what_is_missing():
    y, s = rows(1, n=600)
    with pytest.raises(InputError, match=r"so may a prevalence estimated from more rows than 0.125 %"):
        promised(y, s, "recall", "precision >= 0.3", prevalence=Prevalence(positives=0, rows=400))


def test_where_there_are_rows_enough_the_scores_are_said_to_be_what_is_missing():
    y, s = rows(0, n=400, apart=1.5)
    with pytest.raises(
        InputError, match=r"rows would be enough for such a limit, but the scores meet precision >= 0.9"
    ):
        promised(y, s, "recall", "precision >= 0.9")


def test_the_rows_that_two_limits_take_at_the_very_least_are_named_for_each():
    y = np.repeat([1, 0], [20, 30])
    s = (y + np.random.default_rng(0).random(50)) / 2
    with pytest.raises(
        InputError, match=r"needs at least \d+ positives and at least \d+ negatives; here are 20 and 30"
    ):
        promised(y, s, "recall", ["recall >= 0.9", "specificity >= 0.95"])


def test_a_limit_that_no_rows_would_reach_says_so():
    y, s = rows(6, n=300, apart=0.0)
    with pytest.raises(InputError, match=r"but the scores meet precision >= 0.6 by too little|No threshold reaches"):
        promised(y, s, "recall", "precision >= 0.6")


# ---------------------------------------------------------------- costs by row


def brute_cost(y, s, fn, fp, tp=0.0, tn=0.0):
    """The least mean cost over every threshold, row by row."""
    thresholds = [math.inf, *sorted(set(s.tolist()), reverse=True)]
    costs = [np.where(y == 1, np.where(s >= t, tp, fn), np.where(s >= t, fp, tn)).mean() for t in thresholds]
    return min(costs), thresholds[int(np.argmin(costs))]


def test_costs_by_row_are_those_of_brute_force_from_arrays_frames_and_tables():
    rng = np.random.default_rng(0)
    for seed in range(5):
        y, s = rows(seed, n=150)
        amount, review = rng.gamma(1, 50, len(y)), rng.random(len(y))
        cost = {"cost_fp": 5, "cost_tp": 2}
        amounts = np.maximum(amount, 2.0)
        least, observed = brute_cost(y, s, amounts, 5.0, 2.0)
        found = best_threshold(y, s, cost={**cost, "cost_fn": amounts}, draws=0)
        assert found.value == pytest.approx(least) and found.observed == observed
        assert found.counts.total == len(y)  # rows, and not what they cost
        frame = pd.DataFrame({"y": y, "s": s, "amount": amounts, "review": review})
        for given in (frame, pl.from_pandas(frame)):
            named = best_threshold(given, true="y", score="s", cost={**cost, "cost_fn": "amount"}, draws=0)
            assert (named.value, named.observed) == (pytest.approx(least), observed)
        frame["fraud"] = np.where(y == 1, amounts, 0.0)  # amounts that only fraud has
        fraud = best_threshold(frame, true="y", score="s", cost={**cost, "cost_fn": "fraud"}, draws=0)
        assert (fraud.value, fraud.observed) == (pytest.approx(least), observed)
        tally = steelyard.tally(frame, true="y", score="s", cost="amount")
        assert best_threshold(tally, cost={**cost, "cost_fn": "amount"}, draws=0).value == pytest.approx(least)
        both = best_threshold(frame, true="y", score="s", cost={"cost_fn": "amount", "cost_fp": "review"}, draws=0)
        assert both.value == pytest.approx(brute_cost(y, s, amounts, review)[0])
        gain = best_threshold(y, s, cost={"cost_fn": 0, "cost_fp": 5, "benefit_tp": amount}, draws=0)
        assert gain.value == pytest.approx(brute_cost(y, s, 0.0, 5.0, -amount)[0])


def test_a_table_of_scores_alone_holds_no_costs():
    y, s = rows(1)
    with pytest.raises(InputTypeError, match="holds no costs; give the rows, or a tally"):
        best_threshold(score_table(y, s), cost={"cost_fn": "amount"})


def test_costs_that_are_numbers_are_the_expected_cost():
    y, s = rows(1)
    by_cost = best_threshold(y, s, cost={"cost_fn": 10, "cost_fp": 1}, draws=0)
    assert by_cost == best_threshold(y, s, {"cost_fn": 10, "cost_fp": 1}, draws=0)
    by_row = best_threshold(y, s, cost={"cost_fn": np.full(len(y), 10.0), "cost_fp": 1}, draws=0)
    assert (by_row.threshold, by_row.value) == (by_cost.threshold, pytest.approx(by_cost.value))
    benefit = best_threshold(y, s, cost={"cost_fn": 4, "benefit_tp": 6}, draws=0)
    assert benefit.threshold == by_cost.threshold


def test_a_limit_on_the_expected_cost_is_read_with_the_costs():
    y, s = rows(1)
    found = best_threshold(y, s, cost={"cost_fn": 10, "cost_fp": 2}, where="expected_cost <= 0.9", draws=0)
    assert found.limits[0].limit == "expected_cost[cost_fn=10, cost_fp=2] <= 0.9"
    assert found.limits[0].value == found.value
    with pytest.raises(InputError, match="No threshold reaches"):  # at costs of 1 every threshold would
        best_threshold(y, s, cost={"cost_fn": 1000}, where="expected_cost <= 0.3")


def test_a_limit_on_the_expected_cost_may_lie_anywhere_in_the_range_that_the_costs_give():
    y, s = rows(3)
    assert best_threshold(y, s, cost={"cost_fn": 10}, where="expected_cost <= 3", draws=0).value <= 3


def test_a_column_of_bad_costs_is_one_of_costs_and_not_of_weights():
    frame = pl.DataFrame({"y": [0, 1, 0, 1], "s": [0.1, 0.2, 0.3, 0.4], "amount": [1.0, -2.0, 3.0, 4.0]})
    with pytest.raises(InputError, match="'amount' holds -2; a cost cannot be negative"):
        best_threshold(frame, true="y", score="s", cost={"cost_fn": "amount"})


def test_alerts_are_counted_as_their_limit_counts_them():
    y, s = rows(2, n=2_000)
    (kept,) = best_threshold(y, s, "recall", where="alerts <= 300 of 2000", draws=0).limits
    assert kept.here == f"{round(2_000 * kept.value)}"
    assert best_threshold(y, s, "recall", where="specificity >= 0.9", draws=0).limits[0].here == "90.1 %"


def test_costs_and_benefits_by_row_add_up_in_arrays_and_in_columns():
    y, s = rows(2)
    s, rng = np.round(s, 1), np.random.default_rng(0)
    missed, review, saved = (rng.gamma(1.0, scale, len(y)) for scale in (50, 4, 30))
    costs = {"cost_fn": missed + review, "cost_tp": review, "benefit_tp": saved, "cost_fp": 30}
    frame = pl.DataFrame({"y": y, "s": s, "fn": missed + review, "tp": review, "saved": saved})
    named = {"cost_fn": "fn", "cost_tp": "tp", "benefit_tp": "saved", "cost_fp": 30}
    for found in (best_threshold(y, s, cost=costs), best_threshold(frame, true="y", score="s", cost=named)):
        value, observed = brute_cost(y, s, missed + review, 30, review - saved)
        assert (found.value, found.observed) == pytest.approx((value, observed))
        assert found.out_of_sample_interval[0] < found.value < found.out_of_sample_interval[1]


def test_costs_by_row_times_the_weights_are_the_weighted_costs_as_the_refusal_says():
    y, s = rows(2)
    amount, weight = (np.random.default_rng(seed).gamma(1.0, 50, len(y)) for seed in (0, 1))
    with pytest.raises(InputError, match="each times the row's weight over the mean weight"):
        best_threshold(y, s, cost={"cost_fn": amount, "cost_fp": 5}, sample_weight=weight)
    each = weight / weight.mean()
    found = best_threshold(y, s, cost={"cost_fn": amount * each, "cost_fp": 5 * each}, draws=0)
    missed, alarmed = y * amount, (1 - y) * 5
    means = [np.average(np.where(s >= t, alarmed, missed), weights=weight) for t in s]
    assert (found.value, found.observed) == pytest.approx((min(means), s[int(np.argmin(means))]))


def test_limits_beside_costs_are_of_rows_and_not_of_what_they_cost():
    y, s = rows(2)
    amount = np.random.default_rng(0).gamma(0.3, 100, len(y))
    found = promised(y, s, None, "recall >= 0.8", cost={"cost_fn": amount, "cost_fp": 40})
    limited = promised(y, s, "specificity", "recall >= 0.8")
    assert found.counts.tp / found.counts.positives >= 0.8
    assert found.threshold <= limited.threshold


def test_the_value_on_new_rows_has_an_interval_and_the_choice_a_regret():
    y, s = rows(4)
    amount = np.random.default_rng(1).gamma(1, 20, len(y))
    for found in (best_threshold(y, s, cost={"cost_fn": amount, "cost_fp": 2}), best_threshold(y, s, "mcc")):
        low, high = found.out_of_sample_interval
        assert low < found.out_of_sample < high and found.regret >= 0
        assert Result.from_json(found.to_json()) == found
        assert json.loads(found.to_json())["regret"] == pytest.approx(found.regret)


# ---------------------------------------------------------------- prevalence and clusters


def test_at_another_prevalence_the_value_is_that_of_at_prevalence():
    y, s = rows(7)
    found = best_threshold(y, s, "mcc", prevalence=0.02, draws=0)
    there = steelyard.at_prevalence(found.counts, 0.02)
    assert found.value == pytest.approx(get_metric("mcc")(there))
    assert found.threshold > best_threshold(y, s, "mcc", draws=0).threshold
    here = best_threshold(y, s, "mcc", prevalence=float(y.mean()), draws=0)
    assert here.threshold == best_threshold(y, s, "mcc", draws=0).threshold


@pytest.mark.parametrize("where", ["predicted_prevalence <= 0.3", "alerts <= 30000 of 100000"])
def test_the_chance_of_a_share_flagged_is_that_at_the_prevalence_given(where):
    y, s = rows(0)
    kept = best_threshold(y, s, "recall", where=where, prevalence=0.5, draws=0, rng=0).limits[0]
    assert kept.value == pytest.approx(0.3, abs=0.01) and kept.chance == pytest.approx(0.5, abs=0.15)


def test_an_uncertain_prevalence_makes_a_promise_dearer():
    y, s = rows(8, n=1_500)
    sure = promised(y, s, "recall", "precision >= 0.3", prevalence=0.1)
    unsure = promised(y, s, "recall", "precision >= 0.3", prevalence=Prevalence(positives=10, rows=100))
    assert unsure.value < sure.value
    of_recall = promised(y, s, "specificity", "recall >= 0.8", prevalence=0.01)
    assert of_recall.threshold == promised(y, s, "specificity", "recall >= 0.8").threshold


def test_an_uncertain_prevalence_widens_the_interval_of_the_value_and_the_band():
    y, s = rows(8, n=1_500)
    few, many = Prevalence(positives=5, rows=100), Prevalence(positives=50_000, rows=1_000_000)
    ends = [
        best_threshold(y, s, "precision", where="recall >= 0.5", prevalence=at).out_of_sample_interval
        for at in (few, many)
    ]
    widths = [high - low for low, high in ends]
    assert widths[0] > 1.5 * widths[1]
    for metric, wider in (("precision", 1.2), ("recall", 1.0)):
        bands = [steelyard.figures.confidence_band(y, s, metric=metric, prevalence=at) for at in (few, many)]
        unsure, sure = (np.nansum([point.high - point.low for point in band]) for band in bands)
        assert unsure >= wider * sure if wider > 1 else unsure == pytest.approx(sure)


def test_copies_of_rows_in_clusters_promise_no_more_than_the_rows_themselves():
    y, s = rows(9, n=300)
    once = promised(y, s, "specificity", "recall >= 0.7")
    many, scores, cluster = np.tile(y, 8), np.tile(s, 8), np.tile(np.arange(len(y)), 8)
    blind = promised(many, scores, "specificity", "recall >= 0.7")
    aware = promised(many, scores, "specificity", "recall >= 0.7", cluster=cluster)
    assert blind.value > once.value + 0.01
    assert aware.value == pytest.approx(once.value, abs=0.06) and aware.value < blind.value
    frame = pd.DataFrame({"y": many, "s": scores, "who": cluster})
    named = best_threshold(
        frame,
        metric="specificity",
        where="recall >= 0.7",
        confidence=0.95,
        true="y",
        score="s",
        cluster="who",
        draws=0,
    )
    assert named.threshold == aware.threshold


@pytest.mark.parametrize(
    ("of_class", "metric", "where"), [(1, "specificity", "recall >= 0.7"), (0, "recall", "specificity >= 0.7")]
)
def test_copies_of_either_class_promise_no_more_than_its_rows_once(of_class, metric, where):
    y, s = rows(4, n=200, prevalence=0.5)
    times = np.where(y == of_class, 10, 1)
    many, scores, cluster = (np.repeat(column, times) for column in (y, s, np.arange(200)))
    once, blind, aware = (
        promised(*given, metric, where, cluster=who)
        for given, who in (((y, s), None), ((many, scores), None), ((many, scores), cluster))
    )
    passed = [(s[y == of_class] >= found.threshold).mean() for found in (once, blind, aware)]
    lost = [passed[0] - share if of_class else share - passed[0] for share in passed]
    assert lost[1] > 0.01 and abs(lost[2]) < lost[1] / 2


def clustered(clusters, of_each=20, apart=2.0):
    rng = np.random.default_rng(clusters)
    who, y = np.repeat(np.arange(clusters), of_each), np.tile([0, 1], clusters * of_each // 2)
    return y, rng.normal(0, 0.5, clusters)[who] + rng.normal(0, 0.8, len(y)) + apart * y, who


@pytest.mark.parametrize("where", ["recall >= 0.6", "f1 >= 0.3", "alerts <= 90 of 100"])
def test_rows_of_few_clusters_promise_nothing(where):
    y, s, who = clustered(8)
    few = (y == 0) | (who < 4)
    with pytest.raises(InputError, match="depends on the positives, whose rows are of 4 clusters"):
        promised(y[few], s[few], "specificity", where, cluster=who[few])
    assert promised(y[few], s[few], "recall", "specificity >= 0.5", cluster=who[few]).limits[0].confidence == 0.95


def test_the_rows_that_clusters_need_are_rows_like_these():
    y, s, who = clustered(6, 6)
    least = promised(y, s, "specificity", "recall >= 0.9", cluster=who).needed
    assert re.fullmatch(
        r"recall >= 0.9 with 95 % confidence needs at least \d+ positives like these; here are 18.", least
    )


def test_the_prevalence_of_clusters_is_as_uncertain_as_they_vary():
    who, y = np.repeat(np.arange(40), 10), np.repeat([1, 0] * 20, 10)
    assert threshold_sample.ClusterRows(y == 1, y, np.ones(400), who).share_rows == pytest.approx(
        39
    )  # copies of one row each
    mixed = np.random.default_rng(0).permutation(y)
    assert threshold_sample.ClusterRows(mixed == 1, y, np.ones(400), who).share_rows == pytest.approx(400, rel=0.4)


def test_the_names_of_clusters_do_not_matter():
    y, s, who = clustered(8, 30)
    names = np.array(list("hcafbged"))[who]
    one, other = (
        best_threshold(y, s, where="recall >= 0.6 and f1 >= 0.4", confidence=0.95, cluster=of, rng=0)
        for of in (who, names)
    )
    assert one.row() == other.row()


def test_costs_by_row_in_clusters_are_resampled_by_cluster():
    y, s = rows(9, n=250)
    amount = np.where(y == 1, np.random.default_rng(0).gamma(1, 20, len(y)), 0.0)
    many, scores, cluster = np.tile(y, 6), np.tile(s, 6), np.tile(np.arange(len(y)), 6)
    cost = {"cost_fn": np.tile(amount, 6), "cost_fp": 2}
    once = best_threshold(y, s, cost={"cost_fn": amount, "cost_fp": 2})
    blind, aware = (best_threshold(many, scores, cost=cost, cluster=who) for who in (None, cluster))
    assert aware.value == pytest.approx(once.value) and aware.threshold == once.threshold
    widths = [found.out_of_sample_interval[1] - found.out_of_sample_interval[0] for found in (once, blind, aware)]
    assert widths[1] < 0.7 * widths[0] and widths[2] == pytest.approx(widths[0], rel=0.35)
    frame = pl.DataFrame({"y": many, "s": scores, "who": cluster, "amount": cost["cost_fn"]})
    named = best_threshold(frame, true="y", score="s", cluster="who", cost={"cost_fn": "amount", "cost_fp": 2})
    beside = best_threshold(many, scores, columns=frame, cluster="who", cost={"cost_fn": "amount", "cost_fp": 2})
    assert aware.row() == named.row() == beside.row()


def test_weights_promise_by_the_rows_they_are_worth():
    y, s = rows(10, n=900)
    even = promised(y, s, "specificity", "recall >= 0.8", sample_weight=np.full(len(y), 3.0))
    uneven = promised(
        y, s, "specificity", "recall >= 0.8", sample_weight=np.random.default_rng(0).choice([0.1, 5.0], len(y))
    )
    assert even.value == pytest.approx(promised(y, s, "specificity", "recall >= 0.8").value, abs=0.08)
    assert not uneven.trivial and uneven.counts.tp / uneven.counts.positives > 0.8


def test_a_share_of_weighted_rows_is_known_by_the_linearised_variance():
    rng = np.random.default_rng(3)
    s = np.sort(rng.standard_normal(4_000))
    w = np.exp(-s)
    table = score_table([1] * 4_000 + [0], [*s, -9.0], sample_weight=[*w, 1.0])
    at = np.array([40, 600, 2_000])
    shares = np.array([w[i:].sum() for i in at]) / w.sum()
    variance = [(w**2 * ((s >= s[i]) - p) ** 2).sum() / w.sum() ** 2 for i, p in zip(at, shares, strict=True)]
    kish = w.sum() ** 2 / (w**2).sum()
    curve = bands.ClassWeights.of(table.positive).curve(s[at], shares, kish)
    assert curve.known == pytest.approx(np.minimum(kish, shares * (1 - shares) / variance), rel=0.06)
    assert curve.known[0] < 0.8 * kish
    assert curve.drawn(20_000, rng)[0].std(0) == pytest.approx(np.sqrt(variance), rel=0.06)


@pytest.mark.parametrize(("where", "of_class", "sign"), [("specificity >= 0.9", 0, 1), ("recall >= 0.8", 1, -1)])
def test_weights_that_grow_towards_errors_keep_the_promise(where, of_class, sign):
    """Weights exp(b s) shift a normal class by b, so the share of the weight above a threshold is known."""
    rng, apart, tilt, broken, runs = np.random.default_rng(1), 2.2, 0.7 * sign, 0, 300
    y = np.repeat([1, 0], [150, 300])
    for _ in range(runs):
        s = rng.normal(apart * y)
        w = np.where(y == of_class, np.exp(tilt * (s - apart * y)), 1.0)
        found = promised(y, s, "recall" if of_class == 0 else "specificity", where, sample_weight=w)
        above = stats.norm.sf(found.threshold - apart * of_class - tilt)
        broken += not found.trivial and (1 - above if of_class == 0 else above) < float(where[-3:])
    assert broken / runs <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / runs)  # by Kish's rows .13 and .11


@pytest.mark.parametrize("where", ["f1 >= 0.2", "mcc >= 0", "precision >= 0.5"])
@pytest.mark.parametrize("options", [{}, {"prevalence": 0.1}, {"sample_weight": [1e-100] * 10}])
def test_one_positive_promises_what_it_can_without_a_warning(where, options):
    y, s = np.repeat([0, 1], [9, 1]), np.random.default_rng(0).random(10)  # of which a resample may have none
    with contextlib.suppress(InputError):
        assert promised(y, s, "recall", where, **options).needed


# ---------------------------------------------------------------- refused


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"metric": "f1", "confidence": 0.95}, InputError, "give them too, such as where='recall >= 0.9'"),
        ({"where": "recall >= 0.9", "confidence": 95}, InputError, "such as 0.95, not 95"),
        ({"where": "alerts <= 200"}, InputError, "lacks the rows of a day"),
        ({"where": "alerts <= 2 %"}, InputError, "or of a share of all rows 'predicted_prevalence <= 2 %'"),
        ({"where": "recall >= 0.9, precision >= 0.2"}, InputError, "not joined by 'and'"),
        ({"where": "recall>=0.9;precision>=0.2"}, InputError, "not joined by 'and'"),
        (
            {"where": "recall >= 0.9 or precision >= 0.2"},
            InputError,
            "limits are kept all together; join them by 'and'",
        ),
        (
            {"where": "recall >= 1.2"},
            InputError,
            "lies between 0 and 1, and the bound of 'recall >= 1.2' does not; give",
        ),
        ({"where": "recall >= -1"}, InputError, "give a bound inside that range"),
        ({"where": "mcc <= 2"}, InputError, "mcc lies between -1 and 1"),
        ({"where": "brier <= 0.1"}, InputTypeError, "brier judges all probabilities at once"),
        ({"where": "roc_auc >= 0.8"}, InputTypeError, "roc_auc judges the order of all scores"),
        ({"metric": "log_loss"}, InputTypeError, "log_loss judges all probabilities at once"),
        ({"cost": {"cost_fn": 10}, "where": "expected_cost <= 12"}, InputError, "lies between 0 and 10"),
        ({"where": "alerts <= 300 of 200"}, InputError, "at most as many, not 300 of 200"),
        ({"metric": "f1", "cost": {"cost_fn": 3}}, InputTypeError, "metric= and cost= both say what is best"),
        ({"cost": [[0, 1], [5, 0]]}, InputTypeError, "cost= is a dictionary"),
        ({"cost": {"cost_fn": 1, "benefit_tp": math.inf}}, InputError, "Costs are finite numbers"),
        ({"cost": {"cost_nf": 3}}, InputTypeError, "'cost_nf' is no cost"),
        ({"wher": "recall >= 0.9"}, InputTypeError, "takes no wher=. Did you mean where=?"),
        ({"where": "recall >= 90"}, InputError, "did you mean 0.9 or 90 %?"),
        ({"cost": {"cost_fn": [-1.0] * 600}}, InputError, "cost_fn holds -1; a cost cannot be negative"),
        ({"cost": {"cost_fn": [math.nan] * 600}}, InputError, "a cost is a finite number"),
        (
            {"cost": {"cost_fn": [1.0] * 600}, "where": "expected_cost <= 0.3"},
            InputError,
            "expected_cost takes costs that are numbers",
        ),
        ({"cost": {"cost_fn": "amount"}}, InputError, "There is no column 'amount'"),
        ({"cost": {"cost_fn": [1.0] * 5}}, InputError, "5"),
        ({"cost": {"cost_fn": [1.0] * 600, "cost_tp": 2}}, InputError, "cost_tp exceeds cost_fn"),
        ({"cost": {"cost_fn": [1.0] * 600, "cost_tp": [2.0] * 600}}, InputError, "cost_tp exceeds cost_fn"),
        ({"cost": {"cost_fn": [1.0] * 600}, "sample_weight": [1.0] * 600}, InputError, "cannot be given together"),
        ({"prevalence": 1.5}, InputError, "A prevalence is a share"),
        ({"prevalence": [0.1, 0.9]}, InputError, "one share of positives"),
        ({"cluster": "who"}, InputTypeError, "who"),
        ({"by": "who"}, InputTypeError, "by= has no place in best_threshold"),
    ],
)
def test_what_cannot_be_promised_is_refused_in_one_sentence(options, error, says):
    y, s = rows(0)
    with pytest.raises(error) as refused:
        best_threshold(y, s, **{"draws": 0, **options})
    assert says in str(refused.value) and "\n" not in str(refused.value)
