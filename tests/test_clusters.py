"""Clusters: scores, weights and groups of rows that are not independent, such as several of one patient."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from command_line import run_command
from scipy import stats
from scipy.optimize import brentq
from test_compared_models import obuchowski

import steelyard
from steelyard import compare, evaluate, interval

SCORED = ["roc_auc", "average_precision", "brier", "log_loss"]


def patients(clusters=30, size=20, seed=0, luck=0.8, skill=1.5):
    """Rows of patients whose scores share some luck."""
    rng = np.random.default_rng(seed)
    member = np.repeat(np.arange(clusters), size)
    y = rng.random(len(member)) < 0.25
    score = skill * y + luck * rng.normal(size=clusters)[member] + rng.normal(size=len(member))
    return y.astype(int), stats.norm.cdf(score - 1), member


Y, S, MEMBER = patients()
WEIGHT = np.random.default_rng(1).uniform(0.5, 2, len(Y))
FRAME = pd.DataFrame({"y": Y, "s": S, "p": (S >= 0.5).astype(int), "c": MEMBER, "w": WEIGHT, "site": np.where(MEMBER < 14, "north", "south")})  # fmt: skip

LONE_Y, LONE = np.repeat([1, 0], [20, 100]), np.repeat(["p", *(f"n{i}" for i in range(10))], [20, *[10] * 10])
LONE_S = stats.norm.cdf(np.random.default_rng(0).normal(size=120) + LONE_Y)


def width(found):
    return found.high - found.low


def reaches(y, score, member):
    """How many of Obuchowski's standard errors an area reaches on the scale of the logit, and a difference of areas."""
    error, area = math.sqrt(obuchowski(y == 1, score, member)), interval("roc_auc", y, y_score=score, cluster=member)
    logit = lambda share: math.log(share / (1 - share))
    row = compare(y, y_score={"a": score, "b": -score}, metrics=["roc_auc"], cluster=member).rows[0]
    assert area.method == row.method == "cluster"
    alone = (logit(area.high) - logit(area.value)) * area.value * (1 - area.value) / error
    return alone, (row.high - row.low) / 2 / (2 * error)  # areas of a score and its reverse lie twice as far apart


def test_the_spread_of_a_clustered_area_is_obuchowskis():
    for seed in range(3):
        for reach in reaches(*patients(clusters=12, size=15, seed=seed)):
            assert 0.985 * stats.t.ppf(0.975, 11) < reach < stats.t.ppf(0.975, 8)  # 12 / 11 of each class


@pytest.mark.parametrize("metric", [*SCORED, "lift"])
def test_copies_of_a_row_in_its_cluster_are_no_more_rows(metric):
    rows = np.arange(len(Y))
    once, copies = (
        interval(metric, Y, y_score=S),
        interval(metric, np.repeat(Y, 4), y_score=np.repeat(S, 4), cluster=np.repeat(rows, 4)),
    )
    assert copies.method == "cluster" and copies.value == pytest.approx(once.value)
    assert width(copies) == pytest.approx(width(once), rel=0.25 if metric == "lift" else 0.12)


def test_metrics_that_are_drawn_by_cluster_have_their_parameters_and_share_their_draws():
    asked = ["lift", "lift[share=0.3]", "precision_at_k[k=50]"]
    together = interval(asked, Y, y_score=S, cluster=MEMBER)
    assert [row.value for row in together] == [interval(name, Y, y_score=S).value for name in asked]
    given = interval("lift[share=0.3]", Y, y_score=S, cluster=MEMBER)
    assert given.low <= given.value == together[1].value <= given.high
    assert width(given) == pytest.approx(width(together[1]), rel=0.15)


@pytest.mark.parametrize("metric", SCORED)
def test_shared_luck_widens_the_interval(metric):
    assert width(interval(metric, Y, y_score=S, cluster=MEMBER)) > width(interval(metric, Y, y_score=S)) * 1.02
    apart = np.random.default_rng(2).permutation(MEMBER)
    assert width(interval(metric, Y, y_score=S, cluster=apart)) == pytest.approx(
        width(interval(metric, Y, y_score=S)), rel=0.3
    )


def test_weights_of_clustered_scores_forget_their_scale_and_frequencies_are_rows():
    small, large = (
        interval("roc_auc", Y, y_score=S, cluster=MEMBER, sample_weight=WEIGHT * scale) for scale in (1e-3, 1e3)
    )
    assert (small.low, small.high) == pytest.approx((large.low, large.high), rel=1e-6)
    assert small.value == pytest.approx(steelyard.roc_auc(Y, S, sample_weight=WEIGHT))
    times = np.random.default_rng(3).integers(0, 4, len(Y))
    rows = np.repeat(np.arange(len(Y)), times)
    counted, repeated = interval("brier", Y, y_score=S, cluster=MEMBER, frequency=times), interval("brier", Y[rows], y_score=S[rows], cluster=MEMBER[rows])  # fmt: skip
    assert (counted.value, counted.low, counted.high) == pytest.approx(
        (repeated.value, repeated.low, repeated.high), rel=0.02
    )


@pytest.mark.parametrize("engine", [lambda frame: frame, pl.from_pandas, lambda frame: pl.from_pandas(frame).lazy()])
def test_columns_of_a_frame_are_the_arrays_themselves(engine):
    frame = engine(FRAME)
    asked = {"metrics": ["recall", *SCORED], "true": "y", "score": "s", "cluster": "c", "weight": "w", "by": "site"}
    arrays = {"y_score": S, "cluster": MEMBER, "sample_weight": WEIGHT, "by": FRAME["site"]}
    named, given = evaluate(frame, **asked), evaluate(Y, metrics=["recall", *SCORED], **arrays)
    assert named.metrics == given.metrics
    assert [group.metrics for group in named.groups] == [group.metrics for group in given.groups]
    assert "The rows are clustered by c" in named.assumed[-1] and {row.method for row in named.metrics} == {"cluster"}
    assert interval("brier", frame, true="y", score="s", cluster="c") == interval("brier", Y, y_score=S, cluster=MEMBER)
    both = interval(["recall", "brier"], frame, true="y", pred="p", score="s", cluster="c", weight="w")
    assert both == interval(["recall", "brier"], Y, FRAME["p"], y_score=S, cluster=MEMBER, sample_weight=WEIGHT)


def test_a_file_of_text_is_read_as_the_frame_is(tmp_path):

    path = tmp_path / "rows.csv"
    FRAME.replace({"y": {0: "no", 1: "yes"}}).to_csv(path, index=False)
    words = ["report", path, "--true", "y", "--score", "s", "--cluster", "c", "--weight", "w", "--pos-label", "yes"]
    shown = run_command(*words, "--metrics", ",".join(SCORED), "--format", "json", code=0).stdout
    read = steelyard.Evaluation.from_json(shown)
    expected = evaluate(Y, y_score=S, cluster=MEMBER, sample_weight=WEIGHT, metrics=SCORED)
    for row in read.metrics:
        assert (row.value, row.low, row.high) == pytest.approx((expected[row.name].value, expected[row.name].low, expected[row.name].high), rel=1e-6)  # fmt: skip


def test_labels_made_by_a_threshold_are_those_that_are_predicted():
    scored = evaluate(Y, y_score=S, threshold=0.5, cluster=MEMBER, metrics=["recall", "mcc"])
    predicted = evaluate(Y, (S >= 0.5).astype(int), cluster=MEMBER, metrics=["recall", "mcc"])
    assert scored.metrics == predicted.metrics


def test_groups_of_scores_keep_their_clusters_and_one_cluster_has_no_interval():
    ward = np.where(MEMBER == 0, "lone", "rest")
    report = evaluate(Y, y_score=S, cluster=MEMBER, by={"ward": ward}, metrics=["roc_auc", "recall"])
    lone, rest = report.groups
    alone = evaluate(Y[MEMBER > 0], y_score=S[MEMBER > 0], cluster=MEMBER[MEMBER > 0], metrics=["roc_auc", "recall"])
    assert [rest["roc_auc"], rest["recall"]] == [alone["roc_auc"], alone["recall"]]
    assert math.isnan(lone["roc_auc"].low) and not math.isnan(lone["roc_auc"].value)
    assert "of one cluster has no interval: 'ward = lone'" in report.assumed[-1]


@pytest.mark.parametrize("uneven", [0.0, 1.0])
def test_intervals_of_clustered_scores_hold_the_area_and_the_average_precision(uneven):
    from benchmarks.coverage_clusters import score_coverage

    covered = score_coverage(12, uneven, repeats=150, rng=np.random.default_rng(4))
    assert all(share >= 0.89 for share in covered.values()), covered


@pytest.mark.parametrize("uneven", [0.0, 1.0])
def test_intervals_hold_where_the_class_belongs_to_the_cluster(uneven):
    from benchmarks.coverage_clusters import LABELLED, Setting, coverage

    few_sick = Setting(60, 8, uneven, 0.1, 0.85, 0.5, by_cluster=True)
    covered = coverage(few_sick, 100, np.random.default_rng(6), labelled=LABELLED, scored=())
    assert all(share >= 0.9 for share in covered.values()), covered  # recall was .75 to .85


def test_the_class_of_few_clusters_widens_its_own_recall_alone():
    y, flagged = LONE_Y[10:], np.arange(110) % 3 > 0
    few, many = np.r_[np.arange(10) // 5, 2 + np.arange(100) // 5], np.r_[np.arange(10), 10 + np.arange(100) // 5]
    names = ["recall", "specificity"]
    of_few, of_many = (
        {row.metric: row.high - row.low for row in interval(names, y, flagged, cluster=c)} for c in (few, many)
    )
    assert of_few["recall"] > 1.2 * of_many["recall"]
    assert of_few["specificity"] == pytest.approx(of_many["specificity"], rel=0.1)


def test_a_calibration_error_of_clusters_has_no_interval_either():
    y, score = np.arange(60) % 2, np.linspace(0.1, 0.9, 60)
    found = steelyard.interval("expected_calibration_error", y, y_score=score, cluster=np.arange(60) // 3)
    assert found.value > 0 and np.isnan(found.low) and np.isnan(found.high)
    assert "rows of one cluster go wrong together" in found.why


def test_a_class_of_one_cluster_has_no_interval_and_the_reason_is_stated():
    scored = interval(["roc_auc", "average_precision", "brier"], LONE_Y, y_score=LONE_S, cluster=LONE)
    labelled = interval(["recall", "mcc", "specificity", "accuracy"], LONE_Y, LONE_S > 0.5, cluster=LONE)
    unknown = [row.metric for row in (*scored, *labelled) if math.isnan(row.low)]
    assert unknown == ["roc_auc", "average_precision", "recall", "mcc"]
    assert all("all of one cluster" in row.why for row in (*scored[:2], *labelled[:2]))
    report = evaluate(LONE_Y, y_score=LONE_S, cluster=LONE, metrics=["recall", "accuracy"])
    assert "The rows of class 1 are all of one cluster" in report.assumed[-1] and "– to –" not in str(report.verdict)


def test_one_class_of_several_that_is_of_one_cluster_has_no_interval():
    rng = np.random.default_rng(0)
    y = np.where(LONE_Y == 1, 2, rng.integers(0, 2, 120))
    p = rng.dirichlet(np.ones(3), 120)
    macro = interval("roc_auc[average=macro]", y, y_score=p, cluster=LONE)
    by_class = interval("recall[average=None]", y, p.argmax(1), cluster=LONE)
    assert math.isnan(macro.low) and "class 2" in macro.why
    assert np.isnan(by_class.low).tolist() == [False, False, True] and by_class.why[:2].tolist() == [None, None]
    assert math.isfinite(interval("log_loss", y, y_score=p, cluster=LONE).low)


def test_a_class_of_one_cluster_has_no_p_value():
    noise = np.random.default_rng(1).normal(size=120)
    scored = compare(LONE_Y, y_score={"A": LONE_S, "B": LONE_S + noise}, cluster=LONE, metrics=["roc_auc"])
    flagged = {"A": LONE_S > 0.5, "B": LONE_S + noise > 0.5}
    labelled = compare(LONE_Y, flagged, cluster=LONE, metrics=["recall", "specificity"])
    for row in (scored.rows[0], labelled.rows[0]):
        assert math.isnan(row.p_value) and math.isnan(row.low) and "all of one cluster" in row.why
    assert 0 <= labelled.rows[1].p_value <= 1


def test_clusters_that_are_no_names_are_refused_in_words_about_clusters():
    with pytest.raises(steelyard.exceptions.InputError, match="a cluster is named by text or a whole number"):
        interval("roc_auc", Y, y_score=S, cluster=MEMBER + 0.5)


def test_compared_scores_count_degrees_by_the_class_in_fewer_clusters_too():
    y, member = np.repeat([1, 0], [30, 300]), np.repeat(np.arange(33), 10)
    alone, compared = reaches(y, np.random.default_rng(0).normal(size=330) + y, member)
    plain = brentq(lambda degrees: stats.t.ppf(0.975, degrees) - alone, 2, 32)
    halfway = 2 / (1 / plain + 1 / 2)  # harmonically, to those of three clusters
    assert compared == pytest.approx(stats.t.ppf(0.975, halfway), rel=0.03)


def test_groups_of_columns_of_probabilities_keep_their_clusters():
    rng = np.random.default_rng(0)
    y, p, member = rng.integers(0, 3, 120), rng.dirichlet(np.ones(3), 120), np.arange(120) // 4
    report = evaluate(y, y_score=p, by={"site": member % 2}, cluster=member, metrics=["balanced_accuracy"])
    assert all(row.method == "cluster" and row.low < row.high for group in report.groups for row in group.metrics)
    with pytest.raises(steelyard.exceptions.InputError, match="has one column, and others a column for each class"):
        compare(y, {"A": p.argmax(1), "B": (p > 0.5).astype(int)})


def test_labels_in_clusters_are_read_at_another_prevalence_and_with_chosen_class_sizes():
    flagged = (S >= 0.5).astype(int)
    plain, rare = (interval("precision", Y, flagged, cluster=MEMBER, prevalence=share) for share in (None, 0.02))
    assert rare.value == interval("precision", Y, flagged, prevalence=0.02).value and rare.high < plain.low
    recalls = [interval("recall", Y, flagged, cluster=MEMBER, prevalence=share) for share in (None, 0.02)]
    assert recalls[0].text() == recalls[1].text()
    chosen = interval("precision", Y, flagged, cluster=MEMBER, design="stratified")
    assert chosen.value == plain.value and width(chosen) < width(plain)


def test_the_precision_of_the_k_highest_rows_in_clusters_has_an_interval():
    rng = np.random.default_rng(1)
    found = interval("precision_at_k", rng.random(240) < 0.2, y_score=rng.random(240), cluster=np.arange(240) // 8)
    assert found.low < found.value < found.high


def test_losses_of_few_clusters_of_a_class_have_ends_that_a_loss_can_have():
    """Two or three positive clusters have one or two degrees of freedom, whose exponential was 1e12."""
    from benchmarks.coverage_clusters import Setting, simulated

    rng, ends = np.random.default_rng(3), []
    while len(ends) < 25:
        y, score, member = simulated(Setting(40, 10, 1.0, 0.1, 0.85, 0.5, by_cluster=True), 40, rng)
        if len(set(member[y == 1])) < 2:
            continue
        loss, skill = steelyard.interval(["log_loss", "d2_log_loss"], y, y_score=score, cluster=member, rng=rng)
        assert loss.low <= loss.value <= loss.high <= max(-np.log(score.min()), -np.log(1 - score.max())) + 1e-9
        ends.append((loss.low <= 0.239 <= loss.high, loss.high, skill.low))
    held, highs, lows = zip(*ends, strict=True)
    assert np.mean(held) >= 0.88 and max(highs) < 15 and min(lows) > -200
