"""The same classifier where the classes come in other shares."""

from __future__ import annotations

import warnings

import numpy as np
import polars as pl
import pytest
from checks import assert_refused

import steelyard
from steelyard import (
    Counts,
    Prevalence,
    at_prevalence,
    confusion,
    correct_prior,
    get_metric,
    interval,
    list_metrics,
    score_table,
)
from steelyard.studies import swap_prevalences

FINLEY = Counts(28, 23, 72, 2680)
COUNT_METRICS = [m for m in list_metrics() if m.function]


def test_equals_a_physically_reweighted_table():
    weights = {1: 0.3 / (51 / 2803), 0: 0.7 / (2752 / 2803)}
    y, pred = np.repeat([1, 1, 0, 0], [28, 23, 72, 2680]), np.repeat([1, 0, 1, 0], [28, 23, 72, 2680])
    moved, heavy = at_prevalence(FINLEY, 0.3), confusion(y, pred, sample_weight=[weights[i] for i in y])
    for metric in COUNT_METRICS:
        assert metric(moved) == pytest.approx(metric(heavy), rel=1e-12), metric.name
        assert metric(at_prevalence(y, 0.3, y_pred=pred)) == pytest.approx(metric(heavy), rel=1e-12)
    assert steelyard.prevalence(moved) == pytest.approx(0.3)
    assert moved.total == pytest.approx(2803)


def test_equals_a_resampled_table_within_its_error():
    rng = np.random.default_rng(1)
    p, n = rng.multinomial(300_000, [28 / 51, 23 / 51]), rng.multinomial(700_000, [72 / 2752, 2680 / 2752])
    for name in ("precision", "f1", "mcc", "kappa", "accuracy"):
        assert getattr(steelyard, name)(at_prevalence(FINLEY, 0.3)) == pytest.approx(
            getattr(steelyard, name)(Counts(*p, *n)), abs=0.003
        )


def test_nguyens_factor_is_a_prevalence_of_one_half():
    half = at_prevalence(FINLEY, 0.5)
    for name in ("accuracy", "precision", "recall", "f1"):
        assert getattr(steelyard, name)(half) == pytest.approx(getattr(steelyard, f"alpha_{name}")(FINLEY))


def test_a_prevalence_is_one_more_axis():
    curve = steelyard.precision(at_prevalence(FINLEY, [0.01, 0.1, 0.5]))
    assert curve.tolist() == pytest.approx([steelyard.precision(at_prevalence(FINLEY, pi)) for pi in (0.01, 0.1, 0.5)])
    stacked = at_prevalence(Counts([1, 2], 3, 4, 5), [0.2, 0.3, 0.4])
    assert stacked.shape == (2, 3)


def test_curves_and_ranks_at_another_prevalence():
    rng = np.random.default_rng(2)
    y = (rng.random(2_000) < 0.2).astype(int)
    score = rng.normal(size=2_000) + y
    table = at_prevalence(score_table(y, score), 0.6)
    factor = np.where(y == 1, 0.6 / y.mean(), 0.4 / (1 - y.mean()))
    assert steelyard.average_precision(table) == pytest.approx(
        steelyard.average_precision(y, score, sample_weight=factor)
    )
    assert steelyard.roc_auc(table) == pytest.approx(steelyard.roc_auc(y, score))
    assert steelyard.precision_recall_curve(table).precision[-1] == pytest.approx(0.6)


def test_many_classes_take_a_vector_of_shares():
    y, pred = [0, 0, 1, 1, 2, 2, 2, 2], [0, 1, 1, 1, 2, 2, 2, 0]
    moved = at_prevalence(confusion(y, pred), [0.5, 0.25, 0.25])
    assert steelyard.accuracy(moved) == pytest.approx(0.5 * 0.5 + 0.25 + 0.25 * 0.75)
    assert steelyard.balanced_accuracy(moved) == pytest.approx(steelyard.balanced_accuracy(y, pred))


def test_intervals_at_another_prevalence_know_the_prevalence():
    assert interval("prevalence", FINLEY, prevalence=0.3).low == pytest.approx(0.3)
    for name in ("recall", "ac_score"):  # the same at every prevalence
        here, there = interval(name, FINLEY), interval(name, FINLEY, prevalence=0.3)
        assert (there.low, there.high) == pytest.approx((here.low, here.high), abs=1e-9)
    found = interval("precision", FINLEY, prevalence=0.5)
    assert found.low < found.value < found.high
    assert found.value == pytest.approx(steelyard.alpha_precision(FINLEY))
    rng = np.random.default_rng(3)
    y = (rng.random(3_000) < 0.1).astype(int)
    score = rng.normal(size=3_000) + y
    there = interval("average_precision", y, y_score=score, prevalence=0.5, draws=200)
    assert there.low < there.value < there.high
    assert there.value > interval("average_precision", y, y_score=score, draws=200).high


def test_intervals_at_another_prevalence_cover():
    rng = np.random.default_rng(4)
    drawn = Counts(*rng.multinomial(500, [0.08, 0.02, 0.045, 0.855], size=500).T)
    truth = steelyard.precision(at_prevalence(Counts(0.08, 0.02, 0.045, 0.855), 0.4))
    found = interval("precision", drawn, prevalence=0.4, draws=600)
    assert 0.92 <= np.mean((found.low <= truth) & (truth <= found.high)) <= 0.985


def test_the_prevalence_at_which_two_models_swap_rank():
    careful, eager = Counts(60, 40, 10, 890), Counts(90, 10, 150, 750)
    (pi,) = swap_prevalences("accuracy", careful, eager)
    # accuracy is pi recall + (1 - pi) specificity, so they meet where the gains equal the losses
    assert pi == pytest.approx((890 / 900 - 750 / 900) / (0.3 + 140 / 900), abs=1e-9)
    assert swap_prevalences("accuracy", eager, Counts(80, 20, 200, 700)) == []
    assert swap_prevalences("accuracy", Counts(60, 40, 20, 80), Counts(80, 20, 40, 60)) == pytest.approx([0.5])
    assert swap_prevalences("balanced_accuracy", Counts(60, 40, 20, 80), Counts(80, 20, 40, 60)) == []


def test_rows_of_every_kind_come_to_another_prevalence():
    rng = np.random.default_rng(5)
    y = rng.choice(["no", "yes"], 300, p=[0.8, 0.2])
    score = np.clip(rng.normal(0.3 + 0.3 * (y == "yes"), 0.2), 0, 1)
    table = at_prevalence(score_table(y, score, pos_label="yes"), 0.02)
    both = np.column_stack([1 - score, score])
    frame = pl.DataFrame({"y": y, "s": score})
    p = steelyard.Predictions(y, y_score=score)
    answers = [at_prevalence(y, 0.02, y_score=score), at_prevalence(y, 0.02, y_score=both), p.at_prevalence(0.02)]
    for found in [*answers, at_prevalence(frame, 0.02, true="y", score="s")]:
        assert steelyard.average_precision(found) == pytest.approx(steelyard.average_precision(table), abs=1e-12)
        assert found.label == "yes"
    cut = p.at(0.5).at_prevalence(0.02)
    assert steelyard.precision(cut) == pytest.approx(steelyard.precision(table.at(0.5)), abs=1e-12)
    three, columns = rng.integers(0, 3, 200), rng.dirichlet([1, 1, 1], 200)
    moved = at_prevalence(three, [0.2, 0.3, 0.5], y_score=columns)
    assert moved.class_shares == pytest.approx(np.array([0.2, 0.3, 0.5]), abs=1e-12)


BAD = {
    "above": (lambda: at_prevalence(FINLEY, 1.5), ValueError, "share of positives above 0 and below 1"),
    "zero": (lambda: at_prevalence(FINLEY, 0), ValueError, "above 0 and below 1"),
    "text": (lambda: at_prevalence(FINLEY, "low"), ValueError, "above 0 and below 1"),
    "one class": (lambda: at_prevalence(Counts(0, 0, 3, 4), 0.5), ValueError, "without positives"),
    "K": (lambda: at_prevalence(confusion([0, 1, 2], [0, 1, 2]), 0.5), ValueError, "3 classes need 3 shares"),
    "sum": (lambda: at_prevalence(confusion([0, 1, 2], [0, 1, 2]), [0.5, 0.5, 0.5]), ValueError, "sum to 1"),
    "data": (lambda: at_prevalence(3, 0.5), TypeError, "give y_pred"),
    "no prevalence": (lambda: at_prevalence(FINLEY), TypeError, "The prevalence is missing"),
    "both": (lambda: at_prevalence([0, 1], 0.5, y_pred=[0, 1], y_score=[0.1, 0.9]), ValueError, "give one"),
    "clusters": (lambda: at_prevalence([0, 1], 0.5, y_pred=[0, 1], cluster=[1, 2]), TypeError, "cluster= has no place"),
    "label sets": (lambda: at_prevalence([["a"], ["b"]], 0.5, y_pred=[["a"], ["b"]]), TypeError, "no one prevalence"),
    "groups": (lambda: interval("brier", [0, 1], y_score=[0.1, 0.8], prevalence=0.5, cluster=[1, 2]), ValueError, "cannot be given together"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_one_sentence(case):
    assert_refused(*BAD[case])


# ---------------------------------------------------------------- a prevalence that was estimated


def test_intervals_hold_where_the_prevalence_was_estimated_from_100_rows():
    rng, repeats = np.random.default_rng(11), 400
    tp, tn, seen = rng.binomial(200, 0.8, repeats), rng.binomial(200, 0.9, repeats), rng.binomial(100, 0.08, repeats)
    tables, names, held = Counts(tp, 200 - tp, 200 - tn, tn), ("precision", "negative_predictive_value"), []
    truths = [get_metric(name)(at_prevalence(Counts(160, 40, 20, 180), 0.08)) for name in names]
    for positives in np.unique(seen):
        estimate = Prevalence(positives=int(positives), rows=100)
        for found, truth in zip(
            steelyard.interval(names, tables[seen == positives], prevalence=estimate, draws=500), truths, strict=True
        ):
            held.extend((found.low <= truth) & (truth <= found.high))
    assert 0.92 <= np.mean(held) <= 0.98  # 0.45 with the share that was seen plugged in


def test_an_estimated_prevalence_has_the_value_of_the_share_seen_and_a_wider_interval():
    known, estimated = (interval("precision", FINLEY, prevalence=p) for p in (0.03, Prevalence(positives=12, rows=400)))
    assert (
        estimated.value == known.value == steelyard.precision(at_prevalence(FINLEY, Prevalence(positives=3, rows=100)))
    )
    assert estimated.low < known.low and known.high < estimated.high
    certain = interval("precision", FINLEY, prevalence=Prevalence(positives=3 * 10**9, rows=10**11))
    assert (certain.low, certain.high) == pytest.approx((known.low, known.high), rel=0.05)
    recall = [interval("recall", FINLEY, prevalence=p) for p in (0.03, Prevalence(positives=12, rows=400))]
    assert recall[0].low == recall[1].low  # which does not depend on it


@pytest.mark.parametrize("metric", ["average_precision", "optimized_precision", "f1"])
def test_scores_and_kinked_metrics_carry_the_prevalence_too(metric):
    rng = np.random.default_rng(2)
    y = rng.random(400) < 0.3
    s = y * 0.3 + rng.normal(0.4, 0.2, 400)
    given = {"y_score": s} if get_metric(metric).function is None else {"y_pred": s > 0.5}
    known, estimated = (interval(metric, y, **given, prevalence=p) for p in (0.1, Prevalence(positives=2, rows=20)))
    assert estimated.value == known.value
    assert estimated.high - estimated.low >= 0.98 * (known.high - known.low)
    if metric != "optimized_precision":  # which hardly depends on it
        assert estimated.high - estimated.low > 1.2 * (known.high - known.low)


def test_a_prevalence_by_class_goes_by_the_labels_and_draws_by_their_distribution():
    rng = np.random.default_rng(3)
    y = rng.choice(list("abc"), 900, p=[0.6, 0.3, 0.1])
    pred = np.where(rng.random(900) < np.where(y == "a", 0.95, 0.6), y, rng.permutation(y))
    known = interval("accuracy", y, pred, prevalence=[0.2, 0.3, 0.5])
    counted = interval("accuracy", y, pred, prevalence=Prevalence(counts={"c": 5, "a": 2, "b": 3}))
    assert counted.value == pytest.approx(known.value) and counted.low < known.low and known.high < counted.high
    shares = np.random.default_rng(4).beta(12.5, 388.5, 20_000)
    drawn, posterior = (
        interval("precision", FINLEY, prevalence=p)
        for p in (Prevalence.from_draws(shares), Prevalence(positives=12, rows=400))
    )
    assert (drawn.low, drawn.high) == pytest.approx((posterior.low, posterior.high), rel=0.05)


@pytest.mark.parametrize(
    "prevalence",
    [
        Prevalence(positives=12, rows=400),
        Prevalence(counts={0: 380, 1: 20}),
        Prevalence.from_draws(np.linspace(0.01, 0.1, 500)),
    ],
    ids=["rows", "classes", "draws"],
)
def test_an_evaluation_states_the_estimate_and_keeps_it(prevalence):
    y = np.repeat([1, 1, 0, 0], [28, 23, 72, 680])
    evaluation = steelyard.evaluate(y, np.repeat([1, 0, 1, 0], [28, 23, 72, 680]), prevalence=prevalence)
    again = steelyard.Evaluation.from_json(evaluation.to_json())
    assert again == evaluation and again.prevalence == prevalence
    if prevalence.counts is None:
        assert f"at a prevalence of {prevalence.text()}" in str(evaluation.verdict[0])
    assert evaluation.to_html()


def test_no_positive_seen_is_read_at_the_mean_of_what_it_may_be():
    none = Prevalence(positives=0, rows=99)
    assert float(none) == pytest.approx(0.005)
    found = interval("precision", FINLEY, prevalence=none)
    assert found.low < found.value < found.high


ESTIMATES = {
    "nothing": (Prevalence, TypeError, "positives= of rows="),
    "too many": (lambda: Prevalence(positives=5, rows=4), ValueError, "5 of 4"),
    "one class": (lambda: Prevalence(counts={"a": 3}), ValueError, "two or more"),
    "few draws": (lambda: Prevalence.from_draws([0.1, 0.2]), ValueError, "100 or more"),
    "other classes": (
        lambda: interval("f1", FINLEY, prevalence=Prevalence(counts={"a": 3, "b": 4})),
        ValueError,
        "give the rows of each",
    ),
    "other labels": (
        lambda: interval("accuracy", [0, 1, 1], [0, 1, 0], prevalence=Prevalence(counts={"a": 3, "b": 4})),
        ValueError,
        "give the rows of each",
    ),
}


@pytest.mark.parametrize("case", ESTIMATES)
def test_an_estimate_that_is_none_is_refused(case):
    assert_refused(*ESTIMATES[case])


def test_a_loss_without_bound_at_another_prevalence_is_no_warning():
    rng = np.random.default_rng(0)
    y = (rng.random(2_000) < 0.1).astype(int)
    scores = np.round(1 / (1 + np.exp(-(rng.normal(size=2_000) + 2 * y - 2))), 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        row = steelyard.evaluate(y, y_score=scores, prevalence=0.3)["log_loss"]
    assert row.high == np.inf


def test_probabilities_are_moved_to_the_shares_that_were_counted():
    p, even = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]]), [1 / 3] * 3
    counted = correct_prior(p, even, Prevalence(counts={"a": 160, "b": 20, "c": 20}))
    assert counted == pytest.approx(correct_prior(p, even, {"a": 0.8, "b": 0.1, "c": 0.1}), rel=1e-12)
