"""Chance: the levels are the formula on expected tables."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from checks import assert_refused, same

from steelyard import Confusion, Counts, confusion, get_metric, list_metrics, score_table
from steelyard.analysis.chance.chance import chance
from steelyard.analysis.chance.random_order import without_skill
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
@pytest.mark.parametrize(
    "table", [FINLEY, Counts(3, 1, 2, 2), Counts(0, 5, 0, 3), Counts(8.5, 0.5, 3.25, 1.0)], ids=str
)
def test_a_level_is_the_metric_on_the_expected_counts(metric, table):
    p, n, t = table.positives, table.negatives, table.total
    flagged, left = table.predicted_positives, table.predicted_negatives
    positive, negative = Counts(p, 0, n, 0), Counts(0, p, 0, n)
    explicit = [
        Counts(p * flagged / t, p * left / t, n * flagged / t, n * left / t),
        *((positive, negative) if p > n else (negative, positive)),
        Counts(p / 2, p / 2, n / 2, n / 2),
    ]
    assert same(values(chance(metric, table)), [metric(c) for c in explicit])


@pytest.mark.parametrize("table", [FINLEY, Counts(1, 2, 3, 4), Counts(10**12, 3, 7, 10**9)], ids=str)
@pytest.mark.parametrize(
    ("metric", "level"),
    [
        ("balanced_accuracy", lambda c: 0.5),
        ("informedness", lambda c: 0.0),
        ("mcc", lambda c: 0.0),
        ("kappa", lambda c: 0.0),
        ("markedness", lambda c: 0.0),
        ("diagnostic_odds_ratio", lambda c: 1.0),
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
    found = chance("f_beta", Counts.stack(tables), beta=2)
    assert found.metric == "f_beta[beta=2]"
    for i, table in enumerate(tables):
        assert same([v[i] for v in values(found)], values(chance("f2", table)))


def test_a_table_of_one_class_in_an_array_is_undefined_there():
    found = chance("accuracy", Counts([3, 0, 0], [1, 0, 0], [2, 2, 0], [2, 5, 0]))
    assert [np.isnan(v).tolist() for v in values(found)] == [[False, True, True]] * 4


CLASSES = Confusion.of_rows(("a", "b", "c"), np.array([[50, 3, 2], [4, 10, 1], [2, 2, 6]]))


@pytest.mark.parametrize(
    "metric", ["accuracy", "balanced_accuracy", "mcc", "kappa", "informedness", "g_mean", "ac_score"]
)
def test_classes_are_guessed_by_the_outer_product_of_their_margins(metric):
    truth, predicted = CLASSES.rows.sum(1), CLASSES.rows.sum(0)
    shares = [predicted / truth.sum(), np.array([1.0, 0, 0]), np.array([0, 0, 1.0]), np.ones(3) / 3]
    explicit = [Confusion.of_rows(CLASSES.labels, np.outer(truth, share)) for share in shares]
    found = chance(metric, CLASSES)
    assert same(values(found), [get_metric(metric)(table) for table in explicit])


def test_three_classes_have_their_known_levels():
    assert same(chance("balanced_accuracy", CLASSES).same_margins, 1 / 3)
    assert same(values(chance("accuracy", CLASSES))[1:], [55 / 80, 10 / 80, 1 / 3])
    assert [chance(m, CLASSES).same_margins for m in ("mcc", "kappa", "informedness")] == [0, 0, 0]


def test_averages_and_positives_are_taken_as_in_calling_the_metric():
    each = chance("recall", CLASSES, average=None)
    assert same(each.majority, [1, 0, 0]) and same(each.coin, [1 / 3] * 3)
    assert same(chance("recall", CLASSES, average="macro").same_margins, np.mean(each.same_margins))
    assert chance("precision", CLASSES, average="macro", undefined=0).majority == pytest.approx(55 / 80 / 3)
    assert values(chance("f1", CLASSES, pos_label="b")) == values(chance("f1", CLASSES.counts("b")))
    named = Confusion.of_rows(CLASSES.labels, CLASSES.rows, "b")
    assert values(chance("f1", named)) == values(chance("f1", CLASSES.counts("b")))
    with pytest.raises(InputError, match="contradict"):
        chance("f1", CLASSES, pos_label="b", average="macro")


def test_a_class_that_only_the_predictions_know_is_not_the_minority():
    table = confusion(["a", "a", "b"], ["a", "z", "b"])
    assert chance("accuracy", table).minority == pytest.approx(1 / 3)


@pytest.mark.parametrize("metric", ["accuracy", "mcc", "f1"])
def test_two_classes_score_alike_as_counts_as_a_table_and_as_labels(metric):
    rng = np.random.default_rng(4)
    true, pred, weight = rng.random(300) < 0.2, rng.random(300) < 0.3, rng.random(300)
    table = confusion(true, pred, sample_weight=weight)
    found = [chance(metric, table.counts()), chance(metric, table), chance(metric, true, pred, sample_weight=weight)]
    assert same(values(found[0]), values(found[1])) and same(values(found[0]), values(found[2]))


def test_a_score_that_tells_nothing_has_its_known_values():
    rng = np.random.default_rng(5)
    true, score = rng.random(400) < 0.15, rng.normal(size=400)
    share = true.mean()
    for metric, level in {
        "roc_auc": 0.5, "average_precision": share, "lift": 1.0, "brier": share * (1 - share), "weighted_auc": None,
        "expected_calibration_error": 0.0, "log_loss": -share * math.log(share) - (1 - share) * math.log(1 - share),
    }.items():  # fmt: skip
        for found in (chance(metric, score_table(true, score)), chance(metric, true, score)):
            assert level is None or same(found.same_margins, level)
            assert np.isnan(values(found)[1:]).all()


BOUNDED = ("recall_at_fpr", "specificity_at_recall")  # one score for all rows has but one threshold that keeps a bound


@pytest.mark.parametrize("metric", SCORE_METRICS, ids=name)
def test_the_level_of_a_score_metric_is_that_of_a_constant_score(metric):
    rng = np.random.default_rng(6)
    true, weight = rng.random(200) < 0.3, rng.random(200)
    level = np.full(200, weight[true].sum() / weight.sum())
    found = chance(metric, true, rng.random(200), sample_weight=weight)
    in_order = without_skill(metric, score_table(true, level, sample_weight=weight))
    constant = metric(true, level, sample_weight=weight)
    assert same(found.same_margins, metric(in_order) if metric.name in BOUNDED else constant)


def test_columns_of_scores_are_guessed_by_the_share_of_each_class():
    true, scores = [0, 0, 1, 2, 2, 2], np.eye(3)[[0, 1, 1, 2, 2, 0]]
    assert chance("roc_auc", true, scores, average="macro").same_margins == 0.5
    assert same(chance("average_precision", true, scores, average=None).same_margins, [2 / 6, 1 / 6, 3 / 6])


def test_levels_read_as_a_sentence_and_as_a_row():
    found = chance("precision", FINLEY)
    assert repr(found) == (
        "precision of a no-skill baseline: same margins 1.82 %, always the majority –, always the minority 1.82 %, "
        "a fair coin 1.82 %"
    )
    assert repr(chance("recall", CLASSES, average=None)).endswith("a fair coin [33.3 %, 33.3 %, 33.3 %]")
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
        (InputTypeError, lambda: chance("f_beta", FINLEY, bta=2), "beta"),
        (UnknownNameError, lambda: chance("f_1_", FINLEY), "No metric"),
    ],
)
def test_what_cannot_be_guessed_is_refused_in_a_sentence(kind, call, words):
    assert_refused(call, kind, words)
