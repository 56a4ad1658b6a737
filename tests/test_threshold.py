"""The best cut: brute force over every cut, golden values, bounds, plateaus, resamples, and what is refused."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pages_open import page_data
from scipy import stats

import steelyard
from steelyard import (
    Counts,
    Predictions,
    Result,
    SteelyardError,
    best_threshold,
    evaluate,
    get_metric,
    list_metrics,
    score_table,
)
from steelyard.exceptions import InputError, InputTypeError, UndefinedError, UnknownNameError
from steelyard.studies import roc_then_tpnr

DIRECTED = [m for m in list_metrics() if m.function and m.direction]
directed = pytest.mark.parametrize("metric", DIRECTED, ids=lambda m: m.name)
Y, S = [0, 0, 1, 0, 1, 1, 0], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]


def best(*args, **options):
    return best_threshold(*args, draws=0, **options)


def rows(seed, n=40, distinct=12):
    rng = np.random.default_rng(seed)
    y = np.append(rng.integers(0, 2, n - 2), [0, 1])
    return y, rng.integers(0, distinct, n) / 4 + y * rng.integers(0, 2, n)


def at(y, s, cut, direction=1, weight=None):
    """The counts at a cut, counted row by row."""
    w = np.ones(len(y)) if weight is None else np.asarray(weight)
    flagged = s >= cut if direction > 0 else s <= cut
    return Counts(
        *(
            float(w[mask].sum())
            for mask in (flagged & (y == 1), ~flagged & (y == 1), flagged & (y == 0), ~flagged & (y == 0))
        )
    )


def brute(metric, y, s, direction=1, weight=None):
    """The best value over every cut, from nobody flagged on, the first of equal ones; None where none is defined."""
    nobody = [math.inf * direction]
    cuts = nobody + sorted(set(s.tolist()), reverse=direction > 0)
    sign = 1 if metric.direction == "higher" else -1
    found = [(cut, sign * metric(at(y, s, cut, direction, weight))) for cut in cuts]
    found = [(cut, value) for cut, value in found if not math.isnan(value)]
    if not found:
        return None
    top = max(value for _, value in found)
    return next((cut, sign * value) for cut, value in found if value >= top - 1e-14 * max(1, abs(top)))


def middle_below(s, cut):
    """The middle between a score and the next lower one; the end of the scores where there is none."""
    below = s[s < cut]
    if math.isinf(cut):
        return cut
    lowest = 0.0 if s.min() >= 0 and s.max() <= 1 else -math.inf
    return (below.max() + cut) / 2 if len(below) else lowest


# ---------------------------------------------------------------- the optimum


@directed
def test_the_best_cut_is_that_of_brute_force(metric):
    for seed in range(25):
        y, s = rows(seed, n=8 + 2 * seed)
        cut, value = brute(metric, y, s)
        found = best(y, s, metric)
        assert (found.observed, found.threshold) == (cut, middle_below(s, cut)), seed
        assert found.value == pytest.approx(value, rel=1e-12, abs=1e-14)
        assert found.counts == at(y, s, cut)
        assert (s >= found.threshold).tolist() == (s >= cut).tolist()
        assert found.metric == metric.name


@directed
def test_low_scores_that_are_positive_are_searched_by_their_negative(metric):
    for seed in range(12):
        y, s = rows(seed, n=20)
        found = best(1 - y, -s, metric)
        assert found.observed == -brute(metric, 1 - y, s, -1)[0], seed
        assert found.counts == at(1 - y, s, -found.threshold, -1) == at(1 - y, s, -found.observed, -1)


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 6), st.integers(1, 4)), min_size=2, max_size=25))
@settings(max_examples=60, deadline=None)
def test_frequency_is_repetition_and_weights_scale(given_rows):
    y, s, f = map(np.array, zip(*given_rows, strict=True))
    if len(set(y.tolist())) < 2 or len(set(s.tolist())) < 2:
        return
    for name in ("informedness", "f1", "mcc", "expected_cost"):
        repeated = best(np.repeat(y, f), np.repeat(s, f), name)
        for found in (best(y, s, name, frequency=f), best(y, s, name, sample_weight=f * 0.1)):
            assert found.threshold == repeated.threshold
            assert found.value == pytest.approx(repeated.value, rel=1e-12, abs=1e-14)
        assert best(y, s, name, frequency=f).counts == repeated.counts


def test_weights_are_those_of_brute_force():
    rng = np.random.default_rng(3)
    for seed in range(20):
        y, s = rows(seed)
        w = rng.integers(0, 5, len(y)) / 7 + (rng.random(len(y)) < 0.9) * 0.1
        w[-2:] = 1
        for name in ("informedness", "g_mean", "f1"):
            cut, value = brute(get_metric(name), y[w > 0], s[w > 0], weight=w[w > 0])
            found = best(y, s, name, sample_weight=w)
            assert found.value == pytest.approx(value, rel=1e-12)
            assert found.observed == cut


def test_every_golden_cut(golden):
    for case in golden("scores")["scores"]:
        for key, name in (("best_tpnr", "tpnr"), ("best_youden", "informedness"), ("best_ac", "ac_score")):
            found = best(case["y"], case["score"], name)
            expected = case[key]["threshold_ge"]
            assert found.observed == (math.inf if expected is None else expected), (case["name"], key)
            assert found.value == pytest.approx(case[key]["value"], rel=1e-14, abs=1e-15)


def test_the_authors_example_of_the_ac_score(golden):
    expected = golden("scores")["ac_score_script_example"]
    n = expected["N"]
    scores = np.random.RandomState(expected["seed"]).permutation(n)
    # The labels of python/example.py in their repository: the two in the middle change places.
    y = ["red"] * (n // 2 - 1) + ["green", "red"] + ["green"] * (n // 2 - 1)
    found = best(y, -scores, "ac_score", pos_label="green")  # low scores are positive there
    assert found.value == pytest.approx(expected["acscore"], rel=1e-15) and expected["direction"] == 0
    assert list(found.counts) == expected["tp_fn_fp_tn"]
    assert -found.threshold == expected["best_cut"] and -found.observed == expected["best_cut"] - 0.5
    assert best(y, scores, "ac_score", pos_label="green").value < found.value


def test_tied_scores_are_never_cut_apart_where_the_authors_script_does():
    assert best([0, 1, 0, 1, 0, 1], [1, 1, 1, 1, 1, 2], "ac_score").value == 0.5
    assert best([0, 0, 1, 1], [0.3, 0.7, 0.7, 0.7], "ac_score").value == pytest.approx(2 / 3)


def test_equal_optima_are_equal_whatever_rounding_makes_of_them():
    # 3/7 x 2/5 and 2/7 x 3/5 differ in the last digit as floats.
    y = np.repeat([1, 0, 1, 0, 1, 0], [2, 2, 1, 1, 4, 2])
    s = np.repeat([6, 5, 4, 3, 2, 1], [2, 2, 1, 1, 4, 2]).astype(float)
    values = [steelyard.tpnr(at(y, s, cut)) for cut in (6, 4)]
    assert values == pytest.approx([2 / 7, 9 / 35])
    for scale in (1, 3, 0.1, 1e6):
        assert best(y, s, "tpnr", sample_weight=np.full(len(y), scale)).threshold == best(y, s, "tpnr").threshold


# ---------------------------------------------------------------- the middle of the gap


def test_a_threshold_lies_in_the_middle_of_the_gap_and_the_lowest_flagged_score_is_kept():
    found = best([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9], "ac_score")
    assert (found.threshold, found.observed) == (0.5, 0.8)
    assert found.row()["observed"] == 0.8
    saved = Result.from_json(found.to_json())
    assert saved == found and saved.observed == 0.8
    older = {key: value for key, value in found.to_dict().items() if key != "observed"}
    assert Result.from_json(older).observed == older["threshold"]  # as it was when that was an observed score


@pytest.mark.parametrize("scale", [1, 10])
def test_the_page_shows_the_thresholds_that_best_threshold_gives(scale):
    y, s = rows(6, n=60, distinct=30)
    table = score_table(y, s / s.max() * scale)
    shown = page_data(evaluate(table, threshold=-math.inf, metrics=[m.name for m in DIRECTED], draws=20).to_html())
    nobody, *thresholds = shown["thresholds"]["threshold"]
    assert nobody is None and shown["index"] == len(thresholds) and np.isfinite(thresholds).all()
    with_best = [row for row in shown["metrics"] if "best" in row]
    assert len(with_best) > 30
    for row in with_best:
        found = best(table, metric=row["name"])
        at = [math.inf, *thresholds][row["best"]]
        assert found.threshold in (at, -math.inf), row["name"]
        assert table.at(at) == found.counts


def test_scores_of_few_digits_that_lie_close_have_a_middle():
    found = best([0, 0, 1, 1], [0.2368, 0.2396, 0.2397, 0.2409], "ac_score")
    assert found.threshold == pytest.approx(0.23965, abs=1e-15) and found.observed == 0.2397
    rng = np.random.default_rng(5)
    for _ in range(50):
        s, y = np.sort(rng.random(40) * 10.0 ** rng.integers(-9, 9)), rng.permutation(np.repeat([0, 1], 20))
        found = best(y, s, "f1")
        assert found.threshold == pytest.approx(middle_below(s, found.observed), rel=1e-15)


def test_nobody_is_infinity_and_everybody_is_zero_for_probabilities_else_minus_infinity():
    nobody = best([1, 0], [0, 1], "ac_score")
    assert nobody.threshold == nobody.observed == math.inf and nobody.to_dict()["threshold"] is None
    everybody = best([1, 0], [0.5, 0.75], "recall")
    assert (everybody.threshold, everybody.observed) == (0, 0.5)
    ranked = best([1, 0], [5, 7], "recall")
    assert (ranked.threshold, ranked.observed) == (-math.inf, 5)
    assert Result.from_json(ranked.to_json()) == ranked


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), min_size=2, max_size=12, unique=True),
    st.sampled_from([np.float16, np.float32, np.float64]),
    st.integers(0, 1),
    st.data(),
)
@settings(max_examples=200, deadline=None)
def test_the_threshold_separates_the_same_rows_in_the_precision_of_the_scores(values, precision, beside, data):
    with np.errstate(over="ignore"):
        s = np.array(values, dtype=precision)
        s = s[np.isfinite(s)]
        s = np.unique(np.append(s, np.nextafter(s, precision(np.inf)) if beside else s))
    s = s[np.isfinite(s)]
    if len(s) < 2:
        return
    y = np.array(data.draw(st.lists(st.integers(0, 1), min_size=len(s), max_size=len(s))))
    y[:2] = [0, 1]
    found = best(y, s, "informedness")
    flagged = s >= s.dtype.type(found.observed)
    for given in (s, s.astype(np.float64)):
        assert (given >= found.threshold).tolist() == flagged.tolist(), found.to_dict()


def test_a_threshold_between_bins_divides_none():
    y, s = noise(20_000, 4)
    exact = score_table(y, np.round(s + y, 1))
    table = replace(exact, bins=np.array([[low, low + 0.08] for low in exact.thresholds[:0:-1]]))
    found = best(table, "ac_score")
    assert not [each for each in table.bins.tolist() if each[0] < found.threshold <= each[1]]
    assert math.isclose(found.threshold % 0.1, 0.09, abs_tol=1e-9)


# ---------------------------------------------------------------- what may be asked for


def test_a_table_gives_what_its_rows_give():
    y, s = rows(1)
    assert repr(best_threshold(score_table(y, s), metric="mcc")) == repr(best_threshold(y, s, "mcc"))


def test_own_functions_means_costs_and_parameters():
    y, s = rows(2)
    assert best(y, s, lambda tp, fn, fp, tn: tp - 3 * fp).value == max(
        float(c.tp - 3 * c.fp) for c in (at(y, s, cut) for cut in [math.inf, *s])
    )
    mean = best(y, s, ["f1", "mcc"])
    assert mean.value == pytest.approx((steelyard.f1(mean.counts) + steelyard.mcc(mean.counts)) / 2)
    assert mean.metric == "mean(f1, mcc)"
    named = best(y, s, "expected_cost[cost_fn=10,cost_fp=2]")
    for same in ({"cost_fn": 10, "cost_fp": 2}, [[0, 2], [10, 0]], np.array([[0, 2.0], [10, 0]])):
        assert best(y, s, same) == named
    assert best(y, s, get_metric("f_beta").fixed(beta=3)) == best(y, s, "f_beta[beta=3]")
    assert best(Predictions(y, y_score=s), "f_beta[beta=3]") == best(y, s, metric="f_beta[beta=3]")


def test_labels_of_any_kind():
    y, s = rows(3)
    words = np.where(y == 1, "ill", "well")
    assert best(words, s, "f1", pos_label="ill") == replace(best(y, s, "f1"), positive="ill")
    assert best(y == 1, s, "f1") == best(y, s, "f1")


def test_without_an_aim_the_error_names_the_aims_and_the_menu():
    y, s = rows(3)
    for ask in (lambda: best(y, s), lambda: steelyard.evaluate(y, y_score=s).best_threshold()):
        with pytest.raises(InputTypeError, match=r"'f1', cost=.*, where=.*use='alerts'.*operating_points"):
            ask()


def test_a_use_stands_for_its_metric_at_the_prevalence_in_force():
    y, s = rows(3)
    assert best(y, s, use="alerts", prevalence=0.1) == best(y, s, "f1", prevalence=0.1)
    assert best(y, s, use="fraud") == best(y, s, "f1") and best(y, s, use="balance") == best(y, s, "ac_score")
    assert best(y, s, "mcc", use="alerts") == best(y, s, "mcc")
    assert best(y, s, use="probabilities", cost={"cost_fn": 5}) == best(y, s, cost={"cost_fn": 5})
    for use, words in (("probabilities", "say what errors cost"), ("ranking", "takes no threshold")):
        with pytest.raises(InputError, match=words):
            best(y, s, use=use)


def test_limits_alone_leave_the_choice_to_the_ac_score_and_say_so():
    y, s = rows(3)
    alone, named = (best(y, s, metric, where="recall >= 0.5") for metric in (None, "ac_score"))
    assert replace(alone, assumed=()) == named and "Limits alone were given" in alone.assumed[0]


def test_roc_then_tpnr_is_tpnr_at_the_cut_of_informedness():
    y, s = rows(4)
    found, cut = roc_then_tpnr(y, s), best(y, s, "informedness")
    assert found.threshold == cut.threshold and found.plateau == cut.plateau
    assert found.metric == "tpnr" and found.value == steelyard.tpnr(cut.counts)
    assert 0 <= found.out_of_sample <= 1
    assert roc_then_tpnr(score_table(y, s), draws=0).value == found.value


# ---------------------------------------------------------------- bounds


@directed
def test_a_bound_leaves_only_the_cuts_that_meet_it(metric):
    for seed in range(6):
        y, s = rows(seed)
        found = best(y, s, metric, where=["specificity >= 0.5", "recall > 0.2"])
        tables = {cut: at(y, s, cut) for cut in sorted({math.inf, *s.tolist()}, reverse=True)}
        allowed = [c for c in tables.values() if steelyard.specificity(c) >= 0.5 and steelyard.recall(c) > 0.2]
        assert found.counts in allowed
        pick = np.nanmax if metric.direction == "higher" else np.nanmin
        assert found.value == pytest.approx(pick([metric(c) for c in allowed]), rel=1e-12, abs=1e-14)


def test_a_bound_that_weights_meet_but_for_rounding_is_met():
    y, s = np.repeat([0, 0, 1], [1, 99, 50]), np.repeat([5.0, 1.0, 4.0], [1, 99, 50])
    found = best(y, s, "recall", where="specificity >= 0.99", sample_weight=np.full(150, 0.1))
    assert found.observed == 4.0


def test_any_written_form_may_stand_in_a_bound():
    assert best(Y, S, "recall", where="f_beta[beta=2]>=.5").value == 1
    assert best(Y, S, "recall", where="predicted_prevalence <= 0.5").counts.predicted_positives <= 3.5
    assert best(Y, S, "precision", where="recall < 1e0").counts.fn > 0


def test_a_bound_that_no_cut_meets_names_the_nearest():
    with pytest.raises(
        InputError, match=r"No threshold reaches precision >= 0.99; the nearest is 0.667 at threshold 0.5\."
    ):
        best(Y, S, where="precision >= 0.99")
    with pytest.raises(
        InputError,
        match=r"reaches recall > 0.9 with specificity >= 0.8; the nearest is 0 at the threshold that flags nobody\.",
    ):
        best(Y, S, where=["specificity >= 0.8", "recall > 0.9"])
    with pytest.raises(
        InputError, match=r"alerts <= 100 of 1,000 rows with recall >= 1; the nearest is 1,000 of 1,000 rows"
    ):
        best([1, 0, 0, 1], [0.1, 0.2, 0.3, 0.4], where=["recall >= 1", "alerts <= 100 of 1000"])
    with pytest.raises(InputError, match=r"precision > 0.333; the nearest is 0.3328 at threshold 1"):
        best(np.repeat([1, 0], [416, 834]), np.ones(1250), where="precision > 0.333")
    with pytest.raises(InputError, match=r"diagnostic_odds_ratio is undefined at each"):
        best([0, 1], [1, 1], where="diagnostic_odds_ratio > 1")


@pytest.mark.parametrize(
    ("where", "kind", "words"),
    [
        ("recall => 0.9", InputError, "cannot be read: '=>' is none of >= <= > <"),
        ("recall == 0.9", InputError, "cannot be read: '==' is none"),
        ("recall", InputError, "cannot be read: it has no sign such as >="),
        ("recall >= much", InputError, "cannot be read: its right side is no number"),
        ("recall >= nan", InputError, "its right side is no number"),
        (">= 0.5", InputError, "it names no metric"),
        ([0.9], InputTypeError, "A limit is text such as 'recall >= 0.9', not 0.9"),
        (0.9, InputTypeError, "where= is text"),
        ("recal >= 0.9", UnknownNameError, "Did you mean 'recall'"),
        ("roc_auc >= 0.9", InputTypeError, "cannot constrain a threshold"),
    ],
)
def test_a_bound_that_cannot_be_read_is_refused_in_one_sentence(where, kind, words):
    with pytest.raises(kind, match=words) as told:
        best(Y, S, where=where)
    assert str(told.value).count("\n") == 0


# ---------------------------------------------------------------- plateau


def test_the_plateau_is_the_run_of_cuts_about_as_good():
    for seed in range(30):
        y, s = rows(seed, n=60, distinct=30)
        for name, direction in (("informedness", 1), ("f1", 1), ("error_rate", -1)):
            found = best(y, s, name)
            cuts = sorted({math.inf, *s.tolist()})
            values = [get_metric(name)(at(y, s, cut)) for cut in cuts]
            gain = np.nanmin(np.abs(found.value - np.array([values[0], values[-1]])))
            near = 0.02 * min(abs(found.value), gain) + 1e-12
            good = [abs(value - found.value) <= near for value in values]
            i = j = cuts.index(found.observed)
            while i and good[i - 1]:
                i -= 1
            while j + 1 < len(cuts) and good[j + 1]:
                j += 1
            assert found.plateau == (middle_below(s, cuts[i]), middle_below(s, cuts[j])), (seed, name, direction)


def test_equal_cuts_are_a_plateau_that_a_bound_ends():
    assert best([0, 1], [1, 2], "ac_score").plateau == (1.5, 1.5)
    assert best([0, 1, 0], [1, 2, 3], "recall").plateau == (-math.inf, 1.5)  # everybody flagged is as good
    assert best([0, 1, 0], [1, 2, 3], "recall", where="specificity > 0.4").plateau == (1.5, 1.5)


def test_a_precision_of_rare_positives_is_not_about_as_good_as_that_of_flagging_everybody():
    y = np.repeat([1, 0], [10, 1_990])
    s = np.concatenate([np.linspace(0.5, 0.9, 10), np.linspace(0, 0.75, 1_990)])
    found = best(y, s, "precision", where="recall >= 0.9")
    everybody = y.mean()
    assert found.precision < 0.02 and found.plateau[0] > 0.5
    low = at(y, s, found.plateau[0])
    assert steelyard.precision(low) >= found.value - 0.02 * (found.value - everybody) - 1e-12


def test_costs_are_about_as_good_within_a_fiftieth_of_the_least_and_of_the_gain():
    y, s = rows(3, n=60, distinct=30)
    for cost in ({"cost_fn": 30}, {"cost_fn": 30 * np.ones(60)}):
        found = best(y, s, cost=cost)
        costs = {middle_below(s, cut): (30 * at(y, s, cut).fn + at(y, s, cut).fp) / 60 for cut in s}
        least, (low, high) = min(costs.values()), found.plateau
        beside = [*sorted(cut for cut in costs if cut < low)[-1:], *sorted(cut for cut in costs if cut > high)[:1]]
        near = least + 0.02 * min(least, min(found.nobody, found.everybody) - least)
        assert found.value == pytest.approx(least) and min(costs[cut] for cut in beside) > near
        assert max(value for cut, value in costs.items() if low <= cut <= high) <= near + 1e-12


# ---------------------------------------------------------------- resamples


def noise(n, seed, share=0.5):
    rng = np.random.default_rng(seed)
    return (np.arange(n) < share * n).astype(int), rng.normal(size=n)


def test_on_noise_the_value_flatters_and_new_rows_are_expected_at_chance():
    found = [best_threshold(*noise(200, seed), "informedness", rng=seed) for seed in range(40)]
    assert all(f.value > 0 for f in found)
    assert np.mean([f.optimism for f in found]) > 0.05
    assert abs(np.mean([f.out_of_sample for f in found])) < 0.03
    assert all(f.optimism == f.value - f.out_of_sample for f in found)


def test_a_metric_to_be_lowered_is_flattered_downwards():
    found = best_threshold(*noise(200, 1), "error_rate")
    assert found.out_of_sample > found.value and found.optimism > 0


@pytest.mark.parametrize("share", [0.5, 0.1])
def test_what_is_expected_on_new_rows_is_what_they_give(share):
    gaps = []
    for seed in range(60):
        y, s = noise(300, seed, share)
        found = best_threshold(y, s + 1.5 * y, "informedness", rng=seed, draws=100)
        many, t = noise(20_000, 1000 + seed, share)
        true = steelyard.informedness(at(many, t + 1.5 * many, found.threshold))
        gaps.append((found.value - true, found.out_of_sample - true))
    apparent, corrected = np.mean(gaps, axis=0)
    assert abs(corrected) < apparent / 2 + 0.01


def test_the_interval_holds_the_cut_and_narrows_with_rows():
    widths = []
    for n in (100, 1_000, 30_000):
        y, s = noise(n, 7)
        found = best_threshold(y, s + 2 * y, "ac_score")
        low, high = found.interval
        middles = {middle_below(s + 2 * y, cut) for cut in (s + 2 * y)} if n < 1_000 else {low, high}
        assert low <= found.threshold <= high and {low, high} <= {math.inf, *middles}
        widths.append(high - low)
    assert widths[0] > widths[1] > widths[2] > 0


def test_the_true_cut_lies_in_the_interval_about_as_often_as_promised():
    inside = 0
    for seed in range(100):
        y, s = noise(200, seed)
        low, high = best_threshold(y, s + 2 * y, "ac_score", rng=seed).interval
        inside += low <= 1 <= high
    assert inside >= 88


def test_one_input_gives_one_output_and_no_resamples_give_none():
    y, s = noise(80, 3)
    assert best_threshold(y, s, "f1") == best_threshold(y, s, "f1")
    assert best_threshold(y, s, "f1", rng=1).out_of_sample != best_threshold(y, s, "f1", rng=2).out_of_sample
    found = best(y, s, "f1")
    assert found.interval is found.out_of_sample is found.optimism is found.precision_interval is None


def test_many_cuts_are_resampled_in_part_and_agree_with_all():
    y, s = noise(9_000, 5, share=0.05)
    s = s + 2 * y
    whole = best_threshold(y, np.round(s, 2), "mcc")
    part = best_threshold(y, s, "mcc")  # of which 4,096 scores are told apart
    assert len(np.unique(s)) == 9_000 and len(np.unique(np.round(s, 2))) < 4_096
    assert part.threshold == best(y, s, "mcc").threshold
    assert part.out_of_sample == pytest.approx(whole.out_of_sample, abs=0.02)
    assert part.interval == pytest.approx(whole.interval, abs=0.2)


def test_resamples_of_weighted_and_repeated_rows():
    y, s = noise(150, 9)
    s = np.round(s + y, 1)
    plain = best_threshold(np.repeat(y, 3), np.repeat(s, 3), "ac_score")
    often = best_threshold(y, s, "ac_score", frequency=np.full(150, 3))
    assert often.out_of_sample == pytest.approx(plain.out_of_sample, abs=0.02)
    weighted = best_threshold(y, s, "ac_score", sample_weight=np.full(150, 3.0))
    assert weighted.out_of_sample == pytest.approx(best_threshold(y, s, "ac_score").out_of_sample, abs=1e-12)
    assert weighted.out_of_sample < often.out_of_sample


def test_resamples_keep_the_bound():
    y, s = noise(200, 11)
    found = best_threshold(y, s + 2 * y, "recall", where="specificity >= 0.9")
    assert found.out_of_sample < found.value


# ---------------------------------------------------------------- the result


def test_the_result_reads_as_a_sentence_pickles_and_gives_a_row():
    assert best(Y, S, "ac_score").headline == "At threshold 0.450, AC-score is 0.706."
    assert best([1, 0], [0, 1], "ac_score").headline == "If nobody is flagged, AC-score is 0."
    assert best([1, 0], [2, 3], "recall").headline == "If everybody is flagged, recall is 100 %."
    assert best([1, 0], [2, 3], "g_mean").lead == ["All thresholds are about as good."]
    assert repr(best(Y, S, "f1")).splitlines()[1] == "5 of 7 rows are flagged: precision 60.0 %, recall 100 %."
    found = best_threshold(Y, S, "ac_score")
    shown = " ".join(repr(found).split())
    assert "on new rows." in shown and "The best threshold for all such rows lies between" in shown
    assert pickle.loads(pickle.dumps(found)) == found and found.kind == "best_threshold"
    assert found.row()["threshold"] == found.threshold and found.row()["tp"] == found.counts.tp
    with pytest.raises(AttributeError):
        found.threshold = 1


def test_what_is_flagged_and_both_rates_stand_beside_every_threshold_with_intervals_on_new_rows():
    y, s = noise(400, 2, share=0.1)
    found = best_threshold(y, s + 2 * y, "f1")
    counts, row = found.counts, found.row()
    assert found.flagged == counts.predicted_positives / 400 == row["flagged"]
    assert (found.precision, found.recall) == (steelyard.precision(counts), steelyard.recall(counts))
    for rate in ("precision", "recall"):
        low, high = row[f"{rate}_low"], row[f"{rate}_high"]
        assert 0 < low < getattr(found, rate) < high < 1
        exact = steelyard.interval(rate, counts)
        assert high - low > 0.99 * (exact.high - exact.low)  # the threshold was found on the same rows
    assert {"flagged", "precision", "recall"} <= set(found.shown_row()) and len(found.shown_row()) <= 8
    assert found.outcome in " ".join(repr(found).split()) and Result.from_json(found.to_json()) == found


def test_precision_is_that_of_the_prevalence_in_force():
    y, s = noise(2_000, 2, share=0.3)
    found = best_threshold(y, s + 2 * y, "f1", prevalence=0.01)
    at = found.counts.scaled(positives=0.01 / y.mean(), negatives=0.99 / (1 - y.mean()))
    assert found.precision == pytest.approx(steelyard.precision(at))
    assert found.flagged == pytest.approx((at.tp + at.fp) / at.total)
    low, high = found.precision_interval
    assert low < found.precision < high
    wider = best_threshold(y, s + 2 * y, "f1", prevalence=steelyard.Prevalence(positives=2, rows=200))
    assert wider.precision_interval[0] < low and wider.precision_interval[1] > high


def test_costs_stand_beside_those_of_flagging_nobody_and_everybody():
    y, s = rows(3)
    found = best(y, s, cost={"cost_fn": 10})
    assert (found.nobody, found.everybody) == pytest.approx((10 * y.mean(), 1 - y.mean()))
    assert "with nobody" in repr(found) and found.row()["everybody"] == found.everybody
    assert best(y, s, cost={"cost_fn": np.where(y, 10.0, 3.0)}).nobody == pytest.approx(found.nobody)
    assert best(y, s, "f1").nobody is None


def test_a_saved_threshold_that_flags_low_scores_is_refused():
    saved = best(Y, S, "f1").to_dict()
    assert Result.from_json({**saved, "direction": 1}) == best(Y, S, "f1")
    with pytest.raises(InputError, match="flags low scores"):
        Result.from_json({**saved, "direction": -1})


# ---------------------------------------------------------------- refused


@pytest.mark.parametrize(
    ("args", "options", "kind", "words"),
    [
        ((Y, S, "prevalence"), {}, InputError, "No value of prevalence is best"),
        ((Y, S, "roc_auc"), {}, InputTypeError, "no threshold is best for it"),
        ((Y, S, "informednes"), {}, UnknownNameError, "Did you mean 'informedness'"),
        ((Y, S, []), {}, InputError, "empty list"),
        ((Y, S, ["f1", "error_rate"]), {}, InputError, "some are best high and some low"),
        ((Y, S, {"cost_fnn": 3}), {}, InputTypeError, "Did you mean 'cost_fn'"),
        ((Y, S, "f1"), {"beta": 2}, InputTypeError, "takes no beta="),
        ((Y, S, ["f1", "mcc"]), {"beta": 2}, InputTypeError, "takes no beta="),
        ((Y, ["a"] * 7, "f1"), {}, InputTypeError, "y_score must hold numbers, not .*a"),
        ((Y, [0.1] * 6, "f1"), {}, InputError, "differ in length"),
        ((Y, [math.nan] * 7, "f1"), {}, InputError, "finite number"),
        (([1] * 7, S, "f1"), {}, InputError, "no negatives"),
        (([0] * 7, S, "f1"), {}, InputError, "no positives"),
        ((Y, np.zeros((7, 3))), {}, InputError, "needs a column for each"),
        (([0, 1, 2, 0, 1, 2, 0], np.full((7, 3), 1 / 3)), {}, InputError, "one column of scores"),
        ((Y,), {"metric": "f1"}, InputTypeError, "give y_pred .labels. or y_score="),
        ((score_table(Y, S), S), {}, InputTypeError, "A metric is named by"),
        ((score_table(Y, S),), {"pos_label": 0}, InputTypeError, "holds its rows already"),
        ((Predictions(Y, y_score=S), "f1"), {"metric": "mcc"}, InputTypeError, "given twice"),
        ((Y, S), {"both_directions": True}, InputTypeError, "takes no both_directions="),
        ((Y, S, "f1"), {"level": 95}, InputError, "level"),
        ((Y, S, "f1"), {"draws": 1.5}, InputError, "draws"),
        ((Y, S, "f1"), {"draws": -1}, InputError, "draws"),
        ((Y, S, "f1"), {"sample_weight": [-1] * 7}, InputError, "sample_weight"),
        (([0, 1], [1, 1], "diagnostic_odds_ratio"), {}, UndefinedError, "undefined at every threshold: no"),
        (([0, 1], [1, 2], "diagnostic_odds_ratio"), {"where": "recall > 0"}, UndefinedError, "that meets recall > 0: "),
    ],
)  # fmt: skip
def test_bad_input_is_refused_in_one_sentence(args, options, kind, words):
    with pytest.raises(kind, match=words) as told:
        best_threshold(*args, **options)
    assert isinstance(told.value, SteelyardError)
    assert "\n" not in str(told.value)


def test_a_table_of_one_class_has_no_best_cut():
    with pytest.raises(InputError, match="The truth holds no negatives"):
        best_threshold(score_table([1, 1], [1, 2], pos_label=1, labels=[0, 1]), metric="informedness")


def test_a_rate_of_which_all_rows_are_hits_is_known_no_better_than_these_rows_show():
    rng = np.random.default_rng(0)
    y = (rng.random(300) < 0.05).astype(int)
    s = rng.normal(1.5 * y)
    best = steelyard.best_threshold(y, s, "precision")
    assert (best.counts.tp, best.counts.fp) == (1, 0)
    assert best.out_of_sample_interval == pytest.approx((0.025, 1.0))  # Clopper and Pearson's of 1 out of 1
    nobody = steelyard.best_threshold(y, s, "specificity")
    negatives = int((y == 0).sum())
    assert nobody.out_of_sample_interval == pytest.approx((0.025 ** (1 / negatives), 1.0))
    weights = np.where(np.arange(300) % 2, 3.0, 1.0)
    weighted = steelyard.best_threshold(y, s, "specificity", sample_weight=weights)
    size = sum(weights[y == c].sum() ** 2 / (weights[y == c] ** 2).sum() for c in (0, 1))  # Kish's
    trials = weights[y == 0].sum() * size / weights.sum()
    assert weighted.out_of_sample_interval == pytest.approx((0.025 ** (1 / trials), 1.0))


def test_the_range_of_a_threshold_begins_right_above_a_row_of_the_rare_class():
    """No other threshold is best in a resample; of 20,000 scores not all are told apart, but these are."""
    rng = np.random.default_rng(3)
    y, scores = np.repeat([1, 0], [20_000, 60]), rng.normal(np.repeat([1.5, 0], [20_000, 60]))
    negatives, every = np.sort(scores[y == 0]), np.sort(scores)
    for seed in range(4):
        low, _ = best_threshold(y, scores, "informedness", pos_label=1, rng=seed).interval
        below = negatives[np.searchsorted(negatives, low) - 1]
        assert not ((every > below) & (every < low)).any()


def test_a_guaranteed_recall_has_the_interval_of_its_own_test():
    rng = np.random.default_rng(7)
    y = (rng.random(4_000) < 0.03).astype(int)
    score = rng.normal(2.2 * y)
    best = steelyard.best_threshold(y, score, "specificity", where="recall >= 0.8", confidence=0.95, rng=0)
    (limit,) = best.limits
    low, high = best.recall_interval
    hits, trials = best.counts.tp, best.counts.positives
    assert low == pytest.approx(stats.beta.ppf(0.05, hits, trials - hits + 1)) and low >= 0.8 and high == 1
    assert limit.here == f"{100 * best.recall:.1f} %"
    point = steelyard.operating_points(y, score, recall=0.8, rng=0)["recall of 80 % guaranteed"]
    assert (point.recall, point.recall_interval) == (best.recall, best.recall_interval)
