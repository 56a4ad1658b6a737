"""Intervals: inside the range, holding the value, equal to known posteriors, and covering what they promise."""

from __future__ import annotations

import math
import re
import tracemalloc

import numpy as np
import pytest
from checks import assert_refused
from scipy import special, stats

import steelyard
from steelyard import Confusion, Counts, confusion, get_metric, interval, list_metrics, sample_size, score_table
from steelyard.analysis import distributions
from steelyard.analysis.intervals import draw_ends, draws, intervals, operating_point, plan_draws

FINLEY = Counts(28, 23, 72, 2680)
COUNT_METRICS = [m for m in list_metrics() if m.function]
RNG = np.random.default_rng(0)
Y, S = RNG.integers(0, 2, 200), RNG.random(200).round(2)
METHODS = ["posterior", "stratified", "deviance", "bootstrap", "stratified-bootstrap", "bca"]  # of any count metric
METHODS += ["wilson", "jeffreys", "exact"]  # of a rate


def test_intervals_hold_the_value_and_stay_in_the_range():
    cells = RNG.integers(0, 8, (4, 300))
    for found, metric in zip(interval(COUNT_METRICS, Counts(*cells), draws=300), COUNT_METRICS, strict=True):
        defined = ~np.isnan(found.value)
        low, value, high = found.low[defined], found.value[defined], found.high[defined]
        assert (low <= value).all() and (value <= high).all(), metric.name
        assert (low >= metric.range[0] - 1e-12).all() and (high <= metric.range[1] + 1e-12).all(), metric.name
        assert np.isnan(found.low[~defined]).all()


@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_near_the_others_on_a_large_table(method):
    found = interval("recall", Counts(800, 200, 300, 2700), method=method, draws=4_000)
    half = 1.96 * math.sqrt(0.8 * 0.2 / 1000)
    slack = 0.5 if method == "deviance" else 0.08
    assert found.low == pytest.approx(0.8 - half, abs=slack * half)
    assert found.high == pytest.approx(0.8 + half, abs=slack * half)
    assert found.method == method


def assert_holds_barely(quantile, wider, metric, *data, **options):
    """The interval by the posterior holds the central part of a distribution, and is wider by so little at most."""
    for level in (0.95, 0.5):
        found = interval(metric, *data, method="posterior", draws=200_000, level=level, **options)
        low, high = quantile((1 - level) / 2), quantile((1 + level) / 2)
        assert low - wider <= found.low <= low + 0.001 and high - 0.001 <= found.high <= high + wider, level


def test_the_posterior_of_a_rate_is_jeffreys_beta():
    assert_holds_barely(stats.beta(28.5, 23.5).ppf, 0.003, "recall", FINLEY)
    for rows in (3, 9, 40):  # where all are hits or none is, its one end is Jeffreys'
        low, high = stats.beta.ppf([0.025, 0.975], [rows + 0.5, 0.5], [0.5, rows + 0.5])
        all_hits, none = (Counts(*cells, 5, 90) for cells in ((rows, 0), (0, rows)))
        assert interval("recall", all_hits, method="posterior", draws=200_000).low == pytest.approx(low, abs=0.003)
        assert interval("recall", none, method="posterior", draws=200_000).high == pytest.approx(high, abs=0.003)


def test_brodersens_posterior_of_balanced_accuracy_is_the_special_case_it_should_be():
    """The mean of two independent Betas, here with half a row in place of Brodersen's whole one."""
    rng = np.random.default_rng(7)
    theirs = (rng.beta(28.5, 23.5, 200_000) + rng.beta(2680.5, 72.5, 200_000)) / 2
    assert_holds_barely(lambda share: np.quantile(theirs, share), 0.003, "balanced_accuracy", FINLEY)


def test_textbook_intervals_of_published_examples():
    """Newcombe 1998, Statistics in Medicine 17:857, Table I: 81 of 263, 15 of 148 and 0 of 20."""
    for hits, trials, wilson, exact in (
        (81, 263, (0.2553, 0.3662), (0.2527, 0.3676)), (15, 148, (0.0624, 0.1605), (0.0578, 0.1617)), (0, 20, (0.0, 0.1611), (0.0, 0.1684)),
    ):  # fmt: skip
        for method, expected in (("wilson", wilson), ("exact", exact)):
            found = interval("recall", Counts(hits, trials - hits, 1, 1), method=method)
            assert (found.low, found.high) == pytest.approx(expected, abs=5e-5)


def test_the_bootstrap_is_the_row_bootstrap():
    """A multinomial draw of the cells against brute resampling of the rows."""
    y, pred = np.repeat([1, 1, 0, 0], [12, 6, 5, 40]), np.repeat([1, 0, 1, 0], [12, 6, 5, 40])
    rng = np.random.default_rng(3)
    brute = [
        steelyard.f1(y[i], pred[i], labels=[0, 1], pos_label=1) for i in rng.integers(0, 63, (3_000, 63)) if y[i].any()
    ]
    found = interval("f1", y, pred, method="bootstrap", draws=20_000)
    assert [found.low, found.high] == pytest.approx(np.quantile(brute, (0.025, 0.975)), abs=0.02)


def test_weights_count_by_their_effective_size():
    rng = np.random.default_rng(5)
    y, pred = np.repeat([1, 0], [400, 400]), np.concatenate([rng.random(400) < 0.8, rng.random(400) < 0.1]).astype(int)
    plain = interval("specificity", y, pred)
    scaled = interval("specificity", y, pred, sample_weight=np.where(y, 1.0, 100.0))
    assert scaled.high - scaled.low == pytest.approx(plain.high - plain.low, rel=0.03)
    uneven = interval("specificity", y, pred, sample_weight=rng.lognormal(0, 1, 800))
    assert uneven.high - uneven.low > 1.2 * (plain.high - plain.low)
    as_rows = interval("specificity", y, pred, frequency=np.full(800, 100))
    assert as_rows.high - as_rows.low == pytest.approx((plain.high - plain.low) / 10, rel=0.05)


def test_weighted_intervals_equal_brute_force():
    """Against a weighted row bootstrap with many rows, where both are right."""
    rng = np.random.default_rng(6)
    y = (rng.random(2_000) < 0.4).astype(int)
    pred = np.where(rng.random(2_000) < 0.8, y, 1 - y)
    w = rng.gamma(1.0, size=2_000)
    brute = []
    for i in rng.integers(0, 2_000, (600, 2_000)):
        brute.append([get_metric(m)(y[i], pred[i], sample_weight=w[i]) for m in ("recall", "precision", "mcc")])
    for name, column in zip(("recall", "precision", "mcc"), np.array(brute).T, strict=True):
        found = interval(name, y, pred, sample_weight=w)
        assert found.high - found.low == pytest.approx(np.subtract(*np.quantile(column, (0.975, 0.025))), rel=0.15), (
            name
        )


def test_many_metrics_share_one_set_of_draws():
    one, two = interval(["recall", "false_negative_rate"], FINLEY)
    assert one.low == pytest.approx(1 - two.high, abs=1e-12)
    assert one.high == pytest.approx(1 - two.low, abs=1e-12)


def test_the_two_classes_of_a_table_and_a_kinked_metric_share_its_draws():
    report = steelyard.evaluate(["no"] * 950 + ["yes"] * 50, ["no"] * 900 + ["yes"] * 60 + ["no"] * 40)
    rows, classes = {row.name: row for row in report}, {row.label: row.intervals for row in report.per_class}
    for name in ("precision", "recall", "f1"):
        assert (rows[name].low, rows[name].high) == (classes["yes"][name].low, classes["yes"][name].high)
    assert (rows["specificity"].low, rows["specificity"].high) == (
        classes["no"]["recall"].low,
        classes["no"]["recall"].high,
    )
    counts, beside = Counts(10, 40, 50, 900), ["adjusted_g_mean", "recall", "optimized_precision"]
    for found in interval(beside, counts):
        (alone,) = interval([found.metric], counts)
        assert (found.low, found.high) == (alone.low, alone.high), found.metric


def test_one_input_gives_one_output_and_a_generator_varies_it():
    assert interval("mcc", FINLEY) == interval("mcc", FINLEY)
    assert interval("mcc", FINLEY, rng=np.random.default_rng(9)).low != interval("mcc", FINLEY).low


def test_stratified_intervals_leave_the_class_sizes_alone():
    assert interval("prevalence", FINLEY, method="stratified").low == pytest.approx(51 / 2803)
    assert interval("accuracy", FINLEY, method="stratified").high < 1


def test_a_recall_of_one_keeps_its_doubt():
    found = interval("recall", Counts(10, 0, 5, 985))
    assert found.high == 1
    assert 0.6 < found.low < 0.85
    assert interval("recall", Counts(10, 0, 5, 985), method="bootstrap").low == 1  # what the field's default says


def test_the_kinked_metric_is_found_and_covered_at_its_kink():
    page = steelyard.evaluate(FINLEY, metrics=[m.name for m in COUNT_METRICS], draws=20).to_html()
    formulas = re.findall(r'"(\w+)": \{f: .*?(, kinks: .*?)?\}[,}]', page)
    assert len(formulas) > 40 and [name for name, kinked in formulas if kinked] == ["optimized_precision"]
    rng = np.random.default_rng(2)
    drawn = Counts(*rng.multinomial(1_000, [0.04, 0.01, 0.19, 0.76], size=600).T)
    found = interval("optimized_precision", drawn, draws=1_000)
    truth = steelyard.optimized_precision(Counts(40, 10, 190, 760))
    assert 0.91 <= np.mean((found.low <= truth) & (truth <= found.high)) <= 0.985


@pytest.mark.parametrize(("shares", "n"), [([0.04, 0.01, 0.0475, 0.9025], 500), ([0.0475, 0.0025, 0.019, 0.931], 300)])
def test_coverage_where_the_bootstrap_fails(shares, n):
    rng = np.random.default_rng(n)
    drawn = Counts(*rng.multinomial(n, shares, size=800).T)
    for found in interval(["recall", "balanced_accuracy", "ac_score", "mcc", "f1"], drawn, draws=800):
        truth = get_metric(found.metric)(Counts(*shares))
        covered = np.mean((found.low <= truth) & (truth <= found.high))
        assert 0.915 <= covered <= 0.99, found.metric


def test_many_classes_and_averages():
    rng = np.random.default_rng(8)
    y = rng.integers(0, 10, 500)
    pred = np.where(rng.random(500) < 0.7, y, rng.integers(0, 10, 500))
    for found in (
        interval("accuracy", y, pred),
        interval("f1[average=macro]", y, pred),
        interval("recall[average=weighted]", y, pred),
    ):
        assert found.low < found.value < found.high
        assert found.high - found.low < 0.12
    each = interval("recall[average=None]", y, pred)
    assert each.low.shape == (10,)
    assert (each.low <= each.value).all()
    assert interval("f1", y, pred, pos_label=3).value == steelyard.f1(y, pred, pos_label=3)
    assert interval("f1[average=micro]", y, pred).value == pytest.approx(steelyard.accuracy(y, pred))


def test_clusters_widen_the_interval():
    rng = np.random.default_rng(4)
    groups = np.repeat(np.arange(40), 20)
    luck = rng.beta(4, 1, 40)[groups]
    y = np.tile([1] * 10 + [0] * 10, 40)
    pred = np.where(y == 1, rng.random(800) < luck, rng.random(800) < 0.1).astype(int)
    clustered, plain = interval("recall", y, pred, cluster=groups), interval("recall", y, pred)
    assert clustered.method == "cluster"
    assert clustered.high - clustered.low > 1.3 * (plain.high - plain.low)
    names = [f"patient {g:02d}" for g in groups]
    assert interval("recall", y, pred, cluster=names).low == clustered.low


def test_clusters_of_uneven_size_cover_as_those_of_one_size_do():
    from benchmarks.coverage_clusters import Setting, coverage

    setting = Setting(15, 10, 1.0, 0.3, 0.8, 0.3)
    assert coverage(setting, 200, np.random.default_rng(1), labelled=("recall",), scored=())["recall"] > 0.9


def test_one_large_cluster_among_small_ones_is_worth_few():
    rng = np.random.default_rng(0)
    y, pred = rng.integers(0, 2, 2000), rng.integers(0, 2, 2000)
    even, lopsided = np.arange(2000) % 20, np.where(np.arange(2000) < 1900, 0, np.arange(2000) % 19 + 1)
    spans = [ends.high - ends.low for ends in (interval("recall", y, pred, cluster=c) for c in (even, lopsided))]
    assert spans[1] > 2 * spans[0]


def test_other_methods_at_another_prevalence():
    right = interval("precision", FINLEY, prevalence=0.5)
    for method in ("bootstrap", "stratified-bootstrap"):
        found = interval("precision", FINLEY, prevalence=0.5, method=method)
        assert (found.low, found.high) == pytest.approx((right.low, right.high), abs=0.01)
    for method in ("wilson", "bca"):
        with pytest.raises(ValueError, match="does not fit precision here"):
            interval("precision", FINLEY, prevalence=0.5, method=method)


def test_clusters_heed_frequencies_and_forget_the_scale_of_weights():
    rng = np.random.default_rng(1)
    y, pred, groups, times = (
        rng.integers(0, 2, 200),
        rng.integers(0, 2, 200),
        np.repeat(np.arange(20), 10),
        rng.integers(1, 4, 200),
    )
    rows = np.repeat(np.arange(200), times)
    counted, repeated = (
        interval("recall", y, pred, cluster=groups, frequency=times),
        interval("recall", y[rows], pred[rows], cluster=groups[rows]),
    )
    assert (counted.value, counted.low) == (repeated.value, pytest.approx(repeated.low))
    w = rng.random(200) + 0.1
    small, large = (interval("recall", y, pred, cluster=groups, sample_weight=w * scale) for scale in (1e-4, 1e4))
    assert (small.low, small.high) == pytest.approx((large.low, large.high))


def test_a_perfect_ranking_keeps_its_doubt():
    for name in ("average_precision", "weighted_auc", "pr_auc", "negative_average_precision"):
        found = interval(name, [0] * 50 + [1] * 5, y_score=np.arange(55.0))
        assert found.value == found.high == pytest.approx(1)
        assert found.low < 0.97, name


@pytest.mark.parametrize("clusters", [{}, {"cluster": np.arange(400) // 3}], ids=["rows", "clusters"])
@pytest.mark.parametrize("name", ["ks", "h_measure", "lift", "precision_at_k", "auprg"])
def test_scores_that_separate_the_classes_in_either_direction_leave_a_doubt(name, clusters):
    y = np.repeat([1, 0], [20, 380])
    others = np.linspace(0.2, 0.8, 380)
    worst, best = (
        interval(name, y, y_score=np.r_[low + np.arange(20) / 1e3, others], **clusters) for low in (0.0, 0.9)
    )
    assert worst.high - worst.low > 0.03 and best.high - best.low > 0.001
    if name != "auprg":
        exact = 1 - 0.025 ** (1 / 20)  # the recall that none found of 20 leaves: Clopper and Pearson's upper end
        scale = {"lift": 10, "precision_at_k": 20 / 100}.get(name, 1)
        assert worst.value == worst.low == 0 and exact * scale <= worst.high < 4 * exact * scale


def test_a_hidden_share_of_positives_that_rank_first_is_held_where_these_rows_show_none():
    y, held = np.repeat([1, 0], [20, 380]), []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        first = rng.random(400) < 0.1  # so that ks is .1; in one of eight samples of 20 positives none ranks first
        score = np.where(y == 1, np.where(first, 0.9, 0.1), 0.5) + 0.01 * rng.random(400)
        found = interval("ks", y, y_score=score)
        held.append(found.low <= 0.1 <= found.high < 0.6)
    assert np.mean(held) >= 0.95


def test_separated_scores_of_weighted_rows_have_an_h_measure():
    y, weight = np.repeat([1, 0], [20, 380]), np.tile([0.2, 1.0, 5.0, 1.0], 100)
    for positives in (1, 20):
        rows = slice(20 - positives, None)
        score = np.linspace(1, 0, 400)[rows]
        found = interval("h_measure", y[rows], y_score=score, sample_weight=weight[rows])
        assert found.value == pytest.approx(1) and found.low < 0.9


def test_arrays_of_scores_share_one_set_of_draws_too():
    both = interval(["average_precision", "ks", "average_precision"], Y, y_score=S, draws=100)
    alone = interval("average_precision", Y, y_score=S, draws=100)
    assert [row.metric for row in both] == ["average_precision", "ks"]  # each once
    assert (both[0].low, both[0].high) == (alone.low, alone.high)


def test_each_class_is_as_sure_as_when_it_alone_is_asked_for():
    rng = np.random.default_rng(0)
    y = rng.choice(3, 400, p=[0.8, 0.15, 0.05])
    pred = np.where(rng.random(400) < 0.8, y, rng.integers(0, 3, 400))
    each = interval("recall[average=None]", y, pred)
    for label in range(3):
        alone = interval("recall", y, pred, pos_label=label)
        assert (each.low[label], each.high[label]) == pytest.approx((alone.low, alone.high), abs=0.01)


def test_very_many_tables_are_taken_in_blocks(monkeypatch):
    monkeypatch.setattr(intervals, "_MOST_AT_ONCE", 500_000)
    counts = Counts(np.arange(1, 301), 5, 6, 7)
    found = interval("recall", counts, draws=5_000)
    assert found.low.shape == (300,)
    assert found.low[99] == pytest.approx(interval("recall", counts[99]).low, abs=0.01)


def test_rank_metrics_have_intervals():
    rng = np.random.default_rng(1)
    y = (rng.random(6_000) < 0.3).astype(int)
    score = rng.normal(size=6_000) + y
    ranking = [m for m in list_metrics("ranking") if m.name != "mcc_f1"]  # which has none
    for found in interval([*ranking, "weighted_auc"], y, y_score=score, draws=200):
        assert found.low <= found.value <= found.high
        assert found.high - found.low < 0.3 or found.metric == "lift"
        assert found.undefined_share == 0
    by_influence = interval("average_precision", y, y_score=score)
    by_draws = interval("average_precision", y, y_score=score, draws=400, method="bayesian-bootstrap")
    assert by_influence.method == "influence"
    assert (by_influence.low, by_influence.high) == pytest.approx((by_draws.low, by_draws.high), abs=0.01)
    assert interval("roc_auc", y, y_score=score).method == "score"
    assert interval("roc_auc", y, y_score=score, method="delong").low == pytest.approx(
        interval("roc_auc", y, y_score=score).low, abs=0.003
    )


def test_a_calibration_error_stands_beside_what_a_calibrated_model_would_show():
    rng = np.random.default_rng(6)
    share = rng.beta(1, 5, 1_000)
    calibrated = (rng.random(1_000) < share).astype(int)
    found = interval("expected_calibration_error", calibrated, y_score=share)
    assert math.isnan(found.low) and math.isnan(found.high) and found.method == "calibrated"
    assert 0 < found.calibrated < found.calibrated_high
    assert found.value < found.calibrated_high < interval("ece", calibrated, y_score=np.sqrt(share)).value
    assert f"would show {found.calibrated:.3g} on average and at most {found.calibrated_high:.3g}" in repr(found)
    row = steelyard.evaluate(calibrated, y_score=share)["expected_calibration_error"]
    assert (row.chance, row.chance_high) == (found.calibrated, found.calibrated_high)
    assert row.interval_or_reason() == f"calibrated: up to {row.text(row.chance_high)}"
    assert_refused(
        lambda: interval("ece", calibrated, y_score=share, method="bayesian-bootstrap"),
        ValueError,
        "these do: calibrated",
    )


def test_a_calibrated_model_exceeds_its_reference_as_often_as_the_level_says():
    rng, above = np.random.default_rng(4), []
    for _ in range(300):
        share = rng.choice([0.02, 0.1, 0.35, 0.7], 200)
        y = (rng.random(200) < share).astype(int)
        found = interval("ece", y, y_score=share)
        above.append(found.value > found.calibrated_high)
    assert 0.01 < np.mean(above) < 0.1


# Per setting: how many rows, the share of positives, how far apart the classes are, whether scores are rounded.
FEW_POSITIVES = [(400, 0.02, 0.0, False), (300, 0.03, 1.0, True), (200, 0.05, 2.0, False), (400, 0.02, 4.0, False)]


@pytest.mark.parametrize(("rows", "share", "apart", "tied"), FEW_POSITIVES)
def test_intervals_of_scores_hold_with_few_positives(rows, share, apart, tied):
    def scored(y):
        score = rng.normal(size=len(y)) + apart * y
        return 1 / (1 + np.exp(2 - (np.round(score) if tied else score)))

    rng = np.random.default_rng(8)
    names = ["roc_auc[max_fpr=0.1]", "average_precision", "pr_auc", "brier", "log_loss", "d2_log_loss"]
    population = np.repeat([0, 1], 100_000)
    weights = np.where(population == 1, share, 1 - share)
    scores, held = scored(population), []
    truth = [steelyard.get_metric(name)(population, scores, sample_weight=weights) for name in names]
    for _ in range(60):
        y = (rng.random(rows) < share).astype(int)
        if y.sum() > 1:
            found = interval(names, y, y_score=scored(y))
            held.append([part.low <= true <= part.high for part, true in zip(found, truth, strict=True)])
    assert np.mean(held, axis=0).min() > 0.83  # three standard errors below 0.93
    assert np.mean(held) > 0.93


def test_the_error_of_binning_is_shown_and_small():
    rng = np.random.default_rng(2)
    y = (rng.random(40_000) < 0.5).astype(int)
    score = rng.normal(size=40_000) + y
    found = interval("average_precision", y, y_score=score, draws=20, method="bayesian-bootstrap")
    assert 0 < found.bin_error < 1e-3
    rare = (rng.random(40_000) < 0.02).astype(int)
    exact = interval("average_precision", rare, y_score=score + rare, draws=20, method="bayesian-bootstrap")
    assert exact.bin_error < 1e-12  # cut at the positives' own scores, nothing of the order is lost


def test_undefined_values_and_draws_are_told():
    found = interval("precision", Counts(0, 10, 0, 990))
    assert math.isnan(found.value) and math.isnan(found.low)
    assert found.why == "no predicted positives"
    assert interval("dor", Counts(3, 0, 2, 5), method="bootstrap").undefined_share > 0
    assert repr(found) == "precision –, 95 % posterior; no predicted positives"


def test_results_print_readably_and_become_frames():
    found = interval(["recall", "ac_score"], FINLEY)
    assert repr(interval("ac_score", FINLEY)) == "ac_score 0.702 (0.581 to 0.802), 95 % posterior"
    assert "recall" in repr(found) and "0.549" in repr(found)
    for library in ("pandas", "polars"):
        frame = found.to_frame(library)
        assert list(frame["metric"]) == ["recall", "ac_score"]
    assert found.to_dicts()[0]["low"] == found[0].low


def test_own_metrics_have_intervals_too():
    found = interval(lambda tp, fn, fp, tn: (tp + tn) / (tp + fn + fp + tn), FINLEY)
    assert (found.low, found.high) == pytest.approx(
        (interval("accuracy", FINLEY).low, interval("accuracy", FINLEY).high), abs=0.001
    )


def test_sizes_are_those_that_give_the_width():
    plan = sample_size("recall", at=(0.8, 0.95), prevalence=0.05, width=0.1, assurance=None)
    p = plan.positives
    found = interval(
        "recall", Counts(round(0.8 * p), round(0.2 * p), round(0.05 * plan.negatives), round(0.95 * plan.negatives))
    )
    assert found.high - found.low == pytest.approx(0.1, rel=0.03)
    assert plan.balanced_rows < plan.rows / 5
    assert "Label more positives" in repr(plan)
    assert "Label more" not in repr(sample_size("accuracy", at=(0.8, 0.8), prevalence=0.5, width=0.1))
    planned = repr(sample_size("recall", at=(0.8, 0.9), versus=(0.7, 0.9), prevalence=0.05))
    assert planned.startswith("telling recall 80.0 % from 70.0 % takes") and "at a prevalence of 5.00 %" in planned
    known = sample_size(
        "recall", at=(0.55, 0.97), prevalence=0.018, width=0.1, assurance=None
    )  # the page's example: 400 positives give 5 points
    assert known.positives == pytest.approx(380, rel=0.06)


def test_classifiers_of_many_classes_are_told_apart_by_their_expected_matrices():
    first, second, third = (
        [[70, 8, 2], *rows] for rows in ([[3, 11, 1], [1, 1, 3]], [[6, 8, 1], [2, 1, 2]], [[8, 6, 1], [2, 2, 1]])
    )
    near, far = (sample_size("balanced_accuracy", at=first, versus=other) for other in (second, third))
    means = [np.mean([70 / 80, hits / 15, few / 5]) for hits, few in ((11, 3), (8, 2))]
    assert near.goal == f"telling balanced_accuracy {means[0]:.3f} from {means[1]:.3f}"
    assert 2 * far.rows < near.rows
    assert near.class_rows == tuple(round(near.rows * share) for share in (0.8, 0.15, 0.05))


def test_sizes_that_tell_two_classifiers_apart():
    plan = sample_size("recall", at=(0.9, 0.9), versus=(0.8, 0.9), prevalence=0.5)
    # two independent proportions, 80 % power: 199 a group (Fleiss), positives being half the rows
    assert plan.positives == pytest.approx(199, rel=0.08)


def test_planned_widths_are_met_in_four_of_five_test_sets():
    rng = np.random.default_rng(21)
    for name, rates, share in (("recall", (0.8, 0.95), 0.1), ("f1", (0.9, 0.97), 0.2)):
        plan = sample_size(name, at=rates, prevalence=share, width=0.12)
        positives = rng.binomial(plan.rows, share, 400)
        tp, tn = rng.binomial(positives, rates[0]), rng.binomial(plan.rows - positives, rates[1])
        found = interval(name, Counts(tp, positives - tp, plan.rows - positives - tn, tn), draws=2_000, rng=rng)
        assert 0.74 <= np.mean(found.high - found.low <= 0.12) <= 0.9  # 0.78 and two standard errors
        assert plan.rows > 1.03 * sample_size(name, at=rates, prevalence=share, width=0.12, assurance=None).rows


def test_sizes_of_many_classes_are_those_of_their_expected_matrix():
    matrix, rng = [[70, 8, 2], [3, 11, 1], [1, 1, 3]], np.random.default_rng(22)
    plan = sample_size("balanced_accuracy", at=matrix, width=0.2)
    tables = rng.multinomial(plan.rows, np.ravel(matrix) / 100, size=80).reshape(-1, 3, 3)
    drawn = [Confusion.of_rows((0, 1, 2), table) for table in tables]
    found = [interval("balanced_accuracy", table, draws=1_000, rng=rng) for table in drawn]
    assert 0.68 <= np.mean([each.high - each.low <= 0.2 for each in found]) <= 0.92  # 0.8 and 2.7 standard errors
    assert plan.class_rows == tuple(round(plan.rows * share) for share in (0.8, 0.15, 0.05))
    assert plan.positives == plan.class_rows[2] and "of the classes in turn" in repr(plan)
    rare, common = (sample_size(f"recall[class={i}]", at=matrix, width=0.2, assurance=None).rows for i in (2, 0))
    assert rare > 2 * common


def test_sizes_where_few_rows_suffice_still_have_every_class_in_four_of_five_test_sets():
    for name, rates in (("recall", (0.8, 0.9)), ("mcc", (0.8, 0.9)), ("balanced_accuracy", (0.9, 0.7))):
        plan = sample_size(name, at=rates, prevalence=0.1, width=0.95)
        assert 0.8 <= 1 - 0.9**plan.rows <= 0.95, name
    assert 0.8 <= 1 - 0.9 ** sample_size("roc_auc", at=0.8, prevalence=0.1, width=0.99).rows <= 0.95
    assert sample_size("precision", at=(0.8, 0.98), prevalence=0.001, width=0.5).rows > 124
    many = sample_size("balanced_accuracy", at=[[50, 2, 1], [3, 10, 1], [1, 1, 3]], width=0.9)
    assert 0.8 <= 1 - (1 - 5 / 72) ** many.rows <= 0.95


def test_an_average_over_a_class_without_rows_has_no_interval_and_says_why():
    y, predicted = ["a"] * 65 + ["b"] * 35, ["a"] * 55 + ["b"] * 5 + ["c"] * 10 + ["a"] * 2 + ["b"] * 28
    for name in ("f1", "jaccard", "f_beta[beta=2]", "precision"):
        found = interval(f"{name}[average=macro]", y, predicted)
        assert math.isnan(found.low) and math.isnan(found.high) and not math.isnan(found.value), name
        assert "class 'c' has no rows in the truth" in repr(found)
    for name in ("f1[average=weighted]", "f1[average=micro]", "specificity[average=macro]", "f1[class=c]", "mcc"):
        assert interval(name, y, predicted).low < interval(name, y, predicted).high, name


def test_weights_that_are_related_to_errors_are_worth_fewer_rows():
    rng, held = np.random.default_rng(31), []
    for _ in range(300):
        hard = rng.random(210) < 0.1
        y, weights = np.arange(210) < 200, np.where(hard, 10.0, 1.0)
        right = rng.random(210) > np.where(hard, 0.2, 0.02)
        found = interval("recall", y, np.where(right, y, ~y), sample_weight=weights, draws=1_000)
        held.append(found.low <= 1 - (0.1 * 10 * 0.2 + 0.9 * 0.02) / (0.1 * 10 + 0.9) <= found.high)
    assert np.mean(held) > 0.91  # 0.943; by the sum of squared weights alone 0.867


def test_weighted_rows_are_worth_what_the_linearised_variance_of_recall_is():
    right = np.array([1] * 20 + [0] * 3)
    for weights in (np.where(right, 1.0, 4.0), np.where(right, 4.0, 1.0)):  # where hard rows weigh little, Kish's
        recall = weights @ right / weights.sum()
        variance = np.sum(weights**2 * (right - recall) ** 2) / weights.sum() ** 2
        kish, linearised = weights.sum() ** 2 / np.sum(weights**2), recall * (1 - recall) / variance
        worth = min(kish, linearised)
        posterior = stats.beta(worth * recall + 0.5, worth * (1 - recall) + 0.5)
        weighted = {"sample_weight": [*weights, 1]}
        assert_holds_barely(posterior.ppf, 0.02, "recall", [1] * 23 + [0], [*right, 0], **weighted)
        assert (linearised < kish) == (weights[0] == 1)


def test_ends_of_the_highest_rows_are_possible_ones():
    rng = np.random.default_rng(32)
    y = np.arange(240) < 36
    scores = np.where(y, rng.uniform(0.6, 1, 240), rng.uniform(0, 0.6, 240))
    fixed = interval("precision_at_k", y, y_score=scores, design="stratified")
    assert fixed.low < 0.35 and fixed.value == fixed.high == 0.36  # all positives are among the 100
    assert interval("precision_at_k", y, y_score=scores, prevalence=0.02).high == pytest.approx(0.048)
    assert interval("lift", y, y_score=scores, design="stratified").high == pytest.approx(240 / 36)
    noisy = scores + rng.normal(0, 0.2, 240)
    for name in ("precision_at_k[k=50]", "lift"):
        plain = interval(name, y, y_score=noisy)
        weighted = interval(name, y, y_score=noisy, sample_weight=np.full(240, 7.0))
        assert (weighted.value, weighted.low, weighted.high) == pytest.approx((plain.value, plain.low, plain.high)), (
            name
        )


def test_lift_of_near_perfect_scores_reaches_as_far_as_fewer_positives_would():
    rng, held = np.random.default_rng(33), []
    for _ in range(300):
        y = rng.random(88) < 1 / 11
        y[:2] = True, False
        found = interval("lift", y, y_score=rng.normal(size=88) + 4 * y)
        held.append(found.low <= 9.642 <= found.high)
    assert np.mean(held) > 0.92  # 0.96; 0.82 where the share of positives did not limit a perfect ranking


def test_sizes_of_an_auc_are_those_of_its_interval():
    plan, rng = sample_size("roc_auc", at=0.85, prevalence=0.2, width=0.12), np.random.default_rng(23)
    apart, widths = 2**0.5 * stats.norm.ppf(0.85), []
    for _ in range(150):
        y = rng.random(plan.rows) < 0.2
        found = interval("roc_auc", y, y_score=rng.normal(size=plan.rows) + apart * y)
        widths.append(found.high - found.low)
    assert 0.7 <= np.mean(np.array(widths) <= 0.12) <= 0.9
    assert sample_size("roc_auc", at=0.85, versus=0.8, prevalence=0.2).rows > plan.rows


def test_models_on_the_same_rows_need_fewer_of_them():
    rates = {"at": (0.9, 0.9), "versus": (0.8, 0.9), "prevalence": 0.5}
    apart, paired = sample_size("recall", **rates), sample_size("recall", **rates, disagreement=(0.14, 0.1))
    assert paired.rows < 0.6 * apart.rows
    # z of the paired difference over the positives: those that only the first and only the second finds
    rng = np.random.default_rng(24)
    positives = np.maximum(rng.binomial(paired.rows, 0.5, 4_000), 1)
    first = rng.binomial(positives, 0.12)
    second = rng.binomial(positives - first, 0.02 / 0.88)
    difference = (first - second) / positives
    error = np.sqrt(((first + second) / positives - difference**2) / positives)
    assert 0.76 <= np.mean(difference > 1.96 * error) <= 0.9
    assert sample_size("f1", **rates, disagreement=(0.14, 0.1)).rows < sample_size("f1", **rates).rows


BAD = {
    "level": (lambda: interval("f1", FINLEY, level=1.5), ValueError, "level= is a probability"),
    "percent": (lambda: interval("f1", FINLEY, level=95), ValueError, "such as 0.95"),
    "method": (lambda: interval("f1", FINLEY, method="magic"), ValueError, "No method is called 'magic'"),
    "no rate": (lambda: interval("f1", FINLEY, method="wilson"), ValueError, "does not fit f1"),
    "no AUC": (lambda: interval("average_precision", Y, y_score=S, method="delong"), ValueError, "does not fit average_precision"),
    "labels": (lambda: interval("recall", FINLEY, method="delong"), ValueError, "does not fit recall"),
    "draws": (lambda: interval("f1", FINLEY, draws=0), ValueError, "20 or more"),
    "groups": (lambda: interval("f1", Y, Y, cluster=[1, 2]), ValueError, "cluster has 2"),
    "one group": (lambda: interval("f1", Y, Y, cluster=np.ones(200)), ValueError, "one cluster only"),
    "grouped table": (lambda: interval("f1", FINLEY, cluster=[1, 2]), TypeError, "give the rows"),
    "weights resampled": (lambda: interval("f1", Y, Y, sample_weight=np.linspace(1, 2, 200), method="bootstrap"), ValueError, "unweighted"),
    "weights and wilson": (lambda: interval("recall", Y, Y, sample_weight=np.linspace(1, 2, 200), method="wilson"), ValueError, "without weights"),
    "scores in clusters at a prevalence": (lambda: interval("roc_auc", Y, y_score=S, cluster=Y, prevalence=0.1), ValueError, "prevalence= and cluster="),
    "scores in one cluster": (lambda: interval("roc_auc", Y, y_score=S, cluster=np.ones(200)), ValueError, "one cluster only"),
    "a table in clusters": (lambda: interval("roc_auc", steelyard.score_table(Y, S), cluster=Y), TypeError, "give the rows"),
    "missing group": (lambda: interval("f1", [0, 1, 1], [0, 1, 1], cluster=["a", None, "b"]), ValueError, "cluster holds missing"),
    "cluster without groups": (lambda: interval("f1", FINLEY, method="cluster"), ValueError, "needs cluster="),
    "several prevalences": (lambda: interval("f1", FINLEY, prevalence=[0.1, 0.5]), ValueError, "2 numbers of 0 or more that sum to 1"),
    "option": (lambda: interval("f1", FINLEY, pos_lable=1), TypeError, "Did you mean pos_label="),
    "seed": (lambda: interval("f1", FINLEY, rng="a"), TypeError, "rng is a NumPy Generator"),
    "an average": (lambda: interval("f1", FINLEY, average="macro"), TypeError, "average= is part of a metric's name"),
    "scores as labels": (lambda: interval("roc_auc", Y, S), TypeError, "give y_score="),
    "groups of one": (lambda: interval("f1", Y, Y, by=Y), TypeError, "evaluate takes by="),
    "huge bootstrap": (lambda: interval("f1", Counts(1e20, 1, 1, 1), method="bootstrap"), OverflowError, "whole rows"),
    "name": (lambda: interval("f11", FINLEY), KeyError, "Did you mean"),
    "width": (lambda: sample_size("f1", at=(0.8, 0.9), prevalence=0.1), ValueError, "either width="),
    "prevalence": (lambda: sample_size("f1", at=(0.8, 0.9), prevalence=2, width=0.1), ValueError, "prevalence= is a share"),
    "at": (lambda: sample_size("f1", at=0.8, prevalence=0.1, width=0.1), TypeError, r"\(recall, specificity\)"),
    "rates": (lambda: sample_size("f1", at=(8, 0.9), prevalence=0.1, width=0.1), ValueError, "between 0 and 1"),
    "same": (lambda: sample_size("f1", at=(0.8, 0.9), versus=(0.8, 0.9), prevalence=0.1), ValueError, "above 0"),
    "disagreement": (lambda: sample_size("f1", at=(0.9, 0.9), versus=(0.8, 0.9), prevalence=0.1, disagreement=0.05), ValueError, "differ on 0.1 to 0.3"),
    "few draws": (lambda: interval("f1", FINLEY, draws=1), ValueError, "20 or more"),
    "an uncertain prevalence": (lambda: sample_size("f1", at=(0.9, 0.9), prevalence=steelyard.Prevalence(positives=3, rows=100), width=0.1), TypeError, r"give float\(prevalence\)"),
    "no prevalence": (lambda: sample_size("f1", at=(0.9, 0.9), width=0.1), TypeError, "prevalence= is missing"),
    "assurance": (lambda: sample_size("f1", at=(0.9, 0.9), prevalence=0.1, width=0.1, assurance=80), ValueError, "assurance= is a share"),
    "empty class": (lambda: sample_size("mcc", at=[[3, 1, 0], [0, 0, 0], [1, 1, 3]], width=0.1), ValueError, "K x K"),
    "an average of two": (lambda: sample_size("f1[average=macro]", at=(0.9, 0.9), prevalence=0.1, width=0.1), ValueError, "expected confusion matrix"),
    "scores": (lambda: sample_size("roc_auc", at=(0.8, 0.9), prevalence=0.1, width=0.1), TypeError, "metric of scores"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_one_sentence(case):
    assert_refused(*BAD[case])


def test_tables_kept_from_rows_give_the_same_interval():
    pred = (S > 0.5).astype(int)
    assert interval("mcc", confusion(Y, pred)).low == interval("mcc", Y, pred).low
    assert interval("roc_auc", score_table(Y, S)).low == interval("roc_auc", Y, y_score=S).low


@pytest.mark.parametrize("levels", [(0.025, 0.975), (0.0005, 0.9995), (0.05, 1.0), (0.4, 0.9)])
def test_quantiles_of_draws_are_those_of_numpy_to_the_last_bit(levels):
    rng = np.random.default_rng(5)
    for values in (
        rng.random(10_000),
        rng.integers(0, 3, 10_000) / 2,
        rng.random((2, 10_000)),
        np.zeros(5_000),
        rng.random(99),
    ):
        assert np.array_equal(draw_ends.quantiles(values, levels), np.quantile(values, levels, axis=-1))
        assert draw_ends.undefined_share(values) == 0
    half = np.where(np.arange(10_000) % 2, np.nan, rng.random(10_000))
    assert draw_ends.undefined_share(half) == 0.5
    assert np.array_equal(draw_ends.quantiles(half, levels), np.nanquantile(half, levels))


def test_the_shares_of_a_plan_are_where_their_posterior_is_highest():
    expected, labels, positives = np.array([[0.1, 0.1, 0.5], [28, 2, 5], [28, 2, 0]])
    parts = plan_draws.StratumParts(np.arange(3), np.zeros(3), labels, positives, labels, expected, np.ones(3, bool))
    logits = special.logit(expected) - np.average(special.logit(expected), weights=labels)
    shares = plan_draws.fitted_shares(parts)
    slope, intercept = np.polyfit(logits, special.logit(shares), 1)
    residuals, mean = positives - labels * shares, special.expit(intercept)
    assert residuals.sum() + 0.5 * (1 - 2 * mean) == pytest.approx(0, abs=1e-6)
    assert residuals @ logits - (slope - 1) == pytest.approx(0, abs=1e-6)


def test_quantiles_and_tails_are_those_of_scipy_stats_to_the_last_bit():
    share = np.append(np.random.default_rng(0).random(500), [0.025, 0.05, 0.5, 0.95, 0.975, 0.995])
    np.testing.assert_array_equal(distributions.normal_quantile(share), stats.norm.ppf(share))
    np.testing.assert_array_equal(distributions.normal_below(9 * share - 5), stats.norm.cdf(9 * share - 5))
    np.testing.assert_array_equal(distributions.normal_below(-9 * share), stats.norm.sf(9 * share))
    np.testing.assert_array_equal(distributions.chi_square_quantile(share), stats.chi2.ppf(share, 1))
    for degrees in (1, 2.5, 39, 1_939_999):
        np.testing.assert_array_equal(distributions.student_quantile(share, degrees), stats.t.ppf(share, degrees))
        below = distributions.student_below(9 * share - 5, degrees)
        np.testing.assert_array_equal(below, stats.t.cdf(9 * share - 5, degrees))


def test_the_draws_of_scores_are_those_of_one_metric_whichever_others_are_asked_for():
    names = ["average_precision", "roc_auc", "recall_at_precision[at=0.5]", "recall_at_precision[at=0.3]"]
    together = interval(names, Y, y_score=S)
    for name, found in zip(names, together, strict=True):
        alone = interval(name, Y, y_score=S)
        assert (found.value, found.low, found.high) == (alone.value, alone.low, alone.high), name


def test_recall_at_precision_reaches_down_to_what_is_sure():
    """Twenty-three positives without an error are too few to be sure of a precision of 0.9; thirty are enough."""
    for positives, is_sure in ((23, False), (30, True)):
        y = np.repeat([1, 0], [positives, 300])
        found = interval("recall_at_precision", y, y_score=np.where(y == 1, 0.9, 0.1))
        assert found.value == 1 and (found.low > 0.9 if is_sure else found.low == 0), found


def test_no_threshold_whose_precision_is_sure_is_screened_out():
    rng = np.random.default_rng(0)
    for level in (0.5, 0.8, 0.95, 0.999):
        for precision in (0.01, 0.3, 0.9, 0.999):
            rows = np.exp(rng.uniform(0, np.log(1e9), 2_000))
            error = np.sqrt(precision * (1 - precision) / rows)
            mean = np.clip(precision + rng.uniform(-1, 7, len(rows)) * error, 1e-9, 1 - 1e-9)
            a, b = rows * mean + 0.5, rows * (1 - mean) + 0.5
            sure = distributions.beta_below(precision, a, b) <= (1 - level) / 2
            screened = ~operating_point.may_be_above(precision, a, b, level)
            assert sure.any() and screened.any() and not (sure & screened).any(), (level, precision)


# ---------------------------------------------------------------- many classes


def _many(k, rows=3000):
    rng = np.random.default_rng(k)
    truth = rng.integers(0, k, rows)
    return truth, np.where(rng.random(rows) < 0.6, truth, rng.integers(0, k, rows))


def peak_of(call):
    """The most memory that a call holds at a time, in bytes."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_the_draws_of_very_many_classes_are_never_kept_whole():
    truth, pred = _many(300)
    for found in steelyard.interval(["accuracy", "mcc"], truth, pred):
        assert found.low < found.value < found.high
    whole = 10_000 * 300**2 * 8  # the cells of all draws
    assert peak_of(lambda: steelyard.interval(["accuracy", "mcc"], truth, pred)) < whole / 30
    assert peak_of(lambda: steelyard.interval(["recall[average=None]"], truth, pred)) < whole / 30


def test_clusters_of_many_classes_are_drawn_in_bounded_memory_or_refused():
    truth, pred = _many(150, 600)
    found = interval("accuracy", truth, pred, cluster=np.arange(600) // 10)
    assert found.low < found.value < found.high
    whole = 10_000 * 150**2 * 8
    assert peak_of(lambda: interval("accuracy", truth, pred, cluster=np.arange(600) // 10)) < whole / 6
    truth, pred = _many(600, 2000)
    assert_refused(
        lambda: interval("accuracy", truth, pred, cluster=np.arange(2000) // 10),
        ValueError,
        "200 clusters of .* labels have",
    )


def test_draws_in_blocks_are_like_the_draws_at_once(monkeypatch):
    truth, pred = _many(5)
    options = {"draws": 20_000, "method": "posterior"}
    whole = steelyard.interval(["g_mean", "mcc"], truth, pred, **options)
    monkeypatch.setattr(draws, "DRAWS_AT_ONCE", 70_000)
    for part, at_once in zip(steelyard.interval(["g_mean", "mcc"], truth, pred, **options), whole, strict=True):
        assert (part.low, part.high) == pytest.approx((at_once.low, at_once.high), abs=0.001)


def test_intervals_of_ten_classes_hold_where_nine_have_five_rows():
    rng = np.random.default_rng(18)
    truth = np.diag([270.0, *[2.5] * 9]) + np.array([30.0, *[2.5] * 9])[:, None] * (1 - np.eye(10)) / 9
    exact = Confusion((*range(10, 20),), (truth * 1e6).round().astype(np.int64), truth, truth)
    names = ["balanced_accuracy", "g_mean", "ac_score", "mcc", "f1[average=macro]"]
    expected, held = [found.value for found in steelyard.interval(names, exact, draws=20)], np.zeros(5)
    for _ in range(runs := 150):
        rows = np.array([rng.multinomial(round(row.sum()), row / row.sum()) for row in truth])
        found = steelyard.interval(names, Confusion.of_rows((*range(10, 20),), rows), draws=400, rng=rng)
        held += [one.low <= value <= one.high for one, value in zip(found, expected, strict=True)]
    assert (held / runs > 0.89).all(), held / runs  # the standard error is .018; before, .17 to .8


def test_a_mean_that_low_recalls_pull_down_may_be_as_high_as_the_recall_of_all():
    """Twenty classes of recall 1/2 and ten rows each look like this, and their AC-score is 1/2 as well, not 0.37."""
    hits = np.array([3, 7] * 9 + [1, 9])
    rows = np.diag(hits) + np.roll(np.diag(10 - hits), 1, axis=1)
    of_classes = Confusion.of_rows((*range(10, 30),), rows)
    pulled, plain = steelyard.interval(["ac_score", "balanced_accuracy"], of_classes)
    assert pulled.high > plain.high > 0.55 and pulled.low < pulled.value < 0.4


def test_the_accuracy_of_classes_is_a_rate_of_all_rows():
    rows = np.diag([100, 400, *[62] * 8])
    found = interval("accuracy", Confusion.of_rows((*range(10, 20),), rows))
    assert found.high == 1.0 and 1 - found.low == pytest.approx(2.51 / 996, rel=0.05)  # Jeffreys' tail
    rows[0, 1] = 1
    both = steelyard.interval(["accuracy", "f1[average=micro]"], Confusion.of_rows((*range(10, 20),), rows))
    assert (both[0].low, both[0].high) == (both[1].low, both[1].high)


def test_a_design_by_class_gives_narrower_intervals_that_say_so():
    by_class = steelyard.evaluate(FINLEY, design="stratified")
    at_random = steelyard.evaluate(FINLEY)
    for name in ("precision", "f1", "accuracy"):
        assert by_class[name].high - by_class[name].low < at_random[name].high - at_random[name].low
        assert by_class[name].method == "stratified"
    assert any("taken as chosen" in sentence for sentence in by_class.assumed)
    y = np.arange(100) % 2
    assert any('design="stratified"' in sentence for sentence in steelyard.evaluate(y, y).assumed)
    assert_refused(
        lambda: interval("recall", FINLEY, design="by class"), ValueError, "design is 'random', or 'stratified'"
    )
    scores = np.random.default_rng(0).normal(size=100) + y
    assert steelyard.interval("average_precision", y, y_score=scores, design="stratified").low > 0


def test_an_interval_of_few_errors_holds_nearly_none_of_them():
    """With one error in 1,000 rows the share of errors may be far below one in ten thousand, yet it is not 0."""
    for name in ("accuracy", "mcc", "kappa", "f1"):
        assert 0.9998 < interval(name, Counts(500, 1, 0, 499)).high < 1
    assert interval("accuracy", Counts(500, 0, 0, 499)).high == 1


def test_draws_of_mostly_empty_tables_are_those_of_the_posterior(monkeypatch):
    rows = steelyard.confusion(*_many(30, 200)).rows.astype(float)
    one = np.ones((30, 1))
    dense = draws.posterior_draws(rows, one, 4000, np.random.default_rng(1)).cells
    monkeypatch.setattr(draws, "MOST_DENSE", 5)
    sparse = draws.posterior_draws(rows, 2 * one, 4000, np.random.default_rng(2)).cells / 2
    for of in (
        lambda cells: np.trace(cells, axis1=1, axis2=2),
        lambda cells: cells.sum((1, 2)),
        lambda cells: cells[:, 3].sum(-1),
    ):
        found, expected = (np.quantile(of(cells), [0.025, 0.5, 0.975]) for cells in (sparse, dense))
        np.testing.assert_allclose(found, expected, rtol=0.06)
