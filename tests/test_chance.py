"""Chance: the levels are means over random predictions, and over random orders of the same scores."""

from __future__ import annotations

import math
import pickle
from itertools import combinations

import numpy as np
import pytest
from checks import assert_refused, same
from scipy import stats

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
SIDES = ("same_margins", "majority", "minority", "coin")
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
    assert same(chance(metric, table).same_margins, expected)
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
    assert chance(metric, Counts(tp=2, fn=8, fp=18, tn=972)).same_margins == pytest.approx(level, rel=0.005)


@pytest.mark.parametrize("metric", COUNT_METRICS, ids=name)
def test_of_many_rows_the_mean_and_the_metric_of_the_expected_table_agree(metric):
    p, n, flagged = 40_000, 60_000, 30_000
    below = Counts(p * flagged // (p + n), p - p * flagged // (p + n), 18_000, 42_000)
    null = stats.hypergeom(p + n, p, flagged)
    tp = np.arange(*null.ppf([1e-12, 1 - 1e-12]))
    values, masses = metric(Counts(tp, p - tp, flagged - tp, n - flagged + tp)), null.pmf(tp)
    mean = (values * masses).sum() / masses.sum()
    assert chance(metric, below).same_margins == pytest.approx(mean, rel=1e-3, abs=1e-3)


def test_weights_of_any_scale_have_one_level():
    rng = np.random.default_rng(3)
    true, pred, weight, score = rng.random(90) < 0.2, rng.random(90) < 0.3, 0.5 + rng.random(90), rng.random(90)
    for metric in ("g_mean", "ac_score"):
        levels = [chance(metric, true, pred, sample_weight=c * weight).same_margins for c in (1, 7, 1e-3)]
        assert same(levels, [levels[0]] * 3)
        plain = chance(metric, true, pred).same_margins
        assert same(chance(metric, true, pred, sample_weight=np.full(90, 2.5)).same_margins, plain)
        assert same(chance(metric, true, pred, frequency=np.ones(90, dtype=int)).same_margins, plain)
    for metric in ("average_precision", "ks"):
        levels = [chance(metric, true, score, sample_weight=c * weight).same_margins for c in (1, 8, 0.25)]
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
    assert chance(metric, table).same_margins == pytest.approx(
        permuted(metric, true, FLAGGED, weight, prevalence), abs=0.012 if len(weights) > 1 else 0.003
    )


def test_many_classes_at_other_shares_are_permuted_over_the_rows_too():
    rng = np.random.default_rng(0)
    true, pred = (rng.permutation(np.repeat(["a", "b", "c"], sizes)) for sizes in ([10, 40, 150], [20, 60, 120]))
    there = [at_prevalence(confusion(true, rng.permutation(pred)), [0.3, 0.3, 0.4]) for _ in range(800)]
    for metric in ("g_mean", "recall"):
        mean = np.mean([get_metric(metric)(table, average="macro") for table in there])
        assert chance(metric, there[0], average="macro").same_margins == pytest.approx(mean, abs=0.015)


def test_linear_metrics_keep_their_levels_with_weights_and_at_another_prevalence():
    rng = np.random.default_rng(3)
    true, pred, weight = rng.random(90) < 0.2, rng.random(90) < 0.3, 0.5 + rng.random(90)
    for table in (confusion(true, pred), confusion(true, pred, sample_weight=weight)):
        for there in (table, at_prevalence(table, 0.07)):
            for metric in ("recall", "false_positive_rate"):
                share = there.matrix[1].sum() / there.matrix.sum()
                rate = share * pred[true].mean() + (1 - share) * pred[~true].mean()
                assert same(chance(metric, there).same_margins, rate)
    assert same(chance("precision", true, pred).same_margins, true.mean())
    assert chance("kappa", true, pred).same_margins == 0


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
    assert abs(chance(metric, FEW, score).same_margins - level) <= off


@pytest.mark.parametrize("tied", [False, True])
def test_a_mean_over_the_points_of_a_curve_is_over_those_of_all_scores(tied):
    rng, true = np.random.default_rng(0), np.arange(100) < 10
    score = np.round(rng.normal(size=100), 1 if tied else 9)
    mean = np.mean([get_metric("mcc_f1")(rng.permutation(true), score) for _ in range(1_500)])
    assert chance("mcc_f1", true, y_score=score).same_margins == pytest.approx(mean, abs=0.0035)


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
    assert chance(metric, [1, 1, 1, 0, 0, 0, 0], score).same_margins == pytest.approx(np.mean(each), abs=off)


def test_the_level_of_a_metric_does_not_hang_on_the_others_or_on_the_order_of_rows():
    rng = np.random.default_rng(8)
    true, score = rng.random(300) < 0.1, rng.random(300)
    alone = {r.name: r.chance for r in evaluate(true, y_score=score, metrics=["ks", "g_mean"]).metrics}
    order = rng.permutation(300)
    beside = evaluate(true[order], y_score=score[order], metrics=["pr_auc", "g_mean", "average_precision", "ks"])
    assert {r.name: r.chance for r in beside.metrics if r.name in alone} == alone


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
    assert same(chance(metric, table).same_margins, level(table))


@pytest.mark.parametrize("metric", ["informedness", "mcc", "kappa"])
def test_a_level_of_zero_is_zero_and_not_what_rounding_left_of_it(metric):
    assert chance(metric, Counts(31, 17, 101, 1003)).same_margins == 0.0


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
    assert abs(chance(metric, CLASSES).same_margins - np.mean(shuffled)) < 0.03


def test_three_classes_have_their_known_levels():
    assert same(chance("balanced_accuracy", CLASSES).same_margins, 1 / 3)
    assert same(values(chance("accuracy", CLASSES))[1:], [55 / 80, 10 / 80, 1 / 3])
    assert [chance(m, CLASSES).same_margins for m in ("mcc", "kappa", "informedness")] == [0, 0, 0]


def test_averages_and_positives_are_taken_as_in_calling_the_metric():
    each = chance("recall[average=None]", CLASSES)
    assert same(each.majority, [1, 0, 0]) and same(each.coin, [1 / 3] * 3)
    assert same(chance("recall[average=macro]", CLASSES).same_margins, np.mean(each.same_margins))
    assert chance("precision[average=macro]", CLASSES, undefined=0).majority == pytest.approx(55 / 80 / 3)
    assert values(chance("f1", CLASSES, pos_label="b")) == values(chance("f1", CLASSES.counts("b")))
    named = Confusion.of_rows(CLASSES.labels, CLASSES.rows, "b")
    assert values(chance("f1", named)) == values(chance("f1", CLASSES.counts("b")))
    with pytest.raises(InputError, match="contradict"):
        chance("f1[average=macro]", CLASSES, pos_label="b")


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
        for found in (chance(metric, score_table(true, score)), chance(metric, true, score)):
            assert level is None or same(found.same_margins, level)
            assert np.isnan(values(found)[1:]).all()


@pytest.mark.parametrize("metric", [m for m in SCORE_METRICS if m.of_probabilities], ids=name)
def test_the_level_of_a_metric_of_probabilities_is_that_of_a_constant_score(metric):
    rng = np.random.default_rng(6)
    true, weight = rng.random(200) < 0.3, rng.random(200)
    level = np.full(200, weight[true].sum() / weight.sum())
    found = chance(metric, true, rng.random(200), sample_weight=weight)
    assert same(found.same_margins, metric(true, level, sample_weight=weight))


def test_columns_of_scores_are_guessed_by_the_share_of_each_class():
    true, scores = [0, 0, 1, 2, 2, 2], np.eye(3)[[0, 1, 1, 2, 2, 0]]
    assert chance("roc_auc[average=macro]", true, y_score=scores).same_margins == 0.5
    assert same(chance("average_precision[average=None]", true, y_score=scores).same_margins, [2 / 6, 1 / 6, 3 / 6])


def test_levels_read_as_a_sentence_and_as_a_row():
    found = chance("precision", FINLEY)
    assert repr(found) == (
        "precision of a no-skill baseline: same margins 1.82 %, always the majority –, always the minority 1.82 %, "
        "a fair coin 1.82 %"
    )
    assert repr(chance("recall[average=None]", CLASSES)).endswith("a fair coin [33.3 %, 33.3 %, 33.3 %]")
    assert list(found.row()) == ["metric", *SIDES]


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
        (InputTypeError, lambda: chance("f1", score_table([0, 1], [0.1, 0.2])), "threshold"),
        (InputTypeError, lambda: chance("f1", [1, 0]), "alone"),
        (InputTypeError, lambda: chance("f_beta[bta=2]", FINLEY), "beta"),
        (UnknownNameError, lambda: chance("f_1_", FINLEY), "No metric"),
    ],
)
def test_what_cannot_be_guessed_is_refused_in_a_sentence(kind, call, words):
    assert_refused(call, kind, words)


@pytest.mark.parametrize("options", [{"average": "macro"}, {"average": "micro"}, {"pos_label": 1}], ids=str)
def test_a_mean_over_rows_of_all_labels_has_no_chance_level_of_each_label(options):
    sets = np.array([[0, 1, 1], [1, 0, 0], [0, 0, 1]])
    assert_refused(lambda: chance("hamming_loss", sets, sets, **options), InputError, "of all labels together; leave")
