"""Chance: the levels are means over random predictions, and over random orders of the same scores."""

from __future__ import annotations

import math
import pickle
from itertools import combinations

import numpy as np
import pytest
from checks import assert_refused, same
from scipy import stats

import steelyard
from steelyard import (
    Confusion,
    Counts,
    at_prevalence,
    chance,
    confusion,
    evaluate,
    get_metric,
    list_metrics,
    score_table,
)
from steelyard.exceptions import InputError, InputTypeError, UnknownNameError

FINLEY = Counts(tp=28, fn=23, fp=72, tn=2680)
COUNT_METRICS = [m for m in list_metrics() if m.function is not None]
SCORE_METRICS = [m for m in list_metrics() if m.scores is not None]
SIDES = ("value", "majority", "minority", "coin")
name = lambda metric: metric.name


def values(found):
    return [getattr(found, side) for side in SIDES]


# ---------------------------------------------------------------- levels


@pytest.mark.parametrize("metric", COUNT_METRICS, ids=name)
@pytest.mark.parametrize("table", [Counts(3, 1, 2, 2), Counts(0, 5, 0, 3), Counts(2, 1, 1, 5)], ids=str)
def test_a_level_is_the_mean_over_all_permutations_of_the_predictions(metric, table):
    true = [1] * table.positives + [0] * table.negatives
    flagged = set(combinations(range(table.total), table.predicted_positives))
    each = []
    for some in flagged:
        tp = sum(true[i] for i in some)
        each.append(metric(Counts(tp, table.positives - tp, len(some) - tp, table.negatives - len(some) + tp)))
    defined = [value for value in each if math.isfinite(value)]
    expected = np.mean(defined) if defined else math.nan
    assert same(chance(metric, table).value, expected)
    p, n = table.positives, table.negatives
    positive, negative = Counts(p, 0, n, 0), Counts(0, p, 0, n)
    explicit = (positive, negative) if p > n else (negative, positive)
    assert same(values(chance(metric, table))[1:3], [metric(c) for c in explicit])


@pytest.mark.parametrize(
    ("metric", "level"),
    [
        ("g_mean", 0.0596),
        ("iba", 0.057),
        ("adjusted_g_mean", 0.1195),
        ("ac_score", 0.0358),
        ("diagnostic_odds_ratio", 1.17),
        ("recall", 0.02),
        ("precision", 0.01),
        ("kappa", 0.0),
    ],
)
def test_concave_metrics_of_few_positives_are_below_those_of_the_expected_table(metric, level):
    assert chance(metric, Counts(tp=2, fn=8, fp=18, tn=972)).value == pytest.approx(level, rel=0.005)


@pytest.mark.parametrize("metric", COUNT_METRICS, ids=name)
def test_of_many_rows_the_mean_and_the_metric_of_the_expected_table_agree(metric):
    p, n, flagged = 40_000, 60_000, 30_000
    below = Counts(p * flagged // (p + n), p - p * flagged // (p + n), 18_000, 42_000)
    null = stats.hypergeom(p + n, p, flagged)
    tp = np.arange(*null.ppf([1e-12, 1 - 1e-12]))
    values, masses = metric(Counts(tp, p - tp, flagged - tp, n - flagged + tp)), null.pmf(tp)
    mean = (values * masses).sum() / masses.sum()
    assert chance(metric, below).value == pytest.approx(mean, rel=1e-3, abs=1e-3)


def test_weights_of_any_scale_have_one_level():
    rng = np.random.default_rng(3)
    true, pred, weight, score = rng.random(90) < 0.2, rng.random(90) < 0.3, 0.5 + rng.random(90), rng.random(90)
    for metric in ("g_mean", "ac_score"):
        levels = [chance(metric, true, pred, sample_weight=c * weight).value for c in (1, 7, 1e-3)]
        assert same(levels, [levels[0]] * 3)
        plain = chance(metric, true, pred).value
        assert same(chance(metric, true, pred, sample_weight=np.full(90, 2.5)).value, plain)
        assert same(chance(metric, true, pred, frequency=np.ones(90, dtype=int)).value, plain)
    for metric in ("average_precision", "ks"):
        levels = [chance(metric, true, y_score=score, sample_weight=c * weight).value for c in (1, 8, 0.25)]
        assert same(levels, [levels[0]] * 3)


def permuted(metric, true, pred, weight, prevalence=None, times=40_000):
    """The mean over predictions that are random over the rows, at the rate at which the table is read."""
    rng, (true, pred), cells = np.random.default_rng(1), np.array([true, pred], dtype=float), []
    share = weight @ true / weight.sum() if prevalence is None else prevalence
    flagged = len(true) * (share * pred[true == 1].mean() + (1 - share) * pred[true == 0].mean())
    for _ in range(times // 4_000):
        each = np.floor(flagged) + (rng.random((4_000, 1)) < flagged % 1)  # whole rows, with that mean
        some = rng.permuted((np.arange(len(true)) < each).astype(float), axis=1)
        sides = [weight * side for side in (true, 1 - true)]
        if prevalence is not None:
            sides = [side * share / side.sum() for side, share in zip(sides, (prevalence, 1 - prevalence), strict=True)]
        cells.append([part @ side for side in sides for part in (some, 1 - some)])
    values = np.asarray(get_metric(metric)(Counts.trusted(*np.concatenate(cells, 1))), dtype=float)
    return np.mean(values[np.isfinite(values)])


FLAGGED = np.random.default_rng(0).permutation(300) < 20


@pytest.mark.parametrize("metric", ["g_mean", "adjusted_g_mean", "f1", "mcc", "precision", "ac_score", "recall"])
@pytest.mark.parametrize("prevalence", [None, 0.3])
@pytest.mark.parametrize("weights", [[0.2, 1, 5], [1]], ids=["weights", "rows"])
def test_the_level_is_the_mean_over_predictions_permuted_over_the_rows(metric, prevalence, weights):
    true, weight = np.arange(300) < 10, np.random.default_rng(1).choice(np.array(weights, dtype=float), 300)
    table = confusion(true, FLAGGED, sample_weight=weight if len(weights) > 1 else None)
    table = table if prevalence is None else at_prevalence(table, prevalence)
    assert chance(metric, table).value == pytest.approx(
        permuted(metric, true, FLAGGED, weight, prevalence), abs=0.012 if len(weights) > 1 else 0.003
    )


def test_many_classes_at_other_shares_are_permuted_over_the_rows_too():
    rng = np.random.default_rng(0)
    true, pred = (rng.permutation(np.repeat(["a", "b", "c"], sizes)) for sizes in ([10, 40, 150], [20, 60, 120]))
    there = [at_prevalence(confusion(true, rng.permutation(pred)), [0.3, 0.3, 0.4]) for _ in range(800)]
    for metric in ("g_mean", "recall"):
        mean = np.mean([get_metric(metric)(table, average="macro") for table in there])
        assert chance(f"{metric}[average=macro]", there[0]).value == pytest.approx(mean, abs=0.015)


def test_linear_metrics_keep_their_levels_with_weights_and_at_another_prevalence():
    rng = np.random.default_rng(3)
    true, pred, weight = rng.random(90) < 0.2, rng.random(90) < 0.3, 0.5 + rng.random(90)
    for table in (confusion(true, pred), confusion(true, pred, sample_weight=weight)):
        for there in (table, at_prevalence(table, 0.07)):
            for metric in ("recall", "false_positive_rate"):
                share = there.matrix[1].sum() / there.matrix.sum()
                rate = share * pred[true].mean() + (1 - share) * pred[~true].mean()
                assert same(chance(metric, there).value, rate)
    assert same(chance("precision", true, pred).value, true.mean())
    assert chance("kappa", true, pred).value == 0


FEW = np.arange(1000) < 5


@pytest.mark.parametrize(
    ("metric", "level", "off"),
    [
        ("average_precision", 0.01146, 1e-05),
        ("pr_auc", 0.0082, 0.0007),
        ("ks", 0.255, 0.01),
        ("h_measure", 0.105, 0.006),
        ("specificity_at_recall", 0.166, 0.008),
        ("auprg", -15.7, 1.0),
        ("roc_auc", 0.5, 0),
        ("gini", 0, 0),
    ],
)
def test_a_random_order_of_few_positives_has_its_mean(metric, level, off):
    score = np.random.default_rng(0).permutation(1000)
    assert abs(chance(metric, FEW, y_score=score).value - level) <= off


@pytest.mark.parametrize("tied", [False, True])
def test_a_mean_over_the_points_of_a_curve_is_over_those_of_all_scores(tied):
    rng, true = np.random.default_rng(0), np.arange(100) < 10
    score = np.round(rng.normal(size=100), 1 if tied else 9)
    mean = np.mean([get_metric("mcc_f1")(rng.permutation(true), score) for _ in range(1_500)])
    assert chance("mcc_f1", true, y_score=score).value == pytest.approx(mean, abs=0.0035)


@pytest.mark.parametrize("score", [[1, 2, 3, 4, 5, 6, 7], [1, 1, 2, 2, 2, 3, 4], [0, 0, 0, 1, 1, 1, 1]], ids=str)
@pytest.mark.parametrize(
    ("metric", "off"),
    [
        ("average_precision", 1e-12),
        ("negative_average_precision", 1e-12),
        ("mean_average_precision", 1e-12),
        ("ks", 0.02),
        ("pr_auc", 0.02),
        ("weighted_auc", 0.02),
        ("roc_auc", 1e-12),
    ],
)
def test_a_random_order_keeps_ties_as_all_orders_have_them(metric, off, score):
    declared, size = get_metric(metric), len(score)
    each = [declared([int(i in some) for i in range(size)], score) for some in combinations(range(size), 3)]
    assert chance(metric, [1, 1, 1, 0, 0, 0, 0], y_score=score).value == pytest.approx(np.mean(each), abs=off)


def test_the_level_of_a_metric_does_not_hang_on_the_others_or_on_the_order_of_rows():
    rng = np.random.default_rng(8)
    true, score = rng.random(300) < 0.1, rng.random(300)
    alone = {r.name: r.chance for r in evaluate(true, y_score=score, metrics=["ks", "g_mean"]).metrics}
    order = rng.permutation(300)
    beside = evaluate(true[order], y_score=score[order], metrics=["pr_auc", "g_mean", "average_precision", "ks"])
    assert {r.name: r.chance for r in beside.metrics if r.name in alone} == alone


# ---------------------------------------------------------------- the 95th percentile


@pytest.mark.parametrize("metric", ["f1", "precision", "g_mean", "false_positive_rate"])
def test_one_in_twenty_random_predictions_reaches_the_percentile(metric):
    found, declared = chance(metric, Counts(30, 20, 60, 390)), get_metric(metric)
    null = stats.hypergeom(500, 50, 90)
    tp = np.arange(51)
    values = np.asarray(declared(Counts(tp, 50 - tp, 90 - tp, 360 + tp)))
    good = values <= found.p95 if declared.direction == "lower" else values >= found.p95
    better = values < found.p95 if declared.direction == "lower" else values > found.p95
    assert null.pmf(tp)[good].sum() >= 0.05 >= null.pmf(tp)[better].sum()
    assert found.method == "all random predictions with the same margins"


def test_percentiles_are_those_of_shuffled_rows():
    rng = np.random.default_rng(7)
    true, pred, score = rng.integers(0, 3, 300), rng.integers(0, 3, 300), rng.random(300)
    shuffled = [get_metric("accuracy")(true, rng.permutation(pred)) for _ in range(2_000)]
    found = chance("accuracy", true, pred)
    assert found.p95 == pytest.approx(np.quantile(shuffled, 0.95), abs=0.008)
    rare = true == 0
    for metric in ("roc_auc", "average_precision", "ks"):
        shuffled = [get_metric(metric)(rare, rng.permutation(score)) for _ in range(1_000)]
        found = chance(metric, rare, y_score=score)
        assert found.p95 == pytest.approx(np.quantile(shuffled, 0.95), abs=0.015), metric
        assert found.value < found.p95
    columns = rng.dirichlet([1, 1, 1], 300)
    shuffled = [get_metric("roc_auc")(true, y_score=rng.permutation(columns), average="macro") for _ in range(500)]
    asked = chance("roc_auc[average=macro]", true, y_score=columns, draws=500)
    assert asked.p95 == pytest.approx(np.quantile(shuffled, 0.95), abs=0.01)
    sets, predicted = rng.random((200, 4)) < 0.3, rng.random((200, 4)) < 0.4
    asked = chance("jaccard[average=samples]", sets, predicted, draws=400)
    shuffled = [get_metric("jaccard")(sets, rng.permutation(predicted), average="samples") for _ in range(400)]
    assert asked.p95 == pytest.approx(np.quantile(shuffled, 0.95), abs=0.012)


def test_a_constant_score_has_its_own_value_as_percentile():
    rng = np.random.default_rng(8)
    found = chance("brier", rng.random(200) < 0.3, y_score=rng.random(200))
    assert found.p95 == found.value and found.method == "one constant score for all rows"


def test_draws_and_their_generator_move_what_is_drawn_alone():
    rng = np.random.default_rng(9)
    true, score = rng.random(300) < 0.1, rng.random(300)
    first, again = (chance("ks", true, y_score=score, draws=200) for _ in range(2))
    assert first == again and "200 random orders" in first.method
    other = chance("ks", true, y_score=score, draws=200, rng=np.random.default_rng(3))
    assert other.value != first.value and other.value == pytest.approx(first.value, abs=0.03)
    assert chance("f1", FINLEY, rng=1) == chance("f1", FINLEY)


def test_a_prevalence_is_read_as_that_of_a_table_at_it():
    rng = np.random.default_rng(10)
    true, pred = rng.random(300) < 0.2, rng.random(300) < 0.3
    there = chance("precision", true, pred, prevalence=0.02)
    assert same(there.value, chance("precision", at_prevalence(confusion(true, pred), 0.02)).value)
    assert there.value == pytest.approx(0.02, abs=1e-3)


def test_a_convention_is_stated_and_predictions_ask_too():
    truth, pred = ["no", "yes", "no", "yes"] * 5, ["no", "yes", "yes", "no"] * 5
    found = chance("recall", truth, pred)
    assert "by convention" in found.assumed[0]
    assert steelyard.Predictions(truth, pred).chance("recall") == found
    assert chance("recall", truth, pred, pos_label="yes").value == found.value


@pytest.mark.parametrize("table", [FINLEY, Counts(1, 2, 3, 4), Counts(10**12, 3, 7, 10**9)], ids=str)
@pytest.mark.parametrize(
    ("metric", "level"),
    [
        ("balanced_accuracy", lambda c: 0.5),
        ("informedness", lambda c: 0.0),
        ("mcc", lambda c: 0.0),
        ("kappa", lambda c: 0.0),
        ("markedness", lambda c: 0.0),
        ("precision", lambda c: c.positives / c.total),
        ("recall", lambda c: c.predicted_positives / c.total),
        ("specificity", lambda c: c.predicted_negatives / c.total),
    ],
)
def test_independent_margins_score_what_the_textbook_says(metric, level, table):
    assert same(chance(metric, table).value, level(table))


@pytest.mark.parametrize("metric", ["informedness", "mcc", "kappa"])
def test_a_level_of_zero_is_zero_and_not_what_rounding_left_of_it(metric):
    assert chance(metric, Counts(31, 17, 101, 1003)).value == 0.0


def test_an_array_of_tables_gives_the_levels_of_each():
    tables = [FINLEY, Counts(3, 1, 2, 2), Counts(5, 4, 1, 1)]
    found = chance("f_beta[beta=2]", Counts.stack(tables))
    assert found.metric == "f_beta[beta=2]"
    for i, table in enumerate(tables):
        assert same([v[i] for v in values(found)], values(chance("f2", table)))


def test_a_table_of_one_class_in_an_array_is_undefined_there():
    found = chance("accuracy", Counts([3, 0, 0], [1, 0, 0], [2, 2, 0], [2, 5, 0]))
    assert [np.isnan(v).tolist() for v in values(found)] == [[False, True, True]] * 4


CLASSES = Confusion.of_rows(("a", "b", "c"), np.array([[50, 3, 2], [4, 10, 1], [2, 2, 6]]))


@pytest.mark.parametrize("metric", ["accuracy", "balanced_accuracy", "kappa", "informedness"])
def test_classes_are_guessed_by_the_outer_product_of_their_margins(metric):
    truth, predicted = CLASSES.rows.sum(1), CLASSES.rows.sum(0)
    shares = [predicted / truth.sum(), np.array([1.0, 0, 0]), np.array([0, 0, 1.0]), np.ones(3) / 3]
    explicit = [Confusion.of_rows(CLASSES.labels, np.outer(truth, share)) for share in shares]
    found = chance(metric, CLASSES)
    assert same(values(found), [get_metric(metric)(table) for table in explicit])


@pytest.mark.parametrize("metric", ["g_mean", "ac_score"])
def test_classes_have_the_mean_over_shuffled_predictions(metric):
    rng = np.random.default_rng(2)
    true, pred = (np.repeat(np.arange(3), CLASSES.rows.sum(axis)) for axis in (1, 0))
    shuffled = [get_metric(metric)(confusion(true, rng.permutation(pred))) for _ in range(600)]
    assert abs(chance(metric, CLASSES).value - np.mean(shuffled)) < 0.03


def test_three_classes_have_their_known_levels():
    assert same(chance("balanced_accuracy", CLASSES).value, 1 / 3)
    assert same(values(chance("accuracy", CLASSES))[1:], [55 / 80, 10 / 80, 1 / 3])
    assert [chance(m, CLASSES).value for m in ("mcc", "kappa", "informedness")] == [0, 0, 0]


def test_averages_and_positives_are_taken_as_in_calling_the_metric():
    each = chance("recall[average=None]", CLASSES)
    assert same(each.majority, [1, 0, 0]) and same(each.coin, [1 / 3] * 3)
    assert same(chance("recall[average=macro]", CLASSES).value, np.mean(each.value))
    assert_refused(lambda: chance("precision", CLASSES, undefined=0), InputTypeError, "undefined=")
    assert values(chance("f1", CLASSES, pos_label="b")) == values(chance("f1", CLASSES.counts("b")))
    named = Confusion.of_rows(CLASSES.labels, CLASSES.rows, "b")
    assert values(chance("f1", named)) == values(chance("f1", CLASSES.counts("b")))
    averaged = [chance("f1[average=macro]", CLASSES, **options) for options in ({}, {"pos_label": "b"})]
    assert same(*map(values, averaged))  # rows may have a positive class that an average does not ask for


def test_a_class_that_only_the_predictions_know_is_not_the_minority():
    table = confusion(["a", "a", "b"], ["a", "z", "b"])
    assert chance("accuracy", table).minority == pytest.approx(1 / 3)


@pytest.mark.parametrize("metric", ["accuracy", "mcc", "kappa"])
def test_two_classes_score_alike_as_counts_as_a_table_and_as_labels(metric):
    rng = np.random.default_rng(4)
    true, pred, weight = rng.random(300) < 0.2, rng.random(300) < 0.3, rng.random(300)
    table = confusion(true, pred, sample_weight=weight)
    found = [chance(metric, table), chance(metric, true, pred, sample_weight=weight)]
    assert same(values(found[0]), values(found[1]))
    # Cells of weights do not say how many rows they are: the expected table of the margins by weight stands for them.
    assert values(chance(metric, table.counts())) == pytest.approx(values(found[0]), abs=0.01, nan_ok=True)
    plain = confusion(true, pred)
    found = [chance(metric, plain.counts()), chance(metric, plain), chance(metric, true, pred)]
    assert same(values(found[0]), values(found[1])) and same(values(found[0]), values(found[2]))


def test_a_score_that_tells_nothing_has_its_known_values():
    rng = np.random.default_rng(5)
    true, score = rng.random(400) < 0.15, rng.normal(size=400)
    share = true.mean()
    for metric, level in {
        "roc_auc": 0.5, "lift": 1.0, "brier": share * (1 - share), "weighted_auc": None,
        "expected_calibration_error": 0.0, "log_loss": -share * math.log(share) - (1 - share) * math.log(1 - share),
    }.items():  # fmt: skip
        for found in (chance(metric, score_table(true, score)), chance(metric, true, y_score=score)):
            assert level is None or same(found.value, level)
            assert np.isnan(values(found)[1:]).all()


@pytest.mark.parametrize("metric", [m for m in SCORE_METRICS if m.of_probabilities], ids=name)
def test_the_level_of_a_metric_of_probabilities_is_that_of_a_constant_score(metric):
    rng = np.random.default_rng(6)
    true, weight = rng.random(200) < 0.3, rng.random(200)
    level = np.full(200, weight[true].sum() / weight.sum())
    found = chance(metric, true, y_score=rng.random(200), sample_weight=weight)
    assert same(found.value, metric(true, level, sample_weight=weight))


def test_columns_of_scores_are_guessed_by_the_share_of_each_class():
    true, scores = [0, 0, 1, 2, 2, 2], np.eye(3)[[0, 1, 1, 2, 2, 0]]
    assert chance("roc_auc[average=macro]", true, y_score=scores).value == 0.5
    assert same(chance("average_precision[average=None]", true, y_score=scores).value, [2 / 6, 1 / 6, 3 / 6])


def test_levels_read_as_a_sentence_and_as_a_row():
    found = chance("precision", FINLEY)
    assert repr(found) == (
        "precision of a no-skill baseline: 1.82 % (95th percentile 4.00 %), always the majority –, always the minority "
        "1.82 %, a fair coin 1.82 %"
    )
    assert repr(chance("recall[average=None]", CLASSES)).endswith("a fair coin [33.3 %, 33.3 %, 33.3 %]")
    assert list(found.row()) == ["metric", "value", "p95", "method", *SIDES[1:], "assumed"]


def test_levels_travel():
    found = chance("accuracy", FINLEY)
    assert pickle.loads(pickle.dumps(found)) == found


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("kind", "call", "words"),
    [
        (InputError, lambda: chance("f1", Counts(0, 0, 3, 4)), "one true class"),
        (InputError, lambda: chance("f1", Counts(0, 0, 0, 0)), "no rows"),
        (InputError, lambda: chance("f1", [1, 1], [0, 1]), "one class"),
        (InputTypeError, lambda: chance("roc_auc", FINLEY), "scores"),
        (InputError, lambda: chance("f1", score_table([0, 1], [0.1, 2])), "give threshold="),
        (InputTypeError, lambda: chance("f1", [1, 0]), "give y_pred"),
        (InputTypeError, lambda: chance("roc_auc", [0, 1], [0.1, 0.9]), "give y_score="),
        (InputError, lambda: chance("f1", [0, 1], [0, 1], draws=3), "20 or more"),
        (InputTypeError, lambda: chance("f1", [0, 1], [0, 1], cluster=[1, 2]), "cluster= has no place in chance"),
        (InputTypeError, lambda: chance("f_beta[bta=2]", FINLEY), "beta"),
        (UnknownNameError, lambda: chance("f11", FINLEY), "No metric"),
    ],
)
def test_what_cannot_be_guessed_is_refused_in_a_sentence(kind, call, words):
    assert_refused(call, kind, words)


@pytest.mark.parametrize(
    ("asked", "options", "words"),
    [
        ("hamming_loss[average=macro]", {}, "of all labels together; leave"),
        ("hamming_loss[average=micro]", {}, "of all labels together; leave"),
        ("hamming_loss", {"pos_label": 1}, "of rows with one label each"),
    ],
)
def test_a_mean_over_rows_of_all_labels_has_no_chance_level_of_each_label(asked, options, words):
    sets = np.array([[0, 1, 1], [1, 0, 0], [0, 0, 1]])
    assert_refused(lambda: chance(asked, sets, sets, **options), InputError, words)
