"""Comparison: paired tables that merge, tests that keep their level, intervals that cover, rankings that are stable."""

from __future__ import annotations

import json
import math
from functools import cache
from itertools import permutations, product

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from checks import holm
from command_line import run_command
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import steelyard
from steelyard import Counts, SteelyardError, at_prevalence, compare, confusion, get_metric
from steelyard.analysis.comparison import paired as paired_draws
from steelyard.analysis.intervals import score_draws
from steelyard.studies import corrected_t_test, friedman
from steelyard.tables import Paired, paired

TWO_CLASS = [
    *("recall", "specificity", "precision", "accuracy", "f1", "balanced_accuracy"),
    *("tpnr", "g_mean", "ac_score", "mcc", "kappa"),
]
MANY_CLASS = ["accuracy", "balanced_accuracy", "g_mean", "ac_score", "mcc", "kappa"]
RANKED = ["roc_auc", "average_precision", "weighted_auc"]
RNG = np.random.default_rng(0)
Y = (RNG.random(2_000) < 0.1).astype(int)
COMMON = RNG.normal(size=2_000)
SCORES = {
    name: 0.6 * COMMON + 0.8 * RNG.normal(size=2_000) + shift * Y
    for name, shift in (("lda", 1.6), ("nmc", 1.1), ("tree", 1.1))
}
PRED = {name: (score > 1).astype(int) for name, score in SCORES.items()}
PAIR = {name: PRED[name] for name in ("lda", "nmc")}
K = RNG.integers(0, 3, 600)
K_PRED = {
    name: np.where(RNG.random(600) < share, K, RNG.integers(0, 3, 600)) for name, share in (("A", 0.75), ("B", 0.55))
}


def of_discordant(only_a, only_b, both=40):
    return Paired((0, 1), np.array([[[both, only_a], [only_b, 5]], [[0, 0], [0, 0]]]))


@cache
def mcnemar(only_a, only_b):
    return compare(of_discordant(only_a, only_b), metrics=["accuracy"], draws=100).mcnemar[0]


# ---------------------------------------------------------------- the paired table

ROWS = st.lists(st.tuples(*[st.sampled_from("abc")] * 3), min_size=1, max_size=30)


@settings(max_examples=60)
@given(ROWS, st.integers(0, 30), st.integers(0, 30))
def test_merging_the_tables_of_parts_gives_the_table_of_the_whole(rows, i, j):
    cuts = sorted((min(i, len(rows)), min(j, len(rows))))
    parts = [part for part in (rows[: cuts[0]], rows[cuts[0] : cuts[1]], rows[cuts[1] :]) if part]
    whole = paired(*map(list, zip(*rows, strict=True)))
    assert sum(paired(*map(list, zip(*part, strict=True))) for part in parts) == whole
    assert Paired.from_json(whole.to_json()) == whole
    assert hash(Paired.from_json(whole.to_json())) == hash(whole)


def test_two_areas_of_a_single_positive_are_not_told_apart():
    found = compare([1, 0, 0, 0, 0], y_score={"a": [0.9, 0.1, 0.2, 0.95, 0.3], "b": [0.2, 0.3, 0.1, 0.4, 0.8]})
    (test,), row = found.delong, {row.metric: row for row in found}["roc_auc"]
    assert (test.z, test.p_value, row.low, row.high) == (0, 1, -1, 1)


def test_delongs_test_is_stated_where_areas_are_compared():
    rng = np.random.default_rng(43)
    y = rng.integers(0, 2, 80)
    models = {name: np.clip(0.3 + 0.4 * y + 0.2 * rng.normal(size=80), 0.01, 0.99) for name in "AB"}
    assert not compare(y, y_score=models, metrics=["log_loss", "brier"]).delong
    assert len(compare(y, y_score=models, metrics=["log_loss", "roc_auc"]).delong) == 1


def test_the_paired_table_holds_each_models_confusion():
    table = paired(K, *K_PRED.values())
    for model, place, name in (("A", 0, "A"), ("B", 1, "B")):
        assert table.confusion(model) == table.confusion(place) == confusion(K, K_PRED[name])
    one = table.collapsed(2)
    assert one.rows.shape == (2, 2, 2) and one.n == table.n
    assert one.confusion("A").counts() == confusion(K, K_PRED["A"]).counts(2)
    assert one.confusion("B").counts() == confusion(K, K_PRED["B"]).counts(2)
    assert table.collapsed(1).discordant == paired(K == 1, K_PRED["A"] == 1, K_PRED["B"] == 1).discordant


def test_either_of_two_labels_can_be_the_positive_one():
    table = paired(["n", "y", "y"], ["n", "y", "n"], ["y", "y", "y"])
    for label in ("n", "y"):
        collapsed = table.collapsed(label)
        assert collapsed.labels[1] == label == collapsed.positive
        assert collapsed.confusion(0).counts() == table.confusion(0).counts(label)


def test_a_frequency_is_that_many_rows():
    times = RNG.integers(0, 4, len(K))
    again = paired(np.repeat(K, times), *(np.repeat(p, times) for p in K_PRED.values()))
    assert paired(K, *K_PRED.values(), frequency=times) == again


def test_tables_that_name_different_positives_do_not_merge():
    with pytest.raises(SteelyardError, match="different positives"):
        paired([0, 1], [0, 1], [0, 1], pos_label=1) + paired([0, 1], [0, 1], [0, 1], pos_label=0)


# ---------------------------------------------------------------- tests that keep their level


@pytest.mark.parametrize(("only_a", "only_b"), [(12, 2), (0, 0), (5, 5), (1, 0), (150, 86), (3, 4), (0, 7)])
def test_mcnemar_is_the_exact_binomial_test(only_a, only_b):
    found = mcnemar(only_a, only_b)
    n, few = only_a + only_b, min(only_a, only_b)
    assert (found.only_a, found.only_b) == (only_a, only_b)
    assert found.exact == pytest.approx(stats.binomtest(only_a, n, 0.5).pvalue if n else 1.0, rel=1e-12)
    assert found.mid_p == pytest.approx(min(found.exact - stats.binom.pmf(few, n, 0.5), 1) if only_a != only_b else 1.0)


def test_mcnemar_of_a_textbook_table():
    """Fagerland, Lydersen and Laake 2013: airway hyper-responsiveness before and after transplantation, 1 against 7."""
    found = mcnemar(1, 7)
    assert (round(found.exact, 4), round(found.mid_p, 4)) == (0.0703, 0.0391)
    presidents = mcnemar(150, 86)  # Agresti's approval ratings: z = -4.17 by the uncorrected test
    assert presidents.mid_p == pytest.approx(2 * stats.norm.sf(64 / math.sqrt(236)), rel=0.1)


def joint(a, b, shared):
    """The chances of (a, b) being positive, two classifiers sharing part of their luck."""
    return shared * np.array([[1 - max(a, b), max(b - a, 0)], [max(a - b, 0), min(a, b)]]) + (1 - shared) * np.outer(
        [1 - a, a], [1 - b, b]
    )


def simulated(n, prevalence, a, b, shared, repeats, seed):
    """Paired tables, the positive class first, and the table of their expectation."""
    cells = np.stack([prevalence * joint(1 - a[0], 1 - b[0], shared), (1 - prevalence) * joint(a[1], b[1], shared)])
    return np.random.default_rng(seed).multinomial(n, cells.ravel(), size=repeats).reshape(-1, 2, 2, 2), cells


def counts(margin):
    return Counts(margin[..., 0, 0], margin[..., 0, 1], margin[..., 1, 0], margin[..., 1, 1])


def judged(rows, names, seed, draws=1_000):
    """Low, high and p of every simulated table by each metric, by the very functions that compare uses."""
    rng, found = np.random.default_rng(seed), {name: [] for name in names}
    for part in np.array_split(rows, max(len(rows) // 100, 1)):
        held, swapped = (
            paired_draws.CountedPair(part).posterior(draws, rng),
            paired_draws.CountedPair(part).swapped(draws, rng),
        )
        for name in names:
            m = get_metric(name)
            a, b = ([m(counts(np.moveaxis(cells, 0, -3))) for cells in drawn] for drawn in (held, swapped))
            difference = m(counts(part.sum(-1))) - m(counts(part.sum(-2)))
            found[name].append(paired_draws.judge(difference, a[0] - a[1], b[0] - b[1], (0.025, 0.975)))
    return {name: [np.concatenate(column) for column in zip(*parts, strict=True)] for name, parts in found.items()}


LEVELS = {
    "independent": (500, 0.05, (0.8, 0.95), (0.8, 0.95), 0.0),
    "correlated": (1_000, 0.1, (0.8, 0.9), (0.8, 0.9), 0.5),
    "balanced": (300, 0.5, (0.7, 0.7), (0.7, 0.7), 0.3),
    "rare": (1_000, 0.01, (0.8, 0.99), (0.8, 0.99), 0.5),
}


@pytest.mark.parametrize("case", LEVELS)
def test_equal_models_are_told_apart_no_more_often_than_said(case):
    names = ["recall", "precision", "f1", "balanced_accuracy", "mcc", "accuracy"]
    rows, _ = simulated(*LEVELS[case], repeats=1_000, seed=1)
    for name, (low, high, p) in judged(rows, names, seed=2).items():
        rejected, covered = np.nanmean(p < 0.05), np.nanmean((low <= 0) & (high >= 0))
        assert rejected <= 0.065, (name, rejected)
        assert covered >= 0.925, (name, covered)
        if case in ("correlated", "balanced"):
            assert rejected >= 0.03 and covered <= 0.975, (name, rejected, covered)
    tests = [mcnemar(*Paired((1, 0), table).discordant) for table in rows]
    assert np.mean([test.mid_p < 0.05 for test in tests]) <= 0.065
    assert np.mean([test.exact < 0.05 for test in tests]) <= 0.05


def test_models_of_equal_balanced_accuracy_and_other_errors_keep_the_level():
    rows, _ = simulated(1_000, 0.2, (0.9, 0.8), (0.8, 0.9), 0.3, repeats=800, seed=3)
    found = judged(rows, ["balanced_accuracy", "recall"], seed=4)
    assert 0.025 <= np.mean(found["balanced_accuracy"][2] < 0.05) <= 0.07
    assert np.mean(found["recall"][2] < 0.05) > 0.8  # and where they do differ it is seen


@pytest.mark.parametrize(
    "case", [(500, 0.05, (0.9, 0.95), (0.7, 0.95), 0.3), (1_000, 0.02, (0.95, 0.98), (0.6, 0.99), 0.5)]
)
def test_paired_intervals_cover_the_true_difference(case):
    names = ["recall", "precision", "f1", "balanced_accuracy", "ac_score", "mcc"]
    rows, cells = simulated(*case, repeats=800, seed=5)
    for name, (low, high, _) in judged(rows, names, seed=6).items():
        truth = get_metric(name)(counts(cells.sum(-1))) - get_metric(name)(counts(cells.sum(-2)))
        assert 0.92 <= np.nanmean((low <= truth) & (truth <= high)) <= 0.98, name


def test_rank_metrics_keep_their_level_too():
    rng, p = np.random.default_rng(8), []
    for repeat in range(150):
        y = np.repeat([1, 0], [40, 360])
        common = rng.normal(size=400)
        scores = {name: 0.6 * common + 0.8 * rng.normal(size=400) + 1.2 * y for name in "AB"}
        p.append([row.p_value for row in compare(y, y_score=scores, draws=200, rng=repeat).rows])
    assert (np.mean(np.array(p) < 0.05, axis=0) <= 0.10).all()


def test_paired_intervals_are_as_wide_as_those_of_a_row_bootstrap():
    names = ["recall", "specificity", "precision", "f1", "mcc", "balanced_accuracy", "accuracy"]
    rng, brute = np.random.default_rng(9), {name: [] for name in names}
    for i in rng.integers(0, len(Y), (2_000, len(Y))):
        both = [confusion(Y[i], pred[i]).counts(1) for pred in PAIR.values()]
        for name in names:
            brute[name].append(get_metric(name)(both[0]) - get_metric(name)(both[1]))
    for row in compare(Y, PAIR, metrics=names).rows:
        low, high = np.quantile(brute[row.metric], (0.025, 0.975))
        assert row.high - row.low == pytest.approx(high - low, rel=0.1), row.metric


def test_swapping_predictions_in_the_table_is_swapping_them_in_the_rows():
    rng = np.random.default_rng(10)
    a, b = paired_draws.CountedPair(paired(Y, *PAIR.values()).rows).of_class(1).swapped(4_000, rng)
    ours = steelyard.mcc(counts(a)) - steelyard.mcc(counts(b))
    theirs = []
    for _ in range(1_000):
        coin = rng.random(len(Y)) < 0.5
        one, other = np.where(coin, PAIR["lda"], PAIR["nmc"]), np.where(coin, PAIR["nmc"], PAIR["lda"])
        theirs.append(steelyard.mcc(Y, one) - steelyard.mcc(Y, other))
    assert ours.std() == pytest.approx(np.std(theirs), rel=0.08)
    assert abs(ours.mean()) < 0.1 * ours.std()


def test_a_p_value_beyond_the_draws_is_that_of_the_sign_test():
    """60 against 20 rows: no draw gets there; 10 against 0: ten rows cannot say more than 2 in 1,024."""
    many = compare(of_discordant(60, 20), metrics=["accuracy"], pos_label=1, draws=2_000).rows[0]
    exact = stats.binomtest(20, 80).pvalue
    assert math.log(many.p_value) == pytest.approx(math.log(exact), rel=0.05)
    few = compare(of_discordant(10, 0), metrics=["accuracy"], pos_label=1).rows[0]
    assert 0.0005 < few.p_value < 0.003


# ---------------------------------------------------------------- compare


def test_values_are_those_of_the_metrics():
    found = compare(Y, PAIR)
    assert [row.metric for row in found.rows] == TWO_CLASS
    for row in found.rows:
        a, b = (get_metric(row.metric)(Y, pred) for pred in PAIR.values())
        assert (row.value_a, row.value_b, row.difference) == (a, b, a - b)
        assert row.low <= row.difference <= row.high
        assert row.p_value <= row.p_holm <= 1


def test_identical_models_do_not_differ():
    found = compare(Y, {"A": PRED["lda"], "B": PRED["lda"]})
    for row in found.rows:
        assert (row.difference, row.p_value, row.p_holm) == (0, 1, 1)
        assert row.low <= 0 <= row.high and row.undefined_share == 0 and row.high - row.low < 0.05
    assert (found.mcnemar[0].exact, found.mcnemar[0].mid_p) == (1, 1)
    ranked = compare(Y, y_score={"A": SCORES["lda"], "B": 3 * SCORES["lda"]}, draws=200)
    assert [(row.difference, row.p_value) for row in ranked.rows] == [(0, 1)] * 3
    assert not any(math.isnan(v) for row in ranked.rows for v in row.row().values() if isinstance(v, float))


def test_swapping_the_models_turns_the_signs():
    one, other = (
        compare(Y, PAIR, metrics=["mcc"]).rows[0],
        compare(Y, dict(reversed(PAIR.items())), metrics=["mcc"]).rows[0],
    )
    assert other.difference == -one.difference
    assert (other.low, other.high) == pytest.approx((-one.high, -one.low), abs=0.003)
    assert other.p_value == pytest.approx(one.p_value, abs=0.02)


def test_scores_are_compared_by_delong_and_a_bayesian_bootstrap():
    found = compare(Y, y_score={name: SCORES[name] for name in PAIR}, draws=1_000)
    by_name = {row.metric: row for row in found.rows}
    assert list(by_name) == ["roc_auc", "average_precision", "weighted_auc"]
    row, test = by_name["roc_auc"], found.delong[0]
    assert (row.p_value, row.difference) == (test.p_value, test.difference)
    reach = stats.t.ppf(0.975, test.degrees) * test.difference / test.z
    assert (row.low, row.high) == pytest.approx((test.difference - reach, test.difference + reach))
    drawn = compare(
        Y, y_score={name: SCORES[name] for name in PAIR}, metrics=["roc_auc[max_fpr=0.999999]"], draws=1_000
    ).rows[0]
    assert drawn.method == "influence"
    assert drawn.high - drawn.low == pytest.approx(2 * reach, rel=0.1)
    assert not found.mcnemar


def test_a_metric_may_name_its_average_or_its_class():
    named = compare(K, K_PRED, metrics=["f1[average=macro]", "recall[class=2]", "accuracy"], draws=500)
    assert [row.metric for row in named.rows] == ["f1[average=macro]", "recall[class=2]", "accuracy"]
    macro, one, accuracy = named.rows
    assert macro.value_a == steelyard.f1(K, K_PRED["A"], average="macro")
    assert one.value_b == steelyard.recall(K, K_PRED["B"], pos_label=2)
    assert accuracy.value_a == np.mean(K_PRED["A"] == K)
    assert all(row.low < row.difference < row.high for row in named.rows)
    assert named.to_dict()["differences"][0]["metric"] == "f1[average=macro]"
    beside = compare(K, K_PRED, metrics=["f1[average=macro]", "recall"], pos_label=1, draws=500).rows
    assert beside[0].value_a == macro.value_a
    assert beside[1].value_a == steelyard.recall(K, K_PRED["A"], pos_label=1)


def test_more_scores_than_are_kept_apart_give_the_interval_of_fewer():
    rng = np.random.default_rng(21)
    y = (rng.random(8_000) < 0.1).astype(int)
    common = rng.normal(size=8_000) + y
    models = {name: common + 0.5 * rng.normal(size=8_000) for name in "ab"}
    rounded = {name: score.round(2) for name, score in models.items()}  # some 1,000 of what were 7,200 in a class
    each, fewer = (compare(y, y_score=given, metrics=["lift"], draws=800).rows[0] for given in (models, rounded))
    assert each.difference == pytest.approx(fewer.difference, abs=0.03)
    assert (each.low, each.high) == pytest.approx((fewer.low, fewer.high), abs=0.06)


@pytest.mark.parametrize("digits", [1, 15])
def test_a_draw_of_the_rows_weights_is_the_table_of_rows_with_those_weights(digits):
    score, weights = SCORES["lda"].round(digits), np.random.default_rng(4).standard_gamma(1.0, (3, len(Y)))
    metrics = [get_metric(name) for name in ("average_precision", "roc_auc", "weighted_auc")]
    drawn = score_draws._metric_values(metrics, score_draws._entries(score, Y == 1), weights)
    rows = [[m(Y, score, sample_weight=row) for row in weights] for m in metrics]
    np.testing.assert_allclose(drawn, rows, rtol=1e-12)


def test_bins_at_the_scores_of_the_rarer_class_lose_nothing_of_the_order(monkeypatch):
    monkeypatch.setattr(score_draws, "MOST_ENTRIES", 500)  # fewer than the negatives, more than the positives
    test_a_draw_of_the_rows_weights_is_the_table_of_rows_with_those_weights(15)


def test_a_large_class_needs_no_widening_that_shows(monkeypatch):
    assert 1 - score_draws.student_spread(score_draws.LARGE, 0.95) < 1e-3
    models = {name: SCORES[name] for name in PAIR}
    widened = compare(Y, y_score=models, metrics=["lift"], draws=1_500).rows[0]
    monkeypatch.setattr(score_draws, "LARGE", 0)
    plain = compare(Y, y_score=models, metrics=["lift"], draws=1_500).rows[0]
    assert (plain.low, plain.high) != (widened.low, widened.high)
    assert (plain.low, plain.high) == pytest.approx((widened.low, widened.high), abs=0.1)


def test_tied_scores_are_weighed_together():
    coarse = {name: SCORES[name].round() for name in PAIR}
    found = compare(Y, y_score=coarse, metrics=["average_precision"], draws=400).rows[0]
    assert found.low <= found.difference <= found.high
    assert found.value_a == steelyard.average_precision(Y, coarse["lda"])


def test_a_threshold_cuts_scores_into_the_labels_they_are():
    models = {name: SCORES[name] for name in PAIR}
    cut = compare(Y, y_score=models, threshold={"lda": 1.0, "nmc": 0.8}, draws=500)
    labels = compare(Y, {"lda": models["lda"] >= 1.0, "nmc": models["nmc"] >= 0.8}, draws=500)
    assert [row.metric for row in cut.rows] == [*RANKED, *TWO_CLASS]
    assert [(r.value_a, r.value_b) for r in cut.rows[3:]] == [(r.value_a, r.value_b) for r in labels.rows]
    assert cut.mcnemar == labels.mcnemar
    assert len(compare(Y, y_score=models, threshold=1, draws=100, metrics=["roc_auc"]).mcnemar) == 1


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("engine", ["arrays", "pandas", "polars", "duckdb"])
def test_a_threshold_of_models_is_read_in_the_precision_of_their_scores(engine, precision):
    true, hundredths = np.tile([0, 1], 99), np.repeat(np.arange(1, 100) / 100, 2)
    scored = {"up": hundredths.astype(precision), "down": hundredths[::-1].astype(precision)}
    frame = pd.DataFrame({"y": true, **scored})
    frames = {"pandas": lambda: frame, "polars": lambda: pl.from_pandas(frame), "duckdb": lambda: duckdb.from_df(frame)}
    for threshold in (0.07, 0.29, 0.7, 0.83):
        options = {"threshold": threshold, "metrics": ["recall"], "draws": 100}
        if engine == "arrays":
            found = compare(true, y_score=scored, **options)
        else:
            found = compare(frames[engine](), true="y", score=["up", "down"], **options)
        expected = steelyard.evaluate(true, y_score=scored["up"], threshold=threshold, metrics=["recall"])[
            "recall"
        ].value
        assert found.rows[0].value_a == found.rows[0].value_b == expected == (hundredths[::2] >= threshold).mean()


def test_a_comparison_states_a_threshold_that_may_not_be_meant_and_labels_that_look_alike():
    models = {"a": [0.5, 0.5, 0.2, 0.9] * 9, "b": [0.1, 0.7, 0.2, 0.9] * 9}
    at_half = compare([0, 1, 0, 1] * 9, y_score=models, threshold=0.5, draws=100).assumed
    assert len(at_half) == 1 and at_half[0].startswith("Model 'a': 18 rows score exactly 0.5 and count as predicted")
    beside = compare([0, 1, 0, 1] * 9, y_score=models, threshold={"a": 0.4, "b": 40}, draws=100).assumed
    assert beside == (
        "Model 'b': the threshold 40 lies outside 0 to 1, where all scores are; as a percentage it would be 0.4.",
    )
    assert compare([0, 1, 0, 1] * 9, y_score=models, draws=100).assumed == ()
    alike = compare(["cat", "dog"] * 9, {"a": ["cat ", "dog"] * 9, "b": ["cat", "dog"] * 9}, draws=100).assumed
    assert alike == ("The labels 'cat' and 'cat ' differ in blanks or case alone; are they one class?",)


def test_whole_scores_of_models_that_would_tie_as_float64_are_refused():
    with pytest.raises(SteelyardError, match=r"The model 'b' holds whole numbers beyond 2\*\*53"):
        compare([0, 1] * 9, y_score={"a": [0, 1] * 9, "b": [2**53, 2**53 + 1] * 9})


def test_every_pair_of_three_models_and_holm_over_all():
    found = compare(Y, PRED, metrics=["recall", "mcc"], draws=2_000)
    assert [(row.a, row.b) for row in found.rows][::2] == [("lda", "nmc"), ("lda", "tree"), ("nmc", "tree")]
    assert [row.p_holm for row in found.rows] == pytest.approx(holm(row.p_value for row in found.rows))
    assert len(found.mcnemar) == 3


def test_three_classes_by_their_own_form_by_one_class_and_averaged():
    found = compare(K, K_PRED)
    assert [row.metric for row in found.rows] == MANY_CLASS
    for row in found.rows:
        assert row.value_a == get_metric(row.metric)(K, K_PRED["A"])
        assert row.low < row.difference < row.high and row.p_value < 0.001
    one = compare(K, K_PRED, pos_label=2)
    assert [row.metric for row in one.rows] == TWO_CLASS
    assert one.rows[TWO_CLASS.index("f1")].value_b == steelyard.f1(K, K_PRED["B"], pos_label=2)
    macro = compare(K, K_PRED, metrics=["f1[average=macro]"]).rows[0]
    assert macro.value_a == steelyard.f1(K, K_PRED["A"], average="macro")
    assert macro.low < macro.difference < macro.high


def test_the_interval_of_three_classes_is_that_of_a_row_bootstrap():
    rng, brute = np.random.default_rng(11), []
    for i in rng.integers(0, len(K), (1_500, len(K))):
        brute.append([steelyard.mcc(K[i], K_PRED["A"][i]) - steelyard.mcc(K[i], K_PRED["B"][i])])
    low, high = np.quantile(brute, (0.025, 0.975))
    row = compare(K, K_PRED, metrics=["mcc"]).rows[0]
    assert row.high - row.low == pytest.approx(high - low, rel=0.1)


def test_a_merged_table_is_compared_like_its_rows():
    half = len(Y) // 2
    parts = [paired(Y[s], PAIR["lda"][s], PAIR["nmc"][s]) for s in (slice(None, half), slice(half, None))]
    from_table = compare(sum(parts), ["lda", "nmc"])
    assert from_table == compare(Y, y_pred=PAIR)
    assert compare(sum(parts)).models == ("A", "B")
    named = compare(paired(K, *K_PRED.values(), pos_label=1))
    assert named.rows == compare(K, K_PRED, pos_label=1).rows


def test_text_labels_need_no_positive_for_the_metrics_of_all_classes():
    words = np.array(["no", "yes"])
    found = compare(
        np.array(["fraud", "ok"])[Y], {name: np.array(["fraud", "ok"])[pred] for name, pred in PAIR.items()}
    )
    assert [row.metric for row in found.rows] == MANY_CLASS
    named = compare(words[Y], {name: words[pred] for name, pred in PAIR.items()}, pos_label="yes")
    assert [row.value_a for row in named.rows] == [row.value_a for row in compare(Y, PAIR).rows]


def test_an_undefined_metric_says_why_and_leaves_the_others_alone():
    found = compare(Y, {"A": PRED["lda"], "nobody": np.zeros_like(Y)}, metrics=["precision", "recall"])
    precision, recall = found.rows
    assert precision.why == "nobody: no predicted positives"
    assert math.isnan(precision.difference) and math.isnan(precision.p_holm) and math.isnan(precision.low)
    assert recall.p_holm == recall.p_value
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["differences"][0]["difference"] is None


def test_one_input_gives_one_output_and_a_generator_varies_it():
    assert compare(Y, PAIR) == compare(Y, PAIR)
    assert compare(Y, PAIR, rng=np.random.default_rng(5)).rows[0].low != compare(Y, PAIR).rows[0].low


def test_results_print_readably_and_become_frames():
    found = compare(Y, y_pred=PAIR, metrics=["recall", "mcc"], draws=500)
    lines = repr(found).splitlines()
    assert lines[0] == "lda against nmc on the same 2,000 rows: differences with 95 % intervals"
    assert lines[1] == "" and lines[2].startswith("In 1,000 rows lda finds 73 of 105 positives")
    table = next(i for i, line in enumerate(lines) if line.startswith("metric "))
    assert lines[table].split() == ["metric", "lda", "nmc", "difference", "low", "high", "p_value", "p_holm"]
    assert any(line.startswith("McNemar: lda alone is right in") for line in lines)
    for library in ("pandas", "polars"):
        assert list(found.to_frame(library)["metric"]) == ["recall", "mcc"]
    assert "DeLong" in repr(compare(Y, y_score={name: SCORES[name] for name in PAIR}, metrics=["roc_auc"]))
    assert found.to_dict()["rows"] == 2_000


# ---------------------------------------------------------------- ranking


def test_the_ranking_orders_the_metrics_and_marks_where_the_sign_turns():
    eager = {
        "eager": np.where(Y == 1, SCORES["lda"] > 0, SCORES["lda"] > 0.5).astype(int),
        "shy": (SCORES["lda"] > 1.5).astype(int),
    }
    found = compare(
        Y, eager, metrics=["recall", "specificity", "precision", "balanced_accuracy", "error_rate"], draws=200
    ).ranking()
    differences = [s.difference for s in found.order]
    assert differences == sorted(differences, reverse=True)
    assert [s.rank for s in found.order] == [1, 2, 3, 4, 5]
    negative = [s.metric for s in found.order if s.difference < 0]
    assert found.changes == (negative[0],)
    lines = repr(found).splitlines()
    turn = lines.index("── from here the sign is -")
    assert lines[turn - 1].startswith("balanced_accuracy ") and lines[turn + 1].startswith(f"{negative[0]} ")
    standing = {s.metric: s for s in found.order}
    assert standing["recall"].favours == "eager"
    assert standing["error_rate"].favours == "shy"  # more errors are no favour
    assert found.prevalence == pytest.approx(Y.mean())


def test_the_ranking_at_another_prevalence_is_that_of_re_weighted_tables():
    found = compare(Y, PAIR, draws=200).ranking(prevalences=[0.02, 0.5])
    for place in found.places:
        a, b = (at_prevalence(confusion(Y, pred).counts(), place.prevalence) for pred in PAIR.values())
        expected = get_metric(place.metric)(a) - get_metric(place.metric)(b)
        assert place.difference == pytest.approx(expected, rel=1e-12)
    at_half = [place for place in found.places if place.prevalence == 0.5]
    assert sorted(at_half, key=lambda p: p.rank) == sorted(at_half, key=lambda p: -round(p.difference, 12))
    fixed = {p.difference for p in found.places if p.metric == "recall"}
    assert max(fixed) - min(fixed) < 1e-12
    assert len(found.to_frame()) == 2 * len(TWO_CLASS)


def test_metrics_of_scores_are_ranked_over_prevalences_as_well():
    models = {name: SCORES[name] for name in PAIR}
    found = compare(Y, y_score=models, threshold=1.0, draws=100).ranking()
    there = {(p.metric, p.prevalence): p.difference for p in found.places}
    assert there["roc_auc", 0.01] == pytest.approx(there["roc_auc", 0.75], abs=1e-12)
    assert there["average_precision", 0.01] != pytest.approx(there["average_precision", 0.5], abs=1e-3)
    weights = np.where(Y == 1, 0.5 / Y.mean(), 0.5 / (1 - Y.mean()))
    a, b = (steelyard.average_precision(Y, score, sample_weight=weights) for score in models.values())
    assert there["average_precision", 0.5] == pytest.approx(a - b, abs=1e-12)


def test_classes_without_a_positive_one_are_ranked_as_they_are():
    found = compare(K, K_PRED, draws=200).ranking()
    assert not found.places and len(found.order) == len(MANY_CLASS)
    assert len(found.to_frame()) == len(MANY_CLASS)


# ---------------------------------------------------------------- folds and data sets


def test_a_difference_that_has_no_value_is_not_among_those_adjusted():
    found = compare([0, 1, 1, 0] * 9, {"a": [0, 1, 0, 0] * 9, "b": [0, 0, 0, 0] * 9}, metrics=["precision", "recall"])
    precision, recall = found.rows
    assert math.isnan(precision.p_value) and math.isnan(precision.p_holm) and recall.p_holm == recall.p_value


def test_the_corrected_t_test_by_hand():
    """Ten folds, a tenth tested in each: mean 0.02, squares 0.0026, t = 0.02 / sqrt((1/10 + 1/9) 0.0026 / 9) = 2.561."""
    folds = [0.02, 0.04, 0.00, 0.02, 0.02, 0.05, -0.01, 0.02, 0.02, 0.02]
    found = corrected_t_test(folds, test_share=0.1)
    assert np.var(folds, ddof=1) == pytest.approx(0.0026 / 9)
    error = math.sqrt((1 / 10 + 1 / 9) * 0.0026 / 9)
    assert found.t == pytest.approx(0.02 / error) == pytest.approx(2.561, abs=5e-4)
    assert found.p_value == pytest.approx(2 * stats.t.sf(0.02 / error, 9))
    assert found.high - found.difference == pytest.approx(stats.t.ppf(0.975, 9) * error)
    assert corrected_t_test(folds, n_train=900, n_test=100).p_value == pytest.approx(found.p_value)
    assert found.p_value > stats.ttest_1samp(folds, 0).pvalue


def test_folds_that_test_rows_again_count_as_many_as_share_none():
    values = np.random.default_rng(2).random(30)
    plain, all_of_them, ten = (corrected_t_test(values, test_share=0.1, worth=w) for w in (None, 30, 10))
    assert plain == all_of_them and ten.degrees == plain.degrees
    ratio = (ten.high - ten.low) / (plain.high - plain.low)
    assert ratio == pytest.approx(math.sqrt((1 / 10 + 1 / 9) / (1 / 30 + 1 / 9)))


def test_folds_without_any_difference_or_spread():
    assert corrected_t_test([0.0, 0.0, 0.0], test_share=0.1).p_value == 1
    around = [0.1, 0.2, -0.3] * 3  # whose mean is 0, and -1e-17 as a computer adds them
    assert sum(around) != 0 and corrected_t_test(around, test_share=0.1).difference == 0
    assert corrected_t_test([0.1] * 7, test_share=0.1).t == math.inf


@pytest.mark.parametrize("ties", [False, True])
def test_friedman_is_scipys(ties):
    values = np.random.default_rng(3).random((14, 4)) + np.array([0, 0.1, 0.2, 0.3])
    values = values.round(1) if ties else values
    found = friedman(values, models=["a", "b", "c", "d"])
    known = stats.friedmanchisquare(*values.T)
    assert (found.chi_square, found.p_value) == pytest.approx((known.statistic, known.pvalue))
    assert found.f == pytest.approx(13 * found.chi_square / (14 * 3 - found.chi_square))
    assert sum(found.ranks.values()) == pytest.approx(10)
    assert friedman(-values, higher=False).chi_square == pytest.approx(found.chi_square)
    assert friedman({name: values[:, i] for i, name in enumerate("abcd")}).ranks == found.ranks


@pytest.mark.parametrize(("row", "runs"), [([0.9, 0.8], 2), ([0.3, 0.2, 0.1], 3), ([0.2, 0.1, 0.1], 3)])
def test_where_all_runs_agree_the_p_value_is_the_chance_that_they_do(row, runs, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    found = friedman([row] * runs)
    orders = list({*permutations(row)})
    alike = [len({*drawn}) == 1 for drawn in product(orders, repeat=runs)]
    assert found.f == math.inf and found.p_f == pytest.approx(np.mean(alike))
    assert "F infinite, as all data sets agree; exact p = " in repr(found)


def test_runs_that_agree_but_for_one_have_a_finite_f():
    found = friedman([[3.0, 2.0, 1.0]] * 5 + [[2.0, 3.0, 1.0]])
    assert math.isfinite(found.f) and 0 < found.p_f < 0.05
    nobody = friedman(np.ones((2, 2)))
    assert (nobody.f, nobody.p_f) == (0, 1)


def test_friedman_and_nemenyi_by_demsars_formulas():
    """Demsar 2006: chi-square from the mean ranks; on 14 data sets four models differ at 0.05 by ranks 1.25 apart."""
    values = np.random.default_rng(5).random((14, 4)) + np.array([0, 0.1, 0.3, 0.5])
    found = friedman(values, post_hoc="nemenyi")
    squares = sum(rank**2 for rank in found.ranks.values())
    assert found.chi_square == pytest.approx(12 * 14 / 20 * (squares - 4 * 25 / 4))
    assert {(pair.p_adjusted < 0.05) for pair in found.pairs} == {True, False}
    for pair in found.pairs:
        assert (pair.p_adjusted < 0.05) == (abs(pair.rank_a - pair.rank_b) > 2.569 * math.sqrt(20 / (6 * 14)))


def test_pairs_of_models_by_wilcoxon_and_holm():
    values = np.random.default_rng(4).random((12, 3)) + np.array([0, 0, 0.5])
    found = friedman(values, models=["a", "b", "c"])
    plain = [stats.wilcoxon(values[:, i] - values[:, j]).pvalue for i, j in ((0, 1), (0, 2), (1, 2))]
    assert [pair.p_value for pair in found.pairs] == pytest.approx(plain)
    assert [pair.p_adjusted for pair in found.pairs] == pytest.approx(holm(plain))
    assert "Mean ranks over 12 data sets: c" in repr(found)
    alike = friedman(np.ones((5, 3)))
    assert (alike.chi_square, alike.p_value, alike.pairs[0].p_value) == (0, 1, 1)


# ---------------------------------------------------------------- refusals

BAD = {
    "lengths": (lambda: compare([0, 1, 1], {"A": [0, 1, 1], "short": [0, 1]}), ValueError, "'short' has 2 rows"),
    "one model": (lambda: compare([0, 1], {"A": [0, 1]}), ValueError, "two or more models"),
    "no names": (lambda: compare([0, 1], [[0, 1], [1, 0]]), TypeError, "models by name"),
    "same names": (lambda: compare([0, 1], {1: [0, 1], "1": [1, 0]}), ValueError, "same name"),
    "unknown label": (lambda: compare([0, 1], y_pred={"A": [0, 1], "B": [0, 2]}, labels=[0, 1]), ValueError, "model 'B' holds 2"),
    "other kind": (lambda: compare([0, 1], {"A": [0, 1], "B": ["0", "1"]}), TypeError, "give both the same labels"),
    "positive": (lambda: compare([0, 1], {"A": [0, 1], "B": [0, 1]}, pos_label=7), ValueError, "7 does not occur"),
    "one class": (lambda: compare([1, 1], {"A": [0, 1], "B": [1, 1]}), ValueError, "one class only"),
    "one class scored": (lambda: compare([1, 1], y_score={"A": [0, 1], "B": [1, 1]}), ValueError, "one class only"),
    "empty": (lambda: compare([], {"A": [], "B": []}), ValueError, "empty"),
    "NaN score": (lambda: compare([0, 1], y_score={"A": [0.1, 0.9], "B": [0.1, math.nan]}), ValueError, "'B' scores row 2 .index 1. as nan"),
    "text score": (lambda: compare([0, 1], y_score={"A": [0.1, 0.9], "B": ["a", "b"]}), TypeError, "model 'B' must hold numbers"),
    "score as label": (lambda: compare([0, 1], y_pred={"A": [0.1, 0.9], "B": [0.2, 0.3]}), ValueError, "a label is text or a whole number"),
    "paired weights": (lambda: paired([0, 1], [0, 1], [0, 1], sample_weight=[1, 2]), ValueError, "sample_weight= is not taken"),
    "threshold": (lambda: compare(Y, PAIR, threshold=0.5), ValueError, "threshold= is for scores"),
    "threshold missing": (lambda: compare(Y, y_score=SCORES, threshold={"lda": 1}), ValueError, "for 'nmc' it is None"),
    "no threshold": (lambda: compare(Y, y_score=SCORES, metrics=["recall"]), ValueError, "give threshold="),
    "scores needed": (lambda: compare(Y, PAIR, metrics=["roc_auc"]), TypeError, "metric of scores"),
    "a string": (lambda: compare(Y, PAIR, metrics="recall"), TypeError, r"\['recall'\]"),
    "name": (lambda: compare(Y, PAIR, metrics=["recal"]), KeyError, "Did you mean"),
    "level": (lambda: compare(Y, PAIR, level=95), ValueError, "level= is a probability"),
    "draws": (lambda: compare(Y, PAIR, draws=0), ValueError, "20 or more"),
    "per class": (lambda: compare(K, K_PRED, average=None), TypeError, "average= is part of a metric's name"),
    "many labels": (lambda: paired(range(101), range(101), range(101)), ValueError, "at most 100"),
    "model": (lambda: paired([0, 1], [0, 1], [0, 1]).confusion("C"), ValueError, "not 'C'"),
    "three names": (lambda: compare(paired([0, 1], [0, 1], [0, 1]), ["a", "b", "c"]), ValueError, "holds two models"),
    "saved labels": (lambda: Paired.from_json('{"schema": 1, "kind": "paired", "labels": [[1]], "rows": [], "positive": null}'), ValueError, "each label once"),
    "saved rows": (lambda: Paired.from_json('{"schema": 1, "kind": "paired", "labels": [0, 1], "rows": [[1, 2]], "positive": null}'), ValueError, "2 x 2 x 2"),
    "saved negative": (lambda: Paired.from_json('{"schema": 1, "kind": "paired", "labels": [0], "rows": [[[-1]]], "positive": null}'), ValueError, "none below 0"),
    "saved positive": (lambda: Paired.from_json('{"schema": 1, "kind": "paired", "labels": [0], "rows": [[[1]]], "positive": 5}'), ValueError, "none of the saved"),
    "no JSON": (lambda: Paired.from_json("{"), ValueError, "nor JSON"),
    "ranked models": (lambda: compare(Y, PRED, metrics=["mcc"], draws=20).ranking("lda", "nmcc"), ValueError, "Did you mean 'nmc'"),
    "which models": (lambda: compare(Y, PRED, metrics=["mcc"], draws=20).ranking(), ValueError, "two of the models"),
    "prevalence": (lambda: compare(Y, PAIR, metrics=["mcc"], draws=20).ranking(prevalences=[0.1, 2]), ValueError, "above 0 and below 1"),
    "prevalence of classes": (lambda: compare(K, K_PRED, draws=20).ranking(prevalences=[0.1]), ValueError, "that of one class"),
    "one fold": (lambda: corrected_t_test([0.1], test_share=0.1), ValueError, "two or more folds"),
    "no share": (lambda: corrected_t_test([0.1, 0.2]), TypeError, "either test_share="),
    "share": (lambda: corrected_t_test([0.1, 0.2], test_share=10), ValueError, "above 0 and below 1"),
    "level of folds": (lambda: corrected_t_test([0.1, 0.2], test_share=0.1, level="95"), ValueError, "level= is a probability"),
    "NaN fold": (lambda: corrected_t_test([0.1, math.nan], test_share=0.1), ValueError, "NaN"),
    "worth": (lambda: corrected_t_test([0.1, 0.2], test_share=0.1, worth=3), ValueError, "at most the number of folds, 2"),
    "one data set": (lambda: friedman([[1.0, 2.0]]), ValueError, "two or more data sets"),
    "uneven": (lambda: friedman({"a": [1, 2], "b": [1, 2, 3]}), ValueError, "differ in length"),
    "names": (lambda: friedman([[1.0, 2.0], [2.0, 3.0]], models=["a"]), ValueError, "one name each"),
    "post hoc": (lambda: friedman([[1.0, 2.0], [2.0, 3.0]], post_hoc="tukey"), ValueError, "'wilcoxon' or 'nemenyi'"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_one_sentence(case):
    attempt, builtin, words = BAD[case]
    with pytest.raises(builtin, match=words) as caught:
        attempt()
    assert isinstance(caught.value, SteelyardError)
    assert "\n" not in str(caught.value)


def test_a_tiny_p_value_is_told_as_below_a_bound_and_never_as_zero(tmp_path):

    true = np.tile([0, 1], 3_000)
    found = compare(true, {"right": true, "wrong": 1 - true}, metrics=["accuracy"])
    pl.DataFrame({"y": true, "right": true, "wrong": 1 - true}).write_csv(tmp_path / "rows.csv")
    words = ["--true", "y", "--pred", "right", "--pred", "wrong", "--metrics", "accuracy"]
    shown = run_command("compare", tmp_path / "rows.csv", *words, code=0).stdout
    for told in (repr(found), shown, found.to_html().replace("&lt;", "<")):
        assert "p < 0.001 (mid-p), < 0.001 (exact)" in " ".join(told.split())
        assert told.count("< 0.001") >= 4
    assert found.rows[0].p_value < 1e-20
